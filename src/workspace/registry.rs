//! All open workspaces of the process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confirm::confirm_when_idle;
use super::handle::Workspace;
use super::journal::Journal;
use super::states::tell_states;
use super::telemetry::Telemetry;
use super::writer::Shared;
use crate::config::Config;
use crate::lang::registry::Registry;
use crate::lang::root;
use crate::model::{Code, Error, Result};
use crate::trust::TrustStore;

/// The open workspaces of the process; cheap to clone.
#[derive(Clone)]
pub struct Workspaces {
    config: Arc<Config>,
    engines: Registry,
    shared: Shared,
    open: Arc<Mutex<Vec<Workspace>>>,
    /// The roots that were named at the start: for these, and what is below them, `--trust` counts.
    named: Arc<Mutex<Vec<PathBuf>>>,
}

impl Workspaces {
    /// None yet, with the engines that are built in.
    pub fn new(config: Config, runtime: tokio::runtime::Handle) -> Workspaces {
        Workspaces::with_engines(config, runtime, Registry::default())
    }

    /// The same with these engines.
    pub fn with_engines(config: Config, runtime: tokio::runtime::Handle, engines: Registry) -> Workspaces {
        let journal = Journal::new(&config.state_dir, config.journal);
        let telemetry = Arc::new(Telemetry::new(config.slow));
        let shared = Shared { journal, runtime, telemetry };
        Workspaces { config: Arc::new(config), engines, shared, open: Arc::default(), named: Arc::default() }
    }

    /// Opens the workspace around a directory that was named at the start, or answers with the one that is open there
    /// already. Returns at once; loading goes on in the background.
    pub fn open(&self, directory: &Path) -> Result<Workspace> {
        let root = self.find_root(directory)?;
        self.named.lock().unwrap_or_else(PoisonError::into_inner).push(root.clone());
        self.open_root(root)
    }

    /// The same for a directory that a request names. Manifests may say that their workspace is elsewhere, so what
    /// is found around it is looked at as well: it must lie in or below one of the roots that are permitted.
    pub fn open_below(&self, directory: &Path, permitted: &[PathBuf]) -> Result<Workspace> {
        let root = self.find_root(directory)?;
        if !permitted.iter().any(|it| root.starts_with(it)) {
            let detail = format!(
                "the workspace that `{}` belongs to lies outside of what may be opened: name it when starting \
                 `semdex serve`",
                directory.display()
            );
            return Err(Error::new(Code::ForbiddenRoot, detail));
        }
        self.open_root(root)
    }

    fn open_root(&self, root: PathBuf) -> Result<Workspace> {
        // No name leads there from a workspace around it either.
        if root.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git")) {
            let detail = format!("{}: what lies in `.git` belongs to git, and is never a workspace", root.display());
            return Err(Error::new(Code::ForbiddenRoot, detail));
        }
        let mut open = self.lock();
        if let Some(same) = open.iter().find(|it| it.root() == root) {
            return Ok(same.clone());
        }
        let name = root.file_name().map_or_else(|| "root".to_owned(), |it| it.to_string_lossy().into_owned());
        let is_taken = |id: &str| open.iter().any(|it| it.id() == id);
        let id = std::iter::once(name.clone())
            .chain((2..).map(|n| format!("{name}-{n}")))
            .find(|id| !is_taken(id))
            .unwrap_or(name);
        let trusted = self.is_trusted(&root).unwrap_or_else(|error| {
            tracing::warn!(%error, "the list of trusted workspaces cannot be read: nothing is trusted");
            false
        });
        let workspace = Workspace::start(id, root, trusted, &self.config, self.engines.clone(), &self.shared)?;
        self.shared.runtime.spawn(tell_states(workspace.clone(), self.shared.telemetry.events.clone()));
        self.shared.runtime.spawn(confirm_when_idle(workspace.clone()));
        open.push(workspace.clone());
        Ok(workspace)
    }

    /// What the flags say, where they bear on this root; else what its owner said.
    fn is_trusted(&self, root: &Path) -> io::Result<bool> {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let is_named = named.iter().any(|it| root.starts_with(it));
        match self.config.trust {
            Some(false) => Ok(false),
            Some(true) if is_named => Ok(true),
            _ => TrustStore::new(&self.config.state_dir).is_trusted(root),
        }
    }

    /// Lets the open workspaces know what their owner has said of them meanwhile.
    pub fn heed_trust(&self) {
        for workspace in self.list() {
            // What cannot be read trusts nothing.
            workspace.set_trust(self.is_trusted(workspace.root()).unwrap_or(false));
        }
    }

    /// The workspace of a request: by id or root, else the only one. `unknown_workspace` lists those that are open.
    pub fn pick(&self, workspace: Option<&str>) -> Result<Workspace> {
        let open = self.lock();
        let names = || open.iter().map(|it| it.id().to_owned()).collect::<Vec<_>>();
        match workspace {
            Some(wanted) => {
                open.iter().find(|it| it.id() == wanted || it.root() == Path::new(wanted)).cloned().ok_or_else(|| {
                    let detail = format!("no workspace `{wanted}` is open; open are: {}", names().join(", "));
                    Error::new(Code::UnknownWorkspace, detail).suggesting(names())
                })
            }
            None => match open.as_slice() {
                [only] => Ok(only.clone()),
                [] => Err(Error::new(Code::UnknownWorkspace, "no workspace is open: `POST /v1/workspaces` opens one")),
                _ => {
                    let detail =
                        format!("several workspaces are open, so `workspace` must name one of: {}", names().join(", "));
                    Err(Error::new(Code::UnknownWorkspace, detail).suggesting(names()))
                }
            },
        }
    }

    /// What the process notes of itself.
    pub fn telemetry(&self) -> &Arc<Telemetry> {
        &self.shared.telemetry
    }

    /// How many jobs wait for the journal.
    pub fn journal_queue_length(&self) -> usize {
        self.shared.journal.queue_length()
    }

    /// All that are open, in the order in which they were opened.
    pub fn list(&self) -> Vec<Workspace> {
        self.lock().clone()
    }

    /// Ends a workspace's engines and its journal. An `unknown_workspace` where there is none of this name.
    pub async fn close(&self, workspace: &str) -> Result<()> {
        let workspace = self.pick(Some(workspace))?;
        self.lock().retain(|it| it.id() != workspace.id());
        workspace.close().await;
        Ok(())
    }

    /// Ends the runs of the tools: the server is asked to stop, and what is in flight is to be answered soon.
    pub fn stop_runs(&self) {
        self.list().iter().for_each(Workspace::stop_runs);
    }

    /// Finishes the change in hand and ends every child. Bounded in time.
    pub async fn shutdown(&self) {
        let all = std::mem::take(&mut *self.lock());
        futures::future::join_all(all.iter().map(Workspace::close)).await;
        self.shared.journal.flush().await;
    }

    fn find_root(&self, directory: &Path) -> Result<PathBuf> {
        self.engines.find_root(directory).map_err(|error| {
            Error::new(Code::UnknownWorkspace, format!("{} is no directory to open: {error}", directory.display()))
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Workspace>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The root of the workspace that contains a directory, by the engines that are built in.
pub fn find_root(directory: &Path) -> io::Result<PathBuf> {
    Registry::default().find_root(directory)
}

/// The same, where a manifest makes it one.
pub fn manifest_root(directory: &Path) -> io::Result<Option<PathBuf>> {
    Registry::default().manifest_root(directory)
}

/// Whether a directory is one that everything lies in, the home directory or `/`, and no manifest makes it a workspace.
pub(crate) fn is_everything(directory: &Path) -> io::Result<bool> {
    Registry::default().is_everything(directory)
}

/// The repository that a path lies in: the nearest directory around it that holds `.git`.
pub(crate) fn repository_around(path: &Path) -> Option<PathBuf> {
    root::repository_around(path)
}
