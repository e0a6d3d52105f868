//! The places that a query names: paths, lines, and frames of stack traces.

use std::collections::HashMap;

use super::index::{At, Index};
use super::query::Query;

/// A path that fits more files names none of them.
const MOST_FILES: usize = 5;

/// What a query names by a path.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// The files, from 0 to 1.
    pub files: HashMap<usize, f64>,
    /// The sections that have a named line, from 0 to 1.
    pub sections: HashMap<At, f64>,
}

/// The files and sections that the places of a query mean.
pub(super) fn placed(index: &Index, query: &Query) -> Placed {
    let mut placed = Placed::default();
    if query.places.is_empty() {
        return placed;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, it) in index.files.iter().enumerate() {
        let name = it.file.path.rsplit('/').next().unwrap_or_default();
        by_name.entry(name).or_default().push(position);
    }
    for place in &query.places {
        let Some(name) = place.path.last() else { continue };
        let Some(same) = by_name.get(name.as_str()) else { continue };
        // The files that share most of the end of the path.
        let shared = |position: &usize| {
            let path = index.files.get(*position).map_or("", |it| &it.file.path);
            path.rsplit('/').zip(place.path.iter().rev()).take_while(|(a, b)| *a == b.as_str()).count()
        };
        let most = same.iter().map(shared).max().unwrap_or_default();
        let fitting: Vec<usize> = same.iter().copied().filter(|it| shared(it) == most).collect();
        if fitting.len() > MOST_FILES {
            continue;
        }
        let share = 1.0 / fitting.len() as f64;
        for position in fitting {
            let known = placed.files.entry(position).or_default();
            *known = known.max(share);
            let Some(ranked) = index.files.get(position) else { continue };
            let at = place.line.and_then(|it| ranked.file.lines().line_span(it));
            if let Some(section) = at.and_then(|it| ranked.file.terms().section_at(it.start)) {
                let known = placed.sections.entry((position, section)).or_default();
                *known = known.max(share);
            }
        }
    }
    placed
}
