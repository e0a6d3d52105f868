//! Errors over HTTP: the status and headers of each code, and the codes that each call lists.

use std::collections::BTreeMap;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Documented, ResponseBuilder, Schema};

use semdex_contract::{Call, Effect, Needs, Problem, title};
use semdex_model::{Code, Error};

/// A refusal. [`super::response_format`] writes its body as JSON or Markdown, because it knows what the client accepts.
#[derive(Debug)]
pub(crate) struct Refusal(pub Error);

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = status(self.0.code).into_response();
        let headers = response.headers_mut();
        match self.0.code {
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"semdex\""));
            }
            // RFC 6750.
            Code::InsufficientScope => {
                let error = HeaderValue::from_static("Bearer realm=\"semdex\", error=\"insufficient_scope\"");
                headers.insert(header::WWW_AUTHENTICATE, error);
            }
            Code::Busy => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            // The rest of the request is not read.
            Code::TooLarge | Code::RequestTimeout => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The status of a code.
fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidJson | Code::InvalidRequest | Code::OutsideWorkspace => StatusCode::BAD_REQUEST,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::ForbiddenHost
        | Code::ForbiddenOrigin
        | Code::ForbiddenRoot
        | Code::InsufficientScope
        | Code::PermissionDenied
        | Code::Untrusted => StatusCode::FORBIDDEN,
        Code::UnknownRoute
        | Code::UnknownWorkspace
        | Code::UnknownFile
        | Code::UnknownSymbol
        | Code::UnknownPackage
        | Code::UnknownChange
        | Code::UnknownRun => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::NoMatch
        | Code::Ambiguous
        | Code::AmbiguousSymbol
        | Code::AmbiguousTree
        | Code::HashMismatch
        | Code::AlreadyExists
        | Code::Conflict
        | Code::AlreadyApplied => StatusCode::CONFLICT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::NotText | Code::WouldBreak | Code::RenameRefused | Code::Elided | Code::InvalidContent => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::ModelUnavailable => StatusCode::FAILED_DEPENDENCY,
        Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::NotReady | Code::EngineUnavailable | Code::RevisionNotReached => StatusCode::SERVICE_UNAVAILABLE,
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Code::NotARepository | Code::NothingToCommit => StatusCode::FAILED_DEPENDENCY,
    }
}

/// The status of a successful answer to this call.
pub(crate) fn success(call: &Call) -> StatusCode {
    match call.effect {
        Effect::Read | Effect::Change => StatusCode::OK,
        Effect::Begin => StatusCode::ACCEPTED,
    }
}

/// The error as an HTTP response.
pub(crate) fn over_http(error: Error) -> Problem {
    let status = status(error.code).as_u16();
    Problem { status: Some(status), ..Problem::new(error) }
}

/// Codes of every call.
const GUARD: &[Code] = &[Code::ForbiddenHost, Code::ForbiddenOrigin, Code::NotAcceptable, Code::Busy, Code::Internal];
/// The same, for replies with only one format.
const NO_FORM: &[Code] = &[Code::ForbiddenHost, Code::ForbiddenOrigin, Code::Busy, Code::Internal];
/// Further codes of every call except the health check.
const ANY: &[Code] = &[Code::InvalidRequest, Code::Unauthorized, Code::InsufficientScope, Code::UnknownWorkspace];
const BODY: &[Code] = &[Code::InvalidJson, Code::RequestTimeout, Code::TooLarge, Code::UnsupportedMediaType];

/// The responses that refuse a call: one for each status, its description listing the codes.
pub(crate) fn refusals(call: &Call) -> BTreeMap<String, RefOr<Documented>> {
    let mut sets = vec![GUARD];
    if call.needs > Needs::Nothing {
        sets.push(ANY);
    }
    if call.method.has_body() {
        sets.push(BODY);
    }
    sets.extend(call.refusals);
    documented(&sets)
}

/// Codes of `/v1/events`.
pub(crate) fn listening_refusals() -> BTreeMap<String, RefOr<Documented>> {
    documented(&[NO_FORM, &[Code::InvalidRequest, Code::Unauthorized, Code::InsufficientScope, Code::UnknownWorkspace]])
}

/// Codes of `/metrics`.
pub(crate) fn metrics_refusals() -> BTreeMap<String, RefOr<Documented>> {
    documented(&[NO_FORM, &[Code::Unauthorized, Code::InsufficientScope]])
}

/// Codes of `/v1/hello`.
pub(crate) fn hello_refusals() -> BTreeMap<String, RefOr<Documented>> {
    documented(&[NO_FORM, &[Code::InvalidRequest, Code::Unauthorized], BODY])
}

/// Codes of `/v1/hooks/{agent}`.
pub(crate) fn hook_refusals() -> BTreeMap<String, RefOr<Documented>> {
    documented(&[NO_FORM, &[Code::Unauthorized, Code::UnknownRoute, Code::TooLarge]])
}

fn documented(sets: &[&[Code]]) -> BTreeMap<String, RefOr<Documented>> {
    let mut codes: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for &code in sets.iter().copied().flatten() {
        let same_status = codes.entry(status(code).as_u16()).or_default();
        if !same_status.contains(&code) {
            same_status.push(code);
        }
    }
    codes.into_iter().map(|(status, codes)| (status.to_string(), RefOr::T(response(&codes)))).collect()
}

fn response(codes: &[Code]) -> Documented {
    let lines: Vec<String> = codes.iter().map(|&code| format!("`{}`: {}.", code.name(), title(code))).collect();
    let problem = RefOr::<Schema>::Ref(Ref::from_schema_name("Problem"));
    ResponseBuilder::new()
        .description(lines.join("\n"))
        .content("application/problem+json", ContentBuilder::new().schema(Some(problem)).build())
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_lists_the_codes_of_a_status_together() {
        let responses = documented(&[ANY, BODY]);
        let RefOr::T(bad_request) = &responses["400"] else { panic!("inline") };
        assert!(bad_request.description.starts_with("`invalid_request`: "), "{}", bad_request.description);
        assert!(bad_request.description.contains("\n`invalid_json`: "), "{}", bad_request.description);
        assert!(responses.contains_key("408") && !responses.contains_key("409"));
    }
}
