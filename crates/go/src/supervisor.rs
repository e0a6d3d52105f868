//! Starts gopls and keeps it running: installs it on first use, starts it, waits until it has loaded, restarts it with
//! growing pauses when it dies, and ends it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gen_lsp_types::{
    ClientCapabilities, ClientCodeActionKindOptions, ClientCodeActionLiteralOptions, ClientCodeActionResolveOptions,
    ClientInfo, CodeActionClientCapabilities, CodeActionKind, DiagnosticSeverity, ExecuteCommandParams,
    ExecuteCommandRequest, ExitNotification, HoverClientCapabilities, InitializeParams, InitializeRequest,
    InitializedNotification, InitializedParams, LspNotificationMethod, MarkupKind, PublishDiagnosticsParams,
    ShutdownRequest, TextDocumentClientCapabilities, WindowClientCapabilities, WorkspaceClientCapabilities,
    WorkspaceFolder, WorkspaceFoldersInitializeParams,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::install::{self, Installed};
use super::load_timeout::{LoadTimeout, patience};
use super::memory::{self, Measurement, Watched};
use super::modules::base_name;
use super::session::{Link, SCOPE, Session, Unanswered};
use super::{document_sync, lsp_conversion, process, toolchain};
use crate::LANGUAGE;
use semdex_engine::{Condition, EngineStatus, Progress};
use semdex_lsp_client::{Client, Hooks};
use semdex_model::{Missing, MissingCode, State};
use semdex_process::child::{Child as Process, Pipes};
use semdex_process::{fault, named_pipes, resource_usage};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After this time gopls counts as stable: the next pause is again the first.
const HEALTHY: Duration = Duration::from_secs(60);
/// The pause after a failed installation.
const NEXT_TRY: Duration = Duration::from_secs(60);
const INITIALIZE_LIMIT: Duration = Duration::from_secs(60);
const LOAD_LIMIT: Duration = Duration::from_secs(15 * 60);
const EXIT_LIMIT: Duration = Duration::from_secs(2);
const HANG_INTERVAL: Duration = Duration::from_secs(1);
/// gopls computes all diagnostics by itself when nothing has changed for this long, which keeps its caches warm.
const DIAGNOSTICS_DELAY: &str = "1s";

pub(crate) fn first_status() -> EngineStatus {
    EngineStatus::new(super::ENGINE, LANGUAGE, State::Starting)
}

/// Called after this task has panicked, which also ended gopls.
pub(crate) fn reset_after_panic(session: &Session) {
    let detail = "what runs gopls met a fault, which is in the log: gopls is being restarted";
    degraded(session, Link::Waiting(Missing::new(MissingCode::EngineRestarting, SCOPE, detail)));
}

/// Runs until `stop`.
pub(crate) async fn run(session: Arc<Session>, cache_dir: PathBuf, stop: CancellationToken) {
    supervise(&session, &cache_dir, &stop).await;
    let detail = "gopls was ended together with its workspace";
    degraded(&session, Link::Down(Missing::new(MissingCode::EngineDown, SCOPE, detail)));
}

async fn supervise(session: &Arc<Session>, cache_dir: &Path, stop: &CancellationToken) {
    let mut pause = FIRST_PAUSE;
    let mut instance = session.instances.load(Ordering::Relaxed);
    let mut timeout = LoadTimeout::default();
    // The texts with which gopls used up the memory.
    let mut exhausted_by = None;
    loop {
        tokio::select! {
            () = needed(session) => {}
            () = stop.cancelled() => return,
        }
        let (link, wait) = match live(session, cache_dir, (&mut instance, &mut timeout), stop).await {
            Ended::Stopped => return,
            Ended::NoProgram(missing) => (Link::Down(missing), NEXT_TRY),
            Ended::Exhausted { reason } => {
                tracing::warn!(reason, "gopls was ended");
                let generation = session.documents().generation();
                // The first time, texts may have changed after those that gopls read.
                if exhausted_by.replace(generation) == Some(generation) {
                    let detail = format!("gopls was ended: {reason}; it is started again when Go code changes");
                    degraded(session, Link::Down(Missing::new(MissingCode::EngineDown, SCOPE, detail)));
                    tokio::select! {
                        () = changed(session, generation) => {}
                        () = stop.cancelled() => return,
                    }
                }
                let detail = format!("gopls is being restarted: {reason}");
                (Link::Waiting(Missing::new(MissingCode::EngineRestarting, SCOPE, detail)), LONGEST_PAUSE)
            }
            Ended::Died { reason, lived } => {
                if lived >= HEALTHY {
                    pause = FIRST_PAUSE;
                }
                let wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
                tracing::warn!(reason, ?wait, "gopls has ended and is restarted");
                let detail = format!("gopls is being restarted: {reason}");
                (Link::Waiting(Missing::new(MissingCode::EngineRestarting, SCOPE, detail)), wait)
            }
        };
        degraded(session, link);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Waits for the first Go file: until then, nothing is installed and nothing runs.
async fn needed(session: &Session) {
    loop {
        let fed = session.fed.notified();
        if session.documents().has_go() {
            return;
        }
        session.status.send_if_modified(|status| std::mem::replace(&mut status.state, State::Ready) != State::Ready);
        fed.await;
    }
}

/// Waits until the texts are others than those of this generation.
async fn changed(session: &Session, generation: u64) {
    loop {
        let fed = session.fed.notified();
        if session.documents().generation() != generation {
            return;
        }
        fed.await;
    }
}

enum Ended {
    Stopped,
    NoProgram(Missing),
    /// It was using up the memory of the machine.
    Exhausted {
        reason: String,
    },
    Died {
        reason: String,
        lived: Duration,
    },
}

fn degraded(session: &Session, link: Link) {
    session.status.send_modify(|status| {
        status.state = State::Degraded;
        status.warm = false;
        status.progress = None;
        status.pid = None;
        status.memory_bytes = None;
        if let Link::Waiting(missing) | Link::Down(missing) = &link {
            let is_there = missing.code != MissingCode::EngineMissing;
            status.condition = if is_there { Condition::Normal } else { Condition::Missing };
            status.missing = vec![missing.clone()];
        }
    });
    session.link.send_replace(link);
}

fn stage(session: &Session, state: State, stage: &str) {
    session.status.send_modify(|status| {
        (status.state, status.condition) = (state, Condition::Normal);
        status.progress = Some(Progress { stage: stage.to_owned(), done: 0, total: 0 });
    });
}

/// Runs one gopls, from its installation to its end.
async fn live(
    session: &Arc<Session>,
    cache_dir: &Path,
    (instance, timeout): (&mut u32, &mut LoadTimeout),
    stop: &CancellationToken,
) -> Ended {
    let report_progress = |what: &str| {
        stage(session, State::Starting, what);
        let missing = Missing::new(MissingCode::Indexing, SCOPE, format!("gopls is not up yet: {what}"));
        session.link.send_if_modified(|link| {
            let first = matches!(link, Link::Waiting(before) if before.code == MissingCode::Indexing);
            if first {
                *link = Link::Waiting(missing);
            }
            first
        });
    };
    stage(session, State::Starting, "looking for gopls");
    let installed = tokio::select! {
        installed = install::ensure(cache_dir, &report_progress) => installed,
        () = stop.cancelled() => return Ended::Stopped,
    };
    let installed = match installed {
        Ok(installed) => installed,
        Err(lack) => {
            tracing::warn!("{lack}");
            return Ended::NoProgram(Missing::new(MissingCode::EngineMissing, SCOPE, lack.to_string()));
        }
    };
    if let Err(error) = session.root.prepare() {
        let detail = format!("gopls cannot be started in this directory: {error}");
        return Ended::NoProgram(Missing::new(MissingCode::EngineDown, SCOPE, detail));
    }
    let mut environment = session.environment.subscribe();
    match toolchain::ask(session.root.alias(), session.trusted).await {
        Some(toolchain) => session.know_toolchain(toolchain),
        None => tracing::warn!("`go env` does not answer: the checker of Go is not started"),
    }
    let born = Instant::now();
    *instance = session.instances.fetch_add(1, Ordering::Relaxed) + 1;
    let limit = session.memory_limit(0);
    let started = process::start(&installed.program, session.root.alias(), session.trusted, limit);
    let (process, pipes) = match started.await {
        Ok(started) => started,
        Err(error) => {
            let reason = format!("{} cannot be started: {error}", installed.program.display());
            return Ended::Died { reason, lived: Duration::ZERO };
        }
    };
    let Pipes { stdin, stdout } = pipes;
    let client = Client::start(stdout, stdin, hooks(session));
    let watched = Watched { name: super::ENGINE, pid: process.pid, limit };
    fault::point("go.supervisor");
    let mut is_exhausted = false;
    let died = tokio::select! {
        reason = serve(session, &client, &watched, (&installed, *instance), timeout) => reason,
        reason = named_pipes::release(session.root.alias(), document_sync::is_read, process.pid, || client.is_waited_for()) => reason,
        status = process.exited() => status,
        reason = memory::exhausts(process.pid) => {
            is_exhausted = true;
            reason
        }
        _ = environment.changed() => {
            goodbye(&client, &process).await;
            return Ended::Died { reason: "Go's environment has changed".to_owned(), lived: HEALTHY };
        }
        () = stop.cancelled() => {
            goodbye(&client, &process).await;
            return Ended::Stopped;
        }
    };
    session.note_shortage(super::ENGINE, None);
    let words = process.last_words();
    let reason = if words.is_empty() { died } else { format!("{died}: {words}") };
    session.lost(*instance, &reason);
    if is_exhausted {
        return Ended::Exhausted { reason };
    }
    Ended::Died { reason, lived: born.elapsed() }
}

/// Initializes gopls, waits for the load, publishes the connection, and watches it until it ends.
async fn serve(
    session: &Session,
    client: &Client,
    gopls: &Watched,
    (installed, instance): (&Installed, u32),
    timeout: &mut LoadTimeout,
) -> String {
    session.status.send_modify(|status| {
        status.version = Some(installed.version.clone());
        status.pid = Some(gopls.pid);
        status.restarts = instance - 1;
    });
    let folders = {
        let files = session.documents().files().clone();
        // Recorded before gopls reads anything: a file that it reads later has this metadata or a newer one.
        let stamps = document_sync::stamps(&session.root, &files);
        let mut documents = session.documents();
        documents.note_stamps(stamps);
        documents.restarted()
    };
    if let Err(error) =
        client.request::<InitializeRequest>(&introduction(folders), Instant::now() + INITIALIZE_LIMIT).await
    {
        return error.to_string();
    }
    if let Err(error) =
        client.notify::<InitializedNotification>(&InitializedParams {}, Instant::now() + INITIALIZE_LIMIT).await
    {
        return error.to_string();
    }
    session.status.send_modify(|status| status.state = State::Indexing);
    session.forget_unanswered();
    let begun = Instant::now();
    // gopls loads all folders while it handles `initialized`, and handles nothing else before that is done: an answer
    // to any request shows that the load is over.
    let first = ExecuteCommandParams { command: "gopls.views".to_owned(), ..ExecuteCommandParams::default() };
    let load = client.request::<ExecuteCommandRequest>(&first, Instant::now() + LOAD_LIMIT);
    let loaded = tokio::select! {
        loaded = timeout.with(session, gopls.pid, load) => loaded,
        reason = gopls.load(session) => return reason,
    };
    match loaded {
        Some(Ok(_)) => {}
        Some(Err(error)) => return error.to_string(),
        None => return "its first load did not end, and the content has changed since".to_owned(),
    }
    session.status.send_modify(|status| {
        status.progress = None;
        status.missing = lasting(session);
        status.missing.extend(session.shortages());
    });
    session.link.send_replace(Link::Up { client: client.clone(), instance });
    let closed = client.closed();
    tokio::select! {
        reason = closed => reason.to_string(),
        reason = watch_memory(session, client, gopls) => reason,
        reason = hangs(session, patience(begun.elapsed())) => reason,
    }
}

/// Resolves when gopls has answered nothing for so long, and is busy with a content that has changed since.
async fn hangs(session: &Session, patience: Duration) -> String {
    loop {
        tokio::time::sleep(HANG_INTERVAL).await;
        if let Some(Unanswered { sent, generation }) = session.unanswered()
            && sent.elapsed() >= patience
            && session.documents().generation() != generation
        {
            return format!("it has answered nothing for {} s, and the content has changed since", patience.as_secs());
        }
    }
}

/// Publishes the memory of gopls and the checkers until gopls must be restarted with a higher limit; returns the reason.
async fn watch_memory(session: &Session, client: &Client, gopls: &Watched) -> String {
    let mut measurement = Measurement::new();
    loop {
        let checkers = [&session.checker, &session.further].into_iter().filter_map(|it| it.pid());
        let used: u64 = checkers.filter_map(resource_usage::resident_memory).sum();
        let memory = resource_usage::resident_memory(gopls.pid).map(|it| it + used);
        session.status.send_if_modified(|status| std::mem::replace(&mut status.memory_bytes, memory) != memory);
        if let Some(reason) = measurement.check(session, client, gopls).await {
            return reason;
        }
        tokio::time::sleep(memory::INTERVAL).await;
    }
}

/// What is missing from Go's answers as long as the workspace is as it is.
fn lasting(session: &Session) -> Vec<Missing> {
    if session.trusted {
        return Vec::new();
    }
    let detail = "the workspace is not trusted: cgo is off, and neither modules nor toolchains are downloaded; \
                  `semdex trust PATH` changes that";
    vec![Missing::new(MissingCode::Untrusted, SCOPE, detail)]
}

async fn goodbye(client: &Client, process: &Process) {
    let deadline = Instant::now() + EXIT_LIMIT;
    if client.request::<ShutdownRequest>(&(), deadline).await.is_ok()
        && client.notify::<ExitNotification>(&(), deadline).await.is_ok()
    {
        // If it does not end in time, dropping the process ends it.
        let _ = tokio::time::timeout_at(deadline.into(), process.exited()).await;
    }
}

fn settings() -> Value {
    json!({
        "pullDiagnostics": true,
        "diagnosticsDelay": DIAGNOSTICS_DELAY,
        "symbolScope": "workspace",
        "hoverKind": "FullDocumentation",
        "linksInHover": false,
        "telemetryPrompt": false,
        "vulncheck": "Off",
        "codelenses": {},
    })
}

#[expect(deprecated, reason = "gopls falls back to the root URI, which the protocol has deprecated")]
fn introduction(folders: Vec<WorkspaceFolder>) -> InitializeParams {
    InitializeParams {
        process_id: std::process::id().try_into().ok(),
        root_uri: folders.first().map(|folder| folder.uri.clone()),
        workspace_folders_initialize_params: WorkspaceFoldersInitializeParams {
            workspace_folders: Some(folders.into()),
        },
        initialization_options: Some(settings()),
        client_info: Some(ClientInfo {
            name: "semdex".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
        capabilities: ClientCapabilities {
            workspace: Some(WorkspaceClientCapabilities {
                configuration: Some(true),
                workspace_folders: Some(true),
                ..WorkspaceClientCapabilities::default()
            }),
            window: Some(WindowClientCapabilities {
                work_done_progress: Some(true),
                ..WindowClientCapabilities::default()
            }),
            text_document: Some(TextDocumentClientCapabilities {
                // Expensive edits are resolved on demand, not run as a command.
                code_action: Some(CodeActionClientCapabilities {
                    code_action_literal_support: Some(ClientCodeActionLiteralOptions {
                        code_action_kind: ClientCodeActionKindOptions {
                            value_set: vec![CodeActionKind::QuickFix, CodeActionKind::SourceOrganizeImports],
                        },
                    }),
                    data_support: Some(true),
                    resolve_support: Some(ClientCodeActionResolveOptions { properties: vec!["edit".to_owned()] }),
                    ..CodeActionClientCapabilities::default()
                }),
                hover: Some(HoverClientCapabilities {
                    content_format: Some(vec![MarkupKind::Markdown]),
                    ..HoverClientCapabilities::default()
                }),
                ..TextDocumentClientCapabilities::default()
            }),
            ..ClientCapabilities::default()
        },
        ..InitializeParams::default()
    }
}

fn hooks(session: &Arc<Session>) -> Hooks {
    let session = Arc::downgrade(session);
    Hooks {
        configuration: Box::new(|_| settings()),
        notified: Box::new(move |method, params| match LspNotificationMethod::from(method) {
            LspNotificationMethod::Progress => {
                if let Some(session) = session.upgrade() {
                    loading(&session, &params);
                }
            }
            LspNotificationMethod::TextDocumentPublishDiagnostics => {
                if let (Some(session), Ok(params)) = (session.upgrade(), serde_json::from_value(params)) {
                    published(&session, params);
                }
            }
            LspNotificationMethod::WindowLogMessage | LspNotificationMethod::WindowShowMessage => {
                let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
                tracing::trace!(target: "semdex::gopls", "{}", message.trim_end());
            }
            _ => {}
        }),
    }
}

/// Uses only the published diagnostics of manifests, because they cannot be requested.
fn published(session: &Session, params: PublishDiagnosticsParams) {
    let file = session.root.file(&params.uri).filter(|file| matches!(base_name(file), "go.mod" | "go.work"));
    if let Some(file) = file {
        let errors = params.diagnostics.into_iter().filter(|it| it.severity == Some(DiagnosticSeverity::Error));
        let first =
            errors.map(|it| format!("{file}:{}: {}", it.range.start.line + 1, lsp_conversion::message(&it))).next();
        session.note_manifest(file, first);
    }
}

/// Shows gopls's progress while it loads.
fn loading(session: &Session, params: &Value) {
    let word = |name| params.pointer(name).and_then(Value::as_str).unwrap_or_default();
    let stage = match (word("/value/kind"), word("/value/title"), word("/value/message")) {
        ("begin", title, message) => format!("{title}: {message}"),
        ("report", _, message) if !message.is_empty() => message.to_owned(),
        _ => return,
    };
    session.status.send_if_modified(|status| {
        let indexing = status.state == State::Indexing;
        if indexing {
            status.progress = Some(Progress { stage, done: 0, total: 0 });
        }
        indexing
    });
}
