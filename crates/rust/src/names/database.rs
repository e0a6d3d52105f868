//! rust-analyzer's database as our own queries need it: they use its `Semantics`, which requires the database itself.

use ra_ap_hir::db::HirDatabase;
use ra_ap_ide::RootDatabase;

/// The database of our own queries.
#[salsa::db]
pub(crate) trait IndexDatabase: HirDatabase {
    fn root(&self) -> &RootDatabase;
}

#[salsa::db]
impl IndexDatabase for RootDatabase {
    fn root(&self) -> &RootDatabase {
        self
    }
}
