//! Whether modules go away. What the index knows is taken up again when a change is taken back, but a module that is
//! there again is another one to rust-analyzer, and so is all that it holds.

use std::collections::HashSet;

use ra_ap_hir::{Crate, Module};
use ra_ap_ide::RootDatabase;

use super::delta::Delta;
use super::edit_context::EditContext;
use crate::view::Context;
use semdex_model::ChangeKind;

pub(super) type Modules = Vec<(Crate, Vec<Module>)>;

/// The modules that a change may take away, by itself or by what macros make of it, by their crates.
pub(super) fn modules_at_stake(cx: &Context<'_>, deltas: &[(usize, Delta<'_>)], edit: &EditContext) -> Modules {
    let is_seen = |index: usize| {
        !edit.scope_changes[index].is_empty() || deltas.iter().any(|it| it.0 == index && it.1.kind != ChangeKind::Body)
    };
    let seen = edit.olds.iter().enumerate().filter(|it| is_seen(it.0));
    let own = seen.filter_map(|it| cx.sema.first_crate(cx.file_id(&it.1.path)?));
    let crates: HashSet<Crate> = own.flat_map(|it| it.transitive_reverse_dependencies(cx.db)).collect();
    crates.into_iter().map(|it| (it, it.modules(cx.db))).collect()
}

/// Whether all of them are still there.
pub(super) fn are_there(db: &RootDatabase, modules: &Modules) -> bool {
    modules.iter().all(|(krate, known)| {
        let now: HashSet<Module> = krate.modules(db).into_iter().collect();
        known.iter().all(|it| now.contains(it))
    })
}
