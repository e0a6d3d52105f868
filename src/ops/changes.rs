//! Stand-in signatures; to be split, one file per verb.

use super::{Ask, Reply};
use crate::model::*;
use crate::workspace::Workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Body,
    Whole,
    Before,
    After,
    Delete,
}

/// Where an edit goes: at a text that is searched, or at a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Text { file: String, search_context: String, near_line: Option<usize>, expected_hash: Option<String> },
    Symbol { symbol: String, package: Option<String>, file: Option<String>, at: At, expected_hash: Option<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub target: Target,
    pub replacement: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnBreak {
    #[default]
    Report,
    Reject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    pub edits: Vec<Edit>,
    /// 0 to 100: the least similarity accepted; 0: exact or white-space-only.
    pub autofix: u8,
    pub dry_run: bool,
    pub on_break: OnBreak,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteMode {
    #[default]
    Append,
    Overwrite,
    Create,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRequest {
    pub name: String,
    pub content: String,
    pub mode: WriteMode,
    pub expected_hash: Option<String>,
    pub dry_run: bool,
    pub on_break: OnBreak,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub file: String,
    /// Absent where the file is gone.
    pub hash: Option<String>,
    pub old_hash: Option<String>,
    pub created: bool,
    pub diff: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    UnknownImport,
    UnknownSymbol,
    UnusedImport,
    Syntax,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    pub file: String,
    pub line: usize,
    pub text: String,
    pub detail: String,
    pub suggestions: Vec<String>,
}

/// What every change answers with.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The change's token; absent in a dry run and where nothing changed.
    pub change: Option<String>,
    pub applied: bool,
    pub files: Vec<ChangedFile>,
    pub edits: Vec<Landed>,
    pub validation: Vec<Finding>,
    pub new: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    pub impact: Impact,
}

pub async fn edit(_workspace: &Workspace, _request: &EditRequest, _ask: &Ask) -> Result<Reply<Report>> {
    todo!()
}

pub async fn write(_workspace: &Workspace, _request: &WriteRequest, _ask: &Ask) -> Result<Reply<Report>> {
    todo!()
}
