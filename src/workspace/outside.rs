//! What a workspace's build reads of Go modules outside of its root. Their files are no part of the workspace: they have no
//! names in it, and no text. It is only known what they held, so that a change of them is noticed, and told to Go.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::freshness::OpenTrees;
use super::watch::walk;
use super::writer::Writer;
use crate::beneath::Tree;
use crate::lang::go::{FileChange, FileChangeKind, is_of_go, local_modules};

/// What one file held; none where it cannot be read.
type Content = Option<blake3::Hash>;

#[derive(Default)]
pub(super) struct OutsideModules {
    /// Directories of modules, and whether each is watched: one that is not there yet is looked for.
    roots: BTreeMap<PathBuf, bool>,
    known: BTreeMap<PathBuf, Content>,
}

impl OutsideModules {
    /// There is a new watcher, which watches none of them yet.
    pub(super) fn forget_watches(&mut self) {
        self.roots.values_mut().for_each(|is_watched| *is_watched = false);
    }

    fn holds(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    fn root_of(&self, path: &Path) -> Option<&PathBuf> {
        self.roots.keys().find(|it| path.starts_with(it))
    }
}

impl Writer {
    /// Whether a path that the watcher speaks of is of a module of Go outside, and of nothing that has texts here.
    fn is_outside(&self, path: &Path) -> bool {
        !path.starts_with(&self.root)
            && !self.outside_roots.iter().any(|it| path.starts_with(it))
            && self.outside_modules.holds(path)
    }

    /// With the manifests as they are now. What is found is told, for it may change before Go reads it.
    pub(super) fn begin_outside(&mut self) {
        let found = self.follow_modules();
        let changes = self.compare_outside(found, false);
        if let Some(go) = self.go.as_ref().filter(|_| !changes.is_empty()) {
            go.feed_outside(&changes);
        }
    }

    /// Takes what is of modules outside from these paths.
    pub(super) fn split_outside(&self, paths: &mut BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self.outside_modules.roots.is_empty() {
            return BTreeSet::new();
        }
        let outside = paths.iter().filter(|it| self.is_outside(it)).cloned().collect::<BTreeSet<_>>();
        paths.retain(|it| !outside.contains(it));
        outside
    }

    /// Watches the modules that the manifests name now, and forgets others. Answers with the files that came and went.
    pub(super) fn follow_modules(&mut self) -> BTreeSet<PathBuf> {
        let wanted = if self.go.is_some() { local_modules::outside(&self.files, &self.root) } else { BTreeSet::new() };
        let mut touched = BTreeSet::new();
        if !wanted.iter().eq(self.outside_modules.roots.keys()) {
            self.outside_modules.roots.retain(|it, _| wanted.contains(it));
            for it in wanted {
                self.outside_modules.roots.entry(it).or_insert(false);
            }
            let gone = self.outside_modules.known.keys().filter(|it| !self.outside_modules.holds(it)).cloned();
            for path in gone.collect::<Vec<_>>() {
                self.outside_modules.known.remove(&path);
            }
        }
        let unwatched = self.outside_modules.roots.iter().filter(|it| !it.1).map(|it| it.0.clone());
        for root in unwatched.collect::<Vec<_>>() {
            // Without a manifest it is no module, and nothing of it is built.
            if !root.join("go.mod").is_file() {
                continue;
            }
            let tree = self.module_tree(&root);
            let found = match &mut self.watcher {
                Some(watcher) => watcher.add_root(&tree),
                None => walk(&tree),
            };
            match found {
                Ok(found) => {
                    touched.extend(found.into_iter().filter(|it| self.is_outside(it)));
                    self.outside_modules.roots.insert(root, true);
                }
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "a module of Go outside cannot be watched");
                }
            }
        }
        touched
    }

    fn module_tree(&self, root: &Path) -> Tree {
        Tree::named(root.to_path_buf(), self.disk.tree().forbidden().clone())
    }

    /// None where no file stands, or none that belongs to the module.
    fn content(&self, trees: &mut OpenTrees, path: &Path) -> Option<Content> {
        let tree = self.module_tree(self.outside_modules.root_of(path)?);
        let most = usize::try_from(self.settings.max_file_bytes).unwrap_or(usize::MAX);
        match trees.of(&tree).and_then(|it| it.read(path, most)) {
            Ok(bytes) => bytes.map(|it| Some(blake3::hash(&it))),
            Err(_) => Some(None),
        }
    }

    /// Compares files outside with what they held. `is_all`: these are all that there are.
    pub(super) fn compare_outside(&mut self, paths: BTreeSet<PathBuf>, is_all: bool) -> Vec<FileChange> {
        let known = &self.outside_modules.known;
        let below = |it: &&PathBuf| is_all || paths.iter().any(|path| it.starts_with(path));
        let mut looked_at: BTreeSet<PathBuf> = known.keys().filter(below).cloned().collect();
        looked_at.extend(paths.into_iter().filter(|it| it.to_str().is_some_and(is_of_go)));
        let mut changes = Vec::new();
        let mut trees = OpenTrees::default();
        for path in looked_at {
            let now = self.content(&mut trees, &path);
            let before = match now {
                Some(now) => self.outside_modules.known.insert(path.clone(), now),
                None => self.outside_modules.known.remove(&path),
            };
            let kind = match (before, now) {
                (None, Some(_)) => FileChangeKind::Created,
                (Some(_), None) => FileChangeKind::Deleted,
                (before, now) if before != now => FileChangeKind::Changed,
                _ => continue,
            };
            changes.push(FileChange { path: path.to_string_lossy().into_owned(), kind });
        }
        changes
    }

    /// Tells Go that its build reads something else than before, which is a revision of its own: what was answered may
    /// be answered otherwise.
    pub(super) fn feed_outside(&mut self, changes: &[FileChange]) {
        let Some(go) = self.go.as_ref().filter(|_| !changes.is_empty()) else { return };
        go.feed_outside(changes);
        self.revision.0 += 1;
        tracing::debug!(revision = self.revision.0, files = changes.len(), "modules outside changed");
        self.publish();
    }

    /// Before an answer: what decides how Go builds, and is no file of the workspace.
    pub(super) fn follow_go(&mut self) {
        let Some(go) = &self.go else { return };
        if go.follow_environment() {
            self.revision.0 += 1;
            self.publish();
        }
        if self.outside_modules.roots.values().any(|it| !it) {
            let touched = self.follow_modules();
            let changes = self.compare_outside(touched, false);
            self.feed_outside(&changes);
        }
    }
}
