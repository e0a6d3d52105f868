//! Starts a language server on demand and keeps it running: waits until it is ready, restarts it with growing pauses
//! when it ends, and ends it when it is idle or uses too much memory.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::capabilities::Capabilities;
use super::diagnostics;
use super::initialize::{hooks, initialize_params};
use super::program::{self, Program};
use super::readiness::Work;
use super::session::{Link, Session};
use semdex_config::DiagnosticsFrom;
use semdex_engine::{Condition, Progress, unpoisoned};
use semdex_lsp_client::{Client, Message};
use semdex_model::{Missing, MissingCode, State};
use semdex_process::child::{Child, Pipes};
use semdex_process::{fault, named_pipes, resource_usage};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A server that has run this long and answered, or has answered so many requests, was healthy. The next pause is the
/// shortest again.
const HEALTHY: Duration = Duration::from_secs(30);
const ENOUGH_ANSWERS: u32 = 5;
/// After so many unhealthy runs in a row, the server counts as broken, and the next start is delayed.
const BROKEN_AFTER: u32 = 4;
const LONG_PAUSE: Duration = Duration::from_secs(30);
/// The pause before a missing program is searched again.
const SEARCH_PAUSE: Duration = Duration::from_secs(2);
const INITIALIZE_LIMIT: Duration = Duration::from_secs(60);
const SHUT_DOWN_LIMIT: Duration = Duration::from_secs(2);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The memory of all its processes is summed this often, also while it starts and loads.
const MEMORY_CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// The time limit of a server's first answer. After it, a later answer makes the server ready.
const PROBE_LIMIT: Duration = Duration::from_secs(20);
/// A server without a query for this time is ended.
const IDLE_LIMIT: Duration = Duration::from_secs(15 * 60);
const MEMORY_LIMIT: u64 = 4096;
/// A server that answers nothing for this time hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Runs until `stop`.
pub(crate) async fn run(session: Arc<Session>, stop: CancellationToken) {
    supervise(&session, &stop).await;
    let detail = format!("{} was ended together with its workspace", session.row.server());
    down(&session, Condition::Idle, Link::Down(session.missing(MissingCode::EngineDown, detail)));
}

/// The supervising task panicked, which ended the server.
pub(crate) fn after_panic(session: &Session) {
    let detail = format!("what runs {} met a fault, which is in the log", session.row.server());
    down(session, Condition::Broken, Link::Waiting(session.missing(MissingCode::EngineRestarting, detail)));
    // A query may still wait for the server.
    session.wanted.notify_one();
}

enum Ended {
    Stopped,
    /// No query needs it.
    Idle,
    NotFound(Missing),
    /// It has to restart, because something that it read at its start has changed.
    MustRestart,
    Failed {
        reason: String,
        was_healthy: bool,
    },
}

async fn supervise(session: &Arc<Session>, stop: &CancellationToken) {
    let mut pause = FIRST_PAUSE;
    let mut failures = 0;
    // A missing program is reported before the first query.
    let mut missing = lack(session);
    loop {
        match missing.take() {
            Some(missing) => down(session, Condition::Missing, Link::Down(missing)),
            None if failures == 0 => down(session, Condition::Idle, Link::Idle),
            None => {}
        }
        tokio::select! {
            () = session.wanted.notified() => {}
            () = stop.cancelled() => return,
        }
        fault::point("lsp.supervisor");
        match run_instance(session, stop).await {
            Ended::Stopped => return,
            Ended::Idle => {
                (pause, failures) = (FIRST_PAUSE, 0);
                // Earlier queries have their answers. Only a query that has just arrived must not be lost.
                let _ = session.wanted.notified().now_or_never();
                if session.idle() < IDLE_LIMIT {
                    session.wanted.notify_one();
                }
            }
            Ended::MustRestart => {
                (pause, failures) = (FIRST_PAUSE, 0);
                if session.idle() < IDLE_LIMIT {
                    session.wanted.notify_one();
                }
            }
            Ended::NotFound(lack) => {
                missing = Some(lack.clone());
                down(session, Condition::Missing, Link::Down(lack));
                if sleep(SEARCH_PAUSE, stop).await.is_err() {
                    return;
                }
            }
            Ended::Failed { reason, was_healthy } => {
                if was_healthy {
                    (pause, failures) = (FIRST_PAUSE, 0);
                }
                failures += 1;
                let wait = if failures < BROKEN_AFTER { pause } else { pause.max(LONG_PAUSE) };
                pause = (wait * 2).min(LONGEST_PAUSE);
                let server = session.row.server();
                tracing::warn!(server, reason, ?wait, "a language server has ended");
                if failures < BROKEN_AFTER {
                    let detail = format!("{server} is being restarted: {reason}");
                    let waiting = session.missing(MissingCode::EngineRestarting, detail);
                    down(session, Condition::Broken, Link::Waiting(waiting));
                    // A query may still wait for the server.
                    session.wanted.notify_one();
                } else {
                    let detail = format!(
                        "{server} has ended {failures} times in a row and is not started again for {} s: {reason}",
                        wait.as_secs().max(1)
                    );
                    down(session, Condition::Broken, Link::Down(session.missing(MissingCode::EngineDown, detail)));
                }
                if sleep(wait, stop).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn sleep(time: Duration, stop: &CancellationToken) -> Result<(), ()> {
    tokio::select! {
        () = tokio::time::sleep(time) => Ok(()),
        () = stop.cancelled() => Err(()),
    }
}

fn down(session: &Session, condition: Condition, link: Link) {
    session.documents().end();
    session.status.send_modify(|status| {
        status.state = if condition == Condition::Idle { State::Ready } else { State::Degraded };
        status.condition = condition;
        status.warm = false;
        status.progress = None;
        status.pid = None;
        status.memory_bytes = None;
        status.missing = match &link {
            Link::Waiting(missing) | Link::Down(missing) => vec![missing.clone()],
            Link::Idle | Link::Up { .. } => Vec::new(),
        };
    });
    session.link.send_replace(link);
}

/// Why no server can be started.
fn lack(session: &Session) -> Option<Missing> {
    let (row, title) = (&session.row, session.row.title());
    if row.keys.runs_code == Some(true) && !session.trusted {
        let detail = format!(
            "{} runs code of the workspace, which is not trusted: answers about {title} come from the text alone; \
             `semdex trust PATH` changes that",
            row.server()
        );
        return Some(session.missing(MissingCode::Untrusted, detail));
    }
    if row.keys.command.is_none() && !session.trusted {
        let detail = format!(
            "the server of {title} is named by the workspace's own configuration, and the workspace is not trusted: \
             answers come from the text alone; `semdex trust PATH` changes that"
        );
        return Some(session.missing(MissingCode::Untrusted, detail));
    }
    if program::find(session).is_none() {
        let program = row.keys.command.as_ref().and_then(|it| it.first()).map_or(row.server(), String::as_str);
        let detail =
            format!("the language server of {title} is missing: `{program}` is not on the PATH; {}", row.install());
        return Some(session.missing(MissingCode::EngineMissing, detail));
    }
    None
}

/// Runs one server from its start to its end.
async fn run_instance(session: &Arc<Session>, stop: &CancellationToken) -> Ended {
    if let Some(missing) = lack(session) {
        return Ended::NotFound(missing);
    }
    let Some(program) = program::find(session) else {
        return Ended::NotFound(session.missing(MissingCode::EngineMissing, session.row.install()));
    };
    let server = session.row.server();
    let started_at = Instant::now();
    session.status.send_modify(|status| {
        status.state = State::Starting;
        status.condition = Condition::Normal;
        status.progress = Some(Progress { stage: format!("starting {server}"), done: 0, total: 0 });
    });
    let starting = session.missing(MissingCode::Indexing, format!("{server} is being started: ask again"));
    session.link.send_if_modified(|link| {
        let is_first = !matches!(link, Link::Waiting(_));
        *link = Link::Waiting(starting);
        is_first
    });
    let mut restarts = session.restarts.subscribe();
    let instance = session.begin_instance();
    let (process, pipes) = match Child::start(command(session, &program), session.language.name).await {
        Ok(started) => started,
        Err(error) => {
            let reason = format!("{} cannot be started: {error}", program.path.display());
            return Ended::Failed { reason, was_healthy: false };
        }
    };
    let work = Arc::new(Work::default());
    let Pipes { stdin, stdout } = pipes;
    session.pushed.clear();
    let client = Client::start(stdout, stdin, hooks(session, &work));
    let is_starting = || session.status.borrow().state != State::Ready;
    let row = session.row.clone();
    let is_read = move |name: &str| row.is_read(name);
    let ended = tokio::select! {
        ended = serve(session, &client, &process, &work, instance) => ended,
        status = process.exited() => Ended::Failed { reason: status, was_healthy: false },
        reason = exceeds_memory(session, &process) => Ended::Failed { reason, was_healthy: false },
        reason = named_pipes::release(session.root.directory(), is_read, process.pid, || client.is_waited_for() || is_starting()) =>
            Ended::Failed { reason, was_healthy: false },
        Ok(()) = restarts.changed() => Ended::MustRestart,
        () = stop.cancelled() => Ended::Stopped,
    };
    match ended {
        Ended::Failed { reason, .. } => {
            let was_healthy = was_healthy(session, started_at);
            let words = process.last_words();
            let reason = if words.is_empty() { reason } else { format!("{reason}: {words}") };
            client.close(&reason);
            session.lost(instance, &reason);
            Ended::Failed { reason, was_healthy }
        }
        other => {
            if matches!(other, Ended::Idle) {
                session.link.send_replace(Link::Idle);
            }
            if matches!(other, Ended::MustRestart) {
                session.link.send_replace(Link::Waiting(session.restarting()));
            }
            shut_down(&client, &process).await;
            other
        }
    }
}

/// Whether the server was healthy.
fn was_healthy(session: &Session, started_at: Instant) -> bool {
    let answers = session.answers();
    let hung = session.silence() > Duration::ZERO;
    answers >= ENOUGH_ANSWERS || (answers > 0 && !hung && started_at.elapsed() >= HEALTHY)
}

/// Publishes the memory of the server until it takes more than it may; returns the reason to end it.
async fn exceeds_memory(session: &Session, process: &Child) -> String {
    let most = session.row.keys.memory_mib.unwrap_or(MEMORY_LIMIT) << 20;
    loop {
        let memory = resource_usage::group_memory(process.pid);
        session.status.send_if_modified(|status| std::mem::replace(&mut status.memory_bytes, memory) != memory);
        if let Some(memory) = memory.filter(|it| *it > most) {
            return format!("it took {} MiB, more than {} MiB", memory >> 20, most >> 20);
        }
        tokio::time::sleep(MEMORY_CHECK_INTERVAL).await;
    }
}

fn command(session: &Session, program: &Program) -> Command {
    let mut command = Command::new(&program.path);
    // Without trust, the program's directory is not the workspace, so it reads no configuration of the workspace and a
    // script's interpreter is not searched there.
    let (root, trusted) = (session.root.directory(), session.trusted);
    command.args(&program.arguments).current_dir(if trusted { root } else { Path::new("/") });
    command.envs(session.row.keys.env.iter().flatten());
    command
}

/// Initializes the server, waits until it is ready, publishes the connection, and monitors it.
async fn serve(session: &Arc<Session>, client: &Client, process: &Child, work: &Work, instance: u32) -> Ended {
    let failed = |reason: String| Ended::Failed { reason, was_healthy: false };
    session.status.send_modify(|status| {
        status.pid = Some(process.pid);
        status.restarts = instance - 1;
    });
    let limit = Instant::now() + INITIALIZE_LIMIT;
    let initialize_result = match ask(client, "initialize", &initialize_params(session), limit).await {
        Ok(initialize_result) => initialize_result,
        Err(reason) => return failed(reason),
    };
    let version = initialize_result.pointer("/serverInfo/version").and_then(Value::as_str).map(str::to_owned);
    let capabilities = Capabilities::new(initialize_result.get("capabilities").cloned().unwrap_or_default());
    let saves = capabilities.wants_saves() && session.row.keys.saves != Some(false);
    *unpoisoned::lock(&session.capabilities) = capabilities;
    let repeats = diagnostics::source(session) == DiagnosticsFrom::Push;
    session.status.send_modify(|status| {
        status.state = State::Indexing;
        status.version = version;
    });
    let settings = json!({"settings": session.row.keys.settings.clone().unwrap_or_else(|| json!({}))});
    let messages =
        [Message::plain("initialized", &json!({})), Message::plain("workspace/didChangeConfiguration", &settings)];
    match client.slot(limit).await {
        Ok(slot) => {
            // The new server has no open documents, and some servers load nothing before the first one is open.
            let mut documents = session.documents();
            documents.restart(saves, repeats);
            let first = session.first_file(documents.files());
            let mut all = messages.to_vec();
            all.extend(documents.preamble(&first.iter().map(String::as_str).collect::<Vec<_>>()));
            slot.notify(&all);
        }
        Err(error) => return failed(error.to_string()),
    }
    let readiness = session.row.keys.readiness.clone().unwrap_or_default();
    tokio::select! {
        () = work.ready(&readiness) => {}
        reason = client.closed() => return failed(reason.to_string()),
    }
    session.publish(client.clone(), instance);
    let closed = client.closed();
    tokio::pin!(closed);
    let probe = session.probe(client, instance, Instant::now() + PROBE_LIMIT).fuse();
    tokio::pin!(probe);
    let deadline = session.row.keys.deadline_s.map_or(DEADLINE, Duration::from_secs);
    loop {
        fault::point("lsp.life");
        if session.silence() > deadline {
            return failed(format!("it has answered nothing for {} s", deadline.as_secs()));
        }
        if session.idle() > IDLE_LIMIT {
            return Ended::Idle;
        }
        tokio::select! {
            reason = &mut closed => return failed(reason.to_string()),
            () = &mut probe => {}
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
        }
    }
}

async fn ask(client: &Client, method: &str, params: &Value, deadline: Instant) -> Result<Value, String> {
    let slot = client.slot(deadline).await.map_err(|it| it.to_string())?;
    let pending = slot.plain(&[], method, params).map_err(|it| it.to_string())?;
    pending.before(deadline).await.map_err(|it| it.to_string())
}

async fn shut_down(client: &Client, process: &Child) {
    let deadline = Instant::now() + SHUT_DOWN_LIMIT;
    if ask(client, "shutdown", &Value::Null, deadline).await.is_ok()
        && let Ok(slot) = client.slot(deadline).await
    {
        slot.notify(&[Message::plain("exit", &Value::Null)]);
        // If it does not end in time, dropping the process kills it.
        let _ = tokio::time::timeout_at(deadline.into(), process.exited()).await;
    }
}
