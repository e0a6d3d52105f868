//! Reads the names of a file for each crate that includes it.

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};

use super::instances::{further_owners, owners, pin_to};
use super::macro_output::{self, WrittenName};
use super::{Reader, Resolution, UnresolvedReason};

/// All names of a file, in the order of its text. A name is visited with each meaning that it has. Returns whether a
/// part of the analysis was abandoned.
pub(crate) fn read_all<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    visit: impl FnMut(usize, Resolution<'db>),
) -> bool {
    read_by(sema, file, |reader, visit| reader.read_all(visit), visit)
}

/// The names among these words, which are given with their offsets in the order of the text.
pub(crate) fn read_words<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    words: &[(usize, &str)],
    visit: impl FnMut(usize, Resolution<'db>),
) {
    read_by(sema, file, |reader, visit| reader.read_words(words, visit), visit);
}

fn read_by<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    read: impl Fn(&Reader<'_, 'db>, &mut dyn FnMut(usize, Resolution<'db>)),
    mut visit: impl FnMut(usize, Resolution<'db>),
) -> bool {
    let owners = owners(sema.db, file);
    if owners.len() < 2 {
        let reader = Reader::new(sema, file);
        read(&reader, &mut visit);
        return reader.has_abandoned();
    }
    let mut has_abandoned = false;
    let mut found: Vec<(usize, Resolution<'db>)> = Vec::new();
    for krate in owners.iter() {
        let _pinned = pin_to(sema.db, file, *krate);
        let sema = Semantics::new(sema.db);
        let reader = Reader::new(&sema, file);
        read(&reader, &mut |at, it| found.push((at, it)));
        has_abandoned |= reader.has_abandoned();
    }
    found.sort_by_key(|it| it.0);
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        // What one crate switches off is known if another one compiles it.
        let is_compiled = same.iter().any(|it| !is_off(&it.1));
        for (at, it) in same.iter().filter(|it| !is_compiled || !is_off(&it.1)) {
            visit(*at, it.clone());
        }
    }
    has_abandoned
}

/// The same for each crate of a further build that includes the file.
pub(crate) fn read_all_further<'db>(
    db: &'db RootDatabase,
    file: FileId,
    mut visit: impl FnMut(CrateId, usize, Resolution<'db>),
) -> bool {
    read_further(db, file, |reader, visit| reader.read_all(visit), &mut visit)
}

/// The same for these words.
pub(crate) fn read_words_further<'db>(
    db: &'db RootDatabase,
    file: FileId,
    words: &[(usize, &str)],
    mut visit: impl FnMut(CrateId, usize, Resolution<'db>),
) {
    read_further(db, file, |reader, visit| reader.read_words(words, visit), &mut visit);
}

fn read_further<'db>(
    db: &'db RootDatabase,
    file: FileId,
    read: impl Fn(&Reader<'_, 'db>, &mut dyn FnMut(usize, Resolution<'db>)),
    visit: &mut dyn FnMut(CrateId, usize, Resolution<'db>),
) -> bool {
    let mut has_abandoned = false;
    for &krate in further_owners(db, file).iter() {
        let _pinned = pin_to(db, file, krate);
        let sema = Semantics::new(db);
        let reader = Reader::new(&sema, file);
        read(&reader, &mut |at, it| visit(krate, at, it));
        has_abandoned |= reader.has_abandoned();
    }
    has_abandoned
}

/// The names that the macros write which the file calls, in each crate that includes it. Returns whether a part of the
/// analysis was abandoned, and whether nothing else was left out.
pub(crate) fn read_macro_output<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    mut visit: impl FnMut(WrittenName<'db>),
) -> (bool, bool) {
    let owners = owners(sema.db, file);
    if owners.len() < 2 {
        let reader = Reader::new(sema, file);
        let is_whole = macro_output::read(&reader, &mut visit);
        return (reader.has_abandoned(), is_whole);
    }
    let (mut has_abandoned, mut is_whole) = (false, true);
    for krate in owners.iter() {
        let _pinned = pin_to(sema.db, file, *krate);
        let sema = Semantics::new(sema.db);
        let reader = Reader::new(&sema, file);
        is_whole &= macro_output::read(&reader, &mut visit);
        has_abandoned |= reader.has_abandoned();
    }
    (has_abandoned, is_whole)
}

fn is_off(it: &Resolution<'_>) -> bool {
    matches!(it, Resolution::Unresolved(UnresolvedReason::Inactive))
}
