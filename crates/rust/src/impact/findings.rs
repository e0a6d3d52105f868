//! The errors of a change that its rules have found so far.

use std::collections::HashSet;

use super::broken_imports::Imports;
use crate::finding::code::{Code, Phase};
use crate::finding::{Finding, RuleId};

/// The errors found so far, one for each line: the first one is kept.
pub(crate) struct Findings<'a> {
    lines: HashSet<(String, usize)>,
    pub(crate) new: &'a mut Vec<Finding>,
    /// Errors that follow from another place (`follows`).
    pub(crate) following: Vec<Finding>,
    pub(crate) imports: Imports,
    /// The rule that is being applied.
    pub(crate) rule: RuleId,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(new: &'a mut Vec<Finding>) -> Findings<'a> {
        // An unknown type is dropped in favour of the error that it follows from.
        let is_of_itself = |it: &&Finding| it.is_error() && !it.code.is_of_unknown_type();
        let lines = new.iter().filter(is_of_itself).flat_map(|it| {
            (it.place.line..=it.place.end_line).map(|line| (it.place.file.clone(), line)).collect::<Vec<_>>()
        });
        Findings {
            lines: lines.collect(),
            new,
            following: Vec::new(),
            imports: Imports::default(),
            rule: RuleId::RustAnalyzer,
        }
    }

    pub(crate) fn add(&mut self, found: Finding) {
        let found = Finding { rule: self.rule, ..found };
        if self.lines.insert((found.place.file.clone(), found.place.line)) {
            self.new.push(found);
        } else if !found.crates.list().is_empty()
            && let Some(known) = self.new.iter_mut().find(|it| **it == found)
        {
            known.found_again(&found);
        }
    }

    /// Adds a place that has to be edited too, once another place is fixed.
    pub(crate) fn add_following(&mut self, found: Finding) {
        self.following.push(Finding { rule: self.rule, ..found });
    }

    /// The errors with one code.
    pub(crate) fn of(&self, code: Code) -> Vec<Finding> {
        self.new.iter().filter(|it| it.code == code).cloned().collect()
    }

    pub(crate) fn forget(&mut self, is_none: impl Fn(&Finding) -> bool) {
        self.new.retain(|it| !is_none(it));
        self.lines = Findings::new(self.new).lines;
    }

    pub(crate) fn defer(&mut self, follows: impl FnMut(&mut Finding) -> bool) {
        self.following.extend(self.new.extract_if(.., follows));
        self.lines = Findings::new(self.new).lines;
    }

    /// Defers the unresolved names in some lines: they follow from another error.
    pub(crate) fn defer_names(&mut self, lines: &HashSet<(String, usize)>) {
        let is_name = |it: &Finding| it.code.phase() == Phase::Names && !it.is(Code::E0583);
        self.defer(|it| is_name(it) && lines.contains(&(it.place.file.clone(), it.place.line)));
    }

    /// Reserves a line for a following error, if it has no other one.
    pub(crate) fn claims(&mut self, found: &Finding) -> bool {
        self.lines.insert((found.place.file.clone(), found.place.line))
    }
}
