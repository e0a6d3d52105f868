//! The errors of a file, as the index keeps them, and its unused imports.

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use super::Finding;
use semdex_model::{Diagnostic, Span};
use semdex_text::words::words_at;

/// The unused imports of a file, and what determines them.
#[derive(Debug, Default)]
pub(crate) struct UnusedImports {
    pub(crate) found: Vec<Diagnostic>,
    /// Words of the file.
    pub(crate) names: HashSet<String>,
    /// Whether macro expansions are checked.
    pub(crate) by_macros: bool,
}

impl UnusedImports {
    /// Whether the unused imports may differ when these ranges of text are added or removed, for unchanged imports.
    pub(crate) fn rest_on<'t>(&self, texts: impl Iterator<Item = (&'t str, Span)>) -> bool {
        texts.into_iter().any(|(text, at)| {
            let is_called = || self.by_macros && text[at.start..at.end].contains(['!', '#']);
            let decides = |word: &str| self.names.contains(word) || word == "use" || word.starts_with("unused");
            is_called() || words_at(text, at).any(|it| decides(it.1))
        })
    }
}

/// The errors of a file.
#[derive(Debug)]
pub(crate) struct FileErrors {
    /// The errors of each body that has any, by the position of its item's name.
    pub(crate) bodies: FxHashMap<usize, Vec<Finding>>,
    /// The positions among these that represent derive expansions.
    pub(crate) made: HashSet<usize>,
    pub(crate) imports: UnusedImports,
}
