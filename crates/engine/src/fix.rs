//! Fixes that engines offer for a diagnostic, in one form for all engines.

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use semdex_model::{Diagnostic, Place, Rewrite, Span};

/// A fix of a diagnostic. It changes texts of the workspace and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The diagnostic that it fixes.
    pub diagnostic: Diagnostic,
    /// What the fix does, in one line.
    pub title: String,
    /// The rewritten parts, sorted by file and position.
    pub rewrites: Vec<Rewrite>,
}

/// The files of these places, each once.
pub fn files_of(places: &[Place]) -> BTreeSet<&str> {
    places.iter().map(|it| it.file.as_str()).collect()
}

/// The rewritten parts of one file: each span and its new text.
pub type Parts = (String, Vec<(Span, String)>);

impl Fix {
    /// `None` if the fix changes nothing, if a file has no text in the workspace, or if its parts overlap.
    pub fn new(files: &Files, diagnostic: Diagnostic, title: &str, changed: Vec<Parts>) -> Option<Fix> {
        let mut by_file: BTreeMap<String, Vec<(Span, String)>> = BTreeMap::new();
        for (file, parts) in changed {
            by_file.entry(file).or_default().extend(parts);
        }
        let mut rewrites = Vec::new();
        for (file, mut parts) in by_file {
            let text = &files.get(&file)?.text;
            // The sort is stable: insertions at one place keep their order.
            parts.sort_by_key(|it| (it.0.start, it.0.end));
            if parts.windows(2).any(|it| it[0].0.end > it[1].0.start) {
                return None;
            }
            let mut changing = Vec::new();
            for (span, new) in parts {
                let old = text.get(span.start..span.end)?;
                if old != new {
                    changing.push((span, new));
                }
            }
            if !changing.is_empty() {
                rewrites.push(Rewrite { file, parts: changing });
            }
        }
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        (!rewrites.is_empty() && !title.is_empty()).then_some(Fix { diagnostic, title, rewrites })
    }
}
