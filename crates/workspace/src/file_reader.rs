//! Reads files of the workspace and external sources, each beneath a directory in which files may be read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{self, Disk};
use crate::external_inputs::ExternalRoots;
use crate::watch::Texts;
use semdex_fs::Tree;
use semdex_model::{Code, Error, Result};

/// Reads the files of one operation of the writer. It opens each tree once and keeps its directory handles.
pub(super) struct FileReader<'w> {
    disk: &'w Disk,
    external_roots: &'w ExternalRoots,
    max_file_bytes: u64,
    trees: BTreeMap<PathBuf, Texts>,
}

impl<'w> FileReader<'w> {
    /// Files of more than `max_file_bytes` are not read.
    pub(super) fn new(disk: &'w Disk, external_roots: &'w ExternalRoots, max_file_bytes: u64) -> FileReader<'w> {
        FileReader { disk, external_roots, max_file_bytes, trees: BTreeMap::new() }
    }

    /// A file's text. `None` for a file that is not text, too large, gone, or not part of the workspace. An error means
    /// that the file cannot be read at the moment (a failing disk, no file descriptors left), not that it is gone.
    pub(super) fn read(&mut self, path: &Path) -> Result<Option<Arc<str>>> {
        let bytes = self.read_bytes(path)?;
        Ok(bytes.as_deref().and_then(disk::text_of).map(Arc::from))
    }

    /// A file's content. `None` for a file that is too large, gone, or neither of the workspace nor an external source.
    pub(super) fn read_bytes(&mut self, path: &Path) -> Result<Option<Vec<u8>>> {
        let tree = match self.external_roots.root_of(path) {
            Some(root) => self.disk.external_tree(root),
            None => self.disk.tree().clone(),
        };
        self.read_in(&tree, path).map_err(|error| {
            tracing::error!(%error, path = %path.display(), "a file cannot be read");
            let detail = format!(
                "`{}` cannot be read at the moment ({error}), so no answer could be true: ask again",
                self.disk.name_of(path)
            );
            Error::new(Code::NotReady, detail)
        })
    }

    /// A file's content beneath this external directory. `None` as for [`FileReader::read_bytes`].
    pub(super) fn read_below(&mut self, external: &Path, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let tree = self.disk.external_tree(external);
        self.read_in(&tree, path)
    }

    /// The size of a file of the workspace, in bytes. `None` where there is no file.
    pub(super) fn size(&mut self, path: &Path) -> io::Result<Option<u64>> {
        let tree = self.disk.tree().clone();
        self.open(&tree)?.size(path)
    }

    /// Whether a file of the workspace may not be read.
    pub(super) fn is_refused(&mut self, path: &Path) -> bool {
        let tree = self.disk.tree().clone();
        self.open(&tree).is_ok_and(|it| it.is_refused(path))
    }

    /// Whether a path is a link to a file outside of the workspace.
    pub(super) fn leads_out(&mut self, path: &Path) -> bool {
        let tree = self.disk.tree().clone();
        self.open(&tree).is_ok_and(|it| it.leads_out(path))
    }

    /// Whether a file of this size is not read.
    pub(super) fn is_too_large(&self, size: u64) -> bool {
        size > self.max_file_bytes
    }

    fn read_in(&mut self, tree: &Tree, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let most = usize::try_from(self.max_file_bytes).unwrap_or(usize::MAX);
        self.open(tree)?.read(path, most)
    }

    fn open(&mut self, tree: &Tree) -> io::Result<&mut Texts> {
        Ok(match self.trees.entry(tree.root().to_path_buf()) {
            Entry::Occupied(texts) => texts.into_mut(),
            Entry::Vacant(place) => place.insert(Texts::of(tree)?),
        })
    }
}
