//! Sources of path dependencies outside of the root. They change as the workspace's own files do, but have no names in
//! the workspace: all that is kept of them is what the database holds.

use std::path::Path;
use std::sync::Arc;

use ra_ap_paths::{AbsPathBuf, Utf8PathBuf};
use ra_ap_vfs::VfsPath;

use super::environment::OutsideChange;
use super::{Rust, is_reload};
use crate::lang::engine::OutsideText;
use crate::lang::rust::syntax::analysed::of_library;
use crate::lang::too_deep;

impl Rust {
    /// The sources outside of the root that the database holds.
    pub fn known_outside(&self) -> impl Iterator<Item = &Path> {
        self.known.iter().map(|it| -> &Path { it.as_ref() })
    }

    /// Brings the database to these contents.
    pub fn set_outside(&mut self, contents: Vec<OutsideText>) -> OutsideChange {
        let mut change = OutsideChange::default();
        for (path, bytes) in contents {
            let Some(path) = Utf8PathBuf::from_path_buf(path).ok().filter(|it| it.extension() == Some("rs")) else {
                continue;
            };
            let path = AbsPathBuf::assert(path);
            let was_there = self.vfs.file_id(&VfsPath::from(path.clone())).is_some();
            let is_there = bytes.is_some();
            let (bytes, is_too_deep) = bytes.map(of_library).unzip();
            let known = Arc::make_mut(&mut self.known);
            if is_there {
                known.insert(path.clone())
            } else {
                known.remove(&path)
            };
            self.note_depth(&path, is_too_deep.unwrap_or_default());
            if self.vfs.set_file_contents(VfsPath::from(path.clone()), bytes) {
                change.is_changed = true;
                change.needs_reload |= was_there != is_there && is_reload(path.as_str(), true);
            }
        }
        if change.is_changed {
            self.flush(None);
            self.is_indexed = false;
            self.is_complete = false;
            drop(self.index.forget_all());
        }
        change
    }

    /// Keeps the list of sources that are too deep to be analysed, which answers name.
    fn note_depth(&mut self, path: &AbsPathBuf, is_too_deep: bool) {
        if self.deep.contains(path) == is_too_deep {
            return;
        }
        let deep = Arc::make_mut(&mut self.deep);
        if is_too_deep {
            deep.insert(path.clone())
        } else {
            deep.remove(path)
        };
        let missing = too_deep(path.as_str());
        self.set_environment(|it| {
            it.missing.retain(|other| *other != missing);
            it.missing.extend(is_too_deep.then_some(missing));
        });
        self.publish();
    }
}
