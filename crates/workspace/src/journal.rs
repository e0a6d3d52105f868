//! The journal: every change with what its files held before and after, so that it can be taken back, and so that one
//! that a kill or a power cut left half made is found and repaired. In the user's state directory, never in the
//! workspace; shared by all workspaces and all processes of one user. The only place that names sqlx.
//!
//! A change is recorded, synced to the disk, before its first file is touched; that it is done is noted afterwards,
//! with the next record or as soon as nothing else is to do. A note that is lost costs nothing: whoever starts next
//! compares the files with the record (`repair.rs`). So an edit waits for one commit and one fsync.
//!
//! A single file needs no record to be whole, since one rename makes it so. It is recorded as strictly all the same:
//! a change that could not be taken back after a power cut is not what was promised.

mod baseline;
mod content;
mod database;
mod store;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::change::Cause;
pub use baseline::{Baseline, Kept};
use semdex_config::JournalBounds;
use semdex_engine::Backoff;
use semdex_model::{ChangeImpact, Code, Error, Impact, Result};
use semdex_process::fault;
use store::{Store, milliseconds};

/// Jobs that may wait at once. Every change waits for its own, so there are never more than there are workspaces and
/// readers.
const JOBS: usize = 1024;
/// How long whoever reads, or waits for what was noted, waits.
const READ: Duration = Duration::from_secs(10);
/// After so long without a job what is outstanding is written, and what is too old is dropped.
const IDLE: Duration = Duration::from_millis(50);

/// A cloneable handle on the thread that has the database.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

/// A change as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The token that takes it back: a ULID, so that tokens are in the order of time.
    pub id: String,
    /// The workspace's root.
    pub workspace: String,
    /// Milliseconds since 1970.
    pub made_at: i64,
    pub revision: u64,
    pub cause: Cause,
    /// Who asked for it, as it calls itself.
    pub client: Option<String>,
    /// The change that this one takes back.
    pub undoes: Option<String>,
    /// The change by which this one is taken back, as long as that holds.
    pub undone_by: Option<String>,
    pub files: Vec<EntryFile>,
    /// Absent of what an older semdex recorded.
    pub reached: Option<Reached>,
}

/// How much a change reached, as it was computed when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    pub changed: usize,
    pub broken: usize,
    pub affected: usize,
    pub tests: usize,
    /// Nothing of it is unknown.
    pub is_complete: bool,
}

impl From<&ChangeImpact> for Reached {
    fn from(change_impact: &ChangeImpact) -> Reached {
        let Impact { changed, broken, affected, tests, .. } = &change_impact.impact;
        Reached {
            changed: changed.len(),
            broken: broken.len(),
            affected: affected.len(),
            tests: tests.len(),
            is_complete: change_impact.coverage.complete,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFile {
    pub file: String,
    /// Absent where there was no file, and in lists that ask for no contents.
    pub old: Option<Arc<str>>,
    /// Absent where there is none after the change, and in lists that ask for no contents.
    pub new: Option<Arc<str>>,
    pub old_hash: Option<String>,
    pub new_hash: Option<String>,
    /// Of the file before, or after where there was none.
    pub mode: Option<u32>,
    /// So many of the directories around the file were made for it.
    pub made_directories: usize,
}

/// Which changes are asked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub workspace: String,
    pub file: Option<String>,
    /// Only those older than this one.
    pub before: Option<String>,
    pub limit: usize,
    pub contents: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    pub entries: Vec<Entry>,
    /// However many there are, of all pages.
    pub total: usize,
    /// An older journal was unreadable, and is not in the list.
    pub lost: Option<String>,
}

/// How a recorded change came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordOutcome {
    Done,
    /// Nothing of it is on the disk.
    Dropped,
}

enum Job {
    Begin(Box<Entry>, crossbeam_channel::Sender<Result<()>>),
    Settle(String, RecordOutcome),
    Unfinished(String, crossbeam_channel::Sender<Result<Vec<Entry>>>),
    Get(String, String, oneshot::Sender<Result<Option<Entry>>>),
    Find(Query, oneshot::Sender<Result<Entries>>),
    KeepBaseline(Box<Baseline>, oneshot::Sender<Result<()>>),
    Baseline(String, oneshot::Sender<Result<Option<Baseline>>>),
    Flush(oneshot::Sender<()>),
}

/// What a workspace's changes are filed under.
pub(crate) fn key(root: &Path) -> String {
    // A name that is not UTF-8 keeps its odd bytes, escaped.
    root.to_str().map_or_else(|| format!("{root:?}"), str::to_owned)
}

/// The time as entries have it.
pub fn now() -> i64 {
    milliseconds()
}

impl Journal {
    /// The database is opened when it is first needed, and made with the first change.
    pub fn new(state_dir: &Path, bounds: JournalBounds) -> Journal {
        let (jobs, inbox) = mpsc::channel(JOBS);
        let directory = state_dir.to_path_buf();
        let spawned = thread::Builder::new().name("journal".to_owned()).spawn(move || run(&directory, bounds, inbox));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for the journal: no change can be made");
        }
        Journal { jobs }
    }

    /// How many jobs wait.
    pub(crate) fn queue_length(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    /// Records a change that is about to be made. When this returns it will be found after any crash.
    pub(crate) fn begin(&self, entry: Entry, deadline: Duration) -> Result<()> {
        let id = entry.id.clone();
        let recorded = self.wait(deadline, |reply| Job::Begin(Box::new(entry), reply));
        if recorded.is_err() {
            // It may have been recorded all the same, too late.
            self.settle(id, RecordOutcome::Dropped);
        }
        recorded
    }

    /// Notes how a change came out; does not wait for it to be written.
    pub(crate) fn settle(&self, id: String, outcome: RecordOutcome) {
        if self.jobs.try_send(Job::Settle(id, outcome)).is_err() {
            tracing::warn!("the journal is busy: the next start will see how the change came out");
        }
    }

    /// The changes of a workspace of which nobody knows whether they were made.
    pub(crate) fn unfinished(&self, workspace: String, deadline: Duration) -> Result<Vec<Entry>> {
        self.wait(deadline, |reply| Job::Unfinished(workspace, reply))
    }

    /// One change with its contents.
    pub(crate) async fn get(&self, workspace: String, id: String) -> Result<Option<Entry>> {
        self.ask(|reply| Job::Get(workspace, id, reply)).await?
    }

    /// Changes that are done, the newest first.
    pub(crate) async fn find(&self, query: Query) -> Result<Entries> {
        self.ask(|reply| Job::Find(query, reply)).await?
    }

    /// Keeps a baseline: in place of the one before where it is whole, else in place of what that has of its files.
    pub async fn keep_baseline(&self, baseline: Baseline) -> Result<()> {
        self.ask(|reply| Job::KeepBaseline(Box::new(baseline), reply)).await?
    }

    /// The baseline of a workspace, if one was kept.
    pub async fn baseline(&self, workspace: String) -> Result<Option<Baseline>> {
        self.ask(|reply| Job::Baseline(workspace, reply)).await?
    }

    /// Returns when all that was noted is written.
    pub(crate) async fn flush(&self) {
        let _ = self.ask(Job::Flush).await;
    }

    fn wait<T>(&self, deadline: Duration, job: impl FnOnce(crossbeam_channel::Sender<Result<T>>) -> Job) -> Result<T> {
        let (reply, answer) = crossbeam_channel::bounded(1);
        self.jobs.try_send(job(reply)).map_err(|_| gone())?;
        answer.recv_timeout(deadline).map_err(|error| match error {
            crossbeam_channel::RecvTimeoutError::Timeout => late(deadline),
            crossbeam_channel::RecvTimeoutError::Disconnected => gone(),
        })?
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let asked = async {
            self.jobs.send(job(reply)).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())
        };
        tokio::time::timeout(READ, asked).await.unwrap_or_else(|_| Err(late(READ)))
    }
}

fn gone() -> Error {
    Error::new(Code::Internal, "the journal met a fault, which is in the log, and is opened anew: try again")
}

fn late(deadline: Duration) -> Error {
    Error::new(Code::Busy, format!("the journal did not answer within {deadline:?}: try again"))
}

/// Serves the handles until the last is gone. A panic costs the job at hand: the database is opened anew.
fn run(directory: &Path, bounds: JournalBounds, mut inbox: mpsc::Receiver<Job>) {
    let mut retries = Backoff::default();
    let mut store = Store::new(directory, bounds);
    while !matches!(catch_unwind(AssertUnwindSafe(|| serve_all(&mut store, &mut inbox))), Ok(Ok(()))) {
        store.reopen();
        let pause = retries.failed();
        tracing::error!(?pause, "the journal failed and is opened anew");
        thread::sleep(pause);
    }
}

fn serve_all(store: &mut Store, inbox: &mut mpsc::Receiver<Job>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.inspect_err(|error| tracing::error!(%error, "no runtime for the journal"))?;
    runtime.block_on(async move {
        loop {
            let job = match tokio::time::timeout(IDLE, inbox.recv()).await {
                Ok(Some(job)) => job,
                Ok(None) => break,
                Err(_) => {
                    store.rest().await;
                    // Nothing is outstanding: sleeps until there is something to do.
                    match inbox.recv().await {
                        Some(job) => job,
                        None => break,
                    }
                }
            };
            serve(store, job).await;
        }
        store.rest().await;
        store.close().await;
    });
    Ok(())
}

/// Whoever has gone meanwhile is not answered.
async fn serve(store: &mut Store, job: Job) {
    if !matches!(job, Job::Settle(..)) {
        fault::point("journal.job");
    }
    match job {
        Job::Begin(entry, reply) => drop(reply.send(store.begin(*entry).await)),
        Job::Settle(id, outcome) => store.settle(id, outcome),
        Job::Unfinished(workspace, reply) => drop(reply.send(store.unfinished(&workspace).await)),
        Job::Get(workspace, id, reply) => drop(reply.send(store.get(&workspace, &id).await)),
        Job::Find(query, reply) => drop(reply.send(store.find(query).await)),
        Job::KeepBaseline(baseline, reply) => drop(reply.send(store.keep_baseline(&baseline).await)),
        Job::Baseline(workspace, reply) => drop(reply.send(store.baseline(&workspace).await)),
        Job::Flush(reply) => {
            store.rest().await;
            let _ = reply.send(());
        }
    }
}
