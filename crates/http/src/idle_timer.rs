//! When the last request ended: for servers that stop when they are idle.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Records the time of the last request, for a server that stops when it is idle.
#[derive(Debug, Clone)]
pub struct IdleTimer {
    last: watch::Sender<Instant>,
}

impl IdleTimer {
    /// The start counts as a request.
    #[expect(clippy::new_without_default, reason = "a timer starts now, which is no default")]
    pub fn new() -> IdleTimer {
        IdleTimer { last: watch::Sender::new(Instant::now()) }
    }

    /// Returns when there was no request for so long.
    pub async fn idle_for(&self, duration: Duration) {
        loop {
            let last = *self.last.borrow();
            sleep_until(last + duration).await;
            if *self.last.borrow() == last {
                return;
            }
        }
    }
}

/// The layer that records the start and the end of each request.
pub(crate) async fn record_request(State(timer): State<IdleTimer>, request: Request, next: Next) -> Response {
    timer.last.send_replace(Instant::now());
    let response = next.run(request).await;
    timer.last.send_replace(Instant::now());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_starts_the_waiting_anew() {
        let timer = IdleTimer::new();
        let start = Instant::now();
        let other = timer.clone();
        tokio::spawn(async move {
            sleep_until(start + Duration::from_secs(40)).await;
            other.last.send_replace(Instant::now());
        });
        timer.idle_for(Duration::from_secs(60)).await;
        assert_eq!(start.elapsed().as_secs(), 100);
    }
}
