//! The sources outside the root: the standard library, dependencies, and output of build scripts.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use ra_ap_load_cargo::ProjectFolders;
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use ra_ap_project_model::ProjectWorkspace;
use ra_ap_vfs::loader::Entry;
use rayon::prelude::*;

use super::referenced_files::{Packages, is_passed_over};
use crate::syntax::analysed::{of_library, of_standard_library};

/// The largest source of a library.
pub(crate) const LARGEST_SOURCE: usize = 64 << 20;

/// Where the sources of the standard library are.
pub(crate) fn library_roots(workspaces: &[ProjectWorkspace]) -> Vec<&AbsPath> {
    workspaces.iter().filter_map(|it| it.sysroot.rust_lib_src_root()).collect()
}

/// The files of all source roots outside the workspace's root that no earlier step read. `library`: the roots of the
/// standard library.
pub(crate) fn read_sources(
    folders: &ProjectFolders,
    root: &AbsPath,
    library: &[&AbsPath],
    packages: &Packages<'_>,
    read: &mut HashSet<AbsPathBuf>,
    deep: &mut BTreeSet<AbsPathBuf>,
) -> Vec<(AbsPathBuf, Vec<u8>)> {
    let mut paths: BTreeSet<AbsPathBuf> = BTreeSet::new();
    for entry in &folders.load {
        match entry {
            Entry::Files(files) => paths.extend(files.iter().cloned()),
            Entry::Directories(directories) => {
                for include in directories.include.iter().filter(|it| !it.starts_with(root)) {
                    let exclude = directories.exclude.clone();
                    // Local sources are read as the watcher lists them. In other packages links are followed.
                    let is_local = packages.holds(include.as_ref());
                    let is_listed = move |entry: &ignore::DirEntry| {
                        !is_local || entry.depth() == 0 || !entry.path().is_dir() || !is_passed_over(entry.path())
                    };
                    let real = checkout_of(include.as_ref());
                    let is_inside = move |it: &ignore::DirEntry| {
                        !it.path_is_symlink() || it.path().canonicalize().is_ok_and(|it| it.starts_with(&real))
                    };
                    let is_taken = move |entry: &ignore::DirEntry| {
                        let is_excluded = exclude.iter().any(|it| AsRef::<Path>::as_ref(it) == entry.path());
                        !is_excluded && is_listed(entry) && is_inside(entry)
                    };
                    let mut builder = ignore::WalkBuilder::new(include);
                    builder.standard_filters(false).follow_links(!is_local).filter_entry(is_taken);
                    for file in builder.build().flatten().filter(|it| it.file_type().is_some_and(|it| it.is_file())) {
                        let Ok(path) = Utf8PathBuf::from_path_buf(file.into_path()) else { continue };
                        let path = AbsPathBuf::assert(path);
                        if directories.contains_file(&path) {
                            paths.insert(path);
                        }
                    }
                }
            }
        }
    }
    paths.retain(|it| !it.starts_with(root) && !read.contains(it));
    let found: Vec<(AbsPathBuf, Vec<u8>, bool)> =
        paths.into_par_iter().filter_map(|it| read_file(it, library)).collect();
    let keep = |(path, bytes, is_too_deep): (AbsPathBuf, Vec<u8>, bool)| {
        read.insert(path.clone());
        if is_too_deep && path.extension() == Some("rs") {
            deep.insert(path.clone());
        }
        (path, bytes)
    };
    found.into_iter().map(keep).collect()
}

/// Where the links of a dependency may lead: to itself, or to its whole repository if it comes from one.
fn checkout_of(package: &Path) -> PathBuf {
    let is_checkouts = |it: &Path| it.ends_with("git/checkouts");
    let checkout = package.ancestors().find(|it| it.ancestors().nth(2).is_some_and(is_checkouts));
    let directory = checkout.unwrap_or(package);
    directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf())
}

/// Directories outside the root whose files change like the workspace's own: path dependencies.
pub(crate) fn local_roots(root: &AbsPath, target_dir: &AbsPath, workspaces: &[ProjectWorkspace]) -> Vec<PathBuf> {
    let outside = |path: &AbsPathBuf| !path.starts_with(root) && !path.starts_with(target_dir);
    let roots: BTreeSet<PathBuf> = workspaces
        .iter()
        .flat_map(ProjectWorkspace::to_roots)
        .filter(|it| it.is_local)
        .flat_map(|it| it.include)
        .filter(outside)
        .map(PathBuf::from)
        .collect();
    roots.into_iter().collect()
}

/// A source, and whether it is nested too deeply.
fn read_file(path: AbsPathBuf, library: &[&AbsPath]) -> Option<(AbsPathBuf, Vec<u8>, bool)> {
    // This does not block if a pipe has replaced the file.
    let bytes = semdex_fs::read_file(path.as_ref(), LARGEST_SOURCE).ok()?;
    let is_of_library = library.iter().any(|it| path.starts_with(it));
    let (bytes, is_too_deep) = if is_of_library { (of_standard_library(bytes), false) } else { of_library(bytes) };
    Some((path, bytes, is_too_deep))
}
