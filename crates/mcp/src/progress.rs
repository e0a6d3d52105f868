//! Progress notifications for a client that waits for the index.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, interval_at};

use super::Backend;

/// The first notification comes after this time, and a further one each time it has passed.
const PACE: Duration = Duration::from_millis(500);
/// After this time a call reports that it works, also if its workspace is ready.
const LONG: Duration = Duration::from_secs(5);

/// Waits for the answer. Sends progress notifications if the client asked for them and the index of this workspace is
/// not ready, or the call takes long. The progress is the elapsed time, which also rises when something is loaded again;
/// the message says what is being done.
pub(crate) async fn telling<B: Backend, T>(
    backend: &B,
    (call, workspace): (&str, Option<&str>),
    context: &RequestContext<RoleServer>,
    answer: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return answer.await };
    let began = Instant::now();
    let mut ticks = interval_at(began + PACE, PACE);
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            _ = ticks.tick() => {
                let busy = backend.busy_with(workspace).await;
                let elapsed = began.elapsed();
                // Some clients give up a call that is silent for a minute.
                let works = || (elapsed >= LONG).then(|| format!("{call}: working for {} s", elapsed.as_secs()));
                if let Some(message) = busy.or_else(works) {
                    let seconds = began.elapsed().as_secs_f64();
                    let notification = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
                    // The transport detects a disconnected client.
                    let _ = context.peer.notify_progress(notification).await;
                }
            }
        }
    }
}

/// What a workspace is busy with, and its progress if it is counted.
pub fn describe_progress(workspace: &str, stage: &str, done: u64, total: u64) -> String {
    match total {
        0 => format!("{workspace}: {stage}"),
        _ => format!("{workspace}: {stage} ({done} of {total})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_has_no_count() {
        assert_eq!(describe_progress("w", "indexing", 3, 9), "w: indexing (3 of 9)");
        assert_eq!(describe_progress("w", "starting gopls", 0, 0), "w: starting gopls");
    }
}
