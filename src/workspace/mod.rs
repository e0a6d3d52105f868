//! A workspace: one writer that owns all mutable state, and immutable snapshots for readers.

pub mod disk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::Config;
use crate::lang::EngineStatus;
use crate::model::{Language, Missing, Result, Revision, State};

/// A cloneable handle on an open workspace.
#[derive(Debug, Clone)]
pub struct Workspace {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: String,
    root: PathBuf,
}

/// What `GET /v1/status` says of one workspace.
#[derive(Debug, Clone)]
pub struct WorkspaceStatus {
    pub id: String,
    pub root: PathBuf,
    pub languages: Vec<Language>,
    pub state: State,
    pub revision: Revision,
    pub progress: Option<crate::lang::Progress>,
    pub engines: Vec<EngineStatus>,
    pub trusted: bool,
    pub missing: Vec<Missing>,
}

impl Workspace {
    /// Unique in the process: the root's last component, with a number where that is taken.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    pub fn status(&self) -> WorkspaceStatus {
        todo!()
    }
}

/// All open workspaces of the process.
#[derive(Debug, Clone)]
pub struct Workspaces {}

impl Workspaces {
    pub fn new(_config: Config, _runtime: tokio::runtime::Handle) -> Workspaces {
        todo!()
    }

    /// Opens the workspace around a directory, or answers with the one that is open there already. Returns at once;
    /// loading goes on in the background.
    pub fn open(&self, _root: &Path) -> Result<Workspace> {
        todo!()
    }

    /// The workspace of a request: by id or root, else the only one. `unknown_workspace` lists those that are open.
    pub fn pick(&self, _workspace: Option<&str>) -> Result<Workspace> {
        todo!()
    }

    pub fn list(&self) -> Vec<Workspace> {
        todo!()
    }

    pub fn close(&self, _workspace: &str) -> Result<()> {
        todo!()
    }

    /// Finishes the change in hand and ends every child. Bounded in time.
    pub async fn shutdown(&self) {
        todo!()
    }
}
