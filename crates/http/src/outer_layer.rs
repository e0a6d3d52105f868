//! The outermost layer: what every request and every response has.

use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

use super::metrics::Metrics;
use super::request_id::{self, RequestId};
use super::response_format::Responder;
use semdex_config::logging;
use semdex_model::Error;

/// Adds the request's arrival, id and accepted format, writes the body of refusals, and records the latency if it is
/// measured.
pub(crate) async fn outer_layer(State(metrics): State<Option<Metrics>>, mut request: Request, next: Next) -> Response {
    let came = Instant::now();
    let call = metrics.map(|it| it.call_of(&request));
    let id = RequestId::of(request.headers());
    let span = tracing::info_span!("request", id = id.as_str());
    logging::continue_trace(&span, |name| request.headers().get(name).and_then(|it| it.to_str().ok()));
    request.extensions_mut().insert(id.clone());
    let response = respond(id, came, request, next).instrument(span).await;
    if let Some((metrics, call)) = metrics.zip(call) {
        metrics.note(call, response.status(), came.elapsed());
    }
    response
}

async fn respond(id: RequestId, came: Instant, mut request: Request, next: Next) -> Response {
    let responder = Responder::new(request.headers(), came);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(responder);
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions_mut().remove::<Error>() {
        tracing::debug!(code = error.code.name(), "refused");
        // The detail may quote the file and the request.
        tracing::trace!(%error, "refused");
        response = responder.refuse(error, &id, response);
    }
    // Every reply describes the workspace at this moment, and some contain private code.
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response.headers_mut().insert(request_id::HEADER, id.header());
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    logging::note_response(&tracing::Span::current(), method.as_str(), &path, response.status().as_u16());
    tracing::debug!(%method, path, status = response.status().as_u16(), elapsed = ?responder.elapsed(), "answered");
    response
}
