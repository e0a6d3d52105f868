//! Whether modules are removed. The index is restored when a change is reverted, but to rust-analyzer a restored module
//! is a new one, and so are all its items.

use std::collections::HashSet;

use ra_ap_hir::{Crate, Module};
use ra_ap_ide::RootDatabase;

use super::delta::Delta;
use super::edit_context::EditContext;
use crate::view::Context;
use semdex_model::ChangeKind;

pub(crate) type Modules = Vec<(Crate, Vec<Module>)>;

/// The modules that a change may remove, directly or through macros, by their crates.
pub(crate) fn modules_at_stake(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Modules {
    let is_seen = |index: usize| {
        !edit.scope_changes[index].is_empty() || deltas.iter().any(|it| it.0 == index && it.1.kind != ChangeKind::Body)
    };
    let seen = edit.olds.iter().enumerate().filter(|it| is_seen(it.0));
    let own = seen.filter_map(|it| cx.sema.first_crate(cx.file_id(&it.1.path)?));
    let crates: HashSet<Crate> = own.flat_map(|it| it.transitive_reverse_dependencies(cx.db)).collect();
    crates.into_iter().map(|it| (it, it.modules(cx.db))).collect()
}

/// Whether all of them still exist.
pub(crate) fn are_there(db: &RootDatabase, modules: &Modules) -> bool {
    modules.iter().all(|(krate, known)| {
        let now: HashSet<Module> = krate.modules(db).into_iter().collect();
        known.iter().all(|it| now.contains(it))
    })
}
