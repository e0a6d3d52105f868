//! What most answers need, worked out before anybody asks. rust-analyzer has a command for that, whose threads have stacks
//! of 16 MiB: what a workspace's macros make of themselves may take more.

use std::sync::atomic::{AtomicUsize, Ordering};

use ra_ap_hir::import_map::ImportMap;
use ra_ap_hir::{Module, TraitImpls, attach_db, crate_def_map};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::{Crate, all_crates};
use ra_ap_ide_db::symbol_index::SymbolIndex;

use crate::view::on_all_cores;

enum Part {
    Implementations(Crate),
    Imports(Crate),
    Symbols(Module),
}

/// The progress is that of crates, of all that there are.
pub(crate) fn prime(db: &RootDatabase, progress: &(dyn Fn(usize, usize) + Sync)) {
    attach_db(db, || {
        // Those that a crate depends on stand before it.
        let crates = all_crates(db);
        let done = AtomicUsize::new(0);
        on_all_cores(db, &crates, |sema, it, _: &mut Vec<()>| {
            crate_def_map(sema.db, *it);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, crates.len());
        });
        let parts: Vec<Part> = crates.iter().flat_map(|it| parts(db, *it)).collect();
        on_all_cores(db, &parts, |sema, it, _: &mut Vec<()>| match it {
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
