//! What a change breaks in doctests. Those that name what changes, and those that the change edits, are checked before
//! and after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ra_ap_ide_db::defs::Definition;

use super::affected::AffectedSet;
use super::edit_context::EditContext;
use crate::LANGUAGE;
use crate::checks::errors;
use crate::checks::excluded::Excluded;
use crate::checks::unresolved_paths::unresolved_paths_within;
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::names::builds::DOCTEST;
use crate::resolve::at;
use crate::syntax::doctests::Doctest;
use crate::view::doctest_files::DoctestFile;
use crate::view::parts::check_all;
use crate::view::{Context, View};
use semdex_engine::{RenamedNames, Result};
use semdex_model::{Missing, MissingCode, Span};

/// The time limit for checking doctests before a change, and again after it.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The doctests of each file, by the names of their functions.
pub(crate) type DoctestNames = BTreeMap<Arc<str>, BTreeSet<String>>;

/// The doctests that a change may break, and the errors in them on both sides of it.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    at_stake: DoctestNames,
    earlier: Vec<Finding>,
    later: Vec<Finding>,
    /// How many were not checked.
    left: usize,
}

/// The doctests that a change may break. `changed`: those that it adds or removes.
pub(crate) fn at_stake(cx: &Context<'_>, affected: &AffectedSet<'_>, mut changed: DoctestNames) -> DoctestNames {
    for it in affected.changed_symbols.iter().flat_map(|it| &it.further).filter(|it| it.build == DOCTEST) {
        for of in cx.environment.doctests.of_file(it.at.id) {
            let test = of.test_around(it.at.at.start);
            let named = test.map(|it| of.doctests.name_of(&it).to_owned());
            changed.entry(of.name.clone()).or_default().extend(named);
        }
    }
    changed
}

impl Compared {
    /// Checks them in the state before.
    pub(crate) fn before(at_stake: DoctestNames, view: impl Fn() -> View) -> Result<Compared> {
        let (earlier, left) = errors_of(&at_stake, view, |_, _| false)?;
        Ok(Compared { at_stake, earlier, later: Vec::new(), left })
    }

    /// Checks them in the state after.
    pub(crate) fn check_after(&mut self, edit: &EditContext, view: impl Fn() -> View) -> Result<()> {
        let (later, left) = errors_of(&self.at_stake, view, |file, at| {
            let index = edit.news.iter().position(|it| it.path == *file);
            index.is_some_and(|index| edit.is_switched_on(index, Span::new(at, at)))
        })?;
        (self.later, self.left) = (later, left.max(self.left));
        Ok(())
    }

    /// The errors after the change that were not there before.
    pub(crate) fn new_errors(&self, edit: &EditContext, names: &RenamedNames) -> Vec<Finding> {
        // An error is the same if it is at the same place, or says the same in a doctest that was edited.
        let mut known: Vec<(Option<usize>, &Finding)> =
            self.earlier.iter().map(|it| (edit.moved(&it.place.file, it.place.start), it)).collect();
        let said = |it: &Finding| names.written_in(&it.message).into_owned();
        let mut new = Vec::new();
        for it in &self.later {
            let is_like = |other: &Finding| other.place.file == it.place.file && other.code == it.code;
            let at_place = known.iter().position(|(at, other)| is_like(other) && *at == Some(it.place.start));
            let by_message = || known.iter().position(|(_, other)| is_like(other) && said(other) == said(it));
            match at_place.or_else(by_message) {
                Some(same) => drop(known.swap_remove(same)),
                None => new.push(it.clone()),
            }
        }
        new
    }

    /// What could not be checked.
    pub(crate) fn missing(&self) -> Option<Missing> {
        let left = self.left;
        (left > 0).then(|| {
            let detail = format!("{left} doctests name what changed and were not checked: there was no time");
            Missing::new(MissingCode::TooMany, LANGUAGE.name, detail)
        })
    }
}

/// The errors in these doctests, and in those whose file and start are `also` such, and how many were not checked.
fn errors_of(
    names: &DoctestNames,
    view: impl Fn() -> View,
    also: impl Fn(&Arc<str>, usize) -> bool,
) -> Result<(Vec<Finding>, usize)> {
    let tests = view().ask(|it| Ok(compiled_tests(it, names, also)))?;
    let checked = check_all(&tests, MOST_TIME, view, |cx, (of, test)| {
        let paths = unresolved_paths_within(cx, &of.text, of.module, test.span);
        let mut errors: Vec<Finding> =
            errors_in(cx, of, test).into_iter().chain(paths).filter(Finding::is_error).collect();
        errors.sort();
        // A name is reported once.
        errors.dedup_by(|a, b| a.place == b.place);
        errors.into_iter().filter_map(|it| located(cx, of, it)).collect()
    })?;
    let left = tests.len() - checked.checked;
    Ok((checked.all(), left))
}

/// The doctests that rustdoc compiles, of those of which the errors are asked for.
fn compiled_tests(
    cx: &Context<'_>,
    names: &DoctestNames,
    also: impl Fn(&Arc<str>, usize) -> bool,
) -> Vec<(Arc<DoctestFile>, Doctest)> {
    let mut found = Vec::new();
    for of in cx.doctests() {
        let named = names.get(&of.name);
        let is_asked = |test: &Doctest, at: usize| {
            named.is_some_and(|it| it.contains(of.doctests.name_of(test))) || also(&of.name, at)
        };
        let tests = of.doctests.tests.iter().filter(|it| !it.must_fail);
        let asked = tests.filter_map(|test| Some((test, of.doctests.start_of(test)?)));
        let asked: Vec<(&Doctest, usize)> = asked.filter(|(test, at)| is_asked(test, *at)).collect();
        if asked.is_empty() {
            continue;
        }
        // rustdoc reads no docs of what a condition leaves out.
        let library = cx.sema.file_to_module_def(of.module).map(|it| it.krate(cx.db).into());
        let is_code = cx.file_id(&of.name).filter(|it| cx.sema.file_to_module_def(*it).is_some());
        let excluded = is_code.zip(library).map(|(id, library)| Excluded::from_crates(cx, id, &[library]));
        let compiled = asked.into_iter().filter(|it| excluded.as_ref().is_none_or(|excluded| !excluded.has(it.1)));
        found.extend(compiled.map(|it| (of.clone(), *it.0)));
    }
    found
}

fn errors_in(cx: &Context<'_>, of: &DoctestFile, test: &Doctest) -> Vec<Finding> {
    let outline = of.text.outline();
    let Some(function) = outline.items.iter().find(|it| it.span.start == test.span.start) else { return Vec::new() };
    let Some(Definition::Function(body)) = at::definition_at(&cx.sema, of.module, function.name_span.start) else {
        return Vec::new();
    };
    let errors = errors::errors_in(cx, body.into(), true);
    // What is not known of a type follows from other errors.
    let follows = |it: &Finding| matches!(it.code, Code::E0277 | Code::E0282 | Code::E0283 | Code::E0369);
    let is_alone = errors.iter().all(|it| follows(it) || !it.is_error());
    errors.into_iter().filter(|it| is_alone || !follows(it)).collect()
}

/// An error in a module at the place that it comes from. `None` for what rustdoc adds.
fn located(cx: &Context<'_>, of: &DoctestFile, mut error: Finding) -> Option<Finding> {
    let place = of.place(Span::new(error.place.start, error.place.end))?;
    error.place = cx.files.get(&of.name)?.lines().place(&of.name, place);
    error.symbol = None;
    Some(error)
}
