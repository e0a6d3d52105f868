//! Texts that files had lately, by their hash. They are written when the journal is idle.

use std::sync::Arc;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use super::super::content::{pack, unpack};
use super::super::database::{Failure, unusable};
use super::super::{KEPT_FOR_MS, KeptText};
use super::{Retry, Store, milliseconds, number};
use semdex_model::Result;

/// How many texts may wait to be written, and how large they may be together. Further ones replace the oldest.
const WAITING: usize = 256;
const WAITING_BYTES: usize = 32 << 20;

impl Store {
    pub(crate) fn keep_text(&mut self, text: KeptText) {
        let mut bytes: usize = self.texts.iter().map(|it| it.text.len()).sum::<usize>() + text.text.len();
        self.texts.push_back(text);
        while self.texts.len() > WAITING || bytes > WAITING_BYTES {
            let Some(oldest) = self.texts.pop_front() else { break };
            bytes -= oldest.text.len();
        }
    }

    pub(crate) async fn write_texts(&mut self) -> Result<()> {
        if self.texts.is_empty() {
            return Ok(());
        }
        // Those that cannot be written are given up: nothing depends on them.
        let texts = std::mem::take(&mut self.texts);
        let packed = texts.iter().map(|it| pack(&it.text, None)).collect::<std::io::Result<Vec<_>>>();
        let packed = packed.map_err(|error| unusable(&self.directory, &format!("compressing failed: {error}")))?;
        self.recorded_bytes += packed.iter().map(|it| it.len() as u64).sum::<u64>();
        retried!(self, true, connection => {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            for (text, packed) in texts.iter().zip(&packed) {
                keep(&mut transaction, text, packed).await?;
            }
            transaction.commit().await
        })
    }

    /// A text of the file by the first digits of its hash: one that was kept, or one before or after a change.
    pub(crate) async fn text(&mut self, workspace: &str, file: &str, digits: &str) -> Result<Option<Arc<str>>> {
        let is_meant = |it: &&KeptText| it.workspace == workspace && it.file == file && it.hash.starts_with(digits);
        if let Some(waiting) = self.texts.iter().find(is_meant) {
            return Ok(Some(waiting.text.clone()));
        }
        if !self.exists() {
            return Ok(None);
        }
        retried!(self, false, connection => find(connection, workspace, file, digits).await)
    }

    /// The texts of the file that were kept, the newest first.
    pub(crate) async fn texts(&mut self, workspace: &str, file: &str, limit: usize) -> Result<Vec<Arc<str>>> {
        self.write_texts().await?;
        if !self.exists() {
            return Ok(Vec::new());
        }
        retried!(self, false, connection => {
            let rows = sqlx::query(
                "SELECT content FROM texts WHERE workspace = $1 AND file = $2 AND kept_at > $3 \
                 ORDER BY kept_at DESC LIMIT $4",
            )
            .bind(workspace)
            .bind(file)
            .bind(milliseconds() - KEPT_FOR_MS)
            .bind(number(limit))
            .fetch_all(connection)
            .await?;
            rows.iter().map(content).collect::<std::result::Result<Vec<_>, Failure>>()
        })
    }
}

async fn keep(connection: &mut SqliteConnection, text: &KeptText, packed: &[u8]) -> std::result::Result<(), Failure> {
    sqlx::query(
        "INSERT INTO texts (workspace, file, hash, kept_at, bytes, content) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (workspace, file, hash) DO UPDATE SET kept_at = excluded.kept_at",
    )
    .bind(&text.workspace)
    .bind(&text.file)
    .bind(&text.hash)
    .bind(milliseconds())
    .bind(number(packed.len()))
    .bind(packed)
    .execute(connection)
    .await
    .map(drop)
}

fn content(row: &SqliteRow) -> std::result::Result<Arc<str>, Failure> {
    Ok(unpack(row.try_get("content")?, None)?)
}

async fn find(
    connection: &mut SqliteConnection,
    workspace: &str,
    file: &str,
    digits: &str,
) -> std::result::Result<Option<Arc<str>>, Failure> {
    // The digits are hexadecimal, so that they are no pattern themselves.
    let pattern = format!("{digits}%");
    let oldest = milliseconds() - KEPT_FOR_MS;
    let kept = sqlx::query(
        "SELECT content FROM texts WHERE workspace = $1 AND file = $2 AND hash LIKE $3 AND kept_at > $4 LIMIT 1",
    )
    .bind(workspace)
    .bind(file)
    .bind(&pattern)
    .bind(oldest)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(row) = kept {
        return content(&row).map(Some);
    }
    let changed = sqlx::query(
        "SELECT f.* FROM change_files f JOIN changes c ON c.id = f.change_id \
         WHERE f.file = $1 AND c.workspace = $2 AND c.made_at > $3 AND (f.new_hash LIKE $4 OR f.old_hash LIKE $4) \
         ORDER BY c.id DESC LIMIT 1",
    )
    .bind(file)
    .bind(workspace)
    .bind(oldest)
    .bind(&pattern)
    .fetch_optional(connection)
    .await?;
    let Some(row) = changed else { return Ok(None) };
    let changed = super::entry_file(&row, true)?;
    let is_new = changed.new_hash.as_deref().is_some_and(|it| it.starts_with(digits));
    Ok(if is_new { changed.new } else { changed.old })
}
