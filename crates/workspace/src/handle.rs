//! A handle on an open workspace: what is asked of it goes to its writer, what is known of it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch as channel};

use super::answer_cache::AnswerCache;
use super::busy::Busy;
use super::change::{Change, Outcome};
use super::confirm::Confirming;
use super::disk::Disk;
use super::engines::Seen;
use super::git::Git;
use super::journal::{self, Entries, Entry, Journal};
use super::overlays::{self, Overlay, Put, Shown};
use super::published::{Phase, Published};
use super::recent::Recent;
use super::snapshot::{Needs, Snapshot};
use super::statistics::Statistics;
use super::telemetry::Telemetry;
use super::timing::{self, Part, Ticket};
use super::verify::Runs;
use super::writer::{self, Event, Inbox, Shared};
use semdex_config::Config;
use semdex_engine::{Condition, EngineStatus, Progress, Registry, Tidied};
use semdex_model::{Code, Coverage, Error, FileEdit, LanguageId, Meta, Missing, MissingCode, Result, Revision, State};

/// A question waits so long for its turn where it does not say that it waits longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A change may take so long, wait and impact included, where it does not say that it waits longer.
const CHANGE_PATIENCE: Duration = Duration::from_secs(30);
/// A writer that does not come to an end in this time is left to the end of the process.
const CLOSING: Duration = Duration::from_secs(5);
/// Longer than this nothing takes that goes well.
pub(super) const STANDSTILL: Duration = Duration::from_secs(15);

/// A cloneable handle on an open workspace.
#[derive(Clone)]
pub struct Workspace {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) id: String,
    pub(super) root: PathBuf,
    pub(super) inbox: Inbox,
    pub(super) disk: Arc<Disk>,
    pub(super) journal: Journal,
    pub(super) config: Config,
    pub(super) statistics: Statistics,
    pub(super) recent: Arc<Recent>,
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

/// What `GET /v1/status` says of one workspace.
#[derive(Debug, Clone)]
pub struct WorkspaceStatus {
    /// As requests name it.
    pub id: String,
    /// Its directory, absolute.
    pub root: PathBuf,
    /// Those of its engines.
    pub languages: Vec<LanguageId>,
    /// How much of it is known, by all of its engines together.
    pub state: State,
    /// The newest one.
    pub revision: Revision,
    /// What is being worked on. None where nothing is.
    pub progress: Option<Progress>,
    /// Those that its languages need.
    pub engines: Vec<EngineStatus>,
    /// Of the engines of several languages those that there is code of, the one by which it is known first.
    pub present: Vec<Vec<LanguageId>>,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// What answers may lack at the moment.
    pub missing: Vec<Missing>,
}

impl Workspace {
    /// Starts its writer. Returns at once; the files are read on the writer's own thread.
    pub(super) fn start(
        id: String,
        root: PathBuf,
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
            inbox: started.inbox,
            disk: started.disk,
            journal: shared.journal.clone(),
            config: config.clone(),
            statistics: Statistics::default(),
            recent: started.recent,
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

    /// Unique in the process: the root's last component, with a number where that is taken.
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

    /// What its owner says now. To be said again where the writer had no time; what runs without trust ends at once.
    pub(crate) fn set_trust(&self, trusted: bool) {
        self.inner.revoked.store(!trusted, Ordering::Relaxed);
        let heard = self.inner.published.borrow().trusted;
        let _ = (heard != trusted).then(|| self.inner.inbox.send(Event::Trust(trusted)));
    }

    /// How it is doing now. Never waits for the writer.
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

    /// The state of the workspace as an answer about this language sees it.
    pub fn meta(&self, language: Option<LanguageId>, revision: Revision, coverage: Coverage) -> Meta {
        let status = self.status();
        let concerns = |it: &EngineStatus| language.is_none_or(|language| self.serves(it, language));
        let engines: Vec<EngineStatus> = status.engines.into_iter().filter(concerns).collect();
        let (phase, overlays) = {
            let published = self.inner.published.borrow();
            (published.phase, published.overlays.keys().cloned().collect())
        };
        // Whoever has an answer has seen the text.
        let phase = if phase == Phase::Starting && revision.0 > 0 { Phase::Up } else { phase };
        Meta {
            workspace: self.inner.id.clone(),
            revision,
            state: self.state(phase, &engines, language.is_none()),
            coverage,
            overlays,
        }
    }

    /// The least of what the engines have come to. `of_all`: one that is only started when it is asked does not hold the
    /// others up.
    fn state(&self, phase: Phase, engines: &[EngineStatus], of_all: bool) -> State {
        // One that is not there says so where its language is asked about: the others are as ready as they are.
        let is_absent = |it: &EngineStatus| it.condition == Condition::Missing && engines.len() > 1;
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

    /// Why nothing is answered at the moment, where that is so.
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

    /// A view of the workspace that holds every change made before this call, by anyone. Waits, as long as the needs
    /// allow, for the index and for the revision that is asked for; for its turn a little longer.
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
                // The writer panicked over it, or over what came before it: once it is there again it is asked again.
                let up = published.wait_for(|it| it.phase != Phase::Rebuilding);
                if tokio::time::timeout_at(until.into(), up).await.is_err() {
                    return Err(self.late());
                }
                continue;
            };
            let reached = needs.min_revision.is_none_or(|wanted| snapshot.revision.0 >= wanted);
            if reached && (snapshot.settled || !needs.index) {
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
                    (Some(language), true) => self.settled(language).await,
                    _ => {
                        let _ = published.wait_for(|it| it.revision > revision).await;
                    }
                }
            };
            let _ = timing::during(Part::Index, tokio::time::timeout_at(needs.deadline.into(), more)).await;
            // What was waited for did not come: what is there is still to be had.
            until = until.max(Instant::now() + PATIENCE);
        }
    }

    /// Resolves when there is nothing to wait for of the engine of this language.
    async fn settled(&self, language: LanguageId) {
        let Some(at) = self.registry().position(language) else { return };
        let mut published = self.inner.published.clone();
        // One that panicked is started anew.
        let there = published.wait_for(|it| it.engines.get(at).is_none_or(|it| it.down.is_none())).await;
        let handle = there.ok().and_then(|it| it.engines.get(at)?.handle.clone());
        if let Some(handle) = handle {
            (handle.settled)().await;
        }
    }

    /// Asks the writer. `None` where it panicked over that.
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

    /// The same for what is not asked again, as it may have been done.
    async fn ask_once<T>(&self, until: Instant, event: impl FnOnce(oneshot::Sender<Result<T>>) -> Event) -> Result<T> {
        self.ask(until, event).await?.ok_or_else(|| {
            let detail = "this request met a fault of semdex, which is in the log; the workspace is built anew. \
                          `changes` lists the change if it was made";
            self.with_meta(Error::new(Code::Internal, detail))
        })
    }

    /// The writer did not answer in time.
    fn late(&self) -> Error {
        // Not borrowed while `meta` borrows it too: whoever publishes in between would have both wait.
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

    /// An error with what an answer would say of the workspace, where it does not say that yet.
    pub fn with_meta(&self, error: Error) -> Error {
        if error.meta().is_some() {
            return error;
        }
        let revision = self.inner.published.borrow().revision;
        error.in_workspace(self.meta(None, revision, Coverage::default()))
    }

    /// What the process notes of itself.
    pub fn telemetry(&self) -> &Telemetry {
        &self.inner.telemetry
    }

    /// How many requests wait for the writer.
    pub fn queue_length(&self) -> usize {
        self.inner.inbox.len()
    }

    /// The repository around it.
    pub fn git(&self) -> &Git {
        &self.inner.git
    }

    /// Whole answers of this revision, by question.
    pub fn answers(&self) -> &AnswerCache {
        &self.inner.answers
    }

    /// A file's name as the workspace has it: confined to the root, links followed, `unknown` ones welcome.
    pub fn locate(&self, file: &str) -> Result<String> {
        Ok(self.inner.disk.locate(file)?.rel)
    }

    /// The text of a file that is perhaps not part of the workspace's texts; `None` where nothing stands.
    pub fn read_if_there(&self, file: &str) -> Result<Option<String>> {
        let located = self.inner.disk.locate(file)?;
        match self.inner.disk.read_text(&located) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.code == Code::UnknownFile => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Proposes a change to the writer, which makes it whole or not at all. Where it did not come to that by `until`, or
    /// a little later, it is not made any more.
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
                    "{}; nothing was changed, unless it was being written in this very moment: then `changes` lists it",
                    error.detail
                );
            }
            error
        })
    }

    /// Planned texts of a language with their imports put right by its engine, in the writer's turn, where that changes
    /// them. Nothing is changed.
    pub async fn fix_imports(&self, language: LanguageId, edits: Vec<FileEdit>, until: Instant) -> Result<Vec<Tidied>> {
        self.ask_once(until, |reply| Event::FixImports { language, edits, reply }).await
    }

    /// Refuses what an overlay's owner does not want.
    pub fn check_overlays(&self, edits: &[FileEdit]) -> Result<()> {
        let overlays = self.inner.published.borrow().overlays.clone();
        overlays::takes(&overlays, edits).map(drop)
    }

    /// Has content that is not on the disk stand before what is.
    pub async fn put_overlay(&self, put: Put) -> Result<Shown> {
        self.ask_once(Instant::now() + PATIENCE, |reply| Event::PutOverlay { put: Box::new(put), reply }).await
    }

    /// Takes an overlay away; the disk's content counts again. Answers with what was shown before.
    pub async fn remove_overlay(&self, file: &str) -> Result<Shown> {
        let event = |reply| Event::RemoveOverlay { file: file.to_owned(), reply };
        self.ask_once(Instant::now() + PATIENCE, event).await
    }

    /// Those that there are, in the order of their files' names.
    pub fn overlays(&self) -> Vec<Overlay> {
        self.inner.published.borrow().overlays.values().cloned().collect()
    }

    /// A change that was made, with what its files held before and after.
    pub async fn made(&self, change: &str) -> Result<Option<Entry>> {
        self.settle_journal().await?;
        self.inner.journal.get(journal::key(&self.inner.root), change.to_owned()).await
    }

    async fn settle_journal(&self) -> Result<()> {
        self.ask_once(Instant::now() + CHANGE_PATIENCE, |reply| Event::Journal { reply }).await
    }

    /// The changes that were made, the newest first.
    pub async fn changes(&self, query: journal::Query) -> Result<Entries> {
        self.settle_journal().await?;
        self.inner.journal.find(journal::Query { workspace: journal::key(&self.inner.root), ..query }).await
    }

    /// Bounded in time, also where the writer stands still.
    pub(super) async fn close(&self) {
        // It looks at this before it takes the next thing up.
        self.inner.closing.store(true, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        if self.inner.inbox.send(Event::Close { reply }).is_ok() && tokio::time::timeout(CLOSING, answer).await.is_err()
        {
            tracing::warn!(
                workspace = self.inner.id,
                "the writer did not end within {CLOSING:?} and is left to itself"
            );
        }
        let engines = self.inner.published.borrow().engines.clone();
        let closing = engines.into_iter().filter_map(|it| Some((it.handle?.close)()));
        futures::future::join_all(closing).await;
    }

    fn gone(&self) -> Error {
        Error::new(Code::UnknownWorkspace, format!("the workspace `{}` was closed meanwhile", self.inner.id))
    }
}
