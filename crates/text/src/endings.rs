//! Line endings: which ones a text has, and how another text gets the same ones.
//!
//! A newline ends a line, together with the carriage returns before it: `\n`, `\r\n`, `\r\r\n`. In a text without
//! newlines a carriage return does.

use std::borrow::Cow;

use similar::DiffOp;

use super::diff;

/// The line ending of the line that holds this offset, or else of the line before it.
pub fn at(text: &str, offset: usize) -> &'static str {
    let bytes = text.as_bytes();
    let newline = memchr::memchr(b'\n', &bytes[offset..])
        .map(|length| offset + length)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..offset]));
    match newline {
        None if memchr::memchr(b'\r', bytes).is_some() => "\r",
        Some(at) if bytes[..at].ends_with(b"\r\r") => "\r\r\n",
        Some(at) if bytes[..at].ends_with(b"\r") => "\r\n",
        _ => "\n",
    }
}

/// Whether the last line of a text has a line ending.
pub fn ends_line(text: &str) -> bool {
    text.ends_with('\n') || (text.ends_with('\r') && !text.contains('\n'))
}

/// A text whose lines all end with `\n`. A carriage return alone stays.
pub fn unix(text: &str) -> Cow<'_, str> {
    if !text.contains("\r\n") {
        return Cow::Borrowed(text);
    }
    let lines = text.split_inclusive('\n').flat_map(|line| match line.strip_suffix('\n') {
        Some(line) => [line.trim_end_matches('\r'), "\n"],
        None => [line, ""],
    });
    Cow::Owned(lines.collect())
}

/// Converts a text whose lines end with `\n` to the line endings of the text that it replaces. A line that was there
/// before keeps its ending; all other lines get `otherwise`.
pub fn like(old: &str, new: &str, otherwise: &str) -> String {
    let before: Vec<(&str, &str)> = old.split_inclusive('\n').map(content_and_ending).collect();
    if before.iter().all(|&(_, ending)| ending == otherwise || ending.is_empty()) {
        return new.replace('\n', otherwise);
    }
    let lines: Vec<String> = new.split('\n').map(str::to_owned).collect();
    let mut endings = vec![otherwise; lines.len()];
    for op in diff::of_lines(&before.iter().map(|it| it.0.to_owned()).collect::<Vec<_>>(), &lines) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            for at in 0..len {
                // The rest after the last newline has no line ending.
                let (_, ending) = before[old_index + at];
                if !ending.is_empty() {
                    endings[new_index + at] = ending;
                }
            }
        }
    }
    let last = lines.len() - 1;
    let parts = lines.iter().zip(endings).enumerate();
    parts.flat_map(|(at, (line, ending))| [line.as_str(), if at < last { ending } else { "" }]).collect()
}

fn content_and_ending(line: &str) -> (&str, &str) {
    match line.strip_suffix('\n') {
        Some(content) => line.split_at(content.trim_end_matches('\r').len()),
        None => (line, ""),
    }
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
        let old = "a\r\r\nb\nc\r\r\n";
        assert_eq!(like(old, "a\nn\nb\nc\n", "\r\r\n"), "a\r\r\nn\r\r\nb\nc\r\r\n");
    }

    #[test]
    fn a_text_of_one_kind_of_ending_stays_so() {
        assert_eq!(like("a\r\nb\r\n", "b\nx\n", "\r\n"), "b\r\nx\r\n");
        assert_eq!(like("a\nb\n", "b\nx\n", "\n"), "b\nx\n");
        assert_eq!(like("a", "x\ny", "\r\n"), "x\r\ny", "a part of a line");
        assert_eq!(like("a\rb\r", "b\nx\n", "\r"), "b\rx\r");
        assert_eq!(like("a\r\r\nb\r\r\n", "b\nx\n", "\r\r\n"), "b\r\r\nx\r\r\n");
    }

    #[test]
    fn the_ending_at_an_offset() {
        assert_eq!((at("a\r\nb\n", 0), at("a\r\nb\n", 3), at("a\r\nb", 4), at("", 0)), ("\r\n", "\n", "\r\n", "\n"));
        assert_eq!((at("a\rb\r", 2), at("a\r\r\nb", 4), at("a\rb\n", 0)), ("\r", "\r\r\n", "\n"));
        assert!(ends_line("a\r") && ends_line("a\n") && !ends_line("a\nb\r") && !ends_line("a") && !ends_line(""));
    }

    #[test]
    fn carriage_returns_belong_to_the_newline_after_them() {
        assert_eq!(unix("a\r\r\nb\r\nc\rd\n\r"), "a\nb\nc\rd\n\r");
        assert_eq!(unix("a\rb"), "a\rb");
    }
}
