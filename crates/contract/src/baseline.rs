//! `baseline` and `regressions`: keep the present diagnostics, and report which are new or fixed since.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, left_out, next_cursor};
use super::diagnostics::{Counts, Diagnostic, diagnostic_cost};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;

request! { body
    /// The files whose present errors and warnings are kept.
    #[schema(examples(json!({"files": ["crates/searcher/src/lines.rs"]})))]
    pub struct BaselineRequest {
        /// Only these files; the baseline of other files stays. Default: all files, which replaces the baseline.
        #[schema(nullable = false)]
        pub files: Option<Vec<String>>,
    }
}

/// The baseline that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::baseline))]
pub struct BaselineReply {
    /// The id of the baseline, a ULID.
    pub baseline: String,
    /// The number of files, including files without diagnostics.
    pub files: usize,
    /// The number of kept diagnostics. Infos and hints are not kept.
    pub counts: Counts,
    /// If it is not complete, diagnostics that were unknown now are reported as new later.
    pub meta: Meta,
}

request! { query
    /// Which diagnostics to compare.
    pub struct RegressionsQuery {
        /// The file. Default: all files of the baseline.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

/// The diagnostics that are new or fixed since the baseline. Two diagnostics are equal if file, message and text of the
/// line are equal; the line number does not matter. Of equal diagnostics, the number counts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::regressions))]
pub struct RegressionsReply {
    /// Whether there are new errors. Warnings do not count.
    pub has_regression: bool,
    /// Whether errors were fixed and none is new.
    pub has_improvement: bool,
    /// Errors that are not in the baseline.
    pub new_errors: usize,
    /// Errors of the baseline that no longer exist.
    pub fixed_errors: usize,
    /// Warnings that are not in the baseline.
    pub new_warnings: usize,
    /// Warnings of the baseline that no longer exist.
    pub fixed_warnings: usize,
    /// The new diagnostics, the most severe first.
    #[schema(value_type = Vec<Diagnostic>)]
    pub new: Listing<Diagnostic>,
    /// The fixed diagnostics as in the baseline. The places refer to the texts of that time.
    #[schema(value_type = Vec<Diagnostic>)]
    pub fixed: Listing<Diagnostic>,
    /// A summary in one sentence.
    #[schema(examples("Regression detected: 1 new error"))]
    pub summary: String,
    /// The id of the baseline. Null if there is none; `meta.missing` then says so.
    #[schema(required)]
    pub baseline: Option<String>,
    /// Continues both lists. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The compared revision, and whether the comparison is complete.
    pub meta: Meta,
}

impl RegressionsReply {
    /// The cursor that continues both lists. None if nothing is left.
    pub fn cursor(&self) -> Option<String> {
        next_cursor(&[self.new.part, self.fixed.part])
    }
}

impl Answer for RegressionsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(budget.form().or(120, 320));
        let form: Form = budget.form();
        let cost = |it: &Diagnostic| diagnostic_cost(it, form);
        let (new, fixed) = (self.new.costs(cost), self.fixed.costs(cost));
        budget.share(&mut [(&mut self.new.part, new, 75), (&mut self.fixed.part, fixed, 100)]);
        self.new.truncate();
        self.fixed.truncate();
        self.next_cursor = self.cursor();
        Some(left_out(&[("new diagnostics", self.new.part), ("fixed diagnostics", self.fixed.part)]))
    }
}
