//! What is wrong with a text.

use super::Place;

/// An error, warning or hint about a place, as a compiler, linter or engine reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Diagnostic {
    /// What is marked; where a tool gives only a line, that line.
    pub place: Place,
    /// As its source rates it.
    pub severity: Severity,
    /// The source's own identifier for it, like `E0425`. None where the source gives none.
    pub code: Option<String>,
    /// Without the code; it may have several lines.
    pub message: String,
    /// The tool that reports it, by the name of its program.
    pub source: String,
    /// The path of the symbol whose text the place is in.
    pub symbol: Option<String>,
    /// Whether the compiler reports it too, at this revision; absent if it was not asked.
    pub confirmed: Option<bool>,
    /// For code that the default build does not compile: what differs in the build that does.
    pub build: Option<String>,
}

/// How bad a diagnostic is; the worst is the least in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The code does not compile.
    Error,
    /// It compiles, and is likely wrong or of no use.
    Warning,
    /// Information; nothing has to be fixed.
    Info,
    /// What an editor shows without a mark, like code that is switched off.
    Hint,
}

impl Severity {
    /// The word for it in requests and replies: `error`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
            Severity::Hint => "hint",
        }
    }
}

/// What is wrong with a text that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// It imports a module or package that does not exist.
    UnknownImport,
    /// It names a thing that does not exist.
    UnknownSymbol,
    /// It imports what it does not use.
    UnusedImport,
    /// It does not parse.
    Syntax,
    /// It calls a function with arguments of another number or type.
    WrongArguments,
    /// A new file that is no part of its package before another file names it.
    Undeclared,
}
