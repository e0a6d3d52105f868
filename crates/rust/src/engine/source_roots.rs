//! The source roots of the files. rust-analyzer creates one for each package, and follows paths only within one. If
//! code names a file of another root by `#[path]` or `include!`, the two are merged.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_ide_db::base_db::SourceRoot;
use ra_ap_vfs::VfsPath;

use super::crossings::Crossing;
use super::{Rust, crossings, set_roots};
use crate::LANGUAGE;
use semdex_engine::ReferencedFiles;

impl Rust {
    /// Sets the crossings by the names of the files.
    pub(crate) fn set_referenced_files(&mut self, named: &ReferencedFiles) {
        let ReferencedFiles { unread, by_path, compiled_elsewhere, .. } = named;
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

    /// The source roots of all files.
    pub(crate) fn partitioned(&self) -> Vec<SourceRoot> {
        let mut roots = crossings::partition(&self.source_roots, &self.vfs, &self.crossings);
        roots.extend(self.doctest_roots());
        roots
    }

    fn set_source_roots(&mut self) {
        let roots = self.partitioned();
        if roots != self.roots {
            self.is_torn = true;
            self.shadow_database.note_roots();
            set_roots(&mut self.host, &mut self.roots, roots);
            self.is_torn = false;
            self.is_indexed = false;
            self.is_complete = false;
            drop(self.index.forget_all());
        }
    }
}
