//! The source roots of the files. rust-analyzer makes one of each package, and follows paths within one only: where code
//! names a file of another by `#[path]` or `include!`, the two are made one.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_ide_db::base_db::SourceRoot;
use ra_ap_load_cargo::SourceRootConfig;
use ra_ap_vfs::{Vfs, VfsPath};

use super::{Rust, set_roots};
use crate::lang::engine::NamedTexts;
use crate::lang::rust::LANGUAGE;

/// A file and another that it names by a path.
pub type Crossing = (VfsPath, VfsPath);

pub(super) fn partition(config: &SourceRootConfig, vfs: &Vfs, crossings: &[Crossing]) -> Vec<SourceRoot> {
    let is_local = |index: usize| u64::try_from(index).is_ok_and(|it| config.local_filesets.contains(&it));
    let sets = config.fsc.partition(vfs).into_iter().enumerate();
    let mut sets: Vec<_> = sets.map(|(index, set)| (is_local(index), set)).collect();
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
    let root = |(is_local, set)| if is_local { SourceRoot::new_local(set) } else { SourceRoot::new_library(set) };
    sets.into_iter().map(root).collect()
}

impl Rust {
    /// By the names of the files.
    pub fn set_named(&mut self, named: &NamedTexts) {
        let NamedTexts { unread, by_path, compiled_elsewhere } = named;
        let included: BTreeSet<String> =
            by_path.iter().filter(|it| !LANGUAGE.takes(&it.1)).map(|it| it.1.clone()).collect();
        let environment = &self.environment;
        if environment.unread != *unread
            || *environment.included != included
            || *environment.compiled_elsewhere != *compiled_elsewhere
        {
            self.set_environment(|it| {
                it.unread.clone_from(unread);
                it.included = Arc::new(included);
                it.compiled_elsewhere = Arc::new(compiled_elsewhere.clone());
            });
            self.publish();
        }
        let path = |name: &str| VfsPath::from(self.root.join(name));
        let crossings: Vec<Crossing> = by_path.iter().map(|(from, to)| (path(from), path(to))).collect();
        if self.crossings != crossings {
            self.crossings = crossings;
            self.set_source_roots();
        }
    }

    fn set_source_roots(&mut self) {
        let roots = partition(&self.source_roots, &self.vfs, &self.crossings);
        if roots != self.roots {
            self.is_torn = true;
            self.second.note_roots();
            set_roots(&mut self.host, &mut self.roots, roots);
            self.is_torn = false;
            self.is_indexed = false;
            self.is_complete = false;
            drop(self.index.forget_all());
        }
    }
}
