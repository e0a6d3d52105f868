//! Modules outside of the root that a build reads. Their files are no part of the workspace: they have no names in it, and
//! no text. It is only known what they held, so that a change of them is noticed, and reported to the engine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::open_trees::OpenTrees;
use super::slots::{Content, Slot};
use super::watch::walk;
use super::writer::Writer;
use semdex_engine::{FileChange, FileChangeKind};
use semdex_fs::Tree;

/// What one engine is to look at outside: these paths, or all that it knows of too.
#[derive(Default)]
pub(super) struct LookedAt {
    paths: BTreeSet<PathBuf>,
    is_all: bool,
}

impl Writer {
    /// Whether a path that the watcher speaks of is of such a module, and of nothing that has texts here.
    fn is_outside(&self, slot: &Slot, path: &Path) -> bool {
        !path.starts_with(&self.root)
            && !self.outside_roots.iter().any(|it| path.starts_with(it))
            && slot.outside.holds(path)
    }

    /// With the manifests as they are now. What is found is reported, for it may change before the engine reads it.
    pub(super) fn begin_outside(&mut self) {
        for at in 0..self.slots.len() {
            let paths = self.follow_modules(at);
            let changes = self.compare_outside(at, LookedAt { paths, is_all: false });
            if !changes.is_empty() {
                self.with_engine(at, |it| it.apply_external_changes(&changes));
            }
        }
    }

    /// Whether a change of this file may change which modules there are.
    pub(super) fn declares_external_modules(&self, file: &str) -> bool {
        self.slots.iter().filter_map(|it| it.engine.as_ref()).any(|it| it.declares_external_modules(file))
    }

    /// Takes what is of modules outside from these paths, for each engine. `is_all`: these are all that there are.
    pub(super) fn split_outside(&self, paths: &mut BTreeSet<PathBuf>, is_all: bool) -> Vec<LookedAt> {
        let split = |slot: &Slot| {
            if slot.outside.roots.is_empty() {
                return LookedAt::default();
            }
            let paths = paths.iter().filter(|it| self.is_outside(slot, it)).cloned().collect();
            LookedAt { paths, is_all }
        };
        let outside: Vec<LookedAt> = self.slots.iter().map(split).collect();
        paths.retain(|it| !outside.iter().any(|outside| outside.paths.contains(it)));
        outside
    }

    /// Watches the modules that the manifests name now, and forgets others. Answers with the files that came and went.
    fn follow_modules(&mut self, at: usize) -> BTreeSet<PathBuf> {
        let Some(engine) = &self.slots[at].engine else { return BTreeSet::new() };
        let wanted = engine.external_modules(&self.files);
        let mut touched = BTreeSet::new();
        let outside = &mut self.slots[at].outside;
        if !wanted.iter().eq(outside.roots.keys()) {
            outside.roots.retain(|it, _| wanted.contains(it));
            for it in wanted {
                outside.roots.entry(it).or_insert(false);
            }
            let gone: Vec<PathBuf> = outside.known.keys().filter(|it| !outside.holds(it)).cloned().collect();
            for path in gone {
                outside.known.remove(&path);
            }
        }
        let unwatched: Vec<PathBuf> = outside.roots.iter().filter(|it| !it.1).map(|it| it.0.clone()).collect();
        for root in unwatched {
            if !self.slots[at].engine.as_ref().is_some_and(|it| it.is_external_module(&root)) {
                continue;
            }
            let tree = self.outside_tree(&root);
            let found = match &mut self.watcher {
                Some(watcher) => watcher.add_root(&tree),
                None => walk(&tree),
            };
            match found {
                Ok(found) => {
                    touched.extend(found.into_iter().filter(|it| self.is_outside(&self.slots[at], it)));
                    self.slots[at].outside.roots.insert(root, true);
                }
                Err(error) => {
                    tracing::warn!(%error, root = %root.display(), "a module outside cannot be watched");
                }
            }
        }
        touched
    }

    /// None where no file stands, or none that belongs to the module.
    fn content(&self, at: usize, trees: &mut OpenTrees, path: &Path) -> Option<Content> {
        let tree: Tree = self.outside_tree(self.slots[at].outside.root_of(path)?);
        let most = usize::try_from(self.settings.max_file_bytes).unwrap_or(usize::MAX);
        match trees.of(&tree).and_then(|it| it.read(path, most)) {
            Ok(bytes) => bytes.map(|it| Some(blake3::hash(&it))),
            Err(_) => Some(None),
        }
    }

    /// Compares files outside with what they held.
    fn compare_outside(&mut self, at: usize, what: LookedAt) -> Vec<FileChange> {
        let LookedAt { paths, is_all } = what;
        let Some(engine) = &self.slots[at].engine else { return Vec::new() };
        let known = &self.slots[at].outside.known;
        let below = |it: &&PathBuf| is_all || paths.iter().any(|path| it.starts_with(path));
        let mut looked_at: BTreeSet<PathBuf> = known.keys().filter(below).cloned().collect();
        looked_at.extend(paths.into_iter().filter(|it| engine.reads_external(it)));
        let mut changes = Vec::new();
        let mut trees = OpenTrees::default();
        for path in looked_at {
            let now = self.content(at, &mut trees, &path);
            let known = &mut self.slots[at].outside.known;
            let before = match now {
                Some(now) => known.insert(path.clone(), now),
                None => known.remove(&path),
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

    /// Tells engines where they read something else outside than before.
    pub(super) fn take_outside(&mut self, outside: Vec<LookedAt>) {
        for (at, what) in outside.into_iter().enumerate() {
            let changes = self.compare_outside(at, what);
            self.feed_outside(at, &changes);
        }
    }

    /// That is a revision of its own: what was answered may be answered otherwise.
    fn feed_outside(&mut self, at: usize, changes: &[FileChange]) {
        if changes.is_empty() || self.with_engine(at, |it| it.apply_external_changes(changes)).is_none() {
            return;
        }
        self.note_change_outside();
        tracing::debug!(revision = self.revision.0, files = changes.len(), "modules outside changed");
        self.publish();
    }

    /// Before an answer: what the manifests name, and was not there yet.
    pub(super) fn follow_new_modules(&mut self, at: usize) {
        if self.slots[at].outside.roots.values().any(|it| !it) {
            let paths = self.follow_modules(at);
            let changes = self.compare_outside(at, LookedAt { paths, is_all: false });
            self.feed_outside(at, &changes);
        }
    }
}
