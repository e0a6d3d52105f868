//! Updates the index in the background, on all cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::base_db::salsa::Database as _;

use crate::checks::{errors, refused_macros};
use crate::engine::revalidate::revalidate;
use crate::file_interface::file_interface;
use crate::index::{file_names, macro_names};
use crate::resolve::symbols;
use crate::view::parts::check_until;
use crate::view::{Context, Stumbles, View};
use crate::{LANGUAGE, questions};
use semdex_engine::files::File;
use semdex_engine::{Result, unpoisoned};

impl View {
    /// Updates the index; a change stops it without losing results. `progress` receives the number of finished files,
    /// and the total; each file counts twice.
    pub(crate) fn fill(self, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<()> {
        let started = Instant::now();
        let (this, _shared) = self.sharing_types()?;
        let (files, modules, has_builds) = this.clone().ask(|it| {
            revalidate(it.db, &|| true);
            let own = it.files.of(LANGUAGE).filter_map(|file| Some((file.clone(), it.file_id(&file.path)?)));
            let modules: Vec<FileId> = it.doctests().map(|it| it.module).collect();
            Ok((own.collect::<Vec<_>>(), modules, !it.environment.builds.names.is_empty()))
        })?;
        let done = AtomicUsize::new(0);
        let tell = || progress(done.fetch_add(1, Ordering::Relaxed), 2 * files.len());
        // Usages come first: queries wait for them, but only changes wait for errors.
        let read = this.on_all_cores(&files, |it, (file, id)| {
            tell();
            learn_symbols(it, file, *id);
            learn_names(it, *id)
        })?;
        this.on_all_cores(&modules, |it, id| learn_names(it, *id))?;
        if has_builds {
            let ids: Vec<FileId> = files.iter().map(|it| it.1).chain(modules).collect();
            this.on_all_cores(&ids, |it, id| learn_further_names(it, *id))?;
        }
        this.on_all_cores(&files, |it, (file, id)| {
            tell();
            learn_errors(it, file, *id)
        })?;
        this.ask(|it| {
            let refused = || files.iter().any(|(_, id)| refused_macros::are_in(&it.sema, *id));
            it.environment.refusals.review(refused);
            tracing::info!(files = read, bytes = it.index.bytes(), elapsed = ?started.elapsed(), "usages indexed");
            Ok(())
        })
    }

    /// Returns how many of the parts were learned.
    fn on_all_cores<I: Sync>(&self, parts: &[I], learn: impl Fn(&Context<'_>, &I) -> bool + Sync) -> Result<usize> {
        // Each thread counts its own stumbles.
        let view = || self.clone().with(&Stumbles::default());
        let learned = check_until(parts, None, view, |it, part| {
            it.db.unwind_if_revision_cancelled();
            if learn(it, part) { vec![()] } else { Vec::new() }
        })?;
        Ok(learned.all().len())
    }
}

/// What answers need besides the names: the first query would wait for it.
fn learn_symbols(it: &Context<'_>, file: &Arc<File>, id: FileId) {
    if !it.index.postings().knows(id, file) {
        unpoisoned::write(&it.index.postings).add(id, file);
    }
    symbols::file_symbols(it, file, id).upstream.get_or_init(|| questions::upstream_of(it, id));
}

/// What the names of a file mean in the default build, also those that macros write. Returns whether it was not known.
fn learn_names(it: &Context<'_>, id: FileId) -> bool {
    let is_new = it.index.names(id).is_none_or(|it| !it.is_complete());
    if is_new {
        it.index.learn_names(id, file_names::names_of(it.db, it.db.file_text(id)));
    }
    macro_names::learn(it.index, it.db, id);
    // A change of another file's declarations needs to know what this file names outside its bodies.
    file_interface(it.db, id);
    is_new
}

/// The same in further builds.
fn learn_further_names(it: &Context<'_>, id: FileId) -> bool {
    let is_new = it.index.further(id).is_none_or(|it| !it.is_complete());
    if is_new {
        it.index.learn_further(id, file_names::further_names_of(it.db, it.db.file_text(id)));
    }
    macro_names::learn_further(it.index, it.db, id);
    is_new
}

/// The errors of a file in the default build.
fn learn_errors(it: &Context<'_>, file: &Arc<File>, id: FileId) -> bool {
    if it.index.errors(id).is_some() {
        return false;
    }
    let before = it.stumbles.count();
    let errors = errors::errors_of_file(it, file);
    // A file with an unchecked body is not known.
    let is_known = it.stumbles.count() == before;
    if is_known {
        it.index.learn_errors(id, Arc::new(errors));
    }
    is_known
}
