//! Whether modules go away. What the index knows is taken up again when a change is taken back, but a module that is
//! there again is another one to rust-analyzer, and so is all that it holds.

use std::collections::HashSet;

use ra_ap_hir::{Crate, Module};

use super::EditContext;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::view::Context;
use crate::model::ChangeKind;

pub(super) type Modules = Vec<(Crate, Vec<Module>)>;

impl<'db> Context<'db> {
    /// The modules that a change may take away, by itself or by what macros make of it, by their crates.
    pub(super) fn modules_at_stake(&self, deltas: &[(usize, Delta<'_>)], scene: &EditContext) -> Modules {
        let is_seen = |index: usize| {
            !scene.loose[index].is_empty() || deltas.iter().any(|it| it.0 == index && it.1.kind != ChangeKind::Body)
        };
        let seen = scene.olds.iter().enumerate().filter(|it| is_seen(it.0));
        let own = seen.filter_map(|it| self.sema.first_crate(self.file_id(&it.1.path)?));
        let crates: HashSet<Crate> = own.flat_map(|it| it.transitive_reverse_dependencies(self.db)).collect();
        crates.into_iter().map(|it| (it, it.modules(self.db))).collect()
    }

    /// Whether all of them are still there.
    pub(super) fn are_there(&self, modules: &Modules) -> bool {
        modules.iter().all(|(krate, known)| {
            let now: HashSet<Module> = krate.modules(self.db).into_iter().collect();
            known.iter().all(|it| now.contains(it))
        })
    }
}
