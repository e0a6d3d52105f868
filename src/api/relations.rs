//! `GET /v1/usages` and `GET /v1/implementations`: what stands in relation to one symbol.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Asked;
use super::face::Face;
use super::problem::{AboutSymbol, Refusal};
use super::shapes::{Meta, Symbol, Usage, list};
use crate::model::SymbolQuery;
use crate::ops::usages;
use crate::render;

request! { query
    /// Which symbol.
    pub struct AboutSymbolQuery {
        /// Its path; a shorter one is taken where it is unique.
        #[param(example = "grep_searcher::Searcher")]
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path.
        #[param(nullable = false)]
        pub package: Option<String>,
        /// Narrows a short path: the file of the definition.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

impl AboutSymbolQuery {
    fn symbol(&self) -> SymbolQuery {
        SymbolQuery { symbol: self.symbol.clone(), package: self.package.clone(), file: self.file.clone() }
    }
}

/// The places that name a symbol, ranked, grouped by file and counted in full.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsageList {
    pub total: usize,
    pub files: usize,
    pub items: Vec<Usage>,
    /// Places that hold the name and that nobody could resolve.
    pub possible: Vec<Usage>,
}

impl UsageList {
    /// The list, and the cursor that continues it.
    pub fn new(usages: usages::UsageList) -> (UsageList, Option<String>) {
        let usages::UsageList { total, files, items, possible, next_cursor } = usages;
        (UsageList { total, files, items: list(items), possible: list(possible) }, next_cursor)
    }
}

/// Who uses a symbol.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::usages))]
pub struct UsagesReply {
    pub symbol: Symbol,
    #[serde(flatten)]
    pub usages: UsageList,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl UsagesReply {
    fn new(found: usages::UsagesOf, meta: Meta) -> UsagesReply {
        let (usages, next_cursor) = UsageList::new(found.usages);
        UsagesReply { symbol: found.symbol.into(), usages, next_cursor, meta }
    }
}

/// Who uses a symbol
///
/// Every place of the workspace that names it, with the line's text and the symbol it stands in. With `complete: true`
/// and an empty list there is none.
#[utoipa::path(
    get, path = "/v1/usages", operation_id = "usages", tag = "read", params(AboutSymbolQuery),
    responses(
        (status = 200, description = "The usages.",
            content((UsagesReply = "application/json"), (String = "text/markdown"))),
        AboutSymbol
    )
)]
pub async fn usages(
    State(service): State<Service>,
    face: Face,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let reply = usages::usages(&workspace, &query.symbol(), &common.ask()?).await?;
    Ok(face.answer(reply, UsagesReply::new, render::usages))
}

/// What implements a trait or an interface, or overrides a method.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImplementationsReply {
    pub symbol: Symbol,
    pub total: usize,
    pub items: Vec<Symbol>,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl ImplementationsReply {
    fn new(found: usages::ImplementationsOf, meta: Meta) -> ImplementationsReply {
        ImplementationsReply {
            symbol: found.symbol.into(),
            total: found.list.total,
            items: list(found.list.items),
            next_cursor: found.list.next_cursor,
            meta,
        }
    }
}

/// What implements a symbol
///
/// The implementations of a trait, an interface or one of its methods; of a type, the implementations for it.
#[utoipa::path(
    get, path = "/v1/implementations", operation_id = "implementations", tag = "read", params(AboutSymbolQuery),
    responses(
        (status = 200, description = "The implementations.",
            content((ImplementationsReply = "application/json"), (String = "text/markdown"))),
        AboutSymbol
    )
)]
pub async fn implementations(
    State(service): State<Service>,
    face: Face,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let reply = usages::implementations(&workspace, &query.symbol(), &common.ask()?).await?;
    Ok(face.answer(reply, ImplementationsReply::new, render::implementations))
}
