//! Sources outside of the root, of path dependencies say: they are watched and compared as the workspace's own are, but
//! they are no files of it. The engine holds what they contain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::open_trees::OpenTrees;
use super::watch::walk;
use super::writer::Writer;
use semdex_engine::ExternalText;
use semdex_model::Result;

impl Writer {
    /// The directory of sources that a path lies in.
    pub(super) fn source_outside(&self, path: &Path) -> Option<&PathBuf> {
        if path.starts_with(&self.root) {
            return None;
        }
        self.outside_roots.iter().find(|it| path.starts_with(it))
    }

    /// Takes what is of such directories from these paths.
    pub(super) fn split_sources_outside(&self, paths: &mut BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self.outside_roots.is_empty() {
            return BTreeSet::new();
        }
        paths.extract_if(.., |it| self.source_outside(it).is_some()).collect()
    }

    /// Watches the directories that an engine reads now. What has become of the files since it read them, and of what was
    /// there before a directory was watched, nobody has reported.
    pub(super) fn watch_sources_outside(&mut self, at: usize) {
        let Some(Some(sources)) = self.with_engine(at, |it| it.take_external_sources()) else { return };
        let mut found = BTreeSet::new();
        for root in sources.roots.into_iter().filter(|it| !self.outside_roots.contains(it)).collect::<Vec<_>>() {
            let tree = self.outside_tree(&root);
            self.outside_roots.push(root.clone());
            let files = match &mut self.watcher {
                Some(watcher) => watcher.add_root(&tree),
                None => walk(&tree),
            };
            match files {
                Ok(files) => found.extend(files),
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "sources outside cannot be watched");
                    self.compares_all = true;
                }
            }
        }
        self.note_watching();
        found.extend(sources.read);
        found.retain(|it| self.source_outside(it).is_some());
        if let Err(error) = self.compare_sources_outside(found, false) {
            tracing::error!(%error, "the next request tries again");
        }
        self.publish();
    }

    /// Compares such files with what the engines hold. A path that is no file stands for everything known below it.
    /// `is_all`: these are all that there are.
    pub(super) fn compare_sources_outside(&mut self, paths: BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        if paths.is_empty() && !is_all {
            return Ok(());
        }
        for at in 0..self.slots.len() {
            self.compare_sources_of(at, &paths, is_all)?;
        }
        Ok(())
    }

    fn compare_sources_of(&mut self, at: usize, paths: &BTreeSet<PathBuf>, is_all: bool) -> Result<()> {
        let Some(engine) = &self.slots[at].engine else { return Ok(()) };
        let is_concerned = |it: &Path| {
            self.source_outside(it).is_some() && (is_all || it.ancestors().any(|above| paths.contains(above)))
        };
        let known = engine.known_external_sources().filter(|it| is_concerned(it)).map(Path::to_path_buf);
        let named = paths.iter().filter(|it| engine.is_external_source(it)).cloned();
        let looked_at: BTreeSet<PathBuf> = known.chain(named).collect();
        let mut trees = OpenTrees::default();
        let read = |path: &PathBuf| Ok((path.clone(), self.read_bytes(&mut trees, path)?));
        let contents: Result<Vec<ExternalText>> = looked_at.iter().map(read).collect();
        // What cannot be read now is looked at again before the next answer.
        let contents = contents.inspect_err(|_| self.unread.extend(looked_at.iter().cloned()))?;
        let files = self.files.clone();
        if self.with_engine(at, |it| it.set_external_sources(contents, &files)) == Some(true) {
            self.note_change_outside();
            tracing::debug!(revision = self.revision.0, "sources outside changed");
            self.publish();
        }
        Ok(())
    }
}
