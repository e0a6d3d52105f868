//! How long the writer has been handling one event. It shows that the writer hangs, for example in a system call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Busy {
    origin: Instant,
    /// Milliseconds after the origin; 0 while the writer waits for an event.
    since: AtomicU64,
}

impl Default for Busy {
    fn default() -> Busy {
        Busy { origin: Instant::now(), since: AtomicU64::new(0) }
    }
}

impl Busy {
    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
    }

    pub(super) fn begin(&self) {
        self.since.store(self.now(), Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// How long the writer has been handling its event. Zero while it waits.
    pub(super) fn elapsed(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_millis(self.now().saturating_sub(since)),
        }
    }
}
