//! Line endings: which ones a text has, and how another text gets the same ones.

use similar::DiffOp;

use super::diff;

/// The line ending of the line that holds this offset, or else of the line before it.
pub fn at(text: &str, offset: usize) -> &'static str {
    let bytes = text.as_bytes();
    let newline = memchr::memchr(b'\n', &bytes[offset..])
        .map(|length| offset + length)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..offset]));
    match newline {
        Some(at) if at > 0 && bytes[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}

/// Converts a text whose lines end with `
/// ` to the line endings of the text that it replaces. A line that was there before keeps its ending; all other lines
/// get `otherwise`.
pub fn like(old: &str, new: &str, otherwise: &str) -> String {
    let returns = memchr::memmem::find_iter(old.as_bytes(), b"\r\n").count();
    let newlines = memchr::memchr_iter(b'\n', old.as_bytes()).count();
    let of_one_kind = if otherwise == "\n" { 0 } else { newlines };
    if returns == of_one_kind {
        return new.replace('\n', otherwise);
    }
    let content = |line: &str| line.strip_suffix('\r').unwrap_or(line).to_owned();
    let ending = |line: &str| if line.ends_with('\r') { "\r\n" } else { "\n" };
    let before: Vec<&str> = old.split('\n').collect();
    let lines: Vec<String> = new.split('\n').map(str::to_owned).collect();
    let mut endings = vec![otherwise; lines.len()];
    for op in diff::of_lines(&before.iter().map(|it| content(it)).collect::<Vec<_>>(), &lines) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            // The rest after the last newline has no line ending.
            let known = before.len().saturating_sub(1).saturating_sub(old_index).min(len);
            for at in 0..known {
                endings[new_index + at] = ending(before[old_index + at]);
            }
        }
    }
    let last = lines.len() - 1;
    let parts = lines.iter().zip(endings).enumerate();
    parts.flat_map(|(at, (line, ending))| [line.as_str(), if at < last { ending } else { "" }]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_stays_ends_as_it_did() {
        let old = "a\n}\r\nb\nc\r\n";
        assert_eq!(like(old, "a\nn\n}\nb\nc\n", "\n"), "a\nn\n}\r\nb\nc\r\n");
        assert_eq!(like(old, "n\nb\n", "\r\n"), "n\r\nb\n");
        assert_eq!(like("a\r\nb", "a\nb\nc", "\n"), "a\r\nb\nc", "a last line without an ending has none to give");
        assert_eq!(like(old, "", "\n"), "");
    }

    #[test]
    fn a_text_of_one_kind_of_ending_stays_so() {
        assert_eq!(like("a\r\nb\r\n", "b\nx\n", "\r\n"), "b\r\nx\r\n");
        assert_eq!(like("a\nb\n", "b\nx\n", "\n"), "b\nx\n");
        assert_eq!(like("a", "x\ny", "\r\n"), "x\r\ny", "a part of a line");
    }

    #[test]
    fn the_ending_at_an_offset() {
        assert_eq!((at("a\r\nb\n", 0), at("a\r\nb\n", 3), at("a\r\nb", 4), at("", 0)), ("\r\n", "\n", "\r\n", "\n"));
    }
}
