//! What the ranking knows of all files at one revision, besides their terms.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
        let mut ranked: Vec<Arc<Ranked>> = Vec::new();
        let mut moved: Vec<Option<u32>> = vec![None; self.files.len()];
        let mut added = Added::default();
        for file in files.iter() {
            let position = ranked.len() as u32;
            let before = self.position(&file.path);
            let known = before.and_then(|it| self.files.get(it)).filter(|it| Arc::ptr_eq(&it.file, file));
            if let Some(known) = known {
                if let Some(moved) = before.and_then(|it| moved.get_mut(it)) {
                    *moved = Some(position);
                }
                ranked.push(known.clone());
                continue;
            }
            let kind = kind(file);
            if (kind != Kind::Noise || takes(file)) && !hides(file) {
                let new = Ranked::new(file, kind);
                added.push(New { position, terms: all_terms(file), names: &new.names });
                ranked.push(Arc::new(new));
            }
        }
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

/// The terms of a file's text and path.
fn all_terms(file: &File) -> HashSet<WordHash> {
    let mut terms = HashSet::new();
    for text in [&*file.text, &*file.path] {
        each(text, |term| {
            terms.insert(word_hash(term));
        });
    }
    terms
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
