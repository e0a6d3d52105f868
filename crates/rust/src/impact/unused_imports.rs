//! Imports of a file that nothing names, and what decides it.

use std::collections::HashSet;

use semdex_model::{Diagnostic, Span};
use semdex_text::words::words_at;

/// Imports of a file that nothing names, and what decides it.
#[derive(Debug, Default)]
pub(crate) struct UnusedImports {
    pub(crate) found: Vec<Diagnostic>,
    /// Words of the file.
    pub(crate) names: HashSet<String>,
    /// Whether what macros make is looked at.
    pub(crate) by_macros: bool,
}

impl UnusedImports {
    /// Whether they may be others when these stretches of text come or go. What the imports are does not change.
    pub(crate) fn rest_on<'t>(&self, texts: impl Iterator<Item = (&'t str, Span)>) -> bool {
        texts.into_iter().any(|(text, at)| {
            let is_called = || self.by_macros && text[at.start..at.end].contains(['!', '#']);
            let decides = |word: &str| self.names.contains(word) || word == "use" || word.starts_with("unused");
            is_called() || words_at(text, at).any(|it| decides(it.1))
        })
    }
}
