//! Since when the writer is at the same thing: what shows that it stands still, in a system call say.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Busy {
    origin: Instant,
    /// Milliseconds after the origin; 0: it waits for something to do.
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

    /// For how long it has been at what it does now.
    pub(super) fn elapsed(&self) -> Duration {
        match self.since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_millis(self.now().saturating_sub(since)),
        }
    }
}
