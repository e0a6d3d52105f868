//! The events of all workspaces: the last events of the process, in one order, for any number of readers. No writer
//! waits for a reader: a reader that falls behind is notified of the gap.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch as channel;

use super::change::Cause;
use semdex_engine::Progress;
use semdex_model::{ChangeImpact, Diagnostic, FileEdit, Impact, Revision, RunState, State, VerifyKind, VerifyProgress};

/// At most this many events are kept for readers that are behind.
const KEPT: usize = 1000;
/// Ids per millisecond. The first id is the time of the start, and no process makes more events in that time.
const IDS_IN_A_MILLISECOND: u64 = 1000;
/// At most this many places, files and symbols are listed in an event.
const LISTED: usize = 100;

/// The events of all workspaces of the process.
#[derive(Debug, Clone)]
pub struct Events {
    ring: Arc<Mutex<Ring>>,
    newest: channel::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    /// The id of the newest event; before the first event, the id at the start.
    newest: u64,
    kept: VecDeque<Arc<Event>>,
}

/// An event of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Rises with each event, also over restarts.
    pub id: u64,
    /// The id of the workspace.
    pub workspace: String,
    /// The revision at the time of the event.
    pub revision: Revision,
    /// What happened.
    pub news: News,
}

/// What an event reports.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The state of the workspace has changed.
    State {
        /// The state.
        state: State,
        /// What is being worked on.
        progress: Option<Progress>,
    },
    /// Contents have changed.
    Revision {
        /// The request that changed them.
        cause: Cause,
        /// The files that changed.
        files: Vec<String>,
    },
    /// semdex changed files.
    Change(Box<MadeChange>),
    /// The diagnostics that a change added and fixed.
    Diagnostics {
        /// The token of the change.
        change: String,
        /// Diagnostics that the change added.
        new: Vec<Diagnostic>,
        /// Diagnostics that the change fixed.
        fixed: Vec<Diagnostic>,
    },
    /// A run of the tools is `queued`, `running` or `finished`.
    Verify {
        /// The tools that run.
        kind: VerifyKind,
        /// The state of the run.
        state: String,
        /// How far the run is.
        progress: Option<VerifyProgress>,
        /// Whether the run succeeded. `None` until it is finished.
        ok: Option<bool>,
    },
    /// A run of a model has made progress.
    Run(RunNews),
}

/// The progress of a run of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNews {
    /// The id of the run.
    pub run: String,
    /// The state of the run.
    pub state: RunState,
    /// The number of the attempt, from 1.
    pub attempt: usize,
    /// What the run is doing.
    pub step: Option<String>,
}

/// A change as events have it.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeChange {
    /// The token that undoes the change.
    pub change: String,
    /// The request that made the change.
    pub cause: Cause,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// The token of the change that this change undoes.
    pub undoes: Option<String>,
    /// The files that it changed.
    pub files: Vec<String>,
    /// The impact of the change.
    pub impact: Impact,
}

/// What a reader gets next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The next event.
    Event(Arc<Event>),
    /// Events are lost; the reader continues after this id.
    Behind(u64),
}

/// Reads the events in their order.
#[derive(Debug)]
pub struct Reader {
    events: Events,
    /// The id of the last event that was read.
    last: u64,
    newest: channel::Receiver<u64>,
}

impl Default for Events {
    fn default() -> Events {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let first = u64::try_from(now.as_millis()).unwrap_or_default().saturating_mul(IDS_IN_A_MILLISECOND);
        Events::after(first)
    }
}

impl Events {
    fn after(newest: u64) -> Events {
        let ring = Ring { newest, kept: VecDeque::with_capacity(KEPT) };
        Events { ring: Arc::new(Mutex::new(ring)), newest: channel::channel(newest).0 }
    }

    /// Publishes an event.
    pub fn tell(&self, workspace: &str, revision: Revision, news: News) {
        let mut ring = self.lock();
        ring.newest += 1;
        let newest = ring.newest;
        if ring.kept.len() == KEPT {
            ring.kept.pop_front();
        }
        ring.kept.push_back(Arc::new(Event { id: newest, workspace: workspace.to_owned(), revision, news }));
        // Inside the lock, so that readers never see the number fall.
        self.newest.send_replace(newest);
    }

    /// Reads from now on, or all events after this id.
    pub fn read(&self, after: Option<u64>) -> Reader {
        let ring = self.lock();
        Reader { events: self.clone(), last: after.unwrap_or(ring.newest), newest: self.newest.subscribe() }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// Waits for the next event.
    pub async fn next(&mut self) -> Next {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            // The sender lives as long as this reader.
            let _ = self.newest.changed().await;
        }
    }

    /// The next event, if there is one.
    pub(crate) fn try_next(&mut self) -> Option<Next> {
        self.newest.borrow_and_update();
        let ring = self.events.lock();
        let oldest = ring.newest + 1 - ring.kept.len() as u64;
        if self.last > ring.newest || self.last + 1 < oldest {
            self.last = ring.newest;
            return Some(Next::Behind(ring.newest));
        }
        let next = ring.kept.get(usize::try_from(self.last + 1 - oldest).unwrap_or(usize::MAX))?.clone();
        self.last = next.id;
        Some(Next::Event(next))
    }
}

/// The files that the edits change; at most as many as an event lists.
pub(super) fn files(edits: &[FileEdit]) -> Vec<String> {
    edits.iter().filter(|it| it.old != it.new).take(LISTED).map(|it| it.file.clone()).collect()
}

/// The parts of an impact that an event has: each list is cut to the length that an event allows.
pub(super) fn bounded(change_impact: &ChangeImpact) -> (Impact, Vec<Diagnostic>, Vec<Diagnostic>) {
    fn first<T: Clone>(list: &[T]) -> Vec<T> {
        list.iter().take(LISTED).cloned().collect()
    }
    let ChangeImpact { new, fixed, impact, .. } = change_impact;
    let impact = Impact {
        changed: first(&impact.changed),
        broken: first(&impact.broken),
        affected: first(&impact.affected),
        tests: first(&impact.tests),
        unchecked: first(&impact.unchecked),
    };
    (impact, first(new), first(fixed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(events: &Events, count: usize) {
        for _ in 0..count {
            let news = News::State { state: State::Ready, progress: None };
            events.tell("w", Revision(1), news);
        }
    }

    fn ids(reader: &mut Reader) -> Vec<u64> {
        std::iter::from_fn(|| match reader.try_next()? {
            Next::Event(event) => Some(event.id),
            Next::Behind(_) => None,
        })
        .collect()
    }

    #[test]
    fn a_reader_goes_on_after_what_it_has_seen() {
        let events = Events::after(500);
        let mut early = events.read(None);
        tell(&events, 3);
        assert_eq!(ids(&mut early), [501, 502, 503]);
        assert_eq!(ids(&mut events.read(Some(502))), [503]);
        assert_eq!(ids(&mut events.read(Some(500))), [501, 502, 503]);
        assert_eq!(ids(&mut events.read(Some(503))), Vec::<u64>::new());
        assert_eq!(ids(&mut events.read(None)), Vec::<u64>::new());
    }

    #[test]
    fn what_is_not_kept_is_said_to_be_lost() {
        let events = Events::after(500);
        let mut slow = events.read(None);
        tell(&events, KEPT);
        assert_eq!(ids(&mut events.read(Some(500))).len(), KEPT);
        tell(&events, 1);
        assert_eq!(slow.try_next(), Some(Next::Behind(1501)));
        assert_eq!(slow.try_next(), None);
        // An id of an earlier process, and ids of the future.
        for strange in [499, 1502, u64::MAX] {
            assert_eq!(events.read(Some(strange)).try_next(), Some(Next::Behind(1501)), "{strange}");
        }
        assert_eq!(ids(&mut events.read(Some(501))).len(), KEPT);
    }
}
