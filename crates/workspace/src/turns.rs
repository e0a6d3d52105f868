//! The order in which requests change a file. A change is planned from the present texts, and planned again if they
//! changed before it was made. Many writers of one file would make each other plan again and again, and some would
//! never get through. So they take turns: the request that waits longest is next.
//!
//! A turn only orders the requests of this process. The writer compares the texts in any case.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};

/// A turn that takes longer is not waited for. It may wait for an index.
const PATIENCE: Duration = Duration::from_secs(20);

/// The turns of the files of a workspace.
#[derive(Debug, Default)]
pub(super) struct Turns(std::sync::Mutex<HashMap<String, Weak<Mutex<()>>>>);

/// The turn to change some files. It ends when it is dropped.
#[derive(Debug)]
pub struct Turn {
    files: Vec<String>,
    /// A lock for each file whose turn it is.
    held: Vec<OwnedMutexGuard<()>>,
}

impl Turn {
    /// Whether the turn includes all of these files.
    pub fn is_of(&self, files: &[String]) -> bool {
        self.held.len() == self.files.len() && files.iter().all(|it| self.files.contains(it))
    }
}

impl Turns {
    /// Waits for the turn to change these files, for a while.
    pub(super) async fn take(&self, files: &[String]) -> Turn {
        let mut files = files.to_vec();
        // Two requests of the same files wait in the same order.
        files.sort_unstable();
        files.dedup();
        let mut held = Vec::new();
        let all = async {
            for file in &files {
                held.push(self.of(file).lock_owned().await);
            }
        };
        let _ = tokio::time::timeout(PATIENCE, all).await;
        Turn { files, held }
    }

    fn of(&self, file: &str) -> Arc<Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(file).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(file.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_has_one_turn_at_a_time() {
        let turns = Turns::default();
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let both = turns.take(&names(&["b", "a", "a"])).await;
        assert!(both.is_of(&names(&["a"])) && !both.is_of(&names(&["a", "c"])));
        // Another file has its own, and a turn that takes too long is not waited for.
        assert_eq!(turns.take(&names(&["c"])).await.held.len(), 1);
        assert_eq!(turns.take(&names(&["a"])).await.held.len(), 0);
        drop(both);
        assert_eq!(turns.take(&names(&["a", "b"])).await.held.len(), 2);
        assert!(turns.0.lock().unwrap().len() <= 3);
    }
}
