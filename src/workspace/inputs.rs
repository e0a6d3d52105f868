//! What Rust was loaded from, beside the texts of the workspace: where it has changed, all is loaded anew.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::writer::Writer;

impl Writer {
    /// Before an answer: the files that nobody watches.
    pub(super) fn follow_inputs(&mut self) {
        let (is_changed, is_to_be_loaded) = self.with_rust(|it| it.look_at_inputs()).unwrap_or_default();
        if is_to_be_loaded {
            self.reload_rust();
        }
        if is_changed {
            self.note_change_outside();
            self.publish();
        }
    }

    /// Of these paths, which were touched, those that are no texts of the workspace: a build script may read them.
    pub(super) fn look_at_touched(&mut self, paths: &BTreeSet<PathBuf>) {
        for path in paths {
            if self.files.get(&self.name_of(path)).is_none()
                && self.with_rust(|it| it.look_at_touched(path)).unwrap_or_default()
            {
                self.note_change_outside();
                self.reload_rust();
                self.publish();
            }
        }
    }
}
