//! rust-analyzer's database as the queries of the index need it.

use ra_ap_hir::db::HirDatabase;
use ra_ap_ide::RootDatabase;

/// rust-analyzer's database as the queries below need it: they use its `Semantics`, which requires the database itself.
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
