//! The builds that Cargo makes of a target. rust-analyzer gives every local crate one build, with `cfg(test)`,
//! dev-dependencies and the default features. Cargo sets `cfg(test)` only for the tests of members, and other crates
//! never see that build; and it builds a target only with the features that it requires.
//!
//! A library or program gets both builds where they differ in more than additional code: if it has code under
//! `cfg(not(test))`, or if a dev-dependency depends on it, which rust-analyzer leaves out as a circle. Its dependants
//! use the plain build. All other members have one build, with tests: a second one would cost its memory twice and has
//! no code of its own.
//!
//! A target that requires more features than are on gets a build with them, and with it the library of its package. If
//! they need a dependency that Cargo did not resolve, the target has no build.

use std::collections::BTreeSet;

use super::workspace::cargo_of;
use ra_ap_base_db::{
    CrateBuilderId, CrateDisplayName, CrateGraphBuilder, CrateName, DependencyBuilder, ProcMacroPaths,
};
use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir_expand::intern::{Symbol, sym};
use ra_ap_paths::AbsPath;
use ra_ap_project_model::{CargoWorkspace, Package, PackageDependency, ProjectWorkspace, Target, TargetKind};
use ra_ap_vfs::FileId;
use rustc_hash::FxHashMap;
use semdex_text::words::{occurrences, words};

/// Whether a text has code under `cfg(not(test))`.
pub(crate) fn has_not_test_cfg(text: &str) -> bool {
    occurrences(text, "not").any(|at| {
        let Some(inner) = text[at + "not".len()..].trim_start().strip_prefix('(') else { return false };
        let mut depth = 1;
        let end = inner.find(|it| {
            depth += i32::from(it == '(') - i32::from(it == ')');
            depth == 0 || it == '\n'
        });
        words(&inner[..end.unwrap_or(inner.len())]).any(|it| it.1 == "test")
    })
}

/// Gives each crate of a Cargo workspace's graph the builds that Cargo makes of it. `is_split` says whether a package in
/// this directory has code under `cfg(not(test))`. Returns the crates of targets that have no build.
pub(crate) fn split(
    graph: &mut CrateGraphBuilder,
    workspace: &ProjectWorkspace,
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
    is_split: &dyn Fn(&AbsPath) -> bool,
) -> Vec<CrateBuilderId> {
    let Some(cargo) = cargo_of(workspace) else { return Vec::new() };
    let crates = crates_of(graph, cargo, file_id);
    let library = |package: Package| {
        let found = crates.iter().filter(|it| it.package == package);
        found.filter(|it| matches!(it.kind, TargetKind::Lib { .. })).map(|it| it.id).next()
    };
    let mut without_build = Vec::new();
    for &CrateOf { id, target, .. } in crates.iter().filter(|it| cargo[it.package].is_member) {
        match Requirement::of(cargo, target) {
            Requirement::Met => {}
            Requirement::Features(more) => {
                let own = library(cargo[target].package);
                if let Some((own, edge)) = own.and_then(|own| Some((own, edge(graph, id, own)?))) {
                    let with_features = graph.add_copy(own);
                    leave_out_tests(graph, with_features);
                    turn_on(graph, with_features, &more);
                    graph[id].basic.dependencies[edge].crate_id = with_features;
                }
                turn_on(graph, id, &more);
            }
            Requirement::Unknown => without_build.push(id),
        }
    }
    for &CrateOf { id, package, kind, .. } in &crates {
        let of = &cargo[package];
        match kind {
            _ if !of.is_member => leave_out_tests(graph, id),
            TargetKind::BuildScript | TargetKind::Example => leave_out_tests(graph, id),
            TargetKind::Lib { .. } | TargetKind::Bin => {
                let dev: Vec<&PackageDependency> = of.dependencies.iter().filter(|it| is_dev(it)).collect();
                let has = |name: &CrateName| graph[id].basic.dependencies.iter().any(|it| it.name == *name);
                let left_out: Vec<DependencyBuilder> = dev
                    .iter()
                    .filter_map(|it| Some(DependencyBuilder::new(CrateName::new(&it.name).ok()?, library(it.pkg)?)))
                    .filter(|it| !has(&it.name))
                    .collect();
                if !left_out.is_empty() || is_split(of.manifest.parent()) {
                    let with_tests = graph.add_copy(id);
                    graph[with_tests].basic.dependencies.extend(left_out);
                    leave_out_tests(graph, id);
                    let is_only_dev = |name: &str| {
                        let mut named = of.dependencies.iter().filter(|it| it.name == name).peekable();
                        named.peek().is_some() && named.all(is_dev)
                    };
                    graph[id].basic.dependencies.retain(|it| !is_only_dev(it.name.as_str()));
                }
            }
            TargetKind::Test | TargetKind::Bench | TargetKind::Other => {}
        }
    }
    without_build
}

/// Removes crates that nothing depends on.
pub(crate) fn remove(graph: &mut CrateGraphBuilder, paths: &mut ProcMacroPaths, without_build: &[CrateBuilderId]) {
    if without_build.is_empty() {
        return;
    }
    let kept: Vec<CrateBuilderId> = graph.iter().filter(|it| !without_build.contains(it)).collect();
    let moved = graph.remove_crates_except(&kept);
    let place = |id: CrateBuilderId| moved[id.into_raw().into_u32() as usize];
    *paths = std::mem::take(paths).into_iter().filter_map(|(id, it)| Some((place(id)?, it))).collect();
}

/// What a target requires besides the features that are on.
enum Requirement {
    Met,
    /// These, with the features that they turn on.
    Features(BTreeSet<String>),
    /// Dependencies that Cargo did not resolve.
    Unknown,
}

impl Requirement {
    fn of(cargo: &CargoWorkspace, target: Target) -> Requirement {
        let package = &cargo[cargo[target].package];
        let mut pending: Vec<&str> = cargo[target].required_features.iter().map(String::as_str).collect();
        let mut more = BTreeSet::new();
        while let Some(feature) = pending.pop() {
            if package.active_features.iter().any(|it| it == feature) || more.contains(feature) {
                continue;
            }
            let dependency = |name: &str| {
                let name = name.replace('-', "_");
                package.dependencies.iter().find(|it| it.name == name).map(|it| &cargo[it.pkg])
            };
            let is_on = match (feature.strip_prefix("dep:"), feature.split_once('/')) {
                (Some(name), _) => dependency(name).is_some(),
                (_, Some((name, feature))) => dependency(name.trim_end_matches('?'))
                    .map_or(name.ends_with('?'), |it| it.active_features.iter().any(|it| it == feature)),
                (None, None) => {
                    let Some(turned_on) = package.features.get(feature) else { return Requirement::Unknown };
                    more.insert(feature.to_owned());
                    pending.extend(turned_on.iter().map(String::as_str));
                    true
                }
            };
            if !is_on {
                return Requirement::Unknown;
            }
        }
        if more.is_empty() { Requirement::Met } else { Requirement::Features(more) }
    }
}

fn turn_on(graph: &mut CrateGraphBuilder, id: CrateBuilderId, features: &BTreeSet<String>) {
    for feature in features {
        graph[id].cfg_options.insert_key_value(sym::feature, Symbol::intern(feature));
    }
}

/// The index of the edge from one crate to another.
fn edge(graph: &CrateGraphBuilder, from: CrateBuilderId, to: CrateBuilderId) -> Option<usize> {
    graph[from].basic.dependencies.iter().position(|it| it.crate_id == to)
}

/// A crate of the graph, and the target of a local package that it comes from.
struct CrateOf {
    id: CrateBuilderId,
    package: Package,
    target: Target,
    kind: TargetKind,
}

fn crates_of(
    graph: &CrateGraphBuilder,
    cargo: &CargoWorkspace,
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
) -> Vec<CrateOf> {
    let mut by_root: FxHashMap<FileId, Vec<CrateBuilderId>> = FxHashMap::default();
    for id in graph.iter() {
        by_root.entry(graph[id].basic.root_file_id).or_default().push(id);
    }
    let mut found = Vec::new();
    for package in cargo.packages().filter(|&it| cargo[it].is_local) {
        for &target in &cargo[package].targets {
            let data = &cargo[target];
            let Some(ids) = file_id(&data.root).and_then(|it| by_root.get(&it)) else { continue };
            let name = CrateDisplayName::from_canonical_name(&data.name);
            let is_it = |it: &&CrateBuilderId| graph[**it].extra.display_name.as_ref() == Some(&name);
            found.extend(ids.iter().find(is_it).map(|&id| CrateOf { id, package, target, kind: data.kind }));
        }
    }
    found
}

/// The type of `kind` has no public path.
fn is_dev(dependency: &PackageDependency) -> bool {
    format!("{:?}", dependency.kind) == "Dev"
}

fn leave_out_tests(graph: &mut CrateGraphBuilder, id: CrateBuilderId) {
    graph[id].cfg_options.apply_diff(CfgDiff::new(Vec::new(), vec![CfgAtom::Flag(sym::test)]));
}

#[cfg(test)]
mod tests {
    use super::has_not_test_cfg;

    #[test]
    fn not_test_cfgs_are_found() {
        for text in [
            "#[cfg(not(test))]",
            "#![cfg_attr(not(test), no_std)]",
            "#[cfg(all(unix, not(any(test, feature = \"x\"))))]",
            "#[cfg(not (test))]",
        ] {
            assert!(has_not_test_cfg(text), "{text}");
        }
        for text in [
            "#[cfg(test)]",
            "#[cfg(not(feature = \"latest\"))]",
            "// not a test (of course)",
            "#[cfg(all(not(unix), test))]",
            "nothing(test)",
            "not(",
        ] {
            assert!(!has_not_test_cfg(text), "{text}");
        }
    }
}
