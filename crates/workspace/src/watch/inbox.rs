//! The inbox between the watching thread and the writer.
//!
//! Paths are kept as a set, so a file written a thousand times takes one entry. The order of events is not kept: the
//! writer looks at the present state of a path. Neither thread waits while it holds the lock. The watching thread must
//! never block, since the writer may be waiting for it to set a watch.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What an event reports about its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TouchKind {
    /// A file was written.
    Content,
    /// Something, perhaps a directory, may have been created, removed, or its permissions changed.
    Structure,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mail {
    /// Sorted by path: a directory comes before its content.
    Paths(BTreeMap<PathBuf, TouchKind>),
    /// Events were lost.
    Lost,
}

pub(super) struct Inbox {
    state: Mutex<State>,
    /// Signalled for each cookie and each loss, for which barriers wait.
    settled: Condvar,
    /// The most paths that are kept. More count as a loss.
    bound: usize,
    wake: Arc<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    paths: BTreeMap<PathBuf, TouchKind>,
    lost: bool,
    /// The number of the last cookie that came back.
    cookie: u64,
    /// The writer was woken since it last picked up.
    woken: bool,
}

impl Inbox {
    pub(crate) fn new(bound: usize, wake: Arc<dyn Fn() + Send + Sync>) -> Inbox {
        Inbox { state: Mutex::default(), settled: Condvar::new(), bound, wake }
    }

    pub(crate) fn touch(&self, path: PathBuf, touch: TouchKind) {
        let mut state = self.lock();
        if !state.lost {
            let known = state.paths.entry(path).or_insert(touch);
            *known = (*known).max(touch);
            if state.paths.len() > self.bound {
                state.lose();
                self.settled.notify_all();
            }
        }
        self.wake_once(state);
    }

    pub(crate) fn lose(&self) {
        let mut state = self.lock();
        state.lose();
        self.settled.notify_all();
        self.wake_once(state);
    }

    /// A cookie came back: the inbox has everything that happened before it was thrown.
    pub(crate) fn return_cookie(&self, number: u64) {
        let mut state = self.lock();
        state.cookie = state.cookie.max(number);
        self.settled.notify_all();
    }

    pub(crate) fn pick_up(&self) -> Mail {
        self.lock().pick_up()
    }

    /// Picks up once this cookie is back, or immediately after a loss. `None` at the deadline: then everything stays
    /// for later.
    pub(crate) fn pick_up_after(&self, cookie: u64, deadline: Instant) -> Option<Mail> {
        let mut state = self.lock();
        while state.cookie < cookie && !state.lost {
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            (state, _) = self.settled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
        Some(state.pick_up())
    }

    fn wake_once(&self, mut state: MutexGuard<'_, State>) {
        let first = !mem::replace(&mut state.woken, true);
        drop(state);
        if first {
            (self.wake)();
        }
    }

    /// Every critical section leaves the state whole, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lose(&mut self) {
        self.lost = true;
        self.paths = BTreeMap::new();
    }

    fn pick_up(&mut self) -> Mail {
        self.woken = false;
        let paths = mem::take(&mut self.paths);
        if mem::take(&mut self.lost) { Mail::Lost } else { Mail::Paths(paths) }
    }
}
