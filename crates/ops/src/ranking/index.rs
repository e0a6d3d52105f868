//! What the ranking knows of all files at one revision, besides their terms.

use std::collections::HashMap;
use std::sync::Arc;

use super::kinds::{Kind, kind};
use semdex_engine::files::{File, Files};
use semdex_text::words::{WordHash, word_hash, words};

/// What the ranking knows of all files at one revision, besides their terms.
#[derive(Debug)]
pub struct Index {
    /// The ranked files, in the order of their names.
    pub files: Vec<Arc<Ranked>>,
    /// The declarations by the hash of their names: file and section.
    pub(super) declared: HashMap<WordHash, Vec<(u32, u16)>>,
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
        Ranked { file: file.clone(), kind, tests: tests(file), names }
    }
}

/// A section of a file: the positions of the file in the index and of the section in the file.
pub type At = (usize, usize);

impl Index {
    /// The index of these files. `hides` says which are never ranked, `takes` which are ranked though they are generated
    /// or the like.
    pub fn new(files: &Files, hides: impl Fn(&File) -> bool, takes: impl Fn(&File) -> bool) -> Index {
        let mut ranked: Vec<Arc<Ranked>> = Vec::new();
        for file in files.iter() {
            let kind = kind(file);
            if (kind != Kind::Noise || takes(file)) && !hides(file) {
                ranked.push(Arc::new(Ranked::new(file, kind)));
            }
        }
        Index::of(ranked)
    }

    /// The index after a change: of files that are the same, everything is taken from the index before.
    pub(super) fn after(before: &Index, files: &Files, hides: impl Fn(&File) -> bool) -> Index {
        let mut ranked: Vec<Arc<Ranked>> = Vec::new();
        for file in files.iter() {
            let known = before.position(&file.path).and_then(|it| before.files.get(it));
            if let Some(known) = known.filter(|it| Arc::ptr_eq(&it.file, file)) {
                ranked.push(known.clone());
                continue;
            }
            let kind = kind(file);
            if kind != Kind::Noise && !hides(file) {
                ranked.push(Arc::new(Ranked::new(file, kind)));
            }
        }
        Index::of(ranked)
    }

    fn of(ranked: Vec<Arc<Ranked>>) -> Index {
        let mut declared: HashMap<WordHash, Vec<(u32, u16)>> = HashMap::new();
        for (position, it) in ranked.iter().enumerate() {
            for (name, section) in &it.names {
                declared.entry(*name).or_default().push((position as u32, *section));
            }
        }
        let positions = ranked.iter().enumerate().map(|(at, it)| (it.file.path.clone(), at)).collect();
        Index { files: ranked, declared, positions }
    }

    /// The position of a file.
    pub fn position(&self, file: &str) -> Option<usize> {
        self.positions.get(file).copied()
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
