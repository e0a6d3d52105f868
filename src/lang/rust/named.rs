//! What one file names, occurrence by occurrence.

use ra_ap_ide::RootDatabase;
use rustc_hash::FxHashMap;

use super::names::{Meaning, Verdict, Why};
use super::outside::Outside;
use crate::model::{Role, Span};

/// What one occurrence of a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sense {
    Means(Meaning),
    Unresolved(Why),
}

/// What one file names, in the order of its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    senses: Vec<Sense>,
    entries: Vec<Entry>,
    /// Stretches of the text, in order, of which nothing is known.
    unknown: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    at: u32,
    sense: u32,
    role: Role,
}

impl Names {
    /// What the name at an offset means: nothing where it is no symbol's, several things where it stands in a macro's
    /// input or is shorthand.
    pub(super) fn at(&self, offset: usize) -> impl Iterator<Item = (Sense, Role)> + '_ {
        let first = self.entries.partition_point(|it| (it.at as usize) < offset);
        let same = self.entries[first..].iter().take_while(move |it| it.at as usize == offset);
        same.map(|it| (self.senses[it.sense as usize], it.role))
    }

    pub(super) fn is_known_at(&self, offset: usize) -> bool {
        let after = self.unknown.partition_point(|it| it.end <= offset);
        self.unknown.get(after).is_none_or(|it| offset < it.start)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The same names in a text that was changed: what stands in a stretch that is the same means the same.
    pub(super) fn moved(&self, before: &Outside, after: &Outside) -> Names {
        let mut moved = Names { senses: self.senses.clone(), ..Names::default() };
        for (old, new) in before.unchanged(after) {
            let Some(old) = old else {
                moved.unknown.push(new);
                continue;
            };
            let first = self.entries.partition_point(|it| (it.at as usize) < old.start);
            let inside = self.entries[first..].iter().take_while(|it| (it.at as usize) < old.end);
            let shift = |at: usize| at - old.start + new.start;
            moved.entries.extend(inside.map(|it| Entry { at: shift(it.at as usize) as u32, ..*it }));
            let overlapping = self.unknown.iter().filter(|it| it.overlaps(old));
            let cut = |it: &Span| Span::new(shift(it.start.max(old.start)), shift(it.end.min(old.end)));
            moved.unknown.extend(overlapping.map(cut));
        }
        moved
    }

    /// The same without what these stretches name; they stand in order.
    pub(super) fn without(&self, stretches: &[Span]) -> Names {
        let mut left = Names { senses: self.senses.clone(), ..Names::default() };
        let mut all: Vec<Span> = self.unknown.iter().chain(stretches).copied().collect();
        all.sort_unstable();
        for it in all {
            match left.unknown.last_mut() {
                Some(last) if it.start <= last.end => last.end = last.end.max(it.end),
                _ => left.unknown.push(it),
            }
        }
        left.entries = self.entries.iter().filter(|it| left.is_known_at(it.at as usize)).copied().collect();
        left
    }

    /// All names between two offsets.
    pub(super) fn within(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, Sense, Role)> + '_ {
        let first = self.entries.partition_point(|it| (it.at as usize) < start);
        let inside = self.entries[first..].iter().take_while(move |it| (it.at as usize) < end);
        inside.map(|it| (it.at as usize, self.senses[it.sense as usize], it.role))
    }

    /// What the file names or fails to name, each thing once.
    pub(super) fn senses(&self) -> impl Iterator<Item = Sense> + '_ {
        self.senses.iter().copied()
    }

    /// What the file names, each thing once.
    pub(super) fn meanings(&self) -> impl Iterator<Item = Meaning> + '_ {
        self.senses.iter().filter_map(|it| match it {
            Sense::Means(meaning) => Some(*meaning),
            Sense::Unresolved(_) => None,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.senses.capacity() * size_of::<Sense>() + self.entries.capacity() * size_of::<Entry>()
    }
}

/// Gathers the names of a file, each meaning kept once.
pub(super) struct Collector<'a> {
    db: &'a RootDatabase,
    names: Names,
    known: FxHashMap<Sense, u32>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(db: &'a RootDatabase) -> Collector<'a> {
        Collector { db, names: Names::default(), known: FxHashMap::default() }
    }

    /// Names come in the order of the text.
    pub(super) fn add(&mut self, at: usize, verdict: Verdict<'_>) {
        match verdict {
            Verdict::Other => {}
            Verdict::Declares(definition) => self.means(at, Meaning::new(definition, true, self.db), Role::Impl),
            Verdict::Names(named) => {
                for (definition, role) in named {
                    self.means(at, Meaning::new(definition, false, self.db), role);
                }
            }
            Verdict::Unresolved(why) => self.push(at, Sense::Unresolved(why), Role::Other),
        }
    }

    pub(super) fn means(&mut self, at: usize, meaning: Option<Meaning>, role: Role) {
        if let Some(meaning) = meaning {
            self.push(at, Sense::Means(meaning), role);
        }
    }

    pub(super) fn push(&mut self, at: usize, sense: Sense, role: Role) {
        let Ok(at) = u32::try_from(at) else { return };
        let next = self.names.senses.len() as u32;
        let index = *self.known.entry(sense).or_insert(next);
        if index == next {
            self.names.senses.push(sense);
        }
        let is_known = self.names.entries.iter().rev().take_while(|it| it.at == at).any(|it| it.sense == index);
        if !is_known {
            self.names.entries.push(Entry { at, sense: index, role });
        }
    }

    pub(super) fn finish(mut self) -> Names {
        self.names.entries.shrink_to_fit();
        self.names.senses.shrink_to_fit();
        self.names
    }
}
