//! Escapes names from a workspace for output. A name can hold any character except a slash; it must not end, move or
//! reverse the line of a reply or of a terminal.

use std::borrow::Cow;

/// The text on one line. Characters that would end it, control a terminal or change the writing direction are escaped.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unfit_in_a_line)
}

/// A text of several lines in which nothing controls a terminal. Its lines end with a line feed.
pub fn lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        return Cow::Owned(escaped(&text.replace("\r\n", "\n"), steers).into_owned());
    }
    escaped(text, steers)
}

/// JSON with all control characters as JSON escapes, not only those that JSON requires to be escaped.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let shown = |it: char| if steers(it) { format!("\\u{:04x}", u32::from(it)) } else { it.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Escapes a text from a position on, so that it stays on one line.
pub fn keep_on_one_line(text: &mut String, from: usize) {
    if let Cow::Owned(shown) = one_line(&text[from..]) {
        text.truncate(from);
        text.push_str(&shown);
    }
}

fn escaped(text: &str, is_unfit: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_unfit) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(before);
    for character in rest.chars() {
        if is_unfit(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_unfit_in_a_line(character: char) -> bool {
    let ends_a_line = matches!(character, '\u{2028}' | '\u{2029}');
    let turns_around = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character == '\n' || steers(character) || ends_a_line || turns_around
}

/// A control character that does not occur in ordinary texts.
fn steers(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_end_or_steer_a_line_is_shown() {
        assert_eq!(one_line("a\nb\r\u{1b}[2Jc\u{85}\u{202e}d\te"), "a\\nb\\r\\u{1b}[2Jc\\u{85}\\u{202e}d\te");
        assert_eq!(lines("a\r\nb\rc\n\u{7}"), "a\nb\\rc\n\\u{7}");
        assert_eq!(json("{\"a\":\"\u{9b}2J\"}"), r#"{"a":"\u009b2J"}"#);
        assert!(matches!(one_line("src/ä b.rs"), Cow::Borrowed(_)));
        let mut text = "first\nx\ny".to_owned();
        keep_on_one_line(&mut text, 6);
        assert_eq!(text, "first\nx\\ny");
    }

    proptest! {
        #[test]
        fn no_name_adds_a_line(name in proptest::collection::vec(any::<char>(), 0..40)) {
            let name = String::from_iter(name);
            let shown = one_line(&name);
            prop_assert!(!shown.chars().any(is_unfit_in_a_line));
            prop_assert!(!lines(&name).chars().any(steers));
        }
    }
}
