//! The compiler's diagnostics of the workspace at one revision, computed while there are no requests. They confirm or
//! refute an engine's diagnostics, and include ones that no engine knows. There is one run at a time; it waits for the
//! runs of clients, and the next change ends it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::handle::Workspace;
use super::published::Phase;
use super::snapshot::Needs;
use semdex_engine::files::Files;
use semdex_engine::panic_message;
use semdex_engine::verify::{Job, Report};
use semdex_model::{Diagnostic, LanguageId, Revision, State, VerifyKind};

/// The contents must be unchanged for this long, without any request.
const QUIET: Duration = Duration::from_secs(2);
/// How often the conditions are checked.
const PACE: Duration = Duration::from_millis(250);
/// The time limit of a run.
const LIMIT: Duration = Duration::from_secs(1800);

/// The diagnostics of a compiler for one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    pub revision: Revision,
    pub languages: Vec<LanguageId>,
    pub diagnostics: Vec<Diagnostic>,
    /// The files for which the diagnostics are complete: any other diagnostic of them is refuted.
    pub vouched: BTreeSet<String>,
}

/// The last confirmation of a workspace, and the run at work.
#[derive(Debug)]
pub(super) struct Confirming {
    last: Mutex<Option<Arc<Confirmation>>>,
    asked: Mutex<Instant>,
    /// Cancels the run at work.
    run: Mutex<CancellationToken>,
}

impl Default for Confirming {
    fn default() -> Confirming {
        Confirming { last: Mutex::default(), asked: Mutex::new(Instant::now()), run: Mutex::default() }
    }
}

impl Confirming {
    /// There is a request.
    pub(super) fn note_asked(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// A client requests a run of its own.
    pub(super) fn give_way(&self) {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    fn is_quiet(&self) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= QUIET
    }
}

impl Workspace {
    /// The confirmation of this revision, if there is one.
    pub fn confirmation(&self, revision: Revision) -> Option<Arc<Confirmation>> {
        let last = self.inner.confirming.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.filter(|it| it.revision == revision)
    }

    /// Keeps a confirmation if no contents have changed since its revision, including changes on the disk until now.
    async fn keep_confirmation(&self, confirmation: Confirmation) {
        let now = self.snapshot_unnoticed(Needs::texts()).await.map(|it| it.revision);
        if now.is_ok_and(|it| it == confirmation.revision) && self.overlays().is_empty() {
            let last = &self.inner.confirming.last;
            *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(confirmation));
        }
    }

    /// Whether an engine has a compiler to run.
    fn has_compilers(&self) -> bool {
        let settings = self.settings();
        self.registry().kinds().iter().any(|it| it.confirms(&settings).is_some())
    }

    /// The revision to confirm. `None` until the conditions hold.
    fn due(&self, unchanged_since: Instant) -> Option<Revision> {
        let status = self.status();
        let is_ready = status.state == State::Ready && status.trusted && self.overlays().is_empty();
        let is_due = is_ready && unchanged_since.elapsed() >= QUIET && self.inner.confirming.is_quiet();
        (is_due && self.confirmation(status.revision).is_none()).then_some(status.revision)
    }
}

/// Runs the compiler whenever the conditions hold, until the workspace is closed.
pub(super) async fn confirm_when_idle(workspace: Workspace) {
    let mut published = workspace.inner.published.clone();
    let mut changes = published.clone();
    let mut changed = (Instant::now(), published.borrow().revision);
    // A revision whose run failed is not tried again.
    let mut tried = None;
    loop {
        tokio::time::sleep(PACE).await;
        let (phase, revision) = {
            let seen = published.borrow_and_update();
            (seen.phase, seen.revision)
        };
        if phase == Phase::Closed || workspace.inner.closing.load(Ordering::Relaxed) {
            return;
        }
        if changed.1 != revision {
            changed = (Instant::now(), revision);
        }
        let Some(revision) = workspace.due(changed.0).filter(|it| tried != Some(*it)) else { continue };
        if !workspace.has_compilers() {
            tried = Some(revision);
            continue;
        }
        let Ok(turn) = workspace.inner.runs.turn().try_lock_owned() else { continue };
        let Ok(snapshot) = workspace.snapshot_unnoticed(Needs::texts()).await else { continue };
        if snapshot.revision != revision {
            continue;
        }
        let stop = workspace.inner.runs.child_token();
        *workspace.inner.confirming.run.lock().unwrap_or_else(PoisonError::into_inner) = stop.clone();
        let (at_work, wanted) = (workspace.clone(), stop.clone());
        let mut run = tokio::task::spawn_blocking(move || {
            let found = catch_unwind(AssertUnwindSafe(|| ask_compilers(&at_work, revision, snapshot.files, &wanted)));
            drop(turn);
            found.unwrap_or_else(|panic| {
                tracing::error!(panic = panic_message(&*panic), "asking the compiler panicked");
                None
            })
        });
        let change = async {
            drop(changes.wait_for(|it| it.revision != revision || it.phase == Phase::Closed).await);
        };
        let found = tokio::select! {
            found = &mut run => Some(found.ok().flatten()),
            () = change => None,
        };
        let found = match found {
            Some(found) => found,
            None => {
                stop.cancel();
                let _ = run.await;
                None
            }
        };
        if !stop.is_cancelled() {
            tried = Some(revision);
        }
        if let Some(found) = found {
            workspace.keep_confirmation(found).await;
        }
    }
}

/// Runs the compilers on a thread that may block. `None` if there is none, or if the run was ended.
fn ask_compilers(
    workspace: &Workspace,
    revision: Revision,
    files: Arc<Files>,
    stop: &CancellationToken,
) -> Option<Confirmation> {
    let settings = workspace.settings();
    let (token, closing, inside) = (stop.clone(), workspace.inner.closing.clone(), workspace.clone());
    let registry = workspace.registry();
    let asked: Vec<_> = registry.kinds().iter().filter_map(|it| Some((it, it.confirms(&settings)?))).collect();
    let mut job = Job {
        kind: VerifyKind::Check,
        root: workspace.root().to_owned(),
        cache_dir: workspace.inner.config.cache_dir.clone(),
        settings,
        files,
        packages: Vec::new(),
        tests: Vec::new(),
        changed: None,
        is_background: true,
        deadline: Instant::now() + LIMIT,
        is_wanted: Arc::new(move || {
            if !inside.is_trusted() {
                token.cancel();
            }
            !token.is_cancelled() && !closing.load(Ordering::Relaxed)
        }),
        progress: Arc::new(|_| ()),
    };
    let mut report = Report::default();
    let mut languages = Vec::new();
    for (kind, what) in asked {
        job.kind = what;
        if let Some(plan) = kind.verify(&job) {
            plan.run(&job, &mut report);
            languages.extend(kind.languages());
        }
    }
    if job.is_over() || languages.is_empty() {
        return None;
    }
    let vouched = std::mem::take(&mut report.vouched);
    Some(Confirmation { revision, languages, diagnostics: report.take_diagnostics(), vouched })
}
