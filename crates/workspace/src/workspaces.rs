//! All open workspaces of the process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::confirm::confirm_when_idle;
use super::disk::absolute_path_of;
use super::handle::Workspace;
use super::journal::Journal;
use super::root_lock::{self, RootLock, check_name};
use super::session_trees::{SessionTrees, counterpart};
use super::states::tell_states;
use super::telemetry::Telemetry;
use super::writer::{Shared, open_disk};
use semdex_config::Config;
use semdex_config::trust::TrustStore;
use semdex_engine::{Registry, repository_around};
use semdex_fs::holds;
use semdex_model::{Code, Error, Result};
use semdex_text::visible;

/// The open workspaces of the process; cheap to clone.
#[derive(Clone)]
pub struct Workspaces {
    config: Arc<Config>,
    engines: Registry,
    shared: Shared,
    open: Arc<Mutex<Vec<Workspace>>>,
    /// The directories for which `--trust` counts, with everything below them.
    named: Arc<Mutex<Vec<PathBuf>>>,
    /// The address of this server, for those who want to serve the same directories.
    address: Arc<str>,
    /// The roots of workspaces that were opened for requests in a linked worktree.
    trees: Arc<Mutex<Vec<PathBuf>>>,
}

impl Workspaces {
    /// No workspace is open yet.
    pub fn new(config: Config, runtime: tokio::runtime::Handle, engines: Registry) -> Workspaces {
        let journal = Journal::new(&config.state_dir, config.journal);
        let telemetry = Arc::new(Telemetry::new(config.slow));
        let shared = Shared { journal, runtime, telemetry };
        Workspaces {
            config: Arc::new(config),
            engines,
            shared,
            open: Arc::default(),
            named: Arc::default(),
            trees: Arc::default(),
            address: "".into(),
        }
    }

    /// The same for a server at this address.
    pub fn at(self, address: &str) -> Workspaces {
        Workspaces { address: address.into(), ..self }
    }

    /// The engines that a workspace can have.
    pub fn engines(&self) -> &Registry {
        &self.engines
    }

    /// Opens the workspace that contains a directory named at the start, or returns it if it is open. Returns
    /// immediately; loading goes on in the background.
    pub fn open(&self, directory: &Path) -> Result<Workspace> {
        let root = self.find_root(directory)?;
        // A directory without a canonical form contains nothing.
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
        let is_reached = trust_reaches(&directory, &root);
        let trusted = if is_reached { &root } else { &directory };
        self.named.lock().unwrap_or_else(PoisonError::into_inner).push(trusted.clone());
        let workspace = self.open_root(root)?;
        let root = workspace.root();
        if !is_reached && self.config.trust == Some(true) && !self.is_trusted(root).unwrap_or(false) {
            let warning = format!(
                "{root} is served without trust: a manifest makes it the workspace of {directory}, and `--trust` counts \
                 for the repository of what is named and for nothing around it. `semdex trust {root}` trusts it",
                root = root.display(),
                directory = directory.display()
            );
            tracing::warn!("{}", visible::lines(&warning));
        }
        Ok(workspace)
    }

    /// The same for a directory that a request names. A manifest may place the workspace elsewhere, so the root that is
    /// found must also be in or below one of the permitted roots.
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

    /// Opens the workspace of a path in a linked worktree, for a request that names it. `None` if the path is in no
    /// other checkout of the repository of an open workspace, or its root may not be opened.
    pub fn open_tree(&self, path: &Path, permitted: &[PathBuf]) -> Option<Workspace> {
        let path = path.ancestors().find_map(|it| it.canonicalize().ok())?;
        let root = self.list().iter().find_map(|it| counterpart(it.root(), &path))?;
        if !permitted.iter().any(|it| root.starts_with(it)) {
            return None;
        }
        let workspace = self.open_root(root).ok()?;
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if !trees.iter().any(|it| it == workspace.root()) {
            trees.push(workspace.root().to_path_buf());
        }
        drop(trees);
        Some(workspace)
    }

    /// The records of the checkouts that sessions work in.
    pub fn session_trees(&self) -> SessionTrees {
        SessionTrees::new(&self.config.state_dir)
    }

    fn open_root(&self, root: PathBuf) -> Result<Workspace> {
        check_name(&root)?;
        let mut open = self.lock();
        // A directory in a workspace belongs to it: two of them would both write its files.
        if let Some(same) = open.iter().find(|it| holds(it.root(), &root)) {
            // semdex's own directories are no part of it.
            open_disk(&root, &self.config)?;
            return Ok(same.clone());
        }
        if let Some(inner) = open.iter().find(|it| holds(&root, it.root())) {
            let detail = format!(
                "the workspace `{}` is open and lies in {}: close it first (`close_workspace`), then it is a part of the other",
                inner.id(),
                root.display()
            );
            return Err(Error::new(Code::Conflict, detail));
        }
        let lock = RootLock::take(&self.config.state_dir, &root, &self.address)?;
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
        let workspace = Workspace::start(id, (root, lock), trusted, &self.config, self.engines.clone(), &self.shared)?;
        self.shared.runtime.spawn(tell_states(workspace.clone(), self.shared.telemetry.events.clone()));
        self.shared.runtime.spawn(confirm_when_idle(workspace.clone()));
        open.push(workspace.clone());
        Ok(workspace)
    }

    /// What the flags say if they apply to this root; otherwise what its owner has decided.
    fn is_trusted(&self, root: &Path) -> io::Result<bool> {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let is_named = named.iter().any(|it| root.starts_with(it));
        match self.config.trust {
            Some(false) => Ok(false),
            Some(true) if is_named => Ok(true),
            _ => TrustStore::new(&self.config.state_dir).is_trusted(root),
        }
    }

    /// Takes over the owner's latest decisions for all open workspaces.
    pub fn heed_trust(&self) {
        for workspace in self.list() {
            // An unreadable list trusts nothing.
            workspace.set_trust(self.is_trusted(workspace.root()).unwrap_or(false));
        }
    }

    /// The workspace of a request: by id or root; without either, the only one that is open. Otherwise
    /// `unknown_workspace` with a list of the open ones.
    pub fn pick(&self, workspace: Option<&str>) -> Result<Workspace> {
        let open = self.lock();
        let names = || open.iter().map(|it| it.id().to_owned()).collect::<Vec<_>>();
        match workspace {
            Some(wanted) => {
                open.iter().find(|it| it.id() == wanted || it.root() == Path::new(wanted)).cloned().ok_or_else(|| {
                    let open = names().join(", ");
                    let detail = format!("no workspace `{wanted}` is open; open are: {open}{}", self.elsewhere(wanted));
                    Error::new(Code::UnknownWorkspace, detail).suggesting(names())
                })
            }
            None => match self.without_trees(&open).as_slice() {
                [only] => Ok((*only).clone()),
                [] => Err(Error::new(Code::UnknownWorkspace, "no workspace is open: `open_workspace` opens one")),
                _ => {
                    let detail =
                        format!("several workspaces are open, so `workspace` must name one of: {}", names().join(", "));
                    Err(Error::new(Code::UnknownWorkspace, detail).suggesting(names()))
                }
            },
        }
    }

    /// Which other server serves a directory.
    fn elsewhere(&self, wanted: &str) -> String {
        let directory = Some(Path::new(wanted)).filter(|it| it.is_absolute()).and_then(|it| it.canonicalize().ok());
        let other = directory.and_then(|it| root_lock::server_around(&self.config.state_dir, &it));
        other.map_or_else(String::new, |(address, root)| {
            format!(". Another server serves {}: ask it, at {address}", root.display())
        })
    }

    /// Those that are meant by requests that name none.
    fn without_trees<'w>(&self, open: &'w [Workspace]) -> Vec<&'w Workspace> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let main: Vec<&Workspace> = open.iter().filter(|it| !trees.iter().any(|tree| tree == it.root())).collect();
        if main.is_empty() { open.iter().collect() } else { main }
    }

    /// The same for a request that names these files. If several workspaces are open, it means the innermost one that
    /// contains the first file named by an absolute path or a URI.
    pub fn pick_for(&self, workspace: Option<&str>, files: &[String]) -> Result<Workspace> {
        let open = if workspace.is_none() { self.list() } else { Vec::new() };
        let around = if open.len() > 1 { files.iter().find_map(|it| innermost(&open, it)) } else { None };
        around.map_or_else(|| self.pick(workspace), Ok)
    }

    /// The telemetry of the process.
    pub fn telemetry(&self) -> &Arc<Telemetry> {
        &self.shared.telemetry
    }

    /// The number of jobs that wait for the journal.
    pub fn journal_queue_length(&self) -> usize {
        self.shared.journal.queue_length()
    }

    /// All open workspaces, in the order in which they were opened.
    pub fn list(&self) -> Vec<Workspace> {
        self.lock().clone()
    }

    /// Closes a workspace: ends its engines. `unknown_workspace` if there is none of this name.
    pub async fn close(&self, workspace: &str) -> Result<()> {
        let workspace = self.pick(Some(workspace))?;
        self.lock().retain(|it| it.id() != workspace.id());
        workspace.close().await;
        Ok(())
    }

    /// Ends the runs of the tools, so that requests in flight are answered before the server stops.
    pub fn stop_runs(&self) {
        self.list().iter().for_each(Workspace::stop_runs);
    }

    /// Finishes the current change and ends every child process. Bounded in time.
    pub async fn shutdown(&self) {
        let all = std::mem::take(&mut *self.lock());
        futures::future::join_all(all.iter().map(Workspace::close)).await;
        self.shared.journal.end().await;
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

/// The innermost workspace that accepts a file, whatever links its path has; otherwise the innermost one around the
/// path, whose error says why it refuses the file. `None` for a relative name, since each workspace has its own file of
/// that name.
fn innermost(open: &[Workspace], file: &str) -> Option<Workspace> {
    let path = absolute_path_of(file)?;
    let depth = |it: &&Workspace| it.root().as_os_str().len();
    let taking = open.iter().filter(|it| it.locate(file).is_ok()).max_by_key(depth);
    let around = || open.iter().filter(|it| holds(it.root(), &path)).max_by_key(depth);
    taking.or_else(around).cloned()
}

/// Whether trust in a named directory extends to the root that was found for it. A manifest may place the workspace
/// anywhere, so it does only within the directory's repository.
fn trust_reaches(named: &Path, root: &Path) -> bool {
    let in_repository = || repository_around(named).is_some_and(|it| root.starts_with(it));
    root.starts_with(named) || named.starts_with(root) && in_repository()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn trust_reaches_as_far_as_the_repository_of_what_is_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for directory in ["repo/crates/a", "repo/vendor/other/b", "private", "plain/a"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        fs::create_dir(at("repo/.git")).unwrap();
        // The file `.git` of a submodule.
        fs::write(at("repo/vendor/other/.git"), "gitdir: ../../.git/modules/other\n").unwrap();
        for (named, root, expected) in [
            ("repo", "repo", true),
            ("repo", "repo/crates/a", true),
            ("repo/crates/a", "repo", true),
            ("repo/crates/a", "repo/crates", true),
            ("repo/crates/a", "", false),
            ("repo/crates/a", "private", false),
            ("repo/crates/a", "repo/vendor", false),
            ("repo/vendor/other/b", "repo/vendor/other", true),
            ("repo/vendor/other/b", "repo", false),
            ("plain/a", "plain/a", true),
            ("plain/a", "plain", false),
        ] {
            assert_eq!(trust_reaches(&at(named), &at(root)), expected, "{named}: {root}");
        }
    }
}
