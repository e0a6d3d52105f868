//! The settings of the process: flags, environment, and configuration files. The settings of a workspace are read again
//! for each request. All others are parsed once.
//!
//! `defaults.rs` has the default of every setting.

pub mod access;
mod builds;
mod defaults;
mod effective;
#[cfg(test)]
mod fuzz;
mod gate;
mod hmac;
mod languages;
mod listen;
pub mod logging;
mod settings;
pub mod token;
pub mod trust;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use builds::{BuildFeatures, Builds, Flag, GoBuild, RustBuild};
pub use defaults::{DEFAULT_LISTEN, DEFAULT_LOG};
pub use effective::{Effective, Origin, effective};
pub use gate::{CountedBuilds, Gate};
pub use languages::{DiagnosticsFrom, LanguageKeys, Readiness, VerifyCommands};
pub use listen::{LONGEST_SOCKET_PATH, Listen};
pub use settings::{Features, JournalBounds, RustSettings, Settings};

/// The settings from the flags, the environment and the user's file. `settings` reads a workspace's file.
#[derive(Debug, Clone)]
pub struct Config {
    /// `$XDG_STATE_HOME/semdex`: token, trust, journal.
    pub state_dir: PathBuf,
    /// `$XDG_CACHE_HOME/semdex`: gopls, target directories.
    pub cache_dir: PathBuf,
    /// The user's file, which may be missing.
    pub config_file: Option<PathBuf>,
    /// `--trust` or `--no-trust`. `None`: the owner's recorded decision counts.
    pub trust: Option<bool>,
    /// Roots below which a request may open a workspace, in addition to the workspaces named at the start.
    pub workspace_roots: Vec<PathBuf>,
    /// How much of the journal is kept.
    pub journal: JournalBounds,
    /// A call that takes longer is logged with its time spans. Zero: no call is logged.
    pub slow: Duration,
    /// The most tokens of a reply in Markdown if the request sets no budget. `None`: no limit.
    pub max_tokens: Option<usize>,
    /// The model of runs whose request names none. `None`: the client's own model.
    pub run_model: Option<String>,
    /// The content of the user's file when it was last valid. A workspace's file overrides it.
    user: Arc<Mutex<settings::Keys>>,
    /// A flag named the file, so it must exist.
    is_named: bool,
    own_paths: Arc<[PathBuf]>,
}

/// The flags that affect the configuration.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--config FILE`, which must exist. `None`: `$XDG_CONFIG_HOME/semdex/config.toml`, which may be missing.
    pub config_file: Option<PathBuf>,
    /// `--trust` or `--no-trust`.
    pub trust: Option<bool>,
}

/// Why there is no valid configuration. The message says what to fix.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no directory for semdex's own files.
    #[error("neither {variable} nor HOME names an absolute path, so there is no place for semdex's own files: set one")]
    NoHome {
        /// An environment variable that would name one, for example `XDG_STATE_HOME`.
        variable: &'static str,
    },
    /// A file that exists or was named by a flag cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is not valid TOML, or has an unknown key or an invalid value.
    #[error("{}:{line}: {detail}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong there, and which values are valid.
        detail: String,
    },
    /// The address to listen on is invalid.
    #[error("{0}")]
    Address(String),
}

impl Config {
    /// Reads the environment and the user's file. Fails if the file is invalid, not if it is missing.
    pub fn load(flags: &Flags) -> Result<Config, ConfigError> {
        Config::load_with(flags, |name| std::env::var_os(name))
    }

    fn load_with(flags: &Flags, variable: impl Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
        // The XDG Base Directory Specification says that relative paths are invalid and must be ignored.
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let below_home = |variable: &'static str, default| {
            let home = || absolute("HOME").map(|home| home.join(default));
            let base = absolute(variable).or_else(home);
            base.map(|base| base.join("semdex")).ok_or(ConfigError::NoHome { variable })
        };
        let own_file = below_home("XDG_CONFIG_HOME", ".config").ok().map(|it| it.join("config.toml"));
        let config_file = flags.config_file.clone().or(own_file);
        let document = match (&flags.config_file, &config_file) {
            (Some(path), _) => settings::read_user(path)?,
            (None, Some(path)) => settings::read_user_if_any(path)?,
            (None, None) => settings::UserDocument::default(),
        };
        // Includes the directories of servers that were started with other variables.
        let own = [("XDG_STATE_HOME", ".local/state"), ("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config")];
        let bases = own.iter().flat_map(|(variable, default)| {
            [absolute(variable), absolute("HOME").map(|home| home.join(default))].into_iter().flatten()
        });
        let directories = bases.map(|base| base.join("semdex"));
        let config_file = config_file.and_then(|it| std::path::absolute(it).ok());
        let own_paths: BTreeSet<PathBuf> = directories.chain(config_file.clone()).collect();
        Ok(Config {
            config_file: config_file.clone(),
            own_paths: own_paths.into_iter().collect(),
            state_dir: below_home("XDG_STATE_HOME", ".local/state")?,
            cache_dir: below_home("XDG_CACHE_HOME", ".cache")?,
            trust: flags.trust,
            workspace_roots: document.workspaces.roots.clone(),
            journal: document.journal.bounds(),
            slow: document.log.slow(),
            max_tokens: document.answers.max_tokens(),
            run_model: document.runs.model.clone().filter(|it| !it.trim().is_empty()),
            user: Arc::new(Mutex::new(document.into_keys())),
            is_named: flags.config_file.is_some(),
        })
    }

    /// The directories and files of semdex's own, which belong to no workspace: token, trust, journal, build outputs
    /// and configuration.
    pub fn own_paths(&self) -> Arc<[PathBuf]> {
        self.own_paths.clone()
    }

    /// The settings in force in one workspace now: its `semdex.toml` over the user's file over the defaults. Settings
    /// that start programs of the workspace are on only if it is trusted. If the user's file is invalid, its last valid
    /// content counts.
    pub fn settings(&self, root: &Path, trusted: bool) -> Result<Settings, ConfigError> {
        let own = settings::read_workspace_if_any(&root.join("semdex.toml"))?;
        Ok(Settings::new(&own, &self.user_keys(), trusted))
    }

    /// The settings of a workspace whose file is wrong: its valid keys count, and the user's file and the defaults for
    /// the others.
    pub fn settings_in_part(&self, root: &Path, trusted: bool) -> Settings {
        Settings::new(&settings::read_valid_keys(&root.join("semdex.toml")), &self.user_keys(), trusted)
    }

    /// The thresholds of the gate now: the workspace's file over the user's file over the defaults.
    pub fn gate(&self, root: &Path) -> Result<Gate, ConfigError> {
        let own = settings::read_workspace_if_any(&root.join("semdex.toml"))?;
        Ok(Gate::new(&own.gate, &self.user_keys().gate))
    }

    /// What is wrong with the user's file now.
    pub fn fault_of_user(&self) -> Option<ConfigError> {
        self.read_user().err()
    }

    fn user_keys(&self) -> settings::Keys {
        let mut last = self.user.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(now) = self.read_user() {
            *last = now.into_keys();
        }
        last.clone()
    }

    fn read_user(&self) -> Result<settings::UserDocument, ConfigError> {
        match &self.config_file {
            Some(file) if self.is_named => settings::read_user(file),
            Some(file) => settings::read_user_if_any(file),
            None => Ok(settings::UserDocument::default()),
        }
    }
}

/// Creates a directory for semdex's own files, and its missing parents, that only the user can access. An existing
/// directory loses the permissions of other users. A directory of another user is refused.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(with_path)?;
    let metadata = fs::metadata(path).map_err(with_path)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let message = format!("{} belongs to another user: semdex keeps nothing there", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(with_path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: &Flags, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::load_with(flags, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn directories_follow_xdg() {
        let state_and_cache = |variables: &[(&str, &str)]| {
            let config = load(&Flags::default(), variables).unwrap();
            (config.state_dir, config.cache_dir)
        };
        let home = ("/h/.local/state/semdex".into(), "/h/.cache/semdex".into());
        assert_eq!(state_and_cache(&[("HOME", "/h")]), home);
        assert_eq!(state_and_cache(&[("HOME", "/h"), ("XDG_STATE_HOME", "st"), ("XDG_CACHE_HOME", "")]), home);
        assert_eq!(
            state_and_cache(&[("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "/c")]),
            ("/s/semdex".into(), "/c/semdex".into())
        );
        let error = load(&Flags::default(), &[("XDG_STATE_HOME", "/s")]).unwrap_err();
        assert!(error.to_string().contains("XDG_CACHE_HOME nor HOME"), "{error}");
    }

    #[test]
    fn the_users_file_is_read() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".config/semdex/config.toml");
        let variables = [("HOME", home.path().to_str().unwrap())];
        assert_eq!(load(&Flags::default(), &variables).unwrap().workspace_roots, Vec::<PathBuf>::new());

        create_private_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "[workspaces]\nroots = ['/src']\n[limits]\nmax_file_bytes = 5\n").unwrap();
        let config = load(&Flags::default(), &variables).unwrap();
        assert_eq!(config.workspace_roots, [PathBuf::from("/src")]);
        assert_eq!(Settings::new(&settings::Keys::default(), &config.user_keys(), true).max_file_bytes, 5);

        let named = Flags { config_file: Some(home.path().join("other.toml")), trust: Some(true) };
        let error = load(&named, &variables).unwrap_err();
        assert!(error.to_string().contains("other.toml: No such file"), "{error}");
        fs::write(home.path().join("other.toml"), "").unwrap();
        let config = load(&named, &variables).unwrap();
        assert_eq!((config.trust, config.workspace_roots.len()), (Some(true), 0));
    }

    #[test]
    fn private_directories_are_private() {
        let home = tempfile::tempdir().unwrap();
        let made = home.path().join("a/b");
        create_private_dir(&made).unwrap();
        create_private_dir(&made).unwrap();
        for path in [&made, made.parent().unwrap()] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        fs::set_permissions(&made, Permissions::from_mode(0o755)).unwrap();
        create_private_dir(&made).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(home.path().join("file"), "").unwrap();
        let error = create_private_dir(&home.path().join("file/x")).unwrap_err();
        assert!(error.to_string().contains("file/x"), "{error}");
    }
}
