//! `semdex workspaces`: which workspaces the server has open.

use std::io;
use std::path::PathBuf;

use clap::Subcommand;

use super::client::Call;
use semdex_contract::Name;

#[derive(Debug, Subcommand)]
pub enum Workspaces {
    /// Lists them.
    List {
        /// JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Opens the workspace around a directory, in or below a root that the server was started with.
    Open {
        directory: PathBuf,
        /// JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Closes one: its engines end, and nothing on the disk changes.
    Close {
        /// Its name or root.
        workspace: String,
        /// JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
}

impl Workspaces {
    pub(super) fn is_json(&self) -> bool {
        let (Workspaces::List { json } | Workspaces::Open { json, .. } | Workspaces::Close { json, .. }) = self;
        *json
    }

    pub(super) fn call(self) -> io::Result<(Call, bool)> {
        Ok(match self {
            Workspaces::List { json } => (Call::of(Name::ListWorkspaces), json),
            Workspaces::Open { directory, json } => {
                let root = directory
                    .canonicalize()
                    .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", directory.display())))?;
                (Call::of(Name::OpenWorkspace).with("root", Some(root.to_string_lossy().into_owned())), json)
            }
            Workspaces::Close { workspace, json } => {
                (Call::of(Name::CloseWorkspace).with("workspace", Some(workspace)), json)
            }
        })
    }
}
