//! Runs the tools of all languages on the files on the disk. A workspace has one run at a time. Requests for the same
//! run at the same revision share it; others wait for their turn, and one too many is refused. A client that leaves
//! gives up its run. A run that nobody waits for ends with all its processes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch as channel;
use tokio_util::sync::CancellationToken;

use super::events::News;
use super::handle::Workspace;
use semdex_engine::files::Files;
use semdex_engine::panic_message;
use semdex_engine::verify::{Job, Planned, Report};
use semdex_model::{Code, Error, Missing, MissingCode, Result, Revision, Verified, VerifyKind, VerifyProgress};

/// At most this many runs may wait for their turn.
const MOST_WAITING: usize = 8;
/// The least time between two events of progress.
const PACE: Duration = Duration::from_millis(100);
/// At most this many names are suggested for an unknown one.
const MOST_SUGGESTED: usize = 5;

/// A requested run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which tools to run.
    pub kind: VerifyKind,
    /// Only these packages; all if empty.
    pub packages: Vec<String>,
    /// Only these tests; all if empty.
    pub tests: Vec<String>,
    /// Only what these files can reach.
    pub changed: Option<Vec<String>>,
    /// How long the run may take, including the wait for its turn.
    pub timeout: Duration,
}

/// The runs of one workspace.
#[derive(Debug, Default)]
pub(super) struct Runs {
    list: Mutex<Vec<Arc<Run>>>,
    turn: Arc<tokio::sync::Mutex<()>>,
    stop: CancellationToken,
}

/// One run, and the number of its clients.
#[derive(Debug)]
struct Run {
    wanted: Wanted,
    revision: Revision,
    /// Only changed under the lock of the list.
    waiting: Mutex<usize>,
    given_up: CancellationToken,
    /// Set if the run was given up because trust was withdrawn.
    revoked: AtomicBool,
    done: channel::Sender<Option<Result<Arc<Verified>>>>,
}

/// A client that waits for a run.
struct Waiting<'a> {
    runs: &'a Runs,
    run: Arc<Run>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut list = self.runs.lock();
        let mut waiting = self.run.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        *waiting = waiting.saturating_sub(1);
        if *waiting == 0 {
            self.run.given_up.cancel();
            list.retain(|it| !Arc::ptr_eq(it, &self.run));
        }
    }
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins a run of the same kind, or adds another. Returns whether it has to be started.
    fn join(&self, wanted: &Wanted, revision: Revision) -> Result<(Waiting<'_>, bool)> {
        let mut list = self.lock();
        let same = list.iter().find(|it| it.wanted == *wanted && it.revision == revision).cloned();
        let is_new = same.is_none();
        if is_new && list.len() > MOST_WAITING {
            let detail = format!("{MOST_WAITING} runs wait for their turn already: ask again in a second");
            return Err(Error::new(Code::Busy, detail));
        }
        let run = same.unwrap_or_else(|| {
            let run = Arc::new(Run {
                wanted: wanted.clone(),
                revision,
                waiting: Mutex::new(0),
                given_up: self.child_token(),
                revoked: AtomicBool::new(false),
                done: channel::Sender::new(None),
            });
            list.push(run.clone());
            run
        });
        *run.waiting.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        drop(list);
        Ok((Waiting { runs: self, run }, is_new))
    }

    /// The lock that a run holds while it is at work.
    pub(super) fn turn(&self) -> Arc<tokio::sync::Mutex<()>> {
        self.turn.clone()
    }

    /// A token that is cancelled with all runs.
    pub(super) fn child_token(&self) -> CancellationToken {
        self.stop.child_token()
    }

    /// Ends all runs, and later ones as soon as they begin.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }
}

impl Workspace {
    /// Runs the tools of all languages of the workspace. Dropping the future ends the run, unless other clients wait
    /// for it.
    pub async fn verify(&self, wanted: &Wanted, files: Arc<Files>, revision: Revision) -> Result<Arc<Verified>> {
        let runs = &self.inner.runs;
        let (waiting, is_new) = runs.join(wanted, revision)?;
        let mut done = waiting.run.done.subscribe();
        if is_new {
            self.inner.confirming.give_way();
            tokio::spawn(conduct(self.clone(), waiting.run.clone(), files, Instant::now() + wanted.timeout));
        }
        let answer = done.wait_for(Option::is_some).await;
        let answer = answer.map_err(|_| stopping())?;
        answer.clone().unwrap_or_else(|| Err(stopping()))
    }

    /// Ends the runs for `verify`, because the server stops.
    pub(crate) fn stop_runs(&self) {
        self.inner.runs.stop();
    }

    fn tell_run(&self, run: &Run, stage: &str, progress: Option<VerifyProgress>, ok: Option<bool>) {
        let news = News::Verify { kind: run.wanted.kind, state: stage.to_owned(), progress, ok };
        self.telemetry().events.tell(self.id(), run.revision, news);
    }
}

impl Run {
    /// Whether trust still allows the run. If not, the run is given up for good.
    fn is_trusted(&self, workspace: &Workspace) -> bool {
        if !workspace.is_trusted() {
            self.revoked.store(true, Ordering::Relaxed);
            self.given_up.cancel();
        }
        !self.revoked.load(Ordering::Relaxed)
    }

    /// Why the run has no result.
    fn ended(&self) -> Error {
        if !self.revoked.load(Ordering::Relaxed) {
            return stopping();
        }
        let detail = "the run was ended: the trust in this workspace was taken back (`semdex trust --revoke`)";
        Error::new(Code::Untrusted, detail)
    }
}

fn stopping() -> Error {
    Error::new(Code::NotReady, "the run was ended: the server is stopping, or its workspace was closed")
}

/// Waits for the turn of a run, and executes it.
async fn conduct(workspace: Workspace, run: Arc<Run>, files: Arc<Files>, deadline: Instant) {
    workspace.tell_run(&run, "queued", None, None);
    let turn = workspace.inner.runs.turn();
    let turn = tokio::select! {
        turn = turn.lock_owned() => Some(turn),
        () = run.given_up.cancelled() => None,
        () = tokio::time::sleep_until(deadline.into()) => None,
    };
    let verified = match turn {
        None if run.given_up.is_cancelled() => Err(run.ended()),
        None => Ok(not_begun(&run)),
        Some(_) if !run.is_trusted(&workspace) => Err(run.ended()),
        Some(turn) => {
            let (inside, of_job) = (workspace.clone(), run.clone());
            let work = move || {
                let job = job(&inside, &of_job, files, deadline);
                let begun = Instant::now();
                let done = catch_unwind(AssertUnwindSafe(|| work(&inside, &job, begun)));
                drop(turn);
                done.unwrap_or_else(|panic| {
                    tracing::error!(panic = panic_message(&*panic), "a run of the tools panicked");
                    Err(Error::new(Code::Internal, "this run met a fault of semdex, which is in the log"))
                })
            };
            let done = tokio::task::spawn_blocking(work).await;
            let done = done.unwrap_or_else(|_| Err(stopping()));
            let is_closed = workspace.inner.closing.load(Ordering::Relaxed);
            if run.given_up.is_cancelled() || is_closed { Err(run.ended()) } else { done }
        }
    };
    workspace.tell_run(&run, "finished", None, Some(verified.as_ref().is_ok_and(|it| it.ok)));
    workspace.inner.runs.lock().retain(|it| !Arc::ptr_eq(it, &run));
    run.done.send_replace(Some(verified.map(Arc::new)));
}

fn job(workspace: &Workspace, run: &Arc<Run>, files: Arc<Files>, deadline: Instant) -> Job {
    let closing = workspace.inner.closing.clone();
    let (publisher, of) = (workspace.clone(), run.clone());
    let (inside, run) = (workspace.clone(), run.clone());
    let wanted = run.wanted.clone();
    let last = Mutex::new(None::<Instant>);
    let progress = move |progress: VerifyProgress| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|it| it.elapsed() >= PACE) {
            *last = Some(Instant::now());
            publisher.tell_run(&of, "running", Some(progress), None);
        }
    };
    Job {
        kind: wanted.kind,
        root: workspace.root().to_owned(),
        cache_dir: workspace.inner.config.cache_dir.clone(),
        settings: workspace.settings(),
        files,
        packages: wanted.packages,
        tests: wanted.tests,
        changed: wanted.changed,
        is_background: false,
        deadline,
        is_wanted: Arc::new(move || {
            !run.given_up.is_cancelled() && !closing.load(Ordering::Relaxed) && run.is_trusted(&inside)
        }),
        progress: Arc::new(progress),
    }
}

fn work(workspace: &Workspace, job: &Job, begun: Instant) -> Result<Verified> {
    let mut report = Report::default();
    let plans: Vec<Box<dyn Planned + '_>> =
        workspace.registry().kinds().iter().filter_map(|it| it.verify(job)).collect();
    check_packages(job, &plans)?;
    for plan in plans {
        if job.is_over() {
            break;
        }
        if job.packages.is_empty() || job.packages.iter().any(|it| plan.knows(it)) {
            plan.run(job, &mut report);
        }
    }
    if Instant::now() >= job.deadline && !report.timed_out {
        report.timed_out = true;
        report.coverage.lacks(late("the deadline, `timeout_ms`, passed before all was run"));
    }
    let diagnostics = report.take_diagnostics();
    let mut is_whole = !report.timed_out;
    for test in job.tests.iter().filter(|it| !report.found_tests.contains(*it)) {
        is_whole = false;
        if !report.timed_out && !report.has_failed {
            let detail =
                format!("no test is called `{test}`: give its name, as `failures` prints it, or the last part of it");
            report.coverage.lacks(Missing::new(MissingCode::UnknownTest, "tests", detail));
        }
    }
    if report.runs.is_empty() && is_whole && !report.has_failed {
        let detail = match &job.changed {
            Some(_) => "the change reaches nothing that is verified here: nothing was run",
            None => {
                is_whole = false;
                "nothing was run: no language of this workspace has tools that verify it"
            }
        };
        let missing = Missing::new(MissingCode::Unsupported, "verify", detail);
        if is_whole { report.coverage.note(missing) } else { report.coverage.lacks(missing) }
    }
    Ok(Verified {
        kind: job.kind,
        ok: is_whole && !report.has_failed,
        timed_out: report.timed_out,
        output: report.output(),
        runs: report.runs,
        duration: begun.elapsed(),
        diagnostics,
        tests: report.tests,
        coverage: report.coverage,
    })
}

fn check_packages(job: &Job, plans: &[Box<dyn Planned + '_>]) -> Result<()> {
    let Some(unknown) = job.packages.iter().find(|name| !plans.iter().any(|it| it.knows(name))) else { return Ok(()) };
    let known: Vec<String> = plans.iter().flat_map(|it| it.packages()).collect();
    let likeness = |it: &String| semdex_text::score::score(unknown, it);
    let mut nearest: Vec<(f64, &String)> = known.iter().map(|it| (likeness(it), it)).collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nearest: Vec<String> = nearest.into_iter().take(MOST_SUGGESTED).map(|it| it.1.clone()).collect();
    let there = if nearest.is_empty() {
        "none of its tools knows packages by names".to_owned()
    } else {
        format!("there are {}", nearest.join(", "))
    };
    let detail = format!("there is no package `{unknown}` in this workspace: {there}");
    Err(Error::new(Code::UnknownPackage, detail).suggesting(nearest))
}

fn late(detail: &str) -> Missing {
    Missing::new(MissingCode::Timeout, "verify", format!("timeout: {detail}"))
}

/// The result of a run whose turn did not come in time.
fn not_begun(run: &Run) -> Verified {
    let mut report = Report::default();
    report.coverage.lacks(late("the deadline, `timeout_ms`, passed while other runs were at work"));
    Verified {
        kind: run.wanted.kind,
        ok: false,
        timed_out: true,
        runs: Vec::new(),
        duration: run.wanted.timeout,
        diagnostics: Vec::new(),
        tests: None,
        output: "timeout: other runs were at work\n".to_owned(),
        coverage: report.coverage,
    }
}
