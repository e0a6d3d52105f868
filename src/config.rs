//! What the process was told: flags, environment, configuration files. Parsed once, passed on.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    Tcp(std::net::SocketAddr),
    Unix(PathBuf),
}

#[derive(Debug, Clone)]
pub struct Config {
    /// `$XDG_STATE_HOME/semdex`: token, trust, journal.
    pub state_dir: PathBuf,
    /// `$XDG_CACHE_HOME/semdex`: gopls, target directories.
    pub cache_dir: PathBuf,
    /// `--trust` or `--no-trust`; absent: as the owner said before.
    pub trust: Option<bool>,
}
