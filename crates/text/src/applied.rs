//! Whether an edit was made before: its replacement is already there. White space is compared only as a separator of
//! words and lines, so that indentation, line endings and blank lines do not matter.

use semdex_model::Span;

use super::words::words;

/// More places are not distinguished.
const MOST_PLACES: usize = 100;

/// Where the replacement is, if it contains the search text and already surrounds the place that was found for it.
pub fn around(text: &str, place: Span, context: &str, replacement: &str) -> Option<Span> {
    let place = trimmed(text, place);
    let inside = occurrences(replacement, context, |_| true);
    inside.into_iter().find_map(|part| {
        let (before, after) = (&replacement[..part.start], &replacement[part.end..]);
        let adds = !before.trim().is_empty() || !after.trim().is_empty();
        adds.then(|| surrounded(text, place, before, after)).flatten()
    })
}

/// Where a text of whole words occurs. At most a hundred places.
pub fn places(text: &str, wanted: &str) -> Vec<Span> {
    let is_whole = |span: Span| {
        let word = &text[span.start..span.end];
        let cuts_start = word.starts_with(is_word) && text[..span.start].ends_with(is_word);
        let cuts_end = word.ends_with(is_word) && text[span.end..].starts_with(is_word);
        !cuts_start && !cuts_end
    };
    occurrences(text, wanted, is_whole)
}

/// Where a text occurs such that the place of its longest word is accepted.
fn occurrences(text: &str, wanted: &str, accepts: impl Fn(Span) -> bool) -> Vec<Span> {
    let wanted = wanted.trim();
    let longest = words(wanted).max_by_key(|(_, word)| word.len());
    let (offset, anchor) = longest.unwrap_or((0, wanted));
    if anchor.is_empty() {
        return Vec::new();
    }
    let (before, after) = (&wanted[..offset], &wanted[offset + anchor.len()..]);
    let mut places: Vec<Span> = memchr::memmem::find_iter(text.as_bytes(), anchor.as_bytes())
        .map(|at| Span::new(at, at + anchor.len()))
        .filter(|&span| accepts(span))
        .filter_map(|span| surrounded(text, span, before, after))
        .take(MOST_PLACES)
        .collect();
    places.dedup();
    places
}

/// Whether a text begins with another one, after white space and separators.
pub fn follows(text: &str, wanted: &str) -> bool {
    let is_separator = |it: char| it.is_whitespace() || it == ',';
    let wanted = wanted.trim_matches(is_separator);
    !wanted.is_empty() && common(text.trim_start_matches(is_separator), wanted, Direction::Forward).is_some()
}

/// Whether a text ends with another one, before white space and separators.
pub fn precedes(text: &str, wanted: &str) -> bool {
    let is_separator = |it: char| it.is_whitespace() || it == ',';
    let wanted = wanted.trim_matches(is_separator);
    !wanted.is_empty() && common(text.trim_end_matches(is_separator), wanted, Direction::Backward).is_some()
}

/// The place together with the texts around it, if they are there.
fn surrounded(text: &str, place: Span, before: &str, after: &str) -> Option<Span> {
    let start = place.start - common(&text[..place.start], before.trim_start(), Direction::Backward)?;
    let end = place.end + common(&text[place.end..], after.trim_end(), Direction::Forward)?;
    Some(Span::new(start, end))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// How many bytes of a text, from its start or its end on, are equal to another text. `None` if they differ, or if the
/// last word is only a part of a word.
fn common(text: &str, wanted: &str, direction: Direction) -> Option<usize> {
    let (mut there, asked) = (Units::new(text, direction), Units::new(wanted, direction));
    let mut last = None;
    for unit in asked {
        if there.next() != Some(unit) {
            return None;
        }
        last = Some(unit);
    }
    let length = there.done;
    let cuts = last.is_some_and(is_word) && there.next().is_some_and(is_word);
    (!cuts).then_some(length)
}

/// The characters of a text, where white space is one newline or one blank.
struct Units<'a> {
    text: &'a str,
    direction: Direction,
    /// How many bytes were read.
    done: usize,
}

impl Units<'_> {
    fn new(text: &str, direction: Direction) -> Units<'_> {
        Units { text, direction, done: 0 }
    }

    fn peek(&self) -> Option<char> {
        match self.direction {
            Direction::Forward => self.text[self.done..].chars().next(),
            Direction::Backward => self.text[..self.text.len() - self.done].chars().next_back(),
        }
    }
}

impl Iterator for Units<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.peek()?;
        self.done += first.len_utf8();
        if !first.is_whitespace() {
            return Some(first);
        }
        let mut breaks = matches!(first, '\n' | '\r');
        while let Some(more) = self.peek().filter(|it| it.is_whitespace()) {
            self.done += more.len_utf8();
            breaks |= matches!(more, '\n' | '\r');
        }
        Some(if breaks { '\n' } else { ' ' })
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn trimmed(text: &str, span: Span) -> Span {
    let place = &text[span.start..span.end];
    let start = span.start + place.len() - place.trim_start().len();
    Span::new(start, start + place.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_around(text: &str, context: &str, replacement: &str) -> bool {
        let start = text.find(context.trim()).unwrap();
        around(text, Span::new(start, start + context.trim().len()), context, replacement).is_some()
    }

    #[test]
    fn a_replacement_that_contains_the_search_text_is_recognised() {
        let (old, new) = ("    open_log();\n", "    open_log();\n    check_disk();\n");
        assert!(is_around("fn f() {\n    open_log();\n    check_disk();\n}\n", old, new));
        assert!(is_around("fn f() {\r\n\topen_log();\r\n\r\n\tcheck_disk();\r\n}\r\n", old, new));
        assert!(!is_around("fn f() {\n    open_log();\n}\n", old, new));
        assert!(!is_around("fn f() {\n    open_log();\n    check_disk_again();\n}\n", old, new));
        assert!(!is_around("fn f() {\n    open_log();\n    check_disk()\n}\n", old, new));
        assert!(is_around("pub fn f() {}", "fn f()", "pub fn f()"));
        assert!(!is_around("fn f() {}", "fn f()", "pub fn f()"));
        assert!(is_around("x = 11", "1", "11"));
        assert!(!is_around("x = 1\ny = 1", "x = 1", "x = 11"));
        assert!(!is_around("a\n\nb", "a\n", "a\n\n"), "only white space is added");
        assert!(!is_around("foo bar", "foo", "foobar"));
        assert!(!is_around("a", "a", "a"));
    }

    #[test]
    fn places_are_found_whatever_the_white_space() {
        let places = |text: &str, wanted: &str| {
            places(text, wanted).into_iter().map(|it| text[it.start..it.end].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(places("a(b,  c);\n  d\n a(b, c);\nd e", "a(b, c);\nd"), ["a(b,  c);\n  d", "a(b, c);\nd"]);
        assert_eq!(places("ab b b", "b"), ["b", "b"]);
        assert_eq!(places("{}\n}", "}"), ["}", "}"]);
        assert_eq!(places("été été", "été"), ["été", "été"]);
        assert!(places("ab", "").is_empty() && places("", "a").is_empty());
    }

    #[test]
    fn what_is_beside_a_symbol() {
        assert!(follows(",\n    C,\n}", "C,") && follows("\n\nfn g() {}\n", "fn g() {}") && !follows("\nCat", "C"));
        assert!(precedes("a\n\nfn g() {}\n\n", "fn g() {}\n") && !precedes("xfn", "fn") && !precedes("a", " "));
    }

    proptest::proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[abé \n\r,()]{0,20}", wanted in "[abé \n\r,()]{0,8}", at in 0usize..20, length in 0usize..4) {
            for span in places(&text, &wanted) {
                let there: Vec<char> = Units::new(&text[span.start..span.end], Direction::Forward).collect();
                let asked: Vec<char> = Units::new(wanted.trim(), Direction::Forward).collect();
                proptest::prop_assert_eq!(there, asked);
            }
            if let Some(context) = text.get(at..at + length) {
                let _ = around(&text, Span::new(at, at + length), context, &wanted);
            }
            let _ = (follows(&text, &wanted), precedes(&text, &wanted));
        }
    }
}
