//! The journal records every change with the contents of its files before and after. So a change can be undone, and a
//! change that a kill or a power cut interrupted is found and repaired. It is in the user's state directory, never in
//! the workspace, and all workspaces and processes of one user share it. Only this module names sqlx.
//!
//! A change is recorded and synced to the disk before its first file is touched. That it is done is noted afterwards,
//! with the next record or when the journal is idle. A lost note costs nothing: the next start compares the files with
//! the record (`repair.rs`). So an edit waits for one commit and one fsync.
//!
//! A single file would need no record to be whole, since one rename makes it so. It is recorded all the same, because a
//! change that cannot be undone after a power cut would break the promise.

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

use super::change::{Cause, RequestKey};
pub use baseline::{Baseline, Kept};
use semdex_config::JournalBounds;
use semdex_engine::Backoff;
use semdex_model::{ChangeImpact, Code, Error, Impact, Result};
use semdex_process::fault;
use store::{Store, milliseconds};

/// How many jobs may wait. Every change waits for its own job, so there are never more than workspaces and readers.
const JOBS: usize = 1024;
/// For how long texts and replies are kept.
pub const KEPT_FOR_MS: i64 = 24 * 3600 * 1000;
/// How long a reader waits for its job.
const READ: Duration = Duration::from_secs(10);
/// After this long without a job, notes are written and old changes are dropped.
const IDLE: Duration = Duration::from_millis(50);

/// A cloneable handle on the thread that owns the database.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<Job>,
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The token that undoes the change: a ULID, so tokens sort by time.
    pub id: String,
    /// The workspace's root.
    pub workspace: String,
    /// Milliseconds since 1970.
    pub made_at: i64,
    /// The revision after the change.
    pub revision: u64,
    /// The request that made the change.
    pub cause: Cause,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// The change that this change undoes.
    pub undoes: Option<String>,
    /// The change that undoes this one, as long as that is in effect.
    pub undone_by: Option<String>,
    /// The files of the change.
    pub files: Vec<EntryFile>,
    /// `None` for a change that an older semdex recorded.
    pub reached: Option<Reached>,
    /// The idempotency key of the request that made the change.
    pub request_key: Option<RequestKey>,
}

/// The size of a change's impact, as computed when it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// How many symbols changed.
    pub changed: usize,
    /// How many places broke.
    pub broken: usize,
    /// How many places were affected.
    pub affected: usize,
    /// How many tests were affected.
    pub tests: usize,
    /// The impact is known completely.
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

/// A file of a recorded change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFile {
    /// The file's name.
    pub file: String,
    /// `None` if there was no file, and in lists without contents.
    pub old: Option<Arc<str>>,
    /// `None` if there is no file after the change, and in lists without contents.
    pub new: Option<Arc<str>>,
    /// BLAKE3 before the change, in hex.
    pub old_hash: Option<String>,
    /// BLAKE3 after the change, in hex.
    pub new_hash: Option<String>,
    /// The permissions before the change; after it, if there was no file.
    pub mode: Option<u32>,
    /// How many directories around the file were created for it.
    pub made_directories: usize,
}

/// A text that a file had, to be kept for a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptText {
    /// The workspace's key.
    pub(crate) workspace: String,
    /// Relative to the workspace root.
    pub(crate) file: String,
    /// BLAKE3 in hex.
    pub(crate) hash: String,
    pub(crate) text: Arc<str>,
}

/// The first reply to a request with an idempotency key, kept for a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptReply {
    /// The workspace's key.
    pub workspace: String,
    /// The key of the request.
    pub key: String,
    /// Differs if the request differs.
    pub fingerprint: String,
    /// The HTTP status of the reply.
    pub status: u16,
    /// The media type of the body.
    pub media_type: String,
    /// The body.
    pub body: String,
}

/// A query for recorded changes.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The workspace's key.
    pub workspace: String,
    /// Only changes of this file.
    pub file: Option<String>,
    /// Only changes older than this one.
    pub before: Option<String>,
    /// Only changes by requests with this idempotency key.
    pub request_key: Option<String>,
    /// At most this many.
    pub limit: usize,
    /// With the contents of the files.
    pub contents: bool,
}

/// A page of recorded changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entries {
    /// The changes, newest first.
    pub entries: Vec<Entry>,
    /// The number of changes on all pages.
    pub total: usize,
    /// An older journal was unreadable and is not in the list.
    pub lost: Option<String>,
}

/// The outcome of a recorded change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordOutcome {
    Done,
    /// The disk has nothing of it.
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
    KeepText(Box<KeptText>),
    /// The workspace, the file, and the first digits of the hash.
    Text(String, String, String, oneshot::Sender<Result<Option<Arc<str>>>>),
    /// The workspace, the file, and how many.
    Texts(String, String, usize, oneshot::Sender<Result<Vec<Arc<str>>>>),
    KeepReply(Box<KeptReply>, oneshot::Sender<Result<()>>),
    Reply(String, String, oneshot::Sender<Result<Option<KeptReply>>>),
    #[cfg(test)]
    Flush(oneshot::Sender<()>),
    /// The last job.
    End(oneshot::Sender<()>),
}

/// The key of a workspace's changes.
pub(crate) fn key(root: &Path) -> String {
    // A name that is not UTF-8 is escaped.
    root.to_str().map_or_else(|| format!("{root:?}"), str::to_owned)
}

/// The current time in milliseconds since 1970.
pub fn now() -> i64 {
    milliseconds()
}

impl Journal {
    /// Opens the database when it is first needed, and creates it with the first change.
    pub fn new(state_dir: &Path, bounds: JournalBounds) -> Journal {
        let (jobs, inbox) = mpsc::channel(JOBS);
        let directory = state_dir.to_path_buf();
        let spawned = thread::Builder::new().name("journal".to_owned()).spawn(move || run(&directory, bounds, inbox));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for the journal: no change can be made");
        }
        Journal { jobs }
    }

    /// The number of waiting jobs.
    pub(crate) fn queue_length(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    /// Records a change that is about to be made. After the return any crash leaves the record.
    pub(crate) fn begin(&self, entry: Entry, deadline: Duration) -> Result<()> {
        let id = entry.id.clone();
        let recorded = self.wait(deadline, |reply| Job::Begin(Box::new(entry), reply));
        if recorded.is_err() {
            // The record may have been written after the deadline.
            self.settle(id, RecordOutcome::Dropped);
        }
        recorded
    }

    /// Notes the outcome of a change without waiting for the write.
    pub(crate) fn settle(&self, id: String, outcome: RecordOutcome) {
        if self.jobs.try_send(Job::Settle(id, outcome)).is_err() {
            tracing::warn!("the journal is busy: the next start will see how the change came out");
        }
    }

    /// The changes of a workspace without a noted outcome.
    pub(crate) fn unfinished(&self, workspace: String, deadline: Duration) -> Result<Vec<Entry>> {
        self.wait(deadline, |reply| Job::Unfinished(workspace, reply))
    }

    /// One change with its contents.
    pub(crate) async fn get(&self, workspace: String, id: String) -> Result<Option<Entry>> {
        self.ask(|reply| Job::Get(workspace, id, reply)).await?
    }

    /// Changes that were made, newest first.
    pub(crate) async fn find(&self, query: Query) -> Result<Entries> {
        self.ask(|reply| Job::Find(query, reply)).await?
    }

    /// Keeps a baseline. A whole one replaces the baseline before; any other replaces that baseline's entries of its
    /// files.
    pub async fn keep_baseline(&self, baseline: Baseline) -> Result<()> {
        self.ask(|reply| Job::KeepBaseline(Box::new(baseline), reply)).await?
    }

    /// The baseline of a workspace, if one was kept.
    pub async fn baseline(&self, workspace: String) -> Result<Option<Baseline>> {
        self.ask(|reply| Job::Baseline(workspace, reply)).await?
    }

    /// Keeps a text for a day, without waiting for the write. A busy journal does not keep it.
    pub(crate) fn keep_text(&self, text: KeptText) {
        let _ = self.jobs.try_send(Job::KeepText(Box::new(text)));
    }

    /// A text that a file had, by the first digits of its hash.
    pub(crate) async fn text(&self, workspace: String, file: String, digits: String) -> Result<Option<Arc<str>>> {
        self.ask(|reply| Job::Text(workspace, file, digits, reply)).await?
    }

    /// The texts of a file that were kept, the newest first.
    pub(crate) async fn texts(&self, workspace: String, file: String, limit: usize) -> Result<Vec<Arc<str>>> {
        self.ask(|reply| Job::Texts(workspace, file, limit, reply)).await?
    }

    /// Keeps the first reply to a request. After the return a crash does not lose it.
    pub(crate) async fn keep_reply(&self, kept: KeptReply) -> Result<()> {
        self.ask(|reply| Job::KeepReply(Box::new(kept), reply)).await?
    }

    /// The first reply to a request with this key.
    pub(crate) async fn reply(&self, workspace: String, key: String) -> Result<Option<KeptReply>> {
        self.ask(|reply| Job::Reply(workspace, key, reply)).await?
    }

    /// Returns when all notes are written.
    #[cfg(test)]
    pub(crate) async fn flush(&self) {
        let _ = self.ask(Job::Flush).await;
    }

    /// Ends the journal: returns when all that was sent is written and the database is closed. SQLite then moves its log
    /// into the database, unless another process has it open. What comes later is refused.
    pub(crate) async fn end(&self) {
        let _ = self.ask(Job::End).await;
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
    Error::new(Code::Internal, "the journal met a fault, which is in the log, and is opened again: try again")
}

fn late(deadline: Duration) -> Error {
    Error::new(Code::Busy, format!("the journal did not answer within {deadline:?}: try again"))
}

/// Serves the handles until the last one is dropped. A panic fails the current job, and the database is opened again.
fn run(directory: &Path, bounds: JournalBounds, mut inbox: mpsc::Receiver<Job>) {
    let mut retries = Backoff::default();
    let mut store = Store::new(directory, bounds);
    while !matches!(catch_unwind(AssertUnwindSafe(|| serve_all(&mut store, &mut inbox))), Ok(Ok(()))) {
        store.reopen();
        let pause = retries.failed();
        tracing::error!(?pause, "the journal failed and is opened again");
        thread::sleep(pause);
    }
}

fn serve_all(store: &mut Store, inbox: &mut mpsc::Receiver<Job>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.inspect_err(|error| tracing::error!(%error, "no runtime for the journal"))?;
    runtime.block_on(async move {
        let mut ended = Vec::new();
        loop {
            let job = match tokio::time::timeout(IDLE, inbox.recv()).await {
                Ok(Some(job)) => job,
                Ok(None) => break,
                Err(_) => {
                    store.rest().await;
                    // Nothing is outstanding: waits for the next job.
                    match inbox.recv().await {
                        Some(job) => job,
                        None => break,
                    }
                }
            };
            match job {
                // What was sent before is still served.
                Job::End(reply) => {
                    inbox.close();
                    ended.push(reply);
                }
                job => serve(store, job).await,
            }
        }
        store.rest().await;
        store.close().await;
        for reply in ended {
            let _ = reply.send(());
        }
    });
    Ok(())
}

/// A client that no longer waits gets no reply.
async fn serve(store: &mut Store, job: Job) {
    if !matches!(job, Job::Settle(..) | Job::KeepText(_)) {
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
        Job::KeepText(text) => store.keep_text(*text),
        Job::Text(workspace, file, digits, reply) => drop(reply.send(store.text(&workspace, &file, &digits).await)),
        Job::Texts(workspace, file, limit, reply) => drop(reply.send(store.texts(&workspace, &file, limit).await)),
        Job::KeepReply(kept, reply) => drop(reply.send(store.keep_reply(&kept).await)),
        Job::Reply(workspace, key, reply) => drop(reply.send(store.reply(&workspace, &key).await)),
        #[cfg(test)]
        Job::Flush(reply) => {
            store.rest().await;
            let _ = reply.send(());
        }
        // The loop ends by it.
        Job::End(_) => {}
    }
}
