//! Computes what most answers need before a client asks. rust-analyzer has a command for that, but its threads have
//! stacks of 16 MiB, which the macros of a workspace may exceed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ra_ap_hir::import_map::ImportMap;
use ra_ap_hir::{TraitImpls, attach_db, crate_def_map};
use ra_ap_hir_def::item_tree::file_item_tree;
use ra_ap_hir_expand::HirFileId;
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::salsa::Database as _;
use ra_ap_ide_db::base_db::{Crate, EditionedFileId, SourceDatabase as _};
use ra_ap_syntax::ast::{self, HasAttrs as _, HasModuleItem as _, HasName as _};
use ra_ap_vfs::AnchoredPath;

use crate::names::instances;
use crate::view::on_cores;

enum Step<'a> {
    Names(&'a [Crate]),
    Items(Crate),
}

enum Part {
    Implementations(Crate),
    Imports(Crate),
}

/// `progress` receives the number of finished crates, and the number of all crates.
pub(crate) fn prime(db: &RootDatabase, cores: usize, progress: &(dyn Fn(usize, usize) + Sync)) {
    attach_db(db, || {
        // Dependencies of a crate precede it.
        let crates: Vec<Crate> = instances::default_crates(db).into_iter().map(|it| it.base()).collect();
        names_of_library(db, cores, &crates);
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
        });
    });
}

fn parts(db: &RootDatabase, it: Crate) -> Vec<Part> {
    let mut parts = vec![Part::Implementations(it)];
    let origin = &it.data(db).origin;
    if origin.is_lang() {
        parts.push(Part::Imports(it));
    }
    parts
}

/// Computes the names of the standard library on one core: each of its crates depends on the one before. The other cores
/// read the items of files meanwhile, which is about half of the work for the names in them.
fn names_of_library(db: &RootDatabase, cores: usize, crates: &[Crate]) {
    let (library, _) = crates.split_at(crates.iter().take_while(|it| it.data(db).origin.is_lang()).count());
    let is_known = AtomicBool::new(false);
    let items = crates.iter().copied().map(Step::Items);
    let steps: Vec<Step<'_>> = [Step::Names(library)].into_iter().chain(items).collect();
    on_cores(cores, db, &steps, |sema, it, _: &mut Vec<()>| match it {
        Step::Names(all) => {
            for it in *all {
                crate_def_map(sema.db, *it);
            }
            is_known.store(true, Ordering::Relaxed);
        }
        Step::Items(it) => read_items(sema.db, *it, &|| !is_known.load(Ordering::Relaxed)),
    });
}

/// Reads the items of a crate's modules that have a file in the usual place and no condition.
fn read_items(db: &RootDatabase, krate: Crate, is_wanted: &dyn Fn() -> bool) {
    let root = krate.root_file_id(db);
    let edition = root.edition(db);
    // Each file with the directory of its modules, relative to the file's own.
    let mut pending = vec![(root.file_id(db), String::new())];
    while let Some((file, directory)) = pending.pop().filter(|_| is_wanted()) {
        db.unwind_if_revision_cancelled();
        let id = EditionedFileId::new(db, file, edition);
        file_item_tree(db, id.into(), krate);
        HirFileId::from(id).ast_id_map(db);
        let files = db.file_source_root(file).source_root_id(db);
        let files = db.source_root(files).source_root(db);
        for item in id.parse(db).tree().items() {
            let ast::Item::Module(module) = item else { continue };
            let moves = |it: ast::Attr| it.simple_name().is_some_and(|it| ["cfg", "cfg_attr", "path"].contains(&&*it));
            let is_usual = module.item_list().is_none() && !module.attrs().any(moves);
            let Some(name) = module.name().filter(|_| is_usual) else { continue };
            let name = name.text();
            let name = name.trim_start_matches("r#");
            let at = |path: String| files.resolve_path(AnchoredPath { anchor: file, path: &path });
            let own = at(format!("{directory}{name}.rs")).map(|it| (it, format!("{name}/")));
            pending.extend(own.or_else(|| at(format!("{directory}{name}/mod.rs")).map(|it| (it, String::new()))));
        }
    }
}
