//! Brings a language server up when somebody asks, and keeps it up: waits until it can be believed, starts it again with
//! growing pauses when it dies, ends it when nobody asks any more or when it takes too much memory.

use std::collections::HashSet;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::capabilities::Capabilities;
use super::program::{self, Program};
use super::session::{Link, Push, Session};
use crate::config::Readiness;
use crate::lang::child::{Child, Pipes};
use crate::lang::{Condition, Progress, memory, sound};
use crate::lsp::{Client, Hooks, Message};
use crate::model::{Missing, MissingCode, State};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Having lived this long, it is well: the next pause is the first again.
const HEALTHY: Duration = Duration::from_secs(30);
/// So many short lives in a row, and the server is said to be broken.
const BROKEN_AFTER: u32 = 4;
/// A program that is not there is looked for again so long after.
const NEXT_LOOK: Duration = Duration::from_secs(2);
const INITIALIZE_LIMIT: Duration = Duration::from_secs(60);
/// After this a server is taken for ready, whatever it reports.
const READY_LIMIT: Duration = Duration::from_secs(300);
const GOODBYE_LIMIT: Duration = Duration::from_secs(2);
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// Nobody has asked for so long: it is ended.
const IDLE_LIMIT: Duration = Duration::from_secs(15 * 60);
const MEMORY_LIMIT: u64 = 4096;
/// A server that answers nothing for so long hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// Runs until `stop`.
pub async fn run(session: Arc<Session>, stop: CancellationToken) {
    supervise(&session, &stop).await;
    let detail = format!("{} was ended together with its workspace", session.row.server());
    down(&session, Condition::Idle, Link::Down(session.missing(MissingCode::EngineDown, detail)));
}

/// The task that does this panicked, and the server is gone with it.
pub fn fell(session: &Session) {
    let detail = format!("what runs {} met a fault, which is in the log", session.row.server());
    down(session, Condition::Broken, Link::Waiting(session.missing(MissingCode::EngineRestarting, detail)));
}

enum Ended {
    Stopped,
    /// Nobody asks any more.
    Idle,
    NotThere(Missing),
    Died {
        reason: String,
        lived: Duration,
    },
}

async fn supervise(session: &Arc<Session>, stop: &CancellationToken) {
    let mut pause = FIRST_PAUSE;
    let mut deaths = 0;
    // What is missing is known before anybody asks.
    let mut missing = lack(session);
    loop {
        match missing.take() {
            Some(missing) => down(session, Condition::Missing, Link::Down(missing)),
            None if deaths == 0 => down(session, Condition::Idle, Link::Idle),
            None => {}
        }
        tokio::select! {
            () = session.wanted.notified() => {}
            () = stop.cancelled() => return,
        }
        match live(session, stop).await {
            Ended::Stopped => return,
            Ended::Idle => (pause, deaths) = (FIRST_PAUSE, 0),
            Ended::NotThere(lack) => {
                missing = Some(lack.clone());
                down(session, Condition::Missing, Link::Down(lack));
                if sleep(NEXT_LOOK, stop).await.is_err() {
                    return;
                }
            }
            Ended::Died { reason, lived } => {
                if lived >= HEALTHY {
                    (pause, deaths) = (FIRST_PAUSE, 0);
                }
                deaths += 1;
                let wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
                let server = session.row.server();
                tracing::warn!(server, reason, ?wait, "a language server has ended");
                if deaths < BROKEN_AFTER {
                    let detail = format!("{server} is being restarted: {reason}");
                    let waiting = session.missing(MissingCode::EngineRestarting, detail);
                    down(session, Condition::Broken, Link::Waiting(waiting));
                    // Whoever waits for it is still there.
                    session.wanted.notify_one();
                } else {
                    let detail = format!(
                        "{server} has ended {deaths} times in a row and is not started again for {} s: {reason}",
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

/// Why there is no server to be started.
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
    if program::find(session).is_none() {
        let program = row.keys.command.as_ref().and_then(|it| it.first()).map_or(row.server(), String::as_str);
        let detail =
            format!("the language server of {title} is missing: `{program}` is not on the PATH; {}", row.install());
        return Some(session.missing(MissingCode::EngineMissing, detail));
    }
    None
}

/// One server, from its start to its end.
async fn live(session: &Arc<Session>, stop: &CancellationToken) -> Ended {
    if let Some(missing) = lack(session) {
        return Ended::NotThere(missing);
    }
    let Some(program) = program::find(session) else {
        return Ended::NotThere(session.missing(MissingCode::EngineMissing, session.row.install()));
    };
    let server = session.row.server();
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
    let born = Instant::now();
    let life = session.next_life();
    let (process, pipes) = match Child::start(command(session, &program), session.language.name).await {
        Ok(started) => started,
        Err(error) => {
            let reason = format!("{} cannot be started: {error}", program.path.display());
            return Ended::Died { reason, lived: Duration::ZERO };
        }
    };
    let work = Arc::new(Work::default());
    let Pipes { stdin, stdout } = pipes;
    session.pushed.clear();
    let client = Client::start(stdout, stdin, hooks(session, &work));
    let ended = tokio::select! {
        ended = serve(session, &client, &process, &work, life) => ended,
        status = process.exited() => Ended::Died { reason: status, lived: born.elapsed() },
        () = stop.cancelled() => Ended::Stopped,
    };
    match ended {
        Ended::Died { reason, .. } => {
            let words = process.last_words();
            let reason = if words.is_empty() { reason } else { format!("{reason}: {words}") };
            client.close(&reason);
            session.lost(life, &reason);
            Ended::Died { reason, lived: born.elapsed() }
        }
        other => {
            if matches!(other, Ended::Idle) {
                session.link.send_replace(Link::Idle);
            }
            goodbye(&client, &process).await;
            other
        }
    }
}

fn command(session: &Session, program: &Program) -> Command {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).current_dir(session.root.directory());
    command.envs(session.row.keys.env.iter().flatten());
    command
}

/// Introduces itself, waits until the server can be believed, hands the connection out, and watches it.
async fn serve(session: &Arc<Session>, client: &Client, process: &Child, work: &Work, life: u32) -> Ended {
    let born = Instant::now();
    let died = |reason: String| Ended::Died { reason, lived: born.elapsed() };
    session.status.send_modify(|status| {
        status.pid = Some(process.pid);
        status.restarts = life - 1;
    });
    let limit = Instant::now() + INITIALIZE_LIMIT;
    let introduced = match ask(client, "initialize", &introduction(session), limit).await {
        Ok(introduced) => introduced,
        Err(reason) => return died(reason),
    };
    let version = introduced.pointer("/serverInfo/version").and_then(Value::as_str).map(str::to_owned);
    let capabilities = Capabilities::new(introduced.get("capabilities").cloned().unwrap_or_default());
    let saves = capabilities.wants_saves();
    *sound::lock(&session.capabilities) = capabilities;
    session.status.send_modify(|status| {
        status.state = State::Indexing;
        status.version = version;
    });
    let settings = json!({"settings": session.row.keys.settings.clone().unwrap_or_else(|| json!({}))});
    let messages =
        [Message::plain("initialized", &json!({})), Message::plain("workspace/didChangeConfiguration", &settings)];
    match client.slot(limit).await {
        Ok(slot) => {
            // What it has open begins anew, and some servers load nothing before the first document is open.
            let mut documents = session.documents();
            documents.restart(saves);
            let first = session.first_file(documents.files());
            let mut all = messages.to_vec();
            all.extend(documents.preamble(&first.iter().map(String::as_str).collect::<Vec<_>>()));
            slot.notify(&all);
        }
        Err(error) => return died(error.to_string()),
    }
    let readiness = session.row.keys.readiness.clone().unwrap_or_default();
    tokio::select! {
        () = work.ready(&readiness) => {}
        reason = client.closed() => return died(reason.to_string()),
    }
    session.status.send_modify(|status| {
        status.state = State::Ready;
        status.progress = None;
        status.missing = Vec::new();
        status.warm = true;
    });
    session.link.send_replace(Link::Up { client: client.clone(), life });
    let closed = client.closed();
    tokio::pin!(closed);
    session.forget_silence();
    let deadline = session.row.keys.deadline_s.map_or(DEADLINE, Duration::from_secs);
    let most = session.row.keys.memory_mib.unwrap_or(MEMORY_LIMIT) << 20;
    loop {
        let memory = memory::resident(process.pid);
        session.status.send_if_modified(|status| std::mem::replace(&mut status.memory_bytes, memory) != memory);
        if let Some(memory) = memory.filter(|it| *it > most) {
            return died(format!("it took {} MiB, more than {} MiB", memory >> 20, most >> 20));
        }
        if session.silence() > deadline {
            return died(format!("it has answered nothing for {} s", deadline.as_secs()));
        }
        if session.idle() > IDLE_LIMIT {
            return Ended::Idle;
        }
        tokio::select! {
            reason = &mut closed => return died(reason.to_string()),
            () = tokio::time::sleep(WATCH_EVERY) => {}
        }
    }
}

async fn ask(client: &Client, method: &str, params: &Value, deadline: Instant) -> Result<Value, String> {
    let slot = client.slot(deadline).await.map_err(|it| it.to_string())?;
    let pending = slot.plain(&[], method, params).map_err(|it| it.to_string())?;
    pending.before(deadline).await.map_err(|it| it.to_string())
}

async fn goodbye(client: &Client, process: &Child) {
    let deadline = Instant::now() + GOODBYE_LIMIT;
    if ask(client, "shutdown", &Value::Null, deadline).await.is_ok()
        && let Ok(slot) = client.slot(deadline).await
    {
        slot.notify(&[Message::plain("exit", &Value::Null)]);
        // Where it does not end in time, dropping the process ends it.
        let _ = tokio::time::timeout_at(deadline.into(), process.exited()).await;
    }
}

/// What a server does that it reports.
#[derive(Default)]
struct Work {
    state: Mutex<WorkState>,
    news: Notify,
}

#[derive(Default)]
struct WorkState {
    active: HashSet<String>,
    has_begun: bool,
    lines: Vec<String>,
}

impl Work {
    fn progress(&self, params: &Value) -> Option<String> {
        let token = params.get("token")?.to_string();
        let kind = params.pointer("/value/kind")?.as_str()?;
        let mut state = sound::lock(&self.state);
        match kind {
            "begin" => {
                state.has_begun = true;
                state.active.insert(token);
            }
            "end" => drop(state.active.remove(&token)),
            _ => {}
        }
        drop(state);
        self.news.notify_waiters();
        let text = |name: &str| params.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let stage = format!("{} {}", text("/value/title"), text("/value/message")).trim().to_owned();
        Some(stage).filter(|it| !it.is_empty())
    }

    fn log(&self, line: &str) {
        const MOST_LINES: usize = 1000;
        let mut state = sound::lock(&self.state);
        if state.lines.len() < MOST_LINES {
            state.lines.push(line.to_owned());
        }
        drop(state);
        self.news.notify_waiters();
    }

    /// Resolves when what the table waits for has come, or will not come.
    async fn ready(&self, readiness: &Readiness) {
        let begun = Instant::now();
        let (grace, limit) = (begun + Duration::from_millis(readiness.grace_ms), begun + READY_LIMIT);
        loop {
            let news = self.news.notified();
            let now = Instant::now();
            let until = {
                let state = sound::lock(&self.state);
                let is_logged = readiness.log.iter().any(|it| state.lines.iter().any(|line| line.contains(it)));
                let is_idle = state.active.is_empty();
                let has_reported = readiness.progress && state.has_begun && is_idle;
                let waits_for_work = readiness.progress && !is_idle;
                if now >= limit || is_logged || has_reported || (now >= grace && !waits_for_work) {
                    return;
                }
                if waits_for_work { limit } else { grace.max(now) }
            };
            let _ = tokio::time::timeout_at(until.into(), news).await;
        }
    }
}

fn hooks(session: &Arc<Session>, work: &Arc<Work>) -> Hooks {
    let (weak, work) = (Arc::downgrade(session), work.clone());
    let settings = session.row.keys.settings.clone().unwrap_or(Value::Null);
    Hooks {
        configuration: Box::new(move |section| section_of(&settings, section)),
        notified: Box::new(move |method, params| {
            let Some(session) = weak.upgrade() else { return };
            match method {
                "$/progress" => {
                    let stage = work.progress(&params);
                    session.status.send_if_modified(|status| {
                        let is_loading = status.state == State::Indexing && stage.is_some();
                        if let Some(stage) = stage.filter(|_| is_loading) {
                            status.progress = Some(Progress { stage, done: 0, total: 0 });
                        }
                        is_loading
                    });
                }
                "textDocument/publishDiagnostics" => published(&session, &params),
                "textDocument/clangd.fileStatus" => {
                    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
                    if let Some(file) = session.root.file(text("uri")) {
                        session.pushed.note_busy(file, text("state") != "idle");
                    }
                }
                "client/registerCapability" | "client/unregisterCapability" => {
                    sound::lock(&session.capabilities).take(method, &params);
                }
                "window/logMessage" | "window/showMessage" | "language/status" => {
                    let message = params.get("message").and_then(Value::as_str).unwrap_or_default().trim_end();
                    tracing::debug!(target: "semdex::engine", server = session.row.server(), "{message}");
                    work.log(message);
                    work.log(params.get("type").and_then(Value::as_str).unwrap_or_default());
                }
                _ => {}
            }
        }),
    }
}

fn published(session: &Session, params: &Value) {
    let file = params.get("uri").and_then(Value::as_str).and_then(|it| session.root.file(it));
    let (Some(file), Some(items)) = (file, params.get("diagnostics").and_then(Value::as_array)) else { return };
    let version = params.get("version").and_then(Value::as_i64);
    session.pushed.take(file, Push { version, items: items.clone(), at: Instant::now() });
}

/// The settings of one section: `python.analysis` is a path in them.
fn section_of(settings: &Value, section: Option<&str>) -> Value {
    let parts = section.unwrap_or_default().split('.').filter(|it| !it.is_empty());
    parts.fold(settings.clone(), |value, part| value.get(part).cloned().unwrap_or(Value::Null))
}

fn introduction(session: &Session) -> Value {
    let folders: Vec<Value> = session
        .folders()
        .iter()
        .map(|it| json!({"uri": session.root.uri(it), "name": it.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("root")}))
        .collect();
    let kinds: Vec<u32> = (1..=26).collect();
    let dynamic = json!({"dynamicRegistration": true});
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "semdex", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folders.first().map(|it| it["uri"].clone()),
        "rootPath": session.root.directory(),
        "workspaceFolders": folders,
        "initializationOptions": session.row.keys.init,
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": dynamic,
                "didChangeWatchedFiles": dynamic,
                "symbol": {"symbolKind": {"valueSet": kinds}},
                "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
                "fileOperations": {"willRename": true},
                "diagnostics": {"refreshSupport": true},
            },
            "window": {"workDoneProgress": true, "showMessage": {}},
            "textDocument": {
                "synchronization": {"dynamicRegistration": true, "didSave": true},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "definition": {"linkSupport": false},
                "references": dynamic,
                "implementation": {"linkSupport": false},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true, "symbolKind": {"valueSet": kinds}},
                "rename": {"prepareSupport": true},
                "formatting": dynamic,
                "codeAction": {
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source", "source.organizeImports"]}},
                    "resolveSupport": {"properties": ["edit"]},
                    "dataSupport": true,
                },
                "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
                "publishDiagnostics": {"versionSupport": true, "relatedInformation": true, "codeDescriptionSupport": true, "tagSupport": {"valueSet": [1, 2]}},
            },
        },
    })
}
