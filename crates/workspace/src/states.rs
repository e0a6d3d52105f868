//! Reports how a workspace comes up, as events.

use std::time::Duration;

use futures::FutureExt;
use futures::future::{pending, select_all};

use super::engines::Seen;
use super::events::{Events, News};
use super::handle::{STANDSTILL, Workspace};
use super::published::Phase;

/// The least time between two events of progress.
const PACE: Duration = Duration::from_millis(100);

/// Reports how a workspace comes up, until it is closed.
pub(super) async fn tell_states(workspace: Workspace, events: Events) {
    let mut published = workspace.inner.published.clone();
    let mut last = None;
    loop {
        let mut engines: Vec<_> = {
            let seen = published.borrow_and_update();
            if seen.phase == Phase::Closed {
                return;
            }
            let of = |it: &Seen| Some(it.handle.as_ref()?.status.clone());
            seen.engines.iter().filter_map(of).collect()
        };
        // The status read below has these changes.
        engines.iter_mut().for_each(|it| drop(it.borrow_and_update()));
        let status = workspace.status();
        let now = Some((status.state, status.progress));
        if now != last {
            last.clone_from(&now);
            if let Some((state, progress)) = now {
                events.tell(&status.id, status.revision, News::State { state, progress });
            }
            tokio::time::sleep(PACE).await;
        }
        let engine = engines.iter_mut().map(|it| {
            async {
                if it.changed().await.is_err() {
                    // The engine is replaced or gone.
                    pending::<()>().await;
                }
            }
            .boxed()
        });
        let engine = engine.chain([pending().boxed()]);
        tokio::select! {
            changed = published.changed() => if changed.is_err() { return },
            _ = select_all(engine) => {}
            // A writer that hangs publishes nothing.
            () = tokio::time::sleep(STANDSTILL) => {}
        }
    }
}
