//! The crates that represent the doctests of libraries. rustdoc makes a program of each doctest, which depends on the
//! library and on all that the library's tests depend on. Here the doctests of a library are one crate: a module for
//! each file of its package that has some (`syntax::doctests`).
//!
//! The texts of these modules are files of the database that no disk has. Their source roots are their own, so that no
//! other crate sees them, and rust-analyzer reads them for no other crate.

use std::collections::BTreeMap;
use std::path::Path;

use ra_ap_base_db::{CrateBuilderId, CrateGraphBuilder, CrateName, DependencyBuilder, FURTHER_BUILD};
use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir_expand::intern::{Symbol, sym};
use ra_ap_ide::FileId;
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_project_model::{ProjectWorkspace, TargetKind};
use ra_ap_vfs::VfsPath;

use super::workspace::cargo_of;
use crate::names::builds::differences;
use crate::names::instances::OF_DOCTESTS;

/// The directory of all modules. No path of a disk begins with it.
const DIRECTORY: &str = "/semdex:doctests";

/// Directories of a package whose files belong to other targets than its library.
const OF_OTHER_TARGETS: [&str; 4] = ["tests", "examples", "benches", "src/bin"];

/// A library with the crate of its doctests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Library {
    /// The directory of its package.
    pub(crate) package: AbsPathBuf,
    pub(crate) root_file: AbsPathBuf,
    name: String,
}

impl Library {
    /// The root of the crate of doctests.
    pub(crate) fn root(&self) -> AbsPathBuf {
        AbsPathBuf::assert(format!("{DIRECTORY}{}", self.root_file).into())
    }

    /// The directory of its modules.
    pub(crate) fn directory(&self) -> AbsPathBuf {
        AbsPathBuf::assert(format!("{DIRECTORY}{}.d", self.root_file).into())
    }

    /// The file of the module for a file of the package.
    pub(crate) fn module(&self, file: &AbsPath) -> AbsPathBuf {
        AbsPathBuf::assert(format!("{}{file}", self.directory()).into())
    }

    /// The text of the crate's root: a module for each of these files.
    pub(crate) fn text<'a>(&self, files: impl Iterator<Item = &'a AbsPath>) -> String {
        let directory = self.root_file.file_name().unwrap_or_default();
        let modules = files.enumerate().map(|(number, file)| {
            let path = format!("{directory}.d{file}").replace('\\', "\\\\").replace('"', "\\\"");
            format!("#[path = \"{path}\"]\nmod doctests_{number};\n")
        });
        std::iter::once(self.extern_crate()).chain(modules).collect()
    }

    /// What lets code of any edition name the library.
    pub(crate) fn extern_crate(&self) -> String {
        format!("extern crate {};\n", self.name)
    }

    /// Whether a Rust file of the package may belong to the library.
    pub(crate) fn may_include(&self, file: &AbsPath) -> bool {
        let Some(below) = file.strip_prefix(&self.package) else { return false };
        !OF_OTHER_TARGETS.iter().any(|it| AsRef::<Path>::as_ref(below).starts_with(it))
    }

    /// Its crates by the builds that have one; the default build has no name. In each, those with tests come first.
    fn crates(
        &self,
        graph: &CrateGraphBuilder,
        file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
    ) -> BTreeMap<Option<String>, Vec<CrateBuilderId>> {
        let mut found: BTreeMap<Option<String>, Vec<CrateBuilderId>> = BTreeMap::new();
        let root = file_id(&self.root_file);
        for id in graph.iter().filter(|it| Some(graph[*it].basic.root_file_id) == root) {
            let build = graph[id].cfg_options.get_cfg_values(FURTHER_BUILD).next().map(|it| it.as_str().to_owned());
            found.entry(build).or_default().push(id);
        }
        let test = CfgAtom::Flag(sym::test);
        for crates in found.values_mut() {
            crates.sort_by_key(|it| !graph[*it].cfg_options.check_atom(&test));
        }
        found
    }
}

/// Whether a path names a module that represents doctests, or the root of their crate.
pub(crate) fn is_module(path: &VfsPath) -> bool {
    path.as_path().is_some_and(|it| it.as_str().starts_with(DIRECTORY))
}

/// The libraries of the packages of these workspaces, each once.
pub(crate) fn libraries(workspaces: &[ProjectWorkspace]) -> Vec<Library> {
    let mut found: Vec<Library> = Vec::new();
    for cargo in workspaces.iter().filter_map(cargo_of) {
        for package in cargo.packages().filter(|&it| cargo[it].is_local) {
            let package_directory = cargo[package].manifest.parent();
            for &target in &cargo[package].targets {
                let target = &cargo[target];
                let library = Library {
                    package: package_directory.to_path_buf(),
                    root_file: target.root.clone(),
                    name: target.name.replace('-', "_"),
                };
                if matches!(target.kind, TargetKind::Lib { .. }) && !found.contains(&library) {
                    found.push(library);
                }
            }
        }
    }
    found
}

/// Adds the crates of doctests to a graph: for each build of a library one.
pub(crate) fn add(
    graph: &mut CrateGraphBuilder,
    libraries: &[Library],
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
) {
    let mark = CfgAtom::Flag(Symbol::intern(OF_DOCTESTS));
    for library in libraries {
        let (Some(root), Ok(name)) = (file_id(&library.root()), CrateName::new(&library.name)) else { continue };
        for crates in library.crates(graph, file_id).into_values() {
            // The tests have the dependencies, and other crates see the crate without tests.
            let Some(&with_tests) = crates.first() else { continue };
            // Another workspace may build the library with other features.
            let is_like =
                |it: &&CrateBuilderId| differences(&graph[**it].cfg_options, &graph[with_tests].cfg_options).is_empty();
            let plain = crates.iter().rev().find(is_like).copied().unwrap_or(with_tests);
            let doctests = graph.add_copy(with_tests);
            let krate = &mut graph[doctests];
            krate.basic.root_file_id = root;
            krate.basic.is_proc_macro = false;
            krate.basic.dependencies.push(DependencyBuilder::new(name.clone(), plain));
            krate.cfg_options.apply_diff(CfgDiff::new(vec![mark.clone()], vec![CfgAtom::Flag(sym::test)]));
        }
    }
}
