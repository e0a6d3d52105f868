//! `/mcp`: the protocol for agents behind the same guard, bounds and deadlines as every other call.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};

use super::extract;
use super::problem::Refusal;
use super::request_id::RequestId;
use super::responder::JSON;
use semdex_mcp::{Local, OverHttp, over_http, refusal, with_request_id};
use semdex_ops::Service;

pub(crate) const PATH: &str = "/mcp";

/// Methods that the protocol has no use for are refused by it, with the header `Allow`.
pub(crate) fn route(service: Service) -> MethodRouter {
    let protocol = over_http(Local(service), extract::LARGEST_BODY);
    routing::any(async move |request: Request| answer(&protocol, request).await)
}

async fn answer(protocol: &OverHttp<Local>, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let body = extract::read(&parts.headers, body).await?;
    let id = parts.extensions.get::<RequestId>().map(RequestId::shared);
    let handled = protocol.handle(Request::from_parts(parts, Body::from(body.clone())));
    let answer = with_request_id(id, handled).await.into_response();
    // What the library cannot read it refuses in prose; a client of the protocol waits for JSON-RPC.
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|it| it == JSON);
    if answer.status().is_client_error()
        && !is_json
        && let Some(refusal) = refusal(&body)
    {
        return Ok((StatusCode::BAD_REQUEST, [(CONTENT_TYPE, JSON)], refusal).into_response());
    }
    Ok(answer)
}
