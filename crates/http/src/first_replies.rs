//! The header `Idempotency-Key`: the first reply to a request is sent again, with its status and body.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::Refusal;
use super::read_request;
use super::request_id::RequestId;
use super::response_format::Responder;
use super::{answer_request, response_format};
use semdex_contract::Call;
use semdex_model::{Code, Error};
use semdex_ops::Service;
use semdex_ops::first_replies::{self, IdempotencyKey, Outcome, WrittenReply};
use semdex_ops::timed_answer::Caller;

const HEADER: &str = "idempotency-key";
/// Marks a reply that was sent before.
const REPLAYED: &str = "idempotency-replayed";

/// The key of a request, and the request with its body in memory. `None` without the header.
pub(crate) async fn key(call: &Call, request: Request) -> Result<(Option<IdempotencyKey>, Request), Error> {
    let Some(key) = request.headers().get(HEADER).cloned() else { return Ok((None, request)) };
    let key = key.to_str().map_err(|_| {
        Error::new(Code::InvalidRequest, "the header `Idempotency-Key` takes printable ASCII characters only")
    })?;
    let (parts, body) = request.into_parts();
    let body = read_request::read(&parts.headers, body).await?;
    let media_type = parts.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let target = parts.uri.path_and_query().map(|it| it.as_str().as_bytes()).unwrap_or_default();
    let key = IdempotencyKey::new(key, &[b"http", call.name.as_bytes(), target, media_type, &body])?;
    Ok((Some(key), Request::from_parts(parts, Body::from(body))))
}

/// Answers a request with a key.
pub(crate) async fn answer_once(
    call: &'static Call,
    service: &Service,
    responder: Responder,
    (caller, id): (Caller, Option<RequestId>),
    request: semdex_contract::Request,
    key: IdempotencyKey,
) -> Result<Response, Refusal> {
    let own = service.clone();
    let answer = async move |request, caller| match answer_request(call, &own, responder, caller, request).await {
        Ok(response) => written(response).await,
        Err(Refusal(error)) if !first_replies::is_final(&error) => Err(error),
        Err(Refusal(error)) => {
            let refusal = Refusal(error.clone()).into_response();
            let id = id.unwrap_or_else(|| RequestId::of(&axum::http::HeaderMap::new()));
            written(responder.refuse(error, &id, refusal)).await
        }
    };
    let (reply, is_again) = first_replies::answer_once(service, request, key, caller, answer).await?;
    let WrittenReply { status, media_type, body } = reply;
    let mut response = (StatusCode::from_u16(status).unwrap_or(StatusCode::OK), body).into_response();
    let headers = response.headers_mut();
    if let Ok(media_type) = HeaderValue::from_str(&media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    if is_again {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

async fn written(response: Response) -> Outcome {
    let (parts, body) = response.into_parts();
    let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let media_type = media_type.unwrap_or(response_format::JSON).to_owned();
    let failed =
        || Error::new(Code::Internal, "the reply could not be written; `changes` lists the change if it was made");
    let bytes = to_bytes(body, usize::MAX).await.map_err(|_| failed())?;
    let body = String::from_utf8(bytes.into()).map_err(|_| failed())?;
    Ok(WrittenReply { status: parts.status.as_u16(), media_type, body })
}
