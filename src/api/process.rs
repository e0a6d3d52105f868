//! `GET /v1/status` and `GET /healthz`: how the process and its workspaces are doing.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Service;
use super::examples;
use super::extract::Asked;
use super::problem::{Plain, Refusal, Unguarded};
use super::responder::Responder;
use super::shapes::{Language, Meta, Missing, State as Stage, list, milliseconds};
use crate::lang::{EngineStatus, Progress as Steps, memory};
use crate::render;
use crate::workspace::{self, Workspace};

/// Which workspaces to tell of.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// The id or root of the only one to tell of. Absent: all.
    #[param(nullable = false)]
    pub workspace: Option<String>,
}

/// The process and its workspaces.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::status))]
pub struct StatusReply {
    #[schema(examples("0.1.0"))]
    pub version: &'static str,
    pub pid: u32,
    /// Of this process, engines of their own not counted. Absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    pub workspaces: Vec<WorkspaceStatus>,
    pub meta: Meta,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WorkspaceStatus {
    pub id: String,
    pub root: String,
    pub languages: Vec<Language>,
    pub state: Stage,
    pub revision: u64,
    /// Absent where nothing is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
    pub engines: Vec<Engine>,
    /// Whether code of the workspace (build scripts, macros, its toolchain) may run.
    pub trusted: bool,
    pub missing: Vec<Missing>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Progress {
    #[schema(examples("indexing"))]
    pub stage: String,
    pub done: usize,
    pub total: usize,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Engine {
    #[schema(examples("gopls"))]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("v0.23.0"))]
    pub version: Option<String>,
    pub state: Stage,
    /// Absent for an engine in the process itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    pub restarts: u32,
}

impl From<workspace::WorkspaceStatus> for WorkspaceStatus {
    fn from(status: workspace::WorkspaceStatus) -> WorkspaceStatus {
        WorkspaceStatus {
            id: status.id,
            root: status.root.display().to_string(),
            languages: list(status.languages),
            state: status.state.into(),
            revision: status.revision.0,
            progress: status.progress.map(|Steps { stage, done, total }| Progress { stage, done, total }),
            engines: list(status.engines),
            trusted: status.trusted,
            missing: list(status.missing),
        }
    }
}

impl From<EngineStatus> for Engine {
    fn from(engine: EngineStatus) -> Engine {
        Engine {
            name: engine.name,
            version: engine.version,
            state: engine.state.into(),
            pid: engine.pid,
            memory_bytes: engine.memory_bytes,
            restarts: engine.restarts,
        }
    }
}

/// What a reply about several workspaces says of itself: the state is that of the one furthest behind, and the
/// revisions are added, so that theirs grows with every change too.
pub fn process_meta(statuses: &[workspace::WorkspaceStatus], elapsed: Duration) -> Meta {
    let state = statuses.iter().map(|it| it.state).min_by_key(|&state| match state {
        // Further behind than any that is still on its way.
        crate::model::State::Degraded => (0, state),
        _ => (1, state),
    });
    Meta {
        workspace: if let [only] = statuses { Some(only.id.clone()) } else { None },
        revision: statuses.iter().map(|it| it.revision.0).sum(),
        state: state.unwrap_or(crate::model::State::Ready).into(),
        // This answer is whole; what the workspaces' answers may lack is told of each.
        complete: true,
        missing: Vec::new(),
        overlays: Vec::new(),
        elapsed_ms: milliseconds(elapsed),
    }
}

/// How it goes
///
/// The process and each workspace: state, progress, revision, memory, engines, versions, trust.
#[utoipa::path(
    get, path = "/v1/status", operation_id = "status", tag = "process", params(StatusQuery),
    responses(
        (status = 200, description = "The status.",
            content((StatusReply = "application/json"), (String = "text/markdown"))),
        Plain
    )
)]
pub async fn status(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<StatusQuery>,
) -> Result<Response, Refusal> {
    let told = match &query.workspace {
        Some(workspace) => vec![service.pick(Some(workspace))?],
        None => service.workspaces.list(),
    };
    let statuses: Vec<_> = told.iter().map(Workspace::status).collect();
    let text = render::workspaces(&statuses);
    let meta = process_meta(&statuses, responder.elapsed());
    let reply = StatusReply {
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        memory_bytes: memory::resident(std::process::id()),
        workspaces: list(statuses),
        meta,
    };
    Ok(responder.plain(&reply, |reply| {
        let megabytes = reply.memory_bytes.map(|it| format!(", {} MB", it / 1_000_000)).unwrap_or_default();
        format!("semdex {}, process {}{megabytes}\n\n{text}", reply.version, reply.pid)
    }))
}

/// That the process lives.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    #[schema(examples("ok"))]
    pub status: &'static str,
    pub version: &'static str,
}

/// Whether the process lives
///
/// Wants no token and looks at no workspace.
#[utoipa::path(
    get, path = "/healthz", operation_id = "health", tag = "process", security(()),
    responses(
        (status = 200, description = "It does.", content((Health = "application/json"), (String = "text/markdown"))),
        Unguarded
    )
)]
pub async fn health(responder: Responder) -> Response {
    let health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };
    responder.plain(&health, |it| format!("{}, semdex {}\n", it.status, it.version))
}
