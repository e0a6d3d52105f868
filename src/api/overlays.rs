//! `/v1/overlays`: content that is not on the disk.

use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::extract::{Asked, Posted};
use super::problem::{AboutFile, Overlaying, Refusal, Removing};
use super::responder::Responder;
use super::shapes::{Meta, OverlayEdits, list};
use crate::model::{Code, Error, Result};
use crate::ops::overlays;
use crate::render;
use crate::workspace::overlays::{Overlay, Put, Shown};

const DEFAULT_TTL_S: u64 = 3600;
const LONGEST_TTL_S: u64 = 7 * 24 * 3600;

request! { body
    /// What is to stand before the file's content on the disk.
    #[schema(examples(json!({"content": "pub fn new() {}\n", "ttl_s": 3600})))]
    pub struct OverlayRequest {
        pub content: String,
        /// After so many seconds it goes by itself, unless it is put again.
        #[schema(default = 3600, minimum = 1, maximum = 604_800)]
        pub ttl_s: Option<u64>,
        /// What becomes of edits of this file as long as it lasts.
        #[schema(default = "refuse")]
        pub edits: Option<OverlayEdits>,
    }
}

request! { query
    /// Which workspace.
    pub struct OverlayQuery {}
}

/// An overlay, as it was put or taken away.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverlayReply {
    #[serde(flatten)]
    pub overlay: OverlayState,
    /// BLAKE3 of what was seen before, in hex; null where there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    pub meta: Meta,
}

/// Content that is not on the disk.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverlayState {
    pub file: String,
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    pub edits: OverlayEdits,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub ends_at: String,
}

/// The overlays that there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct OverlaysReply {
    pub overlays: Vec<OverlayState>,
    pub meta: Meta,
}

impl From<Overlay> for OverlayState {
    fn from(overlay: Overlay) -> OverlayState {
        OverlayState {
            file: overlay.file,
            hash: overlay.hash.to_hex().to_string(),
            edits: overlay.edits.into(),
            ends_at: render::rfc3339(overlay.ends_at),
        }
    }
}

impl OverlayReply {
    fn new(shown: Shown, meta: Meta) -> OverlayReply {
        OverlayReply { overlay: shown.overlay.into(), old_hash: shown.old_hash, meta }
    }
}

/// Which overlays there are
#[utoipa::path(
    get, path = "/v1/overlays", operation_id = "list_overlays", tag = "change", params(OverlayQuery),
    description = "In the order of their files' names.",
    responses(
        (status = 200, description = "The overlays.",
            content((OverlaysReply = "application/json"), (String = "text/markdown"))),
        AboutFile
    )
)]
pub async fn list_overlays(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<OverlayQuery>,
) -> Result<Response, Refusal> {
    let workspace = service.pick(query.common().workspace)?;
    let wire = |overlays, meta| OverlaysReply { overlays: list(overlays), meta };
    Ok(responder.answer(overlays::list(&workspace), wire, |it| render::overlays(it)))
}

/// Put an overlay
///
/// Content that is not on the disk, as an editor's buffer, seen by every answer until it is taken away or its time is
/// over. The disk stays as it is. Edits of the file are refused meanwhile, or go to the overlay, as its owner says.
#[utoipa::path(
    put, path = "/v1/overlays/{*file}", operation_id = "put_overlay", tag = "change", request_body = OverlayRequest,
    params(("file" = String, Path, description = "Relative to the workspace root, with `/`, which need not be escaped.")),
    responses(
        (status = 200, description = "The overlay.",
            content((OverlayReply = "application/json"), (String = "text/markdown"))),
        Overlaying
    )
)]
pub async fn put_overlay(
    State(service): State<Service>,
    responder: Responder,
    file: std::result::Result<Path<String>, PathRejection>,
    Posted(request): Posted<OverlayRequest>,
) -> Result<Response, Refusal> {
    let workspace = service.pick(request.common().workspace)?;
    let put = Put {
        file: named(file)?,
        lives: lives(request.ttl_s)?,
        edits: request.edits.map(Into::into).unwrap_or_default(),
        content: request.content,
    };
    let reply = overlays::put(&workspace, put).await?;
    Ok(responder.answer(reply, OverlayReply::new, |it| render::overlays(std::slice::from_ref(&it.overlay))))
}

/// Take an overlay away
#[utoipa::path(
    delete, path = "/v1/overlays/{*file}", operation_id = "delete_overlay", tag = "change",
    description = "What the disk has is seen again.",
    params(("file" = String, Path, description = "Relative to the workspace root."), OverlayQuery),
    responses(
        (status = 200, description = "The overlay as it was.",
            content((OverlayReply = "application/json"), (String = "text/markdown"))),
        Removing
    )
)]
pub async fn delete_overlay(
    State(service): State<Service>,
    responder: Responder,
    file: std::result::Result<Path<String>, PathRejection>,
    Asked(query): Asked<OverlayQuery>,
) -> Result<Response, Refusal> {
    let workspace = service.pick(query.common().workspace)?;
    let reply = overlays::remove(&workspace, &named(file)?).await?;
    let gone = |it: &Shown| format!("`{}` is again what the disk has.\n", it.overlay.file);
    Ok(responder.answer(reply, OverlayReply::new, gone))
}

fn named(file: std::result::Result<Path<String>, PathRejection>) -> Result<String> {
    let unreadable = |_| Error::new(Code::InvalidRequest, "the file's name in the path is not UTF-8");
    file.map(|Path(file)| file).map_err(unreadable)
}

fn lives(ttl_s: Option<u64>) -> Result<Duration> {
    match ttl_s.unwrap_or(DEFAULT_TTL_S) {
        0 => Err(Error::new(Code::InvalidRequest, "`ttl_s`: an overlay lives at least a second; DELETE takes it away")),
        ttl if ttl > LONGEST_TTL_S => {
            let detail = format!("`ttl_s`: {ttl} is more than {LONGEST_TTL_S}, a week; put it again to have it longer");
            Err(Error::new(Code::InvalidRequest, detail))
        }
        ttl => Ok(Duration::from_secs(ttl)),
    }
}
