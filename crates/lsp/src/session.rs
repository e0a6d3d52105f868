//! One language server and everybody who asks it: questions in order, answers for one revision, nothing lost when it dies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Notify, RwLock, watch};

use super::capabilities::Capabilities;
use super::diagnostics_cache::{Checked, Inputs};
use super::document_sync::DocumentSync;
use super::environment::{self, Environment};
use super::import_graph::ImportGraph;
use super::internal_errors::{INTERNAL, Refusals};
use super::pushed_diagnostics::Pushed;
use super::table::{Row, Service};
use super::tags::Tags;
use super::wire::Root;
use semdex_engine::files::{File, Files};
use semdex_engine::{Condition, Deadlines, EngineStatus, FileChange, Progress, unpoisoned};
use semdex_lsp_client::{Client, RequestError};
use semdex_model::{Coverage, LanguageId, Missing, MissingCode, State};

/// A server that dies over a question is asked once more, and then not again.
const MOST_DEATHS: u32 = 2;
/// A server that has just come up may not know everything yet, and is asked again.
const LEARNING: Duration = Duration::from_secs(5);
/// What a server puts off because something changed is asked again after so long.
const AGAIN: Duration = Duration::from_millis(50);
/// `ContentModified` and `ServerCancelled`: the server gives the question back unanswered.
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
    /// What the server has pushed, by file.
    pub pushed: Pushed,
    /// Held for reading by every question, and exclusively by a dry run: nobody else sees its state.
    pub gate: Arc<RwLock<()>>,
    /// Somebody asks.
    pub wanted: Notify,
    /// The names in each text.
    pub tags: Tags,
    /// So many were started.
    pub lives: AtomicU32,
    /// Rises when the server has to begin anew, though nothing is wrong with it: what it has read is another now.
    pub renewals: watch::Sender<u32>,
    /// What the server read besides the texts, as it was when it was last looked at.
    environment: Mutex<Environment>,
    /// Since when the server is up.
    up_since: Mutex<Option<Instant>>,
    /// So many questions this server has answered.
    answers: AtomicU32,
    /// What this server refuses, though it answered such questions before.
    refusals: Refusals,
    /// The edits that a command has come to, while one is carried out. They are taken for its answer, and made by nobody.
    pub commanded: Mutex<Option<Vec<Value>>>,
    /// It has shown that it knows the workspace.
    pub is_proved: AtomicBool,
    /// The last server died over a question, and none has answered one since.
    is_suspect: AtomicBool,
    asked: Mutex<Option<Instant>>,
    /// Since when a question has no answer, where none has come to another meanwhile.
    unanswered: Mutex<Option<Instant>>,
    documents: Mutex<DocumentSync>,
    /// What was said against files.
    pub checked: Checked,
    /// Who imports whom, and in which texts.
    pub import_graph: Mutex<Option<(Arc<Files>, Arc<ImportGraph>)>>,
}

/// The way to the server.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// Nobody has asked yet, or not for long.
    Idle,
    /// Not now; it will come up.
    Waiting(Missing),
    /// Not until someone does something.
    Down(Missing),
    Up {
        client: Client,
        life: u32,
    },
}

/// Why the server did not answer a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It could not: it is loading, restarting, not there, or out of time.
    Lacking(Missing),
    /// It would not, for a reason that is its own.
    Refused(String),
}

/// Texts that are only tried. Dropped, also by who goes away in the middle of it, they are taken back.
#[must_use]
pub(crate) struct Trial<'a>(&'a Session);

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        let session = self.0;
        let mut documents = session.documents();
        let tried = documents.end_trial();
        // What was pushed meanwhile speaks of texts that never were.
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
            pushed: Pushed::default(),
            gate: Arc::default(),
            wanted: Notify::new(),
            tags: Tags::default(),
            lives: AtomicU32::new(0),
            renewals: watch::Sender::new(0),
            up_since: Mutex::default(),
            answers: AtomicU32::new(0),
            refusals: Refusals::default(),
            commanded: Mutex::default(),
            is_proved: AtomicBool::new(false),
            is_suspect: AtomicBool::new(false),
            asked: Mutex::default(),
            unanswered: Mutex::default(),
            checked: Checked::default(),
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
            // What the server was sent is not known any more: the next one is sent all.
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

    /// What decides all that the server says of these texts.
    pub(crate) fn inputs_of(&self, files: &Files) -> Inputs {
        Inputs::new(files, self.lives.load(Ordering::Relaxed), *self.renewals.borrow())
    }

    /// Somebody asks: the server is started where it is not up, and stays.
    pub(crate) fn want(&self) {
        *unpoisoned::lock(&self.asked) = Some(Instant::now());
        self.wanted.notify_one();
    }

    /// How long nobody has asked.
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
        // Sent under the lock, so that notes leave in the order of the changes. With a full queue they are sent with
        // the next question.
        if let Some(slot) = client.try_slot() {
            slot.notify(&documents.preamble(&[]));
        }
    }

    /// Has the server take these texts for those of the files, until the guard is dropped.
    pub(crate) fn try_texts(&self, texts: BTreeMap<String, Arc<str>>) -> Trial<'_> {
        self.documents().begin_trial(texts);
        Trial(self)
    }

    /// Whether what the server read when it was started is another than when this was last asked; then it begins anew.
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
            self.renew();
        }
        has_changed
    }

    /// Has the server begin anew: what it has read is another.
    pub(crate) fn renew(&self) {
        let missing = self.renewing();
        self.documents().note_outside();
        self.link.send_if_modified(|link| {
            let is_up = matches!(link, Link::Up { .. });
            if is_up {
                *link = Link::Waiting(missing);
            }
            is_up
        });
        self.renewals.send_modify(|it| *it += 1);
    }

    /// Why a server that is begun anew does not answer yet.
    pub(crate) fn renewing(&self) -> Missing {
        let server = self.row.server();
        let detail =
            format!("{server} is started anew: its configuration or what is installed for the workspace has changed");
        self.missing(MissingCode::EngineRestarting, detail)
    }

    /// Another server is started: nothing is known of it.
    pub(crate) fn begin_life(&self) -> u32 {
        self.answers.store(0, Ordering::Relaxed);
        self.is_proved.store(false, Ordering::Relaxed);
        self.refusals.forget();
        *unpoisoned::lock(&self.unanswered) = None;
        self.lives.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The server is up and may be asked from now on. Whether it can be believed shows once it has answered.
    pub(crate) fn hand_out(&self, client: Client, life: u32) {
        *unpoisoned::lock(&self.up_since) = Some(Instant::now());
        self.link.send_replace(Link::Up { client, life });
    }

    /// Whether the server has come up just now, so that it may still be learning.
    pub(crate) fn is_young(&self) -> bool {
        unpoisoned::lock(&self.up_since).is_none_or(|it| it.elapsed() < LEARNING)
    }

    /// So many questions the server that is or was up last has answered.
    pub(crate) fn answers(&self) -> u32 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Whether the last server died over a question: that the next one is started says nothing of it.
    pub(crate) fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Relaxed)
    }

    /// It has answered: it is as ready as it can be.
    fn note_answer(&self, life: u32) {
        *unpoisoned::lock(&self.unanswered) = None;
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.is_suspect.store(false, Ordering::Relaxed);
        self.note_ready(life);
    }

    pub(crate) fn note_ready(&self, life: u32) {
        let is_up = matches!(&*self.link.borrow(), Link::Up { life: now, .. } if *now == life);
        self.status.send_if_modified(|status| {
            let is_news = is_up && (status.state, status.condition) != (State::Ready, Condition::Normal);
            if is_news {
                (status.state, status.condition) = (State::Ready, Condition::Normal);
                (status.progress, status.missing, status.warm) = (None, Vec::new(), true);
            }
            is_news
        });
    }

    /// A question came to its deadline unanswered: until one is answered nobody can say that the server is ready.
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

    /// Waits until the server is up and can be believed.
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
            Link::Up { client, life } => Ok((client, life)),
            Link::Waiting(missing) | Link::Down(missing) => Err(Failure::Lacking(missing)),
            Link::Idle => {
                let detail = format!("{} is being started: ask again, or give a longer `wait_ms`", self.row.server());
                Err(Failure::Lacking(self.missing(MissingCode::Indexing, detail)))
            }
        }
    }

    /// Asks one question, with these files open. Where the server dies over it, asks the next one, once.
    pub(crate) async fn ask(
        &self,
        open: &[&str],
        method: &str,
        params: &Value,
        deadlines: Deadlines,
    ) -> Result<Value, Failure> {
        let mut deaths = 0;
        loop {
            let (client, life) = self.ready(deadlines.ready).await?;
            let begun = Instant::now();
            let outcome = match client.slot(deadlines.answer).await {
                Ok(slot) => {
                    let answer = {
                        let mut documents = self.documents();
                        let current = matches!(&*self.link.borrow(), Link::Up { life: now, .. } if *now == life);
                        if !current {
                            // What is known of its documents speaks of the next server already.
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
                    self.refusals.note_answer(method);
                    self.note_answer(life);
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
                    if self.refusals.note_refusal(method, params) =>
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
                    self.note_answer(life);
                    return Err(Failure::Refused(error.to_string()));
                }
            };
            deaths += 1;
            let missing = self.lost(life, &reason);
            if deaths >= MOST_DEATHS {
                return Err(Failure::Lacking(missing));
            }
        }
    }

    /// How long the server has left a question unanswered.
    pub(crate) fn silence(&self) -> Duration {
        unpoisoned::lock(&self.unanswered).map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// Tells the server which files are open from now on. Answers with its number.
    pub(crate) async fn open(&self, files: &[&str], deadlines: Deadlines) -> Result<u32, Failure> {
        let (client, life) = self.ready(deadlines.ready).await?;
        let slot = client.slot(deadlines.answer).await.map_err(|error| match error {
            RequestError::Timeout => self.out_of_time(),
            other => Failure::Refused(other.to_string()),
        })?;
        let mut documents = self.documents();
        slot.notify(&documents.preamble(files));
        Ok(life)
    }

    /// This server is gone. Whoever sees it first says so; the supervisor brings the next.
    pub(crate) fn lost(&self, life: u32, reason: &str) -> Missing {
        let detail = format!("{} is being restarted: {reason}", self.row.server());
        let missing = self.missing(MissingCode::EngineRestarting, detail);
        let is_first = self.link.send_if_modified(|link| {
            let mine = matches!(link, Link::Up { life: now, .. } if *now == life);
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

    /// Puts a small question to a server that has just come up. Where the last one died over a question, only an answer to
    /// such a one tells that this one is well.
    pub(crate) async fn probe(&self, client: &Client, life: u32, deadline: Instant) {
        let Some(first) = self.first_file(&self.documents().files().clone()) else { return self.note_ready(life) };
        let methods = ["textDocument/documentSymbol", "textDocument/definition"];
        let Some(method) = methods.into_iter().find(|it| self.has(it)) else { return self.note_ready(life) };
        let start = json!({"line": 0, "character": 0});
        let params = json!({"textDocument": {"uri": self.root.uri(&first)}, "position": start});
        let Ok(slot) = client.slot(deadline).await else { return };
        let pending = {
            let mut documents = self.documents();
            if !matches!(&*self.link.borrow(), Link::Up { life: now, .. } if *now == life) {
                return;
            }
            slot.plain(&documents.preamble(&[&first]), method, &params)
        };
        let Ok(pending) = pending else { return };
        match pending.before(deadline).await {
            Err(RequestError::Closed(_)) => self.is_suspect.store(true, Ordering::Relaxed),
            Err(RequestError::Timeout) => {}
            _ if self.is_suspect() => {}
            _ => self.note_ready(life),
        }
    }

    /// The directories that the server takes for roots.
    pub(crate) fn folders(&self) -> Vec<String> {
        let files = self.documents().files().clone();
        environment::folders(&self.row, &files)
    }

    /// A file of its languages: some servers load nothing before one is open.
    pub(crate) fn first_file(&self, files: &Files) -> Option<String> {
        files.iter().find(|it| self.service.row_of(&it.path).is_some()).map(|it| it.path.to_string())
    }

    pub(crate) fn out_of_time(&self) -> Failure {
        let detail = format!("{} did not answer in time: ask again with a longer wait", self.row.server());
        Failure::Lacking(self.missing(MissingCode::Timeout, detail))
    }
}
