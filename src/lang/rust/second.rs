//! A second database of the same workspace. What is only asked about is tried in it, so that whoever reads finds the
//! first as it was: rust-analyzer keeps one answer to each question, and what it knew of the state before cannot outlive
//! what it learns of the state after.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ra_ap_hir::ChangeWithProcMacros;
use ra_ap_ide::AnalysisHost;
use ra_ap_ide_db::base_db::{SourceDatabase as _, SourceRoot, all_crates};
use ra_ap_ide_db::prime_caches::parallel_prime_caches;
use ra_ap_vfs::FileId;

use super::changes::Tried;
use super::engine::{Rust, is_in, new_host, set_roots};
use super::index::{Index, Lent};
use super::verify::verify_beside;
use super::view::{View, evict, share_types};
use crate::fault;
use crate::lang::files::Files;
use crate::lang::retries::Retries;
use crate::lang::rust::LANGUAGE;
use crate::lang::{Progress, Result, memory};
use crate::text::diff::OffsetMap;

/// Of both databases together memory should hold no more than this part.
const PART_OF_MEMORY: u64 = 4;

/// After so many panics in a row there is none, and the first database tries what is asked about.
const MOST_FAILURES: u32 = 3;

/// With less source code than this (in bytes) a single database is nearly as quick after a dry run, and another one costs
/// what the standard library takes in it.
const WORTH_A_SECOND: usize = 512 * 1024;

/// The texts of files, as they are set in a database; `None` is a file that is gone.
pub(super) type Texts = BTreeMap<FileId, Option<String>>;

/// With what it was not told yet.
#[derive(Default)]
pub(super) struct Second {
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
    There(Twin),
    /// There is no memory for one, or it could not be made, and the next would not be either.
    GivenUp,
}

struct Twin {
    host: AnalysisHost,
    roots: Vec<SourceRoot>,
    index: Arc<Index>,
    /// That what is verified beside the last question is of no use any more.
    is_over: Arc<AtomicBool>,
}

/// A second database on its way to the writer.
pub struct Made(Making);

enum Making {
    Done(Box<Twin>),
    /// It could not be made, and the next would not be either.
    Refused,
    Panicked,
}

impl Second {
    fn twin(&self) -> Option<&Twin> {
        match &self.stage {
            Stage::There(twin) => Some(twin),
            _ => None,
        }
    }

    /// A text that the first database has from now on.
    pub(super) fn note(&mut self, file: FileId, text: Option<String>) {
        if matches!(self.stage, Stage::Underway | Stage::There(_)) {
            self.behind.insert(file, text);
        }
    }

    /// Files came or went.
    pub(super) fn note_roots(&mut self) {
        self.lacks_roots = true;
    }

    /// There are other crates, or other macros.
    pub(super) fn note_graph(&mut self) {
        self.lacks_graph = true;
        if matches!(self.stage, Stage::GivenUp) && self.retries.failures() < MOST_FAILURES {
            self.stage = Stage::Absent;
        }
    }

    /// It panicked: it is thrown away, and made anew later, unless that comes to nothing again and again.
    pub(super) fn give_up(&mut self) {
        self.retries.failed();
        let is_hopeless = self.retries.failures() >= MOST_FAILURES;
        self.stage = if is_hopeless { Stage::GivenUp } else { Stage::Absent };
        self.behind.clear();
    }
}

impl Twin {
    fn set(&mut self, mut change: ChangeWithProcMacros, texts: Texts) {
        texts.into_iter().for_each(|(file, text)| change.change_file(file, text));
        self.host.apply_change(change);
        self.is_over = verify_beside(self.host.raw_database());
    }
}

impl Rust {
    /// Whether a second database is to be made: the first knows all that it can, and there is memory for another.
    pub fn needs_second(&mut self) -> bool {
        if !self.is_complete() || !matches!(self.second.stage, Stage::Absent) || !self.second.retries.is_due() {
            return false;
        }
        let is_wanted =
            self.config.second_database.unwrap_or_else(|| self.is_large() && has_room().unwrap_or_default());
        if !is_wanted {
            self.second.stage = Stage::GivenUp;
        }
        is_wanted
    }

    pub(super) fn is_large(&self) -> bool {
        let db = self.host.raw_database();
        let sources = self.ids.iter().filter(|(name, _)| LANGUAGE.takes(name));
        sources.map(|(_, id)| db.file_text(*id).text(db).len()).sum::<usize>() >= WORTH_A_SECOND
    }

    /// Makes the second database in the background.
    pub fn make_second(&mut self, files: Arc<Files>, deliver: impl FnOnce(Made) + Send + 'static) {
        let retries = std::mem::take(&mut self.second.retries);
        self.second = Second { stage: Stage::Underway, retries, ..Second::default() };
        let (change, roots) = self.whole();
        let index = Arc::new(self.index.beside());
        let (ids, root, environment) = (self.ids.clone(), self.root.clone(), self.environment.clone());
        let status = self.status.clone();
        let total = files.of(LANGUAGE).count();
        let tell = move |done| {
            let progress = Progress { stage: "second database".to_owned(), done, total };
            status.send_modify(|it| it.progress = Some(progress).filter(|_| done < total));
        };
        tell(0);
        let run = move || {
            let made = || -> Result<Twin> {
                fault::point("rust.second.make");
                let mut host = new_host();
                host.apply_change(change);
                let db = host.raw_database();
                let _shared = share_types();
                parallel_prime_caches(db, &all_crates(db), 1, &|_| {});
                let view = View::new(db.clone(), files.clone(), ids, root, environment, index.clone());
                view.ask(|it| {
                    for (done, file) in files.of(LANGUAGE).enumerate() {
                        tell(done);
                        it.errors_of_file(file);
                    }
                    Ok(())
                })?;
                Ok(Twin { host, roots, index, is_over: Arc::default() })
            };
            let twin = catch_unwind(AssertUnwindSafe(made));
            tell(total);
            deliver(Made(match twin {
                Ok(Ok(twin)) => Making::Done(Box::new(twin)),
                Ok(Err(_)) => Making::Refused,
                Err(_) => Making::Panicked,
            }));
        };
        let thread = std::thread::Builder::new().name("rust-second".to_owned()).stack_size(super::STACK_BYTES);
        if let Err(error) = thread.spawn(run) {
            tracing::error!(%error, "no thread for a second database");
            self.second.give_up();
        }
    }

    /// After a panic while a change was judged: where that was while the second database was told, it is gone.
    pub(super) fn note_panic_beside(&mut self) {
        if matches!(self.second.stage, Stage::Absent) {
            self.second.give_up();
        }
    }

    pub(super) fn has_second(&self) -> bool {
        self.second.twin().is_some()
    }

    pub fn adopt_second(&mut self, made: Made) {
        match made.0 {
            Making::Done(mut twin) => {
                evict(&mut twin.host);
                tracing::info!("a second database is there for what is only asked about");
                self.second.stage = Stage::There(*twin);
            }
            Making::Refused => self.second.stage = Stage::GivenUp,
            Making::Panicked => self.second.give_up(),
        }
    }

    /// Whether there is something to tell the second database. Other crates it is told when the first knows them.
    pub fn is_second_behind(&self) -> bool {
        let Second { behind, lacks_graph, .. } = &self.second;
        self.has_second() && if *lacks_graph { self.is_complete() } else { !behind.is_empty() }
    }

    /// Tells it, once nobody waits for anything else.
    pub fn catch_second_up(&mut self) {
        if self.is_second_behind() && catch_unwind(AssertUnwindSafe(|| self.set_beside(&[]))).is_err() {
            self.second.give_up();
        }
    }

    /// Tries a change in the second database, where there is one. Files that come or go are not tried there.
    pub(super) fn try_beside(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) -> Option<Tried> {
        self.texts_of(changes).filter(|_| self.has_second() && !self.second.lacks_graph)?;
        self.set_beside(changes);
        Some(Tried::Beside)
    }

    /// Takes back what was tried, when the second database is told something next.
    pub(super) fn take_back_beside(&mut self, before: &[(Arc<str>, Option<Arc<str>>)]) {
        self.second.behind.extend(self.texts_of(before).unwrap_or_default());
        if let Some(twin) = self.second.twin() {
            twin.is_over.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn set_beside(&mut self, changes: &[(Arc<str>, Option<Arc<str>>)]) {
        self.take_back_beside(changes);
        let graph = std::mem::take(&mut self.second.lacks_graph).then(|| self.graph());
        // Where a panic comes between it is gone, as what it came to is not known.
        let mut twin = match std::mem::take(&mut self.second.stage) {
            Stage::There(twin) => twin,
            other => return self.second.stage = other,
        };
        fault::point("rust.second.set");
        if graph.is_some() {
            twin.index.forget_crates();
        }
        drop(twin.index.forget_all());
        twin.index.lend(None);
        let mut texts = std::mem::take(&mut self.second.behind);
        // What came and went since it was told last it never heard of, and rust-analyzer sets no text of a file without
        // a source root.
        texts.retain(|file, text| text.is_some() || is_in(&twin.roots, *file));
        if std::mem::take(&mut self.second.lacks_roots) {
            set_roots(&mut twin.host, &mut twin.roots, self.roots.clone());
        }
        twin.set(graph.unwrap_or_default(), texts);
        self.second.stage = Stage::There(twin);
    }

    /// The paths that the first database knows are taken for what is tried, but for those that lead through one of these
    /// names. `edited` leads back to the texts before.
    pub(super) fn lend_beside(&self, edited: &BTreeMap<String, OffsetMap>, names: BTreeSet<String>) {
        let Some(twin) = self.second.twin() else { return };
        let edited = edited.iter().filter_map(|(name, map)| Some((*self.ids.get(&**name)?, map.clone()))).collect();
        twin.index.lend(Some(Lent { index: self.index.clone(), edited, names }));
    }

    /// A view of what is tried.
    pub(super) fn view_beside(&self, files: Arc<Files>) -> Option<View> {
        let twin = self.second.twin()?;
        let db = twin.host.raw_database().clone();
        let (ids, root, environment) = (self.ids.clone(), self.root.clone(), self.environment.clone());
        Some(View::new(db, files, ids, root, environment, twin.index.clone()))
    }

    /// All that the first database was told.
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
