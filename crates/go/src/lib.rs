//! The engine for Go: syntax from the text alone (pure, no process), and gopls and the checker for everything that
//! needs types.
//!
//! [`Go`] owns one gopls for a workspace. It is installed on first use, receives the changes from the workspace's
//! writer, and is restarted when it dies. A [`View`] answers queries about one revision. Each answer of gopls is
//! checked against the text of that revision and converted to the types of `model`. What gopls cannot answer is listed
//! in the answer's coverage and never looks like an empty answer.

mod answer_cache;
pub(crate) mod build_constraints;
mod build_inputs;
mod call_hierarchy;
mod cgo;
mod checker;
mod code_actions;
mod declaration_changes;
mod definition;
pub(crate) mod dependency_sources;
mod diagnostics;
mod doc_links;
mod document_sync;
mod engine;
pub(crate) mod examples;
mod external_symbols;
mod file_overview;
mod file_scope;
mod formatting;
mod further_builds;
mod go_tools;
pub(crate) mod gomod;
mod identifier_index;
mod impact;
mod import_paths;
mod index_filler;
mod install;
mod invalidate;
mod language;
mod layout;
mod load_timeout;
pub(crate) mod local_modules;
mod lsp_conversion;
mod memory;
mod memory_limit;
pub(crate) mod modules;
mod other_builds;
mod package_clause;
pub(crate) mod package_overview;
pub(crate) mod package_set;
mod predeclared;
mod process;
mod queries;
mod reference_graph;
mod rename;
pub(crate) mod resolve;
mod same_paths;
pub(crate) mod search;
mod session;
pub(crate) mod suggest;
mod supervisor;
pub(crate) mod symbol_paths;
pub(crate) mod syntax;
#[cfg(test)]
mod tests;
mod toolchain;
mod unindexed;
mod unlisted_occurrences;
mod unresolved_names;
mod usage_index;
mod usages;
mod view;
mod workspace_root;

pub use self::engine::GoKind;
pub(crate) use self::language::{LANGUAGE, file};
pub(crate) use self::view::View;

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::lsp_conversion::Root;
use self::session::Session;
use semdex_config::{Builds, GoBuild};
use semdex_engine::files::Files;
use semdex_engine::{Backoff, Deadlines, EngineStatus, FileChange, Result, Stop, Tidied, Wanted, panic_message};
use semdex_model::{ChangeImpact, Code, Error, FileEdit};

/// The engine's name in the status.
pub(crate) const ENGINE: &str = "gopls";

/// The maximum time for a shutdown, whatever gopls does.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub(crate) struct GoConfig {
    pub root: PathBuf,
    pub trusted: bool,
    /// `$XDG_CACHE_HOME/semdex`: gopls is installed below this directory.
    pub cache_dir: PathBuf,
    pub runtime: tokio::runtime::Handle,
    /// The soft memory limit of gopls, and of the checker, in bytes; by default it depends on the free memory.
    pub memory_limit: Option<u64>,
    /// The builds besides the default build.
    pub builds: Builds<GoBuild>,
}

/// A cloneable handle to the workspace's Go engine. gopls ends when the last handle is dropped.
#[derive(Clone)]
pub(crate) struct Go {
    session: Arc<Session>,
    runtime: tokio::runtime::Handle,
    stop: Arc<CancelOnDrop>,
    supervisor: Arc<tokio::sync::Mutex<Option<JoinHandle<()>>>>,
}

/// Stops the supervisor, and with it gopls, when the last handle is dropped.
struct CancelOnDrop(CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs a task, and again after a panic, with a growing pause; calls `on_panic` each time.
async fn persist<F: Future<Output = ()>>(
    task: &'static str,
    stop: CancellationToken,
    on_panic: impl Fn(),
    run: impl Fn() -> F,
) {
    let mut retries = Backoff::default();
    while let Err(panic) = AssertUnwindSafe(run()).catch_unwind().await {
        let pause = retries.failed();
        tracing::error!(
            task,
            panic = panic_message(&*panic),
            ?pause,
            "a task of Go's engine panicked and is restarted"
        );
        on_panic();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => return,
        }
    }
}

impl Go {
    /// Returns immediately; gopls starts in the background.
    pub(crate) fn start(config: GoConfig, files: Arc<Files>) -> Go {
        let GoConfig { root, trusted, cache_dir, runtime, memory_limit, builds } = config;
        let root = Root::new(root, &cache_dir.join("gopls").join("roots"));
        let session = Arc::new(Session::new(root, trusted, memory_limit, builds, files, supervisor::first_status()));
        let stop = CancellationToken::new();
        runtime.spawn(persist("filler", stop.clone(), || (), {
            let (session, stop) = (session.clone(), stop.clone());
            move || index_filler::run(session.clone(), stop.clone())
        }));
        let shared = session.clone();
        runtime.spawn(persist("checker", stop.clone(), move || checker::reset_after_panic(&shared), {
            let (session, cache_dir, stop) = (session.clone(), cache_dir.clone(), stop.clone());
            move || checker::run(session.clone(), cache_dir.clone(), stop.clone())
        }));
        let shared = session.clone();
        runtime.spawn(persist("further builds", stop.clone(), move || checker::reset_further(&shared), {
            let (session, cache_dir, stop) = (session.clone(), cache_dir.clone(), stop.clone());
            move || checker::run_further(session.clone(), cache_dir.clone(), stop.clone())
        }));
        let shared = session.clone();
        let supervisor =
            runtime.spawn(persist("supervisor", stop.clone(), move || supervisor::reset_after_panic(&shared), {
                let (session, stop) = (session.clone(), stop.clone());
                move || supervisor::run(session.clone(), cache_dir.clone(), stop.clone())
            }));
        Go {
            session,
            runtime,
            stop: Arc::new(CancelOnDrop(stop)),
            supervisor: Arc::new(tokio::sync::Mutex::new(Some(supervisor))),
        }
    }

    pub(crate) fn status(&self) -> watch::Receiver<EngineStatus> {
        self.session.status.subscribe()
    }

    /// Whether gopls is ready, or will not start.
    pub(crate) fn is_settled(&self) -> bool {
        self.session.is_settled()
    }

    /// Resolves when it is settled.
    pub(crate) async fn settled(&self) {
        let mut link = self.session.link.subscribe();
        while !self.is_settled() {
            if link.changed().await.is_err() {
                return;
            }
        }
    }

    /// Called by the workspace's writer after each applied change, in order. Never blocks.
    pub(crate) fn feed(&self, files: Arc<Files>, changed: &[FileChange]) {
        self.session.feed(files, changed);
    }

    /// Called by the workspace's writer: files outside the workspace that its build reads have changed. Their names are
    /// absolute.
    pub(crate) fn feed_outside(&self, changed: &[FileChange]) {
        self.session.feed_outside(changed);
    }

    /// The files of the last applied change.
    pub(crate) fn files(&self) -> Arc<Files> {
        self.session.documents().files().clone()
    }

    /// Whether Go's environment has changed since it was read: `go env -w`, another toolchain, another `go.work`. If
    /// so, all results are dropped and the processes are restarted.
    pub(crate) fn check_environment(&self) -> bool {
        self.session.check_environment()
    }

    /// A view of one revision. If other files were applied since, every answer is stale.
    pub(crate) fn view(&self, files: Arc<Files>) -> View {
        View::new(self.session.clone(), files)
    }

    /// The effect of an edit before it is made. No other client sees its state. It runs to its end even if the client
    /// disconnects, so that its state is always reverted.
    pub(crate) async fn impact(&self, view: &View, edits: &[FileEdit], deadlines: Deadlines) -> Result<ChangeImpact> {
        let Some(generation) = view.generation else { return Err(Stop::Stale) };
        let (session, files) = (view.session.clone(), view.files.clone());
        let run = self.runtime.spawn(impact::run(session, files, generation, edits.to_vec(), deadlines));
        match run.await {
            Ok(change_impact) => change_impact,
            Err(error) => Err(Error::new(Code::Internal, format!("a dry run failed: {error}")).into()),
        }
    }

    /// Planned texts after goimports and gofmt, before they are written. As in `impact`, the state is always reverted.
    pub(crate) async fn tidy(
        &self,
        view: &View,
        edits: &[FileEdit],
        wanted: Wanted,
        deadlines: Deadlines,
    ) -> Result<Vec<Tidied>> {
        let Some(generation) = view.generation else { return Err(Stop::Stale) };
        let (session, files) = (view.session.clone(), view.files.clone());
        let run = self.runtime.spawn(formatting::run(session, files, generation, edits.to_vec(), wanted, deadlines));
        match run.await {
            Ok(tidied) => tidied,
            Err(error) => Err(Error::new(Code::Internal, format!("a dry run failed: {error}")).into()),
        }
    }

    /// Ends gopls by request, then by force, in bounded time.
    pub(crate) async fn shutdown(&self) {
        self.stop.0.cancel();
        if let Some(supervisor) = self.supervisor.lock().await.take() {
            // If it is not done by then, dropping it kills gopls.
            let abort = supervisor.abort_handle();
            if tokio::time::timeout(SHUTDOWN_LIMIT, supervisor).await.is_err() {
                abort.abort();
            }
        }
    }
}
