//! What engines have loaded, beside the texts of the workspace: where it has changed, they load anew.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::watch::is_hidden_name;
use super::writer::Writer;

impl Writer {
    /// Before an answer: what decides it, is no file of the workspace, and is watched by nobody.
    pub(super) fn check_environment(&mut self) {
        for at in 0..self.slots.len() {
            let files = self.files.clone();
            if self.with_engine(at, |it| it.check_environment(&files)) == Some(true) {
                self.note_change_outside();
                self.publish();
            }
            self.follow_new_modules(at);
        }
    }

    /// Of these paths, which were touched, those that are no texts of the workspace: a build may read them.
    pub(super) fn check_touched_file(&mut self, paths: &BTreeSet<PathBuf>) {
        for path in paths.iter().filter(|it| !it.file_name().is_some_and(is_hidden_name)) {
            if self.files.get(&self.name_of(path)).is_some() {
                continue;
            }
            for at in 0..self.slots.len() {
                let files = self.files.clone();
                if self.with_engine(at, |it| it.check_touched_file(path, &files)) == Some(true) {
                    self.note_change_outside();
                    self.publish();
                }
            }
        }
    }
}
