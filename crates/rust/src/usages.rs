//! Usages of symbols. Every occurrence of a name in the workspace's own text is classified: it resolves to the symbol,
//! to another one, or it cannot be resolved. The count is therefore complete, not only a lower bound.

mod crate_paths;
pub(crate) mod exclusions;
mod in_doctests;
pub(crate) mod loaded;
mod of_build;
pub(crate) mod outside_builds;
pub(crate) mod references;
pub(crate) mod shapes;
mod target_usages;
pub(crate) mod written;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, ast};
use rustc_hash::FxHashMap;

use crate::LANGUAGE;
use crate::file_interface::file_interface;
use crate::index::file_names::{Collector, FurtherCollector, FurtherNames, Names, StoredResolution, names_of};
use crate::index::search::{Occurrence, Search, Word};
use crate::names::definitions::as_assoc_item;
use crate::names::{UnresolvedReason, all_instances, builds, instances};
use crate::resolve::alternatives::{Reach, with_alternatives};
use crate::resolve::symbols;
use crate::resolve::symbols::is_test_at;
use crate::usages::outside_builds::OutsideBuilds;
pub(crate) use crate::usages::target_usages::TargetUsages;
use crate::view::{Context, on_all_cores};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_engine::ranking::rest;
use semdex_model::{
    Answer, Coverage, Doubt, Missing, MissingCode, PossibleReason, Role, Span, Symbol, Usage, UsageCount, UsagePage,
    Window,
};
use semdex_text::words::words;

/// The most unresolved places that are reported.
const MAX_MISSED: usize = 4096;

/// The most levels of aliases of aliases.
const MAX_ALIASES_OF_ALIASES: usize = 4;

/// Resolves the possible usages of a symbol that are in files which no crate includes.
pub(crate) fn settle_outside<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    found: &mut TargetUsages,
    outside: &mut OutsideBuilds<'_, 'db>,
    coverage: &mut Coverage,
) {
    let count = found.possible.iter().filter(|it| it.1 == UnresolvedReason::NoCrate).count();
    if count > 0 && outside.is_late() {
        coverage.lacks(UnresolvedReason::OutOfTime.missing(count));
    } else if count > 0 {
        let group = with_alternatives(cx, definition, Reach::Near);
        exclusions::exclude(cx, &group, found);
        outside.settle(&group, found);
        found.tell_possible_if(coverage, |it| it == UnresolvedReason::OutOfTime);
    }
}

/// The gap for places in the output of build scripts, which are not listed in an answer.
pub(crate) fn in_generated(places: &[Occurrence]) -> Option<Missing> {
    let first = places.first()?;
    let line = first.file.lines().place(&first.file.path, first.at).line;
    let parts: Vec<&str> = first.file.path.rsplit('/').take(3).collect();
    let file = parts.into_iter().rev().collect::<Vec<_>>().join("/");
    let count = if places.len() == 1 { "1 place names".to_owned() } else { format!("{} places name", places.len()) };
    let detail = format!("{count} it in code that build scripts wrote, the first is {file}:{line}");
    Some(Missing::new(MissingCode::MacroOutput, "rust", detail))
}

/// The gap for calls that macros of the standard library make by name: `write!` and `writeln!` call `write_fmt` on
/// their argument, and their expansions are not searched.
pub(crate) fn by_write(name: &str, is_method: bool) -> Option<Missing> {
    let detail = "calls by `write!` and `writeln!` are not reported: search for these macros";
    (is_method && name == "write_fmt").then(|| Missing::new(MissingCode::MacroOutput, "rust", detail))
}

/// The usages of one symbol, with the proof that there are no others. For a symbol that `cfg` switches off, only the
/// places that may name it.
pub(crate) fn found_for<'db>(
    cx: &Context<'db>,
    symbol: &Symbol,
    definition: Option<Definition<'db>>,
    build: Option<&str>,
) -> Result<Answer<TargetUsages>> {
    match definition {
        Some(definition) => found_of(cx, definition, build),
        None => {
            let mut found = search_for(cx, &Search::written(&symbol.name)).pop().unwrap_or_default();
            exclusions::exclude_by_package(cx, symbol, &mut found);
            let mut coverage = not_compiled(cx, symbol);
            if !cx.is_being_loaded() && OutsideBuilds::new(cx, cx.until).settle_own(symbol, &mut found) {
                coverage = cx.coverage(false);
                coverage.builds.clone_from(&cx.environment.builds.names);
            }
            found.tell_possible_if(&mut coverage, |_| true);
            in_generated(&found.in_generated).into_iter().for_each(|it| coverage.lacks(it));
            Ok(Answer { value: found, coverage })
        }
    }
}

/// The same for a compiled symbol. `build`: in this build alone.
pub(crate) fn found_of<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    build: Option<&str>,
) -> Result<Answer<TargetUsages>> {
    let Answer { mut value, mut coverage } = certain_of(cx, definition);
    if let Some(build) = build {
        coverage.builds = of_build::narrow(cx, definition, build, &mut value)?;
    }
    value.tell_possible(&mut coverage);
    Ok(Answer { value, coverage })
}

/// The same with a coverage that does not mention the possible usages, except those that were not checked in time.
pub(crate) fn certain_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Answer<TargetUsages> {
    let group = with_alternatives(cx, definition, Reach::All);
    let search = Search::of_groups(cx.db, [&*group].into_iter());
    let mut found = search_for(cx, &search).pop().unwrap_or_default();
    exclusions::exclude(cx, &group, &mut found);
    OutsideBuilds::new(cx, cx.until).settle(&group, &mut found);
    in_doctests::locate_possible(cx, &mut found);
    let mut coverage = loaded::coverage_of(cx, &group);
    coverage.builds.clone_from(&cx.environment.builds.names);
    note_pending_builds(cx, std::slice::from_ref(&found), &mut coverage);
    found.tell_possible_if(&mut coverage, |it| it == UnresolvedReason::OutOfTime);
    found.unread_output.clone().into_iter().for_each(|it| coverage.lacks(it));
    in_generated(&found.in_generated).into_iter().for_each(|it| coverage.lacks(it));
    let is_method = as_assoc_item(definition, cx.db).is_some();
    let name = definition.name(cx.db);
    by_write(name.as_ref().map_or("", |it| it.as_str()), is_method).into_iter().for_each(|it| coverage.lacks(it));
    Answer { value: found, coverage }
}

/// Places that the default build does not compile may be usages, once further builds are read.
pub(crate) fn note_pending_builds(cx: &Context<'_>, found: &[TargetUsages], coverage: &mut Coverage) {
    let mut possible = found.iter().flat_map(|it| &it.possible);
    if cx.environment.builds.are_pending && possible.any(|it| it.1.may_be_off()) {
        coverage.lacks(builds_are_read());
    }
}

fn builds_are_read() -> Missing {
    let detail = "code that the default build does not compile is being read: ask again, or give a longer `wait_ms`";
    Missing::being_read(LANGUAGE.name, detail)
}

/// The answer to a query that needs a compiled symbol, for one that is not compiled.
pub(crate) fn nothing_known_of<T>(cx: &Context<'_>, symbol: &Symbol) -> Answer<Vec<T>> {
    Answer { value: Vec::new(), coverage: not_compiled(cx, symbol) }
}

fn not_compiled(cx: &Context<'_>, symbol: &Symbol) -> Coverage {
    let mut coverage = cx.coverage(false);
    if cx.environment.builds.are_pending {
        coverage.lacks(builds_are_read());
        return coverage;
    }
    if cx.is_being_loaded() {
        return coverage;
    }
    let in_a_crate = cx.file_id(&symbol.place.file).is_some_and(|id| cx.sema.file_to_module_def(id).is_some());
    let (code, why) = match in_a_crate {
        true => (MissingCode::CfgOff, "`cfg` switches it off"),
        false => (MissingCode::NotInAPackage, "no crate includes its file"),
    };
    let detail = format!("{why}, so what uses it is not known: `usages` lists what may name it as `possible`");
    coverage.lacks(Missing::new(code, &*symbol.place.file, detail));
    coverage
}

pub(crate) fn page<'db>(
    cx: &Context<'db>,
    found: &TargetUsages,
    definition: Option<Definition<'db>>,
    window: Window,
) -> UsagePage {
    let own = definition.and_then(|it| it.try_to_nav(&cx.sema)).map(|it| it.call_site.file_id);
    let files: HashSet<FileId> = found.items.iter().map(|it| it.id).collect();
    let order = found.order(own);
    let mut enclosing = HashMap::new();
    let mut usage = |it: &Occurrence| usage_at(cx, it, &mut enclosing);
    let possible = window.of(&found.possible).iter();
    let possible = possible.map(|(it, why)| Usage { doubt: Some(why.doubt()), ..usage(it) }).collect();
    let behind = rest(window, found.possible.len());
    let items = behind.of(&order).iter().map(|it| usage(&found.items[*it])).collect();
    let outside_builds = rest(behind, order.len()).of(&found.outside).iter().map(&mut usage).collect();
    UsagePage {
        count: UsageCount { total: found.items.len(), files: files.len(), outside_builds: found.outside.len() },
        possible_count: found.possible.len(),
        items,
        possible,
        outside_builds,
    }
}

fn usage_at(cx: &Context<'_>, it: &Occurrence, enclosing: &mut HashMap<(FileId, usize), Option<String>>) -> Usage {
    let place = it.file.lines().place(&it.file.path, it.at);
    let innermost = it.file.outline().enclosing(it.at.start).last().map_or(0, |item| item.span.start);
    let around = || symbols::enclosing_path(cx, &it.file, it.id, it.at.start);
    let symbol = enclosing.entry((it.id, innermost)).or_insert_with(around).clone();
    Usage {
        text: symbols::line(&it.file, &place),
        place,
        symbol,
        role: it.role,
        test: is_test_at(&it.file, it.at.start) || it.is_in_doctest(cx.db),
        build: it.build.map(|krate| builds::name_at(cx.db, krate, it.id, it.at.start)),
        calls: it.calls.as_ref().map(|it| it.len()),
        doubt: None,
    }
}

/// One pass for any number of symbols; the results have the same order.
pub(crate) fn find<'db>(cx: &Context<'db>, definitions: &[Definition<'db>]) -> Vec<TargetUsages> {
    search_for(cx, &Search::new(cx.db, definitions))
}

/// The unresolved places in code that the index knows, up to a bound.
pub(crate) fn known_as_missed(cx: &Context<'_>) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for file in cx.files.of(LANGUAGE) {
        let Some((id, names)) = cx.file_id(&file.path).and_then(|id| Some((id, cx.index.names(id)?))) else { continue };
        let is_missed = |it| it == StoredResolution::Unresolved(UnresolvedReason::UnknownType);
        let missed = names.within(0, file.text.len()).filter(|it| is_missed(it.1));
        found.extend(missed.take(MAX_MISSED - found.len()).filter_map(|(at, _, role)| {
            let word = words(file.text.get(at..)?).next().filter(|it| it.0 == 0)?.1;
            Some(Occurrence {
                file: file.clone(),
                id,
                at: Span::new(at, at + word.len()),
                role,
                build: None,
                calls: None,
            })
        }));
    }
    found
}

/// Places that are not checked within the time limit are possible usages.
pub(crate) fn search_for(cx: &Context<'_>, search: &Search) -> Vec<TargetUsages> {
    search_within(cx, search, cx.until).0
}

/// `None` if it is not finished by then.
pub(crate) fn search_until(cx: &Context<'_>, search: &Search, until: Instant) -> Option<Vec<TargetUsages>> {
    let (found, is_whole) = search_within(cx, search, Some(until));
    is_whole.then_some(found)
}

/// And whether everything was checked. Aliases of a target are searched for too.
fn search_within(cx: &Context<'_>, search: &Search, until: Option<Instant>) -> (Vec<TargetUsages>, bool) {
    let (mut found, mut is_whole) = search_once(cx, search, until);
    let mut widened: Option<Search> = None;
    for _ in 0..MAX_ALIASES_OF_ALIASES {
        let aliases = found.iter().enumerate().flat_map(|(position, it)| it.aliases().map(move |it| (position, it)));
        let Some(search) = widened.as_ref().unwrap_or(search).with_words(aliases) else { break };
        (found, is_whole) = search_once(cx, &search, until);
        widened = Some(search);
    }
    (found, is_whole)
}

fn search_once(cx: &Context<'_>, search: &Search, until: Option<Instant>) -> (Vec<TargetUsages>, bool) {
    let mut found: Vec<TargetUsages> = (0..search.definitions).map(|_| TargetUsages::default()).collect();
    let postings = cx.index.postings();
    let holders = search.holders(&postings);
    let all: Vec<usize> = (0..search.words.len()).collect();
    let mut held: Vec<Held<'_>> = Vec::new();
    for file in cx.files.of(LANGUAGE) {
        let Some(id) = cx.file_id(&file.path) else { continue };
        let words = match holders.get(&id) {
            _ if !postings.knows(id, file) => &all,
            Some(words) => words,
            None => continue,
        };
        let places = search.places(file, words);
        if file.is_too_deep() {
            // For a file that was never parsed nothing is known, not even what is a comment.
            for (at, word) in places {
                let at = Span::new(at, at + word.text.len());
                let it = Occurrence { file: file.clone(), id, at, role: Role::Other, build: None, calls: None };
                word.targets.iter().for_each(|target| {
                    found[search.targets[*target].0].possible.push((it.clone(), UnresolvedReason::TooDeep));
                });
            }
        } else if !places.is_empty() {
            held.push(Held { file, id, places, known: cx.index.names(id), further: cx.index.further(id) });
        }
    }
    for (file, id) in cx.included() {
        for (at, word) in search.places(file, &all) {
            let at = Span::new(at, at + word.text.len());
            let it = Occurrence { file: file.clone(), id, at, role: Role::Other, build: None, calls: None };
            for target in &word.targets {
                found[search.targets[*target].0].possible.push((it.clone(), UnresolvedReason::Included));
            }
        }
    }
    drop(postings);
    let of_workspace = held.len();
    for of in cx.environment.doctests.iter() {
        let places = search.places(&of.text, &all);
        if !places.is_empty() && cx.compiles_doctests(of) {
            let (known, further) = (cx.index.names(of.module), cx.index.further(of.module));
            held.push(Held { file: &of.text, id: of.module, places, known, further });
        }
    }
    let with_doctests = held.len();
    for (file, id) in cx.generated() {
        let places = search.places(file, &all);
        if !places.is_empty() {
            held.push(Held { file, id: *id, places, known: None, further: None });
        }
    }
    let (asked, mut unasked) = resolve_now(cx.db, &held, until);
    let (further, late) = resolve_further(cx, &held[..with_doctests], &asked, until);
    unasked.extend(late);
    let mut written = written::of_search(cx, search, until);
    let mut generated: Vec<TargetUsages> = found.iter().map(|_| TargetUsages::default()).collect();
    let mut in_doctests: Vec<TargetUsages> = found.iter().map(|_| TargetUsages::default()).collect();
    for (position, it) in held.iter().enumerate() {
        let found = match position {
            _ if position < of_workspace => &mut found,
            _ if position < with_doctests => &mut in_doctests,
            _ => &mut generated,
        };
        let asked = asked.get(&it.id).map_or(&[][..], Vec::as_slice);
        let further = further.get(&it.id).map_or(&[][..], Vec::as_slice);
        add_usages(cx, search, it, (asked, further), &unasked, found);
    }
    if let Some(written) = &written {
        [&mut found, &mut in_doctests, &mut generated].into_iter().for_each(|it| written::drop_known(written, it));
    }
    if let Some(all) = written::in_other_builds(cx, until, written.as_deref(), &found, &held) {
        written::drop_known(&all, &mut found);
        written = Some(all);
    }
    if let Some(written) = &written {
        written::add(cx, search, written, &mut found);
    }
    // A macro that only another build has may read what is in an attribute.
    let pending = held.iter().filter(|_| cx.environment.builds.are_pending);
    let in_attributes =
        pending.flat_map(|it| it.places.iter().filter(|place| written::is_in_attribute(cx, it.id, place.0)));
    let in_attributes = in_attributes.flat_map(|it| &it.1.targets).map(|it| search.targets[*it].0);
    let in_attributes: HashSet<usize> = in_attributes.collect();
    for (position, it) in found.iter_mut().enumerate() {
        let unread = written::unread_output(cx, written.as_deref(), || search.words_of(position));
        it.unread_output = unread.or_else(|| in_attributes.contains(&position).then(builds_are_read));
        // Another build may have calls.
        if !cx.environment.builds.are_pending {
            crate_paths::settle(cx, search, position, it);
        }
    }
    for (found, generated) in found.iter_mut().zip(generated) {
        let possible = generated.possible.into_iter().filter(|it| it.1 != UnresolvedReason::NoCrate).map(|it| it.0);
        found.in_generated = generated.items.into_iter().chain(possible).collect();
    }
    for (found, in_modules) in found.iter_mut().zip(in_doctests) {
        in_doctests::add(cx, in_modules, found);
    }
    // What is compiled under another name was checked there.
    let is_known = |it: &Occurrence| cx.environment.compiled_elsewhere.contains(&*it.file.path);
    for found in found.iter_mut().filter(|_| cx.is_being_loaded()) {
        found
            .possible
            .iter_mut()
            .filter(|it| it.1 == UnresolvedReason::NoCrate)
            .for_each(|it| it.1 = UnresolvedReason::NotLoaded);
    }
    for found in &mut found {
        found.possible.retain(|(it, why)| *why != UnresolvedReason::NoCrate || !is_known(it));
    }
    (found, unasked.is_empty() && (written.is_some() || cx.index.is_shadow))
}

/// Resolves the places whose meaning is not known, and returns those that the time limit left out.
fn resolve_now(
    db: &RootDatabase,
    held: &[Held<'_>],
    until: Option<Instant>,
) -> (FxHashMap<FileId, Vec<Names>>, Unasked) {
    let mut unread: Vec<Unread<'_>> = held.iter().flat_map(|it| it.unread(db)).collect();
    // The longest files first, so that all threads finish together.
    unread.sort_by_key(|it| std::cmp::Reverse(it.length));
    let is_late = || until.is_some_and(|until| Instant::now() > until);
    let read = on_all_cores(db, &unread, |sema, unread, read: &mut Vec<_>| {
        let names = (!is_late()).then(|| unread.read(sema));
        read.push(
            names.ok_or(unread.places.iter().map(|it| (unread.id, it.0)).collect::<Vec<_>>()).map(|it| (unread.id, it)),
        );
    });
    let mut asked: FxHashMap<FileId, Vec<Names>> = FxHashMap::default();
    let mut unasked = Unasked::default();
    for it in read {
        match it {
            Ok((id, names)) => asked.entry(id).or_default().push(names),
            Err(places) => unasked.extend(places),
        }
    }
    (asked, unasked)
}

/// Resolves in further builds the places whose meaning there is not known: all of them, or while these builds are being
/// read only those that the default build may switch off.
fn resolve_further(
    cx: &Context<'_>,
    held: &[Held<'_>],
    asked: &FxHashMap<FileId, Vec<Names>>,
    until: Option<Instant>,
) -> (FxHashMap<FileId, Vec<FurtherNames>>, Unasked) {
    let builds = &cx.environment.builds;
    let mut found: FxHashMap<FileId, Vec<FurtherNames>> = FxHashMap::default();
    let mut unasked = Unasked::default();
    if builds.names.is_empty() {
        return (found, unasked);
    }
    let default = |it: &Held<'_>, at: usize| -> Vec<StoredResolution> {
        let asked = asked.get(&it.id).into_iter().flatten().filter(|_| it.known_at(at).is_none());
        it.known_at(at).into_iter().chain(asked).flat_map(|it| it.at(at)).map(|it| it.0).collect()
    };
    let may_be_off = |it: StoredResolution| matches!(it, StoredResolution::Unresolved(why) if why.may_be_off());
    let is_wanted = |it: &Held<'_>, at: usize| {
        it.further.as_ref().is_none_or(|it| !it.is_known_at(at))
            && (!builds.are_pending || default(it, at).into_iter().any(may_be_off))
    };
    let unread: Vec<(&Held<'_>, Vec<(usize, &str)>)> = held
        .iter()
        .map(|it| {
            let places = it.places.iter().filter(|place| is_wanted(it, place.0));
            (it, places.map(|it| (it.0, it.1.text.as_str())).collect::<Vec<_>>())
        })
        .filter(|it| !it.1.is_empty())
        .collect();
    let is_late = || until.is_some_and(|until| Instant::now() > until);
    let read = on_all_cores(cx.db, &unread, |sema, (held, places), read: &mut Vec<_>| {
        if is_late() {
            return read.push(Err(places.iter().map(|it| (held.id, it.0)).collect::<Vec<_>>()));
        }
        let default = |at: usize| default(held, at);
        let owners = instances::further_owners(sema.db, held.id);
        let mut collector = FurtherCollector::new(sema.db, &owners, &default);
        all_instances::read_words_further(sema.db, held.id, places, |krate, at, it| collector.add(krate, at, it));
        read.push(Ok((held.id, collector.finish())));
    });
    for it in read {
        match it {
            Ok((id, names)) => found.entry(id).or_default().push(names),
            Err(places) => unasked.extend(places),
        }
    }
    (found, unasked)
}

/// Whether the default build does not find what a file imports, so that it does not compile the file: a test, an example
/// or a doctest that needs a feature.
fn has_failed_imports(cx: &Context<'_>, file: FileId) -> bool {
    let tree = cx.sema.parse_guess_edition(file);
    let names = names_now(cx, file);
    let imports = tree.syntax().descendants().filter(|it| ast::Use::can_cast(it.kind()));
    let is_failed = |it: StoredResolution| it == StoredResolution::Unresolved(UnresolvedReason::UnknownType);
    imports.into_iter().any(|it| {
        let range = it.text_range();
        names.within(range.start().into(), range.end().into()).any(|it| is_failed(it.1))
    })
}

/// Places that the time limit left out.
type Unasked = HashSet<(FileId, usize)>;

/// A file with the places that contain the words of a search.
struct Held<'a> {
    file: &'a Arc<File>,
    id: FileId,
    places: Vec<(usize, &'a Word)>,
    known: Option<Arc<Names>>,
    further: Option<Arc<FurtherNames>>,
}

/// Places that have to be resolved: in one body, or outside all bodies.
struct Unread<'a> {
    id: FileId,
    places: Vec<(usize, &'a Word)>,
    length: usize,
}

impl<'a> Held<'a> {
    fn known_at(&self, at: usize) -> Option<&Names> {
        self.known.as_deref().filter(|it| it.is_known_at(at))
    }

    fn unread(&self, db: &RootDatabase) -> Vec<Unread<'a>> {
        if self.places.iter().all(|it| self.known_at(it.0).is_some()) {
            return Vec::new();
        }
        let interface = file_interface(db, self.id);
        let mut parts: Vec<(Option<Span>, Unread<'a>)> = Vec::new();
        for place in self.places.iter().filter(|it| self.known_at(it.0).is_none()) {
            let body = interface.body_around(place.0);
            match parts.iter_mut().rev().find(|it| it.0 == body) {
                Some((_, part)) => part.places.push(*place),
                None => {
                    let length = body.map_or(0, |it| it.end - it.start);
                    parts.push((body, Unread { id: self.id, places: vec![*place], length }));
                }
            }
        }
        parts.into_iter().map(|it| it.1).collect()
    }
}

impl Unread<'_> {
    fn read(&self, sema: &Semantics<'_, RootDatabase>) -> Names {
        let mut collector = Collector::new(sema.db);
        let words: Vec<(usize, &str)> = self.places.iter().map(|it| (it.0, it.1.text.as_str())).collect();
        all_instances::read_words(sema, self.id, &words, |at, resolution| collector.add(at, resolution));
        collector.finish()
    }
}

/// Adds the usages in a file, from the index and from the resolved places.
fn add_usages(
    cx: &Context<'_>,
    search: &Search,
    held: &Held<'_>,
    (asked, further): (&[Names], &[FurtherNames]),
    unasked: &Unasked,
    found: &mut [TargetUsages],
) {
    let has_failed_imports = OnceCell::new();
    for &(at, word) in &held.places {
        let occurrence = |role| {
            let at = Span::new(at, at + word.text.len());
            Occurrence { file: held.file.clone(), id: held.id, at, role, build: None, calls: None }
        };
        if unasked.contains(&(held.id, at)) {
            for &target in word.targets.iter().filter(|_| !word.is_keyword()) {
                found[search.targets[target].0].possible.push((occurrence(Role::Other), UnresolvedReason::OutOfTime));
            }
            continue;
        }
        let known = held.known_at(at);
        let asked = asked.iter().filter(|_| known.is_none());
        // The positions of the symbols that it names.
        let mut named: Vec<usize> = Vec::new();
        let mut unresolved = None;
        for (resolution, role) in known.into_iter().chain(asked).flat_map(|it| it.at(at)) {
            match resolution {
                StoredResolution::Means(meaning) => {
                    for position in search.meant_by(&meaning).map(|it| search.targets[it].0) {
                        if !named.contains(&position) {
                            named.push(position);
                            found[position].items.push(occurrence(role));
                        }
                    }
                }
                // A keyword in code that cannot be resolved says nothing about this symbol.
                StoredResolution::Unresolved(_) if word.is_keyword() => {}
                StoredResolution::Unresolved(why) => unresolved = Some((role, why)),
            }
        }
        let further: Vec<&FurtherNames> = match held.further.as_deref().filter(|it| it.is_known_at(at)) {
            Some(known) => vec![known],
            None => further.iter().collect(),
        };
        for (krate, meaning, role) in further.iter().flat_map(|it| it.at(at)) {
            for position in search.meant_by(&meaning).map(|it| search.targets[it].0) {
                if !named.contains(&position) {
                    named.push(position);
                    found[position].items.push(Occurrence { build: Some(krate), ..occurrence(role) });
                }
            }
        }
        // One of several crates with this file may resolve what another one does not.
        let Some((role, why)) = unresolved else { continue };
        let is_uncompiled = || *has_failed_imports.get_or_init(|| self::has_failed_imports(cx, held.id));
        let may_be_off = || why.may_be_off() || why == UnresolvedReason::UnknownType && is_uncompiled();
        if further.iter().any(|it| it.accounts_for(at)) && may_be_off() {
            continue;
        }
        for position in word.targets.iter().map(|it| search.targets[*it].0).filter(|it| !named.contains(it)) {
            found[position].possible.push((occurrence(role), why));
        }
    }
}

impl UnresolvedReason {
    /// Whether it may be unresolved because the default build does not compile it.
    fn may_be_off(self) -> bool {
        use UnresolvedReason::{Inactive, MacroInput, NoCrate};
        matches!(self, Inactive | MacroInput | NoCrate)
    }

    /// Whether the output of macros may give it a meaning. Another build may have the macro.
    fn may_be_written(self) -> bool {
        self.may_be_off()
    }

    fn missing(self, count: usize) -> Missing {
        let (places, them) =
            if count == 1 { ("1 place".to_owned(), "it") } else { (format!("{count} places"), "them") };
        let code = match self {
            UnresolvedReason::NoCrate | UnresolvedReason::OutsideBuilds => MissingCode::NotInAPackage,
            UnresolvedReason::NotLoaded => MissingCode::Indexing,
            UnresolvedReason::MacroInput => MissingCode::MacroOutput,
            UnresolvedReason::Inactive => MissingCode::CfgOff,
            UnresolvedReason::UnknownType => MissingCode::WorkspaceBroken,
            UnresolvedReason::OutOfTime => MissingCode::Timeout,
            UnresolvedReason::TooDeep | UnresolvedReason::Included => MissingCode::Unsupported,
            UnresolvedReason::Abandoned => MissingCode::TooMany,
        };
        let after =
            if matches!(self, UnresolvedReason::OutOfTime | UnresolvedReason::NotLoaded) { "; ask again" } else { "" };
        let detail =
            format!("{places} may name the symbol {}{after}: `usages` lists {them} as `possible`", self.where_it_is());
        Missing::new(code, "rust", detail)
    }

    /// Where such a place is, as the end of a sentence.
    fn where_it_is(self) -> &'static str {
        match self {
            UnresolvedReason::NoCrate => "in a file that no crate includes",
            UnresolvedReason::NotLoaded => "in a file whose crate is not loaded yet",
            UnresolvedReason::OutsideBuilds => {
                "in a file that no crate includes, and unresolved in a program of its own"
            }
            UnresolvedReason::MacroInput => "in the input of a macro that could not be followed",
            UnresolvedReason::Inactive => "in code that is switched off by `cfg`",
            UnresolvedReason::UnknownType => "where the type is unknown",
            UnresolvedReason::OutOfTime => "where it could not be checked in time",
            UnresolvedReason::TooDeep => "in a file that is nested too deeply to be analysed",
            UnresolvedReason::Included => "in a file of another kind that `include!` takes in",
            UnresolvedReason::Abandoned => "in code whose analysis costs too much and was abandoned",
        }
    }

    fn doubt(self) -> Doubt {
        let reason = match self {
            UnresolvedReason::Inactive => PossibleReason::Cfg,
            UnresolvedReason::MacroInput => PossibleReason::MacroInput,
            _ => PossibleReason::Unresolved,
        };
        Doubt { reason, detail: self.where_it_is().to_owned() }
    }
}

/// All names of a file, updated if necessary.
pub(crate) fn names_now(context: &Context<'_>, file: FileId) -> Arc<Names> {
    let known = context.index.names(file).filter(|it| it.is_complete());
    known.unwrap_or_else(|| names_of(context.db, context.db.file_text(file)))
}
