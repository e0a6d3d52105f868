//! The one table of calls. Routes, the OpenAPI document, the command line and the other interfaces are generated from
//! it. The handlers are in `dispatch.rs` of the crate `ops`, which does not compile if one is missing.

use serde::Serialize;

use super::baseline::{BaselineReply, BaselineRequest, RegressionsQuery, RegressionsReply};
use super::budget::Budget;
use super::call::{Call, Effect, Method, Needs, Shape};
use super::call_table_macro::{calls, given_in_full};
use super::change::ChangeReport;
use super::describe::{DescribeRequest, Described};
use super::diagnostics::{DiagnosticsQuery, DiagnosticsReply};
use super::edit::EditRequest;
use super::explore::{ExploreReply, ExploreRequest};
use super::gate::{GateQuery, GateReply};
use super::git::{CommitReply, CommitRequest, GitQuery, GitReply};
use super::impact::{ImpactReport, ImpactRequest};
use super::journal::{ChangesQuery, ChangesReply, UndoRequest};
use super::map::{MapQuery, MapReply};
use super::open::{OpenRequest, Opened};
use super::overlays::{DeleteOverlayQuery, OverlayQuery, OverlayReply, OverlayRequest, OverlaysReply};
use super::parse::{from_json, from_query, from_repeating_query};
use super::relations::{AboutSymbolQuery, CallsReply, ImplementationsReply, SymbolUsesQuery, UsagesReply};
use super::rename::RenameRequest;
use super::request::{Answer, Arguments, Common, schemas};
use super::runs::{CancelRunQuery, RunQuery, RunReply, RunStarted, StartRunRequest};
use super::shared_types::Meta;
use super::shorten::Fit;
use super::stats::{StatsQuery, StatsReply};
use super::status::{
    AnyArguments, CloseWorkspaceQuery, Health, NoArguments, OpenWorkspaceRequest, StatusQuery, StatusReply,
    WorkspaceReply, WorkspacesReply,
};
use super::symbols::{SymbolAtQuery, SymbolAtReply, SymbolsQuery, SymbolsReply};
use super::verify::{VerifyReply, VerifyRequest};
use super::write::WriteRequest;
use semdex_model::Code;

const ANSWER: &[Code] = &[Code::NotReady, Code::EngineUnavailable, Code::RevisionNotReached, Code::Timeout];
const FILE: &[Code] =
    &[Code::OutsideWorkspace, Code::PermissionDenied, Code::UnknownFile, Code::NotText, Code::TooLarge];
const SYMBOL: &[Code] = &[Code::UnknownSymbol, Code::UnknownPackage, Code::AmbiguousSymbol];
const CHANGE: &[Code] = &[
    Code::AmbiguousTree,
    Code::HashMismatch,
    Code::AlreadyExists,
    Code::Conflict,
    Code::WouldBreak,
    Code::InvalidContent,
    Code::DiskFull,
];
const OVERLAY: &[Code] = &[Code::InvalidContent, Code::NotReady, Code::Timeout];
const BASELINE: &[Code] = &[Code::DiskFull];
const UNDO: &[Code] = &[Code::UnknownChange, Code::HashMismatch, Code::Conflict, Code::DiskFull];
const REPOSITORY: &[Code] = &[Code::NotARepository, Code::Untrusted, Code::Conflict];
const COMMIT: &[Code] = &[Code::NothingToCommit, Code::UnknownChange, Code::InvalidContent, Code::DiskFull];
const WRITE: &[Code] = &[Code::Elided];
const MATCH: &[Code] = &[Code::NoMatch, Code::Ambiguous, Code::AlreadyApplied];
const RENAME: &[Code] = &[Code::RenameRefused];
const RUN: &[Code] = &[Code::Untrusted, Code::ModelUnavailable, Code::Busy];
const KNOWN_RUN: &[Code] = &[Code::UnknownRun];
const VERIFY: &[Code] = &[Code::Untrusted, Code::UnknownPackage, Code::UnknownChange];
const ROOT: &[Code] = &[Code::ForbiddenRoot, Code::PermissionDenied, Code::Conflict];

impl Name {
    /// Its row of the table.
    pub fn call(self) -> &'static Call {
        // Discriminants of `Name` are in the order of the table.
        &CALLS[self as usize]
    }
}

given_in_full! {
    BaselineReply, GateReply, WorkspaceReply, WorkspacesReply, StatusReply,
}

impl Fit for Reply {
    /// They are already sized for their Markdown.
    fn counts_json(&self) -> bool {
        !matches!(self, Reply::Map(_) | Reply::Explore(_))
    }

    fn meta(&mut self) -> Option<&mut Meta> {
        Reply::meta(self)
    }

    fn fit(&mut self, budget: Budget) -> Option<Vec<String>> {
        Reply::fit(self, budget)
    }

    const REST: &str = "go on with `next_cursor`";
}

calls! {
    Open(OpenRequest) -> Opened {
        name: "open",
        method: Method::Post,
        path: "/v1/open",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "read",
        summary: "Open a file",
        description: "The skeleton of the file with collapsed bodies, its symbols with their lines and usages, what \
                      the file uses, and which files use it.",
        answers: "The file.",
        refusals: &[FILE, ANSWER],
    }

    Explore(ExploreRequest) -> ExploreReply {
        name: "explore",
        method: Method::Post,
        path: "/v1/explore",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "read",
        summary: "Find the lines that a question is about",
        description: "A question, an error message, a stack trace or the text of an issue: the items of the workspace \
                      that it is about, with their numbered lines, by file; signatures of the next rank; which of them \
                      use which; what uses them; their tests. Ranked by words, names, paths, references and git \
                      history. While the index is loading, the words alone decide, and `missing` says so.",
        answers: "The lines.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Describe(DescribeRequest) -> Described {
        name: "describe",
        method: Method::Post,
        path: "/v1/describe",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Describe a symbol, a package or a file",
        description: "A symbol of the workspace: its source, docs, examples, usages and implementations. A symbol of \
                      the standard library or of a dependency: its docs and examples, and its usages in the workspace. \
                      A package: an overview. A file: its full text.",
        answers: "The description.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Symbols(SymbolsQuery) -> SymbolsReply {
        name: "symbols",
        method: Method::Get,
        path: "/v1/symbols",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Find symbols",
        description: "Searches the whole workspace for symbols by a part of their name, or returns all symbols of one \
                      file as a tree.",
        answers: "The symbols.",
        refusals: &[FILE, ANSWER],
    }

    SymbolAt(SymbolAtQuery) -> SymbolAtReply {
        name: "symbol_at",
        method: Method::Get,
        path: "/v1/symbols/at",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Symbol at a position",
        description: "The symbol that the position refers to, its definition, its type, and the text that an editor \
                      shows on hover.",
        answers: "The symbol at the position.",
        refusals: &[FILE, ANSWER],
    }

    Usages(SymbolUsesQuery) -> UsagesReply {
        name: "usages",
        method: Method::Get,
        path: "/v1/usages",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Usages of a symbol",
        description: "Every place of the workspace that names the symbol, with the text of its line and the enclosing \
                      symbol. `complete: true` with an empty list means that there are no usages.",
        answers: "The usages.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Callers(SymbolUsesQuery) -> CallsReply {
        name: "callers",
        method: Method::Get,
        path: "/v1/callers",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Callers of a symbol",
        description: "The symbols whose code calls it, or uses it as a value that can be called, each with its calls. \
                      Tests come last.",
        answers: "The callers.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Callees(AboutSymbolQuery) -> CallsReply {
        name: "callees",
        method: Method::Get,
        path: "/v1/callees",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Callees of a symbol",
        description: "The functions, methods and constructors that its text calls, in the order of their first calls.",
        answers: "The callees.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Implementations(AboutSymbolQuery) -> ImplementationsReply {
        name: "implementations",
        method: Method::Get,
        path: "/v1/implementations",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Implementations of a symbol",
        description: "The implementations of a trait, of an interface or of one of its methods. For a type, the \
                      implementations for that type.",
        answers: "The implementations.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Diagnostics(DiagnosticsQuery) -> DiagnosticsReply {
        name: "diagnostics",
        method: Method::Get,
        path: "/v1/diagnostics",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Diagnostics",
        description: "The diagnostics of the engines for one file or for the whole workspace, each with its source and \
                      its enclosing symbol. `Accept: application/sarif+json` or `format=sarif` returns a log of SARIF \
                      2.1.0.",
        answers: "The diagnostics.",
        refusals: &[FILE, ANSWER],
    }

    Baseline(BaselineRequest) -> BaselineReply {
        name: "baseline",
        method: Method::Post,
        path: "/v1/baseline",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "diagnostics",
        summary: "Keep the present diagnostics as baseline",
        description: "`regressions` and `gate` compare with the baseline later. It is stored with the journal, so it \
                      survives restarts.",
        answers: "The baseline.",
        refusals: &[FILE, BASELINE, ANSWER],
    }

    Regressions(RegressionsQuery) -> RegressionsReply {
        name: "regressions",
        method: Method::Get,
        path: "/v1/regressions",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "diagnostics",
        summary: "What is new since the baseline",
        description: "The errors and warnings that appeared or disappeared since the baseline. A diagnostic that only \
                      moved is in neither list.",
        answers: "The new and the fixed diagnostics.",
        refusals: &[FILE, ANSWER],
    }

    Gate(GateQuery) -> GateReply {
        name: "gate",
        method: Method::Get,
        path: "/v1/gate",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "diagnostics",
        summary: "Check the diagnostics against thresholds",
        description: "Blocks if there are more errors or warnings than allowed. The query takes precedence over \
                      `[gate]` in `semdex.toml`, and that over the user's configuration.",
        answers: "Whether the workspace passes, and why it does not.",
        refusals: &[ANSWER],
    }

    Stats(StatsQuery) -> StatsReply {
        name: "stats",
        method: Method::Get,
        path: "/v1/stats",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "diagnostics",
        summary: "Statistics of errors and warnings",
        description: "The errors and warnings that hooks and queries have seen since the start, by file, with their \
                      history.",
        answers: "The statistics.",
        refusals: &[ANSWER],
    }

    Map(MapQuery) -> MapReply {
        name: "map",
        method: Method::Get,
        path: "/v1/map",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Map of the most important symbols",
        description: "Files and the signatures in them, ranked by PageRank over the references between files, and \
                      biased towards `focus` and the words of `query`. The map has as many rows as fit into \
                      `max_tokens` of Markdown.",
        answers: "The map.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Impact(ImpactRequest) -> ImpactReport {
        name: "impact",
        method: Method::Post,
        path: "/v1/impact",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "What would a change break?",
        description: "The effect of `remove`, `rename`, `signature` (one more parameter, or another type) or \
                      `visibility` (no longer visible outside) on a symbol, computed as a dry run of such an edit.",
        answers: "What the change would break.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Edit(EditRequest) -> ChangeReport {
        name: "edit",
        method: Method::Post,
        path: "/v1/edit",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Edit",
        description: "Replaces one place, found by its text or by its symbol, or several places in one change: all of \
                      them or none. Files are created, deleted and moved in the same change. The reply lists where \
                      each edit landed, and which errors the change causes and fixes. If no place matches, or several \
                      do, the edit is refused with the nearest text or the candidates. A body may be a patch, with \
                      its options in the query: SEARCH/REPLACE blocks (`text/x-search-replace`), each under the name \
                      of its file; a unified diff (`text/x-diff`), whose line numbers and counts are not trusted; the \
                      `*** Begin Patch` form (`text/x-apply-patch`).",
        answers: "What changed.",
        refusals: &[FILE, SYMBOL, MATCH, CHANGE, WRITE, ANSWER],
    }

    Write(WriteRequest) -> ChangeReport {
        name: "write",
        method: Method::Post,
        path: "/v1/write",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Write a file",
        description: "Appends to a file, replaces it or creates it. The reply lists the errors that the text causes, \
                      the unresolved names in it, and what it breaks elsewhere.",
        answers: "What changed.",
        refusals: &[FILE, CHANGE, WRITE, ANSWER],
    }

    Undo(UndoRequest) -> ChangeReport {
        name: "undo",
        method: Method::Post,
        path: "/v1/undo",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Undo a change",
        description: "Restores all files of the change, if each still has the content that the change left. Otherwise \
                      nothing is changed, and `diff` shows the later changes of others. An undo is itself a change \
                      that can be undone. With `commit`, the effect of a commit is reverted as one change, and the \
                      result is committed.",
        answers: "What changed.",
        refusals: &[FILE, UNDO, REPOSITORY, COMMIT, ANSWER],
    }

    Git(GitQuery) -> GitReply {
        name: "git",
        method: Method::Get,
        path: "/v1/git",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "git",
        summary: "Uncommitted files",
        description: "The branch, the last commit, and each file that differs from it. Nothing is written, not even \
                      the index.",
        answers: "The state of the repository.",
        refusals: &[REPOSITORY, ANSWER],
    }

    Commit(CommitRequest) -> CommitReply {
        name: "commit",
        method: Method::Post,
        path: "/v1/commit",
        effect: Effect::Change,
        needs: Needs::Text,
        group: "git",
        summary: "Commit files",
        description: "Commits the files of changes, and other files, each with its whole present content. Nothing else \
                      becomes part of the commit; the index and all other files stay as they are. Without a message, \
                      one is generated from the changes.",
        answers: "The commit.",
        refusals: &[FILE, REPOSITORY, COMMIT, ANSWER],
    }

    Changes(ChangesQuery) -> ChangesReply {
        name: "changes",
        method: Method::Get,
        path: "/v1/changes",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "change",
        summary: "List changes",
        description: "The changes that semdex made in this workspace, in any process and for any client. They are kept \
                      for 30 days or 1 GiB unless configured otherwise. Changes by others are not listed.",
        answers: "The changes.",
        refusals: &[FILE, ANSWER],
    }

    Rename(RenameRequest) -> ChangeReport {
        name: "rename",
        method: Method::Post,
        path: "/v1/rename",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Rename a symbol",
        description: "Renames a symbol with its engine: in every file as one change, or not at all, with the reason.",
        answers: "What changed.",
        refusals: &[FILE, SYMBOL, CHANGE, RENAME, ANSWER],
    }

    Verify(VerifyRequest) -> VerifyReply {
        name: "verify",
        method: Method::Post,
        path: "/v1/verify",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "read",
        summary: "Check, lint or test the files on disk",
        description: "Runs the tools of all languages of the workspace and returns their findings. The workspace must \
                      be trusted. The tools build in a directory of semdex's own and write nothing in the workspace. \
                      The run ends when its client disconnects.",
        answers: "The findings of the tools.",
        refusals: &[VERIFY, ANSWER],
    }

    ListOverlays(OverlayQuery) -> OverlaysReply {
        name: "list_overlays",
        method: Method::Get,
        path: "/v1/overlays",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "change",
        summary: "List overlays",
        description: "The overlays in the order of their file names.",
        answers: "The overlays.",
        refusals: &[FILE, ANSWER],
    }

    PutOverlay(OverlayRequest) -> OverlayReply {
        name: "put_overlay",
        method: Method::Put,
        path: "/v1/overlays/{file}",
        effect: Effect::Change,
        needs: Needs::Text,
        group: "change",
        summary: "Put an overlay",
        description: "Content of a file that is not on disk, for example an editor's buffer. Every answer uses it \
                      until it is removed or expires. The file on disk stays as it is. While the overlay exists, edits \
                      of the file are refused or go to the overlay, as `edits` says. `cursor` and `limit` have no \
                      effect.",
        answers: "The overlay.",
        refusals: &[FILE, OVERLAY],
    }

    DeleteOverlay(DeleteOverlayQuery) -> OverlayReply {
        name: "delete_overlay",
        method: Method::Delete,
        path: "/v1/overlays/{file}",
        effect: Effect::Change,
        needs: Needs::Text,
        group: "change",
        summary: "Remove an overlay",
        description: "Answers use the content on disk again. `cursor` and `limit` have no effect.",
        answers: "The overlay as it was.",
        refusals: &[FILE, OVERLAY],
    }

    StartRun(StartRunRequest) -> RunStarted {
        name: "start_run",
        method: Method::Post,
        path: "/v1/runs",
        effect: Effect::Begin,
        needs: Needs::Text,
        group: "runs",
        summary: "Start a run of a model",
        description: "Sends the task and the relevant parts of the workspace to a model in Amazon Bedrock, applies the \
                      edits of its reply as one change, verifies them, and lets the model try again with the errors. \
                      The files end verified, or as they were. The reply comes immediately; `GET /v1/runs/{run}` and \
                      the events `run` report the progress. `verify` requires a trusted workspace.",
        answers: "The run has started.",
        refusals: &[FILE, RUN, ANSWER],
    }

    Run(RunQuery) -> RunReply {
        name: "run",
        method: Method::Get,
        path: "/v1/runs/{run}",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "runs",
        summary: "State of a run",
        description: "Each attempt with its edits, the errors that they cause and their verification; the changed \
                      files, the remaining errors, and the tokens. The last 100 runs of this process are kept.",
        answers: "The run.",
        refusals: &[KNOWN_RUN, ANSWER],
    }

    CancelRun(CancelRunQuery) -> RunReply {
        name: "cancel_run",
        method: Method::Delete,
        path: "/v1/runs/{run}",
        effect: Effect::Change,
        needs: Needs::Text,
        group: "runs",
        summary: "Cancel a run",
        description: "Stops the run and restores its files, unless it was started with `keep`. The call waits until \
                      that is done, a few seconds at most. A run that has ended is not changed.",
        answers: "The run.",
        refusals: &[KNOWN_RUN, ANSWER],
    }

    ListWorkspaces(NoArguments) -> WorkspacesReply {
        name: "list_workspaces",
        method: Method::Get,
        path: "/v1/workspaces",
        effect: Effect::Read,
        needs: Needs::Process,
        group: "workspaces",
        summary: "List the open workspaces",
        description: "Each workspace with its state, as in `/v1/status`.",
        answers: "The workspaces.",
        refusals: &[],
    }

    OpenWorkspace(OpenWorkspaceRequest) -> WorkspaceReply {
        name: "open_workspace",
        method: Method::Post,
        path: "/v1/workspaces",
        effect: Effect::Change,
        needs: Needs::Process,
        group: "workspaces",
        summary: "Open a workspace",
        description: "The directory must be in or below a root that was given at the start or in the configuration. \
                      One in an open workspace is a part of it. One that another server serves, or that contains an \
                      open workspace, is refused with `conflict`. The reply comes immediately; loading continues in the background, and `/v1/status` reports the \
                      progress.",
        answers: "The workspace, opened now or earlier.",
        refusals: &[ROOT],
    }

    CloseWorkspace(CloseWorkspaceQuery) -> WorkspaceReply {
        name: "close_workspace",
        method: Method::Delete,
        path: "/v1/workspaces",
        effect: Effect::Change,
        needs: Needs::Process,
        group: "workspaces",
        summary: "Close a workspace",
        description: "Stops its engines and frees its memory. Nothing on disk changes.",
        answers: "The workspace as it was.",
        refusals: &[],
    }

    Status(StatusQuery) -> StatusReply {
        name: "status",
        method: Method::Get,
        path: "/v1/status",
        effect: Effect::Read,
        needs: Needs::Process,
        group: "process",
        summary: "Status",
        description: "The process and each workspace: state, progress, revision, memory, engines, versions, trust.",
        answers: "The status.",
        refusals: &[],
    }

    Health(AnyArguments) -> Health {
        name: "health",
        method: Method::Get,
        path: "/healthz",
        effect: Effect::Read,
        needs: Needs::Nothing,
        group: "process",
        summary: "Health of the process",
        description: "Requires no token and uses no workspace.",
        answers: "The process is alive.",
        refusals: &[],
    }
}
