//! Stand-in signatures; to be split, one file per verb.

use super::{Ask, Listing, Reply};
use crate::model::*;
use crate::workspace::Workspace;

#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    pub file: String,
    pub language: Option<Language>,
    pub package: Option<String>,
    pub lines: usize,
    pub hash: String,
    pub docs: Option<String>,
    pub skeleton: String,
    /// For each line of the skeleton, its line in the file.
    pub skeleton_lines: Vec<usize>,
    pub imports: Vec<Import>,
    pub symbols: Vec<Symbol>,
    pub upstream: Vec<Upstream>,
    pub downstream: Vec<Downstream>,
}

pub async fn open(_workspace: &Workspace, _file: &str, _ask: &Ask) -> Result<Reply<Opened>> {
    todo!()
}

#[derive(Debug, Clone, PartialEq)]
pub struct UsageList {
    pub total: usize,
    pub files: usize,
    pub items: Vec<Usage>,
    pub possible: Vec<Usage>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FileText {
    pub file: String,
    pub language: Option<Language>,
    pub content: String,
    pub hash: String,
    pub lines: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Described {
    Symbol { description: Box<Description>, usages: UsageList },
    Package(Package),
    File(FileText),
}

/// At least a package, a file or a full path; `symbol` may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribeQuery {
    pub symbol: Option<String>,
    pub package: Option<String>,
    pub file: Option<String>,
}

pub async fn describe(_workspace: &Workspace, _query: &DescribeQuery, _ask: &Ask) -> Result<Reply<Described>> {
    todo!()
}

pub async fn search(_workspace: &Workspace, _query: &str, _ask: &Ask) -> Result<Reply<Listing<Symbol>>> {
    todo!()
}

/// The symbols of one file as a tree; `total` counts all of them.
pub async fn symbols_of(_workspace: &Workspace, _file: &str, _ask: &Ask) -> Result<Reply<Listing<Symbol>>> {
    todo!()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    Offset(usize),
    LineColumn { line: usize, column: usize },
}

pub async fn symbol_at(_workspace: &Workspace, _file: &str, _at: Position, _ask: &Ask) -> Result<Reply<SymbolAt>> {
    todo!()
}

#[derive(Debug, Clone, PartialEq)]
pub struct UsagesOf {
    pub symbol: Symbol,
    pub usages: UsageList,
}

pub async fn usages(_workspace: &Workspace, _query: &SymbolQuery, _ask: &Ask) -> Result<Reply<UsagesOf>> {
    todo!()
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImplementationsOf {
    pub symbol: Symbol,
    pub list: Listing<Symbol>,
}

pub async fn implementations(
    _workspace: &Workspace,
    _query: &SymbolQuery,
    _ask: &Ask,
) -> Result<Reply<ImplementationsOf>> {
    todo!()
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiagnosticsQuery {
    /// Absent: the whole workspace.
    pub file: Option<String>,
    /// The least severity that is reported.
    pub severity: Option<Severity>,
    pub max: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiagnosticList {
    pub items: Vec<Diagnostic>,
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    pub hints: usize,
    pub total: usize,
}

pub async fn diagnostics(
    _workspace: &Workspace,
    _query: &DiagnosticsQuery,
    _ask: &Ask,
) -> Result<Reply<DiagnosticList>> {
    todo!()
}
