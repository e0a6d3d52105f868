//! Suggestions for an unresolved name.

use std::collections::HashSet;

use super::package_set::PackageSet;
use super::predeclared;
use super::resolve::Wanted;
use super::symbol_paths::Declaration;

const MAX_SUGGESTIONS: usize = 5;
const MAX_LOOKED_AT: usize = 50;
/// Less similar names are not suggested.
pub(crate) const LEAST_LIKENESS: f64 = 0.6;

/// Full paths: the same name elsewhere, then another case, then similar spelling.
pub(crate) fn symbols(package_set: &PackageSet, wanted: &Wanted, package: Option<&str>) -> Vec<String> {
    distinct(alike(package_set, &wanted.bits, package).into_iter())
}

/// Whether every segment of a path after its package is exported.
pub(crate) fn is_exported(path: &str, import_path: &str) -> bool {
    let inner = path.strip_prefix(import_path).unwrap_or(path).trim_start_matches('.');
    inner.split('.').all(|it| it.starts_with(char::is_uppercase)) || import_path == predeclared::PACKAGE
}

/// Symbols with similar names, the most similar first.
pub(crate) fn alike(package_set: &PackageSet, bits: &[String], package: Option<&str>) -> Vec<String> {
    let Some((name, qualifiers)) = bits.split_last() else { return Vec::new() };
    let scope: Vec<String> = package.into_iter().map(str::to_owned).chain(qualifiers.iter().cloned()).collect();
    let mut ranked: Vec<(f64, Declaration)> = Vec::new();
    for declaration in package_set.packages.iter().flat_map(|it| it.declarations()).filter(Declaration::declares) {
        let by_name = likeness(&declaration.item.name, name);
        if by_name < LEAST_LIKENESS {
            continue;
        }
        let around = || declaration.bits().rev().skip(1).chain([declaration.package.name.as_str()]);
        let by_scope: f64 =
            scope.iter().map(|asked| around().map(|it| likeness(it, asked)).fold(0.0, f64::max)).sum::<f64>()
                / scope.len().max(1) as f64;
        let worth = [declaration.item.public, !declaration.is_test(), declaration.item.container.is_empty()];
        let tie: f64 = worth.into_iter().map(|it| if it { 0.02 } else { 0.0 }).sum();
        ranked.push((2.0 * by_name + by_scope + tie, declaration));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path().cmp(&b.1.path())));
    ranked.iter().take(MAX_LOOKED_AT).map(|(_, it)| package_set.symbol(it).path).collect()
}

/// Similar import paths.
pub(crate) fn packages(package_set: &PackageSet, package: &str) -> Vec<String> {
    let last = package.rsplit('/').next().unwrap_or(package);
    let mut ranked: Vec<(f64, &str)> = package_set
        .packages
        .iter()
        .map(|it| {
            let end = it.import_path.rsplit('/').next().unwrap_or_default();
            let by_name = likeness(&it.name, last).max(likeness(end, last));
            (by_name.max(likeness(&it.import_path, package)), it.import_path.as_str())
        })
        .filter(|(score, _)| *score >= LEAST_LIKENESS)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    distinct(ranked.into_iter().map(|(_, path)| path.to_owned()))
}

pub(crate) fn distinct(paths: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    paths.filter(|it| seen.insert(it.clone())).take(MAX_SUGGESTIONS).collect()
}

/// 1 for the same name, a little less for another case, then by edit distance.
pub(crate) fn likeness(name: &str, asked: &str) -> f64 {
    if name == asked {
        return 1.0;
    }
    let (short, long) = (name.len().min(asked.len()), name.len().max(asked.len()));
    if (short as f64) < LEAST_LIKENESS * long as f64 {
        return 0.0;
    }
    let (name, asked) = (name.to_lowercase(), asked.to_lowercase());
    if name == asked { 0.95 } else { 0.9 * strsim::normalized_damerau_levenshtein(&name, &asked) }
}
