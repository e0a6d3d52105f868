//! The shapes that many replies share, as they go over the wire: exactly the contract's field names. An optional
//! field that does not apply is left out.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::enums::{Language, Role, State, SymbolKind};

/// A stretch of a file, in UTF-8 byte offsets with the end exclusive; lines and the column (in bytes) count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Place {
    /// Relative to the workspace root, with `/`; absolute for a file outside of it (the standard library, a dependency).
    #[schema(examples("crates/searcher/src/lib.rs"))]
    pub file: String,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// Line of `start`.
    pub line: usize,
    /// Line of `end`.
    pub end_line: usize,
    /// Column of `start`.
    pub column: usize,
}

impl From<semdex_model::Place> for Place {
    fn from(place: semdex_model::Place) -> Place {
        let semdex_model::Place { file, start, end, line, end_line, column } = place;
        Place { file, start, end, line, end_line, column }
    }
}

/// The package that something outside of the workspace's root belongs to. Its files are named by their absolute paths; the
/// path of each in its package is what stands behind `root`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Origin {
    /// As its manifest names it.
    #[schema(examples("serde"))]
    pub package: String,
    /// Absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("1.0.195"))]
    pub version: Option<String>,
    /// The directory of the package on the server's machine, absolute.
    pub root: String,
    #[serde(skip)]
    told: Arc<semdex_model::Origin>,
}

impl Origin {
    /// `serde 1.0.195: src/ser/mod.rs`, for a file by its absolute path.
    pub(crate) fn short(&self, file: &str) -> String {
        self.told.short(file)
    }
}

impl From<Arc<semdex_model::Origin>> for Origin {
    fn from(told: Arc<semdex_model::Origin>) -> Origin {
        let semdex_model::Origin { package, version, root } = (*told).clone();
        Origin { package, version, root, told }
    }
}

/// Where a symbol's identifier stands, in the symbol's own file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NameAt {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// From 1.
    pub line: usize,
}

/// How often the workspace names a symbol, its definition not counted.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct UsageCount {
    /// Places that name it, imports included.
    pub total: usize,
    /// Files that have at least one of these.
    pub files: usize,
}

/// A definition. Its place spans docs and attributes; `name_at` is the identifier.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Symbol {
    /// For how it is printed.
    #[serde(skip)]
    pub language: Language,
    /// Rust: `crate::module::Type::method`, `<Type as Trait>::method`. Go: `import/path.Type.Method`.
    #[schema(examples("grep_searcher::Searcher"))]
    pub path: String,
    /// What is defined.
    pub kind: SymbolKind,
    /// The identifier: the last part of the path.
    pub name: String,
    /// The declaration in one line, without docs, attributes and body.
    pub signature: String,
    /// The crate, module or package that it belongs to.
    pub package: String,
    /// The whole definition.
    #[serde(flatten)]
    pub place: Place,
    /// The identifier.
    pub name_at: NameAt,
    /// A module's `mod` line, where its place is a file of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub declared_at: Option<Place>,
    /// Its documentation as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// Defined outside of the workspace: in the standard library or a dependency.
    pub external: bool,
    /// Of a symbol outside of the workspace's root. Absent where it is that of the symbol or package that it is listed
    /// with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub origin: Option<Origin>,
    /// Visible outside of its module or package.
    pub public: bool,
    /// A test, or part of one.
    pub test: bool,
    /// Absent where nobody counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub usages: Option<UsageCount>,
    /// The paths of macros and derives that share the name that was asked for: a type, trait or module comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub also: Vec<String>,
    /// What is declared inside of it. Absent where the reply is no tree, and for what can hold nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, no_recursion)]
    pub children: Option<Vec<Symbol>>,
}

impl Symbol {
    /// As a node of a tree: what can hold others says so even where it holds none.
    pub(crate) fn tree(symbol: semdex_model::Symbol) -> Symbol {
        Symbol::new(symbol, true, None)
    }

    /// One of the symbols of a package that has this origin.
    pub(super) fn below(symbol: semdex_model::Symbol, origin: Option<&Arc<semdex_model::Origin>>) -> Symbol {
        Symbol::new(symbol, false, origin)
    }

    /// `around`: the origin of what it is listed with.
    fn new(symbol: semdex_model::Symbol, tree: bool, around: Option<&Arc<semdex_model::Origin>>) -> Symbol {
        let kind = symbol.kind.into();
        let origin = symbol.origin.as_ref().or(around);
        let children = (!symbol.children.is_empty() || tree && holds_others(kind))
            .then(|| symbol.children.into_iter().map(|child| Symbol::new(child, tree, origin)).collect());
        Symbol {
            language: symbol.language.into(),
            path: symbol.path,
            kind,
            name: symbol.name,
            signature: symbol.signature,
            package: symbol.package,
            place: symbol.place.into(),
            name_at: NameAt { start: symbol.name_at.start, end: symbol.name_at.end, line: symbol.name_at.line },
            declared_at: symbol.declared_at.map(Place::from),
            docs: symbol.docs,
            external: symbol.external,
            origin: symbol.origin.clone().filter(|it| Some(it) != around).map(Origin::from),
            public: symbol.public,
            test: symbol.test,
            usages: symbol.usages.map(|it| UsageCount { total: it.total, files: it.files }),
            also: symbol.also,
            children,
        }
    }
}

impl From<semdex_model::Symbol> for Symbol {
    fn from(symbol: semdex_model::Symbol) -> Symbol {
        Symbol::new(symbol, false, None)
    }
}

pub(super) fn holds_others(kind: SymbolKind) -> bool {
    use SymbolKind::*;
    matches!(kind, Module | Package | Struct | Enum | Union | Trait | Interface | Type | Impl)
}

/// A place that names a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Usage {
    /// The name.
    #[serde(flatten)]
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// The path of the symbol in whose text it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// What the name is used for.
    pub role: Role,
    /// It stands in test code.
    pub test: bool,
}

impl From<semdex_model::Usage> for Usage {
    fn from(usage: semdex_model::Usage) -> Usage {
        let semdex_model::Usage { place, text, symbol, role, test } = usage;
        Usage { place: place.into(), text, symbol, role: role.into(), test }
    }
}

/// What an answer may lack, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Missing {
    /// `indexing`, `std_sources`, `build_scripts`, `proc_macros`, `untrusted`, `engine_down`, `engine_missing`,
    /// `engine_restarting`, `workspace_broken`, `cfg_off`, `macro_output`, `budget`, `timeout`, `too_many`, `unsupported`,
    /// `not_in_a_package`, `no_baseline`, `overlays`, `changed`, `unknown_test`; more may come.
    #[schema(examples("indexing"))]
    pub code: String,
    /// What is lacking, why, and what to do about it.
    pub detail: String,
    /// The language, engine or file that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scope: Option<String>,
}

impl Missing {
    /// With the language, engine or file that it is about.
    pub(crate) fn new(code: semdex_model::MissingCode, scope: &str, detail: String) -> Missing {
        semdex_model::Missing::new(code, scope, detail).into()
    }
}

impl From<semdex_model::Missing> for Missing {
    fn from(missing: semdex_model::Missing) -> Missing {
        Missing { code: missing.code.name().to_owned(), detail: missing.detail, scope: missing.scope }
    }
}

/// What every reply says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(json!({
    "workspace": "ripgrep", "revision": 17, "state": "ready", "complete": true, "missing": [], "elapsed_ms": 3.1
})))]
pub struct Meta {
    /// Absent where the reply speaks of no single workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub workspace: Option<String>,
    /// Grows with every change of content, and with nothing else.
    pub revision: u64,
    /// How much of the workspace is known.
    pub state: State,
    /// Nothing that this answer should hold is unknown. What was left out for a budget is known, and in `missing` alone.
    pub complete: bool,
    /// What this or other answers may lack at the moment.
    pub missing: Vec<Missing>,
    /// The tool that answered in the place of a language's engine, which is not there; absent where the engines answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fallback: Option<String>,
    /// The files whose content here is not that of the disk; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<String>,
    /// From the request's head to the finished answer.
    pub elapsed_ms: f64,
}

/// For what is said only where it is so.
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// The time is for the face to say, which knows when the request came.
impl From<semdex_model::Meta> for Meta {
    fn from(meta: semdex_model::Meta) -> Meta {
        Meta {
            workspace: Some(meta.workspace),
            revision: meta.revision.0,
            state: meta.state.into(),
            complete: meta.coverage.complete,
            missing: list(meta.coverage.missing),
            fallback: meta.coverage.fallback,
            overlays: meta.overlays,
            elapsed_ms: 0.0,
        }
    }
}

impl Symbol {
    /// Those inside of it.
    pub(crate) fn inner(&self) -> &[Symbol] {
        self.children.as_deref().unwrap_or_default()
    }
}

/// Hundredths of a millisecond are as fine as anyone can use.
pub fn milliseconds(elapsed: std::time::Duration) -> f64 {
    (elapsed.as_secs_f64() * 100_000.0).round() / 100.0
}

/// Each item as it goes over the wire.
pub fn list<T, W: From<T>>(items: Vec<T>) -> Vec<W> {
    items.into_iter().map(W::from).collect()
}
