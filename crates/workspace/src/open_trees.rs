//! Directory handles, kept while many files are read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::PathBuf;

use super::watch::Texts;
use semdex_fs::Tree;

/// The trees that are read from, each entered once.
#[derive(Default)]
pub(super) struct OpenTrees(BTreeMap<PathBuf, Texts>);

impl OpenTrees {
    pub(super) fn of(&mut self, tree: &Tree) -> io::Result<&mut Texts> {
        Ok(match self.0.entry(tree.root().to_path_buf()) {
            Entry::Occupied(texts) => texts.into_mut(),
            Entry::Vacant(place) => place.insert(Texts::of(tree)?),
        })
    }
}
