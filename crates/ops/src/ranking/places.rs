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

/// How much a file counts whose module a qualified name names, as in `package.module.Class`.
const MODULE: f64 = 0.5;

/// The files and sections that the places of a query mean.
pub(super) fn placed(index: &Index, query: &Query) -> Placed {
    let mut placed = Placed::default();
    modules(index, query, &mut placed);
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

/// Adds the files that are the modules of qualified names. The longest part of a name that is a module decides.
fn modules(index: &Index, query: &Query, placed: &mut Placed) {
    let qualified: Vec<Vec<&str>> = query
        .names
        .iter()
        .filter(|it| !it.qualifier.is_empty())
        .map(|it| it.qualifier.iter().map(String::as_str).chain([it.name.as_str()]).collect())
        .collect();
    if qualified.is_empty() {
        return;
    }
    let mut by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, it) in index.files.iter().enumerate() {
        by_stem.entry(stem(&it.file.path)).or_default().push(position);
    }
    for name in qualified {
        let found = (2..=name.len()).rev().find_map(|length| {
            let module = name.get(..length)?;
            let is_it = |position: &usize| {
                let path = index.files.get(*position).map_or("", |it| &it.file.path);
                let directories = path.rsplit('/').skip(1);
                module.iter().rev().skip(1).zip(directories.map(Some).chain([None; 8])).all(|(a, b)| Some(*a) == b)
            };
            let same = by_stem.get(module.last()?)?;
            let files: Vec<usize> = same.iter().copied().filter(is_it).take(MOST_FILES + 1).collect();
            (!files.is_empty() && files.len() <= MOST_FILES).then_some(files)
        });
        let files = found.unwrap_or_default();
        let share = MODULE / files.len().max(1) as f64;
        for file in files {
            let known = placed.files.entry(file).or_default();
            *known = known.max(share);
        }
    }
}

/// The name of a file without its ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}
