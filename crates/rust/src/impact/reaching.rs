//! The tests that reach a changed item: a breadth-first search over the items that name it, the items that name those,
//! and so on. Each step is a look-up in the index, in the state before the change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::defs::Definition;

use super::delta::Delta;
use super::edit_context::{EditContext, Side};
use crate::LANGUAGE;
use crate::checks::anchors::{body_item_around, has_body};
use crate::index::FileSymbols;
use crate::index::file_names::{self, Names, StoredResolution};
use crate::names::{Key, Meaning};
use crate::resolve::symbols::is_test_at;
use crate::resolve::{paths, symbols};
use crate::view::Context;
use crate::view::doctest_files::DoctestFile;
use semdex_engine::files::File;
use semdex_model::{Affected, OutlineItem, Reaching, Role, Span};
use semdex_text::words::words;

/// The most steps from a test to a change.
const MAX_STEPS: u32 = 8;
/// The most tests that are reported; more are not useful.
const MAX_TESTS: usize = 100;
/// The most functions that are followed: for an item that nearly everything reaches, the nearest tests are reported.
const MAX_REACHED: usize = 4000;

/// How long the names of files are read that are not in the index yet.
const READING: Duration = Duration::from_millis(300);

/// The nearest tests, and why there may be more.
pub(crate) struct Tests {
    pub(crate) found: Vec<ReachedTest>,
    /// The names of some files were not read in time, so tests may be missing.
    pub(crate) is_unread: bool,
    /// Why there may be more tests further away.
    pub(crate) cut: Option<&'static str>,
}

/// A test in the state before the change.
pub(crate) struct ReachedTest {
    file: Arc<File>,
    id: FileId,
    /// The item that leads there.
    at: Span,
    changed_symbol: Arc<str>,
    distance: u32,
}

/// A file with its known names.
struct Source<'c> {
    file: &'c Arc<File>,
    id: FileId,
    names: Arc<Names>,
    known: Arc<FileSymbols>,
}

pub(crate) fn tests_reaching(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Tests {
    let mut tests = Tests { found: Vec::new(), is_unread: false, cut: None };
    let latest = Instant::now() + READING;
    let mut sources = Vec::new();
    let mut is_whole = true;
    for file in cx.files.of(LANGUAGE) {
        let Some(id) = cx.file_id(&file.path) else { continue };
        match names_in_time(cx, id, latest) {
            Some(names) if cx.index.symbols(id).is_some() || Instant::now() < latest => {
                is_whole &= names.is_complete();
                sources.push(Source { file, id, names, known: symbols::file_symbols(cx, file, id) });
            }
            _ => is_whole = false,
        }
    }
    let mut seen: HashSet<Key> = HashSet::new();
    let mut reported: HashSet<(FileId, usize)> = HashSet::new();
    let mut level: HashMap<Key, Arc<str>> = HashMap::new();
    for (index, delta) in deltas {
        let Some((old, item)) = edit.olds.get(*index).zip(delta.before) else { continue };
        let Some(source) = sources.iter().find(|it| it.file.path == old.path) else { continue };
        if is_test(item, old) && reported.insert((source.id, item.name_span.start)) {
            let (at, changed_symbol) = (item.name_span, Arc::from(item.name.as_str()));
            tests.found.push(ReachedTest { file: source.file.clone(), id: source.id, at, changed_symbol, distance: 0 });
        }
        for key in source.known.declared(item.name_span.start).into_iter().flat_map(|it| and_original(cx.db, it)) {
            let path = paths::shared_path(cx, key).unwrap_or_else(|| Arc::from(item.name.as_str()));
            if seen.insert(key) {
                level.insert(key, path);
            }
        }
    }
    let mut with_doctests = Vec::new();
    for of in cx.doctests() {
        match names_in_time(cx, of.module, latest) {
            Some(names) => {
                is_whole &= names.is_complete();
                with_doctests.push((of, names));
            }
            None => is_whole = false,
        }
    }
    tests.is_unread = !is_whole;
    for distance in 1..=MAX_STEPS {
        if level.is_empty() || tests.found.len() >= MAX_TESTS || seen.len() > MAX_REACHED {
            break;
        }
        for (of, names) in &with_doctests {
            doctests_of(cx, of, names, &level, distance, &mut reported, &mut tests);
        }
        let mut next = Vec::new();
        for source in &sources {
            step_back(source, &level, distance, &mut reported, &mut tests, &mut next);
        }
        let more = next
            .into_iter()
            .flat_map(|(key, changed_symbol)| and_original(cx.db, key).map(move |it| (it, changed_symbol.clone())));
        level = more.filter(|it| seen.insert(it.0)).collect();
    }
    if !tests.is_unread && (tests.found.len() >= MAX_TESTS || !level.is_empty()) {
        let is_none = tests.found.is_empty();
        tests.cut = Some(if is_none { Reaching::NONE_NEAR } else { "there are more: these are the nearest" });
    }
    tests.found.truncate(MAX_TESTS);
    tests
}

/// The names of a file. Those that are not in the index are read, if there is time.
fn names_in_time(cx: &Context<'_>, id: FileId, latest: Instant) -> Option<Arc<Names>> {
    let known = cx.index.names(id);
    if known.as_ref().is_some_and(|it| it.is_complete()) || Instant::now() > latest {
        return known;
    }
    cx.index.learn_names(id, file_names::names_of(cx.db, cx.db.file_text(id)));
    cx.index.names(id)
}

/// The resolutions of a file's names that mean one of these.
fn resolutions_of(names: &Names, level: &HashMap<Key, Arc<str>>) -> HashMap<StoredResolution, Arc<str>> {
    let changed_symbol = |it: &Meaning| level.get(&it.definition).or_else(|| level.get(&it.original)).cloned();
    let wanted = names.resolutions().filter_map(|resolution| match resolution {
        StoredResolution::Means(meaning) if !meaning.declares => Some((resolution, changed_symbol(&meaning)?)),
        _ => None,
    });
    wanted.collect()
}

/// Reports the doctests of a file that name one of these.
fn doctests_of(
    cx: &Context<'_>,
    of: &DoctestFile,
    names: &Names,
    level: &HashMap<Key, Arc<str>>,
    distance: u32,
    reported: &mut HashSet<(FileId, usize)>,
    tests: &mut Tests,
) {
    let wanted = resolutions_of(names, level);
    let Some(file) = cx.files.get(&of.name).filter(|_| !wanted.is_empty()) else { return };
    for (at, resolution, role) in names.within(0, usize::MAX) {
        let Some(changed_symbol) = wanted.get(&resolution).filter(|_| role != Role::Import) else { continue };
        let word = words(&of.text.text[at..]).next().map_or(0, |it| it.1.len());
        let test = of.doctests.test_at(at);
        let Some((test, at)) = test.zip(of.place(Span::new(at, at + word))) else { continue };
        if reported.insert((of.module, test.span.start)) {
            let (file, changed_symbol) = (file.clone(), changed_symbol.clone());
            tests.found.push(ReachedTest { file, id: of.id, at, changed_symbol, distance });
        }
    }
}

/// The items of a file that name one of these: its tests are reported, its other functions are the next step.
fn step_back(
    source: &Source<'_>,
    level: &HashMap<Key, Arc<str>>,
    distance: u32,
    reported: &mut HashSet<(FileId, usize)>,
    tests: &mut Tests,
    next: &mut Vec<(Key, Arc<str>)>,
) {
    let wanted = resolutions_of(&source.names, level);
    if wanted.is_empty() {
        return;
    }
    for (at, resolution, role) in source.names.within(0, usize::MAX) {
        let Some(changed_symbol) = wanted.get(&resolution) else { continue };
        if matches!(role, Role::Import | Role::Doc) {
            continue;
        }
        let outer = body_item_around(source.file, at);
        let inner = source.file.outline().enclosing(at).into_iter().rfind(|it| has_body(it.kind));
        let test = [inner, outer].into_iter().flatten().find(|it| is_test(it, source.file));
        // A macro call among items in a test file generates some tests.
        let anchor = match (test, inner) {
            (Some(test), _) => Some(test.name_span.start),
            (None, None) if is_test_at(source.file, at) => Some(at),
            _ => None,
        };
        if let Some(anchor) = anchor {
            if reported.insert((source.id, anchor)) {
                let word = words(&source.file.text[at..]).next().map_or(0, |it| it.1.len());
                let at = Span::new(at, at + word);
                let (file, changed_symbol) = (source.file.clone(), changed_symbol.clone());
                tests.found.push(ReachedTest { file, id: source.id, at, changed_symbol, distance });
            }
        } else if let Some(key) = inner.and_then(|it| source.known.declared(it.name_span.start)) {
            next.push((key, changed_symbol.clone()));
        }
    }
}

/// With the trait's item that it implements, through which it is called too.
fn and_original<'db>(db: &'db RootDatabase, key: Key) -> impl Iterator<Item = Key> + use<> {
    let definition: Definition<'db> = key.definition();
    let original = Meaning::new(definition, false, db).map(|it| it.original).filter(|it| *it != key);
    std::iter::once(key).chain(original)
}

/// The tests at their positions after the change.
pub(crate) fn reported_tests(cx: &Context<'_>, tests: &Tests, edit: &EditContext, now: Side) -> Vec<Reaching> {
    let reported = tests.found.iter().filter_map(|it| {
        let start = edit.moved(&it.file.path, it.at.start)?;
        let edited = edit.news.iter().find(|new| new.path == it.file.path);
        let file = edited.or_else(|| cx.files.get(&it.file.path))?;
        let (own, at) = match now {
            Side::Before => (&it.file, it.at.start),
            Side::After => (file, start),
        };
        let place = file.lines().place(&file.path, Span::new(start, start + (it.at.end - it.at.start)));
        let symbol = symbols::enclosing_path(cx, own, it.id, at);
        let at = Affected {
            build: None,
            text: symbols::line(file, &place),
            symbol,
            cause: Some(it.changed_symbol.to_string()),
            test: true,
            place,
        };
        Some(Reaching { at, distance: Some(it.distance) })
    });
    reported.collect()
}

/// Whether a test runner runs or measures the item itself.
fn is_test(item: &OutlineItem, file: &File) -> bool {
    let head = file.text.get(item.span.start..item.name_span.start).unwrap_or_default();
    let mut attributes = head.split("#[").skip(1).filter_map(|it| it.split([']', '(']).next());
    attributes.any(|it| {
        let name = it.rsplit("::").next().unwrap_or(it).trim();
        name.ends_with("test") || matches!(name, "bench" | "test_case" | "quickcheck")
    })
}
