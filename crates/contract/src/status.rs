//! `status`, `health` and the workspaces: how the process is doing, and which workspaces are open.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::enums::{EngineState, Language, State};
use super::examples;
use super::request::{Answer, Arguments, Common, Document, parameters};
use super::shared_types::{Meta, Missing};

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
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::status))]
pub struct StatusReply {
    /// Of semdex.
    #[schema(examples("0.1.0"))]
    pub version: &'static str,
    /// Of the process that answers.
    pub pid: u32,
    /// Of this process, engines of their own not counted. Absent where the system does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    /// All that are open.
    pub workspaces: Vec<WorkspaceStatus>,
    /// The last questions that took longer than `[log] slow_ms`, the newest first.
    pub slow_questions: Vec<SlowQuestion>,
    /// Of all workspaces: the state of the one furthest behind, and the sum of the revisions.
    pub meta: Meta,
}

/// A question that took long, and where its time went, in milliseconds. What is in none of the parts is the request's way
/// in and the reading of its body.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SlowQuestion {
    /// By its name in the table of calls.
    #[schema(examples("usages"))]
    pub call: &'static str,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub at: String,
    /// As the log and the header `X-Request-Id` name it.
    #[schema(required)]
    pub request_id: Option<String>,
    /// From the request's head to the finished answer.
    pub elapsed_ms: f64,
    /// Until the workspace had time for it.
    pub queue_ms: f64,
    /// Until what others changed on the disk was taken in.
    pub barrier_ms: f64,
    /// Until the index, or the revision that was asked for, was there.
    pub index_ms: f64,
    /// Until the engine had answered, or the change was judged and written.
    pub engine_ms: f64,
    /// Until the reply was written as JSON or Markdown.
    pub rendering_ms: f64,
}

/// How a workspace is doing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct WorkspaceStatus {
    /// As the field `workspace` of requests takes it.
    pub id: String,
    /// Its directory, absolute.
    pub root: String,
    /// Those of its engines.
    pub languages: Vec<Language>,
    /// How much of it is known, by all of its engines together.
    pub state: State,
    /// Grows with every change of content, and with nothing else.
    pub revision: u64,
    /// Absent where nothing is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub progress: Option<Progress>,
    /// Those that its languages need.
    pub engines: Vec<Engine>,
    /// Whether code of the workspace (build scripts, macros, its toolchain) may run.
    pub trusted: bool,
    /// What answers may lack at the moment.
    pub missing: Vec<Missing>,
}

/// How far a workspace is: so many steps of a stage are done.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Progress {
    /// What is being done, for people to read.
    #[schema(examples("indexing"))]
    pub stage: String,
    /// Steps that are done.
    pub done: usize,
    /// Steps of the stage; 0 where nobody knows.
    pub total: usize,
}

/// How an engine is doing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Engine {
    /// The program, or the library in the process.
    #[schema(examples("gopls"))]
    pub name: String,
    /// Absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("v0.23.0"))]
    pub version: Option<String>,
    /// The language that it analyses; of several the first.
    pub language: Language,
    /// Whether it can be asked.
    pub state: EngineState,
    /// Absent for an engine in the process itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pid: Option<u32>,
    /// Of its own process. Absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub memory_bytes: Option<u64>,
    /// How often it ended unasked and was started again.
    pub restarts: u32,
}

/// That the process lives.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::health))]
pub struct Health {
    /// Always `ok`: a process that cannot say so does not answer.
    #[schema(examples("ok"))]
    pub status: &'static str,
    /// Of semdex.
    pub version: &'static str,
}

/// The workspaces that are open.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::workspaces))]
pub struct WorkspacesReply {
    /// In the order in which they were opened.
    pub workspaces: Vec<WorkspaceStatus>,
    /// Of all workspaces: the state of the one furthest behind, and the sum of the revisions.
    pub meta: Meta,
}

/// A call that takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// Which directory to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"root": "/src/ripgrep"})))]
pub struct OpenWorkspaceRequest {
    /// An absolute path. If it lies inside of a Cargo workspace or Go module, the root is that one's.
    #[schema(value_type = String)]
    pub root: PathBuf,
}

/// One workspace.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::workspace))]
pub struct WorkspaceReply {
    /// As it is after the call.
    pub workspace: WorkspaceStatus,
    /// Of this workspace.
    pub meta: Meta,
}

/// Which workspace to close.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CloseWorkspaceQuery {
    /// Its id or root.
    pub workspace: String,
}

/// A call that looks at nothing of its request.
#[derive(Debug, Deserialize)]
pub struct AnyArguments {}

/// Requests that are about the process: what stands in a document, and the workspace that they name.
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
