//! How long a load goes on that may wait for a file that is gone: the go command opens what stands in a file's place, a named
//! pipe too, and waits for somebody to write to it.

use std::time::{Duration, Instant};

use super::session::Session;
use crate::lang::memory;

/// A load of texts that are not the newest any more may do nothing for so long, and twice as long each time after one that did
/// not come to an end.
const FIRST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 10 });
const MOST: Duration = Duration::from_secs(5 * 60);
/// How often it is looked whether it works, and whether there are newer texts.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy)]
pub struct Patience(Duration);

impl Default for Patience {
    fn default() -> Patience {
        Patience(FIRST)
    }
}

impl Patience {
    /// What a load by this process comes to. `None` where neither it nor what it has started does anything any more, and what
    /// it loads has changed meanwhile.
    pub async fn with<T>(&mut self, session: &Session, pid: u32, load: impl Future<Output = T>) -> Option<T> {
        let generation = session.documents().generation();
        let outlived = async {
            let (mut worked, mut since) = (0, Instant::now());
            loop {
                tokio::time::sleep(LOOK).await;
                let works = memory::processor_time(pid);
                // A runtime that waits wakes up now and then.
                if works.abs_diff(worked) > 1 {
                    (worked, since) = (works, Instant::now());
                }
                if since.elapsed() >= self.0 && session.documents().generation() != generation {
                    break;
                }
            }
        };
        let loaded = tokio::select! {
            loaded = load => Some(loaded),
            () = outlived => None,
        };
        self.0 = if loaded.is_some() { FIRST } else { (self.0 * 2).min(MOST) };
        loaded
    }
}
