//! `POST /v1/describe`: all that is known of a symbol, a package or a file.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Posted;
use super::problem::{PostedAboutSymbol, Refusal};
use super::relations::UsageList;
use super::responder::Responder;
use super::shapes::{ExampleOrigin, Language, Meta, Symbol, is_false, list};
use crate::model;
use crate::ops::describe;
use crate::render;

request! { body
    /// What to describe: a symbol by its path, or by a shorter name within a package or a file; without a symbol the
    /// package or the file itself.
    #[schema(examples(
        json!({"package": "grep_searcher", "symbol": "Searcher"}),
        json!({"symbol": "grep_searcher::Searcher::new"}),
        json!({"package": "std::collections"}),
        json!({"file": "build.rs"})
    ))]
    pub struct DescribeRequest {
        pub symbol: Option<String>,
        /// Rust: a crate or a module. Go: an import path.
        pub package: Option<String>,
        /// Relative to the workspace root, with `/`.
        pub file: Option<String>,
    }
}

/// Told apart by `kind`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "kind", mapping(
    ("symbol" = "#/components/schemas/DescribedSymbol"),
    ("package" = "#/components/schemas/DescribedPackage"),
    ("file" = "#/components/schemas/DescribedFile")
)))]
pub enum Described {
    Symbol(Box<DescribedSymbol>),
    Package(DescribedPackage),
    File(DescribedFile),
}

impl Described {
    fn new(described: describe::Described, meta: Meta) -> Described {
        match described {
            describe::Described::Symbol(symbol) => Described::Symbol(Box::new(DescribedSymbol::new(*symbol, meta))),
            describe::Described::Package(it) => Described::Package(DescribedPackage {
                kind: OfPackage::Package,
                next_cursor: it.next_cursor(),
                package: Package { symbols: list(it.symbols.into_shown()), ..it.package.into() },
                meta,
            }),
            describe::Described::File(file) => Described::File(DescribedFile {
                kind: OfFile::File,
                next_cursor: file.next_cursor(),
                file: file.into(),
                meta,
            }),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfSymbol {
    Symbol,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfPackage {
    Package,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OfFile {
    File,
}

/// All that is known of one symbol.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::described))]
pub struct DescribedSymbol {
    #[schema(inline)]
    pub kind: OfSymbol,
    pub symbol: Symbol,
    /// In full, docs and attributes included. Absent where there is no source to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    pub examples: Vec<Example>,
    pub usages: UsageList,
    pub implementations: Vec<Symbol>,
    /// Of a member: what it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub container: Option<Container>,
    /// Of something external: the version of its package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// Continues the source, the examples, the usages and the implementations.
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl DescribedSymbol {
    fn new(described: describe::DescribedSymbol, meta: Meta) -> DescribedSymbol {
        let next_cursor = described.next_cursor();
        DescribedSymbol {
            kind: OfSymbol::Symbol,
            symbol: described.symbol.into(),
            source: described.source,
            docs: described.docs,
            examples: list(described.examples.items),
            usages: described.usages.into(),
            implementations: list(described.implementations.items),
            container: described.container.map(Container::from),
            version: described.version,
            next_cursor,
            meta,
        }
    }
}

/// The block, trait, type or variant that a member stands in, by its header.
#[derive(Debug, Serialize, ToSchema)]
pub struct Container {
    pub path: String,
    pub signature: String,
    pub file: String,
    pub line: usize,
}

impl From<model::Symbol> for Container {
    fn from(symbol: model::Symbol) -> Container {
        let model::Symbol { path, signature, place, .. } = symbol;
        Container { path, signature, file: place.file, line: place.line }
    }
}

/// A piece of code that shows how the symbol is used.
#[derive(Debug, Serialize, ToSchema)]
pub struct Example {
    pub origin: ExampleOrigin,
    pub file: String,
    pub line: usize,
    pub title: String,
    pub code: String,
}

impl From<model::Example> for Example {
    fn from(example: model::Example) -> Example {
        let model::Example { origin, file, line, title, code } = example;
        Example { origin: origin.into(), file, line, title, code }
    }
}

/// A package at a glance.
#[derive(Debug, Serialize, ToSchema)]
pub struct DescribedPackage {
    #[schema(inline)]
    pub kind: OfPackage,
    pub package: Package,
    /// Continues the docs, the files and the symbols.
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Package {
    #[schema(examples("std::collections"))]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// Its directory, relative to the workspace where it lies inside.
    pub root: String,
    pub files: Vec<String>,
    pub symbols: Vec<Symbol>,
    /// Outside of the workspace.
    pub external: bool,
}

impl From<model::Package> for Package {
    fn from(package: model::Package) -> Package {
        let model::Package { name, version, docs, root, files, symbols, external } = package;
        Package { name, version, docs, root, files, symbols: list(symbols), external }
    }
}

/// A whole file.
#[derive(Debug, Serialize, ToSchema)]
pub struct DescribedFile {
    #[schema(inline)]
    pub kind: OfFile,
    pub file: FileText,
    /// Continues the content.
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FileText {
    pub file: String,
    /// Absent for a file of a language that nobody analyses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<Language>,
    pub content: String,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
    /// True where it is the content of an overlay; the disk has another.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
    pub lines: usize,
}

impl From<describe::FileText> for FileText {
    fn from(file: describe::FileText) -> FileText {
        let describe::FileText { file, language, content, hash, overlay, lines, .. } = file;
        FileText { file, language: language.map(Language::from), content, hash, overlay, lines }
    }
}

/// Describe a symbol, a package or a file
///
/// A symbol of the workspace: its source, docs, examples, usages and implementations. One of the standard library or a
/// dependency: docs and examples, and its usages here. A package: an overview. A file: its full text.
#[utoipa::path(
    post, path = "/v1/describe", operation_id = "describe", tag = "read", request_body = DescribeRequest,
    responses(
        (status = 200, description = "What is known of it.",
            content((Described = "application/json"), (String = "text/markdown"))),
        PostedAboutSymbol
    )
)]
pub async fn describe(
    State(service): State<Service>,
    responder: Responder,
    Posted(request): Posted<DescribeRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let query = describe::DescribeQuery { symbol: request.symbol, package: request.package, file: request.file };
    let reply = describe::describe(&workspace, &query, &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, Described::new, render::described))
}
