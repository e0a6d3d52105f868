//! Replies about changes in pages. A change cannot be made again to read on, so its reply is kept for a while, under
//! a name that its cursors carry; `ops` keeps it.

use super::budget::{Budget, Form, Part, foreign_cursor, left_out, next_cursor, positions, text_cost};
use super::change::{Affected, Broken, ChangeReport, ChangedFile, Diagnostic, DiagnosticsDelta, Fix, Impact};
use super::git::CommitReply;
use super::impact::ImpactReport;
use super::request::Answer;
use super::shapes::Meta;
use semdex_model::Result;

/// The parts of an impact: changed, broken, affected, tests, unchecked.
pub(crate) const IMPACT: usize = 5;
/// The parts of a change: edits, validation, new diagnostics, lines of the diffs, fixed diagnostics; then the impact's.
pub(crate) const CHANGE: usize = 5 + IMPACT;

/// The parts of a commit: its files, and those of the commit before it.
pub(crate) const COMMIT: usize = 2;

/// Which stretches of a reply's lists are given, and the name that the whole is kept under.
#[derive(Debug, Clone, PartialEq)]
pub struct Pages<const N: usize> {
    id: Option<String>,
    pub(super) parts: [Part; N],
}

impl<const N: usize> Pages<N> {
    /// All of lists of these lengths, kept under a name.
    pub(super) fn kept(id: &str, lengths: [usize; N]) -> Pages<N> {
        Pages { id: Some(id.to_owned()), parts: lengths.map(|it| Part::after(0, it)) }
    }

    /// The rest of lists of these lengths, from where a cursor says.
    pub(super) fn resume(&mut self, cursor: &str, lengths: [usize; N]) -> Result<[usize; N]> {
        let from = positions_in::<N>(cursor)?;
        self.parts = std::array::from_fn(|at| Part::after(from[at], lengths[at]));
        Ok(self.parts.map(|it| it.from))
    }

    pub(super) fn next_cursor(&self) -> Option<String> {
        let cursor = next_cursor(&self.parts)?;
        Some(format!("{cursor}{NAMED}{}", self.id.as_deref()?))
    }
}

impl<const N: usize> Default for Pages<N> {
    fn default() -> Self {
        Pages { id: None, parts: [Part::default(); N] }
    }
}

/// What stands between the positions of a cursor and the name of the reply that it continues.
const NAMED: char = '@';

/// The name of the kept reply that a cursor continues.
pub fn kept_under(cursor: &str) -> Result<&str> {
    cursor.split_once(NAMED).map(|it| it.1).ok_or_else(|| foreign_cursor(cursor))
}

fn positions_in<const N: usize>(cursor: &str) -> Result<[usize; N]> {
    positions(cursor.split(NAMED).next()).map_err(|_| foreign_cursor(cursor))
}

/// A reply that is kept to be continued.
pub trait Kept: Sized {
    /// Sets the name under which the whole reply is kept; its cursors carry it.
    fn keep_under(&mut self, id: &str);

    /// The rest of it, from where a cursor says.
    fn after(self, cursor: &str) -> Result<Self>;
}

impl Kept for ChangeReport {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages { id: Some(id.to_owned()), parts: self.lengths().map(|it| Part::after(0, it)) };
    }

    fn after(mut self, cursor: &str) -> Result<ChangeReport> {
        let (from, totals) = (positions_in::<CHANGE>(cursor)?, self.lengths());
        self.pages.parts = std::array::from_fn(|at| Part::after(from[at], totals[at]));
        let [edits, validation, new, lines, fixed, impact @ ..] = self.pages.parts.map(|it| it.from);
        self.edits.drain(..edits);
        self.validation.drain(..validation);
        self.diagnostics.new.drain(..new);
        self.diagnostics.fixed.drain(..fixed);
        self.files = stretch(&self.files, lines, usize::MAX);
        self.impact.skip(impact);
        Ok(self)
    }
}

impl Kept for ImpactReport {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages { id: Some(id.to_owned()), parts: self.impact.lengths().map(|it| Part::after(0, it)) };
    }

    fn after(mut self, cursor: &str) -> Result<ImpactReport> {
        let (from, totals) = (positions_in::<IMPACT>(cursor)?, self.impact.lengths());
        self.pages.parts = std::array::from_fn(|at| Part::after(from[at], totals[at]));
        self.impact.skip(self.pages.parts.map(|it| it.from));
        Ok(self)
    }
}

impl Kept for CommitReply {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages { id: Some(id.to_owned()), parts: self.lengths().map(|it| Part::after(0, it)) };
    }

    fn after(mut self, cursor: &str) -> Result<CommitReply> {
        let (from, totals) = (positions_in::<COMMIT>(cursor)?, self.lengths());
        self.pages.parts = std::array::from_fn(|at| Part::after(from[at], totals[at]));
        let [files, before] = self.pages.parts.map(|it| it.from);
        self.files.drain(..files);
        self.before.iter_mut().for_each(|it| drop(it.files.drain(..before)));
        Ok(self)
    }
}

impl CommitReply {
    fn lengths(&self) -> [usize; COMMIT] {
        [self.files.len(), self.before.as_ref().map_or(0, |it| it.files.len())]
    }
}

impl Answer for CommitReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(300 + text_cost(&self.message));
        let costs = |files: &[String]| files.iter().map(|it| text_cost(it) + 6).collect::<Vec<_>>();
        let before = self.before.as_ref().map(|it| costs(&it.files)).unwrap_or_default();
        let [files_part, before_part] = &mut self.pages.parts;
        budget.share(&mut [(files_part, costs(&self.files), 70), (before_part, before, 100)]);
        let [files, before] = self.pages.parts.map(|it| it.count);
        self.files.truncate(files);
        self.before.iter_mut().for_each(|it| it.files.truncate(before));
        self.next_cursor = self.pages.next_cursor();
        let [files, before] = self.pages.parts;
        Some(left_out(&[("files", files), ("files of the commit before", before)]))
    }
}

impl ChangeReport {
    fn lengths(&self) -> [usize; CHANGE] {
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
        let finding = |it: &super::change::Finding| {
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
        Some(left_out(&[&own[..], &named(impact)[..]].concat()))
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
        Some(left_out(&named(self.pages.parts)))
    }
}

fn named(parts: [Part; IMPACT]) -> [(&'static str, Part); IMPACT] {
    let [changed, broken, affected, tests, unchecked] = parts;
    [
        ("changed symbols", changed),
        ("broken places", broken),
        ("affected places", affected),
        ("tests", tests),
        ("things not checked", unchecked),
    ]
}

impl Impact {
    fn lengths(&self) -> [usize; IMPACT] {
        let Impact { changed, broken, affected, tests, unchecked } = self;
        [changed.len(), broken.len(), affected.len(), tests.len(), unchecked.len()]
    }

    fn skip(&mut self, [changed, broken, affected, tests, unchecked]: [usize; IMPACT]) {
        self.changed.drain(..changed);
        self.broken.drain(..broken);
        self.affected.drain(..affected);
        self.tests.drain(..tests);
        self.unchecked.drain(..unchecked);
    }

    fn truncate(&mut self, [changed, broken, affected, tests, unchecked]: [usize; IMPACT]) {
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

    fn costs(&self, form: Form) -> [Vec<usize>; IMPACT] {
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

pub(super) fn diagnostic_cost(it: &Diagnostic, form: Form) -> usize {
    let symbol = it.symbol.as_deref().map_or(0, text_cost);
    let of_fix = |it: &Fix| {
        let files: usize = it.files.iter().flatten().map(String::len).sum();
        it.id.len() + it.title.len() + files + form.or(14, 30)
    };
    let fixes: usize = it.fixes.iter().map(of_fix).sum();
    it.place.file.len() + text_cost(&it.message) + it.source.len() + symbol + fixes + form.or(40, 180)
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

    #[test]
    fn a_cursor_names_the_reply_that_it_continues() {
        let pages = Pages { id: Some("01X".to_owned()), parts: [Part { from: 1, count: 2, total: 9 }] };
        let cursor = pages.next_cursor().unwrap();
        assert_eq!(cursor, "c1-3@01X");
        assert_eq!(kept_under(&cursor).unwrap(), "01X");
        assert_eq!(positions_in::<1>(&cursor).unwrap(), [3]);
        assert!(kept_under("c1-3").is_err() && positions_in::<2>(&cursor).is_err());
    }
}
