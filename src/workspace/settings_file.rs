//! The workspace's own file of settings, as it was when it was read last.

use std::path::{Path, PathBuf};

use crate::beneath::Look;

/// The workspace's own file.
pub(super) const NAME: &str = "semdex.toml";

/// The file as it was when it was read last.
#[derive(Clone)]
pub(super) struct SettingsFile {
    path: PathBuf,
    seen: Look,
}

impl SettingsFile {
    /// To be made before the file is read.
    pub(super) fn new(root: &Path) -> SettingsFile {
        let path = root.join(NAME);
        SettingsFile { seen: Look::at(&path), path }
    }

    /// Whether it may say something else than it did when this was asked last. To be asked before it is read.
    pub(super) fn may_have_changed(&mut self) -> bool {
        let now = Look::at(&self.path);
        let may_differ = self.seen.may_differ(&now);
        self.seen = now;
        may_differ
    }

    /// Whether it may say something else than it did when it was read.
    pub(super) fn is_out_of_date(&self) -> bool {
        self.seen.may_differ(&Look::at(&self.path))
    }
}
