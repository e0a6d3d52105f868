//! The builds that Cargo makes of a target. rust-analyzer gives every local crate one build, with `cfg(test)` and
//! dev-dependencies. Cargo sets `cfg(test)` only for the tests of members, and other crates never see that build.
//!
//! A library or program gets both builds where they differ in more than additional code: if it has code under
//! `cfg(not(test))`, or if a dev-dependency depends on it, which rust-analyzer leaves out as a circle. Its dependants
//! use the plain build. All other members have one build, with tests: a second one would cost its memory twice and has
//! no code of its own.

use ra_ap_base_db::{CrateBuilderId, CrateDisplayName, CrateGraphBuilder, CrateName, DependencyBuilder};
use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir_expand::intern::sym;
use ra_ap_paths::AbsPath;
use ra_ap_project_model::{
    CargoWorkspace, Package, PackageDependency, ProjectWorkspace, ProjectWorkspaceKind, TargetKind,
};
use ra_ap_vfs::FileId;
use rustc_hash::FxHashMap;
use semdex_text::words::{occurrences, words};

/// Whether a text has code that is compiled only without `cfg(test)`.
pub(crate) fn has_code_without_tests(text: &str) -> bool {
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

/// Gives each crate of a Cargo workspace's graph the builds that Cargo makes of it. `is_apart` says whether a package in
/// this directory has code under `cfg(not(test))`.
pub(crate) fn split(
    graph: &mut CrateGraphBuilder,
    workspace: &ProjectWorkspace,
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
    is_apart: &dyn Fn(&AbsPath) -> bool,
) {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { return };
    let crates = crates_of(graph, cargo, file_id);
    let library = |package: Package| {
        let found = crates.iter().filter(|it| it.package == package);
        found.filter(|it| matches!(it.kind, TargetKind::Lib { .. })).map(|it| it.id).next()
    };
    for &CrateOf { id, package, kind } in &crates {
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
                if !left_out.is_empty() || is_apart(of.manifest.parent()) {
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
}

/// A crate of the graph, and the target of a local package that it comes from.
struct CrateOf {
    id: CrateBuilderId,
    package: Package,
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
            let target = &cargo[target];
            let Some(ids) = file_id(&target.root).and_then(|it| by_root.get(&it)) else { continue };
            let name = CrateDisplayName::from_canonical_name(&target.name);
            let is_it = |it: &&CrateBuilderId| graph[**it].extra.display_name.as_ref() == Some(&name);
            found.extend(ids.iter().find(is_it).map(|&id| CrateOf { id, package, kind: target.kind }));
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
    use super::has_code_without_tests;

    #[test]
    fn code_without_tests_is_found_by_its_condition() {
        for text in [
            "#[cfg(not(test))]",
            "#![cfg_attr(not(test), no_std)]",
            "#[cfg(all(unix, not(any(test, feature = \"x\"))))]",
            "#[cfg(not (test))]",
        ] {
            assert!(has_code_without_tests(text), "{text}");
        }
        for text in [
            "#[cfg(test)]",
            "#[cfg(not(feature = \"latest\"))]",
            "// not a test (of course)",
            "#[cfg(all(not(unix), test))]",
            "nothing(test)",
            "not(",
        ] {
            assert!(!has_code_without_tests(text), "{text}");
        }
    }
}
