//! A symbol: a definition, and how requests name it.

use std::sync::Arc;

use super::{LanguageId, Origin, Place};

/// A definition. Its place spans docs and attributes; `name_at` is the identifier, and is what identifies the
/// symbol to an engine: (file, name_at.start).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Selects the engine that answers questions about it.
    pub language: LanguageId,
    /// The path of the definition as replies print it; it leads back to the symbol when a request names it.
    pub path: String,
    /// What its definition is; an engine maps its own kinds to these.
    pub kind: SymbolKind,
    /// The last part of the path: the identifier.
    pub name: String,
    /// The declaration on one line, without docs, attributes and body.
    pub signature: String,
    /// The crate, module or package that it belongs to, as requests name it.
    pub package: String,
    /// All of the definition, docs and attributes included.
    pub place: Place,
    /// The identifier within `place`.
    pub name_at: Place,
    /// A module's `mod` line, where its place is a file of its own.
    pub declared_at: Option<Place>,
    /// Its documentation as Markdown, without comment signs. None if there is none, or if it was not requested.
    pub docs: Option<String>,
    /// Defined outside the workspace: the standard library or a dependency.
    pub external: bool,
    /// Of what lies outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
    /// Visible outside its module or package.
    pub public: bool,
    /// Defined in code that only tests are built with.
    pub test: bool,
    /// Absent if the usages were not counted.
    pub usages: Option<UsageCount>,
    /// The paths of macros and derives that share the name it was asked for by.
    pub also: Vec<String>,
    /// Members, fields, variants and nested items, in the order of the text. Empty if only the symbol was requested.
    pub children: Vec<Symbol>,
}

/// What a definition is, in the terms of the languages; [`SymbolKind::name`] is the word in requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A unit of names within a package: a file, or a block that has a name.
    Module,
    /// What imports name as a whole, where the language has no modules below it.
    Package,
    /// A type with fields, or a class.
    Struct,
    /// A type that is one of several variants.
    Enum,
    /// A type whose fields share their memory.
    Union,
    /// A set of members that types implement by declaring it.
    Trait,
    /// A set of members that types may implement without declaring it.
    Interface,
    /// Any other named type: an alias, an associated type, a defined type.
    Type,
    /// A function, also an associated one without a receiver.
    Function,
    /// A function with a receiver, and each function of a trait or interface.
    Method,
    /// A field of a type or of a variant.
    Field,
    /// One of the alternatives of an enum.
    Variant,
    /// A value that is known at compile time.
    Const,
    /// A variable with one address for the whole run of the program.
    Static,
    /// A variable of a package or module.
    Variable,
    /// What generates code where it is named.
    Macro,
    /// A block that gives members to a type; it has no name of its own.
    Impl,
}

impl SymbolKind {
    /// The word for it in requests and replies: `struct`.
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
    /// Places that name it, imports included.
    pub total: usize,
    /// Files that have at least one of these.
    pub files: usize,
    /// Places in files that no build includes, if these were searched; they are not in `total`.
    pub outside_builds: usize,
}

/// How a request names a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SymbolQuery {
    /// A path or the end of one, in the form of its language.
    pub symbol: String,
    /// Only what this package defines. None: any package, the workspace's own first.
    pub package: Option<String>,
    /// Only what this file defines. None: any file.
    pub file: Option<String>,
    /// The build that the question is about, by its name in `Coverage::builds`; `default` for the default build. None:
    /// all builds.
    pub build: Option<String>,
}

/// What is at an offset of a file: the named symbol, wherever it is defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolAt {
    /// The symbol that is referred to. None if nothing is named there, or if it is a local variable.
    pub symbol: Option<Symbol>,
    /// The type of the expression or binding there.
    pub ty: Option<String>,
    /// Markdown.
    pub hover: Option<String>,
    /// Where it is defined, local variables included.
    pub definition: Option<Place>,
    /// Of a definition outside of the workspace's root.
    pub origin: Option<Arc<Origin>>,
    /// The word around the offset that was asked about.
    pub at: Place,
}

impl SymbolAt {
    /// Nothing known is there.
    pub fn nothing(at: Place) -> SymbolAt {
        SymbolAt { symbol: None, ty: None, hover: None, definition: None, origin: None, at }
    }
}
