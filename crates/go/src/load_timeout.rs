//! The timeouts of work on texts that have changed since. A load may wait forever for a file that is gone: the go command
//! opens whatever is in a file's place, even a named pipe, and waits until a process writes to it. And a few lines can
//! describe types whose check takes hours (`type T1[A any] struct { a T2[[]A]; b T2[map[string]A] }`, forty times), which
//! neither gopls nor go/types can be told to leave. When such a text is gone, its process is of no use any longer.

use std::time::{Duration, Instant};

use super::session::Session;
use semdex_process::resource_usage;

/// The time for which a load of outdated texts may be idle. Doubles after each load that did not finish.
const FIRST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 15 });
const MOST: Duration = Duration::from_secs(5 * 60);
/// The interval of the checks.
const INTERVAL: Duration = Duration::from_secs(1);
/// A load of outdated texts that is not idle gets so many times as long.
const BUSY: u32 = 4;
/// A process that is busy with outdated texts for this long, and for twice the time of its load, is ended.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 20 });
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
    /// The result of a load by this process. `None` if the content has changed during the load, and the process and its
    /// children are idle or do not come to an end.
    pub(crate) async fn with<T>(&mut self, session: &Session, pid: u32, load: impl Future<Output = T>) -> Option<T> {
        let generation = session.documents().generation();
        let timed_out = async {
            let (mut before, mut since, mut outdated) = (0, None::<Instant>, None::<Instant>);
            loop {
                tokio::time::sleep(INTERVAL).await;
                if session.documents().generation() == generation {
                    continue;
                }
                if outdated.get_or_insert_with(Instant::now).elapsed() >= self.0 * BUSY {
                    break;
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

/// How long a process whose load took this long may be busy with outdated texts.
pub(crate) fn patience(load: Duration) -> Duration {
    PATIENCE.max(load * 2)
}

/// Resolves when the content is not that of this generation any longer, and so much time has passed since `begun`.
pub(crate) async fn outdated(session: &Session, generation: u64, begun: Instant, patience: Duration) {
    while begun.elapsed() < patience || session.documents().generation() == generation {
        tokio::time::sleep(INTERVAL).await;
    }
}
