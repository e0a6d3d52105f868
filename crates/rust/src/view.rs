//! An immutable view of one revision. It is moved into one blocking closure and dropped there: while it exists, no
//! change can be made.

pub(crate) mod doctest_files;
pub(crate) mod environment;
pub(crate) mod located;
pub(crate) mod memo;
pub(crate) mod packages;
pub(crate) mod parts;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::time::Instant;

use ra_ap_hir::{Semantics, attach_db};
use ra_ap_ide::{Analysis, AnalysisHost, Cancellable, FileId, FileRange, RootDatabase};
use ra_ap_ide_db::base_db::salsa::{CancellationToken, Cancelled, Database as _};
use ra_ap_ide_db::base_db::{Crate as CrateId, SourceDatabase};
use ra_ap_paths::AbsPathBuf;

use self::doctest_files::DoctestFile;
use self::environment::{Environment, FileIds};
use self::memo::Names;
use super::index::Index;
use crate::LANGUAGE;
use crate::bounds::abandoned::Abandoned;
use crate::bounds::{self, Bound, Bounds, MOST_ERRORS};
use crate::names::{instances, outside_crates};
use crate::syntax::positions;
use semdex_engine::files::{File, Files};
use semdex_engine::{Prepared, Readiness, Result, Stop, too_deep};
use semdex_model::{Code, Coverage, Error, FileEdit, Missing, MissingCode, Place};

/// rust-analyzer stores the types of all databases of the process in one place, and its garbage collector also frees
/// types that a query holds on its stack. Queries of all workspaces therefore share this lock, and the collector takes
/// it exclusively.
static TYPES: RwLock<()> = RwLock::new(());

/// Held while types are used. It waits for the collector, so the caller must not hold a database: the collector waits
/// for those to be released.
pub(crate) fn share_types() -> RwLockReadGuard<'static, ()> {
    TYPES.read().unwrap_or_else(PoisonError::into_inner)
}

/// Like `share_types`, but `None` while the collector runs.
pub(crate) fn try_share_types() -> Option<RwLockReadGuard<'static, ()>> {
    match TYPES.try_read() {
        Ok(shared) => Some(shared),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Runs a query; a change cancels it. The caller holds the lock on types.
pub(crate) fn catch<T>(question: impl FnOnce() -> T) -> Result<T> {
    Cancelled::catch(AssertUnwindSafe(question)).map_err(|why| {
        tracing::debug!(%why, "a query ended without a result");
        match why {
            // Until the next change it would panic again.
            Cancelled::PropagatedPanic => Stop::Failed(Error::new(Code::Internal, PANICKED)),
            _ => Stop::Stale,
        }
    })
}

const PANICKED: &str = "the analysis of code that the answer depends on panicked; the server goes on, and tries it again \
                        after the next change: the log has the panic message";

/// The result of one of the ide's own queries, for those who handle what ended it as that of any other part of a query.
pub(crate) fn uncaught<T>(result: Cancellable<T>) -> T {
    result.unwrap_or_else(|why| resume_unwind(Box::new(why)))
}

/// Why a part of a query has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// The analysis panicked.
    Panicked,
    /// The analysis exceeded this bound, now or before.
    Exhausted(Bound),
}

/// Runs a part of a query. An error if the analysis panics or exceeds its bound; a change cancels the whole query.
pub(crate) fn unless_at_fault<T>(part: impl FnOnce() -> T) -> std::result::Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|panic| match bounds::exceeded_bound(&*panic) {
        Some(bound) => Fault::Exhausted(bound),
        None if matches!(panic.downcast_ref(), None | Some(Cancelled::PropagatedPanic)) => Fault::Panicked,
        None => resume_unwind(panic),
    })
}

/// The most places that are named at which the analysis panicked.
const MOST_STUMBLES: usize = 16;

/// The places at which the analysis panicked or exceeded its bound during a query: nothing is known about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stumbles(Arc<Mutex<Noted>>);

/// The number of places, and the first of them.
type Noted = (usize, BTreeSet<(Fault, String)>);

impl Stumbles {
    fn note(&self, fault: Fault, what: String) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.0 += 1;
        if noted.1.len() < MOST_STUMBLES {
            noted.1.insert((fault, what));
        }
    }

    /// The number of places so far.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// What is missing from an answer because of them.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = noted.1.iter().map(|(fault, what)| match fault {
            Fault::Panicked => {
                let detail = format!(
                    "rust-analyzer panicked on {what}, so its errors are not known: the log has the panic message; \
                     `cargo check` reports the errors"
                );
                Missing::new(MissingCode::Unsupported, LANGUAGE.name, detail)
            }
            Fault::Exhausted(Bound::Errors) => {
                let detail = format!("{what} has more than {MOST_ERRORS} errors: the others are not reported");
                Missing::new(MissingCode::TooMany, LANGUAGE.name, detail)
            }
            Fault::Exhausted(bound) => {
                let reason = bound.reason();
                let detail = format!(
                    "the analysis of {what} was abandoned because {reason}: what it would find is not known; `cargo \
                     check` reports the errors"
                );
                Missing::new(MissingCode::TooMany, LANGUAGE.name, detail)
            }
        });
        missing.collect()
    }
}

/// Collects garbage unless a query is running anywhere in the process. Returns whether it did.
pub(crate) fn collect_garbage(host: &mut AnalysisHost) -> bool {
    let Ok(_alone) = TYPES.try_write() else { return false };
    host.trigger_garbage_collection();
    true
}

/// Evicts cached texts and bodies beyond the capacity of each kind, which the next change would do while a client waits
/// for it. It does nothing if a query is running anywhere in the process, because that would be cancelled. Returns
/// whether it did.
pub(crate) fn evict(host: &mut AnalysisHost) -> bool {
    let Ok(_alone) = TYPES.try_write() else { return false };
    outside_crates::evict(host.raw_database_mut());
    host.raw_database_mut().trigger_lru_eviction();
    true
}

/// Computes an answer for each item, in any order, on as many threads as there are cores. The caller holds the lock on
/// types.
pub(crate) fn on_all_cores<I: Sync, A: Send>(
    db: &RootDatabase,
    items: &[I],
    ask: impl Fn(&Semantics<'_, RootDatabase>, &I, &mut Vec<A>) + Sync,
) -> Vec<A> {
    on_cores(std::thread::available_parallelism().map_or(1, |it| it.get()), db, items, ask)
}

/// The same on as many threads as this.
pub(crate) fn on_cores<I: Sync, A: Send>(
    cores: usize,
    db: &RootDatabase,
    items: &[I],
    ask: impl Fn(&Semantics<'_, RootDatabase>, &I, &mut Vec<A>) + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    // The copies have cancellation tokens of their own, which nothing cancels.
    let asker = db.cancellation_token();
    let bounds = bounds::current();
    let work = |db: &RootDatabase| {
        let mut answers = Vec::new();
        let sema = Semantics::new(db);
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            db.unwind_if_revision_cancelled();
            if asker.is_cancelled() {
                break;
            }
            ask(&sema, item, &mut answers);
        }
        answers
    };
    let helper = || std::thread::Builder::new().name("rust-helper".to_owned()).stack_size(super::STACK_BYTES);
    std::thread::scope(|scope| {
        let copies = (1..cores.min(items.len())).map(|_| db.clone());
        let work = &work;
        // A helper reads files for the crate for which this thread reads them.
        let pin = semdex_pin::pinned();
        let help = |db: RootDatabase| {
            let bounds = bounds.clone();
            move || {
                let _pinned = semdex_pin::pin(pin);
                attach_db(&db, || bounds::within(bounds, || work(&db)))
            }
        };
        let helpers: Vec<_> = copies.map(|db| helper().spawn_scoped(scope, help(db))).collect();
        let mut answers = work(db);
        for helper in helpers.into_iter().flatten() {
            match helper.join() {
                Ok(more) => answers.extend(more),
                // A change that cancelled a part cancels the whole query.
                Err(panic) => resume_unwind(panic),
            }
        }
        answers
    })
}

/// Held by the task that waits for an answer.
pub(crate) struct CancelOnDrop(CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Clone)]
pub(crate) struct View {
    db: RootDatabase,
    files: Arc<Files>,
    ids: Arc<FileIds>,
    root: AbsPathBuf,
    environment: Arc<Environment>,
    index: Arc<Index>,
    abandoned: Arc<Abandoned>,
    until: Option<Instant>,
    /// When the analysis of a body ends, finished or not.
    leave_bodies: Option<Instant>,
    stumbles: Stumbles,
}

impl View {
    pub(crate) fn new(
        db: RootDatabase,
        files: Arc<Files>,
        ids: Arc<FileIds>,
        root: AbsPathBuf,
        environment: Arc<Environment>,
        index: Arc<Index>,
        abandoned: Arc<Abandoned>,
    ) -> View {
        View {
            db,
            files,
            ids,
            root,
            environment,
            index,
            abandoned,
            until: None,
            leave_bodies: None,
            stumbles: Stumbles::default(),
        }
    }

    /// See `Readiness`.
    pub(crate) fn readiness(&self) -> Readiness {
        self.environment.readiness()
    }

    /// Collects the panics of several views.
    pub(crate) fn with(self, stumbles: &Stumbles) -> View {
        View { stumbles: stumbles.clone(), ..self }
    }

    /// Cancels the queries of this view when it is dropped.
    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.db.cancellation_token())
    }

    /// Whether the asker still waits, for parts of a query that run in views of their own.
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.db.cancellation_token()
    }

    /// When a query returns what it has.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.until
    }

    /// A query returns what it has by then.
    pub(crate) fn by(self, until: Instant) -> View {
        View { until: Some(until), ..self }
    }

    /// The analysis of a body ends then, finished or not.
    pub(crate) fn leave_bodies_at(self, latest: Instant) -> View {
        View { leave_bodies: Some(latest), ..self }
    }

    /// What Cargo will say once these edits are made; `None` if they decide nothing about crates. The view is dropped
    /// before Cargo is asked.
    pub(crate) fn plan(self, edits: &[FileEdit], deadline: Instant) -> Option<Prepared> {
        let (planner, files) = (self.environment.planner.clone()?, self.files.clone());
        drop(self);
        planner.plan(&files, edits, deadline)
    }

    /// Runs a query on a thread that may block and has a deep stack. Consumes the view.
    pub(crate) fn ask<T>(self, question: impl FnOnce(&Context<'_>) -> Result<T>) -> Result<T> {
        let (view, _shared) = self.sharing_types()?;
        let bounds = Bounds {
            abandoned: Some(view.abandoned.clone()),
            asker: Some(view.db.cancellation_token()),
            until: view.leave_bodies,
        };
        catch(|| {
            attach_db(&view.db, || {
                let context = Context {
                    sema: Semantics::new(&view.db),
                    db: &view.db,
                    files: &view.files,
                    ids: &view.ids,
                    root: &view.root,
                    environment: &view.environment,
                    index: &view.index,
                    until: view.until,
                    names: Rc::default(),
                    stumbles: &view.stumbles,
                };
                let answer = bounds::within(bounds, || bounds::catch(|| question(&context)));
                view.abandoned.locate(|about| unless_at_fault(|| located::place_of(&context, about)).ok().flatten());
                answer.unwrap_or_else(|_| Err(Stop::Failed(exhausted())))
            })
        })?
    }

    /// Types are shared until the lock is dropped, so that several queries of copies of this view are as one: while a
    /// view exists, none of them may wait for the collector.
    pub(crate) fn sharing_types(self) -> Result<(View, RwLockReadGuard<'static, ()>)> {
        let Some(shared) = try_share_types() else {
            drop(self);
            drop(share_types());
            return Err(Stop::Stale);
        };
        Ok((self, shared))
    }
}

/// The error of a query that cannot be answered in part.
fn exhausted() -> Error {
    let detail = "the answer depends on code whose analysis costs too much and was abandoned: the status names \
                  it (`missing`); simplify its types or constants";
    Error::new(Code::Timeout, detail)
}

/// The context of a query.
pub(crate) struct Context<'db> {
    pub(crate) sema: Semantics<'db, RootDatabase>,
    pub(crate) db: &'db RootDatabase,
    pub(crate) files: &'db Files,
    pub(crate) ids: &'db FileIds,
    pub(crate) root: &'db AbsPathBuf,
    pub(crate) environment: &'db Environment,
    pub(crate) index: &'db Index,
    /// The deadline, after which nothing more is computed.
    pub(crate) until: Option<Instant>,
    /// The names that were computed so far.
    pub(crate) names: Rc<Names<'db>>,
    /// The places at which the analysis panicked so far.
    pub(crate) stumbles: &'db Stumbles,
}

impl<'db> Context<'db> {
    /// Runs a part of a query for each crate that includes a file. Within it, the file has the meaning that it has in
    /// that crate. The results have the order of `instances::owners`.
    pub(crate) fn for_each_instance<T>(&self, file: FileId, mut part: impl FnMut(&Context<'db>) -> T) -> Vec<T> {
        let owners = instances::owners(self.db, file);
        match &*owners {
            [] | [_] => vec![part(self)],
            several => several.iter().map(|it| self.in_instance(file, *it, &mut part)).collect(),
        }
    }

    /// Runs a part of a query for one crate that includes a file.
    pub(crate) fn in_instance<T>(&self, file: FileId, krate: CrateId, part: impl FnOnce(&Context<'db>) -> T) -> T {
        let _pinned = instances::pin_to(self.db, file, krate);
        part(&Context { sema: Semantics::new(self.db), names: self.names.clone(), ..*self })
    }

    /// Runs a part of a query. `None` if the analysis panics there or exceeds its bound, which the answer reports with
    /// `place`; a change cancels the whole query.
    pub(crate) fn unless_at_fault<T>(&self, place: impl FnOnce() -> String, part: impl FnOnce() -> T) -> Option<T> {
        unless_at_fault(part).map_err(|fault| self.note_stumble(fault, place)).ok()
    }

    /// The same, for a part whose panics are not to be caught.
    pub(crate) fn unless_exhausted<T>(&self, place: impl FnOnce() -> String, part: impl FnOnce() -> T) -> Option<T> {
        bounds::catch(part).map_err(|bound| self.note_stumble(Fault::Exhausted(bound), place)).ok()
    }

    pub(crate) fn note_stumble(&self, fault: Fault, place: impl FnOnce() -> String) {
        // What cannot be analysed perhaps cannot be named either.
        self.stumbles.note(fault, unless_at_fault(place).unwrap_or_else(|_| "a part of the code".to_owned()));
    }

    /// What is missing because of places at which the analysis panicked or exceeded its bound so far.
    pub(crate) fn stumbled(&self) -> Coverage {
        let mut coverage = Coverage::default();
        self.stumbles.missing().into_iter().for_each(|it| coverage.lacks(it));
        coverage
    }

    pub(crate) fn file_id(&self, file: &str) -> Option<FileId> {
        self.ids.get(file).copied()
    }

    /// A file's name in answers: relative to the root, or absolute outside of it.
    pub(crate) fn name_of(&self, file: FileId) -> Option<String> {
        let root = self.db.source_root(self.db.file_source_root(file).source_root_id(self.db)).source_root(self.db);
        let path = root.path_for_file(&file)?.as_path()?;
        Some(path.strip_prefix(self.root).map_or_else(|| path.to_string(), |it| it.as_str().to_owned()))
    }

    /// The file's text with its lines and outline: the workspace's own, or one created for an external file.
    pub(crate) fn file(&self, file: FileId) -> Option<Arc<File>> {
        let name = self.name_of(file)?;
        if let Some(own) = self.files.get(&name) {
            return Some(own.clone());
        }
        let text: Arc<str> = Arc::from(&**self.db.file_text(file).text(self.db));
        Some(Arc::new(crate::file(name, text)))
    }

    pub(crate) fn place(&self, range: FileRange) -> Option<Place> {
        let file = self.file(range.file_id)?;
        Some(file.lines().place(&file.path, positions::span(range.range)))
    }

    /// What may be missing from an answer that uses the index. `strictly`: also what gaps in the environment can
    /// affect, as in diagnostics.
    pub(crate) fn coverage(&self, strictly: bool) -> Coverage {
        let mut coverage = Coverage::default();
        if !self.environment.settled {
            coverage.lacks(Missing::new(
                MissingCode::Indexing,
                "rust",
                "the Cargo workspace is being loaded; ask again, or give a longer `wait_ms`",
            ));
        }
        coverage.absorb(self.coverage_as_loaded(strictly));
        coverage
    }

    /// The same for an answer that does not depend on what is still being loaded.
    pub(crate) fn coverage_as_loaded(&self, strictly: bool) -> Coverage {
        let mut coverage = Coverage::default();
        // No code is in a file that no crate includes.
        let is_outside = |it: &File| {
            self.is_loaded() && self.file_id(&it.path).is_some_and(|id| self.sema.file_to_module_def(id).is_none())
        };
        for file in self.files.of(LANGUAGE).filter(|it| it.is_too_deep() && !is_outside(it)) {
            let missing = too_deep(&file.path);
            if strictly { coverage.lacks(missing) } else { coverage.note(missing) }
        }
        for missing in self.environment.unknown_code() {
            coverage.lacks(missing.clone());
        }
        for name in self.environment.included.iter() {
            let detail = format!(
                "`{name}` is included by `include!` and is not named like a Rust file: what it names is a possible \
                 usage only; give it a name that ends in `.rs`"
            );
            let missing = Missing::new(MissingCode::Unsupported, name.as_str(), detail);
            let is_analysed = self.file_id(name).is_some();
            if strictly || !is_analysed { coverage.lacks(missing) } else { coverage.note(missing) }
        }
        for missing in self.environment.lacks() {
            if strictly { coverage.lacks(missing) } else { coverage.note(missing) }
        }
        coverage.absorb(self.stumbled());
        coverage
    }

    /// The texts that `include!` takes in although they are not named like Rust files.
    pub(crate) fn included(&self) -> impl Iterator<Item = (&'db Arc<File>, FileId)> {
        self.environment.included.iter().filter_map(|it| Some((self.files.get(it)?, self.file_id(it)?)))
    }

    /// The output of build scripts of the workspace's packages: code that may name all their declarations.
    pub(crate) fn generated(&self) -> &'db [(Arc<File>, FileId)] {
        &self.environment.generated
    }

    /// The files with doctests that rustdoc compiles.
    pub(crate) fn doctests(&self) -> impl Iterator<Item = &Arc<DoctestFile>> {
        self.environment.doctests.iter().filter(|it| self.compiles_doctests(it))
    }

    /// Whether the library has the module that the doctests document.
    pub(crate) fn compiles_doctests(&self, of: &DoctestFile) -> bool {
        let mut modules = self.sema.file_to_module_defs(of.documents);
        modules.any(|it| it.krate(self.db).root_file(self.db) == of.library)
    }

    /// The crates are not known yet, but will be.
    pub(crate) fn is_being_loaded(&self) -> bool {
        !self.environment.loaded && !self.environment.settled
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.environment.loaded
    }
}

/// The ide's own queries on the same revision.
pub(crate) fn analysis(db: &RootDatabase) -> Analysis {
    AnalysisHost::with_database(db.clone()).analysis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_whose_asker_has_gone_ends() {
        let db = RootDatabase::new(None);
        let asker = CancelOnDrop(db.cancellation_token());
        let work = |db: &RootDatabase| {
            db.unwind_if_revision_cancelled();
            1
        };
        assert_eq!(catch(|| work(&db)), Ok(1));
        drop(asker);
        assert!(matches!(catch(|| work(&db)), Err(Stop::Stale)));
        let items = [0; 8];
        let asked = catch(|| on_all_cores(&db, &items, |_, _, answers: &mut Vec<u8>| answers.push(1)));
        assert!(matches!(asked, Err(Stop::Stale)), "nor do its helpers go on");
    }
}
