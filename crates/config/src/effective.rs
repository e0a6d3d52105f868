//! The settings in force, and the origin of each.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::settings::Features;
use super::{Config, ConfigError, DEFAULT_LISTEN, DEFAULT_LOG, Flags, Listen};

/// A setting in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The key as in the files: `table.key`.
    pub key: &'static str,
    /// Null if the setting has no value.
    pub value: Value,
    /// Where the value comes from.
    pub origin: Origin,
}

/// The origin of a setting, in order of precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line, for example `--trust`.
    Flag(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// A configuration file of the user or the workspace.
    File(PathBuf),
    /// No flag, variable or file sets it.
    Default,
    /// Off because the workspace is not trusted, whatever the files say.
    Untrusted,
}

impl Origin {
    /// The origin's name: `flag`, `environment`, `file`, `default` or `untrusted`.
    pub fn name(&self) -> &'static str {
        match self {
            Origin::Flag(_) => "flag",
            Origin::Environment(_) => "environment",
            Origin::File(_) => "file",
            Origin::Default | Origin::Untrusted => "default",
        }
    }
}

/// The settings in force for a workspace. `is_trusted` returns whether the workspace's owner trusts it.
pub fn effective(
    flags: &Flags,
    listen: Option<&Listen>,
    root: &Path,
    is_trusted: impl FnOnce(&Config) -> bool,
) -> Result<Vec<Effective>, ConfigError> {
    let config = Config::load(flags)?;
    let trusted = is_trusted(&config);
    let settings = config.settings(root, trusted)?;
    let gate = config.gate(root)?;
    let files = Files::read(&config, root);
    let of_user = |key, value: Value| Effective { key, value, origin: files.user(key) };
    let of_both = |key, value: Value| Effective { key, value, origin: files.nearest(key) };
    let starts = |key, value: bool| {
        let origin = if trusted { files.nearest(key) } else { Origin::Untrusted };
        Effective { key, value: json!(value), origin }
    };
    let path = |it: &Path| json!(it.display().to_string());
    let config_origin = match flags.config_file {
        Some(_) => Origin::Flag("--config"),
        None => of_variable("XDG_CONFIG_HOME"),
    };
    let (listen, listen_origin) = match listen {
        Some(listen) => (listen.to_string(), Origin::Flag("--listen")),
        None => (DEFAULT_LISTEN.to_owned(), Origin::Default),
    };
    let (log, log_origin) = match std::env::var("SEMDEX_LOG") {
        Ok(log) => (log, Origin::Environment("SEMDEX_LOG")),
        Err(_) => (DEFAULT_LOG.to_owned(), Origin::Default),
    };
    let config_file = config.config_file.as_deref().map_or(Value::Null, path);
    let days = config.journal.keep.as_secs() / (24 * 60 * 60);
    Ok(vec![
        Effective { key: "config_file", value: config_file, origin: config_origin },
        Effective { key: "state_dir", value: path(&config.state_dir), origin: of_variable("XDG_STATE_HOME") },
        Effective { key: "cache_dir", value: path(&config.cache_dir), origin: of_variable("XDG_CACHE_HOME") },
        Effective { key: "listen", value: json!(listen), origin: listen_origin },
        Effective { key: "log", value: json!(log), origin: log_origin },
        // `None` means no limit, which is 0 in the file.
        of_user("answers.max_tokens", json!(config.max_tokens.unwrap_or_default())),
        of_user("runs.model", json!(config.run_model)),
        of_user("log.slow_ms", json!(u64::try_from(config.slow.as_millis()).unwrap_or(u64::MAX))),
        of_user("journal.keep_days", json!(days)),
        of_user("journal.max_bytes", json!(config.journal.max_bytes)),
        of_user("workspaces.roots", json!(config.workspace_roots)),
        of_both("limits.max_file_bytes", json!(settings.max_file_bytes)),
        of_both("gate.max_errors", json!(gate.max_errors)),
        of_both("gate.max_warnings", json!(gate.max_warnings)),
        of_both("gate.block_on_error", json!(gate.block_on_error)),
        of_both("gate.block_on_warning", json!(gate.block_on_warning)),
        of_both("gate.builds", json!(gate.builds)),
        of_both("go.builds", json!(settings.go_builds)),
        of_both("go.memory_limit", json!(settings.go_memory_limit)),
        of_both("rust.features", features(&settings.rust.features)),
        of_both("rust.builds", json!(settings.rust.builds)),
        of_both("rust.max_builds", json!(settings.rust.max_builds)),
        of_both("rust.second_database", json!(settings.rust.second_database)),
        of_both("git.co_author", json!(settings.co_author)),
        starts("go.vet", settings.go_vet),
        starts("rust.confirm", settings.rust.confirm),
        starts("rust.clippy", settings.rust.clippy),
        starts("rust.build_scripts", settings.rust.build_scripts),
        starts("rust.proc_macros", settings.rust.proc_macros),
    ])
}

fn of_variable(name: &'static str) -> Origin {
    // The XDG Base Directory Specification says that relative paths are ignored.
    match std::env::var_os(name).filter(|it| Path::new(it).is_absolute()) {
        Some(_) => Origin::Environment(name),
        None => Origin::Default,
    }
}

/// The configuration files as tables, to find out which keys they contain.
struct Files {
    user: Option<(PathBuf, toml::Table)>,
    workspace: Option<(PathBuf, toml::Table)>,
}

impl Files {
    /// An unreadable file was already refused.
    fn read(config: &Config, root: &Path) -> Files {
        let table = |file: PathBuf| Some((file.clone(), std::fs::read_to_string(file).ok()?.parse().ok()?));
        Files { user: config.config_file.clone().and_then(table), workspace: table(root.join("semdex.toml")) }
    }

    /// The origin of a key that only the user's file may contain.
    fn user(&self, key: &str) -> Origin {
        origin_in(self.user.as_ref(), key).unwrap_or(Origin::Default)
    }

    /// The origin of a key that both files may contain. The workspace's file comes first.
    fn nearest(&self, key: &str) -> Origin {
        origin_in(self.workspace.as_ref(), key).unwrap_or_else(|| self.user(key))
    }
}

fn origin_in(file: Option<&(PathBuf, toml::Table)>, key: &str) -> Option<Origin> {
    let (path, table) = file?;
    let (section, name) = key.split_once('.')?;
    table.get(section)?.as_table()?.get(name)?;
    Some(Origin::File(path.clone()))
}

fn features(features: &Features) -> Value {
    match features {
        Features::Default => json!([]),
        Features::All => json!("all"),
        Features::Named(names) => json!(names),
    }
}
