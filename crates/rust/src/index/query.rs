//! The names of a file as a query.

use std::sync::Arc;

use ra_ap_hir::{Semantics, attach_db};
use ra_ap_ide_db::base_db::FileText;

use super::file_names::{Collector, Names};
use crate::file_interface::IndexDatabase;
use crate::names::Reader;

/// All names of a file.
#[salsa::tracked(returns(clone), no_eq)]
pub(crate) fn names_of(db: &dyn IndexDatabase, text: FileText) -> Arc<Names> {
    let root = db.root();
    attach_db(root, || {
        let sema = Semantics::new(root);
        let mut collector = Collector::new(root);
        Reader::new(&sema, *text.file_id(root)).read_all(|at, resolution| collector.add(at, resolution));
        Arc::new(collector.finish())
    })
}
