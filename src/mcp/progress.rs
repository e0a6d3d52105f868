//! The progress that is sent to a client that waits for the index.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, interval_at};

use super::Backend;

/// The first word comes after this, and one more each time it has passed.
const PACE: Duration = Duration::from_millis(500);

/// Waits for the answer; notifies the client how far the index is, where it asked for that and the index is not ready.
/// The progress is the time that has passed, which rises whatever is loaded anew; the message says what is done.
pub async fn telling<B: Backend, T>(
    backend: &B,
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
                if let Some(message) = backend.busy_with().await {
                    let seconds = began.elapsed().as_secs_f64();
                    let notification = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
                    // A client that does not listen any more is noticed by the transport.
                    let _ = context.peer.notify_progress(notification).await;
                }
            }
        }
    }
}
