//! A workspace: one writer that owns all mutable state, and immutable snapshots for readers.

mod background;
pub mod change;
mod compare;
pub mod disk;
pub mod journal;
mod memo;
mod outside;
pub mod overlays;
mod propose;
pub mod registry;
mod repair;
mod turn;
pub mod watch;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{oneshot, watch as channel};

use crate::lang::files::Files;
use crate::lang::{EngineStatus, Progress, Tidied, go, rust};
use crate::model::{Code, Coverage, Error, FileEdit, Language, Meta, Missing, Result, Revision, State};

pub use change::{Cause, Change, Hashes, Outcome, Undone};
use disk::Disk;
use journal::{Entry, Found, Journal};
use memo::Memo;
use overlays::{Overlay, Overlays, Put, Shown};
pub use registry::Workspaces;
use writer::{Event, Inbox};

/// A cloneable handle on an open workspace.
#[derive(Clone)]
pub struct Workspace {
    inner: Arc<Inner>,
}

struct Inner {
    id: String,
    root: PathBuf,
    inbox: Inbox,
    disk: Arc<Disk>,
    journal: Journal,
    published: channel::Receiver<Published>,
    memo: Memo,
}

/// What the writer tells without being asked.
#[derive(Clone)]
struct Published {
    revision: Revision,
    /// Whether code of the workspace may run.
    trusted: bool,
    /// Whether the text of the workspace was read.
    scanned: bool,
    /// Whether no load of Cargo workspaces is under way.
    rust_settled: bool,
    rust: Option<channel::Receiver<EngineStatus>>,
    go: Option<go::Go>,
    overlays: Arc<Overlays>,
    missing: Vec<Missing>,
}

/// What an answer needs.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    pub language: Option<Language>,
    /// The index of that language, not only its text.
    pub index: bool,
    pub min_revision: Option<u64>,
    pub deadline: Instant,
}

/// One revision, immutable. It holds an engine's view only where one was asked for; that of Rust stops the next
/// change until it is moved into its question and dropped.
pub struct Snapshot {
    pub revision: Revision,
    pub files: Arc<Files>,
    pub rust: Option<rust::view::View>,
    pub go: Option<go::View>,
    /// Whether code of the workspace may run.
    pub trusted: bool,
    /// Whether the language that was asked for has all that it can have.
    pub settled: bool,
}

/// What `GET /v1/status` says of one workspace.
#[derive(Debug, Clone)]
pub struct WorkspaceStatus {
    pub id: String,
    pub root: PathBuf,
    pub languages: Vec<Language>,
    pub state: State,
    pub revision: Revision,
    pub progress: Option<Progress>,
    pub engines: Vec<EngineStatus>,
    pub trusted: bool,
    pub missing: Vec<Missing>,
}

impl Workspace {
    /// Unique in the process: the root's last component, with a number where that is taken.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    pub fn is_trusted(&self) -> bool {
        self.inner.published.borrow().trusted
    }

    /// Its owner has said something else than before. Where the writer has no time for it now, this is to be said
    /// again.
    pub fn set_trust(&self, trusted: bool) {
        let _ = self.inner.inbox.send(Event::Trust(trusted));
    }

    pub fn status(&self) -> WorkspaceStatus {
        let published = self.inner.published.borrow().clone();
        let mut engines = Vec::new();
        engines.extend(published.rust.as_ref().map(|it| it.borrow().clone()));
        engines.extend(published.go.as_ref().map(|it| it.status().borrow().clone()));
        let mut missing = published.missing.clone();
        for engine in &engines {
            missing.extend(engine.missing.iter().filter(|it| !published.missing.contains(it)).cloned());
        }
        WorkspaceStatus {
            id: self.inner.id.clone(),
            root: self.inner.root.clone(),
            languages: engines.iter().map(|it| it.language).collect(),
            state: state(published.scanned, &engines),
            revision: published.revision,
            progress: engines.iter().find_map(|it| it.progress.clone()),
            engines,
            trusted: published.trusted,
            missing,
        }
    }

    /// The state of the workspace as an answer about this language sees it.
    pub fn meta(&self, language: Option<Language>, revision: Revision, coverage: Coverage) -> Meta {
        let status = self.status();
        let engines: Vec<EngineStatus> =
            status.engines.into_iter().filter(|it| language.is_none_or(|language| it.language == language)).collect();
        let overlays = self.inner.published.borrow().overlays.keys().cloned().collect();
        Meta { workspace: self.inner.id.clone(), revision, state: state(true, &engines), coverage, overlays }
    }

    /// A view of the workspace that holds every change made before this call, by anyone. Waits, as long as the needs
    /// allow, for the index and for the revision that is asked for.
    pub async fn snapshot(&self, needs: Needs) -> Result<Snapshot> {
        let mut published = self.inner.published.clone();
        loop {
            let (reply, answer) = oneshot::channel();
            self.send(Event::Snapshot { language: needs.language, reply })?;
            let snapshot = answer.await.map_err(|_| self.gone())??;
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
                    (Some(Language::Go), true) => self.go_ready().await,
                    (Some(Language::Rust), true) => {
                        let _ = published.wait_for(|it| it.rust_settled).await;
                    }
                    _ => {
                        let _ = published.wait_for(|it| it.revision > revision).await;
                    }
                }
            };
            let _ = tokio::time::timeout_at(needs.deadline.into(), more).await;
        }
    }

    async fn go_ready(&self) {
        let go = self.inner.published.borrow().go.clone();
        if let Some(go) = go {
            go.settled().await;
        }
    }

    pub fn memo(&self) -> &Memo {
        &self.inner.memo
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

    /// Proposes a change to the writer, which makes it whole or not at all.
    pub async fn change(&self, change: Change) -> Result<Outcome> {
        let (reply, answer) = oneshot::channel();
        self.send(Event::Change { change: Box::new(change), reply })?;
        answer.await.map_err(|_| self.gone())?
    }

    /// Planned texts of Rust with their imports put right, where that changes them. Nothing is changed.
    pub async fn fix_imports(&self, edits: Vec<FileEdit>) -> Result<Vec<Tidied>> {
        let (reply, answer) = oneshot::channel();
        self.send(Event::FixImports { edits, reply })?;
        answer.await.map_err(|_| self.gone())?
    }

    /// Refuses what an overlay's owner does not want.
    pub fn check_overlays(&self, edits: &[FileEdit]) -> Result<()> {
        let overlays = self.inner.published.borrow().overlays.clone();
        overlays::takes(&overlays, edits).map(drop)
    }

    /// Has content that is not on the disk stand before what is.
    pub async fn put_overlay(&self, put: Put) -> Result<Shown> {
        let (reply, answer) = oneshot::channel();
        self.send(Event::PutOverlay { put: Box::new(put), reply })?;
        answer.await.map_err(|_| self.gone())?
    }

    pub async fn remove_overlay(&self, file: &str) -> Result<Shown> {
        let (reply, answer) = oneshot::channel();
        self.send(Event::RemoveOverlay { file: file.to_owned(), reply })?;
        answer.await.map_err(|_| self.gone())?
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
        let (reply, answer) = oneshot::channel();
        self.send(Event::Journal { reply })?;
        answer.await.map_err(|_| self.gone())
    }

    /// The changes that were made, the newest first.
    pub async fn changes(&self, query: journal::Query) -> Result<Found> {
        self.settle_journal().await?;
        self.inner.journal.find(journal::Query { workspace: journal::key(&self.inner.root), ..query }).await
    }

    /// The Go engine, for what must be asked before a change is made.
    pub fn go(&self) -> Option<go::Go> {
        self.inner.published.borrow().go.clone()
    }

    async fn close(&self) {
        let (reply, answer) = oneshot::channel();
        if self.send(Event::Close { reply }).is_ok() {
            let _ = answer.await;
        }
        if let Some(go) = self.go() {
            go.shutdown().await;
        }
    }

    fn send(&self, event: Event) -> Result<()> {
        self.inner.inbox.send(event)
    }

    fn gone(&self) -> Error {
        Error::new(Code::UnknownWorkspace, format!("the workspace `{}` was closed meanwhile", self.inner.id))
    }
}

/// The least of what the engines have come to.
fn state(scanned: bool, engines: &[EngineStatus]) -> State {
    if !scanned {
        return State::Starting;
    }
    if engines.iter().any(|it| it.state == State::Degraded) {
        return State::Degraded;
    }
    engines.iter().map(|it| it.state).min().unwrap_or(State::Ready)
}
