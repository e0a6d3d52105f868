//! Locks by name, as long as somebody holds or awaits them. Who awaits one longest gets it next.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

type Lock = tokio::sync::Mutex<()>;

/// The locks that are in use.
#[derive(Debug)]
pub struct NamedLocks<N>(Mutex<HashMap<N, Weak<Lock>>>);

impl<N> Default for NamedLocks<N> {
    fn default() -> NamedLocks<N> {
        NamedLocks(Mutex::default())
    }
}

impl<N: Eq + Hash> NamedLocks<N> {
    /// The lock of a name.
    pub fn of(&self, name: N) -> Arc<Lock> {
        let mut in_use = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = in_use.get(&name).and_then(Weak::upgrade) {
            return lock;
        }
        in_use.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        in_use.insert(name, Arc::downgrade(&lock));
        lock
    }

    /// How many are known.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
