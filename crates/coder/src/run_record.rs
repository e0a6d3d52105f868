//! The state of a run, for queries and for events.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use semdex_contract::budget::Listing;
use semdex_contract::{Diagnostic, RunAttempt, RunReply, RunUsage, run_positions};
use semdex_model::{Coverage, Result, RunState};
use semdex_workspace::Workspace;
use semdex_workspace::events::{News, RunNews};

pub(crate) struct RunRecord {
    /// The token of the run, a ULID.
    pub run: String,
    pub model: String,
    workspace: Workspace,
    progress: Mutex<Progress>,
    ended: watch::Sender<bool>,
    /// Cancels the run.
    pub cancel: CancellationToken,
}

/// The state of the run.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    pub state: RunState,
    pub step: Option<String>,
    pub reason: Option<String>,
    pub attempts: Vec<RunAttempt>,
    pub files: Vec<String>,
    pub changes: Vec<String>,
    pub errors: Vec<Diagnostic>,
    pub usage: RunUsage,
    pub commit: Option<String>,
}

impl RunRecord {
    pub(crate) fn new(workspace: Workspace, model: String, stop: &CancellationToken) -> RunRecord {
        let progress = Progress {
            state: RunState::Running,
            step: Some("starting".to_owned()),
            reason: None,
            attempts: Vec::new(),
            files: Vec::new(),
            changes: Vec::new(),
            errors: Vec::new(),
            usage: RunUsage::default(),
            commit: None,
        };
        RunRecord {
            run: ulid::Ulid::generate().to_string(),
            model,
            workspace,
            progress: Mutex::new(progress),
            ended: watch::channel(false).0,
            cancel: stop.child_token(),
        }
    }

    pub(crate) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub(crate) fn is_running(&self) -> bool {
        self.lock().state == RunState::Running
    }

    /// Updates the state, and sends an event.
    pub(crate) fn note(&self, change: impl FnOnce(&mut Progress)) {
        let (state, attempt, step) = {
            let mut progress = self.lock();
            change(&mut progress);
            (progress.state, progress.attempts.len(), progress.step.clone())
        };
        let news = News::Run(RunNews { run: self.run.clone(), state, attempt, step });
        self.workspace.telemetry().events.tell(self.workspace.id(), self.workspace.status().revision, news);
    }

    pub(crate) fn step(&self, step: impl Into<String>) {
        self.note(|it| it.step = Some(step.into()));
    }

    /// Updates the current attempt.
    pub(crate) fn attempt(&self, change: impl FnOnce(&mut RunAttempt)) {
        if let Some(attempt) = self.lock().attempts.last_mut() {
            change(attempt);
        }
    }

    /// Sets the final state.
    pub(crate) fn end(&self, state: RunState, reason: Option<String>) {
        self.note(|it| {
            it.state = state;
            it.step = None;
            it.reason = reason;
        });
        self.ended.send_replace(true);
    }

    /// Waits until the run has ended.
    pub(crate) async fn ended(&self) {
        // The sender is owned by this record, so it is alive.
        let _ = self.ended.subscribe().wait_for(|it| *it).await;
    }

    pub(crate) fn reply(&self, cursor: Option<&str>) -> Result<RunReply> {
        let [from_attempt, from_error] = run_positions(cursor)?;
        let Progress { state, step, reason, attempts, files, changes, errors, usage, commit } = self.lock().clone();
        let revision = self.workspace.status().revision;
        Ok(RunReply {
            run: self.run.clone(),
            state: state.into(),
            step,
            reason,
            model: self.model.clone(),
            retries: u32::try_from(attempts.len().saturating_sub(1)).unwrap_or(u32::MAX),
            attempts: Listing::after(from_attempt, attempts),
            files,
            changes,
            errors: Listing::after(from_error, errors),
            usage,
            commit,
            next_cursor: None,
            meta: self.workspace.meta(None, revision, Coverage::default()).into(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
