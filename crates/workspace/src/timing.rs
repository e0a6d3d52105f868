//! Where the time of a request goes: waiting for the writer, for what changed on the disk, for the index, for an
//! engine, and the rest.

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

/// The time of an answer by its parts. They sum to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// The wait for the writer, and for changes of the same files.
    pub queue: Duration,
    /// The wait for changes on the disk.
    pub barrier: Duration,
    /// The wait for the index.
    pub index: Duration,
    /// The time in an engine.
    pub engine: Duration,
    /// The rest: matching texts, planning, composing the reply, tools that `verify` and git start.
    pub computing: Duration,
}

impl Spent {
    fn of(&self, part: Part) -> Duration {
        Duration::from_nanos(self.0[part as usize].load(Ordering::Relaxed))
    }

    /// The parts of an answer that took so long. Several languages may be asked at the same time: what overlaps is
    /// counted in proportion.
    pub fn within(&self, whole: Duration) -> Waits {
        let parts = [Part::Queue, Part::Barrier, Part::Index, Part::Engine].map(|it| self.of(it));
        let sum: Duration = parts.iter().sum();
        let [queue, barrier, index, engine] = match sum > whole {
            true => parts.map(|it| it.mul_f64(whole.as_secs_f64() / sum.as_secs_f64())),
            false => parts,
        };
        let computing = whole.saturating_sub(queue + barrier + index + engine);
        Waits { queue, barrier, index, engine, computing }
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

    #[test]
    fn the_parts_of_an_answer_are_its_whole() {
        let spent = Spent::default();
        spent.add(Part::Queue, Duration::from_millis(10));
        spent.add(Part::Engine, Duration::from_millis(30));
        let whole = spent.within(Duration::from_millis(100));
        assert_eq!((whole.queue, whole.engine), (Duration::from_millis(10), Duration::from_millis(30)));
        assert_eq!(whole.computing, Duration::from_millis(60));
        // Two engines were asked at the same time.
        let overlapping = spent.within(Duration::from_millis(20));
        assert_eq!((overlapping.queue, overlapping.engine), (Duration::from_millis(5), Duration::from_millis(15)));
        assert_eq!(overlapping.computing, Duration::ZERO);
    }
}
