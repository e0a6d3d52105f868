//! The plain vocabulary of semdex: what engines answer in, what operations compose and what the faces print.
//! No I/O, no serde, no engine's types. The words are those of the contract.

mod detail;
mod error;
mod language;
mod origin;
mod references;
mod run;
mod verify;

use std::sync::Arc;

pub use detail::Detail;
pub use error::{Candidate, Code, Error, Help, Nearest, Result};
pub use language::{Language, LanguageId, Languages, NamedFile, Syntax};
pub use origin::Origin;
pub use references::{Declared, FileReferences, Reference, References};
pub use run::RunState;
pub use verify::{TestFailure, TestReport, ToolRun, Verified, VerifyKind, VerifyProgress};

/// Grows with every change of content of a workspace, and with nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub u64);

/// UTF-8 byte offsets, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    pub fn encloses(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub fn overlaps(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub fn moved(self, offset: impl Fn(usize) -> usize) -> Span {
        Span::new(offset(self.start), offset(self.end))
    }
}

/// A stretch of a file. `file` is relative to the workspace root with `/`, or absolute for a file outside it
/// (the standard library, a dependency). Lines and the column count from 1, the column in UTF-8 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub start: usize,
    pub end: usize,
    pub line: usize,
    pub end_line: usize,
    pub column: usize,
}

impl Place {
    /// Before all that a file holds.
    pub fn start_of(file: &str) -> Place {
        Place { file: file.to_owned(), start: 0, end: 0, line: 1, end_line: 1, column: 1 }
    }

    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Module,
    Package,
    Struct,
    Enum,
    Union,
    Trait,
    Interface,
    Type,
    Function,
    Method,
    Field,
    Variant,
    Const,
    Static,
    Variable,
    Macro,
    Impl,
}

impl SymbolKind {
    pub fn name(self) -> &'static str {
        match self {
            SymbolKind::Module => "module",
            SymbolKind::Package => "package",
            SymbolKind::Struct => "struct",
            SymbolKind::Enum => "enum",
            SymbolKind::Union => "union",
            SymbolKind::Trait => "trait",
            SymbolKind::Interface => "interface",
            SymbolKind::Type => "type",
            SymbolKind::Function => "function",
            SymbolKind::Method => "method",
            SymbolKind::Field => "field",
            SymbolKind::Variant => "variant",
            SymbolKind::Const => "const",
            SymbolKind::Static => "static",
            SymbolKind::Variable => "variable",
            SymbolKind::Macro => "macro",
            SymbolKind::Impl => "impl",
        }
    }
}

/// How often the workspace names a symbol, its definition not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageCount {
    pub total: usize,
    pub files: usize,
}

/// A definition. Its place spans docs and attributes; `name_at` is the identifier, and is what identifies the
/// symbol to an engine: (file, name_at.start).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub language: LanguageId,
    pub path: String,
    pub kind: SymbolKind,
    pub name: String,
    pub signature: String,
    pub package: String,
    pub place: Place,
    pub name_at: Place,
    /// A module's `mod` line, where its place is a file of its own.
    pub declared_at: Option<Place>,
    pub docs: Option<String>,
    /// Defined outside the workspace: the standard library or a dependency.
    pub external: bool,
    /// Of what lies outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
    /// Visible outside its module or package.
    pub public: bool,
    pub test: bool,
    /// Absent where nobody counted.
    pub usages: Option<UsageCount>,
    /// The paths of macros and derives that share the name it was asked for by.
    pub also: Vec<String>,
    pub children: Vec<Symbol>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Call,
    Read,
    Write,
    Type,
    Import,
    Impl,
    SelfType,
    Doc,
    Other,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Call => "call",
            Role::Read => "read",
            Role::Write => "write",
            Role::Type => "type",
            Role::Import => "import",
            Role::Impl => "impl",
            Role::SelfType => "self",
            Role::Doc => "doc",
            Role::Other => "other",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// The path of the symbol whose text it stands in.
    pub symbol: Option<String>,
    pub role: Role,
    pub test: bool,
}

/// Which stretch of a ranked list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub from: usize,
    pub limit: usize,
}

impl Window {
    pub const ALL: Window = Window { from: 0, limit: usize::MAX };

    /// The wanted stretch of a list.
    pub fn of<T>(self, items: &[T]) -> &[T] {
        let from = self.from.min(items.len());
        &items[from..from.saturating_add(self.limit).min(items.len())]
    }
}

/// A stretch of the usages of a symbol, counted in full. Those that are only possible come after all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsagePage {
    pub count: UsageCount,
    pub possible_count: usize,
    pub items: Vec<Usage>,
    pub possible: Vec<Usage>,
}

/// One end of the calls of a symbol: who calls it, or what it calls; and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    pub symbol: Symbol,
    pub calls: Vec<CallSite>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    pub place: Place,
    /// The whole line.
    pub text: String,
    pub test: bool,
}

/// Every occurrence of a symbol's name is either in `items` (resolved to it), resolved to another thing (not
/// listed), or in `possible` (nobody could resolve it).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usages {
    pub items: Vec<Usage>,
    pub possible: Vec<Usage>,
}

impl Usages {
    pub fn count(&self) -> UsageCount {
        let files: std::collections::BTreeSet<&str> = self.items.iter().map(|it| it.place.file.as_str()).collect();
        UsageCount { total: self.items.len(), files: files.len() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    Info,
    Hint,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Diagnostic {
    pub place: Place,
    pub severity: Severity,
    pub code: Option<String>,
    pub message: String,
    pub source: String,
    pub symbol: Option<String>,
    /// Whether the compiler says so too, at this revision; absent where it was not asked.
    pub confirmed: Option<bool>,
}

/// Why an answer may lack something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissingCode {
    Indexing,
    StdSources,
    BuildScripts,
    ProcMacros,
    Untrusted,
    EngineDown,
    /// Its program is not there.
    EngineMissing,
    EngineRestarting,
    WorkspaceBroken,
    CfgOff,
    MacroOutput,
    Budget,
    Timeout,
    TooMany,
    Unsupported,
    NotInAPackage,
    /// Nothing was saved that this could be compared with.
    NoBaseline,
    /// What the disk has was looked at, and answers have something else.
    Overlays,
    /// The contents were changed while it was worked out.
    Changed,
    /// No test has the name.
    UnknownTest,
}

impl MissingCode {
    /// Whether asking once more may bring what is missing, though nothing was edited.
    pub fn passes(self) -> bool {
        use MissingCode::{EngineDown, EngineMissing, EngineRestarting, Indexing, Timeout};
        matches!(self, EngineDown | EngineMissing | EngineRestarting | Indexing | Timeout)
    }

    pub fn name(self) -> &'static str {
        match self {
            MissingCode::Indexing => "indexing",
            MissingCode::StdSources => "std_sources",
            MissingCode::BuildScripts => "build_scripts",
            MissingCode::ProcMacros => "proc_macros",
            MissingCode::Untrusted => "untrusted",
            MissingCode::EngineDown => "engine_down",
            MissingCode::EngineMissing => "engine_missing",
            MissingCode::EngineRestarting => "engine_restarting",
            MissingCode::WorkspaceBroken => "workspace_broken",
            MissingCode::CfgOff => "cfg_off",
            MissingCode::MacroOutput => "macro_output",
            MissingCode::Budget => "budget",
            MissingCode::Timeout => "timeout",
            MissingCode::TooMany => "too_many",
            MissingCode::Unsupported => "unsupported",
            MissingCode::NotInAPackage => "not_in_a_package",
            MissingCode::NoBaseline => "no_baseline",
            MissingCode::Overlays => "overlays",
            MissingCode::Changed => "changed",
            MissingCode::UnknownTest => "unknown_test",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Missing {
    pub code: MissingCode,
    /// What is missing, why, and what to do about it.
    pub detail: String,
    /// The language, engine or file it speaks of.
    pub scope: Option<String>,
}

impl Missing {
    pub fn new(code: MissingCode, scope: impl Into<String>, detail: impl Into<String>) -> Missing {
        Missing { code, detail: detail.into(), scope: Some(scope.into()) }
    }
}

/// Whether one answer is whole. `missing` may name a lack of the environment that cannot touch the answer; then
/// `complete` stays true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    pub complete: bool,
    pub missing: Vec<Missing>,
    /// The tool that answered in the place of an engine that is not there.
    pub fallback: Option<String>,
}

impl Default for Coverage {
    fn default() -> Coverage {
        Coverage { complete: true, missing: Vec::new(), fallback: None }
    }
}

impl Coverage {
    /// Something that this answer should hold may be lacking.
    pub fn lacks(&mut self, missing: Missing) {
        self.complete = false;
        self.note(missing);
    }

    /// A lack of the environment that does not touch this answer.
    pub fn note(&mut self, missing: Missing) {
        if !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// This tool answered in the place of an engine.
    pub fn stands_in(&mut self, tool: &str) {
        match &mut self.fallback {
            Some(all) if all.split(", ").any(|it| it == tool) => {}
            Some(all) => *all = format!("{all}, {tool}"),
            None => self.fallback = Some(tool.to_owned()),
        }
    }

    pub fn absorb(&mut self, other: Coverage) {
        self.complete &= other.complete;
        other.fallback.iter().flat_map(|it| it.split(", ")).for_each(|it| self.stands_in(it));
        for missing in other.missing {
            self.note(missing);
        }
    }
}

/// A value, and whether it is all there is. It has no default: whoever knows that there is nothing says so (`whole`), and
/// whoever could not ask says why (`lacking`), so that an unanswered question never looks like an empty answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Answer<T> {
    pub value: T,
    pub coverage: Coverage,
}

impl<T> Answer<T> {
    pub fn whole(value: T) -> Answer<T> {
        Answer { value, coverage: Coverage::default() }
    }

    pub fn lacking(value: T, missing: Missing) -> Answer<T> {
        let mut coverage = Coverage::default();
        coverage.lacks(missing);
        Answer { value, coverage }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Answer<U> {
        Answer { value: f(self.value), coverage: self.coverage }
    }
}

/// How much of a workspace is known at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Starting,
    Syntax,
    Indexing,
    Ready,
    Degraded,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Syntax => "syntax",
            State::Indexing => "indexing",
            State::Ready => "ready",
            State::Degraded => "degraded",
        }
    }
}

/// How an engine is doing, as the status tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineState {
    Starting,
    Syntax,
    Indexing,
    Ready,
    Degraded,
    Missing,
    Broken,
    Idle,
}

impl From<State> for EngineState {
    fn from(state: State) -> EngineState {
        match state {
            State::Starting => EngineState::Starting,
            State::Syntax => EngineState::Syntax,
            State::Indexing => EngineState::Indexing,
            State::Ready => EngineState::Ready,
            State::Degraded => EngineState::Degraded,
        }
    }
}

impl EngineState {
    pub fn name(self) -> &'static str {
        match self {
            EngineState::Starting => "starting",
            EngineState::Syntax => "syntax",
            EngineState::Indexing => "indexing",
            EngineState::Ready => "ready",
            EngineState::Degraded => "degraded",
            EngineState::Missing => "missing",
            EngineState::Broken => "broken",
            EngineState::Idle => "idle",
        }
    }
}

/// What every reply says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Meta {
    /// The files whose content is not that of the disk.
    pub overlays: Vec<String>,
    pub workspace: String,
    pub revision: Revision,
    pub state: State,
    pub coverage: Coverage,
}

// ---------------------------------------------------------------------------------------------------------------
// The syntax of one file

/// What the text of one file says by itself, without an index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// Documentation of the module or package in this file.
    pub docs: Option<String>,
    pub imports: Vec<Import>,
    pub items: Vec<OutlineItem>,
    /// The text with bodies collapsed; it parses again wherever the file does.
    pub skeleton: String,
    /// For each line of `skeleton`, the line of the file that it came from (from 1).
    pub skeleton_lines: Vec<usize>,
    pub errors: Vec<SyntaxError>,
    pub detail: Detail,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The path that is imported, one entry for each.
    pub path: String,
    /// The local name if it is given another.
    pub alias: Option<String>,
    pub span: Span,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: String,
    pub span: Span,
}

/// A declaration as the parser sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    pub kind: SymbolKind,
    pub name: String,
    /// What the symbol's path has between the module or package and the name: of a method its type, of a nested thing (a
    /// field, a variant, an item of an inline module) its parents.
    pub container: Vec<String>,
    /// One line: the declaration without docs, attributes and body.
    pub signature: String,
    pub docs: Option<String>,
    /// With docs and attributes.
    pub span: Span,
    pub name_span: Span,
    /// What stands between the braces, without them.
    pub body: Option<Span>,
    pub public: bool,
    pub test: bool,
    pub children: Vec<OutlineItem>,
}

impl OutlineItem {
    /// This item and everything below it, in the order of the text.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a OutlineItem)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }
}

impl Outline {
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a OutlineItem)) {
        for item in &self.items {
            item.walk(visit);
        }
    }

    /// The innermost items around an offset, outermost first.
    pub fn enclosing(&self, offset: usize) -> Vec<&OutlineItem> {
        let mut chain = Vec::new();
        let mut level = &self.items;
        while let Some(item) = level.iter().find(|it| it.span.contains(offset)) {
            chain.push(item);
            level = &item.children;
        }
        chain
    }
}

// ---------------------------------------------------------------------------------------------------------------
// Questions and answers

/// How a request names a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolQuery {
    pub symbol: String,
    pub package: Option<String>,
    pub file: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolAt {
    pub symbol: Option<Symbol>,
    /// The type of the expression or binding there.
    pub ty: Option<String>,
    /// Markdown.
    pub hover: Option<String>,
    pub definition: Option<Place>,
    /// Of a definition outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
    pub at: Place,
}

impl SymbolAt {
    /// Nothing that is known stands there.
    pub fn nothing(at: Place) -> SymbolAt {
        SymbolAt { symbol: None, ty: None, hover: None, definition: None, origin: None, at }
    }
}

/// What a file uses of another package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub package: String,
    pub external: bool,
    /// Only for packages of the workspace.
    pub files: Vec<String>,
    pub symbols: Vec<String>,
}

/// What another file uses of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downstream {
    pub file: String,
    pub package: String,
    pub symbols: Vec<String>,
    pub count: usize,
}

/// A file as the index sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overview {
    pub package: Option<String>,
    pub docs: Option<String>,
    pub symbols: Vec<Symbol>,
    pub upstream: Vec<Upstream>,
    pub downstream: Vec<Downstream>,
    /// The text with bodies collapsed, and for each line the line of the file: where the text alone does not tell that.
    pub skeleton: Option<(String, Vec<usize>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleOrigin {
    Doctest,
    Example,
    Test,
    Testdata,
    /// Code of the workspace that is neither.
    Use,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    pub origin: ExampleOrigin,
    pub file: String,
    pub line: usize,
    pub title: String,
    pub code: String,
}

/// All that is known of one symbol but for its usages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    pub symbol: Symbol,
    /// In full, docs and attributes included.
    pub source: Option<String>,
    pub docs: Option<String>,
    pub examples: Vec<Example>,
    pub implementations: Vec<Symbol>,
    /// Of a member: the block, trait, type or variant that it stands in.
    pub container: Option<Symbol>,
    /// Of an external one: its package's.
    pub version: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: Option<String>,
    pub docs: Option<String>,
    /// Its directory, relative to the workspace where it lies inside.
    pub root: String,
    pub files: Vec<String>,
    pub symbols: Vec<Symbol>,
    pub external: bool,
    /// Of one that lies outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
}

// ---------------------------------------------------------------------------------------------------------------
// Changes

/// The new content of one file; `None` deletes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub file: String,
    pub old: Option<Arc<str>>,
    pub new: Option<Arc<str>>,
}

/// Parts of a file that become other texts; none overlaps another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub file: String,
    pub parts: Vec<(Span, String)>,
}

/// What a symbol's new name changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    pub symbol: Symbol,
    pub rewrites: Vec<Rewrite>,
    /// Files that go by another name then.
    pub moves: Vec<(String, String)>,
    /// Places that may name the symbol, and that nobody can rename.
    pub possible: Vec<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    Exact,
    Whitespace,
    Indent,
    Fuzzy,
    Symbol,
    Whole,
}

impl Strategy {
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Exact => "exact",
            Strategy::Whitespace => "whitespace",
            Strategy::Indent => "indent",
            Strategy::Fuzzy => "fuzzy",
            Strategy::Symbol => "symbol",
            Strategy::Whole => "whole",
        }
    }
}

/// Where one edit landed; the place speaks of the text after the change.
#[derive(Debug, Clone, PartialEq)]
pub struct Landed {
    pub strategy: Strategy,
    pub score: f64,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    Removed,
    Renamed,
    Signature,
    Visibility,
    Type,
    Added,
    Body,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Removed => "removed",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Signature => "signature",
            ChangeKind::Visibility => "visibility",
            ChangeKind::Type => "type",
            ChangeKind::Added => "added",
            ChangeKind::Body => "body",
        }
    }
}

/// A change of a declaration that is asked about, not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alteration {
    Remove,
    Rename,
    /// One parameter more, or another type.
    Signature,
    /// Not to be seen from outside any more.
    Visibility,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub symbol: String,
    pub kind: ChangeKind,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A place that an edit breaks, touches, or that tests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    pub place: Place,
    pub text: String,
    pub symbol: Option<String>,
    /// The changed symbol it depends on.
    pub cause: Option<String>,
    pub test: bool,
}

/// A test that reaches what changes, by the place in it that leads there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaching {
    pub at: Affected,
    /// The steps from the test to what changes, one where it names that itself; none where they were not counted.
    pub distance: Option<u32>,
}

impl From<Affected> for Reaching {
    fn from(at: Affected) -> Reaching {
        Reaching { at, distance: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub at: Affected,
    pub code: Option<String>,
    pub reason: String,
    /// Whether it fails only through another place of the list: a name by an import or a glob that is broken itself.
    pub follows: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    pub code: String,
    pub detail: String,
}

impl From<&Missing> for Unchecked {
    fn from(missing: &Missing) -> Unchecked {
        Unchecked { code: missing.code.name().to_owned(), detail: missing.detail.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Impact {
    pub changed: Vec<Changed>,
    pub broken: Vec<Broken>,
    pub affected: Vec<Affected>,
    pub tests: Vec<Reaching>,
    pub unchecked: Vec<Unchecked>,
}

/// What is wrong with a text that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    UnknownImport,
    UnknownSymbol,
    UnusedImport,
    Syntax,
    WrongArguments,
    /// A new file that is no part of its package before another file names it.
    Undeclared,
}

/// What an engine says of a change: the diagnostics that it brings and takes away, and what it reaches. As [`Answer`] it
/// has no default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Judgement {
    pub new: Vec<Diagnostic>,
    pub fixed: Vec<Diagnostic>,
    pub impact: Impact,
    pub coverage: Coverage,
}

impl Judgement {
    /// The change concerns nothing that the engine judges, or nothing that the compiler sees.
    pub fn nothing() -> Judgement {
        Judgement { new: Vec::new(), fixed: Vec::new(), impact: Impact::default(), coverage: Coverage::default() }
    }

    /// With what another engine says of the same change.
    pub fn join(&mut self, other: Judgement) {
        self.new.extend(other.new);
        self.fixed.extend(other.fixed);
        self.impact.changed.extend(other.impact.changed);
        self.impact.broken.extend(other.impact.broken);
        self.impact.affected.extend(other.impact.affected);
        self.impact.tests.extend(other.impact.tests);
        for unchecked in other.impact.unchecked {
            if !self.impact.unchecked.contains(&unchecked) {
                self.impact.unchecked.push(unchecked);
            }
        }
        self.coverage.absorb(other.coverage);
    }

    /// The engine could not be asked, or did not answer.
    pub fn unanswered(missing: Missing) -> Judgement {
        let mut judgement = Judgement::nothing();
        judgement.lacks(missing);
        judgement
    }

    /// A part of what the change may break was not judged.
    pub fn lacks(&mut self, missing: Missing) {
        let unchecked = Unchecked::from(&missing);
        if !self.impact.unchecked.contains(&unchecked) {
            self.impact.unchecked.push(unchecked);
        }
        self.coverage.lacks(missing);
    }

    /// Why the change is not judged in full, if it is not. What the workspace lacks whatever is asked (trust, say) is no
    /// reason.
    pub fn not_judged(&self) -> Option<&Missing> {
        let is_unchecked = |it: &Missing| self.impact.unchecked.contains(&Unchecked::from(it));
        let mut missing = self.coverage.missing.iter().filter(|_| !self.coverage.complete);
        missing.find(|it| it.code.passes() || is_unchecked(it))
    }
}
