//! Whether modules are removed. A file of a removed module is no code any longer, and nothing is wrong in it. The index is restored when a change is reverted, but to rust-analyzer a restored module
//! is a new one, and so are all its items.

use std::collections::HashSet;

use ra_ap_hir::{Crate, Module};
use ra_ap_ide::{FileId, RootDatabase};

use super::delta::Delta;
use super::edit_context::EditContext;
use crate::names::instances;
use crate::view::Context;
use semdex_model::ChangeKind;

/// The modules that a change may remove, by their crates, and the files of these.
#[derive(Default)]
pub(crate) struct Modules {
    by_crate: Vec<(Crate, Vec<Module>)>,
    files: HashSet<FileId>,
}

/// The modules that a change may remove, directly or through macros.
pub(crate) fn modules_at_stake(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Modules {
    let is_seen = |index: usize| {
        !edit.scope_changes[index].is_empty() || deltas.iter().any(|it| it.0 == index && it.1.kind != ChangeKind::Body)
    };
    let seen = edit.olds.iter().enumerate().filter(|it| is_seen(it.0));
    let own = seen.filter_map(|it| cx.file_id(&it.1.path)).flat_map(|it| instances::owners(cx.db, it).to_vec());
    let own: HashSet<Crate> = own.map(Crate::from).collect();
    let crates: HashSet<Crate> = own.iter().flat_map(|it| it.transitive_reverse_dependencies(cx.db)).collect();
    let by_crate: Vec<(Crate, Vec<Module>)> = crates.into_iter().map(|it| (it, it.modules(cx.db))).collect();
    let of_own = by_crate.iter().filter(|it| own.contains(&it.0)).flat_map(|it| &it.1);
    let files = of_own.map(|it| it.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db)).collect();
    Modules { by_crate, files }
}

impl Modules {
    /// Whether a file was code before the change and is none in the current state.
    pub(crate) fn lost(&self, cx: &Context<'_>, file: &str) -> bool {
        let lost = cx.file_id(file).filter(|it| self.files.contains(it));
        lost.is_some_and(|it| cx.sema.file_to_module_defs(it).next().is_none())
    }
}

/// Whether all of them still exist.
pub(crate) fn are_there(db: &RootDatabase, modules: &Modules) -> bool {
    modules.by_crate.iter().all(|(krate, known)| {
        let now: HashSet<Module> = krate.modules(db).into_iter().collect();
        known.iter().all(|it| now.contains(it))
    })
}
