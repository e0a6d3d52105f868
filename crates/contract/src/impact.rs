//! `impact`: what a change of a symbol would break, computed without making the change.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, left_out};
use super::change::{IMPACT_PARTS, Impact, named_parts};
use super::enums::Alteration;
use super::examples;
use super::pages::{Headed as _, Kept, Pages};
use super::request::{Answer, request};
use super::shared_types::Meta;
use semdex_model::Result;

request! { body
    /// A symbol, and the change to it.
    #[schema(examples(json!({"symbol": "grep_searcher::SearcherBuilder::build", "change": "signature"})))]
    pub struct ImpactRequest {
        /// The path of the symbol. A shorter path is accepted if it is unique.
        pub symbol: String,
        /// Narrows a short path: a crate, a module or an import path.
        pub package: Option<String>,
        /// Narrows a short path: a file in which the path resolves to the symbol.
        pub file: Option<String>,
        /// The change to the symbol.
        pub change: Alteration,
    }
}

/// The places that the change would break or affect, and the tests that reach the symbol.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::impact))]
pub struct ImpactReport {
    /// The impact of the change.
    pub impact: Impact,
    /// The cursor for the rest of a shortened reply. The same call with it returns the rest.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision of the answer, and whether it is complete.
    pub meta: Meta,
    /// The ranges of the lists that are in the page.
    #[serde(skip)]
    pub pages: Pages<IMPACT_PARTS>,
}

impl Kept for ImpactReport {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages::kept(id, self.impact.lengths()).headed(self.heading());
    }

    fn after(mut self, cursor: &str) -> Result<ImpactReport> {
        let from = self.pages.resume(cursor, self.impact.lengths())?;
        self.impact.skip(from);
        Ok(self)
    }
}

impl Answer for ImpactReport {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(200);
        let [changed, broken, affected, tests, unchecked] = self.impact.costs(budget.form());
        let [changed_part, broken_part, affected_part, tests_part, unchecked_part] = &mut self.pages.parts;
        budget.share(&mut [
            (changed_part, changed, 40),
            (broken_part, broken, 60),
            (tests_part, tests, 50),
            (affected_part, affected, 60),
            (unchecked_part, unchecked, 100),
        ]);
        self.impact.truncate(self.pages.parts.map(|it| it.count));
        self.next_cursor = self.pages.next_cursor();
        Some(left_out(&named_parts(self.pages.parts)))
    }
}
