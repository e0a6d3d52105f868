//! `POST /v1/impact`: what a change of a symbol would break, without making it.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::extract::Posted;
use super::problem::{PostedAboutSymbol, Refusal};
use super::responder::Responder;
use super::shapes::{Alteration, Impact, Meta};
use crate::model::{self, SymbolQuery};
use crate::ops::impact;
use crate::render;

request! { body
    /// A symbol, and what would be done to it.
    #[schema(examples(json!({"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"})))]
    pub struct ImpactRequest {
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: the file that it is seen from.
        pub file: Option<String>,
        pub change: Alteration,
    }
}

/// Who would break, who depends on it, which tests reach it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImpactReport {
    pub impact: Impact,
    pub meta: Meta,
}

impl ImpactReport {
    fn new(impact: model::Impact, meta: Meta) -> ImpactReport {
        ImpactReport { impact: impact.into(), meta }
    }
}

/// What would a change break?
///
/// `remove`, `rename`, `signature` (one parameter more, or another type) or `visibility` (not seen from outside any
/// more), answered as a dry run of such an edit.
#[utoipa::path(
    post, path = "/v1/impact", operation_id = "impact", tag = "read", request_body = ImpactRequest,
    responses(
        (status = 200, description = "What it would break.",
            content((ImpactReport = "application/json"), (String = "text/markdown"))),
        PostedAboutSymbol
    )
)]
pub async fn impact(
    State(service): State<Service>,
    responder: Responder,
    Posted(request): Posted<ImpactRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let file = request.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let query = SymbolQuery { symbol: request.symbol, package: request.package, file };
    let request = impact::ImpactRequest { query, change: request.change.into() };
    let reply = impact::impact(&workspace, &request, &ask).await?;
    Ok(responder.answer(reply, ImpactReport::new, render::impact))
}
