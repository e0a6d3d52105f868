//! A shadow database of the same workspace. Dry runs use it, so that the first database keeps its answers for readers.
//! rust-analyzer keeps one answer for each query: computing the state after a change discards the answers about the
//! state before.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ra_ap_hir::ChangeWithProcMacros;
use ra_ap_ide::AnalysisHost;
use ra_ap_ide_db::base_db::{SourceDatabase as _, SourceRoot};
use ra_ap_vfs::FileId;

use super::changes::Tried;
use super::revalidate::revalidate_in_background;
use super::{Rust, apply_change, is_in, new_host, set_roots};
use crate::LANGUAGE;
use crate::bounds::abandoned::Abandoned;
use crate::checks::errors;
use crate::index::{BorrowedPaths, Index};
use crate::view::doctest_files::DoctestFiles;
use crate::view::{View, evict, share_types};
use semdex_engine::files::Files;
use semdex_engine::{Backoff, Progress, Result};
use semdex_process::{fault, resource_usage};
use semdex_text::diff::OffsetMap;

/// Both databases together should use at most this part of the memory.
const PART_OF_MEMORY: u64 = 4;

/// After this many consecutive panics there is no shadow database, and dry runs use the first database.
const MOST_FAILURES: u32 = 3;

/// With less source code than this (in bytes) a single database is nearly as fast after a dry run, and a second one
/// costs the memory of another standard library.
const WORTH_A_SHADOW: usize = 512 * 1024;

/// Texts of files as they are set in a database; `None` deletes a file.
pub(crate) type Texts = BTreeMap<FileId, Option<String>>;

/// The state with the changes that the shadow database has not received yet.
#[derive(Default)]
pub(crate) struct ShadowDatabase {
    stage: Stage,
    behind: Texts,
    lacks_roots: bool,
    lacks_graph: bool,
    /// Of the state that was tried last.
    doctests: Option<Arc<DoctestFiles>>,
    retries: Backoff,
}

#[derive(Default)]
enum Stage {
    #[default]
    Absent,
    Underway,
    There(Shadow),
    /// There is not enough memory, or creating it failed and would fail again.
    GivenUp,
}

struct Shadow {
    host: AnalysisHost,
    roots: Vec<SourceRoot>,
    index: Arc<Index>,
    /// The bodies whose analysis costs too much, in its own identities.
    abandoned: Arc<Abandoned>,
    /// Set when the background verification for the last dry run is no longer needed.
    is_over: Arc<AtomicBool>,
}

/// A shadow database on its way to the writer.
pub(crate) struct NewShadow(NewShadowState);

enum NewShadowState {
    Done(Box<Shadow>),
    /// Creating it failed and would fail again.
    Impossible,
    Panicked,
}

impl ShadowDatabase {
    fn shadow(&self) -> Option<&Shadow> {
        match &self.stage {
            Stage::There(shadow) => Some(shadow),
            _ => None,
        }
    }

    /// The first database has a new text for this file.
    pub(crate) fn note(&mut self, file: FileId, text: Option<String>) {
        if matches!(self.stage, Stage::Underway | Stage::There(_)) {
            self.behind.insert(file, text);
        }
    }

    /// Files were created or deleted.
    pub(crate) fn note_roots(&mut self) {
        self.lacks_roots = true;
    }

    /// The crates or the macros have changed.
    pub(crate) fn note_graph(&mut self) {
        self.lacks_graph = true;
        if matches!(self.stage, Stage::GivenUp) && self.retries.failures() < MOST_FAILURES {
            self.stage = Stage::Absent;
        }
    }

    /// It panicked: it is discarded and created again later, unless that fails repeatedly.
    fn give_up(&mut self) {
        self.retries.failed();
        let is_hopeless = self.retries.failures() >= MOST_FAILURES;
        self.stage = if is_hopeless { Stage::GivenUp } else { Stage::Absent };
        self.behind.clear();
    }
}

impl Shadow {
    fn set(&mut self, mut change: ChangeWithProcMacros, texts: Texts) {
        texts.into_iter().for_each(|(file, text)| change.change_file(file, text));
        apply_change(&mut self.host, change, &self.abandoned);
        self.is_over = revalidate_in_background(self.host.raw_database());
    }
}

impl Rust {
    /// Whether a shadow database has to be created: the first database is complete, and there is enough memory.
    pub(crate) fn needs_shadow(&mut self) -> bool {
        if !self.is_complete()
            || !matches!(self.shadow_database.stage, Stage::Absent)
            || !self.shadow_database.retries.is_due()
        {
            return false;
        }
        let is_wanted =
            self.config.second_database.unwrap_or_else(|| self.is_large() && has_room().unwrap_or_default());
        if !is_wanted {
            tracing::debug!("no second database is made: the workspace is small, or memory is");
            self.shadow_database.stage = Stage::GivenUp;
        }
        is_wanted
    }

    pub(crate) fn is_large(&self) -> bool {
        let db = self.host.raw_database();
        let sources = self.ids.iter().filter(|(name, _)| LANGUAGE.takes(name));
        sources.map(|(_, id)| db.file_text(*id).text(db).len()).sum::<usize>() >= WORTH_A_SHADOW
    }

    /// Creates the shadow database in the background.
    pub(crate) fn make_shadow(&mut self, files: Arc<Files>, deliver: impl FnOnce(NewShadow) + Send + 'static) {
        let retries = std::mem::take(&mut self.shadow_database.retries);
        self.shadow_database = ShadowDatabase { stage: Stage::Underway, retries, ..ShadowDatabase::default() };
        let (change, roots) = self.whole();
        let index = Arc::new(self.index.for_shadow());
        let (ids, root, environment) = (self.ids.clone(), self.root.clone(), self.environment.clone());
        let status = self.status.clone();
        let total = files.of(LANGUAGE).count();
        let tell = move |done| {
            let progress = Progress { stage: "second database".to_owned(), done, total };
            status.send_modify(|it| it.progress = Some(progress).filter(|_| done < total));
        };
        tell(0);
        let run = move || {
            let made = || -> Result<Shadow> {
                fault::point("rust.shadow.make");
                let mut host = new_host();
                host.apply_change(change);
                let db = host.raw_database();
                let _shared = share_types();
                let abandoned = Arc::new(Abandoned::new(None));
                // Only errors are computed in it: the tables for symbol search would need as much memory again.
                let view =
                    View::new(db.clone(), files.clone(), ids, root, environment, index.clone(), abandoned.clone());
                view.ask(|it| {
                    for (done, file) in files.of(LANGUAGE).enumerate() {
                        tell(done);
                        errors::errors_of_file(it, file);
                    }
                    Ok(())
                })?;
                Ok(Shadow { host, roots, index, abandoned, is_over: Arc::default() })
            };
            let shadow = catch_unwind(AssertUnwindSafe(made));
            tell(total);
            deliver(NewShadow(match shadow {
                Ok(Ok(shadow)) => NewShadowState::Done(Box::new(shadow)),
                Ok(Err(_)) => NewShadowState::Impossible,
                Err(_) => NewShadowState::Panicked,
            }));
        };
        let thread = std::thread::Builder::new().name("rust-shadow".to_owned()).stack_size(crate::STACK_BYTES);
        if let Err(error) = thread.spawn(run) {
            tracing::error!(%error, "no thread for a second database");
            self.shadow_database.give_up();
        }
    }

    /// Handles a panic during the computation of a change's impact: the shadow database is discarded if it was being
    /// changed.
    pub(crate) fn note_shadow_panic(&mut self) {
        if matches!(self.shadow_database.stage, Stage::Absent) {
            self.shadow_database.give_up();
        }
    }

    pub(crate) fn has_shadow(&self) -> bool {
        self.shadow_database.shadow().is_some()
    }

    pub(crate) fn adopt_shadow(&mut self, made: NewShadow) {
        match made.0 {
            NewShadowState::Done(mut shadow) => {
                evict(&mut shadow.host);
                tracing::info!("a second database is there for what is only asked about");
                self.shadow_database.stage = Stage::There(*shadow);
            }
            NewShadowState::Impossible => self.shadow_database.stage = Stage::GivenUp,
            NewShadowState::Panicked => self.shadow_database.give_up(),
        }
    }

    /// Whether the shadow database has changes to receive. It receives a new crate graph only when the first database
    /// has completed it.
    pub(crate) fn is_shadow_behind(&self) -> bool {
        let ShadowDatabase { behind, lacks_graph, .. } = &self.shadow_database;
        self.has_shadow() && if *lacks_graph { self.is_complete() } else { !behind.is_empty() }
    }

    /// Sends it the changes when no client waits for anything else.
    pub(crate) fn catch_shadow_up(&mut self) {
        if self.is_shadow_behind() && catch_unwind(AssertUnwindSafe(|| self.update_shadow(&[]))).is_err() {
            self.shadow_database.give_up();
        }
    }

    /// Tries a change in the shadow database if it exists. Changes that create or delete files, or give a
    /// package other crates, are not tried there.
    pub(crate) fn try_in_shadow(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Tried> {
        self.texts_of(changes).filter(|_| self.has_shadow() && !self.shadow_database.lacks_graph)?;
        if changes.iter().any(|it| self.changes_not_test_cfg(it)) {
            return None;
        }
        self.update_shadow(changes);
        Some(Tried::InShadow)
    }

    /// Reverts a tried change, when the shadow database receives its next change.
    pub(crate) fn take_back_in_shadow(&mut self, before: &[(Arc<str>, Option<Arc<str>>)]) {
        self.shadow_database.behind.extend(self.texts_of(before).unwrap_or_default());
        if let Some(shadow) = self.shadow_database.shadow() {
            shadow.is_over.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn update_shadow(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        self.shadow_database.doctests = self.doctests_of_trial(changes).map(|it| it.1);
        self.take_back_in_shadow(changes);
        let graph = std::mem::take(&mut self.shadow_database.lacks_graph).then(|| self.graph());
        // A panic in between discards it, because its state is then unknown.
        let mut shadow = match std::mem::take(&mut self.shadow_database.stage) {
            Stage::There(shadow) => shadow,
            other => return self.shadow_database.stage = other,
        };
        fault::point("rust.shadow.set");
        if graph.is_some() {
            shadow.index.forget_crates();
        }
        drop(shadow.index.forget_all());
        shadow.index.set_borrowed(None);
        let mut texts = std::mem::take(&mut self.shadow_database.behind);
        // It never received files that were created and deleted since its last change, and rust-analyzer sets no text
        // of a file without a source root.
        texts.retain(|file, text| text.is_some() || is_in(&shadow.roots, *file));
        // Most changes leave the doctests of a file as they are.
        let db = shadow.host.raw_database();
        let has = |file: FileId, text: &str| is_in(&shadow.roots, file) && **db.file_text(file).text(db) == *text;
        texts.retain(|file, text| !text.as_ref().is_some_and(|it| has(*file, it)));
        if std::mem::take(&mut self.shadow_database.lacks_roots) {
            set_roots(&mut shadow.host, &mut shadow.roots, self.roots.clone());
        }
        shadow.abandoned.forget_unless_in(&self.abandoned);
        texts.iter().for_each(|(file, text)| shadow.abandoned.note_text(*file, text.as_deref()));
        shadow.set(graph.unwrap_or_default(), texts);
        self.shadow_database.stage = Stage::There(shadow);
    }

    /// Reuses the paths that the first database knows for the tried state, except those that contain one of these
    /// names. `edited` maps back to the texts before.
    pub(crate) fn lend_paths_to_shadow(&self, edited: &BTreeMap<String, OffsetMap>, names: BTreeSet<String>) {
        let Some(shadow) = self.shadow_database.shadow() else { return };
        let edited = edited.iter().filter_map(|(name, map)| Some((*self.ids.get(&**name)?, map.clone()))).collect();
        shadow.index.set_borrowed(Some(BorrowedPaths { index: self.index.clone(), edited, names }));
    }

    /// A view of what is tried.
    pub(crate) fn view_of_shadow(&self, files: Arc<Files>) -> Option<View> {
        let shadow = self.shadow_database.shadow()?;
        let db = shadow.host.raw_database().clone();
        let (ids, root, mut environment) = (self.ids.clone(), self.root.clone(), self.environment.clone());
        if let Some(doctests) = &self.shadow_database.doctests {
            Arc::make_mut(&mut environment).doctests = doctests.clone();
        }
        Some(View::new(db, files, ids, root, environment, shadow.index.clone(), shadow.abandoned.clone()))
    }

    /// All inputs of the first database.
    fn whole(&self) -> (ChangeWithProcMacros, Vec<SourceRoot>) {
        let db = self.host.raw_database();
        let mut change = self.graph();
        change.set_roots(self.roots.clone());
        for (file, _) in self.vfs.iter() {
            change.change_file(file, Some(db.file_text(file).text(db).to_string()));
        }
        (change, self.roots.clone())
    }
}

/// Whether there is enough memory for a second database.
fn has_room() -> Option<bool> {
    Some(resource_usage::resident_memory(std::process::id())? * 2 < resource_usage::total_memory()? / PART_OF_MEMORY)
}
