//! Whether the owner of a workspace trusts it: only then its own programs may run.

use std::path::Path;

use semdex_process::search_path::{self, Barred};

/// The owner's trust in one workspace.
pub(super) struct Trust {
    is_given: bool,
    /// Held without trust: programs below the root are not found on the search path.
    barred: Option<Barred>,
}

impl Trust {
    /// The trust in the workspace at this root.
    pub(super) fn new(is_given: bool, root: &Path) -> Trust {
        Trust { is_given, barred: (!is_given).then(|| search_path::bar(root)) }
    }

    /// Whether the owner trusts the workspace.
    pub(super) fn is_given(&self) -> bool {
        self.is_given
    }

    /// The owner changes it.
    pub(super) fn set(&mut self, is_given: bool, root: &Path) {
        self.is_given = is_given;
        self.barred = (!is_given).then(|| search_path::bar(root));
    }
}
