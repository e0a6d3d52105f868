//! What a change breaks in further builds, and what it affects there.

use std::collections::{BTreeMap, BTreeSet};

use super::{FurtherBuild, FurtherBuilds, unread};
use crate::LANGUAGE;
use crate::checker::impact::{by_file, tests_of};
use crate::checker::{self, Answered};
use crate::declaration_changes::{Altered, Declared};
use crate::impact::EditContext;
use crate::layout::Layout;
use crate::session::Session;
use crate::symbol_paths::is_test_file;
use semdex_engine::Deadlines;
use semdex_engine::files::File;
use semdex_model::{Affected, Broken, ChangeImpact, Diagnostic, FileEdit, Severity, Unchecked};

/// A change, and the state of the workspace that it changes.
pub(crate) struct Planned<'a> {
    pub session: &'a Session,
    pub layouts: [&'a Layout; 2],
    pub context: &'a EditContext,
    pub edits: &'a [FileEdit],
    pub generation: u64,
    pub deadlines: Deadlines,
}

/// What a further build says of a change.
pub(crate) struct InBuild {
    number: usize,
    said: Result<Answered, String>,
}

impl InBuild {
    pub(crate) fn name(&self, builds: &FurtherBuilds) -> Option<String> {
        builds.0.get(self.number).map(|it| it.name.clone())
    }
}

impl Planned<'_> {
    /// Asks all further builds; `None` if they are not loaded.
    pub(crate) async fn ask(&self, builds: &FurtherBuilds) -> Option<Vec<InBuild>> {
        if !self.session.has_further(builds) {
            return None;
        }
        let mut answers = Vec::new();
        for (number, build) in builds.0.iter().enumerate() {
            let key = |it: &Declared| {
                let file = self.context.before.get(&it.file).filter(|file| build.takes(file))?;
                Some(format!("{}.{}", self.layouts[0].package_of(&file.path)?, it.path.join(".")))
            };
            let symbols = self.context.altered.iter().map(|it| it.before.as_ref().and_then(key).unwrap_or_default());
            let states = [&*self.context.before, &*self.context.after];
            let deadline = self.deadlines.answer;
            let (session, generation) = (self.session, self.generation);
            let asked = checker::ask_further(
                session,
                (builds, number),
                states,
                self.edits,
                symbols.collect(),
                generation,
                deadline,
            );
            answers.push(InBuild { number, said: asked.await });
        }
        Some(answers)
    }

    /// The new errors in a build.
    pub(crate) fn errors(&self, answer: &InBuild) -> Vec<Diagnostic> {
        let Ok(answered) = &answer.said else { return Vec::new() };
        let [before, after] = self.layouts;
        let old = by_file(before, answered.before.as_deref().unwrap_or_default());
        let new = by_file(after, answered.after.as_deref().unwrap_or_default());
        let mut found = ChangeImpact::nothing();
        let none = Vec::new();
        for (file, new) in &new {
            self.context.difference(file, old.get(file).unwrap_or(&none), new, &mut found);
        }
        found.new.retain(|it| it.severity == Severity::Error);
        found.new.sort();
        found.new
    }

    fn name_at(&self, builds: &FurtherBuilds, answer: &InBuild, file: &File) -> String {
        let build = builds.0.get(answer.number);
        let name = |it: &FurtherBuild| match self.layouts[1].is_active(&file.path) {
            true => it.name.clone(),
            false => it.name_at(&self.session.context(), file),
        };
        build.map(name).unwrap_or_default()
    }

    /// Adds what breaks and what is affected in further builds, and what of them is not known.
    pub(crate) fn add(&self, builds: &FurtherBuilds, answers: Option<&[InBuild]>, change_impact: &mut ChangeImpact) {
        self.note_unread(builds, answers.is_some(), change_impact);
        for answer in answers.into_iter().flatten() {
            let Some(build) = builds.0.get(answer.number) else { continue };
            match &answer.said {
                Ok(answered) => {
                    self.add_broken(builds, answer, change_impact);
                    self.add_affected(builds, answer, answered, change_impact);
                    let known: BTreeSet<Option<String>> =
                        change_impact.impact.tests.iter().map(|it| it.at.symbol.clone()).collect();
                    let mut tests = tests_of(self.context, self.layouts[1], &change_impact.impact.changed, answered);
                    tests.retain(|it| !known.contains(&it.at.symbol));
                    for test in &mut tests {
                        let file = self.context.after.get(&test.at.place.file);
                        test.at.build = file.map(|it| self.name_at(builds, answer, it));
                    }
                    change_impact.impact.tests.extend(tests);
                }
                Err(reason) => {
                    let detail = format!("what breaks in the build {} is not known: {reason}", build.name);
                    change_impact.impact.unchecked.push(Unchecked { code: "cfg_off".to_owned(), detail });
                }
            }
        }
        if answers.is_some() {
            change_impact.coverage.builds.extend(builds.names());
        }
    }

    fn add_broken(&self, builds: &FurtherBuilds, answer: &InBuild, change_impact: &mut ChangeImpact) {
        let impact = &mut change_impact.impact;
        let known: BTreeSet<(String, usize)> =
            impact.broken.iter().map(|it| (it.at.place.file.clone(), it.at.place.line)).collect();
        for found in self.errors(answer) {
            let Some(file) = self.context.after.get(&found.place.file) else { continue };
            if known.contains(&(found.place.file.clone(), found.place.line)) {
                continue;
            }
            let at = Affected {
                build: Some(self.name_at(builds, answer, file)),
                text: file.lines().line_text(&file.text, found.place.line).to_owned(),
                symbol: found.symbol.clone(),
                cause: self.context.named_in(&found, &impact.changed),
                test: is_test_file(&file.path),
                place: found.place,
            };
            impact.broken.push(Broken { at, code: found.code, reason: found.message, follows: false });
        }
    }

    /// The places that name what changes, in files that the default build leaves out.
    fn add_affected(
        &self,
        builds: &FurtherBuilds,
        answer: &InBuild,
        answered: &Answered,
        change_impact: &mut ChangeImpact,
    ) {
        let impact = &mut change_impact.impact;
        let lines = |all: &[&Affected]| -> BTreeSet<(String, usize)> {
            all.iter().map(|it| (it.place.file.clone(), it.place.start)).collect()
        };
        let broken: BTreeSet<(String, usize)> =
            impact.broken.iter().map(|it| (it.at.place.file.clone(), it.at.place.line)).collect();
        let mut known = lines(&impact.affected.iter().collect::<Vec<_>>());
        for (at, spots) in answered.uses.iter().flatten().enumerate() {
            if !self.context.altered.get(at).is_some_and(Altered::is_seen_from_outside) {
                continue;
            }
            for spot in spots.iter().flatten() {
                let Some(file) = self.context.after.get(&spot.file) else { continue };
                let Some(span) = self.context.moved(&spot.file, spot.span()) else { continue };
                let place = file.lines().place(&file.path, span);
                let is_left_out = !self.layouts[1].is_active(&file.path);
                let is_broken = broken.contains(&(place.file.clone(), place.line));
                if !is_left_out || is_broken || !known.insert((place.file.clone(), place.start)) {
                    continue;
                }
                impact.affected.push(Affected {
                    build: Some(self.name_at(builds, answer, file)),
                    text: file.lines().line_text(&file.text, place.line).to_owned(),
                    symbol: self.layouts[1].symbol_around(&file.path, span.start),
                    cause: impact.changed.get(at).map(|it| it.symbol.clone()),
                    test: is_test_file(&file.path),
                    place,
                });
            }
        }
    }

    /// Notes code that names what changes, and that no build compiles or that is not read yet.
    fn note_unread(&self, builds: &FurtherBuilds, is_read: bool, change_impact: &mut ChangeImpact) {
        let outward = self.context.altered.iter().filter(|it| it.is_seen_from_outside());
        let names: BTreeSet<&str> = outward.filter_map(|it| it.before.as_ref()).map(Declared::name).collect();
        let identifiers = &self.session.identifiers;
        let after = self.layouts[1];
        let mut hidden: BTreeMap<&str, ()> = BTreeMap::new();
        for file in self.context.after.of(LANGUAGE).filter(|it| !after.is_active(&it.path)) {
            if !names.iter().any(|name| !identifiers.named(file, name).is_empty()) {
                continue;
            }
            match builds.with(file).next() {
                None => drop(hidden.insert(&file.path, ())),
                Some((_, build)) if !is_read => change_impact.lacks(unread(build, self.session.further.is_given_up())),
                Some(_) => {}
            }
        }
        if !hidden.is_empty() {
            let hidden: Vec<&str> = hidden.into_keys().collect();
            let detail = format!("left out by build constraints, but naming what changes: {}", hidden.join(", "));
            change_impact.impact.unchecked.push(Unchecked { code: "cfg_off".to_owned(), detail });
        }
    }
}
