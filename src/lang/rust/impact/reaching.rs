//! The tests that reach what changes: who names it, who names that one, and so on. Every step is a look-up in the
//! index, in the state before the change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;

use super::affected_set::{has_body, unit_around};
use super::{EditContext, Side};
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::index::Known;
use crate::lang::rust::named::{Names, Sense};
use crate::lang::rust::names::{Key, Meaning};
use crate::lang::rust::symbols::is_test_at;
use crate::lang::rust::view::Context;
use crate::model::{Affected, OutlineItem, Reaching, Role, Span};
use crate::text::words::words;

/// The steps from a test to what changes that are followed.
const MAX_STEPS: u32 = 8;
/// Tests that are told; more say no more.
const MAX_TESTS: usize = 100;
/// Functions that are followed: what nearly everything reaches is told by its nearest tests.
const MAX_REACHED: usize = 4000;

/// The nearest tests, and why there may be more.
pub(super) struct Tests {
    pub(super) found: Vec<Found>,
    pub(super) missing: Option<&'static str>,
}

/// A test in the state before the change.
pub(super) struct Found {
    file: Arc<File>,
    id: FileId,
    /// What leads there.
    at: Span,
    cause: Arc<str>,
    distance: u32,
}

/// A file with what is known of it.
struct Source<'c> {
    file: &'c Arc<File>,
    id: FileId,
    names: Arc<Names>,
    known: Arc<Known>,
}

impl<'db> Context<'db> {
    pub(super) fn tests_reaching(&self, deltas: &[(usize, Delta<'_>)], scene: &EditContext) -> Tests {
        let mut tests = Tests { found: Vec::new(), missing: None };
        let mut sources = Vec::new();
        let mut is_whole = true;
        for file in self.files.of(LANGUAGE) {
            let Some(id) = self.file_id(&file.path) else { continue };
            match self.index.names(id).zip(self.index.symbols(id)) {
                Some((names, known)) => {
                    is_whole &= names.is_complete();
                    sources.push(Source { file, id, names, known });
                }
                None => is_whole = false,
            }
        }
        let mut seen: HashSet<Key> = HashSet::new();
        let mut told: HashSet<(FileId, usize)> = HashSet::new();
        let mut level: HashMap<Key, Arc<str>> = HashMap::new();
        for (index, delta) in deltas {
            let Some((old, item)) = scene.olds.get(*index).zip(delta.before) else { continue };
            let Some(source) = sources.iter().find(|it| it.file.path == old.path) else { continue };
            if is_test(item, old) && told.insert((source.id, item.name_span.start)) {
                let (at, cause) = (item.name_span, Arc::from(item.name.as_str()));
                tests.found.push(Found { file: source.file.clone(), id: source.id, at, cause, distance: 0 });
            }
            for key in source.known.declared(item.name_span.start).into_iter().flat_map(|it| self.and_original(it)) {
                let path = self.shared_path(key).unwrap_or_else(|| Arc::from(item.name.as_str()));
                if seen.insert(key) {
                    level.insert(key, path);
                }
            }
        }
        if !is_whole {
            tests.missing = Some("the names of some files are being read: ask again");
        }
        for distance in 1..=MAX_STEPS {
            if level.is_empty() || tests.found.len() >= MAX_TESTS || seen.len() > MAX_REACHED {
                break;
            }
            let mut next = Vec::new();
            for source in &sources {
                self.step_back(source, &level, distance, &mut told, &mut tests, &mut next);
            }
            let more =
                next.into_iter().flat_map(|(key, cause)| self.and_original(key).map(move |it| (it, cause.clone())));
            level = more.filter(|it| seen.insert(it.0)).collect();
        }
        if tests.missing.is_none() && (tests.found.len() >= MAX_TESTS || !level.is_empty()) {
            tests.missing = Some("there are more: these are the nearest");
        }
        tests.found.truncate(MAX_TESTS);
        tests
    }

    /// Who of a file names one of these: its tests are told, its other functions are next.
    fn step_back(
        &self,
        source: &Source<'_>,
        level: &HashMap<Key, Arc<str>>,
        distance: u32,
        told: &mut HashSet<(FileId, usize)>,
        tests: &mut Tests,
        next: &mut Vec<(Key, Arc<str>)>,
    ) {
        let cause = |it: &Meaning| level.get(&it.definition).or_else(|| level.get(&it.original)).cloned();
        let wanted: HashMap<Sense, Arc<str>> = source
            .names
            .senses()
            .filter_map(|sense| match sense {
                Sense::Means(meaning) if !meaning.declares => Some((sense, cause(&meaning)?)),
                _ => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        for (at, sense, role) in source.names.within(0, usize::MAX) {
            let Some(cause) = wanted.get(&sense) else { continue };
            if matches!(role, Role::Import | Role::Doc) {
                continue;
            }
            let outer = unit_around(source.file, at);
            let inner = source.file.outline().enclosing(at).into_iter().rfind(|it| has_body(it.kind));
            let test = [inner, outer].into_iter().flatten().find(|it| is_test(it, source.file));
            // A macro among items that stands in a file of tests makes some.
            let anchor = match (test, inner) {
                (Some(test), _) => Some(test.name_span.start),
                (None, None) if is_test_at(source.file, at) => Some(at),
                _ => None,
            };
            if let Some(anchor) = anchor {
                if told.insert((source.id, anchor)) {
                    let word = words(&source.file.text[at..]).next().map_or(0, |it| it.1.len());
                    let at = Span::new(at, at + word);
                    let (file, cause) = (source.file.clone(), cause.clone());
                    tests.found.push(Found { file, id: source.id, at, cause, distance });
                }
            } else if let Some(key) = inner.and_then(|it| source.known.declared(it.name_span.start)) {
                next.push((key, cause.clone()));
            }
        }
    }

    /// With the item of the trait that it implements: by that it is called too.
    fn and_original(&self, key: Key) -> impl Iterator<Item = Key> + use<> {
        let definition: Definition<'db> = key.definition();
        let original = Meaning::new(definition, false, self.db).map(|it| it.original).filter(|it| *it != key);
        std::iter::once(key).chain(original)
    }

    /// As they stand after the change.
    pub(super) fn told_tests(&self, tests: &Tests, scene: &EditContext, now: Side) -> Vec<Reaching> {
        let told = tests.found.iter().filter_map(|it| {
            let start = scene.moved(&it.file.path, it.at.start)?;
            let edited = scene.news.iter().find(|new| new.path == it.file.path);
            let file = edited.or_else(|| self.files.get(&it.file.path))?;
            let (own, at) = match now {
                Side::Before => (&it.file, it.at.start),
                Side::After => (file, start),
            };
            let place = file.lines().place(&file.path, Span::new(start, start + (it.at.end - it.at.start)));
            let symbol = self.enclosing_path(own, it.id, at);
            let at = Affected {
                text: self.line(file, &place),
                symbol,
                cause: Some(it.cause.to_string()),
                test: true,
                place,
            };
            Some(Reaching { at, distance: Some(it.distance) })
        });
        told.collect()
    }
}

/// Whether the item itself is what a test runner runs, or measures.
fn is_test(item: &OutlineItem, file: &File) -> bool {
    let head = file.text.get(item.span.start..item.name_span.start).unwrap_or_default();
    let mut attributes = head.split("#[").skip(1).filter_map(|it| it.split([']', '(']).next());
    attributes.any(|it| {
        let name = it.rsplit("::").next().unwrap_or(it).trim();
        name.ends_with("test") || matches!(name, "bench" | "test_case" | "quickcheck")
    })
}
