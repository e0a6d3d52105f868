//! External inputs: what engines load from outside the workspace's texts. External sources are directories of path
//! dependencies outside the root; the engine holds their texts. External modules are directories that a build reads by
//! itself; only hashes of their files are kept, so that a change is noticed and reported to the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::file_reader::FileReader;
use semdex_engine::{FileChange, FileChangeKind};

/// The directories of external sources. They are watched and compared as the workspace's own files are, but their files
/// have no names in the workspace.
pub(super) struct ExternalRoots {
    workspace_root: PathBuf,
    roots: Vec<PathBuf>,
}

impl ExternalRoots {
    /// None yet, for the workspace in this directory.
    pub(super) fn new(workspace_root: &Path) -> ExternalRoots {
        ExternalRoots { workspace_root: workspace_root.to_path_buf(), roots: Vec::new() }
    }

    /// The directory of external sources that contains a path. `None` for a path of the workspace.
    pub(super) fn root_of(&self, path: &Path) -> Option<&PathBuf> {
        if path.starts_with(&self.workspace_root) {
            return None;
        }
        self.roots.iter().find(|it| path.starts_with(it))
    }

    /// Removes the paths of external sources from `paths` and returns them.
    pub(super) fn split(&self, paths: &mut BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if self.roots.is_empty() {
            return BTreeSet::new();
        }
        paths.extract_if(.., |it| self.root_of(it).is_some()).collect()
    }

    /// The directories that are not known yet, among `roots`.
    pub(super) fn unknown(&self, roots: Vec<PathBuf>) -> Vec<PathBuf> {
        roots.into_iter().filter(|it| !self.roots.contains(it)).collect()
    }

    /// Adds a directory.
    pub(super) fn add(&mut self, root: PathBuf) {
        self.roots.push(root);
    }

    /// All directories.
    pub(super) fn iter(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter()
    }

    /// Whether a path lies neither in the workspace nor in a directory of external sources.
    fn excludes(&self, path: &Path) -> bool {
        !path.starts_with(&self.workspace_root) && !self.roots.iter().any(|it| path.starts_with(it))
    }
}

/// The hash of a file's content. `None` where the file cannot be read.
type ContentHash = Option<blake3::Hash>;

/// The external modules that one engine reads.
#[derive(Default)]
pub(super) struct ExternalModules {
    /// Directories of modules, and whether each is watched. A directory that does not exist yet is not watched.
    roots: BTreeMap<PathBuf, bool>,
    known: BTreeMap<PathBuf, ContentHash>,
}

/// The paths at which the modules of one engine are compared with the disk.
#[derive(Default)]
pub(super) struct ModulePaths {
    pub(super) paths: BTreeSet<PathBuf>,
    /// The paths are all files that exist, so every known file is compared too.
    pub(super) is_all: bool,
}

impl ExternalModules {
    /// A new watcher watches none of the directories.
    pub(super) fn forget_watches(&mut self) {
        self.roots.values_mut().for_each(|is_watched| *is_watched = false);
    }

    /// Whether a path lies in a module, and is part of neither the workspace nor external sources.
    pub(super) fn contains(&self, path: &Path, external_roots: &ExternalRoots) -> bool {
        external_roots.excludes(path) && self.root_of(path).is_some()
    }

    /// The module's paths among these. Known files are compared too if `is_all`.
    pub(super) fn select(&self, paths: &BTreeSet<PathBuf>, roots: &ExternalRoots, is_all: bool) -> ModulePaths {
        if self.roots.is_empty() {
            return ModulePaths::default();
        }
        let paths = paths.iter().filter(|it| self.contains(it, roots)).cloned().collect();
        ModulePaths { paths, is_all }
    }

    /// Whether some directory is not watched yet.
    pub(super) fn has_unwatched(&self) -> bool {
        self.roots.values().any(|it| !it)
    }

    /// The directories that are not watched yet.
    pub(super) fn unwatched(&self) -> Vec<PathBuf> {
        self.roots.iter().filter(|it| !it.1).map(|it| it.0.clone()).collect()
    }

    /// A directory is watched from now on.
    pub(super) fn set_watched(&mut self, root: PathBuf) {
        self.roots.insert(root, true);
    }

    /// Replaces the directories. Files in others are forgotten.
    pub(super) fn set_roots(&mut self, wanted: BTreeSet<PathBuf>) {
        if wanted.iter().eq(self.roots.keys()) {
            return;
        }
        self.roots.retain(|it, _| wanted.contains(it));
        for it in wanted {
            self.roots.entry(it).or_insert(false);
        }
        let roots = &self.roots;
        self.known.retain(|it, _| roots.keys().any(|root| it.starts_with(root)));
    }

    /// Compares files with their last known content and returns what has changed. Unknown files count if the engine
    /// reads them.
    pub(super) fn compare(
        &mut self,
        what: ModulePaths,
        reader: &mut FileReader<'_>,
        is_read: impl Fn(&Path) -> bool,
    ) -> Vec<FileChange> {
        let ModulePaths { paths, is_all } = what;
        let below = |it: &&PathBuf| is_all || paths.iter().any(|path| it.starts_with(path));
        let mut compared: BTreeSet<PathBuf> = self.known.keys().filter(below).cloned().collect();
        compared.extend(paths.into_iter().filter(|it| is_read(it)));
        let mut changes = Vec::new();
        for path in compared {
            let now = self.content(reader, &path);
            let before = match now {
                Some(now) => self.known.insert(path.clone(), now),
                None => self.known.remove(&path),
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

    fn root_of(&self, path: &Path) -> Option<&PathBuf> {
        self.roots.keys().find(|it| path.starts_with(it))
    }

    /// `None` where there is no file, or none of a module.
    fn content(&self, reader: &mut FileReader<'_>, path: &Path) -> Option<ContentHash> {
        match reader.read_below(self.root_of(path)?, path) {
            Ok(bytes) => bytes.map(|it| Some(blake3::hash(&it))),
            Err(_) => Some(None),
        }
    }
}
