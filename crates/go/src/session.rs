//! The session with one gopls: ordered requests, answers for one revision, and retries when gopls dies.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock as RwLockStd};
use std::time::{Duration, Instant};

use gen_lsp_types::Request;
use tokio::sync::{Notify, RwLock, watch};

use super::answer_cache::Cache;
use super::build_constraints::BuildContext;
use super::build_inputs::BuildInputs;
use super::checker::Checker;
use super::document_sync::{self, DocumentSync};
use super::further_builds::{Choice, FurtherBuilds};
use super::identifier_index::Identifiers;
use super::invalidate::{self, Invalidation, UnitStore};
use super::layout::Layout;
use super::lsp_conversion::Root;
use super::memory_limit::MemoryLimit;
use super::toolchain::Toolchain;
use super::usage_index::Index;
use semdex_config::{Builds, GoBuild};
use semdex_engine::files::Files;
use semdex_engine::{Deadlines, EngineStatus, FileChange, Progress, unpoisoned};
use semdex_lsp_client::{Client, RequestError};
use semdex_model::{Coverage, Missing, MissingCode, State};
use semdex_process::{fault, resource_usage};

pub(crate) const SCOPE: &str = "go";
/// Only a request that was waited for this long counts as unanswered.
const LONG: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 5 });
/// The progress of a gopls that does not answer.
const SILENT: &str = "gopls does not answer";

pub(crate) struct Session {
    pub root: Root,
    pub trusted: bool,
    /// From the configuration.
    memory_limit: Option<u64>,
    /// The builds besides the default build, as they are configured.
    wanted: Builds<GoBuild>,
    pub status: watch::Sender<EngineStatus>,
    pub link: watch::Sender<Link>,
    pub cache: Cache,
    pub identifiers: Identifiers,
    pub index: Index,
    pub units: UnitStore,
    pub checker: Checker,
    /// The checker of the further builds.
    pub further: Checker,
    /// The further builds of the newest layout, and those that `further` has loaded.
    choice: Mutex<Option<(Arc<Files>, Arc<Choice>)>>,
    loaded: Mutex<Option<Arc<FurtherBuilds>>>,
    /// gopls's published errors in `go.mod` and `go.work` files.
    manifest_errors: Mutex<BTreeMap<String, String>>,
    /// By the process that needs more memory than its limit. Locked after the status.
    shortages: Mutex<BTreeMap<&'static str, Missing>>,
    layout: Mutex<Option<Kept>>,
    toolchain: RwLockStd<Option<Arc<Toolchain>>>,
    /// Counts the changes of Go's environment.
    pub environment: watch::Sender<u64>,
    /// Held shared by every query and exclusively by a dry run, so that no query sees the dry run's state.
    pub gate: Arc<RwLock<()>>,
    /// Notified after every change that concerns Go.
    pub fed: Notify,
    /// The number of gopls processes started so far.
    pub instances: AtomicU32,
    /// The oldest request that gopls left unanswered, if it has answered no other since.
    unanswered: Mutex<Option<Unanswered>>,
    documents: Mutex<DocumentSync>,
}

/// A request that gopls did not answer in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unanswered {
    pub sent: Instant,
    /// The content that gopls had.
    pub generation: u64,
}

/// A layout, its files, and whether the build target was known when it was computed.
struct Kept {
    files: Arc<Files>,
    known: bool,
    layout: Arc<Layout>,
}

/// The connection to gopls.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// Not connected yet; gopls will start.
    Waiting(Missing),
    /// Not connected until the user acts.
    Down(Missing),
    /// Loaded and listening.
    Up { client: Client, instance: u32 },
}

/// Why gopls did not answer a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// gopls could not: it is loading, restarting, not installed, or out of time.
    Lacking(Missing),
    /// There can be no answer: no name is at this place, or it is of another kind.
    Inapplicable(String),
    /// gopls refused, for a reason of its own.
    Refused(String),
}

/// How long to wait for the checker of further builds before it is looked at again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// gopls's messages for a request that does not apply to the place. Every other refusal is a fault, and the answer is
/// unknown.
const INAPPLICABLE: [&str; 6] = [
    "no identifier found",
    "identifier not found",
    "no object found",
    "not a type",
    "is a function, not a method",
    "is not a function",
];

impl Failure {
    /// Adds the failure to the coverage of the incomplete answer.
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
        wanted: Builds<GoBuild>,
        files: Arc<Files>,
        status: EngineStatus,
    ) -> Session {
        let starting = Missing::new(MissingCode::Indexing, SCOPE, "gopls is being started");
        Session {
            documents: Mutex::new(DocumentSync::new(root.clone(), files)),
            root,
            trusted,
            memory_limit,
            wanted,
            status: watch::Sender::new(status),
            link: watch::Sender::new(Link::Waiting(starting)),
            cache: Cache::default(),
            identifiers: Identifiers::default(),
            index: Index::default(),
            units: UnitStore::default(),
            checker: Checker::default(),
            further: Checker::default(),
            choice: Mutex::default(),
            loaded: Mutex::default(),
            manifest_errors: Mutex::default(),
            shortages: Mutex::default(),
            layout: Mutex::default(),
            toolchain: RwLockStd::default(),
            environment: watch::Sender::new(0),
            gate: Arc::default(),
            fed: Notify::new(),
            instances: AtomicU32::new(0),
            unanswered: Mutex::default(),
        }
    }

    /// The memory limit of a process that starts now: gopls or the checker. `used`: the memory of its predecessor,
    /// which is free by then.
    pub(crate) fn memory_limit(&self, used: u64) -> MemoryLimit {
        let free = resource_usage::free_memory().map(|it| it.saturating_add(used));
        MemoryLimit::new(self.memory_limit, |it| std::env::var(it).ok(), free)
    }

    /// Records that this process needs more memory than its limit, or no longer does. The status says so.
    pub(crate) fn note_shortage(&self, process: &'static str, shortage: Option<Missing>) {
        self.status.send_if_modified(|status| {
            let mut shortages = unpoisoned::lock(&self.shortages);
            let before = match &shortage {
                Some(shortage) => shortages.insert(process, shortage.clone()),
                None => shortages.remove(process),
            };
            let has_changed = before != shortage;
            if has_changed {
                status.missing.retain(|it| Some(it) != before.as_ref());
                if let Some(shortage) = shortage {
                    tracing::warn!("{}", shortage.detail);
                    status.missing.push(shortage);
                }
            }
            has_changed
        });
    }

    /// The reported shortages of memory. Also called while the status is being changed.
    pub(crate) fn shortages(&self) -> Vec<Missing> {
        unpoisoned::lock(&self.shortages).values().cloned().collect()
    }

    pub(crate) fn documents(&self) -> MutexGuard<'_, DocumentSync> {
        self.documents.lock().unwrap_or_else(|poisoned| {
            // It is unknown what gopls was sent: the next gopls is sent everything.
            self.documents.clear_poison();
            if let Link::Up { client, .. } = &*self.link.borrow() {
                client.close("its state is unknown after a fault of semdex");
            }
            poisoned.into_inner()
        })
    }

    /// The result of `go env`; `None` until it has run.
    pub(crate) fn toolchain(&self) -> Option<Arc<Toolchain>> {
        self.toolchain.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn know_toolchain(&self, toolchain: Toolchain) {
        // The layout was computed for another target.
        *self.layout.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *unpoisoned::lock(&self.choice) = None;
        *self.toolchain.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(toolchain));
    }

    /// The layout of these files; cached for the newest files.
    pub(crate) fn layout(&self, files: &Arc<Files>) -> Arc<Layout> {
        let known = self.toolchain().is_some();
        let mut kept = unpoisoned::lock(&self.layout);
        match &mut *kept {
            // A layout that was computed before `go env` reported the target may be wrong.
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

    /// The further builds of these files.
    pub(crate) fn builds(&self, layout: &Layout) -> Arc<FurtherBuilds> {
        let known = unpoisoned::lock(&self.choice).clone();
        if let Some((_, choice)) = known.as_ref().filter(|it| Arc::ptr_eq(&it.0, &layout.files)) {
            return choice.builds.clone();
        }
        let default = self.context();
        let known = known.map(|it| it.1).filter(|it| it.holds(&default, layout));
        let choice = known.unwrap_or_else(|| Arc::new(Choice::of(&self.wanted, default, layout)));
        *unpoisoned::lock(&self.choice) = Some((layout.files.clone(), choice.clone()));
        choice.builds.clone()
    }

    /// The builds that the checker of further builds is about to load.
    pub(crate) fn note_further(&self, builds: Arc<FurtherBuilds>) {
        *unpoisoned::lock(&self.loaded) = Some(builds);
    }

    /// Whether the checker of further builds has loaded these.
    pub(crate) fn has_further(&self, builds: &FurtherBuilds) -> bool {
        self.further.is_ready() && unpoisoned::lock(&self.loaded).as_deref() == Some(builds)
    }

    /// Waits until the checker of further builds has loaded these, or will not.
    pub(crate) async fn wait_for_further(&self, builds: &FurtherBuilds, until: Instant) {
        let loaded = async {
            while !self.has_further(builds) && !self.further.is_given_up() {
                self.further.settled().await;
                // It may have loaded others, which it is about to end.
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        };
        drop(tokio::time::timeout_at(until.into(), loaded).await);
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

    /// The build target; this machine until `go env` has run.
    pub(crate) fn context(&self) -> BuildContext {
        self.toolchain().map_or_else(BuildContext::host, |it| it.context.clone())
    }

    /// Records a change and sends it to gopls immediately if that needs no waiting; else it is sent with the next
    /// request.
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
        self.send_pending(&mut documents);
        let context = self.context();
        self.checker.feed(&files_now, &of_go, |file, text| context.takes(file, text));
        self.further.feed(&files_now, &of_go, |_, _| true);
        drop(documents);
        self.fed.notify_waiters();
        self.feed_beside(&beside);
    }

    fn feed_beside(&self, changes: &[FileChange]) {
        if !changes.is_empty() {
            self.feed_outside(changes);
        }
    }

    /// Files outside the workspace or non-Go files that the build reads have changed. The Go files are unchanged, but
    /// every result computed from them may differ.
    pub(crate) fn feed_outside(&self, changes: &[FileChange]) {
        self.note_loading();
        let mut documents = self.documents();
        documents.feed_outside(changes);
        self.cache.forget(documents.generation());
        self.index.carry(documents.generation(), &Invalidation::Everything, documents.files());
        self.send_pending(&mut documents);
        self.checker.request_reload();
        self.further.request_reload();
        drop(documents);
        self.fed.notify_waiters();
    }

    /// Whether Go's environment has changed since the last check. If so, gopls and the checker are restarted.
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
        self.send_pending(&mut documents);
    }

    /// Sends changes while the lock of the documents is held, so that notifications keep their order. They go to the
    /// gopls that the documents describe, because the supervisor drops a dead one before it resets the documents.
    fn send_pending(&self, documents: &mut DocumentSync) {
        let client = match &*self.link.borrow() {
            Link::Up { client, .. } => client.clone(),
            Link::Waiting(_) | Link::Down(_) => return,
        };
        if let Some(slot) = client.try_slot() {
            slot.notify(&documents.preamble(&[]));
        }
    }

    /// Whether gopls is ready, or will not start before the user acts.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(&*self.link.borrow(), Link::Waiting(_)) || !self.documents().has_go()
    }

    /// What gopls waits for, if it is not ready: it starts, restarts, or is missing.
    pub(crate) fn lack(&self) -> Option<Missing> {
        match &*self.link.borrow() {
            Link::Waiting(missing) | Link::Down(missing) => Some(missing.clone()),
            Link::Up { .. } => None,
        }
    }

    /// gopls has loaded, the index has all usages, and the checker is ready if it can be.
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

    /// The engine is no longer ready: it loads modules again.
    fn note_loading(&self) {
        self.status.send_if_modified(|status| {
            let was_ready = status.state == State::Ready;
            if was_ready {
                status.state = State::Indexing;
            }
            was_ready
        });
    }

    /// Waits until gopls has started and loaded.
    pub(crate) async fn ready(&self, deadline: Instant) -> Result<(Client, u32), Failure> {
        let mut link = self.link.subscribe();
        let settled = link.wait_for(|link| !matches!(link, Link::Waiting(_)));
        let link = match tokio::time::timeout_at(deadline.into(), settled).await {
            Ok(Ok(link)) => link.clone(),
            Ok(Err(_)) => return Err(self.out_of_time()),
            Err(_) => self.link.borrow().clone(),
        };
        match link {
            Link::Up { client, instance } => Ok((client, instance)),
            Link::Waiting(missing) | Link::Down(missing) => Err(Failure::Lacking(missing)),
        }
    }

    /// Sends one request, with these files open. If gopls dies, sends it to the next one, until the deadline.
    pub(crate) async fn ask<R: Request>(
        &self,
        open: &[&str],
        params: &R::Params,
        deadlines: Deadlines,
    ) -> Result<R::Result, Failure> {
        loop {
            let (client, instance) = self.ready(deadlines.ready).await?;
            let outcome = match client.slot(deadlines.answer).await {
                Ok(slot) => {
                    let (answer, sent) = {
                        let mut documents = self.documents();
                        let current =
                            matches!(&*self.link.borrow(), Link::Up { instance: now, .. } if *now == instance);
                        if !current {
                            // The documents already describe the next gopls.
                            continue;
                        }
                        fault::point("go.documents");
                        let sent = Unanswered { sent: Instant::now(), generation: documents.generation() };
                        (slot.request::<R>(&documents.preamble(open), params), sent)
                    };
                    let outcome = match answer {
                        Ok(answer) => answer.before(deadlines.answer).await,
                        Err(error) => Err(error),
                    };
                    self.note_outcome(&outcome, sent);
                    outcome
                }
                Err(error) => Err(error),
            };
            match outcome {
                Ok(answer) => return Ok(answer),
                Err(RequestError::Closed(reason)) => self.lost(instance, &reason),
                Err(RequestError::Timeout) => return Err(self.out_of_time()),
                Err(RequestError::Refused { message, .. }) => return Err(Failure::of_refusal(message)),
                Err(error @ RequestError::Malformed(_)) => return Err(Failure::Refused(error.to_string())),
            }
        }
    }

    /// A gopls that leaves requests unanswered is not ready until it answers one.
    fn note_outcome<T>(&self, outcome: &Result<T, RequestError>, sent: Unanswered) {
        let mut unanswered = unpoisoned::lock(&self.unanswered);
        match outcome {
            // A client that hardly waits says nothing about gopls.
            Err(RequestError::Timeout) if sent.sent.elapsed() < LONG => {}
            Err(RequestError::Timeout) => {
                let is_first = unanswered.is_none();
                unanswered.get_or_insert(sent);
                if is_first {
                    self.status.send_if_modified(|status| {
                        let is_news = status.state == State::Ready;
                        if is_news {
                            status.state = State::Indexing;
                            status.progress = Some(Progress { stage: SILENT.to_owned(), done: 0, total: 0 });
                        }
                        is_news
                    });
                }
            }
            Err(RequestError::Closed(_)) => {}
            Ok(_) | Err(RequestError::Refused { .. } | RequestError::Malformed(_)) => {
                if unanswered.take().is_some() {
                    self.status.send_if_modified(|status| {
                        let was_silent = status.progress.as_ref().is_some_and(|it| it.stage == SILENT);
                        if was_silent {
                            (status.state, status.progress) = (State::Ready, None);
                        }
                        was_silent
                    });
                }
            }
        }
    }

    /// The oldest request that gopls left unanswered, if it has answered no other since.
    pub(crate) fn unanswered(&self) -> Option<Unanswered> {
        *unpoisoned::lock(&self.unanswered)
    }

    /// Another gopls is started.
    pub(crate) fn forget_unanswered(&self) {
        *unpoisoned::lock(&self.unanswered) = None;
    }

    /// This gopls is gone. The first caller that notices it reports it; the supervisor starts the next.
    pub(crate) fn lost(&self, instance: u32, reason: &str) {
        let missing = Missing::new(MissingCode::EngineRestarting, SCOPE, format!("gopls is being restarted: {reason}"));
        self.link.send_if_modified(|link| {
            let mine = matches!(link, Link::Up { instance: now, .. } if *now == instance);
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
            "gopls did not answer in time: ask again with a longer `wait_ms`",
        ))
    }
}
