//! `diagnostics`: what the engines have to say against a file or the whole workspace.

use serde::Serialize;
use utoipa::ToSchema;

use super::change::Diagnostic;
use super::examples;
use super::request::request;
use super::shapes::Meta;
use super::words::Severity;

request! { query
    /// Of what, and how grave.
    pub struct DiagnosticsQuery {
        /// Absent: the whole workspace.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// The least severity to report. Absent: errors and warnings.
        #[param(nullable = false)]
        pub severity: Option<Severity>,
        /// How many to tell at most, the gravest first.
        #[param(nullable = false)]
        pub max: Option<usize>,
    }
}

/// The diagnostics, the gravest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::diagnostics))]
pub struct DiagnosticsReply {
    pub items: Vec<Diagnostic>,
    pub counts: Counts,
    pub total: usize,
    pub meta: Meta,
}

/// How many there are of each severity, told or not.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Counts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
    pub hint: usize,
}
