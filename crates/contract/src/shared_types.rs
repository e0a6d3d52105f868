//! Types that many replies share, with exactly the field names of the contract. Optional fields that do not apply are
//! omitted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::enums::{Language, PossibleReason, Role, State, SymbolKind};

/// A range of a file in UTF-8 byte offsets with an exclusive end. Lines and columns count from 1; columns count bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Place {
    /// Relative to the workspace root, with `/`. Absolute for a file outside, for example of the standard library or a
    /// dependency.
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

/// The package of something outside the workspace root. Its files have absolute paths, whose part after `root` is the
/// path in the package.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Origin {
    /// Its name in its manifest.
    #[schema(examples("serde"))]
    pub package: String,
    /// Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("1.0.195"))]
    pub version: Option<String>,
    /// The absolute path of the package on the machine of the server.
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

/// The range of the identifier of a symbol, in the file of the symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct NameAt {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
    /// From 1.
    pub line: usize,
}

/// How often the workspace names a symbol, without its definition.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct UsageCount {
    /// The number of places that name it, including imports.
    pub total: usize,
    /// The number of files with at least one such place.
    pub files: usize,
    /// The number of places in files that no build includes, such as UI tests; they are not in `total`. `open` searches
    /// these files only for what no build uses. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    pub outside_builds: usize,
}

impl From<semdex_model::UsageCount> for UsageCount {
    fn from(count: semdex_model::UsageCount) -> UsageCount {
        let semdex_model::UsageCount { total, files, outside_builds } = count;
        UsageCount { total, files, outside_builds }
    }
}

/// A symbol. Its place is the definition with docs and attributes; `name_at` is the identifier.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Symbol {
    /// Selects how it is printed.
    #[serde(skip)]
    pub language: Language,
    /// Rust: `crate::module::Type::method`, `<Type as Trait>::method`. Go: `import/path.Type.Method`.
    #[schema(examples("grep_searcher::Searcher"))]
    pub path: String,
    /// The kind of symbol.
    pub kind: SymbolKind,
    /// The identifier: the last part of the path.
    pub name: String,
    /// The declaration in one line, without docs, attributes and body.
    pub signature: String,
    /// The crate, module or package of the symbol.
    pub package: String,
    /// The whole definition.
    #[serde(flatten)]
    pub place: Place,
    /// The identifier.
    pub name_at: NameAt,
    /// The `mod` declaration of a module that has its own file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub declared_at: Option<Place>,
    /// Its documentation as Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// Whether it is defined outside the workspace, in the standard library or a dependency.
    pub external: bool,
    /// The origin of a symbol outside the workspace root. Absent if it equals the origin of the enclosing symbol or
    /// package in the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub origin: Option<Origin>,
    /// Whether it is visible outside its module or package.
    pub public: bool,
    /// Whether it is a test or part of one.
    pub test: bool,
    /// Its usage counts. Absent if they were not computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub usages: Option<UsageCount>,
    /// The paths of macros and derives with the same name, if the name resolves to a type, trait or module.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub also: Vec<String>,
    /// Its members. Absent if the reply is not a tree, and for symbols without members by their kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, no_recursion)]
    pub children: Option<Vec<Symbol>>,
}

impl Symbol {
    /// A node of a tree. Kinds that can have members have the field `children` even if it is empty.
    pub(crate) fn tree(symbol: semdex_model::Symbol) -> Symbol {
        Symbol::new(symbol, true, None)
    }

    /// A symbol of a package with this origin.
    pub(super) fn below(symbol: semdex_model::Symbol, origin: Option<&Arc<semdex_model::Origin>>) -> Symbol {
        Symbol::new(symbol, false, origin)
    }

    /// `around`: the origin of the enclosing symbol or package.
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
            usages: symbol.usages.map(UsageCount::from),
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

/// A usage of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Usage {
    /// The place of the name.
    #[serde(flatten)]
    pub place: Place,
    /// The text of the whole line.
    pub text: String,
    /// The path of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// How the name is used.
    pub role: Role,
    /// Whether it is in test code.
    pub test: bool,
    /// For code that the default build does not compile: what differs in the build that does. `doctest` for a doctest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("feature=parallel"))]
    pub build: Option<String>,
    /// For a place that names the symbol in the output of macros, the number of calls that do: in a macro's definition,
    /// in a string that a macro reads as code, or at the call of a procedural macro, which may not have the name. 0 for
    /// a path from the root of a macro's crate that no call of the workspace writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples(3))]
    pub calls: Option<usize>,
    /// For a possible usage: why it is not known whether the place names the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<PossibleReason>,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("in the input of a macro that could not be followed"))]
    pub detail: Option<String>,
}

impl From<semdex_model::Usage> for Usage {
    fn from(usage: semdex_model::Usage) -> Usage {
        let semdex_model::Usage { place, text, symbol, role, test, build, calls, doubt } = usage;
        let (reason, detail) = doubt.map(|it| (it.reason.into(), it.detail)).unzip();
        Usage { place: place.into(), text, symbol, role: role.into(), test, build, calls, reason, detail }
    }
}

/// Something that an answer may be missing, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Missing {
    /// `indexing`, `std_sources`, `build_scripts`, `proc_macros`, `untrusted`, `engine_down`, `engine_missing`,
    /// `engine_restarting`, `workspace_broken`, `cfg_off`, `macro_output`, `manifest`, `budget`, `timeout`, `too_many`,
    /// `unsupported`, `not_in_a_package`, `no_baseline`, `overlays`, `changed`, `unknown_test`, `no_result`, `unread`; more may come.
    #[schema(examples("indexing"))]
    pub code: String,
    /// What is missing, why, and what to do about it.
    pub detail: String,
    /// The language, engine or file that is affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scope: Option<String>,
}

impl Missing {
    /// An entry with the affected language, engine or file.
    pub(crate) fn new(code: semdex_model::MissingCode, scope: &str, detail: String) -> Missing {
        semdex_model::Missing::new(code, scope, detail).into()
    }
}

impl From<semdex_model::Missing> for Missing {
    fn from(missing: semdex_model::Missing) -> Missing {
        Missing { code: missing.code.name().to_owned(), detail: missing.detail, scope: missing.scope }
    }
}

/// The metadata of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(json!({
    "workspace": "ripgrep", "revision": 17, "state": "ready", "complete": true, "missing": [], "elapsed_ms": 3.1
})))]
pub struct Meta {
    /// The id of the workspace. Absent if the reply is not about a single workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub workspace: Option<String>,
    /// The root of the workspace. Only in replies to changes, and where the session works in several checkouts of the
    /// repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("/src/ripgrep"))]
    pub root: Option<String>,
    /// Increases with every change of content, and only then.
    pub revision: u64,
    /// How much of the workspace is known.
    pub state: State,
    /// Whether nothing that belongs in the answer is unknown. What was left out because of the budget is listed in
    /// `missing` and does not count.
    pub complete: bool,
    /// What this and other answers may be missing at present.
    pub missing: Vec<Missing>,
    /// The tool that answered in place of a missing engine. Absent if the engines answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fallback: Option<String>,
    /// The builds that the answer covers besides the default build, each by what differs: `features=all`,
    /// `target_os=windows`. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<String>,
    /// The files with overlays, whose content differs from the disk. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<String>,
    /// The time from the head of the request to the finished reply.
    pub elapsed_ms: f64,
}

/// For fields that are serialized only if true.
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The interface sets `elapsed_ms`, because it knows when the request arrived.
impl From<semdex_model::Meta> for Meta {
    fn from(meta: semdex_model::Meta) -> Meta {
        Meta {
            workspace: Some(meta.workspace),
            root: None,
            revision: meta.revision.0,
            state: meta.state.into(),
            complete: meta.coverage.complete,
            missing: list(meta.coverage.missing),
            fallback: meta.coverage.fallback,
            builds: meta.coverage.builds,
            overlays: meta.overlays,
            elapsed_ms: 0.0,
        }
    }
}

impl Symbol {
    /// Its members.
    pub(crate) fn inner(&self) -> &[Symbol] {
        self.children.as_deref().unwrap_or_default()
    }
}

/// Milliseconds, rounded to hundredths.
pub fn milliseconds(elapsed: std::time::Duration) -> f64 {
    (elapsed.as_secs_f64() * 100_000.0).round() / 100.0
}

/// Converts each item to its type of the contract.
pub fn list<T, W: From<T>>(items: Vec<T>) -> Vec<W> {
    items.into_iter().map(W::from).collect()
}
