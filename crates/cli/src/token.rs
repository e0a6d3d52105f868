//! `semdex token`: prints the user's token, a new one, or one that allows less.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::client::{self, Call};
use super::running_servers;
use semdex_config::Config;
use semdex_config::access::Access;
use semdex_config::token::{load_or_create, rotate};
use semdex_contract::Name;
use semdex_engine::Registry;

#[derive(Debug, Args)]
pub struct PrintToken {
    /// Make a new token first. Servers refuse the old one, and all tokens that were printed for less, from now on.
    #[arg(long)]
    rotate: bool,
    /// Print a token for one workspace: its id in a running server, or a directory in it.
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
    /// Print a token for reading: it changes nothing and starts no program.
    #[arg(long)]
    read: bool,
}

impl PrintToken {
    /// The token, for the header `Authorization: Bearer`.
    pub async fn token(&self, config: &Config, engines: &Registry) -> io::Result<String> {
        let workspace = match &self.workspace {
            Some(named) => Some(root(named, config, engines).await?),
            None => None,
        };
        let user = if self.rotate { rotate(&config.state_dir)? } else { load_or_create(&config.state_dir)? };
        Ok(Access { reads_only: self.read, workspace }.token(&user))
    }
}

/// The root of a workspace: of the id in a running server, else of a directory.
async fn root(named: &str, config: &Config, engines: &Registry) -> io::Result<PathBuf> {
    let mut found = BTreeSet::new();
    for running in running_servers::all(&config.state_dir) {
        // A server that does not answer is about to end.
        let Ok(status) = client::call(&running.announcement, &Call::of(Name::Status), true, None).await else {
            continue;
        };
        let status: Value = serde_json::from_str(&status.text).unwrap_or_default();
        let workspaces = status["workspaces"].as_array().into_iter().flatten();
        let same = workspaces.filter(|it| it["id"] == named).filter_map(|it| it["root"].as_str());
        found.extend(same.map(PathBuf::from));
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(root), None) => Ok(root),
        (Some(first), Some(second)) => {
            let (first, second) = (first.display(), second.display());
            let detail =
                format!("several servers have a workspace `{named}`: name one by its root, {first} or {second}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, detail))
        }
        _ if Path::new(named).is_dir() => engines.find_root(Path::new(named)),
        _ => {
            let detail = format!("no running server has a workspace `{named}`, and there is no such directory");
            Err(io::Error::new(io::ErrorKind::NotFound, detail))
        }
    }
}
