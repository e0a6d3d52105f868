//! The diagnostics that a server has pushed, and whether it reports to be busy.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::Notify;

use semdex_engine::unpoisoned;

/// The diagnostics that a server has pushed.
#[derive(Default)]
pub(crate) struct PushedDiagnostics {
    by_file: Mutex<HashMap<String, Push>>,
    /// By file, whether the server reports to be busy with it, and the time of its last report.
    busy: Mutex<(HashMap<String, bool>, Option<Instant>)>,
    /// The server has pushed diagnostics with a version.
    has_versions: AtomicBool,
    /// Notified after each push or report.
    pub news: Notify,
}

#[derive(Debug, Clone)]
pub(crate) struct Push {
    pub version: Option<i64>,
    pub items: Vec<Value>,
    pub at: Instant,
}

impl PushedDiagnostics {
    pub(crate) fn take(&self, file: String, push: Push) {
        self.has_versions.fetch_or(push.version.is_some(), Ordering::Relaxed);
        unpoisoned::lock(&self.by_file).insert(file, push);
        self.news.notify_waiters();
    }

    pub(crate) fn of(&self, file: &str) -> Option<Push> {
        unpoisoned::lock(&self.by_file).get(file).cloned()
    }

    pub(crate) fn has_versions(&self) -> bool {
        self.has_versions.load(Ordering::Relaxed)
    }

    pub(crate) fn note_busy(&self, file: String, is_busy: bool) {
        let mut busy = unpoisoned::lock(&self.busy);
        busy.0.insert(file, is_busy);
        busy.1 = Some(Instant::now());
        drop(busy);
        self.news.notify_waiters();
    }

    /// Whether the server is busy with any open file, and when it last reported. The last report of a closed file may
    /// be "queued".
    pub(crate) fn is_busy(&self, is_open: impl Fn(&str) -> bool) -> Option<(bool, Instant)> {
        let busy = unpoisoned::lock(&self.busy);
        busy.1.map(|at| (busy.0.iter().any(|(file, is_busy)| *is_busy && is_open(file)), at))
    }

    /// The pushed diagnostics of all files are no longer valid.
    pub(crate) fn forget_files(&self) {
        unpoisoned::lock(&self.by_file).clear();
    }

    pub(crate) fn clear(&self) {
        *unpoisoned::lock(&self.busy) = (HashMap::new(), None);
        unpoisoned::lock(&self.by_file).clear();
    }
}
