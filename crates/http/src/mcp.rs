//! `/mcp`: the Model Context Protocol, with the access control, bounds and deadlines of every other call.

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};

use super::listen::Line;
use super::problem::Refusal;
use super::read_request;
use super::request_id::RequestId;
use super::response_format::JSON;
use semdex_mcp::{Local, OverHttp, Received, over_http, receiving, refusal};
use semdex_ops::Service;

pub(crate) const PATH: &str = "/mcp";

/// The protocol refuses methods that it does not use, with the header `Allow`.
pub(crate) fn route(service: Service) -> MethodRouter {
    let protocol = over_http(Local(service), read_request::LARGEST_BODY);
    routing::any(async move |request: Request| answer(&protocol, request).await)
}

async fn answer(protocol: &OverHttp<Local>, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let body = read_request::read(&parts.headers, body).await?;
    let request_id = parts.extensions.get::<RequestId>().map(RequestId::shared);
    let connection = parts.extensions.get::<Line>().map(Line::session);
    let access = read_request::access(&parts.extensions);
    let received = Received { request_id, access, session: read_request::session(&parts.headers).or(connection) };
    let handled = protocol.handle(Request::from_parts(parts, Body::from(body.clone())));
    let answer = receiving(received, handled).await.into_response();
    // The library refuses unreadable messages in prose; a client of the protocol expects JSON-RPC.
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|it| it == JSON);
    if answer.status().is_client_error()
        && !is_json
        && let Some(refusal) = refusal(&body)
    {
        return Ok((StatusCode::BAD_REQUEST, [(CONTENT_TYPE, JSON)], refusal).into_response());
    }
    Ok(answer)
}
