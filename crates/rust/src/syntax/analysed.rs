//! Texts in the form in which rust-analyzer receives them.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

use super::nesting;
use semdex_model::Span;

/// The bound on nested macro expansions, whatever a crate's `recursion_limit` is. The greatest limit in 696 crates is
/// 2563. The work grows with the square of it if a macro consumes one token after another.
const MOST_RECURSION: u32 = 4096;

/// A text as rust-analyzer receives it: the same offsets, but no byte order mark. It is empty if the text is nested too
/// deeply, because parsing it would overflow the stack and end the process. This applies to files of any kind, since
/// `include!` takes all.
pub(crate) fn as_analysed(text: &str) -> Vec<u8> {
    if nesting::too_deep(text).is_some() {
        return Vec::new();
    }
    let bytes = match text.strip_prefix('\u{feff}') {
        Some(rest) => format!("   {rest}").into_bytes(),
        None => text.as_bytes().to_vec(),
    };
    without_returns(with_bounded_recursion(bytes))
}

/// The same for the source of a library, and whether it is nested too deeply.
pub(crate) fn of_library(bytes: Vec<u8>) -> (Vec<u8>, bool) {
    // A file that is not UTF-8 is not a source in any case.
    let is_too_deep = str::from_utf8(&bytes).is_ok_and(|it| nesting::too_deep(it).is_some());
    (if is_too_deep { Vec::new() } else { of_standard_library(bytes) }, is_too_deep)
}

/// The same for the source of the standard library, whose files are not nested deeply. The parser would refuse one.
pub(crate) fn of_standard_library(bytes: Vec<u8>) -> Vec<u8> {
    without_returns(with_bounded_recursion(bytes))
}

/// The same offsets, with a smaller `recursion_limit` if the text has one above [`MOST_RECURSION`].
fn with_bounded_recursion(mut bytes: Vec<u8>) -> Vec<u8> {
    if memchr::memmem::find(&bytes, b"recursion_limit").is_none() {
        return bytes;
    }
    let limits = str::from_utf8(&bytes).map(recursion_limits).unwrap_or_default();
    for limit in limits {
        let digits = format!("{MOST_RECURSION:0>width$}", width = limit.end - limit.start);
        if let Some(written) = bytes.get_mut(limit.start..limit.end).filter(|it| it.len() == digits.len()) {
            written.copy_from_slice(digits.as_bytes());
        }
    }
    bytes
}

/// The range in the quotes of each limit that may be too great.
fn recursion_limits(text: &str) -> Vec<Span> {
    let mut end = 0;
    let tokens = tokenize(text, FrontmatterAllowed::Yes).map(|token| {
        let start = end;
        end += token.len as usize;
        (token.kind, Span::new(start, end))
    });
    let is_blank = |kind: &TokenKind| {
        matches!(kind, TokenKind::Whitespace | TokenKind::LineComment { .. } | TokenKind::BlockComment { .. })
    };
    let tokens: Vec<(TokenKind, Span)> = tokens.filter(|it| !is_blank(&it.0)).collect();
    let limit = |it: &[(TokenKind, Span)]| {
        let [(_, name), (TokenKind::Eq, _), (TokenKind::Literal { kind, .. }, literal)] = it else { return None };
        let is_text = matches!(kind, LiteralKind::Str { .. } | LiteralKind::RawStr { .. });
        let is_named = matches!(text.get(name.start..name.end)?, "recursion_limit" | "r#recursion_limit");
        let literal = *literal;
        let written = text.get(literal.start..literal.end)?;
        let (begin, end) = (written.find('"')? + 1, written.rfind('"')?);
        let limit = written.get(begin..end)?;
        let is_small = limit.len() < 4 || limit.parse().is_ok_and(|it: u32| it <= MOST_RECURSION);
        (is_text && is_named && !is_small).then(|| Span::new(literal.start + begin, literal.start + end))
    };
    tokens.windows(3).filter_map(limit).collect()
}

/// The same offsets, with `\n` for `\r\n` at line ends: the parser rejects a `\r` in a string. After a backslash the
/// blank moves to the next line, whose leading white space is skipped.
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

    #[test]
    fn recursion_is_bounded() {
        let taken = |text: &str| String::from_utf8(as_analysed(text)).unwrap();
        for (given, bounded) in [
            ("#![recursion_limit = \"100000\"]", "#![recursion_limit = \"004096\"]"),
            ("#![recursion_limit=\"4097\"]\r\nfn f() {}", "#![recursion_limit=\"4096\"] \nfn f() {}"),
            ("#![r#recursion_limit /* \" */ = r##\"100000\"##]", "#![r#recursion_limit /* \" */ = r##\"004096\"##]"),
            ("#![cfg_attr(all(), recursion_limit = \"99999\")]", "#![cfg_attr(all(), recursion_limit = \"04096\")]"),
            ("#![recursion_limit = \"9\\u{39}99\"]", "#![recursion_limit = \"000004096\"]"),
        ] {
            assert_eq!(taken(given), bounded);
        }
        for same in [
            "#![recursion_limit = \"1024\"]",
            "#![recursion_limit = \"\"]",
            "// recursion_limit = \"9999\"",
            "\"recursion_limit\" = \"9999\"",
        ] {
            assert_eq!(taken(same), same);
        }
    }
}
