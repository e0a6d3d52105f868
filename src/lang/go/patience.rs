//! How long a load goes on that may wait for a file that is gone: the go command opens what stands in a file's place, a named
//! pipe too, and waits for somebody to write to it.

use std::time::Duration;

use super::session::Session;

/// A load of texts that are not the newest any more goes on so long, and twice as long each time after that did not do.
const FIRST: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 60 });
const MOST: Duration = Duration::from_secs(8 * 60);
/// How often it is looked whether there are newer texts.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy)]
pub struct Patience(Duration);

impl Default for Patience {
    fn default() -> Patience {
        Patience(FIRST)
    }
}

impl Patience {
    /// What a load comes to. `None` where it has not ended in time, and what it loads has changed meanwhile.
    pub async fn with<T>(&mut self, session: &Session, load: impl Future<Output = T>) -> Option<T> {
        let generation = session.documents().generation();
        let outlived = async {
            tokio::time::sleep(self.0).await;
            while session.documents().generation() == generation {
                tokio::time::sleep(LOOK).await;
            }
        };
        let loaded = tokio::select! {
            loaded = load => Some(loaded),
            () = outlived => None,
        };
        self.0 = if loaded.is_some() { FIRST } else { (self.0 * 2).min(MOST) };
        loaded
    }
}
