//! The names that a change gives to declarations. An error that was there before says the same in the new names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use semdex_text::words::words;

/// The names that a change replaces, each with its new name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenamedNames(BTreeMap<String, String>);

impl RenamedNames {
    /// Takes the pairs of an old and a new name that differ.
    pub fn new<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> RenamedNames {
        let differing = pairs.filter(|(old, new)| old != new && !old.is_empty() && !new.is_empty());
        RenamedNames(differing.map(|(old, new)| (old.to_owned(), new.to_owned())).collect())
    }

    /// Whether nothing is renamed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text with each old name, as a whole word, replaced by the new one.
    pub fn written_in<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut written = String::with_capacity(text.len());
        let mut from = 0;
        for (at, word) in words(text) {
            let Some(new_name) = self.0.get(word) else { continue };
            written.push_str(text.get(from..at).unwrap_or_default());
            written.push_str(new_name);
            from = at + word.len();
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        written.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced() {
        let names = RenamedNames::new([("A", "B"), ("same", "same"), ("get", "fetch")].into_iter());
        assert_eq!(names.written_in("no method `get` on type `A`"), "no method `fetch` on type `B`");
        assert!(matches!(names.written_in("no method `getter` on `Aa` of same"), Cow::Borrowed(_)));
        assert!(RenamedNames::new([("x", "x")].into_iter()).is_empty());
    }
}
