//! What a change leaves valid in the index, and what it invalidates.
//!
//! `file_interface` computes what other files can see of a file. If a change is visible, `words` finds what it may
//! affect: everything that names the changed items, and what depends on that. Within bodies it uses `statements`, and
//! `arguments` if only parameters differ. `Index::invalidate` applies the result.

mod arguments;
pub(super) mod file_interface;
mod statements;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ra_ap_ide::FileId;

use self::file_interface::FileInterface;
use semdex_model::Span;

#[derive(Debug, Default)]
pub(super) struct Invalidated {
    /// Files with the ranges whose names are no longer known.
    pub(super) stretches: BTreeMap<FileId, Vec<Span>>,
    /// Names that may be written differently in paths now.
    pub(super) names: BTreeSet<String>,
    /// Files that may have different errors although their names mean the same.
    pub(super) recheck: BTreeSet<FileId>,
}

/// A file's interface before and after a change.
pub(super) type Edited = (FileId, Arc<FileInterface>, Arc<FileInterface>);
