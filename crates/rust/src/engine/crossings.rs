//! Source roots that include files of one another.

use ra_ap_ide_db::base_db::SourceRoot;
use ra_ap_load_cargo::SourceRootConfig;
use ra_ap_vfs::file_set::FileSet;
use ra_ap_vfs::{Vfs, VfsPath};

use crate::load::doctest_crates::is_module;

/// A file and another that it names by a path.
pub(crate) type Crossing = (VfsPath, VfsPath);

pub(crate) fn partition(config: &SourceRootConfig, vfs: &Vfs, crossings: &[Crossing]) -> Vec<SourceRoot> {
    let is_local = |index: usize| u64::try_from(index).is_ok_and(|it| config.local_filesets.contains(&it));
    let sets = config.fsc.partition(vfs).into_iter().enumerate();
    let mut sets: Vec<_> = sets.map(|(index, set)| (is_local(index), without_doctests(set))).collect();
    for (from, to) in crossings {
        let place = |path: &VfsPath| sets.iter().position(|(_, it)| it.file_for_path(path).is_some());
        let (Some(from), Some(to)) = (place(from), place(to)) else { continue };
        let (kept, moved) = (from.min(to), from.max(to));
        let Some((head, [(was_local, moved), ..])) = sets.split_at_mut_checked(moved).filter(|_| from != to) else {
            continue;
        };
        let Some((is_local, kept)) = head.get_mut(kept) else { continue };
        *is_local |= *was_local;
        let files = std::mem::take(moved);
        for file in files.iter() {
            if let Some(path) = files.path_for_file(&file) {
                kept.insert(file, path.clone());
            }
        }
    }
    let root = |(is_local, set): (bool, FileSet)| {
        if is_local { SourceRoot::new_local(set) } else { SourceRoot::new_library(set) }
    };
    sets.into_iter().map(root).collect()
}

/// The modules that represent doctests have source roots of their own.
fn without_doctests(set: FileSet) -> FileSet {
    let own = |id| set.path_for_file(&id).filter(|it| !is_module(it)).map(|it| (id, it.clone()));
    if set.iter().all(|it| own(it).is_some()) {
        return set;
    }
    let mut others = FileSet::default();
    set.iter().filter_map(own).for_each(|(id, path)| others.insert(id, path));
    others
}
