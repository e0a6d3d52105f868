//! `status`, `health`, and the calls that open, close and list workspaces.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::enums::{EngineState, Language, State};
use super::examples;
use super::request::{Answer, Arguments, Common, Document, parameters};
use super::shared_types::{Meta, Missing};

/// The workspaces to report.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// The id or root of the workspace. Default: all workspaces.
    #[param(nullable = false)]
    pub workspace: Option<String>,
}

/// The status of the process and its workspaces.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::status))]
pub struct StatusReply {
    /// The version of semdex.
    #[schema(examples("0.1.0"))]
    pub version: &'static str,
    /// The id of the server process.
    pub pid: u32,
    /// The memory of the server process without engines in their own processes. Absent if the system does not report
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    /// The open workspaces.
    pub workspaces: Vec<WorkspaceStatus>,
    /// The last requests that took longer than `[log] slow_ms`, the newest first.
    pub slow_questions: Vec<SlowQuestion>,
    /// For all workspaces together: the least advanced state, and the sum of the revisions.
    pub meta: Meta,
}

/// A slow request, with the time of its parts in milliseconds. They sum to `elapsed_ms`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SlowQuestion {
    /// The name of the call.
    #[schema(examples("usages"))]
    pub call: &'static str,
    /// When it was answered, as RFC 3339.
    #[schema(format = "date-time")]
    pub at: String,
    /// The id of the request, as in the log and in the header `X-Request-Id`.
    #[schema(required)]
    pub request_id: Option<String>,
    /// The total time, from the head of the request to the finished reply.
    pub elapsed_ms: f64,
    /// Reading the request.
    pub reading_ms: f64,
    /// Waiting in the queue of the workspace, and for changes of the same files.
    pub queue_ms: f64,
    /// Reading changes by others from disk.
    pub barrier_ms: f64,
    /// Waiting for the index, or for `min_revision`.
    pub index_ms: f64,
    /// Waiting for the engine, or computing the impact of a change and writing it.
    pub engine_ms: f64,
    /// The rest: matching texts, planning, composing the reply, running the tools of `verify` and git.
    pub computing_ms: f64,
    /// Serializing the reply as JSON or Markdown.
    pub rendering_ms: f64,
}

/// The status of a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkspaceStatus {
    /// The id for the field `workspace` of requests.
    pub id: String,
    /// The absolute path of its directory.
    pub root: String,
    /// The languages of its engines.
    pub languages: Vec<Language>,
    /// How much of it is known, over all its engines.
    pub state: State,
    /// Increases with every change of content, and only then.
    pub revision: u64,
    /// Absent if nothing is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
    /// The engines of its languages.
    pub engines: Vec<Engine>,
    /// Whether code of the workspace (build scripts, macros, its toolchain) may be executed.
    pub trusted: bool,
    /// What answers may be missing at present.
    pub missing: Vec<Missing>,
}

/// The progress of a stage of loading.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Progress {
    /// The stage, for display.
    #[schema(examples("indexing"))]
    pub stage: String,
    /// The number of finished steps.
    pub done: usize,
    /// The number of all steps; 0 if unknown.
    pub total: usize,
}

/// The status of an engine.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Engine {
    /// The name of the program or library.
    #[schema(examples("gopls"))]
    pub name: String,
    /// Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("v0.23.0"))]
    pub version: Option<String>,
    /// The language that it analyses, or the first of several.
    pub language: Language,
    /// The state of the engine.
    pub state: EngineState,
    /// The id of its process. Absent for an engine inside the server process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pid: Option<u32>,
    /// The memory of its process. Absent for an engine inside the server process.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    /// How often it was restarted after an unexpected end.
    pub restarts: u32,
}

/// The health of the process.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::health))]
pub struct Health {
    /// Always `ok`. An unhealthy process does not answer.
    #[schema(examples("ok"))]
    pub status: &'static str,
    /// The version of semdex.
    pub version: &'static str,
}

/// The workspaces that are open.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::workspaces))]
pub struct WorkspacesReply {
    /// The workspaces in the order in which they were opened.
    pub workspaces: Vec<WorkspaceStatus>,
    /// For all workspaces together: the least advanced state, and the sum of the revisions.
    pub meta: Meta,
}

/// The request of a call without arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// The directory to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"root": "/src/ripgrep"})))]
pub struct OpenWorkspaceRequest {
    /// An absolute path. If it is inside a Cargo workspace or a Go module, the root of that is opened.
    #[schema(value_type = String)]
    pub root: PathBuf,
}

/// The status of one workspace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::workspace))]
pub struct WorkspaceReply {
    /// The status after the call.
    pub workspace: WorkspaceStatus,
    /// The metadata of this workspace.
    pub meta: Meta,
}

/// The workspace to close.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CloseWorkspaceQuery {
    /// The id or root of the workspace.
    pub workspace: String,
}

/// The request of a call that ignores all arguments.
#[derive(Debug, Deserialize)]
pub struct AnyArguments {}

/// Implements `Arguments` for requests about the process: the OpenAPI document, and the workspace that they name.
macro_rules! arguments {
    ($($request:ty: $document:expr, |$it:ident| $workspace:expr;)*) => { $(
        impl Arguments for $request {
            fn document() -> Document {
                $document
            }

            fn common(&self) -> Common {
                let $it = self;
                Common { workspace: $workspace, ..Common::default() }
            }
        }
    )* };
}

arguments! {
    NoArguments: Document::default(), |_it| None;
    AnyArguments: Document::default(), |_it| None;
    StatusQuery: Document::query(parameters::<StatusQuery>()), |it| it.workspace.clone();
    OpenWorkspaceRequest: Document::body::<OpenWorkspaceRequest>(), |_it| None;
    CloseWorkspaceQuery: Document::query(parameters::<CloseWorkspaceQuery>()), |it| Some(it.workspace.clone());
}

impl Answer for Health {
    fn meta(&mut self) -> Option<&mut Meta> {
        None
    }
}
