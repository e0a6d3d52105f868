//! Reads a refused request's body to its end. A client that is still sending it would otherwise meet a closed
//! connection instead of the refusal (RFC 9112, section 9.6). So the rest is read and discarded before the response is
//! sent.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use futures::{Stream as _, StreamExt as _, stream};

/// At most so many bytes are discarded, for at most so long.
pub(crate) const MOST_BYTES: usize = 64 << 20;
pub(crate) const LONGEST: Duration = Duration::from_secs(2);

/// The rest of a body: `None` at its end.
type Rest = Arc<Mutex<Option<BodyDataStream>>>;

/// The layer around everything that refuses requests.
pub(crate) async fn drain_body(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|it| it.as_bytes() != b"0");
    // A client that expects `100 Continue` has not sent the body yet.
    if !has_body || headers.contains_key(header::EXPECT) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let rest: Rest = Arc::new(Mutex::new(Some(body.into_data_stream())));
    let lent = rest.clone();
    let body = Body::from_stream(stream::poll_fn(move |context| poll(&lent, context)));
    let response = next.run(Request::from_parts(head, body)).await;
    let is_refusal = response.status().is_client_error() && response.status() != StatusCode::REQUEST_TIMEOUT;
    let left = rest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(left) = left.filter(|_| is_refusal) {
        // A slower client meets the closed connection.
        let _ = tokio::time::timeout(LONGEST, thrown_away(left)).await;
    }
    response
}

fn poll(rest: &Rest, context: &mut Context<'_>) -> Poll<Option<Result<axum::body::Bytes, axum::Error>>> {
    let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(body) = rest.as_mut() else { return Poll::Ready(None) };
    let polled = pin!(body).poll_next(context);
    if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
        *rest = None;
    }
    polled
}

async fn thrown_away(mut body: BodyDataStream) {
    let mut bytes = 0;
    while let Some(Ok(piece)) = body.next().await {
        bytes += piece.len();
        if bytes > MOST_BYTES {
            return;
        }
    }
}
