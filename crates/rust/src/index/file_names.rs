//! What one file names, occurrence by occurrence.

use std::sync::Arc;

use ra_ap_hir::{Semantics, attach_db};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::base_db::{Crate as CrateId, FileText};
use rustc_hash::FxHashMap;

use crate::file_interface::FileInterface;
use crate::names::database::IndexDatabase;
use crate::names::{Meaning, Resolution, UnresolvedReason, all_instances, instances};
use semdex_model::{Role, Span};

/// The meaning of one occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StoredResolution {
    Means(Meaning),
    Unresolved(UnresolvedReason),
}

/// What one file names, in the order of its text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    resolutions: Vec<StoredResolution>,
    entries: Vec<Entry>,
    /// Ranges of the text, in order, for which nothing is known.
    unknown: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    at: u32,
    resolution: u32,
    role: Role,
}

impl Names {
    /// The meanings of the name at an offset: none if it is not a symbol's name, several if it is in a macro's input or
    /// is a shorthand.
    pub(crate) fn at(&self, offset: usize) -> impl Iterator<Item = (StoredResolution, Role)> + '_ {
        let first = self.entries.partition_point(|it| (it.at as usize) < offset);
        let same = self.entries[first..].iter().take_while(move |it| it.at as usize == offset);
        same.map(|it| (self.resolutions[it.resolution as usize], it.role))
    }

    pub(crate) fn is_known_at(&self, offset: usize) -> bool {
        let after = self.unknown.partition_point(|it| it.end <= offset);
        self.unknown.get(after).is_none_or(|it| offset < it.start)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The same names in a changed text: names in an unchanged range keep their meaning.
    pub(crate) fn moved(&self, before: &FileInterface, after: &FileInterface) -> Names {
        let mut moved = Names { resolutions: self.resolutions.clone(), ..Names::default() };
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

    /// The same without the names in these ranges, which are in order.
    pub(crate) fn without(&self, stretches: &[Span]) -> Names {
        let mut left = Names { resolutions: self.resolutions.clone(), ..Names::default() };
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

    /// Whether the name at an offset is one that could not be resolved.
    fn is_unresolved_at(&self, offset: usize) -> bool {
        self.at(offset).any(|it| matches!(it.0, StoredResolution::Unresolved(_)))
    }

    /// All names between two offsets.
    pub(crate) fn within(
        &self,
        start: usize,
        end: usize,
    ) -> impl Iterator<Item = (usize, StoredResolution, Role)> + '_ {
        let first = self.entries.partition_point(|it| (it.at as usize) < start);
        let inside = self.entries[first..].iter().take_while(move |it| (it.at as usize) < end);
        inside.map(|it| (it.at as usize, self.resolutions[it.resolution as usize], it.role))
    }

    /// What the file names or fails to name, without duplicates.
    pub(crate) fn resolutions(&self) -> impl Iterator<Item = StoredResolution> + '_ {
        self.resolutions.iter().copied()
    }

    /// What the file names, without duplicates.
    pub(crate) fn meanings(&self) -> impl Iterator<Item = Meaning> + '_ {
        self.resolutions.iter().filter_map(|it| match it {
            StoredResolution::Means(meaning) => Some(*meaning),
            StoredResolution::Unresolved(_) => None,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.resolutions.capacity() * size_of::<StoredResolution>() + self.entries.capacity() * size_of::<Entry>()
    }
}

/// Collects the names of a file and stores each meaning once.
pub(crate) struct Collector<'a> {
    db: &'a RootDatabase,
    names: Names,
    known: FxHashMap<StoredResolution, u32>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(db: &'a RootDatabase) -> Collector<'a> {
        Collector { db, names: Names::default(), known: FxHashMap::default() }
    }

    /// Names have to be added in the order of the text.
    pub(crate) fn add(&mut self, at: usize, resolution: Resolution<'_>) {
        match resolution {
            Resolution::Other => {}
            Resolution::Declares(definition) => self.means(at, Meaning::new(definition, true, self.db), Role::Impl),
            Resolution::Names(named) => {
                for (definition, role) in named {
                    self.means(at, Meaning::new(definition, false, self.db), role);
                }
            }
            Resolution::Unresolved(why) => self.push(at, StoredResolution::Unresolved(why), Role::Other),
        }
    }

    pub(crate) fn means(&mut self, at: usize, meaning: Option<Meaning>, role: Role) {
        if let Some(meaning) = meaning {
            self.push(at, StoredResolution::Means(meaning), role);
        }
    }

    pub(crate) fn push(&mut self, at: usize, resolution: StoredResolution, role: Role) {
        let Ok(at) = u32::try_from(at) else { return };
        let next = self.names.resolutions.len() as u32;
        let index = *self.known.entry(resolution).or_insert(next);
        if index == next {
            self.names.resolutions.push(resolution);
        }
        let is_known = self.names.entries.iter().rev().take_while(|it| it.at == at).any(|it| it.resolution == index);
        if !is_known {
            self.names.entries.push(Entry { at, resolution: index, role });
        }
    }

    pub(crate) fn finish(mut self) -> Names {
        self.names.entries.shrink_to_fit();
        self.names.resolutions.shrink_to_fit();
        self.names
    }
}

/// What one file names in further builds besides its meanings in the default build: for each crate of such a build, in
/// the order of `instances::further_owners`, and with the names that it does not resolve either.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FurtherNames(Vec<(CrateId, Names)>);

impl FurtherNames {
    /// The meanings that a name has in addition, each with a crate that gives it this meaning.
    pub(crate) fn at(&self, offset: usize) -> impl Iterator<Item = (CrateId, Meaning, Role)> + '_ {
        self.0.iter().flat_map(move |(krate, names)| {
            names.at(offset).filter_map(|(it, role)| match it {
                StoredResolution::Means(meaning) => Some((*krate, meaning, role)),
                StoredResolution::Unresolved(_) => None,
            })
        })
    }

    /// Whether a further build resolves a name that the default build does not compile.
    pub(crate) fn accounts_for(&self, offset: usize) -> bool {
        self.0.iter().any(|it| !it.1.is_unresolved_at(offset))
    }

    pub(crate) fn is_known_at(&self, offset: usize) -> bool {
        self.0.iter().all(|it| it.1.is_known_at(offset))
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.0.iter().all(|it| it.1.is_complete())
    }

    pub(crate) fn moved(&self, before: &FileInterface, after: &FileInterface) -> FurtherNames {
        FurtherNames(self.0.iter().map(|(krate, it)| (*krate, it.moved(before, after))).collect())
    }

    pub(crate) fn without(&self, stretches: &[Span]) -> FurtherNames {
        FurtherNames(self.0.iter().map(|(krate, it)| (*krate, it.without(stretches))).collect())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|it| it.1.bytes()).sum()
    }
}

/// Collects what further builds add to the names of the default build.
pub(crate) struct FurtherCollector<'a> {
    db: &'a RootDatabase,
    default: &'a dyn Fn(usize) -> Vec<StoredResolution>,
    found: Vec<(CrateId, Collector<'a>)>,
}

impl<'a> FurtherCollector<'a> {
    /// `default` returns what a name means in the default build.
    pub(crate) fn new(
        db: &'a RootDatabase,
        owners: &[CrateId],
        default: &'a dyn Fn(usize) -> Vec<StoredResolution>,
    ) -> FurtherCollector<'a> {
        let found = owners.iter().map(|it| (*it, Collector::new(db))).collect();
        FurtherCollector { db, default, found }
    }

    pub(crate) fn add(&mut self, krate: CrateId, at: usize, resolution: Resolution<'_>) {
        let Some((_, found)) = self.found.iter_mut().find(|it| it.0 == krate) else { return };
        let mut one = Collector::new(self.db);
        one.add(at, resolution);
        let one = one.finish();
        if one.entries.is_empty() {
            return;
        }
        let known = (self.default)(at);
        for (it, role) in one.at(at) {
            let is_new = match it {
                StoredResolution::Means(_) => !known.contains(&it),
                StoredResolution::Unresolved(_) => known.iter().any(|it| matches!(it, StoredResolution::Unresolved(_))),
            };
            if is_new {
                found.push(at, it, role);
            }
        }
    }

    pub(crate) fn finish(self) -> FurtherNames {
        FurtherNames(self.found.into_iter().map(|(krate, it)| (krate, it.finish())).collect())
    }
}

/// What a file names in further builds besides its meanings in the default build.
#[salsa::tracked(returns(clone), no_eq)]
pub(crate) fn further_names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<FurtherNames> {
    let root = db.root();
    let file = *text.file_id(root);
    let owners = instances::further_owners(root, file);
    if owners.is_empty() {
        return Arc::default();
    }
    let names = names_of(db, text);
    let _unpinned = semdex_pin::pin(None);
    attach_db(root, || {
        let default = |at: usize| names.at(at).map(|it| it.0).collect();
        let mut collector = FurtherCollector::new(root, &owners, &default);
        let has_abandoned = all_instances::read_all_further(root, file, |krate, at, it| collector.add(krate, at, it));
        if has_abandoned {
            root.report_untracked_read();
        }
        Arc::new(collector.finish())
    })
}

/// All names of a file.
#[salsa::tracked(returns(clone), no_eq)]
pub(crate) fn names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<Names> {
    let root = db.root();
    let _unpinned = semdex_pin::pin(None);
    attach_db(root, || {
        let sema = Semantics::new(root);
        let mut collector = Collector::new(root);
        let file = *text.file_id(root);
        if all_instances::read_all(&sema, file, |at, resolution| collector.add(at, resolution)) {
            // The names may be resolved in a later revision, whatever this file depends on.
            root.report_untracked_read();
        }
        Arc::new(collector.finish())
    })
}
