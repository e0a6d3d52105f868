//! What the ranking knows of all files at one revision, besides their terms.

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::kinds::{Kind, kind};
use super::postings::{Added, New, Postings};
use semdex_engine::files::{File, Files};
use semdex_text::terms::each;
use semdex_text::words::{WordHash, word_hash, words};

/// What the ranking knows of all files at one revision, besides their terms.
#[derive(Debug)]
pub struct Index {
    /// The ranked files, in the order of their names.
    pub files: Vec<Arc<Ranked>>,
    pub(super) postings: Postings,
    positions: HashMap<Arc<str>, usize>,
}

/// A file of the ranking.
#[derive(Debug)]
pub struct Ranked {
    /// The file.
    pub file: Arc<File>,
    /// What kind of file it is.
    pub kind: Kind,
    /// The sections that have tests.
    tests: Vec<bool>,
    /// The names of its declarations, with their sections.
    names: Vec<(WordHash, u16)>,
    /// How many terms it has.
    pub(super) length: f64,
}

impl Ranked {
    fn new(file: &Arc<File>, kind: Kind) -> Ranked {
        let terms = file.terms();
        let mut names = Vec::new();
        file.outline().walk(&mut |item| {
            if let Some(section) = terms.section_at(item.name_span.start) {
                names.push((word_hash(&item.name), section as u16));
            }
        });
        let length = terms.lengths.iter().map(|it| f64::from(*it)).sum();
        Ranked { file: file.clone(), kind, tests: tests(file), names, length }
    }
}

/// A section of a file: the positions of the file in the index and of the section in the file.
pub type At = (usize, usize);

impl Index {
    /// The index of these files. `hides` says which are never ranked, `takes` which are ranked though they are generated
    /// or the like.
    pub fn new(files: &Files, hides: impl Fn(&File) -> bool, takes: impl Fn(&File) -> bool) -> Index {
        let none = Index { files: Vec::new(), postings: Postings::default(), positions: HashMap::new() };
        none.after(files, hides, takes)
    }

    /// The index after a change: of files that are the same, everything is taken from this one.
    pub fn after(&self, files: &Files, hides: impl Fn(&File) -> bool, takes: impl Fn(&File) -> bool) -> Index {
        let mut moved: Vec<Option<u32>> = vec![None; self.files.len()];
        let mut known: Vec<(u32, Arc<Ranked>)> = Vec::new();
        let mut new: Vec<(u32, &Arc<File>, Kind)> = Vec::new();
        for file in files.iter() {
            let position = (known.len() + new.len()) as u32;
            let before = self.position(&file.path);
            let same = before.and_then(|it| self.files.get(it)).filter(|it| Arc::ptr_eq(&it.file, file));
            if let Some(same) = same {
                if let Some(moved) = before.and_then(|it| moved.get_mut(it)) {
                    *moved = Some(position);
                }
                known.push((position, same.clone()));
                continue;
            }
            let kind = kind(file);
            if (kind != Kind::Noise || takes(file)) && !hides(file) {
                new.push((position, file, kind));
            }
        }
        let mut added = Added::default();
        let mut ranked = known;
        for (position, read, terms) in read_all(&new) {
            added.push(New { position, terms, names: &read.names });
            ranked.push((position, Arc::new(read)));
        }
        ranked.sort_unstable_by_key(|it| it.0);
        let ranked: Vec<Arc<Ranked>> = ranked.into_iter().map(|it| it.1).collect();
        let positions = ranked.iter().enumerate().map(|(at, it)| (it.file.path.clone(), at)).collect();
        Index { postings: Postings::after(&self.postings, &moved, added), files: ranked, positions }
    }

    /// The position of a file.
    pub fn position(&self, file: &str) -> Option<usize> {
        self.positions.get(file).copied()
    }

    /// The sections that declare a name.
    pub(super) fn declared(&self, name: WordHash) -> impl Iterator<Item = At> + Clone + '_ {
        self.postings.declared(name).iter().map(|it| (it.1 as usize, usize::from(it.2)))
    }

    /// Whether a section is test code.
    pub fn is_test(&self, (file, section): At) -> bool {
        self.files.get(file).is_some_and(|it| it.kind == Kind::Test || it.tests.get(section).copied().unwrap_or(false))
    }

    /// The name of the declaration that begins in a section.
    pub fn name(&self, (file, section): At) -> Option<&str> {
        let ranked = self.files.get(file)?;
        let section = ranked.file.terms().sections.get(section).filter(|it| it.is_first)?;
        let start = section.owner? as usize;
        let rest = ranked.file.text.get(start..)?;
        words(rest).next().filter(|it| it.0 == 0).map(|it| it.1)
    }
}

/// Reads files on all processors.
fn read_all(new: &[(u32, &Arc<File>, Kind)]) -> Vec<(u32, Ranked, Vec<WordHash>)> {
    let cores = thread::available_parallelism().map_or(1, |it| it.get());
    let next = AtomicUsize::new(0);
    let read = || {
        let take = || new.get(next.fetch_add(1, Ordering::Relaxed));
        let of =
            |(position, file, kind): &(u32, &Arc<File>, Kind)| (*position, Ranked::new(file, *kind), all_terms(file));
        std::iter::from_fn(take).map(of).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(new.len())).map(|_| scope.spawn(read)).collect();
        let mut all = read();
        for it in others {
            all.extend(it.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

/// The terms of a file's text and path.
fn all_terms(file: &File) -> Vec<WordHash> {
    let mut terms = HashSet::new();
    for text in [&*file.text, &*file.path] {
        each(text, |term| {
            terms.insert(word_hash(term));
        });
    }
    terms.into_iter().collect()
}

/// Which sections of a file are within tests.
fn tests(file: &File) -> Vec<bool> {
    let terms = file.terms();
    let mut tests = vec![false; terms.sections.len()];
    file.outline().walk(&mut |item| {
        if item.test {
            let (start, end) = (item.span.start as u32, item.span.end as u32);
            let first = terms.sections.partition_point(|it| it.end <= start);
            let within = terms.sections.iter().zip(&mut tests).skip(first).take_while(|it| it.0.start < end);
            within.for_each(|(section, test)| *test |= section.start >= start || section.end <= end);
        }
    });
    tests
}
