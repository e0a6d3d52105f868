//! Sources of path dependencies outside the root. They change like the workspace's own files, but have no names in the
//! workspace: only the database holds them.

use std::path::Path;
use std::sync::Arc;

use ra_ap_paths::{AbsPathBuf, Utf8PathBuf};
use ra_ap_vfs::VfsPath;

use super::Rust;
use crate::load::manifests::is_reload;
use crate::syntax::analysed::of_library;
use crate::syntax::referenced_files::referenced_files;
use semdex_engine::{ExternalText, too_deep};
use semdex_model::{Missing, ReferencedFile};

impl Rust {
    /// The sources outside of the root that the database holds.
    pub(crate) fn known_outside(&self) -> impl Iterator<Item = &Path> {
        self.known.iter().map(|it| -> &Path { it.as_ref() })
    }

    /// Sets these contents in the database.
    pub(crate) fn set_outside(&mut self, contents: Vec<ExternalText>) -> OutsideChange {
        let mut change = OutsideChange::default();
        let mut named = Vec::new();
        for (path, bytes) in contents {
            let Some(path) = Utf8PathBuf::from_path_buf(path).ok().filter(|it| it.extension() == Some("rs")) else {
                continue;
            };
            let path = AbsPathBuf::assert(path);
            let was_there = self.vfs.file_id(&VfsPath::from(path.clone())).is_some();
            let is_there = bytes.is_some();
            // A file that was refused exists now, perhaps with the same text.
            let is_refused = |it: &Missing| it.scope.as_deref() == Some(path.as_str());
            change.needs_reload |= is_there && self.environment.unread_outside.iter().any(is_refused);
            named.extend(bytes.as_ref().and_then(|it| Some(referenced_files(path.as_str(), str::from_utf8(it).ok()?))));
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
                if !is_there {
                    self.look_at_other_places(&path);
                }
            }
        }
        // A load finds files that exist and are listed nowhere.
        let is_known = |it: &String| self.vfs.file_id(&VfsPath::new_real_path(it.clone())).is_some();
        let lacks = |it: &ReferencedFile| {
            !it.candidates.iter().any(is_known) && it.candidates.iter().any(|it| Path::new(it).is_file())
        };
        change.needs_reload |= change.is_changed && named.iter().flatten().any(lacks);
        if change.is_changed {
            self.flush(None);
            self.is_indexed = false;
            self.is_complete = false;
            drop(self.index.forget_all());
        }
        change
    }

    /// A module that is no longer listed may be found behind a link.
    fn look_at_other_places(&mut self, gone: &AbsPathBuf) {
        let path: &Path = gone.as_ref();
        let module =
            if path.ends_with("mod.rs") { path.parent().unwrap_or(path).to_owned() } else { path.with_extension("") };
        self.freshness.inputs.add(module.with_extension("rs"));
        self.freshness.inputs.add(module.join("mod.rs"));
    }

    /// Updates the list of sources that are too deep to be analysed, which answers report.
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

/// How files outside the root have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OutsideChange {
    /// The database holds different texts.
    pub is_changed: bool,
    /// The output of Cargo may be different.
    pub needs_reload: bool,
}
