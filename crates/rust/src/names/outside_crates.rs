//! The crates that represent files which no crate includes: UI tests, fixtures, templates. Whatever compiles such a file
//! makes a program of it, which depends on the library of its package and on all that the tests of this library depend
//! on. The crate is made when a question needs it. It is in no crate graph, so nothing else changes, and nothing is
//! verified for it after an edit.

use std::path::Path;

use ra_ap_base_db::{
    Crate as CrateId, all_crates, crate_outside_graph, crates_outside_graph, forget_crates_outside_graph, further_build,
};
use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir::{Crate, attach_db};
use ra_ap_hir_expand::intern::{Symbol, sym};
use ra_ap_ide::{FileId, RootDatabase};

use super::instances::{OF_DOCTESTS, is_of_doctests};

/// The `cfg` flag of these crates.
const OUTSIDE: &str = "semdex_outside";

/// The most files that are resolved for one question, and the most of their crates that are kept.
pub(crate) const MOST: usize = 256;

/// Whether a crate represents a file that no crate includes.
pub(crate) fn is_outside(db: &RootDatabase, krate: CrateId) -> bool {
    krate.cfg_options(db).check_atom(&CfgAtom::Flag(Symbol::intern(OUTSIDE)))
}

/// The crates after which those of a package's other files are made: with the same dependencies, one for each build, the
/// default build first.
pub(crate) fn models(db: &RootDatabase, package: &Path) -> Vec<CrateId> {
    let is_of_package = |it: &CrateId| it.env(db).get("CARGO_MANIFEST_DIR").is_some_and(|it| Path::new(&it) == package);
    let crates: Vec<CrateId> = all_crates(db).iter().copied().filter(is_of_package).collect();
    let mut models: Vec<CrateId> = crates.iter().copied().filter(|it| is_of_doctests(db, *it)).collect();
    if models.is_empty() {
        // Without a library: what a binary depends on, with its tests if it has some.
        let test = CfgAtom::Flag(sym::test);
        let is_script = |it: &CrateId| {
            let name = it.extra_data(db).display_name.as_ref();
            name.is_some_and(|it| it.canonical_name().as_str().starts_with("build_script_"))
        };
        models = crates.into_iter().filter(|it| !is_script(it)).collect();
        models.sort_by_key(|it| !it.cfg_options(db).check_atom(&test));
        models.dedup_by_key(|it| further_build(db, *it).cloned());
    }
    models.sort_by_key(|it| further_build(db, *it).is_some());
    models
}

/// The crate of a program with this root file, made after another crate.
pub(crate) fn crate_of(db: &RootDatabase, model: CrateId, root_file: FileId) -> CrateId {
    let mut cfg_options = model.cfg_options(db).clone();
    let off = [Symbol::intern(OF_DOCTESTS), sym::test].map(CfgAtom::Flag);
    cfg_options.apply_diff(CfgDiff::new(vec![CfgAtom::Flag(Symbol::intern(OUTSIDE))], off.into()));
    crate_outside_graph(db, model, root_file, cfg_options)
}

/// Forgets these crates if there are many: the next question makes those again that it needs. The caller holds all locks
/// that exclude questions.
pub(crate) fn evict(db: &mut RootDatabase) {
    let outside: Vec<CrateId> = crates_outside_graph(db).into_iter().filter(|it| is_outside(db, *it)).collect();
    if outside.len() <= MOST {
        return;
    }
    forget_crates_outside_graph(db, &outside);
    // What is known of a crate is freed when it is computed again, for one without dependencies.
    attach_db(db, || outside.iter().for_each(|it| drop(Crate::from(*it).modules(db))));
}
