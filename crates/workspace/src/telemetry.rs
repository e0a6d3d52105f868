//! The telemetry of the process, for all of its workspaces: events, counters, and slow queries.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::events::{Events, News};
use super::timing::Waits;
use semdex_model::Revision;

/// At most this many slow queries are kept.
const SLOW_KEPT: usize = 50;

/// The telemetry of the process.
#[derive(Debug)]
pub struct Telemetry {
    /// The events of all workspaces.
    pub events: Events,
    /// How often all files of a workspace were compared with the disk.
    pub rescans: Count,
    /// How often a query was repeated because contents changed.
    pub stale_retries: Count,
    /// A query that takes longer is slow. Zero: no query is slow.
    slow: Duration,
    slow_questions: Mutex<VecDeque<SlowQuestion>>,
}

/// A counter that only rises.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds one.
    pub fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The current value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A slow query, and where its time went.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowQuestion {
    /// The name of the call.
    pub call: &'static str,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The id that logs and problem replies have.
    pub request_id: Option<String>,
    /// The total time.
    pub elapsed: Duration,
    /// The time to read the request and to find its handler.
    pub reading: Duration,
    /// Where the time from then to the answer went.
    pub waits: Waits,
    /// The time to render the reply.
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

    /// Whether a query of this duration is slow.
    pub fn is_slow(&self, elapsed: Duration) -> bool {
        !self.slow.is_zero() && elapsed >= self.slow
    }

    /// Keeps a slow query.
    pub fn note_slow(&self, question: SlowQuestion) {
        let mut kept = self.slow_questions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.truncate(SLOW_KEPT - 1);
        kept.push_front(question);
    }

    /// The slow queries, newest first.
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
