//! The memory of gopls and the checker: the soft limit of each (`GOMEMLIMIT`), and what is reported if a process needs
//! more than its limit.
//!
//! A Go process below its limit lets garbage grow to the size of its live heap. At the limit it collects more often,
//! and if the live heap alone reaches the limit, it spends half of its time on that. A limit cannot be changed from
//! outside, so it is as high as the free memory permits. A process that needs more is restarted once more memory is
//! free; until then the status says so. The limit is soft: a process that uses up the memory of the machine is ended.

use std::time::{Duration, Instant};

use gen_lsp_types::{ExecuteCommandParams, ExecuteCommandRequest};

use super::memory_limit::{MemoryLimit, needed};
use super::session::{SCOPE, Session};
use semdex_lsp_client::Client;
use semdex_model::{Missing, MissingCode};
use semdex_process::resource_usage;

/// The interval of the checks.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);
/// The interval of the checks whether memory is used up. Within it, Go can allocate a gigabyte.
const SHORTAGE_INTERVAL: Duration = Duration::from_millis(500);
/// With less free memory, a process that uses much is ended. On a small machine it is an eighth of the memory.
const RESERVE: u64 = 2 << 30;
/// A load whose memory is near the limit at this many checks in a row needs more.
const CHECKS_AT_LIMIT: u32 = 5;
/// The first pause between measurements of the live heap. It doubles with each, because each is a collection.
const FIRST_PAUSE: Duration = Duration::from_secs(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// A process whose memory is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// Its name in the status.
    pub name: &'static str,
    pub pid: u32,
    pub limit: MemoryLimit,
}

impl Watched {
    /// Compares what the process needs with its limit, and reports a shortage in the status. If enough memory is free
    /// by now, returns the reason for which the process must be restarted.
    pub(crate) fn compare(&self, session: &Session, needed: u64) -> Option<String> {
        let limit = self.limit.bytes()?;
        if needed <= limit {
            session.note_shortage(self.name, None);
            return None;
        }
        let used = resource_usage::resident_memory(self.pid).unwrap_or_default();
        if session.memory_limit(used).bytes().is_some_and(|it| it >= needed) {
            return Some(format!("it needs {} of memory, and was limited to {}", gibibytes(needed), gibibytes(limit)));
        }
        session.note_shortage(self.name, Some(self.shortage(needed, limit)));
        None
    }

    fn shortage(&self, needed: u64, limit: u64) -> Missing {
        let (name, advice) = (self.name, self.limit.advice());
        let (needed, limit) = (gibibytes(needed), gibibytes(limit));
        let detail = format!(
            "{name} needs about {needed} of memory and is limited to {limit}: it is slow, because it collects garbage \
             most of the time; {advice}"
        );
        Missing::new(MissingCode::Timeout, SCOPE, detail)
    }

    /// Checks a load until the process must be restarted, and returns the reason. The live heap is unknown during a
    /// load, but a process that stays at its limit needs more.
    pub(crate) async fn load(&self, session: &Session) -> String {
        let mut checks_at_limit = 0;
        loop {
            tokio::time::sleep(INTERVAL).await;
            let used = resource_usage::anonymous_memory(self.pid).unwrap_or_default();
            let is_at_limit = self.limit.bytes().is_some_and(|it| used >= it / 10 * 9);
            checks_at_limit = if is_at_limit { checks_at_limit + 1 } else { 0 };
            if checks_at_limit >= CHECKS_AT_LIMIT
                && let Some(reason) = self.compare(session, needed(used))
            {
                return reason;
            }
        }
    }
}

/// Resolves when the machine runs out of memory because of a process, with the reason to end it. `GOMEMLIMIT` does not
/// prevent that: it is soft, each process has its own, and a few lines can describe constants of gigabytes.
pub(crate) async fn exhausts(pid: u32) -> String {
    loop {
        let used = resource_usage::anonymous_memory(pid).unwrap_or_default();
        if let (Some(free), Some(total)) = (resource_usage::free_memory(), resource_usage::total_memory())
            && is_exhausting(used, free, total)
        {
            return format!("it took {} of memory, and only {} were left", gibibytes(used), gibibytes(free));
        }
        tokio::time::sleep(SHORTAGE_INTERVAL).await;
    }
}

/// Whether memory is nearly used up, and a process uses so much that ending it helps.
fn is_exhausting(used: u64, free: u64, total: u64) -> bool {
    free < (total / 8).min(RESERVE) && used >= total / 4
}

/// Measures the live heap of a loaded gopls when its memory is near the limit.
#[derive(Debug)]
pub(crate) struct Measurement {
    pause: Duration,
    /// The time of the next measurement.
    next: Instant,
}

impl Measurement {
    pub(crate) fn new() -> Measurement {
        Measurement { pause: FIRST_PAUSE, next: Instant::now() }
    }

    /// Returns the reason if gopls must be restarted.
    pub(crate) async fn check(&mut self, session: &Session, client: &Client, gopls: &Watched) -> Option<String> {
        let limit = gopls.limit.bytes()?;
        let used = resource_usage::anonymous_memory(gopls.pid)?;
        // With less memory it cannot need more than the limit.
        if needed(used) <= limit {
            session.note_shortage(gopls.name, None);
            return None;
        }
        if Instant::now() < self.next {
            return None;
        }
        let needed = needed(live_heap(client).await?);
        self.next = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        gopls.compare(session, needed)
    }
}

/// The live heap of gopls. It collects its garbage for that.
async fn live_heap(client: &Client) -> Option<u64> {
    let command = ExecuteCommandParams { command: "gopls.mem_stats".to_owned(), ..ExecuteCommandParams::default() };
    let answer = client.request::<ExecuteCommandRequest>(&command, Instant::now() + ANSWER_LIMIT).await;
    match answer {
        Ok(answer) => serde_json::to_value(answer).ok()?.get("HeapAlloc")?.as_u64(),
        Err(error) => {
            tracing::debug!(%error, "gopls does not report its live heap");
            None
        }
    }
}

fn gibibytes(bytes: u64) -> String {
    let tenths = (bytes / (1 << 20) * 10).div_ceil(1 << 10);
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_uses_up_the_memory_is_ended() {
        let gib = |it: u64| it << 30;
        assert!(is_exhausting(gib(13), gib(1), gib(24)));
        assert!(!is_exhausting(gib(13), gib(3), gib(24)), "enough is left");
        assert!(!is_exhausting(gib(4), gib(1), gib(24)), "others use the memory");
        // A small machine, or a control group.
        assert!(is_exhausting(1200 << 20, 200 << 20, gib(2)));
        assert!(!is_exhausting(1200 << 20, 300 << 20, gib(2)));
    }

    #[test]
    fn a_live_heap_needs_half_as_much_again() {
        assert_eq!(needed(2 << 30), 3 << 30);
        assert_eq!(gibibytes(needed(2 << 30)), "3.0 GiB");
        assert_eq!(gibibytes(100 << 20), "0.1 GiB");
        let watched = Watched { name: "gopls", pid: 0, limit: MemoryLimit::OfFree(Some(2 << 30)) };
        let detail = watched.shortage(3 << 30, 2 << 30).detail;
        assert!(detail.starts_with("gopls needs about 3.0 GiB of memory and is limited to 2.0 GiB: "), "{detail}");
    }
}
