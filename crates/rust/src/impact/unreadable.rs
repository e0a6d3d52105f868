//! Of a crate with a file that does not consist of token trees, the compiler reports only that, and it compiles none of
//! the crates that depend on it.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;

use crate::names::instances;
use crate::syntax::Rest;
use crate::view::Context;
use semdex_engine::files::File;

/// The crates of which the compiler reports nothing but what cannot be read.
pub(crate) struct Uncompiled(HashSet<CrateId>);

impl Uncompiled {
    /// Because of these files, which are edited.
    pub(crate) fn after(cx: &Context<'_>, edited: &[Arc<File>]) -> Uncompiled {
        let unreadable = edited.iter().filter(|it| Rest::of(it.outline()).is_unreadable);
        let owners =
            unreadable.filter_map(|it| cx.file_id(&it.path)).flat_map(|it| instances::owners(cx.db, it).to_vec());
        Uncompiled(owners.flat_map(|it| it.transitive_rev_deps(cx.db)).collect())
    }

    pub(crate) fn has(&self, cx: &Context<'_>, file: &str) -> bool {
        let file = cx.file_id(file).filter(|_| !self.0.is_empty());
        file.is_some_and(|it| instances::owners(cx.db, it).iter().all(|it| self.0.contains(it)))
    }
}
