//! Declarations that share one path, and the marks that distinguish them.
//!
//! A package may have many `init` functions and many `_`, one function for each target system, and the same name again
//! in its tests. If this machine's build includes only one of them outside of tests, that one has the plain path. The
//! paths of the rest begin with the name of their file, `os_windows.go@import/path.F`, and a number if the file has
//! several, `a.go#2@import/path.init`. Numbers count from 1 in the order of the text.

use std::collections::HashMap;
use std::sync::Arc;

use super::build_constraints::BuildContext;
use super::modules::{GoPackage, Membership, base_name, parent};
use super::symbol_paths::{Declaration, path_of};
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Symbol};

/// For each declaration that the plain path does not mean, the mark before its path.
#[derive(Debug, Default)]
pub(crate) struct SamePaths {
    marks: HashMap<(Arc<str>, usize), String>,
}

impl SamePaths {
    /// Computed from all packages with one import path.
    pub(crate) fn of<'p>(packages: impl IntoIterator<Item = &'p GoPackage>) -> SamePaths {
        let mut by_bits: HashMap<Vec<&str>, Vec<Declaration>> = HashMap::new();
        for declaration in packages.into_iter().flat_map(GoPackage::declarations) {
            by_bits.entry(declaration.bits().collect()).or_default().push(declaration);
        }
        let mut marks = HashMap::new();
        for same_paths in by_bits.into_values().filter(|it| it.len() > 1) {
            let preferred = preferred(same_paths.clone());
            let plain = preferred.first().filter(|_| preferred.len() == 1).map(place);
            let others = same_paths.iter().filter(|it| Some(place(it)) != plain);
            marks.extend(others.map(|it| (place(it), mark(it, &same_paths))));
        }
        SamePaths { marks }
    }

    pub(crate) fn path(&self, file: &File, package: &str, item: &OutlineItem) -> String {
        let path = path_of(package, item);
        match self.marks.get(&(file.path.clone(), item.name_span.start)) {
            Some(mark) => format!("{mark}@{path}"),
            None => path,
        }
    }

    /// Gives a symbol and its children their unique paths.
    pub(crate) fn disambiguate(&self, symbol: &mut Symbol) {
        if self.marks.is_empty() {
            return;
        }
        if let Some(mark) = self.marks.get(&(symbol.name_at.file.as_str().into(), symbol.name_at.start)) {
            symbol.path = format!("{mark}@{}", symbol.path);
        }
        symbol.children.iter_mut().for_each(|it| self.disambiguate(it));
    }
}

fn place(declaration: &Declaration) -> (Arc<str>, usize) {
    (declaration.file.path.clone(), declaration.item.name_span.start)
}

/// The file's name, with its directory if needed, and the number in the file if it has several.
fn mark(declaration: &Declaration, same_paths: &[Declaration]) -> String {
    let file = &*declaration.file.path;
    let one_directory = same_paths.iter().all(|it| parent(&it.file.path) == parent(file));
    let name = if one_directory { base_name(file) } else { file };
    let here = || same_paths.iter().filter(|it| *it.file.path == *file);
    if here().count() == 1 {
        return name.to_owned();
    }
    let number = here().filter(|it| it.item.name_span.start <= declaration.item.name_span.start).count();
    format!("{name}#{number}")
}

/// Of several declarations with one path, the preferred ones: of the workspace's own packages, outside of tests,
/// included in a build of this machine.
pub(crate) fn preferred(found: Vec<Declaration>) -> Vec<Declaration> {
    let context = BuildContext::host();
    let found = preferring(found, |it| it.package.standing == Membership::Member);
    let found = preferring(found, |it| !it.is_test());
    preferring(found, |it| context.takes(&it.file.path, &it.file.text))
}

/// The declarations that match, if any; else all.
pub(crate) fn preferring<'w>(
    found: Vec<Declaration<'w>>,
    fits: impl Fn(&Declaration<'w>) -> bool,
) -> Vec<Declaration<'w>> {
    let (better, worse): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| fits(it));
    if better.is_empty() { worse } else { better }
}

/// A parsed mark: the file, and the number in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    file: String,
    number: Option<usize>,
}

impl Mark {
    /// Splits `os_windows.go@path` or `a.go#2@path` into the mark and the path.
    pub(crate) fn split(path: &str) -> Option<(Mark, &str)> {
        path.match_indices('@').find_map(|(at, _)| {
            let (mark, rest) = (path.get(..at)?, path.get(at + 1..)?);
            let numbered = mark.rsplit_once('#').and_then(|(file, number)| Some((file, number.parse().ok()?)));
            let (file, number) = numbered.map_or((mark, None), |(file, number)| (file, Some(number)));
            file.ends_with(".go").then(|| (Mark { file: file.to_owned(), number }, rest))
        })
    }

    /// Selects from declarations with one path, in the order of the text, those that the mark means.
    pub(crate) fn pick<'w>(&self, mut found: Vec<Declaration<'w>>) -> Vec<Declaration<'w>> {
        let whole = |it: &Declaration| *it.file.path == *self.file;
        let ends = |it: &Declaration| it.file.path.strip_suffix(&*self.file).is_some_and(|it| it.ends_with('/'));
        found.retain(|it| whole(it) || ends(it));
        let found = preferring(found, whole);
        match self.number.map(|it| it.checked_sub(1)) {
            None => found,
            Some(at) => at.and_then(|at| found.get(at).copied()).into_iter().collect(),
        }
    }
}
