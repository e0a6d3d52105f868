//! Reads the names of a file for each crate that includes it.

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};

use super::instances::{further_owners, owners, pin_to};
use super::macro_output::{self, Unread, WrittenName};
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
    let mut found: Vec<(usize, Resolution<'db>)> = Vec::new();
    let has_abandoned = for_each(sema.db, file, &owners, |_, reader| read(reader, &mut |at, it| found.push((at, it))));
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
    let owners = further_owners(db, file);
    for_each(db, file, &owners, |krate, reader| read(reader, &mut |at, it| visit(krate, at, it)))
}

/// Reads a file for each of these crates. Returns whether a part of the analysis was abandoned.
fn for_each<'db>(
    db: &'db RootDatabase,
    file: FileId,
    owners: &[CrateId],
    mut read: impl FnMut(CrateId, &Reader<'_, 'db>),
) -> bool {
    let mut has_abandoned = false;
    for &krate in owners {
        let _pinned = pin_to(db, file, krate);
        let sema = Semantics::new(db);
        let reader = Reader::new(&sema, file);
        read(krate, &reader);
        has_abandoned |= reader.has_abandoned();
    }
    has_abandoned
}

/// The names that the macros write which the file calls, in each of these crates: those that are wanted. Returns whether a
/// part of the analysis was abandoned, and what was left out.
pub(crate) fn read_macro_output<'db>(
    db: &'db RootDatabase,
    file: FileId,
    owners: &[CrateId],
    is_wanted: &dyn Fn(&str) -> bool,
    mut visit: impl FnMut(CrateId, WrittenName<'db>),
) -> (bool, Unread) {
    let mut unread = Unread::default();
    let read = |krate, reader: &Reader<'_, 'db>| {
        macro_output::read(reader, is_wanted, &mut unread, &mut |it| visit(krate, it));
    };
    (for_each(db, file, owners, read), unread)
}

fn is_off(it: &Resolution<'_>) -> bool {
    matches!(it, Resolution::Unresolved(UnresolvedReason::Inactive))
}
