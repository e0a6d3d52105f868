//! Code in Markdown: fences that the code cannot close, and line numbers.

use semdex_text::visible::one_line;

/// The unchanged code in a fence that the code cannot close.
pub(crate) fn fenced(language: &str, code: &str) -> String {
    let (fence, language) = (fence('`', code), one_line(language));
    let end = if code.is_empty() || code.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{code}{end}{fence}\n")
}

/// A fence of this character that is longer than any run of it in the code.
pub(crate) fn fence(sign: char, code: &str) -> String {
    let longest = code.split(|it| it != sign).map(str::len).max().unwrap_or(0);
    sign.to_string().repeat(longest.max(2) + 1)
}

/// The code in a fence, each line with its number.
pub(crate) fn numbered(language: &str, code: &str, numbers: impl Iterator<Item = usize>) -> String {
    let rows: Vec<(usize, &str)> = numbers.zip(code.lines()).collect();
    let width = rows.iter().map(|(number, _)| number.to_string().len()).max().unwrap_or(1);
    let mut text = String::with_capacity(code.len() + rows.len() * (width + 2));
    for (number, row) in rows {
        text.push_str(format!("{number:>width$}| {row}").trim_end());
        text.push('\n');
    }
    fenced(language, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_code_closes_its_fence() {
        assert_eq!(fenced("rust", "a"), "```rust\na\n```\n");
        assert_eq!(fenced("", "/// ```\nb\n"), "````\n/// ```\nb\n````\n");
        assert_eq!(fenced("go", ""), "```go\n```\n");
    }

    #[test]
    fn each_line_has_its_number() {
        let text = numbered("rust", "a\n\r\nc", [9, 10, 20].into_iter());
        assert_eq!(text, "```rust\n 9| a\n10|\n20| c\n```\n");
    }
}
