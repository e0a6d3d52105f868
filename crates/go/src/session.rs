//! One gopls and everybody who asks it: questions in order, answers for one revision, nothing lost when it dies.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock as RwLockStd};
use std::time::Instant;

use gen_lsp_types::Request;
use tokio::sync::{Notify, RwLock, watch};

use super::answer_cache::Cache;
use super::build_constraints::BuildContext;
use super::build_inputs::BuildInputs;
use super::checker::Checker;
use super::document_sync::{self, DocumentSync};
use super::identifier_index::Identifiers;
use super::invalidate::{self, Invalidation, UnitStore};
use super::layout::Layout;
use super::lsp_conversion::Root;
use super::process::MemoryLimit;
use super::toolchain::Toolchain;
use super::usage_index::Index;
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, EngineStatus, FileChange, unpoisoned};
use semdex_lsp_client::{Client, RequestError};
use semdex_model::{Coverage, Missing, MissingCode, State};
use semdex_process::fault;

pub(crate) const SCOPE: &str = "go";

pub(crate) struct Session {
    pub root: Root,
    pub trusted: bool,
    /// As the configuration has it.
    memory_limit: Option<u64>,
    pub status: watch::Sender<EngineStatus>,
    pub link: watch::Sender<Link>,
    pub cache: Cache,
    pub identifiers: Identifiers,
    pub index: Index,
    pub units: UnitStore,
    pub checker: Checker,
    /// What gopls finds wrong with `go.mod` and `go.work` files, as far as it has said.
    manifest_errors: Mutex<BTreeMap<String, String>>,
    layout: Mutex<Option<Kept>>,
    toolchain: RwLockStd<Option<Arc<Toolchain>>>,
    /// Counts how often Go's environment was another.
    pub environment: watch::Sender<u64>,
    /// Held for reading by every question, and exclusively by a dry run: nobody else sees its state.
    pub gate: Arc<RwLock<()>>,
    /// Notified after every change of what is Go's.
    pub fed: Notify,
    /// So many gopls were started.
    pub lives: AtomicU32,
    documents: Mutex<DocumentSync>,
}

/// A layout, what it was asked for last, and whether it was known then what is built for.
struct Kept {
    files: Arc<Files>,
    known: bool,
    layout: Arc<Layout>,
}

/// The way to gopls.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// Not now; it will come up.
    Waiting(Missing),
    /// Not until someone does something.
    Down(Missing),
    /// Loaded and listening.
    Up { client: Client, life: u32 },
}

/// Why gopls did not answer a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It could not: it is loading, restarting, not there, or out of time.
    Lacking(Missing),
    /// It found that there can be no answer: no name stands there, or what is named is of another kind.
    Inapplicable(String),
    /// It would not, for a reason that is its own.
    Refused(String),
}

/// How gopls says that a question makes no sense where it is asked. Every other refusal is a fault, and what was asked
/// for is not known.
const INAPPLICABLE: [&str; 6] = [
    "no identifier found",
    "identifier not found",
    "no object found",
    "not a type",
    "is a function, not a method",
    "is not a function",
];

impl Failure {
    /// The answer stays empty there, and says so.
    pub(crate) fn note(self, coverage: &mut Coverage) {
        coverage.lacks(self.missing());
    }

    fn of_refusal(message: String) -> Failure {
        if INAPPLICABLE.iter().any(|it| message.contains(it)) {
            Failure::Inapplicable(message)
        } else {
            Failure::Refused(message)
        }
    }

    pub(crate) fn missing(self) -> Missing {
        match self {
            Failure::Lacking(missing) => missing,
            Failure::Inapplicable(message) | Failure::Refused(message) => {
                Missing::new(MissingCode::Unsupported, SCOPE, format!("gopls did not answer: {message}"))
            }
        }
    }
}

impl Session {
    pub(crate) fn new(
        root: Root,
        trusted: bool,
        memory_limit: Option<u64>,
        files: Arc<Files>,
        status: EngineStatus,
    ) -> Session {
        let starting = Missing::new(MissingCode::Indexing, SCOPE, "gopls is being started");
        Session {
            documents: Mutex::new(DocumentSync::new(root.clone(), files)),
            root,
            trusted,
            memory_limit,
            status: watch::Sender::new(status),
            link: watch::Sender::new(Link::Waiting(starting)),
            cache: Cache::default(),
            identifiers: Identifiers::default(),
            index: Index::default(),
            units: UnitStore::default(),
            checker: Checker::default(),
            manifest_errors: Mutex::default(),
            layout: Mutex::default(),
            toolchain: RwLockStd::default(),
            environment: watch::Sender::new(0),
            gate: Arc::default(),
            fed: Notify::new(),
            lives: AtomicU32::new(0),
        }
    }

    /// Of gopls, and of the checker.
    pub(crate) fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::new(self.memory_limit, self.documents().text_bytes())
    }

    pub(crate) fn documents(&self) -> MutexGuard<'_, DocumentSync> {
        self.documents.lock().unwrap_or_else(|poisoned| {
            // What gopls was sent is not known any more: the next one is sent all.
            self.documents.clear_poison();
            if let Link::Up { client, .. } = &*self.link.borrow() {
                client.close("what it was told is not known after a fault of semdex");
            }
            poisoned.into_inner()
        })
    }

    /// What `go env` said; none as long as it has not been asked.
    pub(crate) fn toolchain(&self) -> Option<Arc<Toolchain>> {
        self.toolchain.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn know_toolchain(&self, toolchain: Toolchain) {
        // What is built was worked out for another.
        *self.layout.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.toolchain.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(toolchain));
    }

    /// How the go command sees these files: worked out once for the newest.
    pub(crate) fn layout(&self, files: &Arc<Files>) -> Arc<Layout> {
        let known = self.toolchain().is_some();
        let mut kept = unpoisoned::lock(&self.layout);
        match &mut *kept {
            // What was worked out before Go said what it builds for may be wrong.
            Some(kept) if kept.known == known && document_sync::are_same(&kept.files, files) => {
                kept.files = files.clone();
                kept.layout.clone()
            }
            _ => {
                let layout = Arc::new(Layout::of(files.clone(), &self.context()));
                *kept = Some(Kept { files: files.clone(), known, layout: layout.clone() });
                layout
            }
        }
    }

    pub(crate) fn manifest_errors(&self) -> BTreeMap<String, String> {
        self.manifest_errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_manifest(&self, file: String, error: Option<String>) {
        let mut errors = self.manifest_errors.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            Some(error) => errors.insert(file, error),
            None => errors.remove(&file),
        };
    }

    /// What is built for; this machine as long as nothing else is known.
    pub(crate) fn context(&self) -> BuildContext {
        self.toolchain().map_or_else(BuildContext::host, |it| it.context.clone())
    }

    /// Notes a change and tells gopls at once if that needs no waiting; else it is sent with the next question.
    pub(crate) fn feed(&self, files: Arc<Files>, changes: &[FileChange]) {
        let before = self.documents().files().clone();
        let beside = BuildInputs::new(files.clone());
        let beside: Vec<FileChange> = changes.iter().filter(|it| beside.concerns(it)).cloned().collect();
        let of_go: Vec<&FileChange> = changes.iter().filter(|it| document_sync::matters(&it.path)).collect();
        if of_go.is_empty() {
            self.documents().feed(files, changes);
            return self.feed_beside(&beside);
        }
        let touch = invalidate::of(&self.units, &before, &files, &of_go, document_sync::header);
        if of_go.iter().any(|it| document_sync::is_manifest(&it.path)) {
            self.note_loading();
        }
        let mut documents = self.documents();
        let files_now = files.clone();
        documents.feed(files, changes);
        self.cache.forget(documents.generation());
        self.index.carry(documents.generation(), &touch, documents.files());
        self.units.prune(documents.files());
        self.identifiers.prune(documents.files());
        self.tell(&mut documents);
        self.checker.feed(&self.context(), &files_now, &of_go);
        drop(documents);
        self.fed.notify_waiters();
        self.feed_beside(&beside);
    }

    fn feed_beside(&self, changes: &[FileChange]) {
        if !changes.is_empty() {
            self.feed_outside(changes);
        }
    }

    /// What the workspace's build reads elsewhere, or beside the texts of Go, is another: of these nothing changed, and
    /// everything that was found out of them may have.
    pub(crate) fn feed_outside(&self, changes: &[FileChange]) {
        self.note_loading();
        let mut documents = self.documents();
        documents.feed_outside(changes);
        self.cache.forget(documents.generation());
        self.index.carry(documents.generation(), &Invalidation::Everything, documents.files());
        self.tell(&mut documents);
        self.checker.load_anew();
        drop(documents);
        self.fed.notify_waiters();
    }

    /// Whether Go's environment has changed since it was last looked at; then gopls and the checker begin anew with it.
    pub(crate) fn check_environment(&self) -> bool {
        let has_changed = self.toolchain().is_some_and(|it| it.has_changed());
        if has_changed {
            let detail = "Go's environment has changed: gopls is started with the new one";
            let waiting = Link::Waiting(Missing::new(MissingCode::EngineRestarting, SCOPE, detail));
            self.link.send_if_modified(|it| {
                let is_up = matches!(it, Link::Up { .. });
                if is_up {
                    *it = waiting;
                }
                is_up
            });
            self.forget_toolchain();
            self.feed_outside(&[]);
            self.environment.send_modify(|it| *it += 1);
        }
        has_changed
    }

    fn forget_toolchain(&self) {
        *self.toolchain.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Ends a dry run.
    pub(crate) fn take_back(&self) {
        let mut documents = self.documents();
        documents.take_back();
        self.tell(&mut documents);
    }

    /// Sent under the documents's lock, so that notes leave in the order of the documents; and to the gopls that the documents
    /// speaks of, for the supervisor lets go of a dead one before it begins the documents anew.
    fn tell(&self, documents: &mut DocumentSync) {
        let client = match &*self.link.borrow() {
            Link::Up { client, .. } => client.clone(),
            Link::Waiting(_) | Link::Down(_) => return,
        };
        if let Some(slot) = client.try_slot() {
            slot.notify(&documents.preamble(&[]));
        }
    }

    /// Whether gopls is not on its way: it is up, or will not come before somebody does something.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(&*self.link.borrow(), Link::Waiting(_)) || !self.documents().has_go()
    }

    /// gopls has loaded, the index holds all usages, and the checker is there, if it can be.
    pub(crate) fn note_ready(&self) {
        let is_up = matches!(&*self.link.borrow(), Link::Up { .. });
        self.status.send_if_modified(|status| {
            let is_new = is_up && status.state == State::Indexing;
            if is_new {
                status.state = State::Ready;
                status.progress = None;
            }
            status.warm |= is_new;
            is_new
        });
    }

    /// What was ready is not: modules are loaded anew.
    fn note_loading(&self) {
        self.status.send_if_modified(|status| {
            let was_ready = status.state == State::Ready;
            if was_ready {
                status.state = State::Indexing;
            }
            was_ready
        });
    }

    /// Waits until gopls is up and its load is done.
    pub(crate) async fn ready(&self, deadline: Instant) -> Result<(Client, u32), Failure> {
        let mut link = self.link.subscribe();
        let settled = link.wait_for(|link| !matches!(link, Link::Waiting(_)));
        let link = match tokio::time::timeout_at(deadline.into(), settled).await {
            Ok(Ok(link)) => link.clone(),
            Ok(Err(_)) => return Err(self.out_of_time()),
            Err(_) => self.link.borrow().clone(),
        };
        match link {
            Link::Up { client, life } => Ok((client, life)),
            Link::Waiting(missing) | Link::Down(missing) => Err(Failure::Lacking(missing)),
        }
    }

    /// Asks one question, with these files open. Where gopls dies over it, asks the next one, until the deadline.
    pub(crate) async fn ask<R: Request>(
        &self,
        open: &[&str],
        params: &R::Params,
        deadlines: Deadlines,
    ) -> Result<R::Result, Failure> {
        loop {
            let (client, life) = self.ready(deadlines.ready).await?;
            let outcome = match client.slot(deadlines.answer).await {
                Ok(slot) => {
                    let answer = {
                        let mut documents = self.documents();
                        let current = matches!(&*self.link.borrow(), Link::Up { life: now, .. } if *now == life);
                        if !current {
                            // The documents already speaks of the next gopls.
                            continue;
                        }
                        fault::point("go.documents");
                        slot.request::<R>(&documents.preamble(open), params)
                    };
                    match answer {
                        Ok(answer) => answer.before(deadlines.answer).await,
                        Err(error) => Err(error),
                    }
                }
                Err(error) => Err(error),
            };
            match outcome {
                Ok(answer) => return Ok(answer),
                Err(RequestError::Closed(reason)) => self.lost(life, &reason),
                Err(RequestError::Timeout) => return Err(self.out_of_time()),
                Err(RequestError::Refused { message, .. }) => return Err(Failure::of_refusal(message)),
                Err(error @ RequestError::Malformed(_)) => return Err(Failure::Refused(error.to_string())),
            }
        }
    }

    /// This gopls is gone. Whoever sees it first says so; the supervisor brings the next.
    pub(crate) fn lost(&self, life: u32, reason: &str) {
        let missing = Missing::new(MissingCode::EngineRestarting, SCOPE, format!("gopls is being restarted: {reason}"));
        self.link.send_if_modified(|link| {
            let mine = matches!(link, Link::Up { life: now, .. } if *now == life);
            if mine {
                *link = Link::Waiting(missing);
            }
            mine
        });
    }

    fn out_of_time(&self) -> Failure {
        Failure::Lacking(Missing::new(
            MissingCode::Timeout,
            SCOPE,
            "gopls did not answer in time: ask again with a longer wait",
        ))
    }
}
