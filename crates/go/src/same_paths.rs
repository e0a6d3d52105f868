//! Declarations that share one path, and what tells them apart.
//!
//! A package may have many `init` functions and many `_`, one function for each system that it is built for, and the
//! same name once more in its tests. The one that this machine's build takes, outside of tests, goes by the plain
//! path if it is the only one; the others bear the name of their file before it, `os_windows.go@import/path.F`, and
//! a number where that file has several, `a.go#2@import/path.init`. Numbers count from 1 in the order of the text.

use std::collections::HashMap;
use std::sync::Arc;

use super::build_constraints::BuildContext;
use super::modules::{GoPackage, Standing, base_name, parent};
use super::symbol_paths::{Declaration, path_of};
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Symbol};

/// For each declaration that the plain path does not mean, what stands before its path.
#[derive(Debug, Default)]
pub(crate) struct SamePaths {
    marks: HashMap<(Arc<str>, usize), String>,
}

impl SamePaths {
    /// Of all packages that have one import path.
    pub(crate) fn of<'p>(packages: impl IntoIterator<Item = &'p GoPackage>) -> SamePaths {
        let mut by_bits: HashMap<Vec<&str>, Vec<Declaration>> = HashMap::new();
        for declaration in packages.into_iter().flat_map(GoPackage::declarations) {
            by_bits.entry(declaration.bits().collect()).or_default().push(declaration);
        }
        let mut marks = HashMap::new();
        for twins in by_bits.into_values().filter(|it| it.len() > 1) {
            let favoured = favoured(twins.clone());
            let plain = favoured.first().filter(|_| favoured.len() == 1).map(place);
            let others = twins.iter().filter(|it| Some(place(it)) != plain);
            marks.extend(others.map(|it| (place(it), mark(it, &twins))));
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

    /// Gives a symbol and what lies below it the paths that mean just them.
    pub(crate) fn tell_apart(&self, symbol: &mut Symbol) {
        if self.marks.is_empty() {
            return;
        }
        if let Some(mark) = self.marks.get(&(symbol.name_at.file.as_str().into(), symbol.name_at.start)) {
            symbol.path = format!("{mark}@{}", symbol.path);
        }
        symbol.children.iter_mut().for_each(|it| self.tell_apart(it));
    }
}

fn place(declaration: &Declaration) -> (Arc<str>, usize) {
    (declaration.file.path.clone(), declaration.item.name_span.start)
}

/// The file's name, with its directory where that matters, and the number in the file where it has several.
fn mark(declaration: &Declaration, twins: &[Declaration]) -> String {
    let file = &*declaration.file.path;
    let one_directory = twins.iter().all(|it| parent(&it.file.path) == parent(file));
    let name = if one_directory { base_name(file) } else { file };
    let here = || twins.iter().filter(|it| *it.file.path == *file);
    if here().count() == 1 {
        return name.to_owned();
    }
    let number = here().filter(|it| it.item.name_span.start <= declaration.item.name_span.start).count();
    format!("{name}#{number}")
}

/// Of several with one path, those that are meant where nothing else is said: of the workspace's own packages,
/// outside of tests, taken by a build of this machine.
pub(crate) fn favoured(found: Vec<Declaration>) -> Vec<Declaration> {
    let context = BuildContext::host();
    let found = preferring(found, |it| it.package.standing == Standing::Member);
    let found = preferring(found, |it| !it.is_test());
    preferring(found, |it| context.takes(&it.file.path, &it.file.text))
}

/// Those that fit, if any do; else all.
pub(crate) fn preferring<'w>(
    found: Vec<Declaration<'w>>,
    fits: impl Fn(&Declaration<'w>) -> bool,
) -> Vec<Declaration<'w>> {
    let (better, worse): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| fits(it));
    if better.is_empty() { worse } else { better }
}

/// What was asked for by a mark: the file, and the number in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    file: String,
    number: Option<usize>,
}

impl Mark {
    /// Of `os_windows.go@path` and `a.go#2@path` the mark, and what stands behind it.
    pub(crate) fn split(path: &str) -> Option<(Mark, &str)> {
        path.match_indices('@').find_map(|(at, _)| {
            let (mark, rest) = (path.get(..at)?, path.get(at + 1..)?);
            let numbered = mark.rsplit_once('#').and_then(|(file, number)| Some((file, number.parse().ok()?)));
            let (file, number) = numbered.map_or((mark, None), |(file, number)| (file, Some(number)));
            file.ends_with(".go").then(|| (Mark { file: file.to_owned(), number }, rest))
        })
    }

    /// Of declarations with one path in the order of the text, those that are meant.
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
