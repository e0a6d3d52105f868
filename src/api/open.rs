//! `POST /v1/open`: one file as a reader wants to see it first.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Posted;
use super::problem::{PostedAboutFile, Refusal};
use super::responder::Responder;
use super::shapes::{Language, Meta, Symbol, is_false, list};
use crate::model;
use crate::ops::open;
use crate::render;

request! { body
    /// Which file to open.
    #[schema(examples(json!({"file": "crates/searcher/src/lib.rs"})))]
    pub struct OpenRequest {
        /// Relative to the workspace root, with `/`.
        pub file: String,
    }
}

/// A file: its skeleton, its symbols, what it uses and who uses it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::opened))]
pub struct Opened {
    pub file: String,
    /// Absent for a file of a language that nobody analyses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<Language>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    pub lines: usize,
    /// BLAKE3 of the bytes, in hex.
    pub hash: String,
    /// True where it is the content of an overlay; the disk has another.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
    /// Of the module or package.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub docs: Option<String>,
    /// The text with bodies as `{ /* 12 lines */ }`, so that it still parses.
    pub skeleton: String,
    pub imports: Vec<Import>,
    /// As a tree, each with its usages.
    pub symbols: Vec<Symbol>,
    pub upstream: Vec<Upstream>,
    pub downstream: Vec<Downstream>,
    /// Continues the skeleton and the lists.
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl Opened {
    fn new(opened: open::Opened, meta: Meta) -> Opened {
        let next_cursor = opened.next_cursor();
        Opened {
            file: opened.file,
            language: opened.language.map(Language::from),
            package: opened.package,
            lines: opened.lines,
            hash: opened.hash,
            overlay: opened.overlay,
            docs: opened.docs,
            skeleton: opened.skeleton,
            imports: list(opened.imports.items),
            symbols: opened.symbols.into_shown().into_iter().map(Symbol::tree).collect(),
            upstream: list(opened.upstream.items),
            downstream: list(opened.downstream.items),
            next_cursor,
            meta,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Import {
    #[schema(examples("std::io"))]
    pub path: String,
    /// The local name, if it is given another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub alias: Option<String>,
    pub line: usize,
}

impl From<model::Import> for Import {
    fn from(import: model::Import) -> Import {
        Import { path: import.path, alias: import.alias, line: import.line }
    }
}

/// What the file uses of another package.
#[derive(Debug, Serialize, ToSchema)]
pub struct Upstream {
    pub package: String,
    /// Outside of the workspace.
    pub external: bool,
    /// Only of packages of the workspace.
    pub files: Vec<String>,
    pub symbols: Vec<String>,
}

impl From<model::Upstream> for Upstream {
    fn from(upstream: model::Upstream) -> Upstream {
        let model::Upstream { package, external, files, symbols } = upstream;
        Upstream { package, external, files, symbols }
    }
}

/// What another file uses of this one.
#[derive(Debug, Serialize, ToSchema)]
pub struct Downstream {
    pub file: String,
    pub package: String,
    pub symbols: Vec<String>,
    /// How many places there name them.
    pub count: usize,
}

impl From<model::Downstream> for Downstream {
    fn from(downstream: model::Downstream) -> Downstream {
        let model::Downstream { file, package, symbols, count } = downstream;
        Downstream { file, package, symbols, count }
    }
}

/// Open a file
///
/// Its skeleton with bodies collapsed, its symbols with their lines and usages, what the file uses and who uses it.
#[utoipa::path(
    post, path = "/v1/open", operation_id = "open", tag = "read", request_body = OpenRequest,
    responses(
        (status = 200, description = "The file.", content((Opened = "application/json"), (String = "text/markdown"))),
        PostedAboutFile
    )
)]
pub async fn open(
    State(service): State<Service>,
    responder: Responder,
    Posted(request): Posted<OpenRequest>,
) -> Result<Response, Refusal> {
    let common = request.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let reply = open::open(&workspace, &request.file, &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, Opened::new, render::opened))
}
