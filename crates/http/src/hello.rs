//! `POST /v1/hello`: the server proves to a client that it knows the token, before the client sends it. Another program
//! may listen on the port of a server that has ended.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use serde_json::{Value, json};

use super::grant::Credentials;
use super::problem::Refusal;
use super::{read_request, response_format};
use semdex_model::{Code, Error};

pub(crate) const PATH: &str = "/v1/hello";

const LARGEST_BODY: usize = 4 << 10;
const LONGEST_NONCE: usize = 256;

pub(crate) async fn hello(
    State(credentials): State<Option<Arc<Credentials>>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let media_type = read_request::media_type(&parts.headers);
    if media_type.as_deref() != Some(response_format::JSON) {
        let detail = format!("say `{}: {}`, and send JSON", header::CONTENT_TYPE, response_format::JSON);
        return Err(Error::new(Code::UnsupportedMediaType, detail).into());
    }
    let body = read_request::read_at_most(LARGEST_BODY, &parts.headers, body).await?;
    let nonce = nonce(&body)?;
    let address = credentials.as_ref().map(|it| it.address.as_str()).unwrap_or_default();
    let proofs = credentials.as_ref().and_then(|it| it.tokens.proofs(&nonce, address));
    let Some((proof, address_proof)) = proofs else {
        return Err(
            Error::new(Code::Unauthorized, "this server has no token to prove: `semdex token` makes one").into()
        );
    };
    let answer = json!({
        "proof": proof,
        "address": address,
        "address_proof": address_proof,
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
    });
    Ok(response_format::with_type(response_format::JSON, answer.to_string()))
}

fn nonce(body: &[u8]) -> Result<String, Error> {
    let wrong = |detail: &str| Error::new(Code::InvalidRequest, detail);
    let body: Value =
        serde_json::from_slice(body).map_err(|error| Error::new(Code::InvalidJson, format!("the body: {error}")))?;
    let fields = body.as_object().ok_or_else(|| wrong("the body is an object with the field `nonce`"))?;
    if let Some(other) = fields.keys().find(|it| *it != "nonce") {
        return Err(wrong(&format!("`{other}`: unknown field, did you mean `nonce`?")));
    }
    match fields.get("nonce").and_then(Value::as_str) {
        // A line break would let a client choose what the proof of another address is computed from.
        Some(nonce) if (1..=LONGEST_NONCE).contains(&nonce.len()) && !nonce.chars().any(char::is_control) => {
            Ok(nonce.to_owned())
        }
        _ => Err(wrong("`nonce`: a text of 1 to 256 bytes without control characters")),
    }
}
