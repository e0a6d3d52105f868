//! The idempotency keys whose requests are being answered: a second request with the key waits for the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The requests with a key that are being answered, by workspace and key.
#[derive(Debug, Default)]
pub(super) struct KeysInUse(Mutex<HashMap<(String, String), Weak<Lock>>>);

type Lock = tokio::sync::Mutex<()>;

impl KeysInUse {
    /// The lock of a key: its holder answers.
    pub(super) fn of(&self, workspace: &str, key: &str) -> Arc<Lock> {
        let mut in_use = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (workspace.to_owned(), key.to_owned());
        if let Some(lock) = in_use.get(&place).and_then(Weak::upgrade) {
            return lock;
        }
        in_use.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        in_use.insert(place, Arc::downgrade(&lock));
        lock
    }
}
