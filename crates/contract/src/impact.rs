//! `impact`: what a change of a symbol would break, without making it.

use serde::Serialize;
use utoipa::ToSchema;

use super::change::Impact;
use super::examples;
use super::pages::{self, Pages};
use super::request::request;
use super::shapes::Meta;
use super::words::Alteration;

request! { body
    /// A symbol, and what would be done to it.
    #[schema(examples(json!({"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"})))]
    pub struct ImpactRequest {
        /// Its path; a shorter one is taken where it is unique.
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: the file that it is seen from.
        pub file: Option<String>,
        /// What would be done to the symbol.
        pub change: Alteration,
    }
}

/// Who would break, who depends on it, which tests reach it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::impact))]
pub struct ImpactReport {
    /// As if the change were made.
    pub impact: Impact,
    /// Where the reply was cut: with it, the same call brings the rest.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was looked at, and whether all of it was.
    pub meta: Meta,
    /// Where the reply was cut.
    #[serde(skip)]
    pub pages: Pages<{ pages::IMPACT }>,
}
