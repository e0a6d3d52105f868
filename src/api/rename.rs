//! `POST /v1/rename`: another name for a symbol, everywhere at once.

use axum::extract::State;
use axum::response::Response;

use super::Service;
use super::ask::request;
use super::extract::{Client, Posted};
use super::problem::{Refusal, Renaming};
use super::responder::Responder;
use super::shapes::{ChangeReport, OnBreak};
use crate::model::SymbolQuery;
use crate::ops::{apply_change, rename};
use crate::render;

request! { body
    /// Which symbol gets which name.
    #[schema(examples(json!({"symbol": "grep_searcher::Searcher", "new_name": "Scanner", "dry_run": true})))]
    pub struct RenameRequest {
        pub symbol: String,
        pub new_name: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: the name means what it means in this file.
        pub file: Option<String>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// What would break something is refused with `rename_refused`, unless it is only to be reported.
        #[schema(default = "reject")]
        pub on_break: Option<OnBreak>,
    }
}

impl From<RenameRequest> for rename::RenameRequest {
    fn from(request: RenameRequest) -> rename::RenameRequest {
        rename::RenameRequest {
            symbol: SymbolQuery { symbol: request.symbol, package: request.package, file: request.file },
            new_name: request.new_name,
            dry_run: request.dry_run.unwrap_or_default(),
            on_break: request.on_break.map_or(apply_change::OnBreak::Reject, apply_change::OnBreak::from),
        }
    }
}

/// Rename
///
/// Renames a symbol by its engine: every file in one change, or a reason why not.
#[utoipa::path(
    post, path = "/v1/rename", operation_id = "rename", tag = "change", request_body = RenameRequest,
    responses(
        (status = 200, description = "What changed.",
            content((ChangeReport = "application/json"), (String = "text/markdown"))),
        Renaming
    )
)]
pub async fn rename(
    State(service): State<Service>,
    responder: Responder,
    client: Client,
    Posted(request): Posted<RenameRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = client.asks(common.ask()?);
    let reply = rename::rename(&workspace, &request.into(), &ask).await?;
    Ok(responder.answer(reply, ChangeReport::new, render::change))
}
