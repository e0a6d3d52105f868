//! The names that macros write into the output of their calls, of one file and of the workspace, in the default build and
//! in further builds.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::attach_db;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::base_db::{Crate as CrateId, FileText, SourceDatabase as _};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Index;
use crate::names::database::IndexDatabase;
use crate::names::macro_output::Unread;
use crate::names::macro_output::WrittenName;
use crate::names::{Key, Meaning, Resolution, all_instances, instances};
use semdex_model::{Role, Span};

/// What a name in the output of macro calls means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WrittenMeaning {
    Means(Meaning),
    /// Not a symbol: a local, a declaration, a name of a library.
    Other,
    Unresolved,
}

/// A name with one meaning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The text that it comes from: a macro's definition, a string, or the call.
    pub(crate) file: FileId,
    pub(crate) at: Span,
    pub(crate) meaning: WrittenMeaning,
    pub(crate) role: Role,
    /// The offsets of the calls that write it.
    pub(crate) calls: Vec<u32>,
    /// The crate of a further build, if the default build does not write it.
    pub(crate) build: Option<CrateId>,
}

/// What the macros that one file calls write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MacroNames {
    pub(crate) all: Vec<Written>,
    /// All names, resolved or not.
    names: BTreeSet<Box<str>>,
    /// Those of which not each place was resolved, since there is too much output.
    unresolved: BTreeSet<Box<str>>,
    /// Those without a text of their own that are not resolved, each with the place of a call.
    without_text: BTreeSet<(Box<str>, Span)>,
    /// Some output is so large that it was not read to its end, or its analysis was abandoned.
    is_cut: bool,
}

impl MacroNames {
    /// Whether a change of these files, or of symbols with these names, may concern it.
    pub(crate) fn depends_on(&self, is_edited: impl Fn(FileId) -> bool, names: &BTreeSet<String>) -> bool {
        self.all.iter().any(|it| is_edited(it.file)) || names.iter().any(|it| self.names.contains(it.as_str()))
    }

    /// Each name with each call.
    fn each(&self) -> impl Iterator<Item = (FileId, Span, WrittenMeaning, u32)> + '_ {
        self.all.iter().flat_map(|it| it.calls.iter().map(|call| (it.file, it.at, it.meaning, *call)))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.all.iter().map(|it| size_of::<Written>() + it.calls.capacity() * size_of::<u32>()).sum()
    }
}

#[derive(Default)]
struct Collector {
    build: Option<CrateId>,
    found: MacroNames,
    known: FxHashMap<(FileId, Span, WrittenMeaning), usize>,
}

impl Collector {
    fn of(build: Option<CrateId>) -> Collector {
        Collector { build, ..Collector::default() }
    }

    fn add(&mut self, db: &RootDatabase, it: &WrittenName<'_>) {
        let meanings: Vec<(WrittenMeaning, Role)> = match &it.resolution {
            Resolution::Names(named) => named
                .iter()
                .map(|(definition, role)| (meaning(db, Meaning::new(*definition, false, db)), *role))
                .collect(),
            Resolution::Declares(definition) => vec![(meaning(db, Meaning::new(*definition, true, db)), Role::Impl)],
            Resolution::Other => vec![(WrittenMeaning::Other, Role::Other)],
            Resolution::Unresolved(_) => vec![(WrittenMeaning::Unresolved, Role::Other)],
        };
        self.found.names.insert(it.name.as_str().into());
        if it.has_no_text && matches!(it.resolution, Resolution::Unresolved(_)) {
            self.found.without_text.insert((it.name.as_str().into(), it.at));
        }
        for (meaning, role) in meanings {
            let index = *self.known.entry((it.file, it.at, meaning)).or_insert_with(|| {
                let calls = Vec::new();
                self.found.all.push(Written { file: it.file, at: it.at, meaning, role, calls, build: self.build });
                self.found.all.len() - 1
            });
            let calls = &mut self.found.all[index].calls;
            let call = it.call as u32;
            if calls.last() != Some(&call) {
                calls.push(call);
            }
        }
    }

    fn finish(mut self) -> MacroNames {
        for it in &mut self.found.all {
            it.calls.sort_unstable();
            it.calls.dedup();
            it.calls.shrink_to_fit();
        }
        self.found.all.shrink_to_fit();
        self.found
    }

    fn leaves_out(&mut self, unread: Unread) {
        self.found.names.extend(unread.names.iter().cloned());
        self.found.unresolved.extend(unread.names);
        self.found.is_cut |= unread.is_cut;
    }
}

/// Only symbols of the workspace's own crates are searched for by what macros write.
fn meaning(db: &RootDatabase, meaning: Option<Meaning>) -> WrittenMeaning {
    let is_own = |it: Key| it.definition().krate(db).is_some_and(|it| it.origin(db).is_local());
    let own = meaning.filter(|it| is_own(it.definition) || is_own(it.original));
    own.map_or(WrittenMeaning::Other, WrittenMeaning::Means)
}

/// The names that the macros write which a file calls, in the default build.
#[salsa::tracked(returns(clone), no_eq)]
fn macro_names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<MacroNames> {
    let root = db.root();
    let _unpinned = semdex_pin::pin(None);
    attach_db(root, || {
        let file = *text.file_id(root);
        let owners = instances::owners(root, file);
        let mut collector = Collector::of(owners.first().copied().filter(|it| instances::is_of_doctests(root, *it)));
        let (has_abandoned, unread) =
            all_instances::read_macro_output(root, file, &owners, &|_| true, |_, it| collector.add(root, &it));
        if has_abandoned {
            root.report_untracked_read();
        }
        collector.leaves_out(unread);
        Arc::new(collector.finish())
    })
}

/// The same for names that are wanted, at least: a question that comes before the index has everything resolves no others.
pub(crate) fn wanted_of(db: &RootDatabase, file: FileId, is_wanted: &dyn Fn(&str) -> bool) -> Arc<MacroNames> {
    let mut collector = Collector::default();
    let owners = instances::owners(db, file);
    let add = |_, it: WrittenName<'_>| collector.add(db, &it);
    let (_, unread) = all_instances::read_macro_output(db, file, &owners, is_wanted, add);
    // Another name may mean the same.
    if unread.has_aliases {
        return macro_names_of(db, db.file_text(file));
    }
    collector.leaves_out(unread);
    Arc::new(collector.finish())
}

/// What further builds add to them: other meanings, other calls, and the names that they do not resolve either.
#[salsa::tracked(returns(clone), no_eq)]
fn further_macro_names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<MacroNames> {
    let root = db.root();
    let file = *text.file_id(root);
    let owners = instances::further_owners(root, file);
    if owners.is_empty() {
        return Arc::default();
    }
    let default = macro_names_of(db, text);
    let _unpinned = semdex_pin::pin(None);
    attach_db(root, || {
        let mut collectors: Vec<Collector> = owners.iter().map(|it| Collector::of(Some(*it))).collect();
        let (has_abandoned, unread) = all_instances::read_macro_output(root, file, &owners, &|_| true, |krate, it| {
            if let Some(collector) = collectors.iter_mut().find(|it| it.build == Some(krate)) {
                collector.add(root, &it);
            }
        });
        if has_abandoned {
            root.report_untracked_read();
        }
        let mut found = Collector::default();
        found.leaves_out(unread);
        let mut found = found.finish();
        let places: FxHashSet<(FileId, Span)> = default.all.iter().map(|it| (it.file, it.at)).collect();
        let mut known: FxHashSet<(FileId, Span, WrittenMeaning, u32)> = default.each().collect();
        for of_build in collectors.into_iter().map(Collector::finish) {
            // As below.
            let is_unknown = |it: &(Box<str>, Span)| !default.names.contains(&it.0);
            found.without_text.extend(of_build.without_text.into_iter().filter(is_unknown));
            found.names.extend(of_build.names);
            for mut it in of_build.all {
                // What the default build resolves may be unresolved here, since dependencies are the host's.
                if it.meaning == WrittenMeaning::Unresolved && places.contains(&(it.file, it.at)) {
                    continue;
                }
                let is_new = |call: &u32| known.insert((it.file, it.at, it.meaning, *call));
                it.calls.retain(is_new);
                if !it.calls.is_empty() {
                    found.all.push(it);
                }
            }
        }
        found.all.shrink_to_fit();
        Arc::new(found)
    })
}

/// Adds to the index what the macros write that a file calls, if it is not known.
pub(crate) fn learn(index: &Index, db: &RootDatabase, file: FileId) {
    if index.macro_names(file).is_none() {
        index.learn_macro_names(file, macro_names_of(db, db.file_text(file)));
    }
}

/// The same for what further builds add to it.
pub(crate) fn learn_further(index: &Index, db: &RootDatabase, file: FileId) {
    if index.further_macro_names(file).is_none() {
        index.learn_further_macro_names(file, further_macro_names_of(db, db.file_text(file)));
    }
}

/// The names that macros write, of all files.
#[derive(Debug, Default)]
pub(crate) struct AllMacroNames {
    /// Whether what doctests and further builds add is known of all files.
    pub(crate) is_whole: bool,
    /// Whether further builds are among them; if not, there were none that had been read.
    pub(crate) in_further_builds: bool,
    files: Vec<(FileId, Arc<MacroNames>)>,
    by_key: FxHashMap<Key, Vec<Entry>>,
    by_place: FxHashMap<(FileId, usize), Vec<Entry>>,
    /// The names without a text of their own that are not resolved, each with the places of calls.
    without_text: FxHashMap<Box<str>, Vec<(FileId, Span)>>,
    /// The files with names that were not resolved at each place.
    unread: Vec<(FileId, Arc<MacroNames>)>,
}

/// The index of a file in [`AllMacroNames::files`], and of a name in it.
type Entry = (u32, u32);

impl AllMacroNames {
    pub(crate) fn new(files: Vec<(FileId, Arc<MacroNames>)>) -> AllMacroNames {
        let unread = files.iter().filter(|it| it.1.is_cut || !it.1.unresolved.is_empty()).cloned().collect();
        let mut all = AllMacroNames { files, unread, ..AllMacroNames::default() };
        for (file, (id, names)) in all.files.iter().enumerate() {
            for (name, at) in &names.without_text {
                all.without_text.entry(name.clone()).or_default().push((*id, *at));
            }
            for (index, it) in names.all.iter().enumerate() {
                let entry = (file as u32, index as u32);
                all.by_place.entry((it.file, it.at.start)).or_default().push(entry);
                if let WrittenMeaning::Means(meaning) = it.meaning {
                    all.by_key.entry(meaning.definition).or_default().push(entry);
                    if meaning.original != meaning.definition {
                        all.by_key.entry(meaning.original).or_default().push(entry);
                    }
                }
            }
        }
        all
    }

    fn of<'a>(&'a self, entries: Option<&'a Vec<Entry>>) -> impl Iterator<Item = (FileId, &'a Written)> {
        entries.into_iter().flatten().map(|(file, index)| {
            let (id, names) = &self.files[*file as usize];
            (*id, &names.all[*index as usize])
        })
    }

    /// The names that mean this, each with the file of its calls.
    pub(crate) fn meaning(&self, key: Key) -> impl Iterator<Item = (FileId, &Written)> {
        self.of(self.by_key.get(&key))
    }

    /// The calls that write an unresolved name which no text has.
    pub(crate) fn without_text(&self, name: &str) -> impl Iterator<Item = (FileId, Span)> {
        self.without_text.get(name).into_iter().flatten().copied()
    }

    /// What the text at a place means in the output of macros.
    pub(crate) fn at(&self, file: FileId, offset: usize) -> impl Iterator<Item = (FileId, &Written)> {
        self.of(self.by_place.get(&(file, offset)))
    }

    /// Whether the text at a place means something else too, or something that is not known.
    pub(crate) fn is_ambiguous(&self, file: FileId, offset: usize, is_meant: impl Fn(&Meaning) -> bool) -> bool {
        self.at(file, offset).any(|(_, it)| match &it.meaning {
            WrittenMeaning::Means(meaning) => !is_meant(meaning),
            WrittenMeaning::Other => true,
            WrittenMeaning::Unresolved => it.build.is_none(),
        })
    }

    /// Whether calls write a name from the text at this place, and each of these names is resolved: in the default
    /// build, or else in one further build.
    pub(crate) fn accounts_for(&self, file: FileId, offset: usize) -> bool {
        let mut is_resolved: FxHashMap<Option<CrateId>, bool> = FxHashMap::default();
        for (_, it) in self.at(file, offset) {
            *is_resolved.entry(it.build).or_insert(true) &= it.meaning != WrittenMeaning::Unresolved;
        }
        match is_resolved.get(&None) {
            Some(in_default) => *in_default,
            None => is_resolved.into_values().any(|it| it),
        }
    }

    /// A file with calls in whose output one of these names was not resolved at each place. The names are computed only if
    /// there is such a file at all.
    pub(crate) fn unread<'n>(&self, names: impl FnOnce() -> Vec<&'n str>) -> Option<FileId> {
        if self.unread.is_empty() {
            return None;
        }
        let names = names();
        let is_unread = |it: &MacroNames| it.is_cut || names.iter().any(|name| it.unresolved.contains(*name));
        self.unread.iter().find(|it| is_unread(&it.1)).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_gathered_before_further_builds_were_read_is_not_known_of_them() {
        let (index, file) = (Index::default(), FileId::from_raw(1));
        index.learn_macro_names(file, Arc::default());
        index.gather_macro_names(&[file], &[], false).unwrap();
        let known = |in_further_builds| index.all_macro_names(in_further_builds).map(|it| it.is_whole);
        assert_eq!((known(false), known(true)), (Some(true), None));
        index.gather_macro_names(&[file], &[], true).unwrap();
        assert_eq!((known(false), known(true)), (None, Some(false)), "what they add is not known yet");
        index.learn_further_macro_names(file, Arc::default());
        assert_eq!(known(true), None);
        index.gather_macro_names(&[file], &[], true).unwrap();
        assert_eq!(known(true), Some(true));
    }
}
