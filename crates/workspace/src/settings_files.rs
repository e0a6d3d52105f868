//! The files of settings that count in a workspace, as they were when they were read last.

use std::path::{Path, PathBuf};

use semdex_config::Settings;
use semdex_fs::FileStamp;

/// The workspace's own file.
pub(super) const NAME: &str = "semdex.toml";
/// What the user's own is called, wherever it lies.
pub(super) const NAME_OF_USERS: &str = "config.toml";

/// The files as they were when they were read last.
#[derive(Clone)]
pub(super) struct SettingsFiles(Vec<(PathBuf, FileStamp)>);

impl SettingsFiles {
    /// The workspace's own and the user's. To be made before they are read.
    pub(super) fn new(root: &Path, of_user: Option<&Path>) -> SettingsFiles {
        let paths = [Some(root.join(NAME)), of_user.map(Path::to_path_buf)];
        SettingsFiles(paths.into_iter().flatten().map(|path| (path.clone(), FileStamp::at(&path))).collect())
    }

    /// Whether one may say something else than it did when this was asked last. To be asked before they are read.
    pub(super) fn may_have_changed(&mut self) -> bool {
        let mut may_differ = false;
        for (path, seen) in &mut self.0 {
            let now = FileStamp::at(path);
            may_differ |= seen.may_differ(&now);
            *seen = now;
        }
        may_differ
    }

    /// Whether one may say something else than it did when it was read.
    pub(super) fn is_out_of_date(&self) -> bool {
        self.0.iter().any(|(path, seen)| seen.may_differ(&FileStamp::at(path)))
    }
}

/// The settings that count in a workspace.
pub(super) struct EffectiveSettings {
    values: Settings,
    files: SettingsFiles,
}

impl EffectiveSettings {
    /// These values, read after the stamps of the files were taken.
    pub(super) fn new(values: Settings, files: SettingsFiles) -> EffectiveSettings {
        EffectiveSettings { values, files }
    }

    /// The values.
    pub(super) fn values(&self) -> &Settings {
        &self.values
    }

    /// The files, as they were when they were last read.
    pub(super) fn files(&self) -> &SettingsFiles {
        &self.files
    }

    /// Whether a file may have changed since the last call. To be called before the files are read.
    pub(super) fn may_have_changed(&mut self) -> bool {
        self.files.may_have_changed()
    }

    /// Replaces the values, and returns those before.
    pub(super) fn replace(&mut self, values: Settings) -> Settings {
        std::mem::replace(&mut self.values, values)
    }
}
