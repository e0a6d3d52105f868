//! `diagnostics`: what the engines have to say against a file or the whole workspace.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, left_out};
use super::change::Diagnostic;
use super::examples;
use super::pages::diagnostic_cost;
use super::request::{Answer, request};
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
        /// How many to tell at most, the gravest first. Default: 1000.
        #[param(nullable = false)]
        pub max: Option<usize>,
    }
}

/// The diagnostics, the gravest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::diagnostics))]
pub struct DiagnosticsReply {
    #[schema(value_type = Vec<Diagnostic>)]
    pub items: Listing<Diagnostic>,
    pub counts: Counts,
    pub total: usize,
    #[schema(required)]
    pub next_cursor: Option<String>,
    pub meta: Meta,
}

impl Answer for DiagnosticsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(160);
        let form = budget.form();
        self.items.cut(&mut budget, |it| diagnostic_cost(it, form));
        self.next_cursor = self.items.next_cursor();
        Some(left_out(&[("diagnostics", self.items.part)]))
    }
}

/// How many there are of each severity, told or not.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Counts {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
    pub hint: usize,
}
