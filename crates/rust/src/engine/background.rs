//! Computations that the engine does in threads of its own, before a client asks. A thread that panics is reported like
//! one that has ended, and the work is retried a few times.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use blake3::Hash;

use super::Rust;
use super::prime::prime;
use crate::view::{catch, try_share_types};
use semdex_engine::files::Files;
use semdex_engine::{Ended, Progress, Readiness, Result, Stop};
use semdex_model::{Missing, MissingCode};
use semdex_process::{fault, priority};

/// After this many consecutive failures answers are computed on demand.
const MOST_FAILURES: u32 = 3;

impl Rust {
    /// The previous load continues to answer, and its answers report what may be missing.
    pub(crate) fn note_failed_load(&mut self) {
        self.retries.load.failed();
        self.retries.is_load_failed = true;
        let detail = "the Cargo workspace could not be loaded because of an internal error, which is in the log; \
                      loading is retried, at the latest when a manifest changes";
        let missing = Missing::new(MissingCode::EngineRestarting, "rust", detail);
        self.set_environment(|it| {
            it.settled = true;
            if !it.missing.contains(&missing) {
                it.missing.push(missing);
            }
        });
        self.status.send_modify(|it| it.progress = None);
        self.publish();
    }

    /// The last load failed, and it is time to try again.
    pub(crate) fn needs_reload(&self) -> bool {
        self.environment.settled && self.retries.is_load_due()
    }

    /// Computes in the background what most answers need. `done` receives the outcome; a change stops the work. Returns
    /// whether it was started.
    pub(crate) fn prime(&self, done: impl FnOnce(Ended) + Send + 'static) -> bool {
        let db = self.host.raw_database().clone();
        let status = self.status.clone();
        let is_loading = !self.environment.settled;
        let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
        let is_unbuilt = self.readiness() == Readiness::Unbuilt;
        let work = move || {
            if is_unbuilt {
                // Everybody waits for Cargo.
                priority::lower_thread();
            }
            let Some(_shared) = try_share_types() else { return Ended::Stopped };
            fault::point("rust.prime");
            let finished = catch(|| {
                prime(&db, cores, &|done, total| {
                    if is_loading {
                        return;
                    }
                    let progress = Progress { stage: "indexing".to_owned(), done, total };
                    status.send_modify(|it| it.progress = Some(progress));
                });
            });
            drop(db);
            ended(&finished)
        };
        start("rust-prime", work, done)
    }

    /// While build scripts run, most of what they do not change can be computed.
    pub(crate) fn needs_priming(&self) -> bool {
        let is_known = self.environment.settled || self.environment.loaded;
        is_known && !self.primed && self.retries.prime.is_due()
    }

    /// Priming has ended: from now on answers are warm, unless it failed too often.
    pub(crate) fn set_primed(&mut self, ended: Ended) {
        let is_given_up = ended == Ended::Failed && {
            self.retries.prime.failed();
            self.retries.prime.failures() >= MOST_FAILURES
        };
        if is_given_up {
            tracing::error!("priming panicked too often: answers are computed on demand");
        }
        if ended == Ended::Finished || is_given_up {
            self.primed = true;
            self.publish();
        }
    }

    /// Runs those build scripts again that may have read edited files. `done` receives their output. Returns whether it
    /// was started.
    pub(crate) fn rebuild(&mut self, done: impl FnOnce(Option<Vec<Hash>>) + Send + 'static) -> bool {
        let rebuild = self.begin_rebuild();
        let run = move || {
            let work = || {
                fault::point("rust.rebuild");
                rebuild.run()
            };
            done(catch_unwind(AssertUnwindSafe(work)).ok().flatten());
        };
        let thread = std::thread::Builder::new().name("rust-rebuild".to_owned()).spawn(run);
        let is_begun = thread
            .inspect_err(|error| tracing::error!(%error, "no thread could be started for running build scripts"))
            .is_ok();
        if !is_begun {
            self.end_rebuild(None);
        }
        is_begun
    }

    pub(crate) fn needs_indexing(&self) -> bool {
        self.environment.settled && self.primed && !self.is_indexed && self.retries.index.is_due()
    }

    /// Updates the index of usages in the background. `done` receives the outcome; a change stops the work. Returns
    /// whether it was started.
    pub(crate) fn index(&mut self, files: Arc<Files>, done: impl FnOnce(Ended) + Send + 'static) -> bool {
        self.is_indexed = true;
        let view = self.view(files);
        let status = self.status.clone();
        let progress = move |done, total| {
            let progress = Progress { stage: "usages".to_owned(), done, total };
            status.send_modify(|it| it.progress = Some(progress));
        };
        let status = self.status.clone();
        let is_first = self.environment.builds.names.is_empty();
        let work = move || {
            fault::point("rust.index");
            // The first questions come first. With further builds it would not end while requests come without a pause.
            if is_first {
                priority::lower_thread();
            }
            ended(&view.fill(&progress))
        };
        let done = move |how| {
            status.send_modify(|it| it.progress = it.progress.take().filter(|it| it.stage != "usages"));
            done(how);
        };
        let has_begun = start("rust-index", work, done);
        if !has_begun {
            self.set_indexed(Ended::Failed);
        }
        has_begun
    }

    /// Indexing has ended, or a change stopped it. After repeated failures it waits for the next change.
    pub(crate) fn set_indexed(&mut self, ended: Ended) {
        self.is_complete = ended == Ended::Finished && self.is_indexed;
        if ended == Ended::Failed {
            self.retries.index.failed();
        }
        let is_given_up = ended == Ended::Failed && self.retries.index.failures() >= MOST_FAILURES;
        if is_given_up {
            tracing::error!("indexing panicked too often: usages are computed on demand");
        }
        self.is_indexed &= ended == Ended::Finished || is_given_up;
        let is_over = self.is_complete || is_given_up;
        if is_over && self.environment.builds.are_pending && !self.environment.builds.names.is_empty() {
            self.set_environment(|it| it.builds.are_pending = false);
        }
        // What is missing may be less than before: macros that were nested too deeply.
        if is_over && (!self.was_complete || self.status.borrow().missing != self.missing()) {
            self.was_complete = true;
            self.publish();
        }
    }
}

fn ended<T>(outcome: &Result<T>) -> Ended {
    match outcome {
        Ok(_) => Ended::Finished,
        Err(Stop::Stale) => Ended::Stopped,
        Err(Stop::Failed(_)) => Ended::Failed,
    }
}

/// Runs work in a thread with a deep stack. `done` is called with the outcome in any case, unless no thread could be
/// started, which the return value says.
fn start(name: &str, work: impl FnOnce() -> Ended + Send + 'static, done: impl FnOnce(Ended) + Send + 'static) -> bool {
    // The work's resources are released before its end is reported.
    let run = move || done(catch_unwind(AssertUnwindSafe(work)).unwrap_or(Ended::Failed));
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(crate::STACK_BYTES);
    let started = thread.spawn(run);
    started.inspect_err(|error| tracing::error!(%error, name, "no thread could be started for background work")).is_ok()
}
