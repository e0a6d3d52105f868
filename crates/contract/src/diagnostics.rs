//! `diagnostics`: what the engines have to say against a file or the whole workspace.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::budget::{Budget, Form, Listing, left_out, text_cost};
use super::enums::Severity;
use super::examples;
use super::parse::nearest;
use super::request::{Answer, request};
use super::shared_types::{Meta, Place};
use semdex_model::{Code, Error, Result};

request! { query
    /// Of what, and how grave.
    pub struct DiagnosticsQuery {
        /// Absent: the whole workspace.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// Only these severities, with commas between them: `error`, `warning`, `info`, `hint`. Absent: errors and warnings.
        #[param(nullable = false, example = "error,warning")]
        pub severity: Option<String>,
        /// Only those of these sources, with commas between them, as `source` of the items names them. Default: of all.
        #[param(nullable = false, example = "rustc")]
        pub source: Option<String>,
        /// How many to tell at most, the gravest first. Default: 1000, in SARIF all.
        #[param(nullable = false)]
        pub max: Option<usize>,
        /// Tell the fixes that are offered against each of the items, which `POST /v1/edit` applies by their `id`; of the
        /// first 100 items. Each diagnostic may be a question of its own to its engine. Default: false.
        #[param(nullable = false)]
        pub fixes: Option<bool>,
        /// `sarif` does the same as `Accept: application/sarif+json`. Default: as `Accept` says.
        #[param(nullable = false, inline)]
        pub format: Option<DiagnosticsFormat>,
    }
}

/// In which form diagnostics are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticsFormat {
    /// As `Accept` says: JSON or Markdown.
    Json,
    /// A log of SARIF 2.1.0.
    Sarif,
}

impl DiagnosticsQuery {
    /// The severities that are asked for.
    pub fn severities(&self) -> Result<Vec<semdex_model::Severity>> {
        match &self.severity {
            Some(list) => list.split(',').map(|it| severity(it.trim())).collect(),
            None => Ok(vec![semdex_model::Severity::Error, semdex_model::Severity::Warning]),
        }
    }

    /// Whether diagnostics of this source are asked for.
    pub fn takes(&self, source: &str) -> bool {
        self.source.as_ref().is_none_or(|list| list.split(',').any(|it| it.trim().eq_ignore_ascii_case(source)))
    }
}

fn severity(name: &str) -> Result<semdex_model::Severity> {
    use semdex_model::Severity;
    const ALL: [Severity; 4] = [Severity::Error, Severity::Warning, Severity::Info, Severity::Hint];
    ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
        let names: Vec<String> = ALL.iter().map(|it| it.name().to_owned()).collect();
        let nearest = nearest(name, &names);
        let hint = nearest.map(|it| format!("did you mean `{it}`? ")).unwrap_or_default();
        let known = names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let detail = format!("`severity`: unknown value `{name}`: {hint}Known: {known}, with commas between several");
        Error::new(Code::InvalidRequest, detail).suggesting(nearest.map(str::to_owned).into_iter().collect())
    })
}

/// The diagnostics, the gravest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::diagnostics))]
pub struct DiagnosticsReply {
    /// Of the severities that were asked for.
    #[schema(value_type = Vec<Diagnostic>)]
    pub items: Listing<Diagnostic>,
    /// Of all severities, those that were not asked for as well.
    pub counts: Counts,
    /// Of the severities that were asked for, told or not.
    pub total: usize,
    /// Continues the items; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The tool whose findings these are, where a language's engine is not there; absent where the engines answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fallback: Option<String>,
    /// The revision that was looked at, and whether all of it was.
    pub meta: Meta,
    /// The line that each item is about, as it stands in the file.
    #[serde(skip)]
    pub lines: Vec<String>,
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

/// What an engine says of a place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Diagnostic {
    /// What is marked.
    #[serde(flatten)]
    pub place: Place,
    /// As its source rates it.
    pub severity: Severity,
    /// The source's own identifier for it. Absent where it gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("E0425"))]
    pub code: Option<String>,
    /// Without the code; it may have several lines.
    pub message: String,
    /// `rust-analyzer`, `gopls`, `rustc`, `go vet`, …
    pub source: String,
    /// The path of the symbol in whose text it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// What the compiler says of it at this revision: that it is so, or that it is not; null where it was not asked.
    #[schema(required)]
    pub confirmed: Option<bool>,
    /// What is offered against it, where `fixes` was asked for; absent where there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
}

/// An offer to put a diagnostic right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Fix {
    /// What `fix` of `POST /v1/edit` takes. It holds for the texts that it was offered for, also over a restart.
    #[schema(examples("src/lib.rs@655-711#af1349b9f5f9a1a6a0404dea"))]
    pub id: String,
    /// What it does, in the words of the engine or server.
    #[schema(examples("Change it to be mutable"))]
    pub title: String,
    /// The files that it changes; absent where that is the diagnostic's own alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub files: Option<Vec<String>>,
}

impl From<semdex_model::Diagnostic> for Diagnostic {
    fn from(diagnostic: semdex_model::Diagnostic) -> Diagnostic {
        let semdex_model::Diagnostic { place, severity, code, message, source, symbol, confirmed } = diagnostic;
        let fixes = Vec::new();
        Diagnostic { place: place.into(), severity: severity.into(), code, message, source, symbol, confirmed, fixes }
    }
}

pub(super) fn diagnostic_cost(it: &Diagnostic, form: Form) -> usize {
    let symbol = it.symbol.as_deref().map_or(0, text_cost);
    let of_fix = |it: &Fix| {
        let files: usize = it.files.iter().flatten().map(String::len).sum();
        it.id.len() + it.title.len() + files + form.or(14, 30)
    };
    let fixes: usize = it.fixes.iter().map(of_fix).sum();
    it.place.file.len() + text_cost(&it.message) + it.source.len() + symbol + fixes + form.or(40, 180)
}

/// How many there are of each severity, told or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Counts {
    /// Errors.
    pub error: usize,
    /// Warnings.
    pub warning: usize,
    /// What is only of interest.
    pub info: usize,
    /// What editors show without a mark.
    pub hint: usize,
}

impl Counts {
    /// Of a list of severities.
    pub fn of(severities: impl Iterator<Item = semdex_model::Severity>) -> Counts {
        let mut counts = Counts::default();
        for severity in severities {
            match severity {
                semdex_model::Severity::Error => counts.error += 1,
                semdex_model::Severity::Warning => counts.warning += 1,
                semdex_model::Severity::Info => counts.info += 1,
                semdex_model::Severity::Hint => counts.hint += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severities(text: &str) -> Result<Vec<semdex_model::Severity>> {
        let query: DiagnosticsQuery = super::super::parse::from_query(&format!("severity={text}")).unwrap();
        query.severities()
    }

    #[test]
    fn severities_are_a_list() {
        use semdex_model::Severity::{Error, Hint, Warning};
        assert_eq!(severities("error").unwrap(), [Error]);
        assert_eq!(severities("warning,%20hint").unwrap(), [Warning, Hint]);
        for wrong in ["", "error,", "eror", "Error,x"] {
            let error = severities(wrong).unwrap_err();
            assert!(error.code == Code::InvalidRequest && error.detail.contains("`hint`"), "{error}");
        }
        assert!(severities("eror").unwrap_err().detail.contains("did you mean `error`?"));
    }
}
