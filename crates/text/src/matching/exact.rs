//! The exact stage: equal characters, where all line endings are equal.

use std::borrow::Cow;

use memchr::memmem;

use super::search::MOST_PLACES;
use semdex_model::Span;

/// Every occurrence of the search text, overlapping ones included.
pub(super) fn find(text: &str, context: &str) -> Vec<Span> {
    let unix = Unix::new(text);
    let context = Unix::new(context).text;
    let starts = occurrences(unix.text.as_bytes(), context.as_bytes(), MOST_PLACES);
    starts.into_iter().map(|start| Span::new(unix.original(start), unix.original(start + context.len()))).collect()
}

/// A text with newlines as line endings, and the map back to the original offsets.
struct Unix<'a> {
    text: Cow<'a, str>,
    /// The newlines that had a carriage return before them, as offsets in `text`.
    shortened: Vec<usize>,
}

impl Unix<'_> {
    fn new(text: &str) -> Unix<'_> {
        let mut ends = memmem::find_iter(text.as_bytes(), "\r\n").peekable();
        if ends.peek().is_none() {
            // A carriage return ends a line if nothing else does.
            let ends_lines = text.contains('\r') && !text.contains('\n');
            let text = if ends_lines { text.replace('\r', "\n").into() } else { Cow::Borrowed(text) };
            return Unix { text, shortened: Vec::new() };
        }
        let mut out = String::with_capacity(text.len());
        let mut shortened = Vec::new();
        let mut done = 0;
        for at in ends {
            out.push_str(&text[done..at]);
            shortened.push(out.len());
            done = at + 1;
        }
        out.push_str(&text[done..]);
        Unix { text: Cow::Owned(out), shortened }
    }

    /// At a line end, this is the offset before the carriage return: a place contains a line ending as a whole or not
    /// at all.
    fn original(&self, offset: usize) -> usize {
        offset + self.shortened.partition_point(|&newline| newline < offset)
    }
}

/// The first `most` occurrences of the needle in the haystack, overlapping ones included.
pub(super) fn occurrences(haystack: &[u8], needle: &[u8], most: usize) -> Vec<usize> {
    let finder = memmem::Finder::new(needle);
    let mut from = 0;
    let next = || {
        let at = from + finder.find(haystack.get(from..)?)?;
        from = at + 1;
        Some(at)
    };
    std::iter::from_fn(next).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_testing::rng::Rng;

    #[test]
    fn finds_every_occurrence() {
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let (text, needle) = (rng.text("ab", 40), format!("a{}", rng.text("ab", 5)));
            let expected: Vec<usize> = (0..text.len()).filter(|&at| text[at..].starts_with(&needle)).collect();
            assert_eq!(occurrences(text.as_bytes(), needle.as_bytes(), 1000), expected, "{needle} in {text}");
        }
        assert_eq!(occurrences(b"aaaaaa", b"aa", 3), [0, 1, 2]);
    }
}
