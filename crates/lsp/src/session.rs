//! The connection to one language server, across restarts: requests in order, answers for one revision, and recovery
//! when the server ends.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Notify, RwLock, watch};

use super::capabilities::Capabilities;
use super::diagnostics_cache::{DiagnosticsCache, Inputs};
use super::document_sync::DocumentSync;
use super::environment::{self, Environment};
use super::import_graph::ImportGraph;
use super::internal_errors::{INTERNAL, InternalErrors};
use super::pushed_diagnostics::PushedDiagnostics;
use super::table::{Row, Service};
use super::tags::Tags;
use super::wire::Root;
use semdex_engine::files::{File, Files};
use semdex_engine::{Condition, Deadlines, EngineStatus, FileChange, Progress, unpoisoned};
use semdex_lsp_client::{Client, RequestError};
use semdex_model::{Coverage, LanguageId, Missing, MissingCode, State};

/// A request during which the server ends is repeated once.
const MAX_CRASHES: u32 = 2;
/// A server that has just started may not know everything yet, so requests are repeated.
const LEARNING: Duration = Duration::from_secs(5);
/// The pause before a request is repeated that the server rejected because of a change.
const AGAIN: Duration = Duration::from_millis(50);
/// `ContentModified` and `ServerCancelled`: the server rejects the request because something changed.
const PUT_OFF: [i64; 2] = [-32801, -32802];

pub(crate) struct Session {
    pub service: Arc<Service>,
    pub language: LanguageId,
    pub row: Row,
    pub root: Root,
    pub trusted: bool,
    pub status: watch::Sender<EngineStatus>,
    pub link: watch::Sender<Link>,
    pub capabilities: Mutex<Capabilities>,
    /// The diagnostics that the server has pushed, by file.
    pub pushed: PushedDiagnostics,
    /// Held shared by every query, and exclusively by a dry run, so that no query sees the state of a dry run.
    pub gate: Arc<RwLock<()>>,
    /// Notified when a query needs the server.
    pub wanted: Notify,
    /// The names in each text.
    pub tags: Tags,
    /// The number of servers that were started.
    pub instances: AtomicU32,
    /// Increases when a healthy server has to restart, because something that it has read has changed.
    pub restarts: watch::Sender<u32>,
    /// What the server read in addition to the texts, as it was at the last check.
    environment: Mutex<Environment>,
    /// When the server became available.
    up_since: Mutex<Option<Instant>>,
    /// The number of requests that this server has answered.
    answers: AtomicU32,
    /// Methods that this server refuses although it answered them before.
    internal_errors: InternalErrors,
    /// The edits that a running command has requested. They are the result of the command, and are not applied.
    pub commanded: Mutex<Option<Vec<Value>>>,
    /// The server has shown that it has indexed the workspace.
    pub has_indexed: AtomicBool,
    /// The last server ended during a request, and no server has answered one since.
    is_suspect: AtomicBool,
    asked: Mutex<Option<Instant>>,
    /// When the oldest unanswered request was sent, if no other request was answered since.
    unanswered: Mutex<Option<Instant>>,
    documents: Mutex<DocumentSync>,
    /// Diagnostics by state of the texts.
    pub diagnostics_cache: DiagnosticsCache,
    /// The import graph, and the texts that it belongs to.
    pub import_graph: Mutex<Option<(Arc<Files>, Arc<ImportGraph>)>>,
}

/// The connection state.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// No query has needed the server yet, or for a long time.
    Idle,
    /// Not available now, but will be.
    Waiting(Missing),
    /// Not available until the user intervenes.
    Down(Missing),
    Up {
        client: Client,
        instance: u32,
    },
}

/// Why the server did not answer a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It could not: it is loading, restarting, missing, or out of time.
    Lacking(Missing),
    /// It refused, with this message.
    Refused(String),
}

/// Texts of a dry run. Dropping it restores the previous texts, also when the query is cancelled.
#[must_use]
pub(crate) struct Trial<'a>(&'a Session);

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        let session = self.0;
        let mut documents = session.documents();
        let tried = documents.end_trial();
        // Diagnostics pushed during the dry run belong to its texts.
        session.pushed.forget_files();
        let client = match &*session.link.borrow() {
            Link::Up { client, .. } => client.clone(),
            _ => return,
        };
        if let Some(slot) = client.try_slot().filter(|_| !tried.is_empty()) {
            slot.notify(&documents.preamble(&[]));
        }
    }
}

impl Failure {
    pub(crate) fn missing(self, session: &Session) -> Missing {
        match self {
            Failure::Lacking(missing) => missing,
            Failure::Refused(message) => {
                let detail = format!("{} did not answer: {message}", session.row.server());
                Missing::new(MissingCode::EngineDown, session.language.name, detail)
            }
        }
    }

    pub(crate) fn note(self, session: &Session, coverage: &mut Coverage) {
        coverage.lacks(self.missing(session));
    }
}

impl Session {
    pub(crate) fn new(
        service: Arc<Service>,
        language: LanguageId,
        row: Row,
        root: Root,
        trusted: bool,
        files: Arc<Files>,
    ) -> Session {
        let status = EngineStatus {
            condition: Condition::Idle,
            on_demand: true,
            ..EngineStatus::new(row.server(), language, State::Ready)
        };
        Session {
            environment: Mutex::new(Environment::new(&row, root.directory(), &files)),
            documents: Mutex::new(DocumentSync::new(root.clone(), service.clone(), files)),
            service,
            language,
            row,
            root,
            trusted,
            status: watch::Sender::new(status),
            link: watch::Sender::new(Link::Idle),
            capabilities: Mutex::default(),
            pushed: PushedDiagnostics::default(),
            gate: Arc::default(),
            wanted: Notify::new(),
            tags: Tags::default(),
            instances: AtomicU32::new(0),
            restarts: watch::Sender::new(0),
            up_since: Mutex::default(),
            answers: AtomicU32::new(0),
            internal_errors: InternalErrors::default(),
            commanded: Mutex::default(),
            has_indexed: AtomicBool::new(false),
            is_suspect: AtomicBool::new(false),
            asked: Mutex::default(),
            unanswered: Mutex::default(),
            diagnostics_cache: DiagnosticsCache::default(),
            import_graph: Mutex::default(),
        }
    }

    /// The files of the server's languages.
    pub(crate) fn own_of(&self, files: &Files) -> Vec<Arc<File>> {
        let languages = &self.service.languages;
        files.iter().filter(|it| it.language.is_some_and(|it| languages.contains(&it))).cloned().collect()
    }

    pub(crate) fn missing(&self, code: MissingCode, detail: impl Into<String>) -> Missing {
        Missing::new(code, self.language.name, detail)
    }

    pub(crate) fn documents(&self) -> MutexGuard<'_, DocumentSync> {
        self.documents.lock().unwrap_or_else(|poisoned| {
            // The state of the server's documents is unknown. A new server is sent everything.
            self.documents.clear_poison();
            if let Link::Up { client, .. } = &*self.link.borrow() {
                client.close("what it was told is not known after a fault of semdex");
            }
            poisoned.into_inner()
        })
    }

    pub(crate) fn has(&self, method: &str) -> bool {
        unpoisoned::lock(&self.capabilities).has(method)
    }

    /// Everything that determines the server's diagnostics of these texts.
    pub(crate) fn inputs_of(&self, files: &Files) -> Inputs {
        Inputs::new(files, self.instances.load(Ordering::Relaxed), *self.restarts.borrow())
    }

    /// Records that a query needs the server: it is started if necessary, and kept running.
    pub(crate) fn want(&self) {
        *unpoisoned::lock(&self.asked) = Some(Instant::now());
        self.wanted.notify_one();
    }

    /// The time since the last query.
    pub(crate) fn idle(&self) -> Duration {
        unpoisoned::lock(&self.asked).map_or(Duration::MAX, |it| it.elapsed())
    }

    pub(crate) fn feed(&self, files: Arc<Files>, changes: &[FileChange], is_on_disk: bool) {
        let mut documents = self.documents();
        documents.feed(files, changes, is_on_disk);
        let client = match &*self.link.borrow() {
            Link::Up { client, .. } => client.clone(),
            _ => return,
        };
        // Sent under the lock, so that notifications leave in the order of the changes. If the queue is full, they are
        // sent with the next request.
        if let Some(slot) = client.try_slot() {
            slot.notify(&documents.preamble(&[]));
        }
    }

    /// Replaces the texts of these files at the server until the guard is dropped.
    pub(crate) fn try_texts(&self, texts: BTreeMap<String, Arc<str>>) -> Trial<'_> {
        self.documents().begin_trial(texts);
        Trial(self)
    }

    /// Whether something that the server read at its start has changed since the last call. Then the server is
    /// restarted.
    pub(crate) fn check_environment(&self, files: &Arc<Files>) -> bool {
        let mut environment = self.environment.lock().unwrap_or_else(|poisoned| {
            let mut content = poisoned.into_inner();
            *content = Environment::new(&self.row, self.root.directory(), files);
            self.environment.clear_poison();
            content
        });
        let has_changed = environment.follow(files);
        drop(environment);
        if has_changed {
            self.restart();
        }
        has_changed
    }

    /// Restarts the server because something that it has read has changed.
    pub(crate) fn restart(&self) {
        let missing = self.restarting();
        self.documents().note_outside();
        self.link.send_if_modified(|link| {
            let is_up = matches!(link, Link::Up { .. });
            if is_up {
                *link = Link::Waiting(missing);
            }
            is_up
        });
        self.restarts.send_modify(|it| *it += 1);
    }

    /// Why a server that is being restarted does not answer yet.
    pub(crate) fn restarting(&self) -> Missing {
        let server = self.row.server();
        let detail =
            format!("{server} is started again: its configuration or what is installed for the workspace has changed");
        self.missing(MissingCode::EngineRestarting, detail)
    }

    /// A new server is started. Everything that is known about the previous one is reset.
    pub(crate) fn begin_instance(&self) -> u32 {
        self.answers.store(0, Ordering::Relaxed);
        self.has_indexed.store(false, Ordering::Relaxed);
        self.internal_errors.forget();
        *unpoisoned::lock(&self.unanswered) = None;
        self.instances.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The server is available from now on. Its first answer shows whether it works.
    pub(crate) fn publish(&self, client: Client, instance: u32) {
        *unpoisoned::lock(&self.up_since) = Some(Instant::now());
        self.link.send_replace(Link::Up { client, instance });
    }

    /// Whether the server has become available only recently, so that it may still be indexing.
    pub(crate) fn is_young(&self) -> bool {
        unpoisoned::lock(&self.up_since).is_none_or(|it| it.elapsed() < LEARNING)
    }

    /// The number of requests that the current or last server has answered.
    pub(crate) fn answers(&self) -> u32 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Whether the last server ended during a request. Then a successful start does not show that the server works.
    pub(crate) fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Relaxed)
    }

    /// The server has answered, so it is ready.
    fn note_answer(&self, instance: u32) {
        *unpoisoned::lock(&self.unanswered) = None;
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.is_suspect.store(false, Ordering::Relaxed);
        self.note_ready(instance);
    }

    pub(crate) fn note_ready(&self, instance: u32) {
        let is_up = matches!(&*self.link.borrow(), Link::Up { instance: now, .. } if *now == instance);
        self.status.send_if_modified(|status| {
            let is_news = is_up && (status.state, status.condition) != (State::Ready, Condition::Normal);
            if is_news {
                (status.state, status.condition) = (State::Ready, Condition::Normal);
                (status.progress, status.missing, status.warm) = (None, Vec::new(), true);
            }
            is_news
        });
    }

    /// A request passed its deadline unanswered. The server does not count as ready until it answers one.
    fn note_silence(&self, begun: Instant) {
        unpoisoned::lock(&self.unanswered).get_or_insert(begun);
        let stage = format!("{} does not answer", self.row.server());
        self.status.send_if_modified(|status| {
            let is_news = (status.state, status.condition) == (State::Ready, Condition::Normal);
            if is_news {
                status.state = State::Indexing;
                status.progress = Some(Progress { stage, done: 0, total: 0 });
            }
            is_news
        });
    }

    /// Waits until the server is ready.
    pub(crate) async fn ready(&self, deadline: Instant) -> Result<(Client, u32), Failure> {
        self.want();
        let mut link = self.link.subscribe();
        let settled = link.wait_for(|link| matches!(link, Link::Up { .. } | Link::Down(_)));
        let link = match tokio::time::timeout_at(deadline.into(), settled).await {
            Ok(Ok(link)) => link.clone(),
            Ok(Err(_)) => return Err(self.out_of_time()),
            Err(_) => self.link.borrow().clone(),
        };
        match link {
            Link::Up { client, instance } => Ok((client, instance)),
            Link::Waiting(missing) | Link::Down(missing) => Err(Failure::Lacking(missing)),
            Link::Idle => {
                let detail = format!("{} is being started: ask again, or give a longer `wait_ms`", self.row.server());
                Err(Failure::Lacking(self.missing(MissingCode::Indexing, detail)))
            }
        }
    }

    /// Sends a request, with these files open. If the server ends during it, repeats it once at the next server.
    pub(crate) async fn ask(
        &self,
        open: &[&str],
        method: &str,
        params: &Value,
        deadlines: Deadlines,
    ) -> Result<Value, Failure> {
        let mut crashes = 0;
        loop {
            let (client, instance) = self.ready(deadlines.ready).await?;
            let begun = Instant::now();
            let outcome = match client.slot(deadlines.answer).await {
                Ok(slot) => {
                    let answer = {
                        let mut documents = self.documents();
                        let current =
                            matches!(&*self.link.borrow(), Link::Up { instance: now, .. } if *now == instance);
                        if !current {
                            // The recorded documents already belong to the next server.
                            continue;
                        }
                        slot.plain(&documents.preamble(open), method, params)
                    };
                    let cancels = !self.row.is_uncancelled(method);
                    match answer.map(|it| if cancels { it } else { it.uncancelled() }) {
                        Ok(answer) => answer.before(deadlines.answer).await,
                        Err(error) => Err(error),
                    }
                }
                Err(error) => Err(error),
            };
            let reason: Arc<str> = match outcome {
                Ok(answer) => {
                    self.internal_errors.note_answer(method);
                    self.note_answer(instance);
                    return Ok(answer);
                }
                Err(RequestError::Refused { code, .. })
                    if PUT_OFF.contains(&code) && Instant::now() + AGAIN < deadlines.answer =>
                {
                    *unpoisoned::lock(&self.unanswered) = None;
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                Err(RequestError::Refused { code, .. }) if PUT_OFF.contains(&code) => return Err(self.out_of_time()),
                Err(RequestError::Refused { code: INTERNAL, message })
                    if self.internal_errors.note_refusal(method, params) =>
                {
                    let reason = format!("it refuses each `{method}`, which it answered before: {message}");
                    client.close(&reason);
                    reason.into()
                }
                Err(RequestError::Closed(reason)) => {
                    self.is_suspect.store(true, Ordering::Relaxed);
                    reason
                }
                Err(RequestError::Timeout) => {
                    self.note_silence(begun);
                    return Err(self.out_of_time());
                }
                Err(error) => {
                    self.note_answer(instance);
                    return Err(Failure::Refused(error.to_string()));
                }
            };
            crashes += 1;
            let missing = self.lost(instance, &reason);
            if crashes >= MAX_CRASHES {
                return Err(Failure::Lacking(missing));
            }
        }
    }

    /// How long the server has left a request unanswered.
    pub(crate) fn silence(&self) -> Duration {
        unpoisoned::lock(&self.unanswered).map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// Opens these files at the server. Returns the server's number.
    pub(crate) async fn open(&self, files: &[&str], deadlines: Deadlines) -> Result<u32, Failure> {
        let (client, instance) = self.ready(deadlines.ready).await?;
        let slot = client.slot(deadlines.answer).await.map_err(|error| match error {
            RequestError::Timeout => self.out_of_time(),
            other => Failure::Refused(other.to_string()),
        })?;
        let mut documents = self.documents();
        slot.notify(&documents.preamble(files));
        Ok(instance)
    }

    /// The server has ended. The first caller records it, and the supervisor starts the next server.
    pub(crate) fn lost(&self, instance: u32, reason: &str) -> Missing {
        let detail = format!("{} is being restarted: {reason}", self.row.server());
        let missing = self.missing(MissingCode::EngineRestarting, detail);
        let is_first = self.link.send_if_modified(|link| {
            let mine = matches!(link, Link::Up { instance: now, .. } if *now == instance);
            if mine {
                *link = Link::Waiting(missing.clone());
            }
            mine
        });
        self.status.send_if_modified(|status| {
            let was_ready = is_first && (status.state, status.condition) == (State::Ready, Condition::Normal);
            if was_ready {
                (status.state, status.condition) = (State::Degraded, Condition::Broken);
                status.missing = vec![missing.clone()];
            }
            was_ready
        });
        missing
    }

    /// Sends a small request to a server that has just started. If the last server ended during a request, only an
    /// answer to such a request shows that this one works.
    pub(crate) async fn probe(&self, client: &Client, instance: u32, deadline: Instant) {
        let Some(first) = self.first_file(&self.documents().files().clone()) else { return self.note_ready(instance) };
        let methods = ["textDocument/documentSymbol", "textDocument/definition"];
        let Some(method) = methods.into_iter().find(|it| self.has(it)) else { return self.note_ready(instance) };
        let start = json!({"line": 0, "character": 0});
        let params = json!({"textDocument": {"uri": self.root.uri(&first)}, "position": start});
        let Ok(slot) = client.slot(deadline).await else { return };
        let pending = {
            let mut documents = self.documents();
            if !matches!(&*self.link.borrow(), Link::Up { instance: now, .. } if *now == instance) {
                return;
            }
            slot.plain(&documents.preamble(&[&first]), method, &params)
        };
        let Ok(pending) = pending else { return };
        match pending.before(deadline).await {
            Err(RequestError::Closed(_)) => self.is_suspect.store(true, Ordering::Relaxed),
            Err(RequestError::Timeout) => {}
            _ if self.is_suspect() => {}
            _ => self.note_ready(instance),
        }
    }

    /// The server's root directories.
    pub(crate) fn folders(&self) -> Vec<String> {
        let files = self.documents().files().clone();
        environment::folders(&self.row, &files)
    }

    /// A file of the server's languages: some servers load nothing before one is open.
    pub(crate) fn first_file(&self, files: &Files) -> Option<String> {
        files.iter().find(|it| self.service.row_of(&it.path).is_some()).map(|it| it.path.to_string())
    }

    pub(crate) fn out_of_time(&self) -> Failure {
        let detail = format!("{} did not answer in time: ask again with a longer `wait_ms`", self.row.server());
        Failure::Lacking(self.missing(MissingCode::Timeout, detail))
    }
}
