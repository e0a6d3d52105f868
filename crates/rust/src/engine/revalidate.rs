//! What every query needs after a change, computed before a client asks.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ra_ap_hir::{Impl, Trait, attach_db};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::base_db::salsa::Database as _;

use crate::names::instances;
use crate::view::{catch, try_share_types};

/// After any change rust-analyzer verifies the modules and implementations of all crates before the first answer, even
/// if the change had no effect. The first query would wait for that.
pub(crate) fn revalidate(db: &RootDatabase, is_wanted: &dyn Fn() -> bool) {
    let mut traits: HashSet<Trait> = HashSet::new();
    for krate in instances::default_crates(db).into_iter().filter(|it| it.origin(db).is_local()) {
        for block in Impl::all_in_crate(db, krate) {
            if !is_wanted() {
                return;
            }
            db.unwind_if_revision_cancelled();
            block.self_ty(db);
            traits.extend(block.trait_(db));
        }
    }
    for it in traits.into_iter().take_while(|_| is_wanted()) {
        db.unwind_if_revision_cancelled();
        Impl::all_for_trait(db, it);
    }
}

/// Does so in a thread of its own, concurrently with the first query. The next change ends it, or the caller by setting
/// the returned flag.
pub(crate) fn revalidate_in_background(db: &RootDatabase) -> Arc<AtomicBool> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (db, over) = (db.clone(), is_over.clone());
    let run = move || {
        let Some(_shared) = try_share_types() else { return };
        let _ = catch(|| attach_db(&db, || revalidate(&db, &|| !over.load(Ordering::Relaxed))));
    };
    let thread = std::thread::Builder::new().name("rust-verify".to_owned()).stack_size(crate::STACK_BYTES);
    if let Err(error) = thread.spawn(run) {
        tracing::error!(%error, "no thread could be started for background verification");
    }
    is_over
}
