//! Path dependencies of Rust outside of the root: their sources are watched and compared as the workspace's own are, but
//! they are no files of it. The engine holds what they contain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::freshness::OpenTrees;
use super::watch::walk;
use super::writer::Writer;
use crate::lang::rust::engine::OutsideText;
use crate::model::Result;

impl Writer {
    /// The root of the path dependency that a path lies in.
    pub(super) fn path_dependency(&self, path: &Path) -> Option<&PathBuf> {
        if path.starts_with(&self.root) {
            return None;
        }
        self.outside_roots.iter().find(|it| path.starts_with(it))
    }

    /// Takes what is of path dependencies from these paths.
    pub(super) fn split_path_dependencies(&self, paths: &mut BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self.outside_roots.is_empty() {
            return BTreeSet::new();
        }
        paths.extract_if(.., |it| self.path_dependency(it).is_some()).collect()
    }

    /// Watches these directories too. `sources` were read while they were loaded: what has become of them since, and of
    /// what was there before a directory was watched, nobody has told.
    pub(super) fn watch_path_dependencies(&mut self, roots: Vec<PathBuf>, sources: Vec<PathBuf>) {
        let mut found = BTreeSet::new();
        for root in roots.into_iter().filter(|it| !self.outside_roots.contains(it)).collect::<Vec<_>>() {
            let tree = self.outside_tree(&root);
            self.outside_roots.push(root.clone());
            let files = match &mut self.watcher {
                Some(watcher) => watcher.add_root(&tree),
                None => walk(&tree),
            };
            match files {
                Ok(files) => found.extend(files),
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "a path dependency cannot be watched");
                    self.compares_all = true;
                }
            }
        }
        self.note_watching();
        found.extend(sources);
        found.retain(|it| self.path_dependency(it).is_some());
        if let Err(error) = self.compare_path_dependencies(found, false) {
            tracing::error!(%error, "the next request tries again");
        }
    }

    /// Compares files of path dependencies with what the engine holds. A path that is no file stands for everything known
    /// below it. `is_all`: these are all that there are.
    pub(super) fn compare_path_dependencies(&mut self, paths: BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        let Some(rust) = self.rust.as_ref().filter(|_| is_all || !paths.is_empty()) else { return Ok(()) };
        let is_concerned = |it: &Path| {
            self.path_dependency(it).is_some() && (is_all || it.ancestors().any(|above| paths.contains(above)))
        };
        let known: BTreeSet<PathBuf> =
            rust.known_outside().filter(|it| is_concerned(it)).map(Path::to_path_buf).collect();
        let is_source = |it: &&PathBuf| it.extension().is_some_and(|it| it == "rs");
        let looked_at: BTreeSet<PathBuf> = known.into_iter().chain(paths.iter().filter(is_source).cloned()).collect();
        let mut trees = OpenTrees::default();
        let read = |path: &PathBuf| Ok((path.clone(), self.read_bytes(&mut trees, path)?));
        let contents: Result<Vec<OutsideText>> = looked_at.iter().map(read).collect();
        // What cannot be read now is looked at again before the next answer.
        let contents = contents.inspect_err(|_| self.unread.extend(looked_at.iter().cloned()))?;
        let change = self.with_rust(|it| it.set_outside(contents)).unwrap_or_default();
        if change.is_changed || change.needs_reload {
            self.note_change_outside();
            if change.needs_reload {
                self.reload_rust();
            }
            tracing::debug!(revision = self.revision.0, ?change, "path dependencies changed");
            self.publish();
        }
        Ok(())
    }
}
