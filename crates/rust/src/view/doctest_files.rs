//! The modules that represent the doctests of files (`load/doctest_crates.rs`).

use std::sync::Arc;

use ra_ap_ide::FileId;
use rustc_hash::FxHashMap;

use crate::syntax::doctests::{Doctest, Doctests};
use semdex_engine::files::File;
use semdex_model::Span;

/// A file with doctests, and the module that represents them.
#[derive(Debug)]
pub(crate) struct DoctestFile {
    /// The name of the file.
    pub(crate) name: Arc<str>,
    pub(crate) id: FileId,
    /// The Rust file whose docs it is, or which includes it in its docs.
    pub(crate) documents: FileId,
    /// The root file of the library.
    pub(crate) library: FileId,
    pub(crate) module: FileId,
    /// The text of the module.
    pub(crate) text: Arc<File>,
    pub(crate) doctests: Arc<Doctests>,
}

impl DoctestFile {
    /// The place in the file of a place in the module.
    pub(crate) fn place(&self, at: Span) -> Option<Span> {
        self.doctests.place(at)
    }

    /// The doctest around an offset in the file.
    pub(crate) fn test_around(&self, offset: usize) -> Option<Doctest> {
        self.doctests.test_at(self.doctests.offset(offset)?)
    }
}

/// All files with doctests, in the order of their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct DoctestFiles {
    files: Vec<Arc<DoctestFile>>,
    by_module: FxHashMap<FileId, usize>,
}

impl DoctestFiles {
    pub(crate) fn new(files: Vec<Arc<DoctestFile>>) -> DoctestFiles {
        let by_module = files.iter().enumerate().map(|(index, it)| (it.module, index)).collect();
        DoctestFiles { files, by_module }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<DoctestFile>> {
        self.files.iter()
    }

    pub(crate) fn of_module(&self, module: FileId) -> Option<&Arc<DoctestFile>> {
        self.by_module.get(&module).and_then(|it| self.files.get(*it))
    }

    /// The modules for a file: one for each library whose docs have it.
    pub(crate) fn of_file(&self, file: FileId) -> impl Iterator<Item = &Arc<DoctestFile>> {
        self.files.iter().filter(move |it| it.id == file)
    }
}
