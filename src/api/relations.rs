//! `GET /v1/usages`, `callers`, `callees` and `implementations`: what stands in relation to one symbol.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Asked;
use super::problem::{AboutSymbol, Refusal};
use super::responder::Responder;
use super::shapes::{Meta, Place, Symbol, Usage, list};
use crate::model::{self, SymbolQuery};
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

impl From<usages::UsageList> for UsageList {
    fn from(usages: usages::UsageList) -> UsageList {
        let usages::UsageList { total, files, items, possible, .. } = usages;
        UsageList { total, files, items: list(items), possible: list(possible) }
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
        let next_cursor = found.next_cursor();
        UsagesReply { symbol: found.symbol.into(), usages: found.usages.into(), next_cursor, meta }
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
    responder: Responder,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let reply = usages::usages(&workspace, &query.symbol(), &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, UsagesReply::new, render::usages))
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
        let (total, next_cursor) = (found.list.total(), found.list.next_cursor());
        ImplementationsReply { symbol: found.symbol.into(), total, items: list(found.list.items), next_cursor, meta }
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
    responder: Responder,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let reply = usages::implementations(&workspace, &query.symbol(), &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, ImplementationsReply::new, render::implementations))
}

/// Who calls a symbol, or what it calls.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::calls))]
pub struct CallsReply {
    pub symbol: Symbol,
    pub total: usize,
    pub items: Vec<Calls>,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

/// The caller or the callee, and where it calls or is called.
#[derive(Debug, Serialize, ToSchema)]
pub struct Calls {
    pub symbol: Symbol,
    pub calls: Vec<CallSite>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CallSite {
    #[serde(flatten)]
    pub place: Place,
    /// The whole line.
    pub text: String,
    pub test: bool,
}

impl From<model::Calls> for Calls {
    fn from(calls: model::Calls) -> Calls {
        Calls { symbol: calls.symbol.into(), calls: list(calls.calls) }
    }
}

impl From<model::CallSite> for CallSite {
    fn from(site: model::CallSite) -> CallSite {
        CallSite { place: site.place.into(), text: site.text, test: site.test }
    }
}

impl CallsReply {
    fn new(found: usages::CallsOf, meta: Meta) -> CallsReply {
        let (total, next_cursor) = (found.list.total(), found.list.next_cursor());
        CallsReply { symbol: found.symbol.into(), total, items: list(found.list.items), next_cursor, meta }
    }
}

/// Who calls a symbol
///
/// The symbols whose code calls it, or takes it as a value that may be called, each with its calls; tests last.
#[utoipa::path(
    get, path = "/v1/callers", operation_id = "callers", tag = "read", params(AboutSymbolQuery),
    responses(
        (status = 200, description = "The callers.",
            content((CallsReply = "application/json"), (String = "text/markdown"))),
        AboutSymbol
    )
)]
pub async fn callers(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let reply = usages::callers(&workspace, &query.symbol(), &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, CallsReply::new, render::callers))
}

/// What a symbol calls
///
/// The functions, methods and constructors that its text calls, in the order of their first calls.
#[utoipa::path(
    get, path = "/v1/callees", operation_id = "callees", tag = "read", params(AboutSymbolQuery),
    responses(
        (status = 200, description = "The callees.",
            content((CallsReply = "application/json"), (String = "text/markdown"))),
        AboutSymbol
    )
)]
pub async fn callees(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<AboutSymbolQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    let reply = usages::callees(&workspace, &query.symbol(), &ask).await?;
    Ok(responder.fitted(reply, ask.max_tokens, CallsReply::new, render::callees))
}
