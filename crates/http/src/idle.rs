//! When the last request ended: what a server that nobody asks any more goes by.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Notes when the last request came, for a server that ends when nobody needs it.
#[derive(Debug, Clone)]
pub struct Pulse {
    last: watch::Sender<Instant>,
}

impl Pulse {
    /// The start counts as a request.
    #[expect(clippy::new_without_default, reason = "a pulse starts now, which is no default")]
    pub fn new() -> Pulse {
        Pulse { last: watch::Sender::new(Instant::now()) }
    }

    /// Returns when there was no request for so long.
    pub async fn still_for(&self, duration: Duration) {
        loop {
            let last = *self.last.borrow();
            sleep_until(last + duration).await;
            if *self.last.borrow() == last {
                return;
            }
        }
    }
}

/// The layer that notes requests, when they come and when they are answered.
pub(crate) async fn beat(State(pulse): State<Pulse>, request: Request, next: Next) -> Response {
    pulse.last.send_replace(Instant::now());
    let response = next.run(request).await;
    pulse.last.send_replace(Instant::now());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_starts_the_waiting_anew() {
        let pulse = Pulse::new();
        let start = Instant::now();
        let other = pulse.clone();
        tokio::spawn(async move {
            sleep_until(start + Duration::from_secs(40)).await;
            other.last.send_replace(Instant::now());
        });
        pulse.still_for(Duration::from_secs(60)).await;
        assert_eq!(start.elapsed().as_secs(), 100);
    }
}
