//! Computes what most answers need before a client asks. rust-analyzer has a command for that, but its threads have
//! stacks of 16 MiB, which the macros of a workspace may exceed.

use std::sync::atomic::{AtomicUsize, Ordering};

use ra_ap_hir::import_map::ImportMap;
use ra_ap_hir::{Module, TraitImpls, attach_db, crate_def_map};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::Crate;
use ra_ap_ide_db::symbol_index::SymbolIndex;

use crate::names::instances;
use crate::view::on_cores;

enum Part {
    Implementations(Crate),
    Imports(Crate),
    Symbols(Module),
}

/// `progress` receives the number of finished crates, and the number of all crates.
pub(crate) fn prime(db: &RootDatabase, cores: usize, progress: &(dyn Fn(usize, usize) + Sync)) {
    attach_db(db, || {
        // Dependencies of a crate precede it.
        let crates: Vec<Crate> = instances::default_crates(db).into_iter().map(|it| it.base()).collect();
        let done = AtomicUsize::new(0);
        on_cores(cores, db, &crates, |sema, it, _: &mut Vec<()>| {
            crate_def_map(sema.db, *it);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, crates.len());
        });
        let parts: Vec<Part> = crates.iter().flat_map(|it| parts(db, *it)).collect();
        on_cores(cores, db, &parts, |sema, it, _: &mut Vec<()>| match it {
            Part::Implementations(it) => {
                TraitImpls::for_crate(sema.db, *it);
            }
            Part::Imports(it) => {
                ImportMap::of(sema.db, *it);
            }
            Part::Symbols(it) => {
                SymbolIndex::module_symbols(sema.db, *it);
            }
        });
    });
}

fn parts(db: &RootDatabase, it: Crate) -> Vec<Part> {
    let mut parts = vec![Part::Implementations(it)];
    let origin = &it.data(db).origin;
    if origin.is_lang() {
        parts.push(Part::Imports(it));
    } else if origin.is_local() {
        parts.extend(ra_ap_hir::Crate::from(it).modules(db).into_iter().map(Part::Symbols));
    }
    parts
}
