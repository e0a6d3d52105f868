//! The targets of one pass over the workspace, and the words that may name them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use rustc_hash::FxHashMap;

use super::postings::Postings;
use crate::names::definitions::plain_name;
use crate::names::instances::is_of_doctests;
use crate::names::{Key, Meaning, Target};
use semdex_engine::files::File;
use semdex_model::{Role, Span};
use semdex_text::words::word_hash;

/// A place that names a target, or may do so.
#[derive(Clone)]
pub(crate) struct Occurrence {
    pub(crate) file: Arc<File>,
    pub(crate) id: FileId,
    pub(crate) at: Span,
    pub(crate) role: Role,
    /// The crate that gives it this meaning, if it is one of a further build.
    pub(crate) build: Option<CrateId>,
    /// For a name that macros write, the file and offset of each call that does.
    pub(crate) calls: Option<Arc<[(FileId, usize)]>>,
}

impl Occurrence {
    pub(crate) fn is_in_doctest(&self, db: &RootDatabase) -> bool {
        self.build.is_some_and(|it| is_of_doctests(db, it))
    }
}

/// The symbols that one pass searches for, and the words that may name them.
#[derive(Debug, Default, Clone)]
pub(crate) struct Search {
    /// The number of symbols in the query.
    pub(crate) definitions: usize,
    /// With the index in the query. Nothing can be resolved to a symbol that is not compiled.
    pub(crate) targets: Vec<(usize, Option<Target>)>,
    /// Indices in `targets`, by the meanings that count as usages.
    by_key: FxHashMap<Key, Vec<usize>>,
    pub(crate) words: Vec<Word>,
}

#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Indices in `targets`.
    pub(crate) targets: Vec<usize>,
}

impl Word {
    pub(crate) fn is_keyword(&self) -> bool {
        is_keyword(&self.text)
    }
}

/// Whether a word can refer to a symbol of any name.
pub(crate) fn is_keyword(word: &str) -> bool {
    matches!(word, "Self" | "self" | "super" | "crate")
}

impl Search {
    pub(crate) fn new(db: &RootDatabase, definitions: &[Definition<'_>]) -> Search {
        Search::of_groups(db, definitions.iter().map(std::slice::from_ref))
    }

    /// The same for groups of symbols: what names one of a group counts for all of it.
    pub(crate) fn of_groups<'g, 'db: 'g>(
        db: &RootDatabase,
        groups: impl ExactSizeIterator<Item = &'g [Definition<'db>]>,
    ) -> Search {
        let mut search = Search { definitions: groups.len(), ..Search::default() };
        let mut known: HashMap<String, usize> = HashMap::new();
        for (position, group) in groups.enumerate() {
            for target in group.iter().filter_map(|it| Target::new(*it, db)) {
                let index = search.targets.len();
                for text in target.words(db) {
                    let word = *known.entry(text.clone()).or_insert(search.words.len());
                    if word == search.words.len() {
                        search.words.push(Word { text, targets: Vec::new() });
                    }
                    // One of a group represents the others where the meaning is not known.
                    let targets = &mut search.words[word].targets;
                    if !targets.iter().any(|it| search.targets[*it].0 == position) {
                        targets.push(index);
                    }
                }
                for key in target.keys() {
                    search.by_key.entry(key).or_default().push(index);
                }
                search.targets.push((position, Some(target)));
            }
        }
        search
    }

    /// A search for unresolved places with this name.
    pub(crate) fn written(name: &str) -> Search {
        let word = Word { text: plain_name(name).to_owned(), targets: vec![0] };
        Search { definitions: 1, targets: vec![(0, None)], words: vec![word], ..Search::default() }
    }

    /// A search for unresolved places with one of these words.
    pub(crate) fn of_words(words: &BTreeSet<&str>) -> Search {
        let word = |(target, text): (usize, &&str)| Word { text: plain_name(text).to_owned(), targets: vec![target] };
        Search {
            definitions: words.len(),
            targets: (0..words.len()).map(|it| (it, None)).collect(),
            words: words.iter().enumerate().map(word).collect(),
            ..Search::default()
        }
    }

    /// The same with these additional words, each for one of the definitions; `None` if there are no new ones.
    pub(crate) fn with_words<'w>(&self, words: impl Iterator<Item = (usize, &'w str)>) -> Option<Search> {
        let mut widened: Option<Search> = None;
        for (position, text) in words {
            let search = widened.as_ref().unwrap_or(self);
            let Some(target) = search.targets.iter().position(|it| it.0 == position) else { continue };
            let known = search.words.iter().position(|it| it.text == text);
            if known.is_some_and(|it| search.words[it].targets.contains(&target)) {
                continue;
            }
            let search = widened.get_or_insert_with(|| self.clone());
            match known {
                Some(known) => search.words[known].targets.push(target),
                None => search.words.push(Word { text: text.to_owned(), targets: vec![target] }),
            }
        }
        widened
    }

    /// The targets of which a name with this meaning is a usage.
    pub(crate) fn meant_by(&self, meaning: &Meaning) -> impl Iterator<Item = usize> {
        let original = (meaning.original != meaning.definition).then_some(meaning.original);
        let keys = std::iter::once(meaning.definition).chain(original);
        let near = keys.filter_map(|it| self.by_key.get(&it)).flatten();
        near.copied().filter(|it| self.targets[*it].1.as_ref().is_some_and(|it| it.is_meant_by(meaning)))
    }

    /// The meanings that may count as usages.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        self.by_key.keys().copied()
    }

    /// The words that may name one of the symbols.
    pub(crate) fn words_of(&self, position: usize) -> Vec<&str> {
        let is_of_it = |it: &&Word| !it.is_keyword() && it.targets.iter().any(|it| self.targets[*it].0 == position);
        self.words.iter().filter(is_of_it).map(|it| it.text.as_str()).collect()
    }

    /// The files that contain some of the words, each with these words.
    pub(crate) fn holders(&self, postings: &Postings) -> FxHashMap<FileId, Vec<usize>> {
        let mut holders: FxHashMap<FileId, Vec<usize>> = FxHashMap::default();
        for (index, word) in self.words.iter().enumerate() {
            for file in postings.files(word_hash(&word.text)) {
                let words = holders.entry(*file).or_default();
                if words.last() != Some(&index) {
                    words.push(index);
                }
            }
        }
        holders
    }

    /// The positions of these words in a file, in order.
    pub(crate) fn places<'a>(&'a self, file: &'a File, words: &[usize]) -> Vec<(usize, &'a Word)> {
        let table = file.words();
        let of = |word: &'a Word| table.offsets(&file.text, &word.text).map(move |at| (at, word));
        let mut places: Vec<(usize, &Word)> = words.iter().map(|it| &self.words[*it]).flat_map(of).collect();
        places.sort_unstable_by_key(|it| it.0);
        places
    }
}
