//! A handle on an open workspace. Requests go to the writer; published state is read without it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch as channel};

use super::answer_cache::AnswerCache;
use super::busy::Busy;
use super::change::{Change, Outcome};
use super::change_history::{ChangeHistory, KnownHistory};
use super::confirm::Confirming;
use super::disk::Disk;
use super::engines::Seen;
use super::git::Git;
use super::journal::{self, Entries, Entry, Journal, KeptReply};
use super::overlays::{self, Overlay, Put, Shown};
use super::published::{Phase, Published};
use super::recent::Recent;
use super::root_lock::RootLock;
use super::seen_texts::SeenTexts;
use super::shown_lines::ShownLines;
use super::snapshot::{Needs, Snapshot};
use super::statistics::Statistics;
use super::telemetry::Telemetry;
use super::timing::{self, Part, Ticket};
use super::turns::{Turn, Turns};
use super::verify_runs::Runs;
use super::writer::{self, Event, Inbox, Shared};
use semdex_config::Config;
use semdex_engine::{Condition, EngineStatus, Progress, Readiness, Registry, Tidied};
use semdex_model::{Code, Coverage, Error, FileEdit, LanguageId, Meta, Missing, MissingCode, Result, Revision, State};

/// How long a query waits for its turn, unless it says that it waits longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a change may take, including the wait and the impact, unless it says that it waits longer.
const CHANGE_PATIENCE: Duration = Duration::from_secs(30);
/// A writer that does not end in this time is left running until the process ends.
const CLOSING: Duration = Duration::from_secs(5);
/// The writer hangs if it handles one event for longer than this.
pub(super) const STANDSTILL: Duration = Duration::from_secs(15);

/// A cloneable handle on an open workspace.
#[derive(Clone)]
pub struct Workspace {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) id: String,
    pub(super) root: PathBuf,
    /// `None` after the workspace was closed. A writer that does not end keeps it.
    root_lock: Mutex<Option<RootLock>>,
    pub(super) inbox: Inbox,
    pub(super) disk: Arc<Disk>,
    pub(super) journal: Journal,
    pub(super) config: Config,
    pub(super) statistics: Statistics,
    pub(super) recent: Arc<Recent>,
    pub(super) seen_texts: Arc<SeenTexts>,
    pub(super) shown_lines: ShownLines,
    pub(super) history: KnownHistory,
    pub(super) turns: Turns,
    pub(super) published: channel::Receiver<Published>,
    pub(super) answers: AnswerCache,
    pub(super) telemetry: Arc<Telemetry>,
    pub(super) busy: Arc<Busy>,
    pub(super) closing: Arc<AtomicBool>,
    pub(super) revoked: Arc<AtomicBool>,
    pub(super) git: Git,
    pub(super) runs: Runs,
    pub(super) confirming: Confirming,
}

/// The status of one workspace, for `GET /v1/status`.
#[derive(Debug, Clone)]
pub struct WorkspaceStatus {
    /// The id that requests use.
    pub id: String,
    /// Its directory, absolute.
    pub root: PathBuf,
    /// The languages of its engines.
    pub languages: Vec<LanguageId>,
    /// The combined state of its engines.
    pub state: State,
    /// The current revision.
    pub revision: Revision,
    /// What is being worked on. `None` if nothing is.
    pub progress: Option<Progress>,
    /// The engines that its languages need.
    pub engines: Vec<EngineStatus>,
    /// For each engine of several languages the languages of which there is code, beginning with the main one.
    pub present: Vec<Vec<LanguageId>>,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// What answers may miss at the moment.
    pub missing: Vec<Missing>,
}

impl Workspace {
    /// Starts the writer. Returns immediately: the writer reads the files on its own thread.
    pub(super) fn start(
        id: String,
        (root, lock): (PathBuf, RootLock),
        trusted: bool,
        config: &Config,
        registry: Registry,
        shared: &Shared,
    ) -> Result<Workspace> {
        let started = writer::start(id.clone(), &root, trusted, config, registry, shared)?;
        let revoked = Arc::new(AtomicBool::new(false));
        let inner = Inner {
            git: Git::new(&root, &config.state_dir, revoked.clone()),
            id,
            root,
            root_lock: Mutex::new(Some(lock)),
            inbox: started.inbox,
            disk: started.disk,
            journal: shared.journal.clone(),
            config: config.clone(),
            statistics: Statistics::default(),
            recent: started.recent,
            seen_texts: started.seen_texts,
            shown_lines: ShownLines::default(),
            history: KnownHistory::default(),
            turns: Turns::default(),
            published: started.published,
            answers: AnswerCache::new(),
            telemetry: shared.telemetry.clone(),
            busy: started.busy,
            closing: started.closing,
            revoked,
            runs: Runs::default(),
            confirming: Confirming::default(),
        };
        Ok(Workspace { inner: Arc::new(inner) })
    }

    /// Unique in the process: the last component of the root, with a number if that is taken.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Its directory, absolute and without links.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Whether code of the workspace may run.
    pub fn is_trusted(&self) -> bool {
        self.inner.published.borrow().trusted && !self.inner.revoked.load(Ordering::Relaxed)
    }

    /// Takes over the owner's decision. The caller repeats it in case the writer's inbox was full. Without trust,
    /// running programs are ended immediately.
    pub(crate) fn set_trust(&self, trusted: bool) {
        self.inner.revoked.store(!trusted, Ordering::Relaxed);
        let heard = self.inner.published.borrow().trusted;
        let _ = (heard != trusted).then(|| self.inner.inbox.send(Event::Trust(trusted)));
    }

    /// The current status. Never waits for the writer.
    pub fn status(&self) -> WorkspaceStatus {
        let published = self.inner.published.borrow().clone();
        let engines: Vec<EngineStatus> = published.engines.iter().filter_map(Seen::status).collect();
        let mut missing = published.missing.clone();
        missing.extend(self.standstill(published.phase));
        for engine in &engines {
            missing.extend(engine.missing.iter().filter(|it| !published.missing.contains(it)).cloned());
        }
        WorkspaceStatus {
            id: self.inner.id.clone(),
            root: self.inner.root.clone(),
            languages: engines.iter().map(|it| it.language).collect(),
            state: self.state(published.phase, &engines, true),
            revision: published.revision,
            progress: engines.iter().find_map(|it| it.progress.clone()),
            engines,
            present: published.present,
            trusted: published.trusted,
            missing,
        }
    }

    /// The state of the workspace for an answer about this language.
    pub fn meta(&self, language: Option<LanguageId>, revision: Revision, coverage: Coverage) -> Meta {
        let status = self.status();
        let concerns = |it: &EngineStatus| language.is_none_or(|language| self.serves(it, language));
        let engines: Vec<EngineStatus> = status.engines.into_iter().filter(concerns).collect();
        let (phase, overlays) = {
            let published = self.inner.published.borrow();
            (published.phase, published.overlays.keys().cloned().collect())
        };
        // An answer with a revision proves that the texts were read.
        let phase = if phase == Phase::Starting && revision.0 > 0 { Phase::Up } else { phase };
        Meta {
            workspace: self.inner.id.clone(),
            revision,
            state: self.state(phase, &engines, language.is_none()),
            coverage,
            overlays,
        }
    }

    /// The lowest state of the engines. `of_all`: engines that are started on demand do not count.
    fn state(&self, phase: Phase, engines: &[EngineStatus], of_all: bool) -> State {
        // A missing engine is reported for its own language only. It does not affect the state of the workspace, if
        // another engine is there for code. One for data and pages does not count as such.
        let is_missing = |it: &EngineStatus| it.condition == Condition::Missing;
        let is_of_code = |it: &EngineStatus| !self.registry().kind_of(it.language).is_some_and(|it| it.is_on_request());
        let is_analysed = engines.iter().any(|it| is_of_code(it) && !is_missing(it));
        let is_absent =
            |it: &EngineStatus| is_missing(it) && if is_of_code(it) { is_analysed } else { engines.len() > 1 };
        match phase {
            Phase::Starting => State::Starting,
            Phase::Rebuilding => State::Degraded,
            _ if self.inner.busy.elapsed() > STANDSTILL => State::Degraded,
            _ if engines.iter().any(|it| it.state == State::Degraded && !is_absent(it)) => State::Degraded,
            _ => {
                let counts = |it: &&EngineStatus| !(is_absent(it) || of_all && it.on_demand);
                engines.iter().filter(counts).map(|it| it.state).min().unwrap_or(State::Ready)
            }
        }
    }

    /// Why nothing is answered at the moment. `None` if everything works.
    fn standstill(&self, phase: Phase) -> Option<Missing> {
        let busy = self.inner.busy.elapsed();
        if phase == Phase::Rebuilding {
            let detail = writer::rebuilding().detail;
            Some(Missing::new(MissingCode::EngineRestarting, "workspace", detail))
        } else if busy > STANDSTILL {
            let detail = format!(
                "the workspace has been busy with one thing for {} s, and all else waits: a file system that does not \
                 answer, perhaps, or a very large change",
                busy.as_secs()
            );
            Some(Missing::new(MissingCode::Timeout, "workspace", detail))
        } else {
            None
        }
    }

    /// A snapshot that has every change made before this call, by anyone. Waits for the index and the revision as long
    /// as `needs` allows, and for the writer a little longer.
    pub async fn snapshot(&self, needs: Needs) -> Result<Snapshot> {
        self.inner.confirming.note_asked();
        self.snapshot_unnoticed(needs).await
    }

    pub(super) async fn snapshot_unnoticed(&self, needs: Needs) -> Result<Snapshot> {
        let mut published = self.inner.published.clone();
        let mut until = needs.deadline.max(Instant::now() + PATIENCE);
        loop {
            let asked = self
                .ask(until, |reply| {
                    let ticket = Ticket::new();
                    Event::Snapshot { language: needs.language, ticket, reply }
                })
                .await?;
            let Some(snapshot) = asked else {
                // The writer panicked. The query is repeated when the writer is running again.
                let up = published.wait_for(|it| it.phase != Phase::Rebuilding);
                if tokio::time::timeout_at(until.into(), up).await.is_err() {
                    return Err(self.late());
                }
                continue;
            };
            let reached = needs.min_revision.is_none_or(|wanted| snapshot.revision.0 >= wanted);
            if reached && (!needs.index || snapshot.readiness >= needs.least) {
                return Ok(snapshot);
            }
            let revision = snapshot.revision;
            let late = Instant::now() >= needs.deadline;
            if late && !reached {
                let detail = format!(
                    "the workspace is at revision {}, not yet at {}: revisions rise with changes of content only",
                    revision.0,
                    needs.min_revision.unwrap_or_default(),
                );
                return Err(Error::new(Code::RevisionNotReached, detail));
            }
            if late {
                return Ok(snapshot);
            }
            // Nothing may be held while waiting: the writer may be about to change something.
            drop(snapshot);
            let more = async {
                match (needs.language, reached) {
                    (Some(language), true) => self.can_answer(language, needs.least).await,
                    _ => {
                        let _ = published.wait_for(|it| it.revision > revision).await;
                    }
                }
            };
            let _ = timing::during(Part::Index, tokio::time::timeout_at(needs.deadline.into(), more)).await;
            // The deadline passed without the wait being over: return what there is.
            until = until.max(Instant::now() + PATIENCE);
        }
    }

    /// Resolves when the engine of this language has this much, or never will.
    async fn can_answer(&self, language: LanguageId, least: Readiness) {
        let Some(at) = self.registry().position(language) else { return };
        let mut published = self.inner.published.clone();
        // An engine that panicked is started again.
        let there = published.wait_for(|it| it.engines.get(at).is_none_or(|it| it.down.is_none())).await;
        let handle = there.ok().and_then(|it| it.engines.get(at)?.handle.clone());
        if let Some(handle) = handle {
            (handle.reached)(least).await;
        }
    }

    /// Sends an event to the writer and waits for the reply. `None` if the writer panicked.
    async fn ask<T>(
        &self,
        until: Instant,
        event: impl FnOnce(oneshot::Sender<Result<T>>) -> Event,
    ) -> Result<Option<T>> {
        let (reply, answer) = oneshot::channel();
        self.inner.inbox.send(event(reply))?;
        match tokio::time::timeout_at(until.into(), answer).await {
            Ok(Ok(answered)) => answered.map(Some).map_err(|it| self.with_meta(it)),
            Ok(Err(_)) if self.inner.published.borrow().phase == Phase::Closed => Err(self.gone()),
            Ok(Err(_)) => Ok(None),
            Err(_) => Err(self.late()),
        }
    }

    /// The same for an event that is not repeated, since it may have had its effect.
    async fn ask_once<T>(&self, until: Instant, event: impl FnOnce(oneshot::Sender<Result<T>>) -> Event) -> Result<T> {
        self.ask(until, event).await?.ok_or_else(|| {
            let detail = "this request met a fault of semdex, which is in the log; the workspace is built again. \
                          `changes` lists the change if it was made";
            self.with_meta(Error::new(Code::Internal, detail))
        })
    }

    /// The error for a writer that did not reply in time.
    fn late(&self) -> Error {
        // Not borrowed while `meta` borrows it too: a writer that publishes in between would block both.
        let phase = self.inner.published.borrow().phase;
        self.with_meta(match phase {
            Phase::Rebuilding => writer::rebuilding(),
            Phase::Starting => Error::new(Code::NotReady, "the workspace's files are being read: ask again"),
            _ => {
                let busy = self.inner.busy.elapsed().as_secs();
                let detail =
                    format!("the workspace has been busy with other things, with the last for {busy} s: ask again");
                Error::new(Code::Timeout, detail)
            }
        })
    }

    /// The error with the state of the workspace, unless it has one.
    pub fn with_meta(&self, error: Error) -> Error {
        if error.meta().is_some() {
            return error;
        }
        let revision = self.inner.published.borrow().revision;
        error.in_workspace(self.meta(None, revision, Coverage::default()))
    }

    /// The telemetry of the process.
    pub fn telemetry(&self) -> &Telemetry {
        &self.inner.telemetry
    }

    /// How many requests wait for the writer.
    pub fn queue_length(&self) -> usize {
        self.inner.inbox.len()
    }

    /// The repository that contains the workspace.
    pub fn git(&self) -> &Git {
        &self.inner.git
    }

    /// The cache of complete answers.
    pub fn answers(&self) -> &AnswerCache {
        &self.inner.answers
    }

    /// The name of a file in the workspace: inside the root, links followed. The file need not exist.
    pub fn locate(&self, file: &str) -> Result<String> {
        Ok(self.inner.disk.locate(file)?.rel)
    }

    /// The text of a file that may not be among the workspace's texts. `None` if there is no such file.
    pub fn read_if_there(&self, file: &str) -> Result<Option<String>> {
        let located = self.inner.disk.locate(file)?;
        match self.inner.disk.read_text(&located) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == Code::UnknownFile => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Proposes a change to the writer, which makes it whole or not at all. A change that was not begun by `until`, or
    /// a little later, is not made.
    pub async fn change(&self, change: Change, until: Instant) -> Result<Outcome> {
        let given_up = Arc::new(AtomicBool::new(false));
        let event = |reply| {
            let given_up = given_up.clone();
            Event::Change { change: Box::new(change), given_up, ticket: Ticket::new(), reply }
        };
        let answer = self.ask_once(until.max(Instant::now() + CHANGE_PATIENCE), event).await;
        answer.map_err(|mut error| {
            if error.code == Code::Timeout {
                given_up.store(true, Ordering::Relaxed);
                error.detail = format!(
                    "{}; nothing was changed, unless it was being written at this moment: then `changes` lists it",
                    error.detail
                );
            }
            error
        })
    }

    /// The planned texts of a language whose imports its engine changes, computed by the writer. Nothing is written.
    pub async fn fix_imports(&self, language: LanguageId, edits: Vec<FileEdit>, until: Instant) -> Result<Vec<Tidied>> {
        self.ask_once(until, |reply| Event::FixImports { language, edits, reply }).await
    }

    /// The texts that files had lately, and which of them clients were shown.
    pub fn seen_texts(&self) -> &SeenTexts {
        &self.inner.seen_texts
    }

    /// The last commits, as they were read last in the background.
    pub async fn change_history(&self) -> Arc<ChangeHistory> {
        self.inner.history.current(&self.inner.git).await
    }

    /// The lines that clients were shown.
    pub fn shown_lines(&self) -> &ShownLines {
        &self.inner.shown_lines
    }

    /// Waits for the turn to change these files, for a while.
    pub async fn turn(&self, files: &[String]) -> Turn {
        self.inner.turns.take(files).await
    }

    /// The first reply to a request with this key.
    pub async fn first_reply(&self, key: &str) -> Result<Option<KeptReply>> {
        self.inner.journal.reply(journal::key(&self.inner.root), key.to_owned()).await
    }

    /// Keeps the first reply to a request for a day. Its `workspace` is set to this one.
    pub async fn keep_first_reply(&self, reply: KeptReply) -> Result<()> {
        self.inner.journal.keep_reply(KeptReply { workspace: journal::key(&self.inner.root), ..reply }).await
    }

    /// An error if the owner of an overlay refuses one of the edits.
    pub fn check_overlays(&self, edits: &[FileEdit]) -> Result<()> {
        let overlays = self.inner.published.borrow().overlays.clone();
        overlays::takes(&overlays, edits).map(drop)
    }

    /// Puts an overlay: content that hides the disk's.
    pub async fn put_overlay(&self, put: Put) -> Result<Shown> {
        self.ask_once(Instant::now() + PATIENCE, |reply| Event::PutOverlay { put: Box::new(put), reply }).await
    }

    /// Removes an overlay, so that the disk's content counts again. Returns the removed overlay.
    pub async fn remove_overlay(&self, file: &str) -> Result<Shown> {
        let event = |reply| Event::RemoveOverlay { file: file.to_owned(), reply };
        self.ask_once(Instant::now() + PATIENCE, event).await
    }

    /// All overlays, in the order of their files' names.
    pub fn overlays(&self) -> Vec<Overlay> {
        self.inner.published.borrow().overlays.values().cloned().collect()
    }

    /// A change that was made, with the contents of its files before and after.
    pub async fn made(&self, change: &str) -> Result<Option<Entry>> {
        self.settle_journal().await?;
        self.inner.journal.get(journal::key(&self.inner.root), change.to_owned()).await
    }

    async fn settle_journal(&self) -> Result<()> {
        self.ask_once(Instant::now() + CHANGE_PATIENCE, |reply| Event::Journal { reply }).await
    }

    /// The changes that were made, newest first.
    pub async fn changes(&self, query: journal::Query) -> Result<Entries> {
        self.settle_journal().await?;
        self.inner.journal.find(journal::Query { workspace: journal::key(&self.inner.root), ..query }).await
    }

    /// Closes the workspace. Bounded in time, even if the writer hangs.
    pub(super) async fn close(&self) {
        if let Some(lock) = &*self.inner.root_lock.lock().unwrap_or_else(PoisonError::into_inner) {
            lock.note_end();
        }
        // The writer checks this before it handles the next event.
        self.inner.closing.store(true, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        let is_left = self.inner.inbox.send(Event::Close { reply }).is_ok()
            && tokio::time::timeout(CLOSING, answer).await.is_err();
        if is_left {
            tracing::warn!(
                workspace = self.inner.id,
                "the writer did not end within {CLOSING:?} and is left to itself"
            );
        }
        let engines = self.inner.published.borrow().engines.clone();
        let closing = engines.into_iter().filter_map(|it| Some((it.handle?.close)()));
        futures::future::join_all(closing).await;
        if !is_left {
            drop(self.inner.root_lock.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    fn gone(&self) -> Error {
        Error::new(Code::UnknownWorkspace, format!("the workspace `{}` was closed during this request", self.inner.id))
    }
}
