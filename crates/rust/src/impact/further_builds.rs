//! What a change breaks in code that only a further build compiles. Bodies that name what changes are checked in that
//! build, before and after; outside of bodies only names that are gone are found.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ra_ap_base_db::further_build;

use super::affected::{AffectedSet, BodyRef, InFurtherBuild};
use super::broken_at;
use super::differ::differ;
use super::doctests::{self, DoctestNames};
use super::edit_context::{EditContext, Side};
use crate::LANGUAGE;
use crate::checks::{anchors, errors};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::names::builds::DOCTEST;
use crate::names::{Resolution, all_instances, builds, instances};
use crate::resolve::{at, symbols};
use crate::view::parts::check_all;
use crate::view::{Context, View};
use semdex_engine::files::Files;
use semdex_engine::{RenamedNames, Result};
use semdex_model::{Affected, Broken, ChangeKind, Impact, Missing, MissingCode, Role, Span};
use semdex_text::words::words;

/// The time limit for checking these bodies before a change, and again after it.
const MOST_TIME: Duration = Duration::from_secs(2);

/// A body, with the build that compiles it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Body {
    file: Arc<str>,
    before: Option<usize>,
    after: Option<usize>,
    /// `None`: the edit itself changed it, and it is checked in each build, if the default build does not compile it.
    build: Option<String>,
}

/// What a change may break in further builds.
#[derive(Debug)]
pub(crate) struct AtStake {
    bodies: Vec<Body>,
    doctests: DoctestNames,
}

/// What is compared in further builds.
#[derive(Debug)]
pub(crate) struct Compared {
    /// Those that were checked.
    bodies: Vec<Body>,
    /// How many there are.
    all: usize,
    earlier: Vec<InBuild>,
    later: Vec<InBuild>,
    /// Whether these builds are there after the change.
    are_known: bool,
    doctests: doctests::Compared,
}

/// An error with the name of its build.
type InBuild = (String, Finding);

/// `doctests`: those that the change adds or removes.
pub(crate) fn at_stake(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    edit: &EditContext,
    doctests: DoctestNames,
) -> AtStake {
    let doctests = doctests::at_stake(cx, affected, doctests);
    if cx.environment.builds.names.is_empty() {
        return AtStake { bodies: Vec::new(), doctests };
    }
    let mut bodies: BTreeSet<Body> = BTreeSet::new();
    let further = affected.changed_symbols.iter().flat_map(|it| &it.further);
    for InFurtherBuild { at, build, .. } in further.filter(|it| it.build != DOCTEST) {
        let Some(anchor) = anchors::body_item_around(&at.file, at.at.start).map(|it| it.name_span.start) else {
            continue;
        };
        let file = at.file.path.clone();
        let after = edit.moved(&file, anchor);
        bodies.insert(Body { file, before: Some(anchor), after, build: Some(build.clone()) });
    }
    for BodyRef { file, before, after, .. } in affected.bodies_by_ref.iter().filter(|it| it.edited) {
        bodies.insert(Body { file: file.clone(), before: *before, after: *after, build: None });
    }
    AtStake { bodies: bodies.into_iter().collect(), doctests }
}

impl Compared {
    /// Checks what is at stake in the state before.
    pub(crate) fn before(AtStake { mut bodies, doctests }: AtStake, view: impl Fn() -> View) -> Result<Compared> {
        let all = bodies.len();
        let earlier = errors_of(&mut bodies, Side::Before, &view)?;
        let doctests = doctests::Compared::before(doctests, view)?;
        Ok(Compared { bodies, all, earlier, later: Vec::new(), are_known: true, doctests })
    }

    /// Checks it in the state after. `are_known`: whether it has the further builds.
    pub(crate) fn check_after(&mut self, edit: &EditContext, are_known: bool, view: impl Fn() -> View) -> Result<()> {
        self.are_known = are_known;
        if are_known {
            self.later = errors_of(&mut self.bodies, Side::After, &view)?;
        }
        self.doctests.check_after(edit, view)
    }
}

/// The errors in these bodies. Those for which there is no time are removed.
fn errors_of(bodies: &mut Vec<Body>, side: Side, view: impl Fn() -> View) -> Result<Vec<InBuild>> {
    let checked = check_all(bodies, MOST_TIME, view, |cx, body| errors_in(cx, body, side))?;
    bodies.truncate(checked.checked);
    Ok(checked.all())
}

fn errors_in(cx: &Context<'_>, body: &Body, side: Side) -> Vec<InBuild> {
    let mut found = Vec::new();
    let at = match side {
        Side::Before => body.before,
        Side::After => body.after,
    };
    let Some((at, id)) = at.zip(cx.file_id(&body.file)) else { return found };
    if body.build.is_none() && at::definition_at(&cx.sema, id, at).is_some() {
        return found;
    }
    for &krate in instances::further_owners(cx.db, id).iter() {
        let name = further_build(cx.db, krate).map_or("", |it| it.as_str());
        if body.build.as_ref().is_some_and(|it| it != name) {
            continue;
        }
        let errors = cx.in_instance(id, krate, |cx| {
            let bodies = anchors::bodies_at(cx, &body.file, at).into_iter();
            bodies.flat_map(|it| errors::errors_in(cx, it, true)).collect::<Vec<_>>()
        });
        found.extend(errors.into_iter().map(|it| (name.to_owned(), it)));
    }
    found
}

/// Adds what a change breaks in further builds, and returns what could not be checked. `cx` has the state after the
/// change.
pub(crate) fn add_broken(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    (edit, renamed): (&EditContext, &RenamedNames),
    compared: Compared,
    (before, after): (&Files, &Files),
    impact: &mut Impact,
) -> Vec<Missing> {
    let names: BTreeSet<&String> = compared.earlier.iter().chain(&compared.later).map(|it| &it.0).collect();
    let of = |all: &[InBuild], name: &str| -> Vec<Finding> {
        let mut of: Vec<Finding> = all.iter().filter(|it| it.0 == name).map(|it| it.1.clone()).collect();
        of.sort();
        of.dedup();
        of
    };
    let mut new: Vec<InBuild> = Vec::new();
    for name in names {
        let (earlier, later) = (of(&compared.earlier, name), of(&compared.later, name));
        let (of_build, _) = differ(&earlier, &later, (before, after), edit, renamed);
        new.extend(of_build.into_iter().filter(Finding::is_error).map(|it| (name.clone(), it)));
    }
    let in_doctests = compared.doctests.new_errors(edit, renamed);
    new.extend(in_doctests.into_iter().map(|it| (DOCTEST.to_owned(), it)));
    let lines: HashSet<(String, usize)> = new.iter().map(|it| (it.1.place.file.clone(), it.1.place.line)).collect();
    let known: HashSet<(String, usize)> =
        impact.broken.iter().map(|it| (it.at.place.file.clone(), it.at.place.line)).collect();
    let is_known = |it: &Finding| known.contains(&(it.place.file.clone(), it.place.line));
    let mut broken: Vec<Broken> = new
        .iter()
        .filter(|it| !is_known(&it.1))
        .filter_map(|(name, it)| in_build(cx, affected, edit, name, it))
        .collect();
    let mut unjudged = 0;
    for symbol in &affected.changed_symbols {
        for it in &symbol.further {
            // A link in a doc comment breaks nothing.
            let Some(at) = Some(it).filter(|it| it.at.role != Role::Doc).and_then(|it| moved(cx, edit, it)) else {
                continue;
            };
            if lines.contains(&(at.place.file.clone(), at.place.line)) {
                continue;
            }
            if !compared.are_known && it.build != DOCTEST {
                unjudged += 1;
                continue;
            }
            let at = Affected { cause: Some(symbol.path.clone()), ..at };
            let is_felt = symbol.is_itself && symbol.delta.as_ref().is_some_and(|it| it.1.kind != ChangeKind::Added);
            if symbol.goes() && !symbol.is_left_to_tests() {
                // Doctests were checked as a whole.
                if it.build == DOCTEST || resolves(cx, it, &at) {
                    continue;
                }
                let code = if it.at.role == Role::Import { Code::E0432 } else { Code::E0425 };
                let reason = format!("`{}` no longer exists", symbol.name);
                broken.push(Broken { at, code: Some(code.name().to_owned()), reason, follows: false });
            } else if is_felt {
                impact.affected.push(at);
            }
        }
    }
    broken.sort_by(|a, b| (a.at.test, &a.at.place).cmp(&(b.at.test, &b.at.place)));
    broken.dedup_by(|a, b| a.at.place == b.at.place);
    impact.broken.extend(broken);
    let (checked, all) = (compared.bodies.len(), compared.all);
    let unchecked_bodies = (checked < all).then(|| {
        let detail = format!(
            "{all} bodies that only further builds compile name what changed: {checked} were checked again, for more \
             there was no time"
        );
        Missing::new(MissingCode::TooMany, LANGUAGE.name, detail)
    });
    let absent = (unjudged > 0).then(|| {
        let detail = format!(
            "{unjudged} places that only further builds compile name what changed: they were not checked, because the \
             change is one of packages, and Cargo says no more of it than the default build"
        );
        Missing::new(MissingCode::Manifest, LANGUAGE.name, detail)
    });
    unchecked_bodies.into_iter().chain(absent).chain(compared.doctests.missing()).collect()
}

/// A new error as a broken place.
fn in_build(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    edit: &EditContext,
    name: &str,
    error: &Finding,
) -> Option<Broken> {
    let file = cx.files.get(&error.place.file)?;
    let id = cx.file_id(&file.path)?;
    let is_doctest = name == DOCTEST;
    let is_on_line = |it: &InFurtherBuild| {
        let start = Some(&it.at).filter(|it| it.file.path == file.path).map(|it| it.at.start);
        start.and_then(|it| edit.moved(&file.path, it)).is_some_and(|it| file.lines().line(it) == error.place.line)
    };
    let cause = affected.changed_symbols.iter().find(|it| it.further.iter().any(is_on_line)).map(|it| it.path.clone());
    let build = if is_doctest {
        name.to_owned()
    } else {
        let owners = instances::further_owners(cx.db, id);
        let krate = *owners.iter().find(|it| further_build(cx.db, **it).is_some_and(|it| it.as_str() == name))?;
        // Others may have errors that the change does not make, such as what another system has in the standard library.
        if cause.is_none() && !builds::is_checked(cx.db, krate) {
            return None;
        }
        builds::name_at(cx.db, krate, id, error.place.start)
    };
    let mut broken = broken_at(file, error);
    broken.at.test |= is_doctest;
    (broken.at.cause, broken.at.build) = (cause, Some(build));
    Some(broken)
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Whether the name at a place means something in its build after the change: the symbol has another path there, or
/// another one has taken its name.
fn resolves(cx: &Context<'_>, it: &InFurtherBuild, at: &Affected) -> bool {
    let file = cx.files.get(&at.place.file);
    let Some((file, id)) = file.zip(cx.file_id(&at.place.file)) else { return false };
    let start = at.place.start;
    let Some((_, word)) = file.text.get(start..).and_then(|it| words(it).next()) else { return false };
    let mut is_resolved = false;
    all_instances::read_words_further(cx.db, id, &[(start, word)], |krate, _, resolution| {
        let is_own = further_build(cx.db, krate).is_some_and(|build| build.as_str() == it.build);
        is_resolved |= is_own && matches!(resolution, Resolution::Names(_) | Resolution::Declares(_));
    });
    is_resolved
}

/// A place in the state after the change. `None` if the change removes it.
fn moved(cx: &Context<'_>, edit: &EditContext, it: &InFurtherBuild) -> Option<Affected> {
    let at = &it.at;
    let file = cx.files.get(&at.file.path)?;
    let start = edit.moved(&at.file.path, at.at.start)?;
    let id = cx.file_id(&file.path)?;
    // A new name may end like the old one.
    let (before, after) = (file.text.get(..start)?, file.text.get(start..)?);
    let start = before.trim_end_matches(is_of_name).len();
    let end = file.text.len() - after.trim_start_matches(is_of_name).len();
    let place = file.lines().place(&file.path, Span::new(start, end));
    Some(Affected {
        text: symbols::line(file, &place),
        symbol: symbols::enclosing_path(cx, file, id, start),
        cause: None,
        build: Some(it.name.clone()),
        test: it.build == DOCTEST || symbols::is_test_at(file, start),
        place,
    })
}
