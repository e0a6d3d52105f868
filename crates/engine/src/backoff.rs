//! When to retry after a failure: immediately, then after pauses that grow with each failure in a row.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);
/// After this long without a failure the next failure counts as the first.
const HEALTHY: Duration = Duration::from_secs(60);

/// The failures of one thing in a row, and when it is tried again.
#[derive(Debug, Default)]
pub struct Backoff {
    /// Failures in a row.
    failures: u32,
    last: Option<Instant>,
    until: Option<Instant>,
}

impl Backoff {
    /// Notes a failure. Returns the pause before the next try.
    pub fn failed(&mut self) -> Duration {
        let now = Instant::now();
        if self.last.is_some_and(|it| now.duration_since(it) > HEALTHY) {
            self.failures = 0;
        }
        let pause = match self.failures {
            0 => Duration::ZERO,
            failures => (FIRST * 2_u32.saturating_pow(failures.min(16) - 1)).min(LONGEST),
        };
        self.failures += 1;
        self.last = Some(now);
        self.until = Some(now + pause);
        pause
    }

    /// The number of failures in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Whether the next try is due.
    pub fn is_due(&self) -> bool {
        self.until.is_none_or(|it| it <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_retry_is_at_once_and_the_others_wait_ever_longer() {
        let mut retries = Backoff::default();
        assert!(retries.is_due());
        assert_eq!(retries.failed(), Duration::ZERO);
        assert!(retries.is_due());
        assert_eq!(retries.failed(), FIRST);
        assert!(!retries.is_due());
        assert_eq!(retries.failed(), FIRST * 2);
        for _ in 0..40 {
            retries.failed();
        }
        assert_eq!((retries.failed(), retries.failures()), (LONGEST, 44));
    }
}
