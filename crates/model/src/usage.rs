//! Usages and calls of a symbol.

use super::{Place, Symbol, UsageCount};

/// Every occurrence of a symbol's name is in `items` (resolved to it), or not listed (resolved to another symbol), or
/// in `possible` (unresolved).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usages {
    /// Resolved to the symbol.
    pub items: Vec<Usage>,
    /// Not resolved to anything; they may name the symbol.
    pub possible: Vec<Usage>,
}

impl Usages {
    /// The number of `items` and of the files that they are in; `possible` is not counted.
    pub fn count(&self) -> UsageCount {
        let files: std::collections::BTreeSet<&str> = self.items.iter().map(|it| it.place.file.as_str()).collect();
        UsageCount { total: self.items.len(), files: files.len(), outside_builds: 0 }
    }
}

/// One place that names a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The identifier.
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// The path of the symbol that contains it.
    pub symbol: Option<String>,
    /// What the name is used for there.
    pub role: Role,
    /// It is in test code.
    pub test: bool,
    /// For code that the default build does not compile: what differs in the build that does, like `feature=parallel`.
    pub build: Option<String>,
    /// For a place whose text names the symbol in the output of macros, the number of calls: the definition of a macro,
    /// a string that a macro reads as code, or a call of a procedural macro.
    pub calls: Option<usize>,
    /// For a place that may name the symbol: why that is not known.
    pub doubt: Option<Doubt>,
}

/// Why it is not known whether a place names a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The kind of reason.
    pub reason: PossibleReason,
    /// The reason in words: "in code that is switched off by `cfg`".
    pub detail: String,
}

/// The kind of reason for which a place is only possible; [`PossibleReason::name`] is the word in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PossibleReason {
    /// The code is left out of the build, by `cfg` or build constraints.
    Cfg,
    /// The name is in the input or the definition of a macro, and its meaning there could not be followed.
    MacroInput,
    /// The name could not be resolved for another reason, for example an unknown type.
    Unresolved,
}

impl PossibleReason {
    /// The word for it in replies: `macro_input`.
    pub fn name(self) -> &'static str {
        match self {
            PossibleReason::Cfg => "cfg",
            PossibleReason::MacroInput => "macro_input",
            PossibleReason::Unresolved => "unresolved",
        }
    }
}

/// What a name is used for at a place; [`Role::name`] is the word in replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A function, method or macro is called.
    Call,
    /// A value is read, or a function is passed without calling it.
    Read,
    /// A variable or field gets a value, by an assignment or where its struct is made.
    Write,
    /// A type or trait is named as such.
    Type,
    /// An import, or a re-export.
    Import,
    /// A trait in the head of an implementation.
    Impl,
    /// The type is named as `Self`.
    SelfType,
    /// A link in documentation.
    Doc,
    /// None of these, or unknown to the engine.
    Other,
}

impl Role {
    /// The word for it in replies: `call`, `self`.
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

/// A stretch of the usages of a symbol, counted in full. Those that are only possible come before all others, and those
/// in files outside all builds after them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UsagePage {
    /// All usages, not only those within the window, also in files that no build includes; the possible ones are not
    /// counted.
    pub count: UsageCount,
    /// All possible usages, not only those within the window.
    pub possible_count: usize,
    /// The usages within the window, after the last possible one.
    pub items: Vec<Usage>,
    /// The possible ones within the window, which begins with them.
    pub possible: Vec<Usage>,
    /// Those within the window that are in files which no build includes, after the last other one.
    pub outside_builds: Vec<Usage>,
}

/// Which stretch of a ranked list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Position of the first item that is wanted, from 0.
    pub from: usize,
    /// At most so many items.
    pub limit: usize,
}

impl Window {
    /// The whole list.
    pub const ALL: Window = Window { from: 0, limit: usize::MAX };

    /// The wanted stretch of a list.
    pub fn of<T>(self, items: &[T]) -> &[T] {
        let from = self.from.min(items.len());
        &items[from..from.saturating_add(self.limit).min(items.len())]
    }
}

/// One end of the calls of a symbol: who calls it, or what it calls; and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// The caller, or what is called.
    pub symbol: Symbol,
    /// The places of the calls between the two, in the order of the text.
    pub calls: Vec<CallSite>,
}

/// One call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The name of what is called.
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// It is in test code.
    pub test: bool,
}
