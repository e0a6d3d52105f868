//! `GET /v1/events`: the events of the workspaces, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::grant::Grant;
use super::listen::Line;
use super::problem::Refusal;
use semdex_contract::{EventType, EventsQuery};
use semdex_model::{Code, Error, Result};
use semdex_ops::Service;
use semdex_ops::events::{Listener, SentEvent};

pub(crate) const PATH: &str = "/v1/events";

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Clients that may listen at the same time.
const LISTENERS: usize = 64;
/// Queued events of one client, besides those in the connection.
const ON_THE_WAY: usize = 16;
/// A client that reads nothing for so long is disconnected. It reconnects with the id of its last event.
const PATIENCE: Duration = Duration::from_secs(10);
/// Without events, a comment shows that the connection is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

static PLACES: Semaphore = Semaphore::const_new(LISTENERS);

pub(crate) async fn events(
    State(service): State<Service>,
    line: Option<Extension<Line>>,
    grant: Option<Extension<Grant>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    let query = EventsQuery::parse(uri.query().unwrap_or_default())?;
    let grant = grant.map(|Extension(grant)| grant).unwrap_or_default();
    let listener = Listener::new(&service, &query, last_event(&headers)?, &grant.access)?;
    let Ok(place) = PLACES.try_acquire() else {
        let detail = format!("{LISTENERS} clients listen already: ask again when one has gone");
        return Err(Error::new(Code::Busy, detail).into());
    };
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    let line = line.map(|Extension(line)| line);
    tokio::spawn(async move {
        send_all(listener, &sender, line, &grant).await;
        drop(place);
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(keep_alive).into_response())
}

/// The id of the client's last event: any number.
fn last_event(headers: &HeaderMap) -> Result<Option<u64>> {
    let Some(given) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let number = given.to_str().ok().filter(|it| it.bytes().all(|it| it.is_ascii_digit()) && !it.is_empty());
    match number {
        // A number above every possible id is an id of the future.
        Some(number) => Ok(Some(number.parse().unwrap_or(u64::MAX))),
        None => {
            let detail = "`Last-Event-ID`: give the `id` of the last event seen, a number; without the header the \
                          events begin now";
            Err(Error::new(Code::InvalidRequest, detail))
        }
    }
}

/// Sends events until the client leaves, stops reading, or the server stops.
async fn send_all(
    mut listener: Listener,
    sender: &mpsc::Sender<Result<Event, Infallible>>,
    line: Option<Line>,
    grant: &Grant,
) {
    let stopping = line.as_ref().map(|it| it.stopping.clone()).unwrap_or_default();
    loop {
        let sent = tokio::select! {
            sent = listener.next() => sent,
            () = stopping.cancelled() => return,
            () = sender.closed() => return,
        };
        if !grant.is_valid() {
            tracing::info!(id = sent.id, "a client whose token was rotated gets no more events");
            return;
        }
        let Some(event) = event(&sent) else { continue };
        match sender.send_timeout(Ok(event), PATIENCE).await {
            Ok(()) => {}
            Err(mpsc::error::SendTimeoutError::Closed(_)) => return,
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                tracing::info!(id = sent.id, "a client that takes no events is cut off");
                return line.into_iter().for_each(|it| it.cut.cancel());
            }
        }
    }
}

fn event(sent: &SentEvent) -> Option<Event> {
    let name = sent.of.map_or("reset", EventType::name);
    let event = Event::default().id(sent.id.to_string()).event(name).json_data(&sent.data);
    event.inspect_err(|error| tracing::error!(%error, "an event could not be written as JSON")).ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_last_event_is_a_number() {
        let of =
            |given: &str| last_event(&HeaderMap::from_iter([(LAST_EVENT_ID, HeaderValue::from_str(given).unwrap())]));
        assert_eq!(of("17").unwrap(), Some(17));
        assert_eq!(of("99999999999999999999999").unwrap(), Some(u64::MAX));
        assert_eq!(last_event(&HeaderMap::new()).unwrap(), None);
        for odd in ["", "x", "-1", "1.5", "+1"] {
            assert_eq!(of(odd).unwrap_err().code, Code::InvalidRequest, "{odd}");
        }
    }
}
