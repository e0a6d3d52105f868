//! Of a crate with a file that does not consist of token trees, the compiler reports only that, and it compiles none of
//! the crates that depend on it.

use std::collections::HashSet;
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;

use crate::names::instances;
use crate::syntax::Rest;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Missing, MissingCode};

/// The crates of which the compiler reports nothing but what cannot be read.
pub(crate) struct Uncompiled {
    crates: HashSet<CrateId>,
    /// The first of the files that cannot be read.
    cause: Option<Arc<str>>,
}

impl Uncompiled {
    /// Because of some of these files.
    pub(crate) fn by<'f>(cx: &Context<'_>, files: impl Iterator<Item = &'f Arc<File>>) -> Uncompiled {
        let unreadable = files.filter(|it| Rest::of(it.outline()).is_unreadable);
        let mut uncompiled = Uncompiled { crates: HashSet::new(), cause: None };
        for (file, id) in unreadable.filter_map(|it| Some((it, cx.file_id(&it.path)?))) {
            let owners = instances::owners(cx.db, id);
            if !owners.is_empty() {
                uncompiled.cause.get_or_insert_with(|| file.path.clone());
            }
            uncompiled.crates.extend(owners.iter().flat_map(|it| it.transitive_rev_deps(cx.db)));
        }
        uncompiled
    }

    pub(crate) fn has(&self, cx: &Context<'_>, file: &str) -> bool {
        let id = cx.file_id(file).filter(|_| !self.crates.is_empty());
        let owners = id.map(|it| instances::owners(cx.db, it)).unwrap_or_default();
        !owners.is_empty() && owners.iter().all(|it| self.crates.contains(it))
    }

    /// What is not known of these crates.
    pub(crate) fn missing(&self) -> Option<Missing> {
        let cause = self.cause.as_ref()?;
        let detail = format!(
            "the delimiters, literals or comments of {cause} have no end: other errors of its crates, and of those that \
             depend on them, are not known"
        );
        Some(Missing::new(MissingCode::WorkspaceBroken, &**cause, detail))
    }
}
