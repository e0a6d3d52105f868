//! What every change answers with: where it landed, what it brought and what it breaks.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::examples;
use super::pages::{self, Pages};
use super::shapes::{Meta, Place, is_false, list};
use super::words::{ChangeKind, FindingKind, Severity, Strategy};

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

impl Diagnostic {
    /// A place that a change breaks, as what an engine would say of it.
    pub fn of_broken(broken: &Broken, source: &str) -> Diagnostic {
        Diagnostic {
            place: broken.at.place.clone(),
            severity: Severity::Error,
            code: broken.code.clone(),
            message: broken.reason.clone(),
            source: source.to_owned(),
            symbol: broken.at.symbol.clone(),
            confirmed: None,
            fixes: Vec::new(),
        }
    }
}

/// What a change did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::change))]
pub struct ChangeReport {
    /// The token that takes the change back; null in a dry run and where nothing changed.
    #[schema(required)]
    pub change: Option<String>,
    /// Whether the files on disk hold it now.
    pub applied: bool,
    /// Each file that it changes.
    pub files: Vec<ChangedFile>,
    /// For each edit, in the order asked, where it landed.
    pub edits: Vec<Landed>,
    /// What is wrong with the names in the written text.
    pub validation: Vec<Finding>,
    /// Beside `impact.broken`: what the change brings and takes away.
    pub diagnostics: DiagnosticsDelta,
    /// What it does to the code around it.
    pub impact: Impact,
    /// The commit that holds it, where a commit was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("9d0f1c7be2a44b0f7c3d1e5a6b8c9d0e1f2a3b4c"))]
    pub commit: Option<String>,
    /// Where the reply was cut: with it, the same call brings the rest and changes nothing.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision after it; of a dry run the one that it was tried at.
    pub meta: Meta,
    /// Where the reply was cut.
    #[serde(skip)]
    pub pages: Pages<{ pages::CHANGE }>,
}

/// A file before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChangedFile {
    /// Relative to the workspace root.
    pub file: String,
    /// BLAKE3 of the bytes, in hex; null where the file is gone.
    #[schema(required)]
    pub hash: Option<String>,
    /// Null where there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// There was no file before.
    pub created: bool,
    /// Unified.
    pub diff: String,
    /// What else there is to know: that the file had other names, which keep the old content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub note: Option<String>,
    /// True where the content is an overlay's; the disk has what it had, and there is nothing to undo.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
}

/// Where one edit landed; the place speaks of the text after the change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Landed {
    /// How the place was found.
    pub strategy: Strategy,
    /// 100 is the very text that was searched.
    pub score: f64,
    /// Where the replacement stands now.
    #[serde(flatten)]
    pub place: Place,
}

impl From<semdex_model::Landed> for Landed {
    fn from(landed: semdex_model::Landed) -> Landed {
        Landed { strategy: landed.strategy.into(), score: hundredths(landed.score), place: landed.place.into() }
    }
}

/// Something in the written text that names what does not exist, or does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// Relative to the workspace root.
    pub file: String,
    /// In the text after the change, from 1.
    pub line: usize,
    /// The name that it is about.
    #[schema(examples("auth.SignIn"))]
    pub text: String,
    /// What is wrong with it, in words.
    pub detail: String,
    /// The nearest that there is.
    pub suggestions: Vec<String>,
}

/// The diagnostics that a change brings and takes away.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DiagnosticsDelta {
    /// Those that were not there before the change.
    pub new: Vec<Diagnostic>,
    /// Those that are gone after it, with their places in the text before.
    pub fixed: Vec<Diagnostic>,
}

/// What a change reaches.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Impact {
    /// The symbols whose signature, visibility or existence changed.
    pub changed: Vec<Changed>,
    /// The places that no longer compile.
    pub broken: Vec<Broken>,
    /// The places that still compile but depend on what changed.
    pub affected: Vec<Affected>,
    /// The tests that reach what changed, the nearest first.
    pub tests: Vec<Reaching>,
    /// What nobody looked at.
    pub unchecked: Vec<Unchecked>,
}

impl From<semdex_model::Impact> for Impact {
    fn from(impact: semdex_model::Impact) -> Impact {
        let semdex_model::Impact { changed, broken, affected, tests, unchecked } = impact;
        Impact {
            changed: list(changed),
            broken: list(broken),
            affected: list(affected),
            tests: list(tests),
            unchecked: list(unchecked),
        }
    }
}

/// A test that reaches what changed, by the place in it that leads there.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Reaching {
    /// The place within the test.
    #[serde(flatten)]
    pub at: Affected,
    /// The steps from the test to what changed: 1 where it names that itself. Absent where they were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples(1))]
    pub distance: Option<u32>,
}

impl From<semdex_model::Reaching> for Reaching {
    fn from(test: semdex_model::Reaching) -> Reaching {
        Reaching { at: test.at.into(), distance: test.distance }
    }
}

/// A symbol that changed, and how.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Changed {
    /// Its path; of a renamed one the path before.
    pub symbol: String,
    /// What differs.
    pub kind: ChangeKind,
    /// Its signature. Absent where it did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("fn f(a: u8)"))]
    pub before: Option<String>,
    /// Its signature. Absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("fn f()"))]
    pub after: Option<String>,
}

impl From<semdex_model::Changed> for Changed {
    fn from(changed: semdex_model::Changed) -> Changed {
        let semdex_model::Changed { symbol, kind, before, after } = changed;
        Changed { symbol, kind: kind.into(), before, after }
    }
}

/// A place that depends on what changed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Affected {
    /// The name, or what fails.
    #[serde(flatten)]
    pub place: Place,
    /// The whole line.
    pub text: String,
    /// The path of the symbol in whose text it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// The changed symbol that it depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cause: Option<String>,
    /// It stands in test code.
    pub test: bool,
}

impl From<semdex_model::Affected> for Affected {
    fn from(affected: semdex_model::Affected) -> Affected {
        let semdex_model::Affected { place, text, symbol, cause, test } = affected;
        Affected { place: place.into(), text, symbol, cause, test }
    }
}

/// A place that no longer compiles.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Broken {
    /// Where, and by which changed symbol.
    #[serde(flatten)]
    pub at: Affected,
    /// The compiler's code for the error. Absent where the engine gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("E0061"))]
    pub code: Option<String>,
    /// What is wrong there now.
    #[schema(examples("`f` takes 0 arguments now, 1 given"))]
    pub reason: String,
    /// True where it fails only through another place of the list: a name by an import or a glob that is broken
    /// itself. It has to be edited too.
    #[serde(skip_serializing_if = "is_false")]
    pub follows: bool,
}

impl From<semdex_model::Broken> for Broken {
    fn from(broken: semdex_model::Broken) -> Broken {
        let semdex_model::Broken { at, code, reason, follows } = broken;
        Broken { at: at.into(), code, reason, follows }
    }
}

/// Something that could be broken and that nobody looked at.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Unchecked {
    /// One of `missing`, or an engine's own.
    #[schema(examples("borrow_checker"))]
    pub code: String,
    /// What was not looked at, and why.
    pub detail: String,
}

impl From<semdex_model::Unchecked> for Unchecked {
    fn from(unchecked: semdex_model::Unchecked) -> Unchecked {
        Unchecked { code: unchecked.code, detail: unchecked.detail }
    }
}

/// The text in a file that is most like what was searched.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Nearest {
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// Its similarity to what was searched, in percent.
    pub score: f64,
    /// As it is in the file.
    pub text: String,
    /// Unified, from what was asked to what is there.
    pub diff: String,
}

impl From<semdex_model::Nearest> for Nearest {
    fn from(nearest: semdex_model::Nearest) -> Nearest {
        let semdex_model::Nearest { place, score, text, diff } = nearest;
        Nearest { place: place.into(), score: hundredths(score), text, diff }
    }
}

/// One of several places that an edit fits.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Candidate {
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// Its similarity to what was searched, in percent.
    pub score: f64,
    /// As it is in the file.
    pub text: String,
}

impl From<semdex_model::Candidate> for Candidate {
    fn from(candidate: semdex_model::Candidate) -> Candidate {
        let semdex_model::Candidate { place, score, text } = candidate;
        Candidate { place: place.into(), score: hundredths(score), text }
    }
}

/// Rounded down, so that a score never reads as if it had reached a threshold that it missed. The small addition is
/// for scores like 97.3, which in binary lie a little below themselves.
fn hundredths(score: f64) -> f64 {
    (score * 100.0 + 1e-6).floor() / 100.0
}
