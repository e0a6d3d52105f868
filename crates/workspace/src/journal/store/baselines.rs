//! Baselines in the journal's database: one for each workspace, a row for each file.

use std::collections::BTreeMap;

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Row};

use super::super::baseline::{Baseline, read, write};
use super::super::content::{pack, unpack};
use super::super::database::{Failure, unusable};
use super::{Retry, Store};
use semdex_model::Result;

impl Store {
    pub(crate) async fn keep_baseline(&mut self, baseline: &Baseline) -> Result<()> {
        let packed = baseline.files.iter().map(|(file, kept)| {
            let written = write(kept).map_err(std::io::Error::other)?;
            Ok((file.as_str(), pack(&written, None)?))
        });
        let packed = packed.collect::<std::io::Result<Vec<_>>>();
        let packed = packed.map_err(|error| unusable(&self.directory, &format!("compressing failed: {error}")))?;
        retried!(self, true, connection => keep(connection, baseline, &packed).await)
    }

    pub(crate) async fn baseline(&mut self, workspace: &str) -> Result<Option<Baseline>> {
        if !self.exists() {
            return Ok(None);
        }
        retried!(self, false, connection => find(connection, workspace).await)
    }
}

async fn keep(
    connection: &mut SqliteConnection,
    baseline: &Baseline,
    packed: &[(&str, Vec<u8>)],
) -> std::result::Result<(), Failure> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known: Option<(bool, String)> = sqlx::query_as("SELECT is_whole, lacking FROM baselines WHERE workspace = $1")
        .bind(&baseline.workspace)
        .fetch_optional(&mut *transaction)
        .await?;
    let mut lacking = baseline.lacking.clone();
    let mut is_whole = baseline.is_whole;
    if baseline.is_whole {
        sqlx::query("DELETE FROM baseline_files WHERE workspace = $1")
            .bind(&baseline.workspace)
            .execute(&mut *transaction)
            .await?;
    } else if let Some((was_whole, was_lacking)) = known {
        // What it has of other files stays.
        is_whole = was_whole;
        let older = was_lacking.lines().map(str::to_owned).filter(|it| !lacking.contains(it)).collect::<Vec<_>>();
        lacking.extend(older);
    }
    sqlx::query(
        "INSERT INTO baselines (workspace, id, made_at, revision, is_whole, lacking) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (workspace) DO UPDATE SET id = excluded.id, made_at = excluded.made_at, \
         revision = excluded.revision, is_whole = excluded.is_whole, lacking = excluded.lacking",
    )
    .bind(&baseline.workspace)
    .bind(&baseline.id)
    .bind(baseline.made_at)
    .bind(i64::try_from(baseline.revision).unwrap_or(i64::MAX))
    .bind(is_whole)
    .bind(lacking.join("\n"))
    .execute(&mut *transaction)
    .await?;
    for (file, packed) in packed {
        sqlx::query(
            "INSERT INTO baseline_files (workspace, file, diagnostics) VALUES ($1, $2, $3) \
             ON CONFLICT (workspace, file) DO UPDATE SET diagnostics = excluded.diagnostics",
        )
        .bind(&baseline.workspace)
        .bind(file)
        .bind(packed)
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await
}

async fn find(connection: &mut SqliteConnection, workspace: &str) -> std::result::Result<Option<Baseline>, Failure> {
    let row = sqlx::query("SELECT * FROM baselines WHERE workspace = $1")
        .bind(workspace)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let rows = sqlx::query("SELECT file, diagnostics FROM baseline_files WHERE workspace = $1")
        .bind(workspace)
        .fetch_all(&mut *connection)
        .await?;
    let mut files = BTreeMap::new();
    for row in rows {
        let file: String = row.try_get("file")?;
        let written = unpack(row.try_get("diagnostics")?, None)?;
        let kept = read(&file, &written).map_err(|error| Failure::Decode(error.into()))?;
        files.insert(file, kept);
    }
    let lacking: String = row.try_get("lacking")?;
    Ok(Some(Baseline {
        id: row.try_get("id")?,
        workspace: workspace.to_owned(),
        made_at: row.try_get("made_at")?,
        revision: u64::try_from(row.try_get::<i64, _>("revision")?).unwrap_or_default(),
        is_whole: row.try_get("is_whole")?,
        lacking: lacking.lines().map(str::to_owned).collect(),
        files,
    }))
}
