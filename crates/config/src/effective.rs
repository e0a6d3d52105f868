//! Which settings are in force, and where each comes from.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::settings::Features;
use super::{Config, ConfigError, Flags, Listen};

/// Where `semdex serve` listens where nothing is said.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7878";
/// What it logs where nothing is said.
pub const DEFAULT_LOG: &str = "warn,semdex=info";

/// A setting that is in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// As the files name it, the table before the point.
    pub key: &'static str,
    /// Null where there is none.
    pub value: Value,
    /// Where the value comes from.
    pub origin: Origin,
}

/// Where a setting comes from; the first of these that has it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line, as it is written: `--trust`.
    Flag(&'static str),
    /// An environment variable, by its name.
    Environment(&'static str),
    /// A file of the user or the workspace.
    File(PathBuf),
    /// Nobody said anything.
    Default,
    /// Whatever the files say, it is off where the workspace is not trusted.
    Untrusted,
}

impl Origin {
    /// The word for it: `flag`, `environment`, `file`, `default`, `untrusted`.
    pub fn name(&self) -> &'static str {
        match self {
            Origin::Flag(_) => "flag",
            Origin::Environment(_) => "environment",
            Origin::File(_) => "file",
            Origin::Default | Origin::Untrusted => "default",
        }
    }
}

/// What is in force for a workspace. `is_trusted`: whether its owner trusts it.
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
        // None: no limit, which the file says by 0.
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
        of_both("go.memory_limit", json!(settings.go_memory_limit)),
        of_both("rust.features", features(&settings.rust.features)),
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
    // A relative path is ignored, says the XDG Base Directory Specification.
    match std::env::var_os(name).filter(|it| Path::new(it).is_absolute()) {
        Some(_) => Origin::Environment(name),
        None => Origin::Default,
    }
}

/// The files as they are written: which keys they have.
struct Files {
    user: Option<(PathBuf, toml::Table)>,
    workspace: Option<(PathBuf, toml::Table)>,
}

impl Files {
    /// What cannot be read was refused before.
    fn read(config: &Config, root: &Path) -> Files {
        let table = |file: PathBuf| Some((file.clone(), std::fs::read_to_string(file).ok()?.parse().ok()?));
        Files { user: config.config_file.clone().and_then(table), workspace: table(root.join("semdex.toml")) }
    }

    /// Of a key that only the user's file may have.
    fn user(&self, key: &str) -> Origin {
        origin_in(self.user.as_ref(), key).unwrap_or(Origin::Default)
    }

    /// Of a key that both may have; the workspace's own counts first.
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
