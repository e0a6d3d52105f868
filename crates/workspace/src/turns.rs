//! The order in which requests change a file. A change is planned from the present texts, and planned again if they
//! changed before it was made. Many writers of one file would make each other plan again and again, and some would
//! never get through. So they take turns: the request that waits longest is next.
//!
//! A turn only orders the requests of this process. The writer compares the texts in any case.

use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use super::named_locks::NamedLocks;

/// A turn that takes longer is not waited for. It may wait for an index.
const PATIENCE: Duration = Duration::from_secs(20);

/// The turns of the files of a workspace.
#[derive(Debug, Default)]
pub(super) struct Turns(NamedLocks<String>);

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
                held.push(self.0.of(file.clone()).lock_owned().await);
            }
        };
        let _ = tokio::time::timeout(PATIENCE, all).await;
        Turn { files, held }
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
        assert!(turns.0.count() <= 3);
    }
}
