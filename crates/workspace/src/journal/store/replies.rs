//! The first replies to requests with an idempotency key.

use sqlx::Row;
use sqlx::sqlite::SqliteConnection;

use super::super::content::{pack, unpack};
use super::super::database::{Failure, unusable};
use super::super::{KEPT_FOR_MS, KeptReply};
use super::{Retry, Store, milliseconds, number};
use semdex_model::Result;

impl Store {
    pub(crate) async fn keep_reply(&mut self, reply: &KeptReply) -> Result<()> {
        let packed = pack(&reply.body, None)
            .map_err(|error| unusable(&self.directory, &format!("compressing failed: {error}")))?;
        self.recorded_bytes += packed.len() as u64;
        retried!(self, true, connection => {
            sqlx::query(
                "INSERT INTO replies (workspace, idempotency_key, fingerprint, kept_at, status, media_type, bytes, body) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                 ON CONFLICT (workspace, idempotency_key) DO UPDATE SET fingerprint = excluded.fingerprint, \
                 kept_at = excluded.kept_at, status = excluded.status, media_type = excluded.media_type, \
                 bytes = excluded.bytes, body = excluded.body",
            )
            .bind(&reply.workspace)
            .bind(&reply.key)
            .bind(&reply.fingerprint)
            .bind(milliseconds())
            .bind(i64::from(reply.status))
            .bind(&reply.media_type)
            .bind(number(packed.len()))
            .bind(&packed)
            .execute(connection)
            .await
            .map(drop)
        })
    }

    pub(crate) async fn reply(&mut self, workspace: &str, key: &str) -> Result<Option<KeptReply>> {
        if !self.exists() {
            return Ok(None);
        }
        retried!(self, false, connection => find(connection, workspace, key).await)
    }
}

async fn find(
    connection: &mut SqliteConnection,
    workspace: &str,
    key: &str,
) -> std::result::Result<Option<KeptReply>, Failure> {
    let row = sqlx::query("SELECT * FROM replies WHERE workspace = $1 AND idempotency_key = $2 AND kept_at > $3")
        .bind(workspace)
        .bind(key)
        .bind(milliseconds() - KEPT_FOR_MS)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(KeptReply {
        workspace: workspace.to_owned(),
        key: key.to_owned(),
        fingerprint: row.try_get("fingerprint")?,
        status: u16::try_from(row.try_get::<i64, _>("status")?).unwrap_or_default(),
        media_type: row.try_get("media_type")?,
        body: unpack(row.try_get("body")?, None)?.to_string(),
    }))
}
