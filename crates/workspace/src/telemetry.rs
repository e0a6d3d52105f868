//! What the process notes of itself, for all of its workspaces: events, counters, and the questions that took long.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::events::{Events, News};
use semdex_model::Revision;

/// So many slow questions are kept.
const SLOW_KEPT: usize = 50;

#[derive(Debug)]
pub struct Telemetry {
    pub events: Events,
    pub rescans: Count,
    pub stale_retries: Count,
    /// A question that takes longer is slow; zero: none is.
    slow: Duration,
    slow_questions: Mutex<VecDeque<SlowQuestion>>,
}

/// What only rises.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A question that took long, and where its time went.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowQuestion {
    pub call: &'static str,
    /// Milliseconds since 1970.
    pub at: i64,
    /// As logs and problems name it.
    pub request_id: Option<String>,
    pub elapsed: Duration,
    pub queue: Duration,
    pub barrier: Duration,
    pub index: Duration,
    pub engine: Duration,
    pub rendering: Duration,
}

impl Telemetry {
    pub(crate) fn new(slow: Duration) -> Telemetry {
        Telemetry {
            events: Events::default(),
            rescans: Count::default(),
            stale_retries: Count::default(),
            slow,
            slow_questions: Mutex::default(),
        }
    }

    pub fn is_slow(&self, elapsed: Duration) -> bool {
        !self.slow.is_zero() && elapsed >= self.slow
    }

    pub fn note_slow(&self, question: SlowQuestion) {
        let mut kept = self.slow_questions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(SLOW_KEPT - 1);
        kept.push_front(question);
    }

    /// The newest first.
    pub fn slow_questions(&self) -> Vec<SlowQuestion> {
        self.slow_questions.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Reports the events of one workspace.
pub(super) struct Reporter {
    workspace: String,
    telemetry: Arc<Telemetry>,
}

impl Reporter {
    /// Of the workspace with this id.
    pub(super) fn new(workspace: String, telemetry: Arc<Telemetry>) -> Reporter {
        Reporter { workspace, telemetry }
    }

    /// Publishes an event.
    pub(super) fn report(&self, revision: Revision, news: News) {
        self.telemetry.events.tell(&self.workspace, revision, news);
    }

    /// Counts a comparison of all files.
    pub(super) fn count_rescan(&self) {
        self.telemetry.rescans.up();
    }
}
