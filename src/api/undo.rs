//! `POST /v1/undo` and `GET /v1/changes`: the journal.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::{Asked, Client, Posted};
use super::problem::{AboutFile, Refusal, Undoing};
use super::responder::Responder;
use super::shapes::{ChangeCause, ChangeReport, Meta, list};
use crate::ops::{changes, undo};
use crate::render;

request! { body
    /// Which change to take back.
    #[schema(examples(json!({"change": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC"})))]
    pub struct UndoRequest {
        /// The token that the change was answered with; that of an undo brings back what it took.
        pub change: String,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
    }
}

/// Take back a change
///
/// All its files are again what they were, if each still is what the change left; else nothing is changed, and `diff`
/// says what others made of them since. An undo is a change like any other, and can be undone.
#[utoipa::path(
    post, path = "/v1/undo", operation_id = "undo", tag = "change", request_body = UndoRequest,
    responses(
        (status = 200, description = "What changed.",
            content((ChangeReport = "application/json"), (String = "text/markdown"))),
        Undoing
    )
)]
pub async fn undo(
    State(service): State<Service>,
    responder: Responder,
    client: Client,
    Posted(request): Posted<UndoRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = client.asks(common.ask()?);
    let request = undo::UndoRequest { change: request.change, dry_run: request.dry_run.unwrap_or_default() };
    let reply = undo::undo(&workspace, &request, &ask).await?;
    Ok(responder.answer(reply, ChangeReport::new, render::change))
}

request! { query
    /// Which changes.
    pub struct ChangesQuery {
        /// Only changes of this file.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// Each file with its diff.
        #[param(nullable = false, default = false)]
        pub diff: Option<bool>,
    }
}

/// The changes that were made, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::changes))]
pub struct ChangesReply {
    pub changes: Vec<MadeChange>,
    /// However many the journal has, of all pages.
    pub total: usize,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

/// A change that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeChange {
    /// The token that takes it back.
    pub change: String,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub at: String,
    /// The one that it made.
    pub revision: u64,
    pub cause: ChangeCause,
    /// Who asked for it, as it calls itself: its `User-Agent`.
    #[schema(required)]
    pub client: Option<String>,
    pub files: Vec<MadeFile>,
    /// The change that this one took back.
    #[schema(required)]
    pub undoes: Option<String>,
    /// The change by which this one is taken back; null again when that one is taken back itself.
    #[schema(required)]
    pub undone_by: Option<String>,
}

/// A file before and after a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeFile {
    pub file: String,
    /// BLAKE3 of the bytes, in hex; null where the file is gone.
    #[schema(required)]
    pub hash: Option<String>,
    /// Null where there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// Unified; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<String>,
}

impl From<changes::MadeChange> for MadeChange {
    fn from(made: changes::MadeChange) -> MadeChange {
        MadeChange {
            change: made.change,
            at: render::rfc3339(made.made_at),
            revision: made.revision,
            cause: made.cause.into(),
            client: made.client,
            files: list(made.files),
            undoes: made.undoes,
            undone_by: made.undone_by,
        }
    }
}

impl From<changes::MadeFile> for MadeFile {
    fn from(file: changes::MadeFile) -> MadeFile {
        let changes::MadeFile { file, hash, old_hash, diff } = file;
        MadeFile { file, hash, old_hash, diff }
    }
}

impl ChangesReply {
    fn new(found: changes::Changes, meta: Meta) -> ChangesReply {
        let next_cursor = found.next_cursor();
        ChangesReply { changes: list(found.items), total: found.total, next_cursor, meta }
    }
}

/// What was changed
///
/// The changes that semdex made in this workspace, whichever process and client, kept for 30 days or 1 GiB unless configured
/// otherwise. What others changed is not in it.
#[utoipa::path(
    get, path = "/v1/changes", operation_id = "changes", tag = "change", params(ChangesQuery),
    responses(
        (status = 200, description = "The changes.",
            content((ChangesReply = "application/json"), (String = "text/markdown"))),
        AboutFile
    )
)]
pub async fn changes(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<ChangesQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let max_tokens = ask.max_tokens;
    let query = changes::ChangesQuery { file: query.file, diff: query.diff.unwrap_or_default() };
    let reply = changes::changes(&workspace, &query, &ask).await?;
    Ok(responder.fitted(reply, max_tokens, ChangesReply::new, render::changes))
}
