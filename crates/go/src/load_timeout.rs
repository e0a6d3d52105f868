//! The timeout of a load that may wait forever for a file that is gone. The go command opens whatever is in a file's
//! place, even a named pipe, and waits until a process writes to it.

use std::time::{Duration, Instant};

use super::session::Session;
use semdex_process::resource_usage;

/// The time for which a load of outdated texts may be idle. Doubles after each load that did not finish.
const FIRST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 15 });
const MOST: Duration = Duration::from_secs(5 * 60);
/// The interval of the checks.
const INTERVAL: Duration = Duration::from_secs(1);
/// Less CPU time than this between two checks, in clock ticks, counts as idle: a waiting runtime wakes up occasionally.
const IDLE_TICKS: u64 = 3;

#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadTimeout(Duration);

impl Default for LoadTimeout {
    fn default() -> LoadTimeout {
        LoadTimeout(FIRST)
    }
}

impl LoadTimeout {
    /// The result of a load by this process. `None` if the process and its children are idle and the content has
    /// changed during the load.
    pub(crate) async fn with<T>(&mut self, session: &Session, pid: u32, load: impl Future<Output = T>) -> Option<T> {
        let generation = session.documents().generation();
        let timed_out = async {
            let (mut before, mut since) = (0, None::<Instant>);
            loop {
                tokio::time::sleep(INTERVAL).await;
                if session.documents().generation() == generation {
                    continue;
                }
                let taken = resource_usage::processor_time(pid);
                if taken.abs_diff(before) > IDLE_TICKS {
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
            () = timed_out => None,
        };
        self.0 = if loaded.is_some() { FIRST } else { (self.0 * 2).min(MOST) };
        loaded
    }
}
