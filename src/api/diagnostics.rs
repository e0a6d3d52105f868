//! `GET /v1/diagnostics`: what the engines have to say against a file or the whole workspace.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Asked;
use super::problem::{AboutFile, Refusal};
use super::responder::Responder;
use super::shapes::{Diagnostic, Meta, Severity, list};
use crate::model;
use crate::ops::diagnostics;
use crate::render;

request! { query
    /// Of what, and how grave.
    pub struct DiagnosticsQuery {
        /// Absent: the whole workspace.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// The least severity to report. Absent: errors and warnings.
        #[param(nullable = false)]
        pub severity: Option<Severity>,
        /// How many to tell at most, the gravest first.
        #[param(nullable = false)]
        pub max: Option<usize>,
    }
}

/// The diagnostics, the gravest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::diagnostics))]
pub struct DiagnosticsReply {
    pub items: Vec<Diagnostic>,
    pub counts: Counts,
    pub total: usize,
    pub meta: Meta,
}

/// How many there are of each severity, told or not.
#[derive(Debug, Serialize, ToSchema)]
pub struct Counts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
    pub hint: usize,
}

impl DiagnosticsReply {
    fn new(found: diagnostics::DiagnosticList, meta: Meta) -> DiagnosticsReply {
        let diagnostics::DiagnosticList { items, errors, warnings, infos, hints, total } = found;
        let counts = Counts { error: errors, warning: warnings, info: infos, hint: hints };
        DiagnosticsReply { items: list(items), counts, total, meta }
    }
}

/// What is wrong
///
/// The engines' diagnostics of one file or of the whole workspace, each with its source and the symbol it is in.
#[utoipa::path(
    get, path = "/v1/diagnostics", operation_id = "diagnostics", tag = "read", params(DiagnosticsQuery),
    responses(
        (status = 200, description = "The diagnostics.",
            content((DiagnosticsReply = "application/json"), (String = "text/markdown"))),
        AboutFile
    )
)]
pub async fn diagnostics(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<DiagnosticsQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let severity = query.severity.map(model::Severity::from);
    let query = diagnostics::DiagnosticsQuery { file: query.file, severity, max: query.max };
    let reply = diagnostics::diagnostics(&workspace, &query, &ask).await?;
    Ok(responder.answer(reply, DiagnosticsReply::new, render::diagnostics))
}
