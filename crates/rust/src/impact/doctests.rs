//! What a change breaks in doctests. Those that name what changes are checked before and after it, and so are all
//! doctests of a file whose docs change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ra_ap_ide_db::defs::Definition;

use super::affected::AffectedSet;
use super::edit_context::EditContext;
use crate::LANGUAGE;
use crate::checks::errors;
use crate::checks::excluded::Excluded;
use crate::checks::unresolved_paths::unresolved_paths;
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::names::builds::DOCTEST;
use crate::resolve::at;
use crate::syntax::doctests::Doctest;
use crate::view::Context;
use crate::view::doctest_files::DoctestFile;
use semdex_engine::RenamedNames;
use semdex_model::{Missing, MissingCode, Span};

/// The time limit for checking doctests before a change, and again after it.
const MOST_TIME: Duration = Duration::from_secs(5);

/// The doctests that a change may break, and the errors in them before it.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    wanted: Wanted,
    errors: Vec<Finding>,
    /// How many were not checked.
    left: usize,
}

/// The numbers of the doctests of each file. `None`: all, because the change changes some of them.
type Wanted = BTreeMap<Arc<str>, Option<BTreeSet<usize>>>;

/// The doctests that a change may break. `new`: the files whose doctests it changes.
pub(crate) fn before(cx: &Context<'_>, affected: &AffectedSet<'_>, new: &BTreeSet<Arc<str>>) -> Checked {
    let mut checked = Checked::default();
    for it in affected.changed_symbols.iter().flat_map(|it| &it.further).filter(|it| it.build == DOCTEST) {
        for of in cx.environment.doctests.of_file(it.at.id) {
            let Some(test) = of.test_around(it.at.at.start) else { continue };
            let number = of.doctests.tests.iter().position(|it| *it == test);
            let wanted = checked.wanted.entry(of.name.clone()).or_insert_with(|| Some(BTreeSet::new()));
            wanted.iter_mut().for_each(|it| it.extend(number));
        }
    }
    checked.wanted.extend(new.iter().map(|it| (it.clone(), None)));
    (checked.errors, checked.left) = errors_of(cx, &checked.wanted);
    checked
}

/// The errors in doctests after the change that were not there before, and what was not checked.
pub(crate) fn after(
    cx: &Context<'_>,
    checked: &Checked,
    edit: &EditContext,
    names: &RenamedNames,
) -> (Vec<Finding>, Option<Missing>) {
    let (later, left) = errors_of(cx, &checked.wanted);
    // An error is the same if it is at the same place, or says the same in a doctest that was edited.
    let mut known: Vec<(Option<usize>, &Finding)> =
        checked.errors.iter().map(|it| (edit.moved(&it.place.file, it.place.start), it)).collect();
    let said = |it: &Finding| names.written_in(&it.message).into_owned();
    let mut new = Vec::new();
    for it in later {
        let is_like = |other: &Finding| other.place.file == it.place.file && other.code == it.code;
        let at_place = known.iter().position(|(at, other)| is_like(other) && *at == Some(it.place.start));
        let by_message = || known.iter().position(|(_, other)| is_like(other) && said(other) == said(&it));
        match at_place.or_else(by_message) {
            Some(same) => drop(known.swap_remove(same)),
            None => new.push(it),
        }
    }
    let left = left.max(checked.left);
    let missing = (left > 0).then(|| {
        let detail = format!("{left} doctests name what changed and were not checked: there was no time");
        Missing::new(MissingCode::TooMany, LANGUAGE.name, detail)
    });
    (new, missing)
}

/// The errors in these doctests, and how many were not checked.
fn errors_of(cx: &Context<'_>, wanted: &Wanted) -> (Vec<Finding>, usize) {
    let until = Instant::now() + MOST_TIME;
    let (mut found, mut left) = (Vec::new(), 0);
    for of in cx.environment.doctests.iter().filter(|it| wanted.contains_key(&it.name)) {
        if !cx.compiles_doctests(of) {
            continue;
        }
        let paths = unresolved_paths(cx, &of.text, of.module);
        // rustdoc reads no docs of what a condition leaves out.
        let library = cx.sema.file_to_module_def(of.module).map(|it| it.krate(cx.db).into());
        let is_code = cx.file_id(&of.name).filter(|it| cx.sema.file_to_module_def(*it).is_some());
        let excluded = is_code.zip(library).map(|(id, library)| Excluded::from_crates(cx, id, &[library]));
        let is_compiled = |it: &Finding| excluded.as_ref().is_none_or(|excluded| !excluded.has(it.place.start));
        let in_test = |test: &Doctest| {
            let span = test.span;
            move |it: &&Finding| span.contains(it.place.start)
        };
        let tests = of.doctests.tests.iter().enumerate();
        let numbers = wanted.get(&of.name).and_then(Option::as_ref);
        let is_wanted = |number: usize| numbers.is_none_or(|it| it.contains(&number));
        for (_, test) in tests.filter(|it| is_wanted(it.0) && !it.1.must_fail) {
            if Instant::now() > until {
                left += 1;
                continue;
            }
            let errors = errors_in(cx, of, test).into_iter().chain(paths.iter().filter(in_test(test)).cloned());
            let mut errors: Vec<Finding> = errors.filter(Finding::is_error).collect();
            errors.sort();
            // A name is reported once.
            errors.dedup_by(|a, b| a.place == b.place);
            found.extend(errors.into_iter().filter_map(|it| located(cx, of, it)).filter(is_compiled));
        }
    }
    (found, left)
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
