//! What every change answers with: where it landed, what it brought and what it breaks.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Part, left_out, text_cost};
use super::diagnostics::{Diagnostic, diagnostic_cost};
use super::enums::{ChangeKind, FindingKind, Severity, Strategy};
use super::examples;
use super::pages::{Kept, Pages};
use super::request::Answer;
use super::shared_types::{Meta, Place, is_false, list};
use semdex_model::Result;

/// The parts of an impact: changed, broken, affected, tests, unchecked.
pub(super) const IMPACT_PARTS: usize = 5;
/// The parts of a change: edits, validation, new diagnostics, lines of the diffs, fixed diagnostics; then the impact's.
const CHANGE_PARTS: usize = 5 + IMPACT_PARTS;

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
    pub pages: Pages<CHANGE_PARTS>,
}

impl Kept for ChangeReport {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages::kept(id, self.lengths());
    }

    fn after(mut self, cursor: &str) -> Result<ChangeReport> {
        let lengths = self.lengths();
        let [edits, validation, new, lines, fixed, impact @ ..] = self.pages.resume(cursor, lengths)?;
        self.edits.drain(..edits);
        self.validation.drain(..validation);
        self.diagnostics.new.drain(..new);
        self.diagnostics.fixed.drain(..fixed);
        self.files = stretch(&self.files, lines, usize::MAX);
        self.impact.skip(impact);
        Ok(self)
    }
}

impl ChangeReport {
    fn lengths(&self) -> [usize; CHANGE_PARTS] {
        let DiagnosticsDelta { new, fixed } = &self.diagnostics;
        let lines = self.files.iter().map(lines_of).sum();
        let [changed, broken, affected, tests, unchecked] = self.impact.lengths();
        let (edits, validation) = (self.edits.len(), self.validation.len());
        [edits, validation, new.len(), lines, fixed.len(), changed, broken, affected, tests, unchecked]
    }
}

impl Answer for ChangeReport {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(300);
        let form = budget.form();
        let edits = self.edits.iter().map(|it| it.place.file.len() + form.or(30, 180)).collect();
        let finding = |it: &Finding| {
            let suggestions: usize = it.suggestions.iter().map(|it| text_cost(it) + 4).sum();
            it.file.len() + text_cost(&it.text) + text_cost(&it.detail) + suggestions + form.or(20, 100)
        };
        let validation = self.validation.iter().map(finding).collect();
        let new = self.diagnostics.new.iter().map(|it| diagnostic_cost(it, form)).collect();
        let fixed = self.diagnostics.fixed.iter().map(|it| diagnostic_cost(it, form)).collect();
        let lines = self.files.iter().flat_map(|it| line_costs(it, form)).collect();
        let impact = self.impact.costs(form);
        let [edits_part, validation_part, new_part, lines_part, fixed_part, impact_parts @ ..] = &mut self.pages.parts;
        let [changed_part, broken_part, affected_part, tests_part, unchecked_part] = impact_parts;
        let [changed, broken, affected, tests, unchecked] = impact;
        budget.share(&mut [
            (edits_part, edits, 30),
            (validation_part, validation, 40),
            (changed_part, changed, 40),
            (broken_part, broken, 60),
            (new_part, new, 50),
            (lines_part, lines, 60),
            (tests_part, tests, 50),
            (affected_part, affected, 60),
            (unchecked_part, unchecked, 60),
            (fixed_part, fixed, 100),
        ]);
        let [edits, validation, new, lines, fixed, impact @ ..] = self.pages.parts.map(|it| it.count);
        self.edits.truncate(edits);
        self.validation.truncate(validation);
        self.diagnostics.new.truncate(new);
        self.diagnostics.fixed.truncate(fixed);
        self.files = stretch(&self.files, 0, lines);
        self.impact.truncate(impact);
        self.next_cursor = self.pages.next_cursor();
        let [edits, validation, new, lines, fixed, impact @ ..] = self.pages.parts;
        let own = [
            ("edits", edits),
            ("findings", validation),
            ("new diagnostics", new),
            ("lines of the diffs", lines),
            ("fixed diagnostics", fixed),
        ];
        Some(left_out(&[&own[..], &named_parts(impact)[..]].concat()))
    }
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

impl Impact {
    pub(super) fn lengths(&self) -> [usize; IMPACT_PARTS] {
        let Impact { changed, broken, affected, tests, unchecked } = self;
        [changed.len(), broken.len(), affected.len(), tests.len(), unchecked.len()]
    }

    pub(super) fn skip(&mut self, [changed, broken, affected, tests, unchecked]: [usize; IMPACT_PARTS]) {
        self.changed.drain(..changed);
        self.broken.drain(..broken);
        self.affected.drain(..affected);
        self.tests.drain(..tests);
        self.unchecked.drain(..unchecked);
    }

    pub(super) fn truncate(&mut self, [changed, broken, affected, tests, unchecked]: [usize; IMPACT_PARTS]) {
        self.changed.truncate(changed);
        self.broken.truncate(broken);
        self.affected.truncate(affected);
        self.tests.truncate(tests);
        self.unchecked.truncate(unchecked);
    }

    /// What each broken place takes, with its part of the places that are only affected.
    pub(super) fn broken_costs(&self, form: Form) -> Vec<usize> {
        let [_, broken, affected, tests, _] = self.costs(form);
        let longest = broken.len().max(affected.len()).max(tests.len());
        let at = |costs: &[usize], at: usize| costs.get(at).copied().unwrap_or_default();
        (0..longest).map(|it| at(&broken, it) + at(&affected, it) + at(&tests, it)).collect()
    }

    pub(super) fn costs(&self, form: Form) -> [Vec<usize>; IMPACT_PARTS] {
        let text = |it: &Option<String>| it.as_deref().map_or(0, text_cost);
        // In Markdown a place is a number on the line of its file.
        let place = |it: &Affected| match form {
            Form::Markdown => 7,
            Form::Json => it.place.file.len() + text_cost(&it.text) + text(&it.symbol) + text(&it.cause) + 180,
        };
        let broken = |it: &Broken| match form {
            Form::Markdown => 9,
            Form::Json => place(&it.at) + text_cost(&it.reason) + 40,
        };
        [
            self.changed
                .iter()
                .map(|it| it.symbol.len() + text(&it.before) + text(&it.after) + form.or(30, 80))
                .collect(),
            self.broken.iter().map(broken).collect(),
            self.affected.iter().map(place).collect(),
            self.tests.iter().map(|it| place(&it.at) + form.or(40, 20)).collect(),
            self.unchecked.iter().map(|it| it.code.len() + text_cost(&it.detail) + form.or(10, 30)).collect(),
        ]
    }
}

pub(super) fn named_parts(parts: [Part; IMPACT_PARTS]) -> [(&'static str, Part); IMPACT_PARTS] {
    let [changed, broken, affected, tests, unchecked] = parts;
    [
        ("changed symbols", changed),
        ("broken places", broken),
        ("affected places", affected),
        ("tests", tests),
        ("things not checked", unchecked),
    ]
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

/// A file that has nothing to show counts as a line: that it changed is told too.
fn lines_of(file: &ChangedFile) -> usize {
    file.diff.split_inclusive('\n').count().max(1)
}

/// The first line of a file takes what is said of the file.
fn line_costs(file: &ChangedFile, form: Form) -> Vec<usize> {
    let head = 2 * file.file.len() + file.note.as_deref().map_or(0, text_cost) + form.or(100, 260);
    let mut costs: Vec<usize> = file.diff.split_inclusive('\n').map(text_cost).collect();
    match costs.first_mut() {
        Some(first) => *first += head,
        None => costs.push(head),
    }
    costs
}

/// The files that a stretch of the lines of all diffs is of, each with its own part of it.
fn stretch(files: &[ChangedFile], from: usize, count: usize) -> Vec<ChangedFile> {
    let (mut skip, mut left) = (from, count);
    let mut given = Vec::new();
    for file in files {
        let lines = lines_of(file);
        if skip >= lines {
            skip -= lines;
            continue;
        }
        let here = (lines - skip).min(left);
        if here == 0 {
            break;
        }
        let diff = file.diff.split_inclusive('\n').skip(skip).take(here).collect();
        given.push(ChangedFile { diff, ..file.clone() });
        (skip, left) = (0, left - here);
    }
    given
}

/// Rounded down, so that a score never reads as if it had reached a threshold that it missed. The small addition is
/// for scores like 97.3, which in binary lie a little below themselves.
fn hundredths(score: f64) -> f64 {
    (score * 100.0 + 1e-6).floor() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, diff: &str) -> ChangedFile {
        ChangedFile {
            file: name.to_owned(),
            hash: None,
            old_hash: None,
            created: false,
            diff: diff.to_owned(),
            note: None,
            overlay: false,
        }
    }

    #[test]
    fn stretches_of_diffs_put_together_are_the_whole() {
        let files = [file("a", "1\n2\n3\n"), file("b", ""), file("c", "4\n5")];
        let text_of =
            |files: &[ChangedFile]| files.iter().map(|it| format!("{}:{};", it.file, it.diff)).collect::<String>();
        assert_eq!(text_of(&stretch(&files, 0, 6)), text_of(&files));
        assert_eq!(text_of(&stretch(&files, 1, 2)), "a:2\n3\n;");
        assert_eq!(text_of(&stretch(&files, 2, 3)), "a:3\n;b:;c:4\n;");
        assert_eq!(text_of(&stretch(&files, 5, 9)), "c:5;");
        assert!(stretch(&files, 6, 9).is_empty());
    }
}
