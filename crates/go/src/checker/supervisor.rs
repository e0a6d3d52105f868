//! Starts the checker once gopls has loaded, lets it load the workspace, and restarts it a limited number of times when
//! it exits. The checker of the further builds is started when the default build has answered, and ended where memory is
//! short.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gen_lsp_types::{LspRequestMethod, MessageDirection, Request};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Checker, Link, build};
use crate::build_constraints::BuildContext;
use crate::further_builds::{FurtherBuild, FurtherBuilds};
use crate::load_timeout::{LoadTimeout, outdated, patience};
use crate::memory::{self, Watched};
use crate::memory_limit::needed;
use crate::session::{self, Session};
use crate::toolchain::Toolchain;
use crate::{LANGUAGE, document_sync, process};
use semdex_lsp_client::{Client, Hooks, RequestError};
use semdex_model::State;
use semdex_process::child::Pipes;
use semdex_process::{fault, named_pipes, resource_usage};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// After this many early exits in a row the checker is not restarted, and only gopls answers.
const MAX_EARLY_EXITS: u32 = 6;
const PAUSE_AFTER_EXITS: Duration = Duration::from_secs(60);
const HEALTHY: Duration = Duration::from_secs(60);
const LOAD_LIMIT: Duration = Duration::from_secs(15 * 60);
const SETTLE_LIMIT: Duration = Duration::from_secs(120);
const ANOTHER_ENVIRONMENT: &str = "Go's environment has changed";
/// Its name in the status.
const NAME: &str = "the checker of Go";
const OUTDATED: &str = "the load did not end, and the content has changed since";
const NO_MEMORY: &str = "memory is short";
const EXHAUSTED: &str = "it was using up the memory";
const NO_BUILDS: &str = "there are no further builds";
/// With less free memory than this the further builds are given up.
const LEAST_FREE: u64 = 256 << 20;
/// Changes come in bursts.
const BURST: Duration = Duration::from_millis(300);

#[derive(Debug, Deserialize, Serialize)]
struct Workspace {
    root: String,
    go: String,
    goroot: String,
    arch: String,
    /// Empty: the default build.
    builds: Vec<Build>,
    folders: Vec<String>,
    files: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Build {
    goos: String,
    goarch: String,
    tags: Vec<String>,
    programs: Vec<String>,
}

impl From<&FurtherBuild> for Build {
    fn from(build: &FurtherBuild) -> Build {
        let BuildContext { goos, goarch, tags, .. } = build.context.clone();
        let programs = build.programs.iter().cloned().collect();
        Build { goos, goarch, tags: tags.into_iter().collect(), programs }
    }
}

/// Which of the two checkers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Default,
    Further,
}

impl Which {
    fn of(self, session: &Session) -> &Checker {
        match self {
            Which::Default => &session.checker,
            Which::Further => &session.further,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Which::Default => NAME,
            Which::Further => "the checker of Go's further builds",
        }
    }
}

#[derive(Debug, Deserialize, Serialize)]
struct Loaded {
    packages: usize,
    millis: u64,
    /// The live heap, in bytes.
    live: u64,
}

enum Load {}

impl Request for Load {
    type Params = Workspace;
    type Result = Loaded;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("checker/load");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

#[derive(Debug, Deserialize, Serialize)]
struct Nothing {}

#[derive(Debug, Deserialize, Serialize)]
struct Settled {
    unfit: Option<String>,
}

enum Settle {}

impl Request for Settle {
    type Params = Nothing;
    type Result = Settled;
    const METHOD: LspRequestMethod<'static> = LspRequestMethod::new("checker/settle");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ClientToServer;
}

/// Runs until `stop`.
pub(crate) async fn run(session: Arc<Session>, cache_dir: PathBuf, stop: CancellationToken) {
    run_either(session, cache_dir, stop, Which::Default).await;
}

/// Runs the checker of the further builds until `stop`.
pub(crate) async fn run_further(session: Arc<Session>, cache_dir: PathBuf, stop: CancellationToken) {
    run_either(session, cache_dir, stop, Which::Further).await;
}

async fn run_either(session: Arc<Session>, cache_dir: PathBuf, stop: CancellationToken, which: Which) {
    tokio::select! {
        () = async {
            keep_running(&session, &cache_dir, which).await;
            which.of(&session).give_up(true);
            stop.cancelled().await;
        } => {}
        () = stop.cancelled() => {}
    }
    which.of(&session).enter(None, None);
    which.of(&session).give_up(true);
}

async fn keep_running(session: &Arc<Session>, cache_dir: &Path, which: Which) {
    let checker = which.of(session);
    let mut early_exits = 0;
    let mut timeout = LoadTimeout::default();
    loop {
        if early_exits >= MAX_EARLY_EXITS {
            // gopls answers in its place until the cause of the exits may have changed.
            checker.give_up(true);
            tokio::time::sleep(PAUSE_AFTER_EXITS).await;
            checker.fed.notified().await;
        }
        let toolchain = match which {
            Which::Default => gopls_loaded(session).await,
            Which::Further => default_answers(session).await,
        };
        let Some(toolchain) = toolchain else { return };
        let program = match build::ensure(cache_dir, &toolchain).await {
            Ok(program) => program,
            Err(lack) => {
                tracing::warn!("Go has no checker, gopls answers in its place: {lack}");
                return;
            }
        };
        let started_at = Instant::now();
        let reason = run_once(session, &program, &toolchain, &mut timeout, which).await;
        checker.enter(None, None);
        session.note_shortage(which.name(), None);
        if reason == NO_MEMORY {
            tracing::info!("memory is short: Go's further builds are not loaded");
            return;
        }
        if reason == NO_BUILDS {
            continue;
        }
        tracing::warn!(reason, "{} has ended", which.name());
        if reason == ANOTHER_ENVIRONMENT || reason == OUTDATED || reason == named_pipes::GONE {
            continue;
        }
        if reason == EXHAUSTED {
            early_exits = MAX_EARLY_EXITS;
            continue;
        }
        early_exits = if started_at.elapsed() > HEALTHY { 1 } else { (early_exits + 1).min(MAX_EARLY_EXITS) };
        tokio::time::sleep(FIRST_PAUSE * 2_u32.saturating_pow(early_exits)).await;
    }
}

/// Called after this task has panicked, which also ended the checker.
pub(crate) fn reset_after_panic(session: &Session) {
    session.checker.enter(None, None);
}

pub(crate) fn reset_further(session: &Session) {
    session.further.enter(None, None);
}

/// Waits until gopls has loaded, which has priority.
async fn gopls_loaded(session: &Session) -> Option<Arc<Toolchain>> {
    let mut link = session.link.subscribe();
    link.wait_for(|link| matches!(link, session::Link::Up { .. })).await.ok()?;
    session.toolchain()
}

/// Waits until the default build has answered, and there are further builds.
async fn default_answers(session: &Arc<Session>) -> Option<Arc<Toolchain>> {
    loop {
        let mut status = session.status.subscribe();
        status.wait_for(|it| it.state == State::Ready).await.ok()?;
        if !further_builds(session).await.0.is_empty() {
            return session.toolchain();
        }
        session.further.fed.notified().await;
    }
}

/// The further builds of the newest files.
async fn further_builds(session: &Arc<Session>) -> Arc<FurtherBuilds> {
    let session = session.clone();
    let chosen = tokio::task::spawn_blocking(move || {
        let files = session.documents().files().clone();
        session.builds(&session.layout(&files))
    });
    chosen.await.unwrap_or_default()
}

/// Runs one checker process from start to end; returns the reason for the end.
async fn run_once(
    session: &Arc<Session>,
    program: &Path,
    toolchain: &Toolchain,
    timeout: &mut LoadTimeout,
    which: Which,
) -> String {
    let limit = session.memory_limit(0);
    let started = process::start(program, session.root.alias(), session.trusted, limit).await;
    let (process, Pipes { stdin, stdout }) = match started {
        Ok(started) => started,
        Err(error) => return error.to_string(),
    };
    let hooks = Hooks { configuration: Box::new(|_| serde_json::Value::Null), notified: Box::new(|_, _| ()) };
    let client = Client::start(stdout, stdin, hooks);
    let mut environment = session.environment.subscribe();
    if session.toolchain().as_deref() != Some(toolchain) {
        return ANOTHER_ENVIRONMENT.to_owned();
    }
    let watched = Watched { name: which.name(), pid: process.pid, limit };
    fault::point("go.checker");
    tokio::select! {
        reason = serve(session, &client, &watched, toolchain, timeout, which) => reason,
        reason = named_pipes::release(session.root.alias(), document_sync::is_read, process.pid, || client.is_waited_for()) => reason,
        _ = environment.changed() => ANOTHER_ENVIRONMENT.to_owned(),
        reason = memory::exhausts(process.pid) => {
            tracing::warn!(reason, "{} is ended", which.name());
            EXHAUSTED.to_owned()
        }
        status = process.exited() => format!("{status}: {}", process.last_words()),
    }
}

async fn serve(
    session: &Arc<Session>,
    client: &Client,
    process: &Watched,
    toolchain: &Toolchain,
    timeout: &mut LoadTimeout,
    which: Which,
) -> String {
    let checker = which.of(session);
    loop {
        let mut builds = Arc::default();
        if which == Which::Further {
            builds = further_builds(session).await;
            if builds.0.is_empty() {
                return NO_BUILDS.to_owned();
            }
        }
        let begun = Instant::now();
        let loaded = tokio::select! {
            loaded = timeout.with(session, process.pid, load(session, client, process.pid, toolchain, (checker, &builds))) => loaded,
            reason = process.load(session) => return reason,
        };
        let Some(loaded) = loaded else { return OUTDATED.to_owned() };
        // Taken here, so that it excludes the wait after a failed load.
        let took = begun.elapsed();
        match loaded {
            Ok(live) if which == Which::Further && process.limit.bytes().is_some_and(|it| needed(live) > it) => {
                return NO_MEMORY.to_owned();
            }
            Ok(live) => {
                if let Some(reason) = process.compare(session, needed(live)) {
                    return reason;
                }
                checker.loaded();
            }
            Err(RequestError::Refused { message, .. }) => {
                tracing::info!(message, "the checker cannot load the workspace, gopls answers in its place");
                checker.give_up(true);
                checker.fed.notified().await;
            }
            Err(error) => return error.to_string(),
        }
        loop {
            if which == Which::Further && further_builds(session).await != builds {
                break;
            }
            match settled(session, checker, client, took).await {
                Ok(true) if which == Which::Further => {
                    tokio::select! {
                        () = checker.fed.notified() => {}
                        () = memory_is_short() => return NO_MEMORY.to_owned(),
                    }
                }
                Ok(true) => checker.fed.notified().await,
                Ok(false) => break,
                Err(error) => return error.to_string(),
            }
        }
        // A long load is not repeated for each of many changes.
        tokio::time::sleep(BURST.max(took * 2)).await;
    }
}

/// Whether the checker has processed all changes and its data is complete.
async fn settled(session: &Session, checker: &Checker, client: &Client, took: Duration) -> Result<bool, RequestError> {
    if !checker.is_ready() {
        return Ok(false);
    }
    let (generation, begun) = (session.documents().generation(), Instant::now());
    let Settled { unfit } = tokio::select! {
        settled = client.request::<Settle>(&Nothing {}, begun + SETTLE_LIMIT) => settled?,
        () = outdated(session, generation, begun, patience(took)) => return Err(RequestError::Closed(OUTDATED.into())),
    };
    if let Some(reason) = &unfit {
        tracing::debug!(reason, "the checker loads everything again");
        checker.unfit();
    }
    Ok(unfit.is_none())
}

/// Resolves when other processes need the memory of the further builds.
async fn memory_is_short() {
    while resource_usage::free_memory().is_none_or(|it| it > LEAST_FREE) {
        tokio::time::sleep(memory::INTERVAL).await;
    }
}

/// Returns the live heap after the load, in bytes.
async fn load(
    session: &Session,
    client: &Client,
    pid: u32,
    toolchain: &Toolchain,
    (checker, builds): (&Checker, &Arc<FurtherBuilds>),
) -> Result<u64, RequestError> {
    let deadline = Instant::now() + LOAD_LIMIT;
    let slot = client.slot(deadline).await?;
    let text = |path: &Path| path.to_str().unwrap_or_default().to_owned();
    checker.give_up(false);
    let answer = {
        // Every later change is sent after these texts.
        let documents = session.documents();
        let files = documents.files();
        let workspace = Workspace {
            root: text(session.root.alias()),
            go: text(&toolchain.goroot.join("bin").join("go")),
            goroot: text(&toolchain.goroot),
            arch: toolchain.context.goarch.clone(),
            builds: builds.0.iter().map(Build::from).collect(),
            folders: document_sync::folders(files).into_iter().collect(),
            files: files.of(LANGUAGE).map(|it| (it.path.to_string(), it.text.to_string())).collect(),
        };
        let answer = slot.request::<Load>(&[], &workspace)?;
        if !builds.0.is_empty() {
            session.note_further(builds.clone());
        }
        checker.enter(Some(Link { client: client.clone(), in_sync: true, loaded: false }), Some(pid));
        answer
    };
    let Loaded { packages, millis, live } = answer.before(deadline).await?;
    tracing::debug!(packages, millis, live, "the checker has loaded");
    Ok(live)
}
