//! The doctests of all files, as the engine keeps them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_paths::AbsPathBuf;

use crate::load::doctest_crates::Library;
use crate::view::doctest_files::DoctestFile;

/// A library by its index, and the name of a file with doctests of it.
pub(crate) type Key = (usize, Arc<str>);

/// The doctests of all files.
#[derive(Debug, Default)]
pub(crate) struct DoctestTexts {
    pub(crate) libraries: Vec<Library>,
    pub(crate) files: BTreeMap<Key, Arc<DoctestFile>>,
    /// The files that docs of a Rust file include.
    pub(crate) included: BTreeMap<Arc<str>, BTreeSet<String>>,
}

impl DoctestTexts {
    /// The library whose doctests a Rust file may have: the library of its package.
    pub(crate) fn library_of(&self, file: &AbsPathBuf) -> Option<usize> {
        let around = self.libraries.iter().enumerate().filter(|it| file.starts_with(&it.1.package));
        let (index, library) = around.max_by_key(|it| it.1.package.as_str().len())?;
        library.may_include(file).then_some(index)
    }
}
