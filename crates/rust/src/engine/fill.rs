//! Updates the index in a background thread.

use std::sync::Arc;
use std::time::Instant;

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::base_db::salsa::Database as _;

use crate::checks::{errors, refused_macros};
use crate::engine::revalidate::revalidate;
use crate::file_interface::file_interface;
use crate::index::{file_names, macro_names};
use crate::resolve::symbols;
use crate::view::View;
use crate::{LANGUAGE, questions};
use semdex_engine::files::File;
use semdex_engine::{Result, unpoisoned};

impl View {
    /// Updates the index; a change stops it without losing results. `progress` receives the number of finished files,
    /// and the total; each file counts twice.
    pub(crate) fn fill(self, progress: &dyn Fn(usize, usize)) -> Result<()> {
        self.ask(|it| {
            let started = Instant::now();
            revalidate(it.db, &|| true);
            let mut read = 0;
            let files = it.files.of(LANGUAGE).filter_map(|file| Some((file, it.file_id(&file.path)?)));
            let files: Vec<(&Arc<File>, FileId)> = files.collect();
            let tell = |done| {
                it.db.unwind_if_revision_cancelled();
                progress(done, 2 * files.len());
            };
            // Usages come first: queries wait for them, but only changes wait for errors.
            for (done, &(file, id)) in files.iter().enumerate() {
                tell(done);
                if it.index.names(id).is_none_or(|it| !it.is_complete()) {
                    it.index.learn_names(id, file_names::names_of(it.db, it.db.file_text(id)));
                    read += 1;
                }
                macro_names::learn(it.index, it.db, id);
                // Answers need these too, and the first query would wait for them.
                if !it.index.postings().knows(id, file) {
                    unpoisoned::write(&it.index.postings).add(id, file);
                }
                symbols::file_symbols(it, file, id).upstream.get_or_init(|| questions::upstream_of(it, id));
                // A change of another file's declarations needs to know what this file names outside its bodies.
                file_interface(it.db, id);
            }
            for doctests in it.doctests() {
                it.db.unwind_if_revision_cancelled();
                let id = doctests.module;
                if it.index.names(id).is_none_or(|it| !it.is_complete()) {
                    it.index.learn_names(id, file_names::names_of(it.db, it.db.file_text(id)));
                }
                macro_names::learn(it.index, it.db, id);
                file_interface(it.db, id);
            }
            let modules = it.doctests().map(|it| it.module);
            let ids = files.iter().map(|it| it.1).chain(modules);
            for id in ids.filter(|_| !it.environment.builds.names.is_empty()) {
                it.db.unwind_if_revision_cancelled();
                if it.index.further(id).is_none_or(|it| !it.is_complete()) {
                    it.index.learn_further(id, file_names::further_names_of(it.db, it.db.file_text(id)));
                }
                macro_names::learn_further(it.index, it.db, id);
            }
            for (done, &(file, id)) in files.iter().enumerate() {
                tell(files.len() + done);
                if it.index.errors(id).is_none() {
                    let before = it.stumbles.count();
                    let errors = errors::errors_of_file(it, file);
                    // A file with an unchecked body is not known.
                    if it.stumbles.count() == before {
                        it.index.learn_errors(id, Arc::new(errors));
                    }
                }
            }
            it.environment.refusals.review(|| files.iter().any(|(_, id)| refused_macros::are_in(&it.sema, *id)));
            tracing::info!(files = read, bytes = it.index.bytes(), elapsed = ?started.elapsed(), "usages indexed");
            Ok(())
        })
    }
}
