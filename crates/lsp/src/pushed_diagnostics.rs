//! The diagnostics that a server tells unasked, and whether it says that it is at work on more.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::Notify;

use semdex_engine::unpoisoned;

/// The diagnostics that a server tells unasked.
#[derive(Default)]
pub(crate) struct Pushed {
    by_file: Mutex<HashMap<String, Push>>,
    /// Whether the server is at work on a file, where it says so, and when it said so last.
    busy: Mutex<(HashMap<String, bool>, Option<Instant>)>,
    /// It has said which version of a text it speaks of.
    has_versions: AtomicBool,
    /// Notified after each.
    pub news: Notify,
}

#[derive(Debug, Clone)]
pub(crate) struct Push {
    pub version: Option<i64>,
    pub items: Vec<Value>,
    pub at: Instant,
}

impl Pushed {
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

    /// Whether it is at work on any open file, and since when not. The last word of one that was closed may be "queued".
    pub(crate) fn is_busy(&self, is_open: impl Fn(&str) -> bool) -> Option<(bool, Instant)> {
        let busy = unpoisoned::lock(&self.busy);
        busy.1.map(|at| (busy.0.iter().any(|(file, is_busy)| *is_busy && is_open(file)), at))
    }

    /// What was said of any file is not to be believed any more.
    pub(crate) fn forget_files(&self) {
        unpoisoned::lock(&self.by_file).clear();
    }

    pub(crate) fn clear(&self) {
        *unpoisoned::lock(&self.busy) = (HashMap::new(), None);
        unpoisoned::lock(&self.by_file).clear();
    }
}
