//! Go: what the text says by itself (pure, no process), and gopls for what only types can tell.
//!
//! [`Go`] owns one gopls for a workspace: it is installed at the first need, fed by the workspace's writer,
//! restarted when it dies. A [`View`] answers questions about one revision. What gopls says is checked against
//! the text of that revision and said in the words of `model`; what it cannot say is named in the answer's
//! coverage, and never looks like an empty answer.

mod book;
mod cache;
pub mod constraints;
pub mod dependencies;
pub mod examples;
pub mod external;
#[cfg(test)]
mod fixture;
pub mod gomod;
mod install;
pub mod lookup;
pub mod modules;
pub mod names;
pub mod overview;
mod process;
pub mod resolve;
pub mod search;
mod session;
pub mod suggest;
mod supervisor;
pub mod syntax;
#[cfg(test)]
mod testbed;
#[cfg(test)]
mod tests;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::session::Session;
use self::wire::Root;
use super::EngineStatus;
use super::files::Files;

/// Shutdown takes no longer than this, whatever gopls does.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct GoConfig {
    pub root: PathBuf,
    pub trusted: bool,
    /// `$XDG_CACHE_HOME/semdex`: gopls is installed below it.
    pub cache_dir: PathBuf,
    pub runtime: tokio::runtime::Handle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChangeKind {
    Created,
    Changed,
    Deleted,
}

/// One file of an applied change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    pub kind: FileChangeKind,
}

/// A cloneable handle on the workspace's Go engine. gopls ends when the last one is dropped.
#[derive(Clone)]
pub struct Go {
    session: Arc<Session>,
    runtime: tokio::runtime::Handle,
    stop: Arc<Stopper>,
    supervisor: Arc<tokio::sync::Mutex<Option<JoinHandle<()>>>>,
}

/// Stops the supervisor, and with it gopls, when the last handle is dropped.
struct Stopper(CancellationToken);

impl Drop for Stopper {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Go {
    /// Returns at once; gopls comes up in the background.
    pub fn start(config: GoConfig, files: Arc<Files>) -> Go {
        let GoConfig { root, trusted, cache_dir, runtime } = config;
        let session = Arc::new(Session::new(Root(root), trusted, files, supervisor::first_status()));
        let stop = CancellationToken::new();
        let supervisor = runtime.spawn(supervisor::run(session.clone(), cache_dir, stop.clone()));
        Go {
            session,
            runtime,
            stop: Arc::new(Stopper(stop)),
            supervisor: Arc::new(tokio::sync::Mutex::new(Some(supervisor))),
        }
    }

    pub fn status(&self) -> watch::Receiver<EngineStatus> {
        self.session.status.subscribe()
    }

    /// By the workspace's writer, after each applied change, in order. Never blocks.
    pub fn feed(&self, files: Arc<Files>, changed: &[FileChange]) {
        self.session.feed(files, changed);
    }

    /// Ends gopls: politely, then by force. Bounded in time.
    pub async fn shutdown(&self) {
        self.stop.0.cancel();
        if let Some(supervisor) = self.supervisor.lock().await.take() {
            // It kills gopls when it is dropped, should it not be done by then.
            let abort = supervisor.abort_handle();
            if tokio::time::timeout(SHUTDOWN_LIMIT, supervisor).await.is_err() {
                abort.abort();
            }
        }
    }
}
