//! `baseline` and `regressions`: the diagnostics of one moment are kept, and what is new or gone since.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, left_out, next_cursor};
use super::diagnostics::{Counts, Diagnostic, diagnostic_cost};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;

request! { body
    /// Of which files the errors and warnings of this moment are kept.
    #[schema(examples(json!({"files": ["crates/searcher/src/lines.rs"]})))]
    pub struct BaselineRequest {
        /// Only these, beside what is kept of others. Default: all, in place of what was kept before.
        #[schema(nullable = false)]
        pub files: Option<Vec<String>>,
    }
}

/// What is kept now.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::baseline))]
pub struct BaselineReply {
    /// Its name: a ULID.
    pub baseline: String,
    /// Of so many files, those without any diagnostic among them.
    pub files: usize,
    /// What was kept of these files; infos and hints are not.
    pub counts: Counts,
    /// Where it is not complete, what was not known then is taken for new later.
    pub meta: Meta,
}

request! { query
    /// Of what.
    pub struct RegressionsQuery {
        /// Absent: all that the baseline is of.
        #[param(nullable = false)]
        pub file: Option<String>,
    }
}

/// What is new and what is gone since the baseline. An error is the same where its file, its message and the text of its
/// line are, wherever it stands; of equal ones the number counts.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::regressions))]
pub struct RegressionsReply {
    /// There are new errors. Warnings are in neither.
    pub has_regression: bool,
    /// Errors are gone, and none is new.
    pub has_improvement: bool,
    /// Errors that are there and not in the baseline.
    pub new_errors: usize,
    /// Errors of the baseline that are gone.
    pub fixed_errors: usize,
    /// Warnings that are there and not in the baseline.
    pub new_warnings: usize,
    /// Warnings of the baseline that are gone.
    pub fixed_warnings: usize,
    /// The gravest first.
    #[schema(value_type = Vec<Diagnostic>)]
    pub new: Listing<Diagnostic>,
    /// As the baseline has them: the places speak of the texts of that time.
    #[schema(value_type = Vec<Diagnostic>)]
    pub fixed: Listing<Diagnostic>,
    /// The numbers in one sentence.
    #[schema(examples("Regression detected: 1 new error"))]
    pub summary: String,
    /// The baseline that was compared with; null where there is none, which is then in `meta.missing`.
    #[schema(required)]
    pub baseline: Option<String>,
    /// Continues both lists; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was compared, and whether all of it was.
    pub meta: Meta,
}

impl RegressionsReply {
    /// Where both lists continue. None where nothing is left.
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
