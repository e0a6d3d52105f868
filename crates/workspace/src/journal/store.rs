//! The journal's tables, in SQLite. Types and statements are plain, so that another database can hold the same tables.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, Sqlite, Transaction};

use super::content::{pack, unpack};
use super::database::{FILE, Failure, Identity, error_of, is_corrupt, open, unusable};
use super::{Entries, Entry, EntryFile, KEPT_FOR_MS, KeptText, Query, Reached, RecordOutcome};
use crate::change::{Cause, RequestKey};
use semdex_config::JournalBounds;
use semdex_model::{Code, Error, Result};

/// How many bytes may be recorded before old or excess changes are dropped again.
const PRUNE_AFTER_BYTES: u64 = 16 << 20;
const PRUNE_AFTER_CHANGES: usize = 256;
const CHECK_POINT_AFTER: usize = 32;
/// How often a change is recorded in another file before it is refused.
const RECORDED_AGAIN: usize = 3;
/// How large all texts that are kept for a day may be together, compressed.
const TEXT_BYTES: i64 = 128 << 20;
/// The same for replies.
const REPLY_BYTES: i64 = 64 << 20;

pub(super) struct Store {
    directory: PathBuf,
    bounds: JournalBounds,
    connection: Option<SqliteConnection>,
    /// The files of the connection.
    identity: Option<Identity>,
    /// Outcomes that are not written yet. They are written with the next record.
    settled: Vec<(String, RecordOutcome)>,
    /// Texts that are not written yet.
    texts: VecDeque<KeptText>,
    /// Bytes recorded since old or excess changes were dropped.
    recorded_bytes: u64,
    recorded: usize,
    /// Records since SQLite's log was moved into the database.
    unchecked: usize,
    /// What happened to a journal that could not be read.
    lost: Option<String>,
}

/// Runs statements on the connection, and once more after a failure that could be repaired.
macro_rules! retried {
    ($store:ident, $create:expr, $connection:ident => $statements:expr) => {{
        let mut mended = false;
        loop {
            let result: std::result::Result<_, Failure> = match $store.connection($create || mended).await {
                Ok($connection) => async { $statements }.await,
                Err(failure) => Err(failure),
            };
            match result {
                Ok(value) => break Ok(value),
                Err(failure) => match $store.failed(failure).await {
                    Retry::Yes if !mended => mended = true,
                    Retry::Yes => break Err(unusable(&$store.directory, "it stays unreadable")),
                    Retry::No(error) => break Err(error),
                },
            }
        }
    }};
}

mod baselines;
mod replies;
mod texts;

impl Store {
    pub(super) fn new(directory: &Path, bounds: JournalBounds) -> Store {
        Store {
            directory: directory.to_path_buf(),
            bounds,
            connection: None,
            identity: None,
            settled: Vec::new(),
            texts: VecDeque::new(),
            // So that old changes are dropped once after the start.
            recorded_bytes: PRUNE_AFTER_BYTES,
            recorded: 0,
            unchecked: 0,
            lost: None,
        }
    }

    pub(super) async fn begin(&mut self, entry: Entry) -> Result<()> {
        let packed = entry.files.iter().map(Packed::new).collect::<std::io::Result<Vec<_>>>();
        let packed = packed.map_err(|error| unusable(&self.directory, &format!("compressing failed: {error}")))?;
        let bytes: usize = packed.iter().map(Packed::bytes).sum();
        for attempt in 1.. {
            let settled = self.settled.clone();
            retried!(self, true, connection => record(connection, &settled, &entry, &packed, bytes).await)?;
            self.settled.drain(..settled.len());
            // Otherwise the record is in a file that is gone.
            if !self.has_moved() {
                break;
            }
            if attempt == RECORDED_AGAIN {
                return Err(unusable(&self.directory, "its files are removed, replaced or emptied again and again"));
            }
        }
        self.recorded += 1;
        self.unchecked += 1;
        self.recorded_bytes += bytes as u64;
        Ok(())
    }

    pub(super) fn settle(&mut self, id: String, outcome: RecordOutcome) {
        self.settled.push((id, outcome));
    }

    /// Writes what is outstanding, and drops old or excess changes.
    pub(super) async fn rest(&mut self) {
        if let Err(error) = self.write_settled().await {
            tracing::warn!(%error, "the journal could not be written: the next start will see how changes came out");
        }
        if let Err(error) = self.write_texts().await {
            tracing::warn!(%error, "texts that clients were shown could not be kept");
        }
        if self.unchecked >= CHECK_POINT_AFTER {
            self.unchecked = 0;
            // Otherwise the commit of an edit would have to do it.
            let moved: Result<()> = retried!(self, false, connection => {
                sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(connection).await.map(drop)
            });
            if let Err(error) = moved {
                tracing::warn!(%error, "the journal's log could not be moved into it");
            }
        }
        if (self.recorded_bytes < PRUNE_AFTER_BYTES && self.recorded < PRUNE_AFTER_CHANGES) || !self.exists() {
            return;
        }
        let bounds = self.bounds;
        let pruned: Result<usize> = retried!(self, false, connection => prune(connection, bounds).await);
        match pruned {
            Ok(count) if count > 0 => tracing::info!(count, "old changes left the journal"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "old changes could not be taken out of the journal"),
        }
        (self.recorded, self.recorded_bytes) = (0, 0);
    }

    /// After a panic: the next job opens the database again. Outcomes that are not written yet are kept.
    pub(super) fn reopen(&mut self) {
        self.connection = None;
    }

    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }

    async fn write_settled(&mut self) -> Result<()> {
        if self.settled.is_empty() || !self.exists() {
            self.settled.clear();
            return Ok(());
        }
        let settled = self.settled.clone();
        retried!(self, false, connection => {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            write_verdicts(&mut transaction, &settled).await?;
            transaction.commit().await
        })?;
        self.settled.drain(..settled.len());
        Ok(())
    }

    pub(super) async fn unfinished(&mut self, workspace: &str) -> Result<Vec<Entry>> {
        if !self.exists() {
            return Ok(Vec::new());
        }
        let settled = self.settled.clone();
        retried!(self, false, connection => {
            let mut reading = with_verdicts(connection, &settled).await?;
            let rows = sqlx::query("SELECT * FROM changes WHERE workspace = $1 AND state = 'begun' ORDER BY id")
                .bind(workspace)
                .fetch_all(&mut *reading)
                .await?;
            let found = entries(&mut reading, rows, true).await?;
            reading.rollback().await.map(|()| found)
        })
    }

    pub(super) async fn get(&mut self, workspace: &str, id: &str) -> Result<Option<Entry>> {
        if !self.exists() {
            return Ok(None);
        }
        let settled = self.settled.clone();
        retried!(self, false, connection => {
            let mut reading = with_verdicts(connection, &settled).await?;
            let rows = sqlx::query("SELECT * FROM changes WHERE workspace = $1 AND id = $2 AND state = 'done'")
                .bind(workspace)
                .bind(id)
                .fetch_all(&mut *reading)
                .await?;
            let found = entries(&mut reading, rows, true).await?.pop();
            reading.rollback().await.map(|()| found)
        })
    }

    pub(super) async fn find(&mut self, query: Query) -> Result<Entries> {
        if !self.exists() {
            return Ok(Entries { lost: self.lost.clone(), ..Entries::default() });
        }
        let settled = self.settled.clone();
        let (file, before, key) = (query.file.as_deref(), query.before.as_deref(), query.request_key.as_deref());
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let (entries, total) = retried!(self, false, connection => {
            let mut reading = with_verdicts(connection, &settled).await?;
            let rows = sqlx::query(
                "SELECT * FROM changes WHERE workspace = $1 AND state = 'done' AND ($2 IS NULL OR id < $2) \
                 AND ($3 IS NULL OR id IN (SELECT change_id FROM change_files WHERE file = $3)) \
                 AND ($5 IS NULL OR idempotency_key = $5) ORDER BY id DESC LIMIT $4",
            )
            .bind(&query.workspace)
            .bind(before)
            .bind(file)
            .bind(limit)
            .bind(key)
            .fetch_all(&mut *reading)
            .await?;
            let entries = entries(&mut reading, rows, query.contents).await?;
            let total: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM changes WHERE workspace = $1 AND state = 'done' \
                 AND ($2 IS NULL OR id IN (SELECT change_id FROM change_files WHERE file = $2))",
            )
            .bind(&query.workspace)
            .bind(file)
            .fetch_one(&mut *reading)
            .await?;
            reading.rollback().await?;
            Ok((entries, usize::try_from(total).unwrap_or_default()))
        })?;
        Ok(Entries { entries, total, lost: self.lost.clone() })
    }

    fn exists(&mut self) -> bool {
        if self.has_moved() {
            self.connection = None;
            self.note_moved();
        }
        self.directory.join(FILE).exists()
    }

    fn note_moved(&mut self) {
        tracing::error!("the journal's files were removed, replaced or emptied by another program: it is opened again");
        let lost = "the journal was removed, replaced or emptied while semdex ran, and earlier changes are not listed";
        self.lost = Some(lost.to_owned());
    }

    async fn connection(&mut self, create: bool) -> std::result::Result<&mut SqliteConnection, Failure> {
        if self.has_moved() {
            self.close().await;
            self.note_moved();
        }
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = open(&self.directory, create).await?;
                self.identity = Some(Identity::now(&self.directory));
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }

    /// Whether the connection has other files than the directory.
    fn has_moved(&self) -> bool {
        self.connection.is_some() && self.identity.as_ref() != Some(&Identity::now(&self.directory))
    }

    /// Handles a failure for the client that waits. A journal that nobody can read is put aside, so that there can be a
    /// new one.
    async fn failed(&mut self, failure: Failure) -> Retry {
        let error = error_of(&self.directory, &failure);
        // The next job begins with a new connection.
        let old = self.connection.take();
        if error.code == Code::DiskFull && old.is_some() {
            // As long as another one is open it needs no room on the disk, and can read.
            self.connection = open(&self.directory, false).await.ok();
        }
        drop(old);
        if !is_corrupt(&failure) {
            return Retry::No(error);
        }
        // Perhaps only this connection is damaged, or another process has already put the file aside.
        if let Ok(connection) = open(&self.directory, false).await {
            self.connection = Some(connection);
            self.identity = Some(Identity::now(&self.directory));
            return Retry::Yes;
        }
        let aside = format!("{FILE}.unreadable-{}", milliseconds());
        let moved = std::fs::rename(self.directory.join(FILE), self.directory.join(&aside));
        for rest in ["-wal", "-shm"] {
            let _ = std::fs::rename(
                self.directory.join(format!("{FILE}{rest}")),
                self.directory.join(format!("{aside}{rest}")),
            );
        }
        if moved.is_err() {
            return Retry::No(error_of(&self.directory, &failure));
        }
        tracing::error!(%failure, aside, "the journal cannot be read and was put aside; a new one is begun");
        self.lost = Some(format!("an older journal could not be read and was put aside as `{aside}`"));
        Retry::Yes
    }
}

enum Retry {
    Yes,
    No(Error),
}

/// A file's contents, packed for storage.
struct Packed {
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
}

impl Packed {
    fn new(file: &EntryFile) -> std::io::Result<Packed> {
        let old = file.old.as_deref().map(|old| pack(old, None)).transpose()?;
        let new = file.new.as_deref().map(|new| pack(new, file.old.as_deref())).transpose()?;
        Ok(Packed { old, new })
    }

    fn bytes(&self) -> usize {
        self.old.as_ref().map_or(0, Vec::len) + self.new.as_ref().map_or(0, Vec::len)
    }
}

async fn record(
    connection: &mut SqliteConnection,
    settled: &[(String, RecordOutcome)],
    entry: &Entry,
    packed: &[Packed],
    bytes: usize,
) -> std::result::Result<(), Failure> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    write_verdicts(&mut transaction, settled).await?;
    sqlx::query(
        "INSERT INTO changes (id, workspace, made_at, revision, cause, client, undoes, state, bytes, \
         changed_symbols, broken_places, affected_places, reached_tests, is_judged, idempotency_key, fingerprint) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'begun', $8, $9, $10, $11, $12, $13, $14, $15)",
    )
    .bind(&entry.id)
    .bind(&entry.workspace)
    .bind(entry.made_at)
    .bind(i64::try_from(entry.revision).unwrap_or(i64::MAX))
    .bind(entry.cause.name())
    .bind(entry.client.as_deref())
    .bind(entry.undoes.as_deref())
    .bind(number(bytes))
    .bind(entry.reached.map(|it| number(it.changed)))
    .bind(entry.reached.map(|it| number(it.broken)))
    .bind(entry.reached.map(|it| number(it.affected)))
    .bind(entry.reached.map(|it| number(it.tests)))
    .bind(entry.reached.map(|it| it.is_complete))
    .bind(entry.request_key.as_ref().map(|it| it.key.as_str()))
    .bind(entry.request_key.as_ref().map(|it| it.fingerprint.as_str()))
    .execute(&mut *transaction)
    .await?;
    for (file, packed) in entry.files.iter().zip(packed) {
        sqlx::query(
            "INSERT INTO change_files \
             (change_id, file, old_hash, new_hash, mode, made_directories, old_content, new_content) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&entry.id)
        .bind(&file.file)
        .bind(file.old_hash.as_deref())
        .bind(file.new_hash.as_deref())
        .bind(file.mode.map(i64::from))
        .bind(i64::try_from(file.made_directories).unwrap_or_default())
        .bind(packed.old.as_deref())
        .bind(packed.new.as_deref())
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await
}

/// A transaction in which outcomes that are not written yet have their effect. It is for reading and is rolled back: on a
/// full disk nothing could be committed.
async fn with_verdicts<'a>(
    connection: &'a mut SqliteConnection,
    settled: &[(String, RecordOutcome)],
) -> std::result::Result<Transaction<'a, Sqlite>, Failure> {
    let mut reading = match settled {
        [] => connection.begin().await?,
        _ => connection.begin_with("BEGIN IMMEDIATE").await?,
    };
    write_verdicts(&mut reading, settled).await?;
    Ok(reading)
}

async fn write_verdicts(
    connection: &mut SqliteConnection,
    settled: &[(String, RecordOutcome)],
) -> std::result::Result<(), Failure> {
    for (id, outcome) in settled {
        match outcome {
            RecordOutcome::Done => {
                sqlx::query("UPDATE changes SET state = 'done' WHERE id = $1")
                    .bind(id)
                    .execute(&mut *connection)
                    .await?;
                note_undone(connection, id).await?;
            }
            RecordOutcome::Dropped => {
                for statement in ["DELETE FROM change_files WHERE change_id = $1", "DELETE FROM changes WHERE id = $1"]
                {
                    sqlx::query(statement).bind(id).execute(&mut *connection).await?;
                }
            }
        }
    }
    Ok(())
}

/// A change that another one undoes is marked as undone. What it had undone itself is in effect again, and so on.
async fn note_undone(connection: &mut SqliteConnection, id: &str) -> std::result::Result<(), Failure> {
    let (mut by, mut holds) = (id.to_owned(), true);
    loop {
        let undoes: Option<Option<String>> = sqlx::query_scalar("SELECT undoes FROM changes WHERE id = $1")
            .bind(&by)
            .fetch_optional(&mut *connection)
            .await?;
        // A change is younger than the change that it undoes, so this ends.
        let Some(target) = undoes.flatten().filter(|it| *it < by) else { return Ok(()) };
        sqlx::query("UPDATE changes SET undone_by = $1 WHERE id = $2")
            .bind(holds.then_some(by.as_str()))
            .bind(&target)
            .execute(&mut *connection)
            .await?;
        (by, holds) = (target, !holds);
    }
}

async fn entries(
    connection: &mut SqliteConnection,
    rows: Vec<SqliteRow>,
    contents: bool,
) -> std::result::Result<Vec<Entry>, Failure> {
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let id: String = row.try_get("id")?;
        let columns = if contents {
            "SELECT * FROM change_files WHERE change_id = $1 ORDER BY file"
        } else {
            "SELECT file, old_hash, new_hash, mode, made_directories FROM change_files WHERE change_id = $1 ORDER BY file"
        };
        let files = sqlx::query(columns).bind(&id).fetch_all(&mut *connection).await?;
        let cause: String = row.try_get("cause")?;
        entries.push(Entry {
            workspace: row.try_get("workspace")?,
            made_at: row.try_get("made_at")?,
            revision: u64::try_from(row.try_get::<i64, _>("revision")?).unwrap_or_default(),
            cause: Cause::of(&cause),
            client: row.try_get("client")?,
            undoes: row.try_get("undoes")?,
            undone_by: row.try_get("undone_by")?,
            files: files.iter().map(|it| entry_file(it, contents)).collect::<std::result::Result<_, _>>()?,
            reached: reached(&row)?,
            request_key: request_key(&row)?,
            id,
        });
    }
    Ok(entries)
}

fn request_key(row: &SqliteRow) -> std::result::Result<Option<RequestKey>, Failure> {
    let key: Option<String> = row.try_get("idempotency_key")?;
    let fingerprint: Option<String> = row.try_get("fingerprint")?;
    Ok(key.zip(fingerprint).map(|(key, fingerprint)| RequestKey { key, fingerprint }))
}

fn reached(row: &SqliteRow) -> std::result::Result<Option<Reached>, Failure> {
    let Some(is_complete) = row.try_get::<Option<bool>, _>("is_judged")? else { return Ok(None) };
    let count = |column: &str| -> std::result::Result<usize, Failure> {
        Ok(usize::try_from(row.try_get::<Option<i64>, _>(column)?.unwrap_or_default()).unwrap_or_default())
    };
    Ok(Some(Reached {
        changed: count("changed_symbols")?,
        broken: count("broken_places")?,
        affected: count("affected_places")?,
        tests: count("reached_tests")?,
        is_complete,
    }))
}

/// A count as columns store it.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn entry_file(row: &SqliteRow, contents: bool) -> std::result::Result<EntryFile, Failure> {
    let (mut old, mut new) = (None, None);
    if contents {
        let packed: Option<&[u8]> = row.try_get("old_content")?;
        old = packed.map(|it| unpack(it, None)).transpose()?;
        let packed: Option<&[u8]> = row.try_get("new_content")?;
        new = packed.map(|it| unpack(it, old.as_deref())).transpose()?;
    }
    Ok(EntryFile {
        file: row.try_get("file")?,
        old,
        new,
        old_hash: row.try_get("old_hash")?,
        new_hash: row.try_get("new_hash")?,
        mode: row.try_get::<Option<i64>, _>("mode")?.and_then(|it| u32::try_from(it).ok()),
        made_directories: usize::try_from(row.try_get::<i64, _>("made_directories")?).unwrap_or_default(),
    })
}

/// Drops changes that are older than the bounds allow, then the oldest ones until the rest is small enough. The newest
/// change stays, whatever its size. Returns how many were dropped.
async fn prune(connection: &mut SqliteConnection, bounds: JournalBounds) -> std::result::Result<usize, Failure> {
    let oldest = milliseconds().saturating_sub(i64::try_from(bounds.keep.as_millis()).unwrap_or(i64::MAX));
    let rows = sqlx::query("SELECT id, made_at, bytes FROM changes WHERE state = 'done' ORDER BY id DESC")
        .fetch_all(&mut *connection)
        .await?;
    let (mut kept, mut first_out) = (0u64, None);
    for (position, row) in rows.iter().enumerate() {
        kept += u64::try_from(row.try_get::<i64, _>("bytes")?).unwrap_or_default();
        if position > 0 && (kept > bounds.max_bytes || row.try_get::<i64, _>("made_at")? < oldest) {
            first_out = Some((row.try_get::<String, _>("id")?, rows.len() - position));
            break;
        }
    }
    drop_kept(connection).await?;
    let Some((id, count)) = first_out else { return Ok(0) };
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    for statement in [
        "DELETE FROM change_files WHERE change_id IN (SELECT id FROM changes WHERE state = 'done' AND id <= $1)",
        "DELETE FROM changes WHERE state = 'done' AND id <= $1",
    ] {
        sqlx::query(statement).bind(&id).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    sqlx::query("PRAGMA incremental_vacuum").execute(connection).await?;
    Ok(count)
}

/// Drops texts and replies that are older than a day, then the oldest ones until the rest is small enough.
async fn drop_kept(connection: &mut SqliteConnection) -> std::result::Result<(), Failure> {
    let statements = [
        (
            "DELETE FROM texts WHERE kept_at <= $1 OR kept_at <= (SELECT MAX(kept_at) FROM \
             (SELECT kept_at, SUM(bytes) OVER (ORDER BY kept_at DESC) AS total FROM texts) AS sizes WHERE total > $2)",
            TEXT_BYTES,
        ),
        (
            "DELETE FROM replies WHERE kept_at <= $1 OR kept_at <= (SELECT MAX(kept_at) FROM \
             (SELECT kept_at, SUM(bytes) OVER (ORDER BY kept_at DESC) AS total FROM replies) AS sizes \
             WHERE total > $2)",
            REPLY_BYTES,
        ),
    ];
    for (statement, most) in statements {
        let oldest = milliseconds() - KEPT_FOR_MS;
        sqlx::query(statement).bind(oldest).bind(most).execute(&mut *connection).await?;
    }
    Ok(())
}

pub(super) fn milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
