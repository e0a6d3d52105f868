//! How long a load goes on that may wait for a file that is gone: the go command opens what stands in a file's place, a named
//! pipe too, and waits for somebody to write to it.

use std::time::{Duration, Instant};

use super::session::Session;
use semdex_process::resource_usage;

/// A load of texts that are not the newest any more may do nothing for so long, and twice as long each time after one that did
/// not come to an end.
const FIRST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 15 });
const MOST: Duration = Duration::from_secs(5 * 60);
/// How often it is looked whether it works.
const LOOK: Duration = Duration::from_secs(1);
/// Less time of the processor between two looks is nothing, in clock ticks: a runtime that waits wakes up now and then.
const TICKS: u64 = 3;

#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadTimeout(Duration);

impl Default for LoadTimeout {
    fn default() -> LoadTimeout {
        LoadTimeout(FIRST)
    }
}

impl LoadTimeout {
    /// What a load by this process comes to. `None` where neither it nor what it has started does anything any more, and what
    /// it loads has changed meanwhile.
    pub(crate) async fn with<T>(&mut self, session: &Session, pid: u32, load: impl Future<Output = T>) -> Option<T> {
        let generation = session.documents().generation();
        let outlived = async {
            let (mut before, mut since) = (0, None::<Instant>);
            loop {
                tokio::time::sleep(LOOK).await;
                if session.documents().generation() == generation {
                    continue;
                }
                let taken = resource_usage::processor_time(pid);
                if taken.abs_diff(before) > TICKS {
                    since = None;
                }
                before = taken;
                if since.get_or_insert_with(Instant::now).elapsed() >= self.0 {
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
