//! How well each file matches a query, for the map.

use std::collections::HashMap;

use super::index::Index;
use super::scores::rank;
use super::weights::WEIGHTS;
use semdex_workspace::ChangeHistory;

/// How well a file matches a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileMatch {
    /// From 0 to 1.
    pub score: f64,
    /// Its declarations that match, by where their names begin, from 0 to 1.
    pub declarations: Vec<(usize, f64)>,
}

impl Index {
    /// How well each file matches a query, by its path.
    pub(crate) fn matches(&self, query: &str, history: &ChangeHistory) -> HashMap<String, FileMatch> {
        let ranking = rank(self, query, &[], history, &WEIGHTS, &|_| None);
        let best_file = ranking.files.first().map_or(1.0, |it| it.1);
        let best_section = ranking.sections.first().map_or(1.0, |it| it.1);
        let mut matches: HashMap<String, FileMatch> = HashMap::new();
        for (file, score) in ranking.files {
            if let Some(ranked) = self.files.get(file) {
                let found = FileMatch { score: score / best_file, declarations: Vec::new() };
                matches.insert(ranked.file.path.to_string(), found);
            }
        }
        for ((file, section), score) in ranking.sections {
            let Some(ranked) = self.files.get(file) else { continue };
            let owner = ranked.file.terms().sections.get(section).and_then(|it| it.owner);
            if let (Some(owner), Some(found)) = (owner, matches.get_mut(&*ranked.file.path)) {
                found.declarations.push((owner as usize, score / best_section));
            }
        }
        matches
    }
}
