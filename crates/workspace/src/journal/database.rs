//! The database that the journal is kept in: opening it, its tables, and what its failures mean.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use sqlx::Connection;
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};

use semdex_config::create_private_dir;
use semdex_model::{Code, Error};

pub(super) const FILE: &str = "journal.db";
/// How long another process may be writing.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) type Failure = sqlx::Error;

/// Each migration raises the version by one. A released migration is never altered; new ones are appended.
const MIGRATIONS: &[&[&str]] = &[CHANGES, BASELINES, REACHED, KEPT, REQUEST_KEYS];

const CHANGES: &[&str] = &[
    "CREATE TABLE changes (
        id TEXT NOT NULL PRIMARY KEY,
        workspace TEXT NOT NULL,
        made_at BIGINT NOT NULL,
        revision BIGINT NOT NULL,
        cause TEXT NOT NULL,
        client TEXT,
        undoes TEXT,
        undone_by TEXT,
        state TEXT NOT NULL,
        bytes BIGINT NOT NULL
    )",
    "CREATE INDEX changes_of_workspace ON changes (workspace, state, id)",
    "CREATE TABLE change_files (
        change_id TEXT NOT NULL,
        file TEXT NOT NULL,
        old_hash TEXT,
        new_hash TEXT,
        mode INTEGER,
        made_directories INTEGER NOT NULL,
        old_content BYTEA,
        new_content BYTEA,
        PRIMARY KEY (change_id, file)
    )",
    "CREATE INDEX change_files_of_file ON change_files (file, change_id)",
];

const BASELINES: &[&str] = &[
    "CREATE TABLE baselines (
        workspace TEXT NOT NULL PRIMARY KEY,
        id TEXT NOT NULL,
        made_at BIGINT NOT NULL,
        revision BIGINT NOT NULL,
        is_whole INTEGER NOT NULL,
        lacking TEXT NOT NULL
    )",
    "CREATE TABLE baseline_files (
        workspace TEXT NOT NULL,
        file TEXT NOT NULL,
        diagnostics BYTEA NOT NULL,
        PRIMARY KEY (workspace, file)
    )",
];

/// How much each change reached.
const REACHED: &[&str] = &[
    "ALTER TABLE changes ADD COLUMN changed_symbols BIGINT",
    "ALTER TABLE changes ADD COLUMN broken_places BIGINT",
    "ALTER TABLE changes ADD COLUMN affected_places BIGINT",
    "ALTER TABLE changes ADD COLUMN reached_tests BIGINT",
    "ALTER TABLE changes ADD COLUMN is_judged BOOLEAN",
];

/// The idempotency key of the request that made a change.
const REQUEST_KEYS: &[&str] = &[
    "ALTER TABLE changes ADD COLUMN idempotency_key TEXT",
    "ALTER TABLE changes ADD COLUMN fingerprint TEXT",
    "CREATE INDEX changes_by_key ON changes (workspace, idempotency_key) WHERE idempotency_key IS NOT NULL",
];

/// What is kept for a day beside the changes: texts that files had, and first replies to requests with a key.
const KEPT: &[&str] = &[
    "CREATE TABLE texts (
        workspace TEXT NOT NULL,
        file TEXT NOT NULL,
        hash TEXT NOT NULL,
        kept_at BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (workspace, file, hash)
    )",
    "CREATE INDEX texts_by_age ON texts (kept_at)",
    "CREATE TABLE replies (
        workspace TEXT NOT NULL,
        idempotency_key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        kept_at BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        status INTEGER NOT NULL,
        media_type TEXT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (workspace, idempotency_key)
    )",
    "CREATE INDEX replies_by_age ON replies (kept_at)",
];

/// Uses WAL, so that readers and other processes continue during a write. Synced with each commit, since a change of
/// several files depends on its record (see the head of `journal.rs`).
pub(super) async fn open(directory: &Path, create: bool) -> Result<SqliteConnection, Failure> {
    if create {
        create_private_dir(directory)?;
    }
    check_owner(directory)?;
    let file = directory.join(FILE);
    let is_new = !file.exists();
    let mut options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(create)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(PATIENCE)
        .thread_name(|id| format!("journal-db-{id}"));
    if is_new {
        // Otherwise each connection would write it again, which a full disk prevents.
        options = options.auto_vacuum(SqliteAutoVacuum::Incremental);
    }
    let mut connection = SqliteConnection::connect_with(&options).await?;
    migrate(&mut connection).await?;
    Ok(connection)
}

/// Another user could read what is recorded, and alter what is undone.
fn check_owner(directory: &Path) -> Result<(), Failure> {
    let own = rustix::process::geteuid().as_raw();
    match fs::symlink_metadata(directory.join(FILE)) {
        Ok(found) if found.uid() != own => {
            let detail = format!("`{FILE}` belongs to another user (uid {}): remove it", found.uid());
            Err(Failure::Io(io::Error::new(io::ErrorKind::PermissionDenied, detail)))
        }
        _ => Ok(()),
    }
}

/// The files of an open database. What is written to a removed, replaced or emptied one is lost without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    files: [Option<(u64, u64)>; 3],
    /// The first file begins as every database does.
    has_header: bool,
}

impl Identity {
    /// Of the files that are there now.
    pub(super) fn now(directory: &Path) -> Identity {
        let files = ["", "-wal", "-shm"].map(|rest| {
            let found = fs::symlink_metadata(directory.join(format!("{FILE}{rest}"))).ok()?;
            Some((found.dev(), found.ino()))
        });
        Identity { files, has_header: has_header(&directory.join(FILE)) }
    }
}

fn has_header(file: &Path) -> bool {
    const HEADER: &[u8; 16] = b"SQLite format 3\0";
    // The file may be a named pipe by now.
    let opened = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(file);
    let mut begin = [0; HEADER.len()];
    opened.and_then(|mut it| it.read_exact(&mut begin)).is_ok() && begin == *HEADER
}

/// Whether another program made the database: it has tables, but not the journal's.
async fn is_foreign(connection: &mut SqliteConnection) -> Result<bool, Failure> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(connection).await?;
    let own = ["schema_version", "changes", "change_files"];
    Ok(!tables.is_empty() && !own.iter().all(|it| tables.iter().any(|table| table == it)))
}

async fn migrate(connection: &mut SqliteConnection) -> Result<(), Failure> {
    if is_foreign(connection).await? {
        return Err(Failure::Decode("it is the database of another program".into()));
    }
    let version = |row: Option<i64>| usize::try_from(row.unwrap_or_default()).unwrap_or_default();
    let known = "SELECT MAX(version) FROM schema_version";
    if let Ok(row) = sqlx::query_scalar(known).fetch_one(&mut *connection).await
        && version(row) >= MIGRATIONS.len()
    {
        return Ok(());
    }
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY)")
        .execute(&mut *transaction)
        .await?;
    let done = version(sqlx::query_scalar(known).fetch_one(&mut *transaction).await?);
    for (index, statements) in MIGRATIONS.iter().enumerate().skip(done) {
        for statement in *statements {
            sqlx::query(*statement).execute(&mut *transaction).await?;
        }
        let next = i64::try_from(index + 1).unwrap_or(i64::MAX);
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)").bind(next).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

/// SQLite's number of the failure.
fn number(failure: &Failure) -> Option<u32> {
    let code = failure.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|extended| extended & 0xff)
}

pub(super) fn is_corrupt(failure: &Failure) -> bool {
    const CORRUPT: u32 = 11;
    const NO_DATABASE: u32 = 26;
    match failure {
        // The tables exist but differ, or the contents are not what was packed.
        Failure::ColumnNotFound(_) | Failure::ColumnDecode { .. } | Failure::Decode(_) => true,
        _ => matches!(number(failure), Some(CORRUPT | NO_DATABASE)),
    }
}

pub(super) fn error_of(directory: &Path, failure: &Failure) -> Error {
    const BUSY: u32 = 5;
    const READ_ONLY: u32 = 8;
    const FULL: u32 = 13;
    const CANNOT_OPEN: u32 = 14;
    let os = match failure {
        Failure::Io(error) => Some(error.kind()),
        _ => None,
    };
    let mut error = unusable(directory, &failure.to_string());
    error.code = match (number(failure), os) {
        (Some(BUSY), _) => Code::Busy,
        (Some(FULL), _) | (_, Some(io::ErrorKind::StorageFull)) => Code::DiskFull,
        (Some(READ_ONLY | CANNOT_OPEN), _)
        | (_, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)) => Code::PermissionDenied,
        _ => Code::Internal,
    };
    error
}

pub(super) fn unusable(directory: &Path, why: &str) -> Error {
    let detail = format!(
        "the journal in {}, without which no change could be taken back, cannot be used: {why}; make room or make it \
         writable, or set XDG_STATE_HOME to another place",
        directory.display()
    );
    Error::new(Code::Internal, detail)
}
