//! What a change leaves known of what files name, and what it does not.
//!
//! `file_interface` tells what other files can see of a file; where a change is seen, `words` finds what it may concern: what
//! names the changed items, and what follows from that, within bodies by `statements`, and by `arguments` where only
//! parameters differ. `Index::invalidate` forgets what is found here.

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
    /// Files with the stretches of which it is not known any more what they name.
    pub(super) stretches: BTreeMap<FileId, Vec<Span>>,
    /// Names in paths that may be written in another way now.
    pub(super) names: BTreeSet<String>,
    /// Files that may have other errors, though they name what they did.
    pub(super) recheck: BTreeSet<FileId>,
}

/// A file before and after its change.
pub(super) type Edited = (FileId, Arc<FileInterface>, Arc<FileInterface>);
