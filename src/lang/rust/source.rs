//! Texts as rust-analyzer takes them.

use super::syntax::nesting;

/// A text as rust-analyzer takes it: the same offsets, but no byte order mark. Nothing at all where it is nested too
/// deeply: whoever parses it would overflow the stack and end the process. That goes for files of any kind, since
/// `include!` takes all.
pub(super) fn as_analysed(text: &str) -> Vec<u8> {
    if nesting::too_deep(text).is_some() {
        return Vec::new();
    }
    without_returns(match text.strip_prefix('\u{feff}') {
        Some(rest) => format!("   {rest}").into_bytes(),
        None => text.as_bytes().to_vec(),
    })
}

/// The same for the source of a library, and whether it is nested too deeply.
pub(super) fn of_library(bytes: Vec<u8>) -> (Vec<u8>, bool) {
    // What is not UTF-8 is no source either way.
    let is_too_deep = str::from_utf8(&bytes).is_ok_and(|it| nesting::too_deep(it).is_some());
    (if is_too_deep { Vec::new() } else { without_returns(bytes) }, is_too_deep)
}

/// The same offsets, with `\n` at the end of lines that end in `\r\n`: the parser refuses a `\r` in a string. After a
/// backslash the blank goes to the next line, which begins with what is passed over.
fn without_returns(mut bytes: Vec<u8>) -> Vec<u8> {
    for end in memchr::memmem::find_iter(&bytes, b"\r\n").collect::<Vec<_>>() {
        let is_continued = end > 0 && bytes[end - 1] == b'\\';
        bytes[end..end + 2].copy_from_slice(if is_continued { b"\n " } else { b" \n" });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_are_taken_without_their_returns() {
        let taken = |text: &str| String::from_utf8(as_analysed(text)).unwrap();
        assert_eq!(taken("a\r\nb\n"), "a \nb\n");
        assert_eq!(taken("\"a \\\r\n  b\r\n\"\r\n"), "\"a \\\n   b \n\" \n");
        assert_eq!(taken("\u{feff}a\rb"), "   a\rb");
    }
}
