//! Where the time of a request goes: waiting for the writer, for what changed on the disk, for the index, for an
//! engine.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

tokio::task_local! {
    static REQUEST: Arc<Spent>;
}

/// What a request may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The writer was busy with what came before.
    Queue,
    /// What others changed on the disk was taken in.
    Barrier,
    /// The index, or the revision that was asked for, was not there yet.
    Index,
    /// An engine answered the question, or the impact of the change was computed and it was written.
    Engine,
}

/// How long one request waited for each, in nanoseconds.
#[derive(Debug, Default)]
pub struct Spent([AtomicU64; 4]);

impl Spent {
    /// The time that was spent on a part.
    pub fn of(&self, part: Part) -> Duration {
        Duration::from_nanos(self.0[part as usize].load(Ordering::Relaxed))
    }

    fn add(&self, part: Part, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0[part as usize].fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

/// Has everything that this future waits for counted in `spent`.
pub async fn measured<T>(spent: Arc<Spent>, request: impl Future<Output = T>) -> T {
    REQUEST.scope(spent, request).await
}

/// Counts the time of this future for the request that waits for it.
pub async fn during<T>(part: Part, work: impl Future<Output = T>) -> T {
    let begun = Instant::now();
    let result = work.await;
    let _ = REQUEST.try_with(|it| it.add(part, begun.elapsed()));
    result
}

/// What the writer counts the time of an event with.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    sent: Instant,
    spent: Option<Arc<Spent>>,
}

impl Ticket {
    /// For the request that this task answers.
    pub(super) fn new() -> Ticket {
        Ticket { sent: Instant::now(), spent: REQUEST.try_with(Arc::clone).ok() }
    }

    /// The writer takes the event up.
    pub(super) fn taken_up(&self) {
        self.add(Part::Queue, self.sent.elapsed());
    }

    pub(super) fn add(&self, part: Part, time: Duration) {
        if let Some(spent) = &self.spent {
            spent.add(part, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_knows_what_it_waited_for() {
        let spent = Arc::new(Spent::default());
        measured(spent.clone(), async {
            let ticket = Ticket::new();
            ticket.add(Part::Barrier, Duration::from_millis(3));
            during(Part::Engine, async { ticket.add(Part::Barrier, Duration::from_millis(4)) }).await;
        })
        .await;
        assert_eq!(spent.of(Part::Barrier), Duration::from_millis(7));
        assert!(spent.of(Part::Engine) > Duration::ZERO && spent.of(Part::Index).is_zero());
        // A task that answers no request counts nothing.
        Ticket::new().taken_up();
    }
}
