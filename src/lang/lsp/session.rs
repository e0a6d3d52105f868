//! One language server and everybody who asks it: questions in order, answers for one revision, nothing lost when it dies.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{Notify, RwLock, watch};

use super::capabilities::Capabilities;
use super::document_sync::DocumentSync;
use super::table::{Row, Service, base_name};
use super::wire::Root;
use crate::lang::engine::FileChange;
use crate::lang::files::Files;
use crate::lang::{Condition, Deadlines, EngineStatus, sound};
use crate::lsp::{Client, RequestError};
use crate::model::{Coverage, LanguageId, Missing, MissingCode, State};

/// A server that dies over a question is asked once more, and then not again.
const MOST_DEATHS: u32 = 2;
/// Of a workspace with more roots the workspace itself is the only one.
const MOST_FOLDERS: usize = 20;

pub struct Session {
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
    /// So many were started.
    pub lives: AtomicU32,
    asked: Mutex<Option<Instant>>,
    /// Since when a question has no answer, where none has come to another meanwhile.
    unanswered: Mutex<Option<Instant>>,
    documents: Mutex<DocumentSync>,
}

/// The way to the server.
#[derive(Debug, Clone)]
pub enum Link {
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

/// The diagnostics that a server tells unasked.
#[derive(Default)]
pub struct Pushed {
    by_file: Mutex<HashMap<String, Push>>,
    /// Whether the server is at work on a file, where it says so, and when it said so last.
    busy: Mutex<(HashMap<String, bool>, Option<Instant>)>,
    /// Told after each.
    pub news: Notify,
}

#[derive(Debug, Clone)]
pub struct Push {
    pub version: Option<i64>,
    pub items: Vec<Value>,
    pub at: Instant,
}

impl Pushed {
    pub fn take(&self, file: String, push: Push) {
        sound::lock(&self.by_file).insert(file, push);
        self.news.notify_waiters();
    }

    pub fn of(&self, file: &str) -> Option<Push> {
        sound::lock(&self.by_file).get(file).cloned()
    }

    pub fn note_busy(&self, file: String, is_busy: bool) {
        let mut busy = sound::lock(&self.busy);
        busy.0.insert(file, is_busy);
        busy.1 = Some(Instant::now());
        drop(busy);
        self.news.notify_waiters();
    }

    /// Whether it is at work on any file, and since when not: what it says of one file follows what it does with others.
    pub fn is_busy(&self) -> Option<(bool, Instant)> {
        let busy = sound::lock(&self.busy);
        busy.1.map(|at| (busy.0.values().any(|it| *it), at))
    }

    pub fn clear(&self) {
        *sound::lock(&self.busy) = (HashMap::new(), None);
        sound::lock(&self.by_file).clear();
    }
}

/// Why the server did not answer a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// It could not: it is loading, restarting, not there, or out of time.
    Lacking(Missing),
    /// It would not, for a reason that is its own.
    Refused(String),
}

impl Failure {
    pub fn missing(self, session: &Session) -> Missing {
        match self {
            Failure::Lacking(missing) => missing,
            Failure::Refused(message) => {
                let detail = format!("{} did not answer: {message}", session.row.server());
                Missing::new(MissingCode::EngineDown, session.language.name, detail)
            }
        }
    }

    pub fn note(self, session: &Session, coverage: &mut Coverage) {
        coverage.lacks(self.missing(session));
    }
}

impl Session {
    pub fn new(
        service: Arc<Service>,
        language: LanguageId,
        row: Row,
        root: Root,
        trusted: bool,
        files: Arc<Files>,
    ) -> Session {
        let status =
            EngineStatus { condition: Condition::Idle, ..EngineStatus::new(row.server(), language, State::Ready) };
        Session {
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
            lives: AtomicU32::new(0),
            asked: Mutex::default(),
            unanswered: Mutex::default(),
        }
    }

    pub fn missing(&self, code: MissingCode, detail: impl Into<String>) -> Missing {
        Missing::new(code, self.language.name, detail)
    }

    pub fn documents(&self) -> MutexGuard<'_, DocumentSync> {
        self.documents.lock().unwrap_or_else(|poisoned| {
            // What the server was told is not known any more: the next one is told all.
            self.documents.clear_poison();
            if let Link::Up { client, .. } = &*self.link.borrow() {
                client.close("what it was told is not known after a fault of semdex");
            }
            poisoned.into_inner()
        })
    }

    pub fn has(&self, method: &str) -> bool {
        sound::lock(&self.capabilities).has(method)
    }

    /// Somebody asks: the server is started where it is not up, and stays.
    pub fn want(&self) {
        *sound::lock(&self.asked) = Some(Instant::now());
        self.wanted.notify_one();
    }

    /// How long nobody has asked.
    pub fn idle(&self) -> Duration {
        sound::lock(&self.asked).map_or(Duration::MAX, |it| it.elapsed())
    }

    pub fn feed(&self, files: Arc<Files>, changes: &[FileChange], is_on_disk: bool) {
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

    /// Brings back what was tried.
    pub fn end_trial(&self) {
        let mut documents = self.documents();
        let tried = documents.end_trial();
        let client = match &*self.link.borrow() {
            Link::Up { client, .. } => client.clone(),
            _ => return,
        };
        if let Some(slot) = client.try_slot().filter(|_| !tried.is_empty()) {
            slot.notify(&documents.preamble(&[]));
        }
    }

    /// Waits until the server is up and can be believed.
    pub async fn ready(&self, deadline: Instant) -> Result<(Client, u32), Failure> {
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
    pub async fn ask(
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
                    match answer {
                        Ok(answer) => answer.before(deadlines.answer).await,
                        Err(error) => Err(error),
                    }
                }
                Err(error) => Err(error),
            };
            match outcome {
                Ok(answer) => {
                    *sound::lock(&self.unanswered) = None;
                    return Ok(answer);
                }
                Err(RequestError::Closed(reason)) => {
                    deaths += 1;
                    let missing = self.lost(life, &reason);
                    if deaths >= MOST_DEATHS {
                        return Err(Failure::Lacking(missing));
                    }
                }
                Err(RequestError::Timeout) => {
                    sound::lock(&self.unanswered).get_or_insert(begun);
                    return Err(self.out_of_time());
                }
                Err(error) => {
                    *sound::lock(&self.unanswered) = None;
                    return Err(Failure::Refused(error.to_string()));
                }
            }
        }
    }

    /// How long the server has left a question unanswered.
    pub fn silence(&self) -> Duration {
        sound::lock(&self.unanswered).map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// Another server is asked from now on.
    pub fn forget_silence(&self) {
        *sound::lock(&self.unanswered) = None;
    }

    /// Tells the server which files are open from now on. Answers with its number.
    pub async fn open(&self, files: &[&str], deadlines: Deadlines) -> Result<u32, Failure> {
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
    pub fn lost(&self, life: u32, reason: &str) -> Missing {
        let detail = format!("{} is being restarted: {reason}", self.row.server());
        let missing = self.missing(MissingCode::EngineRestarting, detail);
        self.link.send_if_modified(|link| {
            let mine = matches!(link, Link::Up { life: now, .. } if *now == life);
            if mine {
                *link = Link::Waiting(missing.clone());
            }
            mine
        });
        missing
    }

    /// The directories that the server takes for roots: the workspace's own, or those below it that a marker makes one.
    pub fn folders(&self) -> Vec<String> {
        let files = self.documents().files().clone();
        let markers = |it: &Option<Vec<String>>| it.clone().unwrap_or_default();
        let (roots, excluded) = (markers(&self.row.keys.roots), markers(&self.row.keys.exclude));
        let directory = |path: &str| path.rsplit_once('/').map_or("", |it| it.0).to_owned();
        let of = |names: &[String]| -> BTreeSet<String> {
            let marked = files.iter().filter(|it| names.iter().any(|name| name == base_name(&it.path)));
            marked.map(|it| directory(&it.path)).collect()
        };
        let excluded = of(&excluded);
        let found: Vec<String> = of(&roots).into_iter().filter(|it| !excluded.contains(it)).collect();
        // The outermost: a server finds those within by itself.
        let is_within = |it: &String, outer: &String| outer.is_empty() || it.starts_with(&format!("{outer}/"));
        let outermost: Vec<String> = found
            .iter()
            .filter(|it| !found.iter().any(|outer| outer != *it && is_within(it, outer)))
            .cloned()
            .collect();
        if outermost.is_empty() || outermost.len() > MOST_FOLDERS { vec![String::new()] } else { outermost }
    }

    /// A file of its languages: some servers load nothing before one is open.
    pub fn first_file(&self, files: &Files) -> Option<String> {
        files.iter().find(|it| self.service.row_of(&it.path).is_some()).map(|it| it.path.to_string())
    }

    pub fn next_life(&self) -> u32 {
        self.lives.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub fn out_of_time(&self) -> Failure {
        let detail = format!("{} did not answer in time: ask again with a longer wait", self.row.server());
        Failure::Lacking(self.missing(MissingCode::Timeout, detail))
    }
}
