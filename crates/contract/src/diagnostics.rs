//! `diagnostics`: the diagnostics of the engines for a file or for the whole workspace.

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
    /// Which diagnostics to return.
    pub struct DiagnosticsQuery {
        /// The file. Default: the whole workspace.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// The severities, separated by commas: `error`, `warning`, `info`, `hint`. Default: errors and warnings.
        #[param(nullable = false, example = "error,warning")]
        pub severity: Option<String>,
        /// The sources, separated by commas, as in the field `source` of the items. Default: all.
        #[param(nullable = false, example = "rustc")]
        pub source: Option<String>,
        /// The largest number of diagnostics, the most severe first. Default: 1000; in SARIF, all.
        #[param(nullable = false)]
        pub max: Option<usize>,
        /// Include the fixes that are offered for each of the first 100 items. `POST /v1/edit` applies a fix by its
        /// `id`. Some engines need one query for each diagnostic. Default: false.
        #[param(nullable = false)]
        pub fixes: Option<bool>,
        /// `sarif` has the same effect as `Accept: application/sarif+json`. Default: as `Accept` says.
        #[param(nullable = false, inline)]
        pub format: Option<DiagnosticsFormat>,
    }
}

/// The format of the diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticsFormat {
    /// As `Accept` says: JSON or Markdown.
    Json,
    /// A log of SARIF 2.1.0.
    Sarif,
}

impl DiagnosticsQuery {
    /// The severities of the request.
    pub fn severities(&self) -> Result<Vec<semdex_model::Severity>> {
        match &self.severity {
            Some(list) => list.split(',').map(|it| severity(it.trim())).collect(),
            None => Ok(vec![semdex_model::Severity::Error, semdex_model::Severity::Warning]),
        }
    }

    /// Whether the request includes diagnostics of this source.
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

/// The diagnostics, the most severe first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::diagnostics))]
pub struct DiagnosticsReply {
    /// The diagnostics of the requested severities.
    #[schema(value_type = Vec<Diagnostic>)]
    pub items: Listing<Diagnostic>,
    /// The number of diagnostics by severity, including severities that were not requested.
    pub counts: Counts,
    /// The number of diagnostics of the requested severities, on all pages.
    pub total: usize,
    /// Continues the items. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The tool that answered in place of a missing engine. Absent if the engines answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fallback: Option<String>,
    /// The revision of the answer, and whether it is complete.
    pub meta: Meta,
    /// The text of the line of each item.
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

/// A diagnostic of an engine or a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Diagnostic {
    /// The marked range.
    #[serde(flatten)]
    pub place: Place,
    /// The severity given by the source.
    pub severity: Severity,
    /// The code given by the source. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("E0425"))]
    pub code: Option<String>,
    /// The message without the code. It may have several lines.
    pub message: String,
    /// The source: `rust-analyzer`, `gopls`, `rustc`, `go vet`, …
    pub source: String,
    /// The path of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// Whether the compiler confirms the diagnostic at this revision (true) or refutes it (false). Null if the compiler
    /// did not check it.
    #[schema(required)]
    pub confirmed: Option<bool>,
    /// For code that the default build does not compile: what differs in the build that does. The compiler is not asked
    /// about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("feature=parallel"))]
    pub build: Option<String>,
    /// The offered fixes, if the request has `fixes`. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
}

/// An offered fix of a diagnostic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Fix {
    /// The value for `fix` of `POST /v1/edit`. It is valid while the texts are unchanged, also after a restart.
    #[schema(examples("src/lib.rs@655-711#af1349b9f5f9a1a6a0404dea"))]
    pub id: String,
    /// The title given by the engine or language server.
    #[schema(examples("Change it to be mutable"))]
    pub title: String,
    /// The files that it changes. Absent if that is only the file of the diagnostic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub files: Option<Vec<String>>,
}

impl From<semdex_model::Diagnostic> for Diagnostic {
    fn from(diagnostic: semdex_model::Diagnostic) -> Diagnostic {
        let semdex_model::Diagnostic { place, severity, code, message, source, symbol, confirmed, build } = diagnostic;
        let fixes = Vec::new();
        Diagnostic {
            place: place.into(),
            severity: severity.into(),
            code,
            message,
            source,
            symbol,
            confirmed,
            build,
            fixes,
        }
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

/// The number of diagnostics of each severity, on all pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Counts {
    /// Errors.
    pub error: usize,
    /// Warnings.
    pub warning: usize,
    /// Infos.
    pub info: usize,
    /// Hints.
    pub hint: usize,
}

impl Counts {
    /// Counts a list of severities.
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
