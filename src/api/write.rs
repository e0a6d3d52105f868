//! `POST /v1/write`: a whole text into a file.

use axum::extract::State;
use axum::response::Response;

use super::Service;
use super::ask::request;
use super::extract::{Client, Posted};
use super::problem::{Refusal, Writing};
use super::responder::Responder;
use super::shapes::{ChangeReport, OnBreak, WriteMode};
use crate::ops::tidy::Tidy;
use crate::ops::{apply_change, write};
use crate::render;

request! { body
    /// What to write where.
    #[schema(examples(json!({"name": "src/new.rs", "content": "pub fn new() {}\n", "mode": "append"})))]
    pub struct WriteRequest {
        /// The file, relative to the workspace root, with `/`. Missing directories are made.
        pub name: String,
        pub content: String,
        #[schema(default = "append")]
        pub mode: Option<WriteMode>,
        /// Refuse with `hash_mismatch` unless the file's bytes have this BLAKE3.
        pub expected_hash: Option<String>,
        /// A new file of Rust gets the `mod` line that it needs, in the same change.
        #[schema(default = false)]
        pub declare: Option<bool>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// Format the changed files, with rustfmt or gofmt.
        #[schema(default = false)]
        pub format: Option<bool>,
        /// Remove the unused imports of the changed files, and add missing ones where only one fits.
        #[schema(default = false)]
        pub fix_imports: Option<bool>,
        #[schema(default = "report")]
        pub on_break: Option<OnBreak>,
    }
}

impl From<WriteRequest> for write::WriteRequest {
    fn from(request: WriteRequest) -> write::WriteRequest {
        write::WriteRequest {
            name: request.name,
            content: request.content,
            mode: request.mode.map(write::WriteMode::from).unwrap_or_default(),
            expected_hash: request.expected_hash,
            declare: request.declare.unwrap_or_default(),
            dry_run: request.dry_run.unwrap_or_default(),
            on_break: request.on_break.map(apply_change::OnBreak::from).unwrap_or_default(),
            tidy: Tidy {
                format: request.format.unwrap_or_default(),
                fix_imports: request.fix_imports.unwrap_or_default(),
            },
        }
    }
}

/// Write a file
///
/// Appends to it, replaces it or makes it, and says what the text brings, names wrongly and breaks.
#[utoipa::path(
    post, path = "/v1/write", operation_id = "write", tag = "change", request_body = WriteRequest,
    responses(
        (status = 200, description = "What changed.",
            content((ChangeReport = "application/json"), (String = "text/markdown"))),
        Writing
    )
)]
pub async fn write(
    State(service): State<Service>,
    responder: Responder,
    client: Client,
    Posted(request): Posted<WriteRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = client.asks(common.ask()?);
    let reply = write::write(&workspace, &request.into(), &ask).await?;
    Ok(responder.answer(reply, ChangeReport::new, render::change))
}
