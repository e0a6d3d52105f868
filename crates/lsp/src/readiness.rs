//! Decides when a server that has just started is ready: by its work done progress, by its log, or after a grace
//! period.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::Notify;

use semdex_config::Readiness;
use semdex_engine::unpoisoned;

/// After this time, a server counts as ready in any case.
const READY_LIMIT: Duration = Duration::from_secs(300);

/// The work that a server reports.
#[derive(Default)]
pub(crate) struct Work {
    state: Mutex<WorkState>,
    news: Notify,
}

#[derive(Default)]
struct WorkState {
    active: HashSet<String>,
    has_begun: bool,
    lines: Vec<String>,
}

impl Work {
    pub(crate) fn progress(&self, params: &Value) -> Option<String> {
        let token = params.get("token")?.to_string();
        let kind = params.pointer("/value/kind")?.as_str()?;
        let mut state = unpoisoned::lock(&self.state);
        match kind {
            "begin" => {
                state.has_begun = true;
                state.active.insert(token);
            }
            "end" => drop(state.active.remove(&token)),
            _ => {}
        }
        drop(state);
        self.news.notify_waiters();
        let text = |name: &str| params.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let stage = format!("{} {}", text("/value/title"), text("/value/message")).trim().to_owned();
        Some(stage).filter(|it| !it.is_empty())
    }

    pub(crate) fn log(&self, line: &str) {
        const MOST_LINES: usize = 1000;
        let mut state = unpoisoned::lock(&self.state);
        if state.lines.len() < MOST_LINES {
            state.lines.push(line.to_owned());
        }
        drop(state);
        self.news.notify_waiters();
    }

    /// Resolves when the condition in the table is met or can no longer be met.
    pub(crate) async fn ready(&self, readiness: &Readiness) {
        let begun = Instant::now();
        let (grace, limit) = (begun + Duration::from_millis(readiness.grace_ms), begun + READY_LIMIT);
        loop {
            let news = self.news.notified();
            let now = Instant::now();
            let until = {
                let state = unpoisoned::lock(&self.state);
                let is_logged = readiness.log.iter().any(|it| state.lines.iter().any(|line| line.contains(it)));
                let is_idle = state.active.is_empty();
                let has_reported = readiness.progress && state.has_begun && is_idle;
                let waits_for_work = readiness.progress && !is_idle;
                if now >= limit || is_logged || has_reported || (now >= grace && !waits_for_work) {
                    return;
                }
                if waits_for_work { limit } else { grace.max(now) }
            };
            let _ = tokio::time::timeout_at(until.into(), news).await;
        }
    }
}
