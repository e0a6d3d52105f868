//! What engines offer against a diagnostic: texts that change, whichever engine offers it.

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use semdex_model::{Diagnostic, Place, Rewrite, Span};

/// An offer to put a diagnostic right. It changes texts of the workspace, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub diagnostic: Diagnostic,
    pub title: String,
    /// By file, in their order; the parts of each in theirs.
    pub rewrites: Vec<Rewrite>,
}

/// The files that these places are in, each once.
pub fn files_of(places: &[Place]) -> BTreeSet<&str> {
    places.iter().map(|it| it.file.as_str()).collect()
}

/// The parts of one file that become other texts.
pub type Parts = (String, Vec<(Span, String)>);

impl Fix {
    /// None where it changes nothing, where a file is no text of the workspace, or where its parts overlap.
    pub fn new(files: &Files, diagnostic: Diagnostic, title: &str, changed: Vec<Parts>) -> Option<Fix> {
        let mut by_file: BTreeMap<String, Vec<(Span, String)>> = BTreeMap::new();
        for (file, parts) in changed {
            by_file.entry(file).or_default().extend(parts);
        }
        let mut rewrites = Vec::new();
        for (file, mut parts) in by_file {
            let text = &files.get(&file)?.text;
            // Insertions at one place keep their order.
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
