//! The names of a file as a query.

use std::sync::Arc;

use ra_ap_hir::{Semantics, attach_db};
use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::{FileText, SourceDatabase as _};

use super::database::IndexDatabase;
use super::file_names::{Collector, Names};
use super::names::Reader;
use crate::view::Context;

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

/// All names of a file, updated if necessary.
pub(crate) fn names_now(context: &Context<'_>, file: FileId) -> Arc<Names> {
    let known = context.index.names(file).filter(|it| it.is_complete());
    known.unwrap_or_else(|| names_of(context.db, context.db.file_text(file)))
}
