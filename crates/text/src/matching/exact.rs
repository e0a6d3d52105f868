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
            return Unix { text: Cow::Borrowed(text), shortened: Vec::new() };
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

/// The first `most` occurrences of the needle in the haystack, overlapping ones included. Linear, also for a needle
/// that repeats itself.
pub(super) fn occurrences(haystack: &[u8], needle: &[u8], most: usize) -> Vec<usize> {
    let finder = memmem::Finder::new(needle);
    let mut found: Vec<usize> = Vec::new();
    let mut from = 0;
    while let Some(next) = haystack.get(from..).and_then(|rest| finder.find(rest)) {
        let at = from + next;
        if found.last().is_some_and(|last| at - last < needle.len()) {
            // Further searches would begin inside the previous occurrence. From here on the automaton is used.
            found.extend(overlapping(&haystack[at..], needle, most - found.len()).into_iter().map(|more| at + more));
            return found;
        }
        found.push(at);
        if found.len() == most {
            break;
        }
        from = at + 1;
    }
    found
}

/// The algorithm of Knuth, Morris and Pratt.
fn overlapping(haystack: &[u8], needle: &[u8], most: usize) -> Vec<usize> {
    let mut borders = vec![0usize; needle.len()];
    let advance = |borders: &[usize], mut matched: usize, byte: u8| {
        while matched > 0 && (matched == needle.len() || needle[matched] != byte) {
            matched = borders[matched - 1];
        }
        matched + usize::from(needle[matched] == byte)
    };
    for at in 1..needle.len() {
        borders[at] = advance(&borders, borders[at - 1], needle[at]);
    }
    let mut found = Vec::new();
    let mut matched = 0;
    for (at, &byte) in haystack.iter().enumerate() {
        matched = advance(&borders, matched, byte);
        if matched == needle.len() {
            found.push(at + 1 - needle.len());
            if found.len() == most {
                break;
            }
        }
    }
    found
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
