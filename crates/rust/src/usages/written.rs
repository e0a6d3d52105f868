//! Usages that macros write: names in the output of calls that come from the definition of a macro, or from a string that
//! a macro reads as code.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::AstNode as _;

use super::{Held, TargetUsages};
use crate::LANGUAGE;
use crate::index::macro_names::{self, AllMacroNames, Written, WrittenMeaning};
use crate::index::search::{Occurrence, Search};
use crate::names::{Meaning, Target, UnresolvedReason};
use crate::resolve::alternatives::{Reach, with_alternatives};
use crate::syntax::attributes::is_in_attribute_of_macros;
use crate::syntax::positions::is_in_macro_definition;
use crate::view::{Context, on_all_cores};
use semdex_model::{Missing, MissingCode, Role};

/// The most searches that read no other names than theirs. A first question makes one before the build of what runs at
/// compile time and one after it, and one more for aliases. Many, as an impact has, are faster once all names are known.
const MOST_EARLY_SEARCHES: usize = 4;

/// What macros write, at least of the names of a search. `None` if it is not known in time.
pub(super) fn of_search(cx: &Context<'_>, search: &Search, until: Option<Instant>) -> Option<Arc<AllMacroNames>> {
    written_now(cx, search, until).or_else(|| written_names(cx, until, false))
}

/// The names of a search that macros write, before it is known what they write at all in most files. `None` if that is
/// known, or they are not known in time.
fn written_now(cx: &Context<'_>, search: &Search, until: Option<Instant>) -> Option<Arc<AllMacroNames>> {
    if cx.index.is_shadow || cx.index.all_macro_names(in_further_builds(cx)).is_some() {
        return None;
    }
    let ids: Vec<FileId> = cx.files.of(LANGUAGE).filter_map(|it| cx.file_id(&it.path)).collect();
    let (known, unknown): (Vec<FileId>, Vec<FileId>) =
        ids.into_iter().partition(|it| cx.index.macro_names(*it).is_some());
    let is_early = unknown.len() > known.len();
    if !is_early || cx.index.early_searches.fetch_add(1, Ordering::Relaxed) >= MOST_EARLY_SEARCHES {
        return None;
    }
    let words: HashSet<&str> = search.words.iter().map(|it| &*it.text).collect();
    let is_late = || until.is_some_and(|until| Instant::now() > until);
    let read = on_all_cores(cx.db, &unknown, |sema, id, read: &mut Vec<_>| {
        read.push((!is_late()).then(|| (*id, macro_names::wanted_of(sema.db, *id, &|it| words.contains(it)))));
    });
    let known = known.into_iter().map(|it| Some((it, cx.index.macro_names(it)?)));
    let each = read.into_iter().chain(known).collect::<Option<Vec<_>>>()?;
    Some(Arc::new(AllMacroNames::new(each)))
}

/// Whether there are further builds and all of them are read.
fn in_further_builds(cx: &Context<'_>) -> bool {
    let builds = &cx.environment.builds;
    !builds.names.is_empty() && !builds.are_pending
}

/// What macros write, in all files; computed now where it is not known. `None` if it is not known in time. What they
/// write in doctests and further builds takes much longer after an edit: it is computed only for the `whole`.
fn written_names(cx: &Context<'_>, until: Option<Instant>, whole: bool) -> Option<Arc<AllMacroNames>> {
    let in_further_builds = in_further_builds(cx);
    let known = cx.index.all_macro_names(in_further_builds).filter(|it| it.is_whole || !whole);
    if known.is_some() || cx.index.is_shadow {
        return known;
    }
    let ids: Vec<FileId> = cx.files.of(LANGUAGE).filter_map(|it| cx.file_id(&it.path)).collect();
    let modules: Vec<FileId> = cx.doctests().map(|it| it.module).collect();
    let lacks = |id: FileId| cx.index.macro_names(id).is_none();
    let lacks_further = |id: FileId| in_further_builds && whole && cx.index.further_macro_names(id).is_none();
    let wanted = ids.iter().chain(modules.iter().filter(|_| whole)).copied();
    let unread: Vec<FileId> = wanted.filter(|it| lacks(*it) || lacks_further(*it)).collect();
    let is_late = || until.is_some_and(|until| Instant::now() > until);
    on_all_cores(cx.db, &unread, |sema, id, _: &mut Vec<()>| {
        if is_late() {
            return;
        }
        macro_names::learn(cx.index, sema.db, *id);
        if lacks_further(*id) {
            macro_names::learn_further(cx.index, sema.db, *id);
        }
    });
    cx.index.gather_macro_names(&ids, &modules, in_further_builds)
}

/// What macros write in doctests and further builds too, if it is not known and a place in the definition of a macro has
/// no meaning in the default build, or a place is in an attribute that a macro may read.
pub(super) fn in_other_builds(
    cx: &Context<'_>,
    until: Option<Instant>,
    written: Option<&AllMacroNames>,
    found: &[TargetUsages],
    held: &[Held<'_>],
) -> Option<Arc<AllMacroNames>> {
    let is_wanted = !cx.environment.builds.are_pending && written.is_some_and(|it| !it.is_whole);
    let is_in_definition = |(it, why): &(Occurrence, UnresolvedReason)| {
        why.may_be_written() && is_in_macro_definition(cx.sema.parse_guess_edition(it.id).syntax(), it.at.start)
    };
    let has_attribute = |it: &Held<'_>| it.places.iter().any(|place| is_in_attribute(cx, it.id, place.0));
    let is_needed =
        is_wanted && (found.iter().flat_map(|it| &it.possible).any(is_in_definition) || held.iter().any(has_attribute));
    is_needed.then(|| written_names(cx, until, true)).flatten()
}

pub(super) fn is_in_attribute(cx: &Context<'_>, id: FileId, at: usize) -> bool {
    is_in_attribute_of_macros(cx.sema.parse_guess_edition(id).syntax(), at)
}

/// Drops the possible usages that have a meaning in the output of macros: in the definition of one, and in a file that
/// `include!` takes into a body.
pub(super) fn drop_known(written: &AllMacroNames, found: &mut [TargetUsages]) {
    let is_written = |it: &Occurrence| written.accounts_for(it.id, it.at.start);
    for found in found {
        found.possible.retain(|(it, why)| !why.may_be_written() || !is_written(it));
    }
}

pub(super) fn unread_output<'n>(
    cx: &Context<'_>,
    written: Option<&AllMacroNames>,
    names: impl FnOnce() -> Vec<&'n str>,
) -> Option<Missing> {
    let Some(written) = written else {
        let detail = "the output of macros is not read yet: ask again, or give a longer `wait_ms`";
        return (!cx.index.is_shadow).then(|| Missing::being_read(LANGUAGE.name, detail));
    };
    let first = cx.name_of(written.unread(names)?)?;
    let detail = "a macro call has so much output that not all names in it are read";
    Some(Missing::new(MissingCode::TooMany, &*first, detail))
}

/// Adds what macros write. A place that is known already, as the input of a macro, stays as it is.
pub(super) fn add(cx: &Context<'_>, search: &Search, written: &AllMacroNames, found: &mut [TargetUsages]) {
    type Calls = Vec<(FileId, usize)>;
    let mut places: BTreeMap<(usize, FileId, usize), (&Written, Calls)> = BTreeMap::new();
    for (caller, it) in search.keys().flat_map(|key| written.meaning(key)) {
        let WrittenMeaning::Means(meaning) = it.meaning else { continue };
        for target in search.meant_by(&meaning) {
            let place = (search.targets[target].0, it.file, it.at.start);
            let (first, calls) = places.entry(place).or_insert_with(|| (it, Calls::new()));
            // One of the default build stands for all.
            if first.build.is_some() && it.build.is_none() {
                *first = it;
            }
            calls.extend(it.calls.iter().map(|at| (caller, *at as usize)));
        }
    }
    for ((target, id, start), (&Written { at, role, build, .. }, mut calls)) in places {
        // Only texts of the workspace are listed.
        let Some(file) = cx.name_of(id).as_ref().and_then(|it| cx.files.get(it)) else { continue };
        if found[target].items.iter().any(|it| it.id == id && it.at.start == start) {
            continue;
        }
        calls.sort_unstable();
        calls.dedup();
        let calls = Some(Arc::from(calls));
        found[target].items.push(Occurrence { file: file.clone(), id, at, role, build, calls });
    }
    for word in &search.words {
        for (id, at) in written.without_text(&word.text) {
            let Some(file) = cx.name_of(id).as_ref().and_then(|it| cx.files.get(it)) else { continue };
            let targets: BTreeSet<usize> = word.targets.iter().map(|it| search.targets[*it].0).collect();
            let calls = Some(Arc::from([(id, at.start)]));
            for target in targets {
                let calls = calls.clone();
                let it = Occurrence { file: file.clone(), id, at, role: Role::Other, build: None, calls };
                found[target].possible.push((it, UnresolvedReason::MacroInput));
            }
        }
    }
}

/// The places in macros that name a symbol in the output of some calls, and something else in the output of others:
/// each file with the offset.
pub(crate) fn ambiguous<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    found: &TargetUsages,
) -> Vec<(String, usize)> {
    let written = found.items.iter().filter(|it| it.calls.is_some());
    let Some(all) = written_names(cx, cx.until, true) else { return Vec::new() };
    let group = with_alternatives(cx, definition, Reach::All);
    let targets: Vec<Target> = group.into_iter().filter_map(|it| Target::new(it, cx.db)).collect();
    let is_meant = |meaning: &Meaning| targets.iter().any(|it| it.is_meant_by(meaning));
    let is_ambiguous = |it: &&Occurrence| all.is_ambiguous(it.id, it.at.start, is_meant);
    written.filter(is_ambiguous).map(|it| (it.file.path.to_string(), it.at.start)).collect()
}
