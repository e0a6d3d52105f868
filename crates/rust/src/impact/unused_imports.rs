//! The unused imports of a file, and what determines them.

use std::collections::HashSet;

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
