//! `impact`: what a change of a symbol would break, without making it.

use serde::Serialize;
use utoipa::ToSchema;

use super::change::Impact;
use super::request::request;
use super::shapes::Meta;
use super::words::Alteration;

request! { body
    /// A symbol, and what would be done to it.
    #[schema(examples(json!({"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"})))]
    pub struct ImpactRequest {
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: the file that it is seen from.
        pub file: Option<String>,
        pub change: Alteration,
    }
}

/// Who would break, who depends on it, which tests reach it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImpactReport {
    pub impact: Impact,
    pub meta: Meta,
}
