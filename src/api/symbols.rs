//! `GET /v1/symbols` and `GET /v1/symbols/at`: finding symbols by name, by file, by position.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use super::ask::request;
use super::examples;
use super::extract::Asked;
use super::problem::{AboutFile, Refusal};
use super::responder::Responder;
use super::shapes::{Meta, Place, Symbol, list};
use crate::model::{self, Code, Error};
use crate::ops::Listing;
use crate::ops::symbols as ops;
use crate::render;

request! { query
    /// By name, or of one file: exactly one of `query` and `file`.
    pub struct SymbolsQuery {
        /// A part of a name, letters left out or not: the best fits first.
        #[param(nullable = false, example = "srchr")]
        pub query: Option<String>,
        /// The symbols of this file, as a tree.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

/// The symbols found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(examples::symbols))]
pub struct SymbolsReply {
    /// A list for `query`, a tree for `file`.
    pub symbols: Vec<Symbol>,
    /// All of them, those below others and those left to `next_cursor` too.
    pub total: usize,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl SymbolsReply {
    fn found(listing: Listing<model::Symbol>, meta: Meta) -> SymbolsReply {
        let (total, next_cursor) = (listing.total(), listing.next_cursor());
        SymbolsReply { symbols: list(listing.items), total, next_cursor, meta }
    }

    fn tree(tree: ops::Tree, meta: Meta) -> SymbolsReply {
        let (total, next_cursor) = (tree.part.total, tree.next_cursor());
        SymbolsReply { symbols: tree.into_shown().into_iter().map(Symbol::tree).collect(), total, next_cursor, meta }
    }
}

/// Find symbols
///
/// By a part of their name in the whole workspace, or all those of one file as a tree.
#[utoipa::path(
    get, path = "/v1/symbols", operation_id = "symbols", tag = "read", params(SymbolsQuery),
    responses(
        (status = 200, description = "The symbols.",
            content((SymbolsReply = "application/json"), (String = "text/markdown"))),
        AboutFile
    )
)]
pub async fn symbols(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<SymbolsQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let ask = common.ask()?;
    match (&query.query, &query.file) {
        (Some(name), None) => {
            let reply = ops::search(&workspace, name, &ask).await?;
            Ok(responder.fitted(reply, ask.max_tokens, SymbolsReply::found, render::symbols))
        }
        (None, Some(file)) => {
            let reply = ops::symbols_of(&workspace, file, &ask).await?;
            Ok(responder.fitted(reply, ask.max_tokens, SymbolsReply::tree, render::symbol_tree))
        }
        _ => Err(Error::new(Code::InvalidRequest, "say either `query` or `file`").into()),
    }
}

request! { query
    /// A position in a file: `offset`, or `line` and `column`.
    pub struct SymbolAtQuery {
        pub file: String,
        /// In bytes, from 0.
        #[param(nullable = false)]
        pub offset: Option<usize>,
        /// From 1.
        #[param(nullable = false, minimum = 1)]
        pub line: Option<usize>,
        /// In bytes, from 1.
        #[param(nullable = false, minimum = 1)]
        pub column: Option<usize>,
    }
}

impl SymbolAtQuery {
    fn position(&self) -> model::Result<ops::Position> {
        match (self.offset, self.line, self.column) {
            (Some(offset), None, None) => Ok(ops::Position::Offset(offset)),
            (None, Some(line), Some(column)) if line > 0 && column > 0 => {
                Ok(ops::Position::LineColumn { line, column })
            }
            _ => Err(Error::new(
                Code::InvalidRequest,
                "say either `offset` (bytes, from 0) or both `line` and `column` (from 1, the column in bytes)",
            )),
        }
    }
}

/// What stands at a position. A field is absent where nothing there has it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SymbolAtReply {
    /// The one referred to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<Symbol>,
    /// Of the expression or binding.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ty: Option<String>,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hover: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub definition: Option<Place>,
    /// The word at the position.
    pub at: Place,
    pub meta: Meta,
}

impl SymbolAtReply {
    fn new(found: model::SymbolAt, meta: Meta) -> SymbolAtReply {
        SymbolAtReply {
            symbol: found.symbol.map(Symbol::from),
            ty: found.ty,
            hover: found.hover,
            definition: found.definition.map(Place::from),
            at: found.at.into(),
            meta,
        }
    }
}

/// What stands at a position
///
/// The symbol referred to, its definition, its type, and what an editor would show when one hovers over it.
#[utoipa::path(
    get, path = "/v1/symbols/at", operation_id = "symbol_at", tag = "read", params(SymbolAtQuery),
    responses(
        (status = 200, description = "What stands there.",
            content((SymbolAtReply = "application/json"), (String = "text/markdown"))),
        AboutFile
    )
)]
pub async fn symbol_at(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<SymbolAtQuery>,
) -> Result<Response, Refusal> {
    let common = query.common();
    let workspace = service.pick(common.workspace)?;
    let reply = ops::symbol_at(&workspace, &query.file, query.position()?, &common.ask()?).await?;
    Ok(responder.answer(reply, SymbolAtReply::new, render::symbol_at))
}
