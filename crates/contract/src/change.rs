//! The reply of every change: where the edits landed, which diagnostics appeared, and what the change breaks.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, Part, left_out, text_cost, usage_cost};
use super::diagnostics::{Diagnostic, diagnostic_cost};
use super::enums::{ChangeKind, FindingKind, Severity, Strategy};
use super::examples;
use super::pages::{Headed as _, Kept, Pages};
use super::request::Answer;
use super::shared_types::{Meta, Place, Usage, is_false, list};
use semdex_model::Result;

/// How many of the tests that reach a change Markdown names.
pub(crate) const NAMED_TESTS: usize = 20;
/// The parts of an impact: changed, broken, affected, tests, unchecked.
pub(super) const IMPACT_PARTS: usize = 5;
/// The parts of a change: possible usages, edits, validation, new diagnostics, lines of the diffs, fixed diagnostics; then
/// the impact's.
const CHANGE_PARTS: usize = 6 + IMPACT_PARTS;

/// The result of a change or of a dry run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::change))]
pub struct ChangeReport {
    /// The token for `undo`. Null in a dry run and if nothing changed.
    #[schema(required)]
    pub change: Option<String>,
    /// Whether the change was written to disk.
    pub applied: bool,
    /// The changed files.
    pub files: Vec<ChangedFile>,
    /// For a rename with `possible: "leave"`: the places that may name the symbol and were left as they are. Absent if
    /// there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub possible: Vec<Usage>,
    /// Where each edit landed, in the order of the request.
    pub edits: Vec<Landed>,
    /// Errors in the written text itself: syntax, unresolved names, unused imports.
    pub validation: Vec<Finding>,
    /// The diagnostics that appear or disappear with the change, except those in `impact.broken`.
    pub diagnostics: DiagnosticsDelta,
    /// The effect of the change on other code.
    pub impact: Impact,
    /// The new commit, if a commit was undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("9d0f1c7be2a44b0f7c3d1e5a6b8c9d0e1f2a3b4c"))]
    pub commit: Option<String>,
    /// The cursor for the rest of a shortened reply. The same call with it returns the rest and changes nothing.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision after the change; for a dry run, the revision that it was computed for.
    pub meta: Meta,
    /// The ranges of the lists that are in the page.
    #[serde(skip)]
    pub pages: Pages<CHANGE_PARTS>,
}

impl Kept for ChangeReport {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages::kept(id, self.lengths()).headed(self.heading());
    }

    fn after(mut self, cursor: &str) -> Result<ChangeReport> {
        let lengths = self.lengths();
        let [possible, edits, validation, new, lines, fixed, impact @ ..] = self.pages.resume(cursor, lengths)?;
        self.possible.drain(..possible);
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
    /// The parts of the impact that are in the page.
    pub(super) fn impact_parts(&self) -> [Part; IMPACT_PARTS] {
        let [_, _, _, _, _, _, impact @ ..] = self.pages.parts;
        impact
    }

    fn lengths(&self) -> [usize; CHANGE_PARTS] {
        let DiagnosticsDelta { new, fixed } = &self.diagnostics;
        let lines = self.files.iter().map(lines_of).sum();
        let [changed, broken, affected, tests, unchecked] = self.impact.lengths();
        let (possible, edits, validation) = (self.possible.len(), self.edits.len(), self.validation.len());
        [possible, edits, validation, new.len(), lines, fixed.len(), changed, broken, affected, tests, unchecked]
    }
}

impl Answer for ChangeReport {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(300);
        let form = budget.form();
        let possible = self.possible.iter().map(|it| usage_cost(it, form)).collect();
        let edit = |it: &Landed| (it.place.file.len() + form.or(30, 180)) * (1 + it.kept.len());
        let edits = self.edits.iter().map(edit).collect();
        let finding = |it: &Finding| {
            let suggestions: usize = it.suggestions.iter().map(|it| text_cost(it) + 4).sum();
            it.file.len() + text_cost(&it.text) + text_cost(&it.detail) + suggestions + form.or(20, 100)
        };
        let validation = self.validation.iter().map(finding).collect();
        let new = self.diagnostics.new.iter().map(|it| diagnostic_cost(it, form)).collect();
        let fixed = self.diagnostics.fixed.iter().map(|it| diagnostic_cost(it, form)).collect();
        let lines = self.files.iter().flat_map(|it| line_costs(it, form)).collect();
        let impact = self.impact.costs(form);
        let [possible_part, edits_part, validation_part, new_part, lines_part, fixed_part, impact_parts @ ..] =
            &mut self.pages.parts;
        let [changed_part, broken_part, affected_part, tests_part, unchecked_part] = impact_parts;
        let [changed, broken, affected, tests, unchecked] = impact;
        budget.share(&mut [
            (possible_part, possible, 40),
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
        let [possible, edits, validation, new, lines, fixed, impact @ ..] = self.pages.parts.map(|it| it.count);
        self.possible.truncate(possible);
        self.edits.truncate(edits);
        self.validation.truncate(validation);
        self.diagnostics.new.truncate(new);
        self.diagnostics.fixed.truncate(fixed);
        self.files = stretch(&self.files, 0, lines);
        self.impact.truncate(impact);
        self.next_cursor = self.pages.next_cursor();
        let [possible, edits, validation, new, lines, fixed, impact @ ..] = self.pages.parts;
        let own = [
            ("possible usages", possible),
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
    /// BLAKE3 of the new bytes, in hex. Null if the file was deleted.
    #[schema(required)]
    pub hash: Option<String>,
    /// BLAKE3 of the old bytes, in hex. Null if the file is new.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// Whether the file is new.
    pub created: bool,
    /// True if the file was deleted or moved away.
    #[serde(skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// The old name of a moved file. The diff is from its old content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("src/old_name.rs"))]
    pub moved_from: Option<String>,
    /// The unified diff. Empty for the old name of a moved file.
    pub diff: String,
    /// Additional information, for example that other links to the file keep the old content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub note: Option<String>,
    /// True if the change is in an overlay. The file on disk is unchanged, and there is nothing to undo.
    #[serde(skip_serializing_if = "is_false")]
    pub overlay: bool,
}

/// Where one edit landed. The place refers to the text after the change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Landed {
    /// How the place was found.
    pub strategy: Strategy,
    /// The similarity in percent. 100 is an exact match.
    pub score: f64,
    /// The place of the replacement.
    #[serde(flatten)]
    pub place: Place,
    /// True if the edit was merged with changes that others made since its author read the file.
    #[serde(skip_serializing_if = "is_false")]
    pub merged: bool,
    /// With `merged`: the places of those changes, in the text after the edit. A place of length 0 is where text was
    /// removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Place>,
}

impl From<semdex_model::Landed> for Landed {
    fn from(landed: semdex_model::Landed) -> Landed {
        let semdex_model::Landed { strategy, score, place, merged, kept } = landed;
        let kept = kept.into_iter().map(Place::from).collect();
        Landed { strategy: strategy.into(), score: hundredths(score), place: place.into(), merged, kept }
    }
}

/// An error in the written text: a syntax error, an unresolved name, or an unused import.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Finding {
    /// The kind of error.
    pub kind: FindingKind,
    /// Relative to the workspace root.
    pub file: String,
    /// Line in the text after the change, from 1.
    pub line: usize,
    /// The name that the finding is about.
    #[schema(examples("auth.SignIn"))]
    pub text: String,
    /// The error message.
    pub detail: String,
    /// The most similar existing names.
    pub suggestions: Vec<String>,
}

/// The diagnostics that appear or disappear with a change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DiagnosticsDelta {
    /// Diagnostics that did not exist before the change.
    pub new: Vec<Diagnostic>,
    /// Diagnostics that no longer exist, with their places in the text before the change.
    pub fixed: Vec<Diagnostic>,
}

/// The effect of a change on other code.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Impact {
    /// The symbols that were added, removed or renamed, or whose signature or visibility changed.
    pub changed: Vec<Changed>,
    /// Places that no longer compile.
    pub broken: Vec<Broken>,
    /// Places that still compile but depend on what changed.
    pub affected: Vec<Affected>,
    /// The tests that reach what changed, the closest first.
    pub tests: Vec<Reaching>,
    /// What the engines did not check.
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

    /// The cost of each broken place, together with one affected place and one test.
    pub(super) fn broken_costs(&self, form: Form) -> Vec<usize> {
        let [_, broken, affected, tests, _] = self.costs(form);
        let longest = broken.len().max(affected.len()).max(tests.len());
        let at = |costs: &[usize], at: usize| costs.get(at).copied().unwrap_or_default();
        (0..longest).map(|it| at(&broken, it) + at(&affected, it) + at(&tests, it)).collect()
    }

    pub(super) fn costs(&self, form: Form) -> [Vec<usize>; IMPACT_PARTS] {
        let text = |it: &Option<String>| it.as_deref().map_or(0, text_cost);
        // In Markdown a place is a line number after the name of its file.
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
            self.tests.iter().zip(0..).map(|(it, at)| test_cost(place(&it.at), at, form)).collect(),
            self.unchecked.iter().map(|it| it.code.len() + text_cost(&it.detail) + form.or(10, 30)).collect(),
        ]
    }
}

/// Markdown names the first tests only.
fn test_cost(place: usize, at: usize, form: Form) -> usize {
    match form {
        Form::Markdown if at >= NAMED_TESTS => 0,
        form => place + form.or(40, 20),
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

/// A test that reaches what changed, and the place in the test that does.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Reaching {
    /// The place in the test.
    #[serde(flatten)]
    pub at: Affected,
    /// The number of steps from the test to what changed. 1 if the test names it directly. Absent if unknown.
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
    /// Its path. For a renamed symbol, the old path.
    pub symbol: String,
    /// What changed.
    pub kind: ChangeKind,
    /// The old signature. Absent if the symbol is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("fn f(a: u8)"))]
    pub before: Option<String>,
    /// The new signature. Absent if the symbol was removed.
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
    /// The name, or the code that fails.
    #[serde(flatten)]
    pub place: Place,
    /// The text of the whole line.
    pub text: String,
    /// The path of the enclosing symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
    /// The changed symbol that it depends on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cause: Option<String>,
    /// For code that the default build does not compile: what differs in the build that does. `doctest` for a doctest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("feature=parallel"))]
    pub build: Option<String>,
    /// Whether it is in test code.
    pub test: bool,
}

impl From<semdex_model::Affected> for Affected {
    fn from(affected: semdex_model::Affected) -> Affected {
        let semdex_model::Affected { place, text, symbol, cause, test, build } = affected;
        Affected { place: place.into(), text, symbol, cause, build, test }
    }
}

/// A place that no longer compiles.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Broken {
    /// The place, and the changed symbol that causes the error.
    #[serde(flatten)]
    pub at: Affected,
    /// The error code of the compiler. Absent if the engine gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("E0061"))]
    pub code: Option<String>,
    /// Why it no longer compiles.
    #[schema(examples("`f` takes 0 arguments now, 1 given"))]
    pub reason: String,
    /// True if it fails only because of another place in the list, for example a name from an import that is itself
    /// broken. It must be edited too.
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
    /// A place that a change breaks, as a diagnostic.
    pub fn of_broken(broken: &Broken, source: &str) -> Diagnostic {
        Diagnostic {
            place: broken.at.place.clone(),
            severity: Severity::Error,
            code: broken.code.clone(),
            message: broken.reason.clone(),
            source: source.to_owned(),
            symbol: broken.at.symbol.clone(),
            confirmed: None,
            build: broken.at.build.clone(),
            fixes: Vec::new(),
        }
    }
}

/// Something that may be broken and that the engines did not check.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Unchecked {
    /// One of the codes of `missing`, or a code of an engine.
    #[schema(examples("borrow_checker"))]
    pub code: String,
    /// What was not checked, and why.
    pub detail: String,
}

impl From<semdex_model::Unchecked> for Unchecked {
    fn from(unchecked: semdex_model::Unchecked) -> Unchecked {
        Unchecked { code: unchecked.code, detail: unchecked.detail }
    }
}

/// The text of a file that is most similar to the search text.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Nearest {
    /// Its place.
    #[serde(flatten)]
    pub place: Place,
    /// Its similarity to the searched text, in percent.
    pub score: f64,
    /// The text in the file.
    pub text: String,
    /// The unified diff from the searched text to the text in the file.
    pub diff: String,
}

impl From<semdex_model::Nearest> for Nearest {
    fn from(nearest: semdex_model::Nearest) -> Nearest {
        let semdex_model::Nearest { place, score, text, diff } = nearest;
        Nearest { place: place.into(), score: hundredths(score), text, diff }
    }
}

/// One of several places that match an edit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Candidate {
    /// Its place.
    #[serde(flatten)]
    pub place: Place,
    /// Its similarity to the searched text, in percent.
    pub score: f64,
    /// The text in the file.
    pub text: String,
}

impl From<semdex_model::Candidate> for Candidate {
    fn from(candidate: semdex_model::Candidate) -> Candidate {
        let semdex_model::Candidate { place, score, text } = candidate;
        Candidate { place: place.into(), score: hundredths(score), text }
    }
}

/// A file with an empty diff counts as one line, because the reply still lists it.
fn lines_of(file: &ChangedFile) -> usize {
    file.diff.split_inclusive('\n').count().max(1)
}

/// The cost of the first line of a file includes all fields of the file.
fn line_costs(file: &ChangedFile, form: Form) -> Vec<usize> {
    let head = 2 * file.file.len() + file.note.as_deref().map_or(0, text_cost) + form.or(100, 260);
    let mut costs: Vec<usize> = file.diff.split_inclusive('\n').map(text_cost).collect();
    match costs.first_mut() {
        Some(first) => *first += head,
        None => costs.push(head),
    }
    costs
}

/// The files in a range of the lines of all diffs, each with its part of the range.
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

/// Rounds down, so that a score below a threshold never appears to reach it. The small addition is for scores like
/// 97.3, whose binary value is slightly too small.
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
            deleted: false,
            moved_from: None,
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
