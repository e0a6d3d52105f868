//! Where each word of a text occurs: identifiers, keywords and numbers, in strings and comments too. A search for a
//! name reads a few entries of this table instead of the whole text.

use semdex_model::Span;

/// The words of a text, with their offsets.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(is_part)?;
        let tail = &text[start..];
        let length = tail.find(|it| !is_part(it)).unwrap_or(tail.len());
        from = start + length;
        Some((start, &tail[..length]))
    })
}

/// The words within a range, at its edges or around it.
pub fn words_at(text: &str, stretch: Span) -> impl Iterator<Item = (usize, &str)> {
    let before = text[..stretch.start].trim_end_matches(is_part).len();
    let after = text[stretch.end..].find(|it| !is_part(it)).map_or(text.len(), |it| stretch.end + it);
    words(&text[before..after]).map(move |(at, word)| (before + at, word))
}

/// Where a word occurs. An empty word occurs nowhere.
pub fn occurrences<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let found = (!word.is_empty()).then(|| memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()));
    found
        .into_iter()
        .flatten()
        .filter(move |&at| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

/// Whether a word occurs.
pub fn has_word(text: &str, word: &str) -> bool {
    occurrences(text, word).next().is_some()
}

fn is_part(character: char) -> bool {
    character == '_' || character.is_ascii_alphanumeric() || (!character.is_ascii() && character.is_alphanumeric())
}

/// Two words may have the same hash.
pub type WordHash = u32;

/// The words of a text by their hash. The text itself distinguishes words with equal hashes.
#[derive(Debug)]
pub struct WordTable {
    /// The hash of the word and its offset, sorted.
    entries: Box<[(WordHash, u32)]>,
}

impl WordTable {
    /// Reads all words of a text.
    pub fn new(text: &str) -> WordTable {
        let entry = |(at, word): (usize, &str)| Some((word_hash(word), u32::try_from(at).ok()?));
        let mut entries: Vec<(WordHash, u32)> = words(text).filter_map(entry).collect();
        entries.sort_unstable();
        WordTable { entries: entries.into_boxed_slice() }
    }

    /// The hashes of all words, each once, in their order.
    pub fn hashes(&self) -> impl Iterator<Item = WordHash> + '_ {
        self.entries.chunk_by(|a, b| a.0 == b.0).map(|it| it[0].0)
    }

    /// Where a word occurs, in order. `text` must be the text of the table.
    pub fn offsets<'a>(&'a self, text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let hash = word_hash(word);
        let first = self.entries.partition_point(|it| it.0 < hash);
        let same = self.entries[first..].iter().take_while(move |it| it.0 == hash);
        same.map(|it| it.1 as usize).filter(move |&at| {
            let rest = &text[at..];
            rest.starts_with(word) && !rest[word.len()..].starts_with(is_part)
        })
    }
}

/// 32 bits; two words may have the same hash, so a hit has to be compared with the text.
pub fn word_hash(word: &str) -> WordHash {
    use std::hash::{BuildHasher as _, BuildHasherDefault};
    let hash = BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(word);
    (hash ^ (hash >> 32)) as WordHash
}

#[cfg(test)]
mod tests {
    use super::{WordTable, occurrences, words, words_at};
    use semdex_model::Span;

    #[test]
    fn the_words_at_a_stretch_are_whole() {
        let text = "one two_three, four";
        let at = |start, end| words_at(text, Span::new(start, end)).map(|it| it.1).collect::<Vec<_>>();
        assert_eq!(at(5, 6), ["two_three"]);
        assert_eq!(at(13, 15), ["two_three", "four"]);
        assert_eq!(at(3, 4), ["one", "two_three"]);
        assert_eq!(at(14, 14), [""; 0]);
    }

    #[test]
    fn every_word_is_found_where_it_stands() {
        let text = "fn näme(a1: u8) { a1 + \"a1 {a1}\" } // a1_ näme\n";
        let table = WordTable::new(text);
        for word in ["fn", "näme", "a1", "a1_", "u8", "me", "a", ""] {
            let expected: Vec<usize> = words(text).filter(|it| it.1 == word).map(|it| it.0).collect();
            assert_eq!(table.offsets(text, word).collect::<Vec<_>>(), expected, "{word}");
            assert_eq!(occurrences(text, word).collect::<Vec<_>>(), expected, "{word}");
        }
        assert_eq!(table.offsets(text, "a1").count(), 4);
        assert_eq!(table.offsets(text, "me").count(), 0);
    }
}
