//! Where symbols are named. Every occurrence of a name in the workspace's own text is accounted for: it resolves to the
//! symbol, to another thing, or nobody can say. So a count is not only found but proved.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use rustc_hash::FxHashMap;

use super::named::{Collector, Names, Sense};
use super::names::{Key, Meaning, Reader, Target, Why};
use super::outside::outside;
use super::paths::plain_name;
use super::postings::Postings;
use super::symbols::is_test_at;
use super::view::{Context, on_all_cores};
use crate::lang::files::File;
use crate::lang::rank::{UsageRank, rest, usage_order};
use crate::lang::rust::LANGUAGE;
use crate::model::{Answer, Coverage, Missing, MissingCode, Role, Span, Symbol, Usage, UsageCount, UsagePage, Window};
use crate::text::words::word_hash;

/// A place that names a target, or may do so.
#[derive(Clone)]
pub(super) struct Occurrence {
    pub(super) file: Arc<File>,
    pub(super) id: FileId,
    pub(super) at: Span,
    pub(super) role: Role,
}

/// What a pass found for one target.
#[derive(Default)]
pub(super) struct Found {
    pub(super) items: Vec<Occurrence>,
    possible: Vec<(Occurrence, Why)>,
}

impl Found {
    /// Places in the input and the definitions of macros that may name the target.
    pub(super) fn in_macros(self) -> impl Iterator<Item = Occurrence> {
        self.possible.into_iter().filter(|it| it.1 == Why::MacroInput).map(|it| it.0)
    }

    fn tell_possible(&self, coverage: &mut Coverage) {
        for why in [
            Why::NoCrate,
            Why::MacroInput,
            Why::Inactive,
            Why::UnknownType,
            Why::OutOfTime,
            Why::TooDeep,
            Why::Included,
        ] {
            let count = self.possible.iter().filter(|it| it.1 == why).count();
            if count > 0 {
                coverage.lacks(why.missing(count));
            }
        }
    }

    /// The positions of the usages in the order in which they are told.
    fn order(&self, own: Option<FileId>) -> Vec<usize> {
        let mut file = 0;
        let mut ranks: Vec<UsageRank> = Vec::with_capacity(self.items.len());
        for (position, it) in self.items.iter().enumerate() {
            // A pass goes through the files by their names.
            file += usize::from(position > 0 && self.items[position - 1].id != it.id);
            let test = is_test_at(&it.file, it.at.start);
            ranks.push(UsageRank { file, at: it.at.start, test, own: own == Some(it.id) });
        }
        usage_order(&ranks)
    }
}

impl<'db> Context<'db> {
    /// The usages of one symbol, with the proof that there are no others. Of what is not compiled only the places that
    /// may name it.
    pub(super) fn found_for(&self, symbol: &Symbol, definition: Option<Definition<'db>>) -> Answer<Found> {
        match definition {
            Some(definition) => self.found_of(definition),
            None => {
                let found = self.search_for(&Search::written(&symbol.name)).pop().unwrap_or_default();
                let mut coverage = self.not_compiled(symbol);
                found.tell_possible(&mut coverage);
                Answer { value: found, coverage }
            }
        }
    }

    pub(super) fn found_of(&self, definition: Definition<'db>) -> Answer<Found> {
        let found = self.find(&[definition]).pop().unwrap_or_default();
        let mut coverage = self.coverage(false);
        found.tell_possible(&mut coverage);
        Answer { value: found, coverage }
    }

    /// What can only be asked of compiled code, of something that is not.
    pub(super) fn nothing_known_of<T>(&self, symbol: &Symbol) -> Answer<Vec<T>> {
        Answer { value: Vec::new(), coverage: self.not_compiled(symbol) }
    }

    fn not_compiled(&self, symbol: &Symbol) -> Coverage {
        let mut coverage = self.coverage(false);
        let in_a_crate = self.file_id(&symbol.place.file).is_some_and(|id| self.sema.file_to_module_def(id).is_some());
        let (code, why) = match in_a_crate {
            true => (MissingCode::CfgOff, "`cfg` switches it off"),
            false => (MissingCode::NotInAPackage, "no crate includes its file"),
        };
        let detail = format!("{why}, so what uses it is not known: `possible` lists what may name it");
        coverage.lacks(Missing::new(code, &*symbol.place.file, detail));
        coverage
    }

    pub(super) fn page(&self, found: &Found, definition: Option<Definition<'db>>, window: Window) -> UsagePage {
        let own = definition.and_then(|it| it.try_to_nav(&self.sema)).map(|it| it.call_site.file_id);
        let files: HashSet<FileId> = found.items.iter().map(|it| it.id).collect();
        let order = found.order(own);
        let mut enclosing = HashMap::new();
        let mut usage = |it: &Occurrence| self.usage(it, &mut enclosing);
        let items = window.of(&order).iter().map(|it| usage(&found.items[*it])).collect();
        let possible = rest(window, order.len()).of(&found.possible).iter().map(|it| usage(&it.0)).collect();
        UsagePage {
            count: UsageCount { total: found.items.len(), files: files.len() },
            possible_count: found.possible.len(),
            items,
            possible,
        }
    }

    fn usage(&self, it: &Occurrence, enclosing: &mut HashMap<(FileId, usize), Option<String>>) -> Usage {
        let place = it.file.lines().place(&it.file.path, it.at);
        let innermost = it.file.outline().enclosing(it.at.start).last().map_or(0, |item| item.span.start);
        let around = || self.enclosing_path(&it.file, it.id, it.at.start);
        let symbol = enclosing.entry((it.id, innermost)).or_insert_with(around).clone();
        Usage {
            text: self.line(&it.file, &place),
            place,
            symbol,
            role: it.role,
            test: is_test_at(&it.file, it.at.start),
        }
    }

    /// One pass for any number of symbols; the results stand in their order.
    pub(super) fn find(&self, definitions: &[Definition<'db>]) -> Vec<Found> {
        self.search_for(&Search::new(self, definitions))
    }

    /// What there is no time to look at is possible.
    pub(super) fn search_for(&self, search: &Search) -> Vec<Found> {
        self.search_within(search, self.until).0
    }

    /// `None` if it is not done by then.
    pub(super) fn search_until(&self, search: &Search, until: Instant) -> Option<Vec<Found>> {
        let (found, is_whole) = self.search_within(search, Some(until));
        is_whole.then_some(found)
    }

    /// And whether everything was looked at.
    fn search_within(&self, search: &Search, until: Option<Instant>) -> (Vec<Found>, bool) {
        let mut found: Vec<Found> = (0..search.definitions).map(|_| Found::default()).collect();
        let postings = self.index.postings();
        let holders = search.holders(&postings);
        let all: Vec<usize> = (0..search.words.len()).collect();
        let mut held: Vec<Held<'_>> = Vec::new();
        for file in self.files.of(LANGUAGE) {
            let Some(id) = self.file_id(&file.path) else { continue };
            let words = match holders.get(&id) {
                _ if !postings.knows(id, file) => &all,
                Some(words) => words,
                None => continue,
            };
            let places = search.places(file, words);
            if file.is_too_deep() {
                // Of what the parser never saw nothing is known, not even what is a comment.
                for (at, word) in places {
                    let at = Span::new(at, at + word.text.len());
                    let it = Occurrence { file: file.clone(), id, at, role: Role::Other };
                    word.targets.iter().for_each(|target| {
                        found[search.targets[*target].0].possible.push((it.clone(), Why::TooDeep));
                    });
                }
            } else if !places.is_empty() {
                held.push(Held { file, id, places, known: self.index.names(id) });
            }
        }
        for (file, id) in self.included() {
            for (at, word) in search.places(file, &all) {
                let at = Span::new(at, at + word.text.len());
                let it = Occurrence { file: file.clone(), id, at, role: Role::Other };
                for target in &word.targets {
                    found[search.targets[*target].0].possible.push((it.clone(), Why::Included));
                }
            }
        }
        drop(postings);
        let (asked, unasked) = self.ask_now(&held, until);
        for it in &held {
            search.add(it, asked.get(&it.id).map_or(&[][..], Vec::as_slice), &unasked, &mut found);
        }
        // What is compiled under another name was looked at there.
        let is_known = |it: &Occurrence| self.environment.compiled_elsewhere.contains(&*it.file.path);
        for found in &mut found {
            found.possible.retain(|(it, why)| *why != Why::NoCrate || !is_known(it));
        }
        (found, unasked.is_empty())
    }

    /// What the names mean of which it is not known, and the places that there was no time for.
    fn ask_now(&self, held: &[Held<'_>], until: Option<Instant>) -> (FxHashMap<FileId, Vec<Names>>, Unasked) {
        let mut unread: Vec<Unread<'_>> = held.iter().flat_map(|it| it.unread(self.db)).collect();
        // The longest first, so that all threads end together.
        unread.sort_by_key(|it| std::cmp::Reverse(it.length));
        let is_late = || until.is_some_and(|until| Instant::now() > until);
        let read = on_all_cores(self.db, &unread, |sema, unread, read: &mut Vec<_>| {
            let names = (!is_late()).then(|| unread.read(sema));
            read.push(
                names
                    .ok_or(unread.places.iter().map(|it| (unread.id, it.0)).collect::<Vec<_>>())
                    .map(|it| (unread.id, it)),
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
}

/// Places that there was no time to look at.
type Unasked = HashSet<(FileId, usize)>;

/// A file with the places where it holds the words of a search.
struct Held<'a> {
    file: &'a Arc<File>,
    id: FileId,
    places: Vec<(usize, &'a Word)>,
    known: Option<Arc<Names>>,
}

/// Places of which it must be asked what they mean: those in one body, or outside of all.
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
        let outside = outside(db, self.id);
        let mut parts: Vec<(Option<Span>, Unread<'a>)> = Vec::new();
        for place in self.places.iter().filter(|it| self.known_at(it.0).is_none()) {
            let body = outside.body_around(place.0);
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
        let reader = Reader::new(sema, self.id);
        let mut collector = Collector::new(sema.db);
        for &(at, word) in &self.places {
            if let Some(verdict) = reader.read(at, &word.text) {
                collector.add(at, verdict);
            }
        }
        collector.finish()
    }
}

/// The symbols that one pass looks for, and the words that may name them.
#[derive(Debug, Default, Clone)]
pub(super) struct Search {
    /// How many were asked for.
    definitions: usize,
    /// With the position in the question. Nothing can be seen to mean what is not compiled.
    targets: Vec<(usize, Option<Target>)>,
    /// Positions in `targets`, by what a name of them may mean.
    by_key: FxHashMap<Key, Vec<usize>>,
    words: Vec<Word>,
}

#[derive(Debug, Clone)]
struct Word {
    text: String,
    /// Positions in `targets`.
    targets: Vec<usize>,
}

impl Word {
    fn is_keyword(&self) -> bool {
        matches!(self.text.as_str(), "Self" | "self" | "super" | "crate")
    }
}

impl Search {
    pub(super) fn new<'db>(context: &Context<'db>, definitions: &[Definition<'db>]) -> Search {
        let mut search = Search { definitions: definitions.len(), ..Search::default() };
        let mut known: HashMap<String, usize> = HashMap::new();
        for (position, &definition) in definitions.iter().enumerate() {
            let Some(target) = Target::new(definition, context.db) else { continue };
            let index = search.targets.len();
            for text in target.words(context.db) {
                let word = *known.entry(text.clone()).or_insert(search.words.len());
                if word == search.words.len() {
                    search.words.push(Word { text, targets: Vec::new() });
                }
                search.words[word].targets.push(index);
            }
            for key in target.keys() {
                search.by_key.entry(key).or_default().push(index);
            }
            search.targets.push((position, Some(target)));
        }
        search
    }

    /// For what may be meant by a name that means nothing that is known.
    fn written(name: &str) -> Search {
        let word = Word { text: plain_name(name).to_owned(), targets: vec![0] };
        Search { definitions: 1, targets: vec![(0, None)], words: vec![word], ..Search::default() }
    }

    /// The targets that a name of this meaning is a usage of.
    fn meant_by(&self, meaning: &Meaning) -> impl Iterator<Item = usize> {
        let original = (meaning.original != meaning.definition).then_some(meaning.original);
        let keys = std::iter::once(meaning.definition).chain(original);
        let near = keys.filter_map(|it| self.by_key.get(&it)).flatten();
        near.copied().filter(|it| self.targets[*it].1.as_ref().is_some_and(|it| it.is_meant_by(meaning)))
    }

    /// Adds what is meant in a file, as it is known or was asked.
    fn add(&self, held: &Held<'_>, asked: &[Names], unasked: &Unasked, found: &mut [Found]) {
        for &(at, word) in &held.places {
            let occurrence = |role| {
                let at = Span::new(at, at + word.text.len());
                Occurrence { file: held.file.clone(), id: held.id, at, role }
            };
            if unasked.contains(&(held.id, at)) {
                for &target in word.targets.iter().filter(|_| !word.is_keyword()) {
                    found[self.targets[target].0].possible.push((occurrence(Role::Other), Why::OutOfTime));
                }
                continue;
            }
            let known = held.known_at(at);
            let asked = asked.iter().filter(|_| known.is_none());
            let mut named: Vec<usize> = Vec::new();
            for (sense, role) in known.into_iter().chain(asked).flat_map(|it| it.at(at)) {
                match sense {
                    Sense::Means(meaning) => {
                        for target in self.meant_by(&meaning) {
                            if !named.contains(&target) {
                                named.push(target);
                                found[self.targets[target].0].items.push(occurrence(role));
                            }
                        }
                    }
                    // A keyword in code that cannot be resolved says nothing of this symbol.
                    Sense::Unresolved(_) if word.is_keyword() => {}
                    Sense::Unresolved(why) => {
                        for &target in &word.targets {
                            found[self.targets[target].0].possible.push((occurrence(role), why));
                        }
                    }
                }
            }
        }
    }

    /// For each file that was seen to hold some of the words, which.
    fn holders(&self, postings: &Postings) -> FxHashMap<FileId, Vec<usize>> {
        let mut holders: FxHashMap<FileId, Vec<usize>> = FxHashMap::default();
        for (index, word) in self.words.iter().enumerate() {
            for file in postings.files(word_hash(&word.text)) {
                let words = holders.entry(*file).or_default();
                if words.last() != Some(&index) {
                    words.push(index);
                }
            }
        }
        holders
    }

    /// Where these words stand in a file, in order.
    fn places<'a>(&'a self, file: &'a File, words: &[usize]) -> Vec<(usize, &'a Word)> {
        let table = file.words();
        let of = |word: &'a Word| table.offsets(&file.text, &word.text).map(move |at| (at, word));
        let mut places: Vec<(usize, &Word)> = words.iter().map(|it| &self.words[*it]).flat_map(of).collect();
        places.sort_unstable_by_key(|it| it.0);
        places
    }
}

impl Why {
    fn missing(self, count: usize) -> Missing {
        let places = if count == 1 { "1 place names".to_owned() } else { format!("{count} places name") };
        let (code, detail) = match self {
            Why::NoCrate => (MissingCode::NotInAPackage, "it in files that no crate includes"),
            Why::MacroInput => (MissingCode::MacroOutput, "it in the input of a macro that could not be followed"),
            Why::Inactive => (MissingCode::CfgOff, "it in code that is switched off by `cfg`"),
            Why::UnknownType => (MissingCode::WorkspaceBroken, "it where the type is unknown"),
            Why::OutOfTime => (MissingCode::Timeout, "it and could not be looked at in time; ask again"),
            Why::TooDeep => (MissingCode::Unsupported, "it in files that are nested too deeply to be analysed"),
            Why::Included => (MissingCode::Unsupported, "it in files of another kind that `include!` takes in"),
        };
        Missing::new(code, "rust", format!("{places} {detail}: see `possible`"))
    }
}
