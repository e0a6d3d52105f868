//! `semdex workspaces`: the open workspaces of the server.

use std::io;
use std::path::PathBuf;

use clap::Subcommand;

use super::client::Call;
use semdex_contract::Name;

#[derive(Debug, Subcommand)]
pub enum Workspaces {
    /// List the open workspaces.
    #[command(after_help = "Example:\n  semdex workspaces list")]
    List {
        /// Print JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Open the workspace around a directory, in or below a root that the server was started with.
    #[command(after_help = "Example:\n  semdex workspaces open crates/other")]
    Open {
        /// A directory of the workspace.
        directory: PathBuf,
        /// Print JSON instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Close a workspace: its engines end; the disk is unchanged.
    #[command(after_help = "Example:\n  semdex workspaces close other")]
    Close {
        /// Name or root of the workspace.
        workspace: String,
        /// Print JSON instead of Markdown.
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
