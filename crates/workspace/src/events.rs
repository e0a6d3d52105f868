//! What the workspaces tell without being asked: the last events of the process, in one order, for any number of
//! readers. Nobody waits for a reader: one that falls behind what is kept is notified of that.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch as channel;

use super::change::Cause;
use semdex_engine::Progress;
use semdex_model::{ChangeImpact, Diagnostic, FileEdit, Impact, Revision, RunState, State, VerifyKind, VerifyProgress};

/// So many events are kept for readers that were away.
const KEPT: usize = 1000;
/// Ids of one life of the process, in thousandths of a millisecond: no process makes more events in that time.
const IDS_IN_A_MILLISECOND: u64 = 1000;
/// Of the places, files and symbols that an event lists.
const LISTED: usize = 100;

/// The events of all workspaces of the process.
#[derive(Debug, Clone)]
pub struct Events {
    ring: Arc<Mutex<Ring>>,
    newest: channel::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    /// Of the newest event, or before the first of this life.
    newest: u64,
    kept: VecDeque<Arc<Event>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Rises with each event, over restarts too.
    pub id: u64,
    pub workspace: String,
    pub revision: Revision,
    pub news: News,
}

#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// How much of the workspace is known.
    State { state: State, progress: Option<Progress> },
    /// Contents have changed.
    Revision { cause: Cause, files: Vec<String> },
    /// semdex changed files.
    Change(Box<MadeChange>),
    /// What a change brought and took away.
    Diagnostics { change: String, new: Vec<Diagnostic>, fixed: Vec<Diagnostic> },
    /// How far a run of the tools is: `queued`, `running`, `finished`.
    Verify { kind: VerifyKind, state: String, progress: Option<VerifyProgress>, ok: Option<bool> },
    /// A run of a model has come further.
    Run(RunNews),
}

/// How far a run is, in the words of whoever runs it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNews {
    pub run: String,
    pub state: RunState,
    pub attempt: usize,
    pub step: Option<String>,
}

/// A change as an event tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeChange {
    /// The token that takes it back.
    pub change: String,
    pub cause: Cause,
    pub client: Option<String>,
    pub undoes: Option<String>,
    pub files: Vec<String>,
    pub impact: Impact,
}

/// What a reader gets next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Event(Arc<Event>),
    /// Events are lost to it; it goes on after this id.
    Behind(u64),
}

/// One that reads the events in their order.
#[derive(Debug)]
pub struct Reader {
    events: Events,
    /// The last event that it has seen.
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

    pub fn tell(&self, workspace: &str, revision: Revision, news: News) {
        let mut ring = self.lock();
        ring.newest += 1;
        let newest = ring.newest;
        if ring.kept.len() == KEPT {
            ring.kept.pop_front();
        }
        ring.kept.push_back(Arc::new(Event { id: newest, workspace: workspace.to_owned(), revision, news }));
        // In the lock, so that readers never see it fall.
        self.newest.send_replace(newest);
    }

    /// Reads from now on, or all that came after an event.
    pub fn read(&self, after: Option<u64>) -> Reader {
        let ring = self.lock();
        Reader { events: self.clone(), last: after.unwrap_or(ring.newest), newest: self.newest.subscribe() }
    }

    /// What was published of these changes of a workspace, as far as it is kept.
    pub fn made(&self, workspace: &str, changes: &[String]) -> Vec<MadeChange> {
        let ring = self.lock();
        let of = |it: &Arc<Event>| match &it.news {
            News::Change(made) if it.workspace == workspace && changes.contains(&made.change) => Some((**made).clone()),
            _ => None,
        };
        ring.kept.iter().filter_map(of).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// The next event, once there is one.
    pub async fn next(&mut self) -> Next {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            // The sender lives as long as this reader.
            let _ = self.newest.changed().await;
        }
    }

    /// The next event, if it has happened.
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

/// The files of edits that change something.
pub(super) fn files(edits: &[FileEdit]) -> Vec<String> {
    edits.iter().filter(|it| it.old != it.new).take(LISTED).map(|it| it.file.clone()).collect()
}

/// The parts of a change that its event carries: no more of each list than an event takes.
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
        // Of an earlier life, and of the future.
        for strange in [499, 1502, u64::MAX] {
            assert_eq!(events.read(Some(strange)).try_next(), Some(Next::Behind(1501)), "{strange}");
        }
        assert_eq!(ids(&mut events.read(Some(501))).len(), KEPT);
    }
}
