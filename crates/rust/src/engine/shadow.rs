//! A shadow database of the same workspace. What is only asked about is tried in it, so that whoever reads finds the
//! first as it was: rust-analyzer keeps one answer to each question, and what it knew of the state before cannot outlive
//! what it learns of the state after.

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
use super::{Rust, is_in, new_host, set_roots};
use crate::LANGUAGE;
use crate::impact::errors;
use crate::index::{BorrowedPaths, Index};
use crate::view::{View, evict, share_types};
use semdex_engine::files::Files;
use semdex_engine::retries::Retries;
use semdex_engine::{Progress, Result};
use semdex_process::{fault, memory};
use semdex_text::diff::OffsetMap;

/// Of both databases together memory should hold no more than this part.
const PART_OF_MEMORY: u64 = 4;

/// After so many panics in a row there is none, and the first database tries what is asked about.
const MOST_FAILURES: u32 = 3;

/// With less source code than this (in bytes) a single database is nearly as quick after a dry run, and another one costs
/// what the standard library takes in it.
const WORTH_A_SHADOW: usize = 512 * 1024;

/// The texts of files, as they are set in a database; `None` is a file that is gone.
pub(crate) type Texts = BTreeMap<FileId, Option<String>>;

/// With the changes that it was not sent yet.
#[derive(Default)]
pub(crate) struct ShadowDatabase {
    stage: Stage,
    behind: Texts,
    lacks_roots: bool,
    lacks_graph: bool,
    retries: Retries,
}

#[derive(Default)]
enum Stage {
    #[default]
    Absent,
    Underway,
    There(Shadow),
    /// There is no memory for one, or it could not be made, and the next would not be either.
    GivenUp,
}

struct Shadow {
    host: AnalysisHost,
    roots: Vec<SourceRoot>,
    index: Arc<Index>,
    /// That what is verified beside the last question is of no use any more.
    is_over: Arc<AtomicBool>,
}

/// A shadow database on its way to the writer.
pub(crate) struct NewShadow(NewShadowState);

enum NewShadowState {
    Done(Box<Shadow>),
    /// It could not be made, and the next would not be either.
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

    /// A text that the first database has from now on.
    pub(crate) fn note(&mut self, file: FileId, text: Option<String>) {
        if matches!(self.stage, Stage::Underway | Stage::There(_)) {
            self.behind.insert(file, text);
        }
    }

    /// Files came or went.
    pub(crate) fn note_roots(&mut self) {
        self.lacks_roots = true;
    }

    /// There are other crates, or other macros.
    pub(crate) fn note_graph(&mut self) {
        self.lacks_graph = true;
        if matches!(self.stage, Stage::GivenUp) && self.retries.failures() < MOST_FAILURES {
            self.stage = Stage::Absent;
        }
    }

    /// It panicked: it is thrown away, and made anew later, unless that comes to nothing again and again.
    pub(crate) fn give_up(&mut self) {
        self.retries.failed();
        let is_hopeless = self.retries.failures() >= MOST_FAILURES;
        self.stage = if is_hopeless { Stage::GivenUp } else { Stage::Absent };
        self.behind.clear();
    }
}

impl Shadow {
    fn set(&mut self, mut change: ChangeWithProcMacros, texts: Texts) {
        texts.into_iter().for_each(|(file, text)| change.change_file(file, text));
        self.host.apply_change(change);
        self.is_over = revalidate_in_background(self.host.raw_database());
    }
}

impl Rust {
    /// Whether a shadow database is to be made: the first knows all that it can, and there is memory for another.
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

    /// Makes the shadow database in the background.
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
                // It is asked for errors only: the tables that symbols are searched in would take as much again.
                let view = View::new(db.clone(), files.clone(), ids, root, environment, index.clone());
                view.ask(|it| {
                    for (done, file) in files.of(LANGUAGE).enumerate() {
                        tell(done);
                        errors::errors_of_file(it, file);
                    }
                    Ok(())
                })?;
                Ok(Shadow { host, roots, index, is_over: Arc::default() })
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

    /// After a panic while the impact of a change was computed: where the shadow database was in change, it is gone.
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

    /// Whether there is something to send to the shadow database. Other crates it is sent when the first knows them.
    pub(crate) fn is_shadow_behind(&self) -> bool {
        let ShadowDatabase { behind, lacks_graph, .. } = &self.shadow_database;
        self.has_shadow() && if *lacks_graph { self.is_complete() } else { !behind.is_empty() }
    }

    /// Tells it, once nobody waits for anything else.
    pub(crate) fn catch_shadow_up(&mut self) {
        if self.is_shadow_behind() && catch_unwind(AssertUnwindSafe(|| self.update_shadow(&[]))).is_err() {
            self.shadow_database.give_up();
        }
    }

    /// Tries a change in the shadow database, where there is one. Files that come or go are not tried there.
    pub(crate) fn try_in_shadow(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Tried> {
        self.texts_of(changes).filter(|_| self.has_shadow() && !self.shadow_database.lacks_graph)?;
        self.update_shadow(changes);
        Some(Tried::InShadow)
    }

    /// Takes back what was tried, when the shadow database is sent something next.
    pub(crate) fn take_back_in_shadow(&mut self, before: &[(Arc<str>, Option<Arc<str>>)]) {
        self.shadow_database.behind.extend(self.texts_of(before).unwrap_or_default());
        if let Some(shadow) = self.shadow_database.shadow() {
            shadow.is_over.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn update_shadow(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        self.take_back_in_shadow(changes);
        let graph = std::mem::take(&mut self.shadow_database.lacks_graph).then(|| self.graph());
        // Where a panic comes between it is gone, as what it came to is not known.
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
        // What came and went since its last change it never heard of, and rust-analyzer sets no text of a file without
        // a source root.
        texts.retain(|file, text| text.is_some() || is_in(&shadow.roots, *file));
        if std::mem::take(&mut self.shadow_database.lacks_roots) {
            set_roots(&mut shadow.host, &mut shadow.roots, self.roots.clone());
        }
        shadow.set(graph.unwrap_or_default(), texts);
        self.shadow_database.stage = Stage::There(shadow);
    }

    /// The paths that the first database knows are taken for what is tried, but for those that lead through one of these
    /// names. `edited` leads back to the texts before.
    pub(crate) fn lend_paths_to_shadow(&self, edited: &BTreeMap<String, OffsetMap>, names: BTreeSet<String>) {
        let Some(shadow) = self.shadow_database.shadow() else { return };
        let edited = edited.iter().filter_map(|(name, map)| Some((*self.ids.get(&**name)?, map.clone()))).collect();
        shadow.index.set_borrowed(Some(BorrowedPaths { index: self.index.clone(), edited, names }));
    }

    /// A view of what is tried.
    pub(crate) fn view_of_shadow(&self, files: Arc<Files>) -> Option<View> {
        let shadow = self.shadow_database.shadow()?;
        let db = shadow.host.raw_database().clone();
        let (ids, root, environment) = (self.ids.clone(), self.root.clone(), self.environment.clone());
        Some(View::new(db, files, ids, root, environment, shadow.index.clone()))
    }

    /// All inputs that the first database was given.
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

/// Whether there is memory for as much again.
fn has_room() -> Option<bool> {
    Some(memory::resident(std::process::id())? * 2 < memory::total()? / PART_OF_MEMORY)
}
