//! The one table of calls. Routes, the OpenAPI document, the command line and whatever other face there is are made
//! from it; what answers a call is in `ops/answer.rs`, which does not compile where one of them is left out.

use serde::Serialize;

use super::baseline::{BaselineReply, BaselineRequest, RegressionsQuery, RegressionsReply};
use super::budget::Budget;
use super::call::{Call, Effect, Method, Needs, Shape};
use super::call_table_macro::{calls, given_in_full};
use super::change::ChangeReport;
use super::describe::{DescribeRequest, Described};
use super::diagnostics::{DiagnosticsQuery, DiagnosticsReply};
use super::edit::EditRequest;
use super::gate::{GateQuery, GateReply};
use super::git::{CommitReply, CommitRequest, GitQuery, GitReply};
use super::impact::{ImpactReport, ImpactRequest};
use super::journal::{ChangesQuery, ChangesReply, UndoRequest};
use super::map::{MapQuery, MapReply};
use super::open::{OpenRequest, Opened};
use super::overlays::{DeleteOverlayQuery, OverlayQuery, OverlayReply, OverlayRequest, OverlaysReply};
use super::parse::{from_json, from_query, from_repeating_query};
use super::relations::{AboutSymbolQuery, CallsReply, ImplementationsReply, UsagesReply};
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
const CHANGE: &[Code] =
    &[Code::HashMismatch, Code::AlreadyExists, Code::Conflict, Code::WouldBreak, Code::InvalidContent, Code::DiskFull];
const OVERLAY: &[Code] = &[Code::InvalidContent, Code::NotReady, Code::Timeout];
const BASELINE: &[Code] = &[Code::DiskFull];
const UNDO: &[Code] = &[Code::UnknownChange, Code::HashMismatch, Code::Conflict, Code::DiskFull];
const REPOSITORY: &[Code] = &[Code::NotARepository, Code::Untrusted, Code::Conflict];
const COMMIT: &[Code] = &[Code::NothingToCommit, Code::UnknownChange, Code::InvalidContent, Code::DiskFull];
const MATCH: &[Code] = &[Code::NoMatch, Code::Ambiguous];
const RENAME: &[Code] = &[Code::RenameRefused];
const RUN: &[Code] = &[Code::Untrusted, Code::ModelUnavailable, Code::Busy];
const KNOWN_RUN: &[Code] = &[Code::UnknownRun];
const VERIFY: &[Code] = &[Code::Untrusted, Code::UnknownPackage, Code::UnknownChange];
const ROOT: &[Code] = &[Code::ForbiddenRoot, Code::PermissionDenied];

impl Name {
    /// Its row of the table.
    pub fn call(self) -> &'static Call {
        // Names are counted in the order of the table.
        &CALLS[self as usize]
    }
}

given_in_full! {
    BaselineReply, GateReply, OverlayReply, OverlaysReply, WorkspaceReply, WorkspacesReply, StatusReply,
}

impl Fit for Reply {
    /// A map is chosen for what its Markdown takes.
    fn counts_json(&self) -> bool {
        !matches!(self, Reply::Map(_))
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
        description: "Its skeleton with bodies collapsed, its symbols with their lines and usages, what the \
                      file uses and who uses it.",
        answers: "The file.",
        refusals: &[FILE, ANSWER],
    }

    Describe(DescribeRequest) -> Described {
        name: "describe",
        method: Method::Post,
        path: "/v1/describe",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Describe a symbol, a package or a file",
        description: "A symbol of the workspace: its source, docs, examples, usages and implementations. One of the standard library or a\n\
                      dependency: docs and examples, and its usages here. A package: an overview. A file: its full text.",
        answers: "What is known of it.",
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
        description: "By a part of their name in the whole workspace, or all those of one file as a tree.",
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
        summary: "What stands at a position",
        description: "The symbol referred to, its definition, its type, and what an editor would show when \
                      one hovers over it.",
        answers: "What stands there.",
        refusals: &[FILE, ANSWER],
    }

    Usages(AboutSymbolQuery) -> UsagesReply {
        name: "usages",
        method: Method::Get,
        path: "/v1/usages",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Who uses a symbol",
        description: "Every place of the workspace that names it, with the line's text and the symbol it stands in. With `complete: true`\n\
                      and an empty list there is none.",
        answers: "The usages.",
        refusals: &[FILE, SYMBOL, ANSWER],
    }

    Callers(AboutSymbolQuery) -> CallsReply {
        name: "callers",
        method: Method::Get,
        path: "/v1/callers",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "read",
        summary: "Who calls a symbol",
        description: "The symbols whose code calls it, or takes it as a value that may be called, each with \
                      its calls; tests last.",
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
        summary: "What a symbol calls",
        description: "The functions, methods and constructors that its text calls, in the order of their \
                      first calls.",
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
        summary: "What implements a symbol",
        description: "The implementations of a trait, an interface or one of its methods; of a type, the \
                      implementations for it.",
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
        summary: "What is wrong",
        description: "The engines' diagnostics of one file or of the whole workspace, each with its source \
                      and the symbol it is in. With `Accept: application/sarif+json` or `format=sarif` a log of SARIF 2.1.0.",
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
        summary: "Keep the diagnostics of this moment",
        description: "What `regressions` and `gate` compare with later. Kept with the journal, so also over restarts.",
        answers: "What is kept.",
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
        description: "Errors and warnings that came and went. One that only moved did neither.",
        answers: "What came and what went.",
        refusals: &[FILE, ANSWER],
    }

    Gate(GateQuery) -> GateReply {
        name: "gate",
        method: Method::Get,
        path: "/v1/gate",
        effect: Effect::Read,
        needs: Needs::Index,
        group: "diagnostics",
        summary: "May this pass?",
        description: "Blocks where there are more errors or warnings than allowed. The query comes before `[gate]` in `semdex.toml`, that\n\
                      before the user's configuration.",
        answers: "Whether it passes, and why not.",
        refusals: &[ANSWER],
    }

    Stats(StatsQuery) -> StatsReply {
        name: "stats",
        method: Method::Get,
        path: "/v1/stats",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "diagnostics",
        summary: "How it went",
        description: "The errors and warnings that hooks and questions have seen since the start, by file, with their history.",
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
        summary: "The most important symbols",
        description: "Files and the signatures in them, ranked by PageRank over who refers to what, and drawn towards `focus` and the\n\
                      words of `query`: as many as `max_tokens` of Markdown take.",
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
        description: "`remove`, `rename`, `signature` (one parameter more, or another type) or `visibility` (not seen from outside any\n\
                      more), answered as a dry run of such an edit.",
        answers: "What it would break.",
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
        description: "Replaces one place, found by its text or by its symbol, or several at once, all or none. Says where each landed and\n\
                      what the change brings and breaks. No match and several are refused with what helps. A body of type\n\
                      `text/x-search-replace` holds SEARCH/REPLACE blocks, each under its file's name, and takes its options from the query.",
        answers: "What changed.",
        refusals: &[FILE, SYMBOL, MATCH, CHANGE, ANSWER],
    }

    Write(WriteRequest) -> ChangeReport {
        name: "write",
        method: Method::Post,
        path: "/v1/write",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Write a file",
        description: "Appends to it, replaces it or makes it, and says what the text brings, names wrongly \
                      and breaks.",
        answers: "What changed.",
        refusals: &[FILE, CHANGE, ANSWER],
    }

    Undo(UndoRequest) -> ChangeReport {
        name: "undo",
        method: Method::Post,
        path: "/v1/undo",
        effect: Effect::Change,
        needs: Needs::Index,
        group: "change",
        summary: "Take back a change",
        description: "All its files are again what they were, if each still is what the change left; else nothing is changed, and `diff`\n\
                      says what others made of them since. An undo is a change like any other, and can be undone. With `commit` it takes\n\
                      back what a commit did, as one change, and commits that.",
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
        summary: "What is not committed",
        description: "The branch, the last commit, and each file that is not as that has it. Nothing is written, not even the index.",
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
        description: "The files of changes, and other files, whole and as they stand: nothing else goes into the commit, and the index and\n\
                      all other files stay as they are. Without a message one is made from what changed.",
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
        summary: "What was changed",
        description: "The changes that semdex made in this workspace, whichever process and client, kept for 30 days or 1 GiB unless configured\n\
                      otherwise. What others changed is not in it.",
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
        summary: "Rename",
        description: "Renames a symbol by its engine: every file in one change, or a reason why not.",
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
        summary: "Check, lint or test what is on the disk",
        description: "Runs the tools of all languages of the workspace, which must be trusted, and tells what they say. They build in a directory\n\
                      of semdex's own and write nothing in the workspace. The run ends where its client leaves.",
        answers: "What the tools say.",
        refusals: &[VERIFY, ANSWER],
    }

    ListOverlays(OverlayQuery) -> OverlaysReply {
        name: "list_overlays",
        method: Method::Get,
        path: "/v1/overlays",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "change",
        summary: "Which overlays there are",
        description: "In the order of their files' names. `max_tokens`, `cursor` and `limit` change nothing: the list is given whole.",
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
        description: "Content that is not on the disk, as an editor's buffer, seen by every answer until it is taken away or its time is\n\
                      over. The disk stays as it is. Edits of the file are refused meanwhile, or go to the overlay, as its owner says. `max_tokens`,\n\
                      `cursor` and `limit` change nothing.",
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
        summary: "Take an overlay away",
        description: "What the disk has is seen again. `max_tokens`, `cursor` and `limit` change nothing.",
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
        summary: "Have a model do a task",
        description: "Sends the task with what matters of the workspace to a model in Amazon Bedrock, applies the edits of its reply\n\
                      as one change, verifies them, and lets it try again with what went wrong. The tree ends verified, or as it\n\
                      was. Answers at once; `GET /v1/runs/{run}` and the events `run` tell how far it is. `verify` wants trust.",
        answers: "The run has begun.",
        refusals: &[FILE, RUN, ANSWER],
    }

    Run(RunQuery) -> RunReply {
        name: "run",
        method: Method::Get,
        path: "/v1/runs/{run}",
        effect: Effect::Read,
        needs: Needs::Text,
        group: "runs",
        summary: "How far a run is",
        description: "Each attempt with its edits, the errors that they bring and their verification; the files that are changed, what is\n\
                      still wrong, and the tokens. The last 100 runs of this process are known.",
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
        summary: "End a run",
        description: "What it does is given up, and its files are again what they were unless it was started with `keep`. Waits for that,\n\
                      a few seconds at most. A run that has ended stays as it is.",
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
        summary: "Which workspaces are open",
        description: "Each with its state, as `/v1/status` tells it.",
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
        description: "In or below a root that was named at the start or in the configuration. Answers at \
                      once; loading goes on in the background, and `/v1/status` tells how far it is.",
        answers: "The workspace, open now or before.",
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
        description: "Ends its engines and frees its memory. Nothing on disk changes.",
        answers: "The workspace, as it was.",
        refusals: &[],
    }

    Status(StatusQuery) -> StatusReply {
        name: "status",
        method: Method::Get,
        path: "/v1/status",
        effect: Effect::Read,
        needs: Needs::Process,
        group: "process",
        summary: "How it goes",
        description: "The process and each workspace: state, progress, revision, memory, engines, versions, \
                      trust.",
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
        summary: "Whether the process lives",
        description: "Wants no token and looks at no workspace.",
        answers: "It does.",
        refusals: &[],
    }
}
