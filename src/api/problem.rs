//! Errors as they go over the wire: RFC 9457 problems, with a code of the closed set and what helps.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Documented, ResponseBuilder, Schema};

use super::shapes::{Candidate, Impact, Meta, Nearest, ProblemCode, Symbol, list};
use crate::model::{Code, Error};

/// A refusal on its way out. What it looks like, JSON or Markdown, is for [`super::responder`] to say, which knows what the
/// client reads.
#[derive(Debug)]
pub struct Refusal(pub Error);

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
            Code::Busy => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            // What is left of the request is not worth reading.
            Code::TooLarge | Code::RequestTimeout => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The one place that knows which status a code travels under.
pub fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidJson | Code::InvalidRequest | Code::OutsideWorkspace => StatusCode::BAD_REQUEST,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::ForbiddenHost
        | Code::ForbiddenOrigin
        | Code::ForbiddenRoot
        | Code::PermissionDenied
        | Code::Untrusted => StatusCode::FORBIDDEN,
        Code::UnknownRoute
        | Code::UnknownWorkspace
        | Code::UnknownFile
        | Code::UnknownSymbol
        | Code::UnknownPackage
        | Code::UnknownChange => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::NoMatch
        | Code::Ambiguous
        | Code::AmbiguousSymbol
        | Code::HashMismatch
        | Code::AlreadyExists
        | Code::Conflict => StatusCode::CONFLICT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::NotText | Code::WouldBreak | Code::RenameRefused | Code::InvalidContent => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        Code::NotReady | Code::EngineUnavailable | Code::RevisionNotReached => StatusCode::SERVICE_UNAVAILABLE,
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// The code in a few words, always the same for one code.
pub fn title(code: Code) -> &'static str {
    match code {
        Code::InvalidJson => "The body is not JSON",
        Code::InvalidRequest => "The request is not of the form that this call takes",
        Code::OutsideWorkspace => "The path leads out of the workspace",
        Code::Unauthorized => "The request carries no valid token",
        Code::ForbiddenHost => "The Host header names another server",
        Code::ForbiddenOrigin => "The request comes from another site",
        Code::ForbiddenRoot => "The directory lies outside of what may be opened",
        Code::PermissionDenied => "The file system forbids it",
        Code::Untrusted => "The workspace is not trusted",
        Code::UnknownRoute => "There is no such call",
        Code::UnknownWorkspace => "No such workspace is open",
        Code::UnknownFile => "There is no such file",
        Code::UnknownSymbol => "There is no such symbol",
        Code::UnknownPackage => "There is no such package",
        Code::UnknownChange => "There is no such change",
        Code::MethodNotAllowed => "The call is made with another method",
        Code::NotAcceptable => "The reply has none of the forms accepted",
        Code::RequestTimeout => "The request did not arrive in time",
        Code::NoMatch => "The searched text is not in the file",
        Code::Ambiguous => "The searched text fits several places",
        Code::AmbiguousSymbol => "The name fits several symbols",
        Code::HashMismatch => "The file is not what the request expects",
        Code::AlreadyExists => "The file exists already",
        Code::Conflict => "Another change came between",
        Code::TooLarge => "The body or the file is too large",
        Code::UnsupportedMediaType => "The body is of a type that this call does not take",
        Code::NotText => "The file is not text",
        Code::WouldBreak => "The edit would break other places",
        Code::RenameRefused => "The symbol cannot be renamed so",
        Code::InvalidContent => "The content cannot be written",
        Code::Busy => "Too many requests are in flight",
        Code::Internal => "semdex failed",
        Code::DiskFull => "The disk is full",
        Code::NotReady => "The workspace is not ready for this",
        Code::EngineUnavailable => "The engine for this language is not available",
        Code::RevisionNotReached => "The revision was not reached in time",
        Code::Timeout => "The answer took too long",
    }
}

/// What went wrong, and what to do about it (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "type": "https://semdex.dev/problems/unknown_symbol", "title": "There is no such symbol", "status": 404,
    "code": "unknown_symbol", "detail": "`grep_searcher` has no `Sercher`: did you mean `grep_searcher::Searcher`?",
    "suggestions": ["grep_searcher::Searcher"],
    "meta": {"workspace": "ripgrep", "revision": 17, "state": "ready", "complete": true, "missing": [], "elapsed_ms": 0.6}
})))]
pub struct Problem {
    /// The same for every problem of one code.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: &'static str,
    pub status: u16,
    pub code: ProblemCode,
    pub detail: String,
    /// Known as soon as the workspace is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub meta: Option<Meta>,
    /// Names that were perhaps meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// With `ambiguous` the places that the edit fits, with `ambiguous_symbol` the symbols that the name fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<ProblemCandidate>,
    /// With `no_match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nearest: Option<Nearest>,
    /// With `hash_mismatch`: the hash of what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub actual_hash: Option<String>,
    /// With `would_break`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub impact: Option<Impact>,
    /// Which of several edits, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub edit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub file: Option<String>,
    /// With `hash_mismatch` of an undo: unified, from what the change had left to what is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<String>,
}

/// A place or a symbol that the request fits.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "made a handful at a time, and only on the way out")]
pub enum ProblemCandidate {
    Symbol(Symbol),
    Place(Candidate),
}

impl Problem {
    pub fn new(error: Error, elapsed: Duration) -> Problem {
        let meta = error.meta().map(|meta| Meta::new(meta.clone(), elapsed));
        let help = *error.help;
        let places = help.candidates.into_iter().map(|it| ProblemCandidate::Place(it.into()));
        let symbols = help.symbols.into_iter().map(|it| ProblemCandidate::Symbol(it.into()));
        Problem {
            kind: format!("https://semdex.dev/problems/{}", error.code.name()),
            title: title(error.code),
            status: status(error.code).as_u16(),
            code: error.code.into(),
            detail: error.detail,
            meta,
            suggestions: list(help.suggestions),
            candidates: places.chain(symbols).collect(),
            nearest: help.nearest.map(Nearest::from),
            actual_hash: help.actual_hash,
            impact: help.impact.map(Impact::from),
            edit: help.edit,
            file: help.file,
            diff: help.diff,
        }
    }
}

/// What every call may be refused with.
const DOOR: &[Code] = &[Code::ForbiddenHost, Code::ForbiddenOrigin, Code::NotAcceptable, Code::Busy, Code::Internal];
/// And what every call but that for the health.
const ANY: &[Code] = &[Code::InvalidRequest, Code::Unauthorized, Code::UnknownWorkspace];
const BODY: &[Code] = &[Code::InvalidJson, Code::RequestTimeout, Code::TooLarge, Code::UnsupportedMediaType];
const ANSWER: &[Code] = &[Code::NotReady, Code::EngineUnavailable, Code::RevisionNotReached, Code::Timeout];
const FILE: &[Code] =
    &[Code::OutsideWorkspace, Code::PermissionDenied, Code::UnknownFile, Code::NotText, Code::TooLarge];
const SYMBOL: &[Code] = &[Code::UnknownSymbol, Code::UnknownPackage, Code::AmbiguousSymbol];
const CHANGE: &[Code] =
    &[Code::HashMismatch, Code::AlreadyExists, Code::Conflict, Code::WouldBreak, Code::InvalidContent, Code::DiskFull];
const OVERLAY: &[Code] = &[Code::InvalidContent, Code::NotReady, Code::Timeout];
const UNDO: &[Code] = &[Code::UnknownChange, Code::HashMismatch, Code::Conflict, Code::DiskFull];
const MATCH: &[Code] = &[Code::NoMatch, Code::Ambiguous];
const RENAME: &[Code] = &[Code::RenameRefused];
const ROOT: &[Code] = &[Code::ForbiddenRoot, Code::PermissionDenied];

/// The problems of one sort of call, for its document.
macro_rules! refusals {
    ($($(#[$attribute:meta])* $name:ident: [$($codes:expr),+];)*) => { $(
        $(#[$attribute])*
        pub struct $name;

        impl utoipa::IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Documented>> {
                documented(&[$($codes),+])
            }
        }
    )* };
}

refusals! {
    /// Of a call that wants no token.
    Unguarded: [DOOR];
    /// Of a call about the process.
    Plain: [DOOR, ANY];
    /// Of `POST /v1/workspaces`.
    Opening: [DOOR, ANY, BODY, ROOT];
    /// Of a question about files in the query.
    AboutFile: [DOOR, ANY, FILE, ANSWER];
    /// Of a question about files in the body.
    PostedAboutFile: [DOOR, ANY, BODY, FILE, ANSWER];
    /// Of a question about a symbol in the query.
    AboutSymbol: [DOOR, ANY, FILE, SYMBOL, ANSWER];
    /// Of a question about a symbol in the body.
    PostedAboutSymbol: [DOOR, ANY, BODY, FILE, SYMBOL, ANSWER];
    /// Of `POST /v1/edit`.
    Editing: [DOOR, ANY, BODY, FILE, SYMBOL, MATCH, CHANGE, ANSWER];
    /// Of `POST /v1/rename`.
    Renaming: [DOOR, ANY, BODY, FILE, SYMBOL, CHANGE, RENAME, ANSWER];
    /// Of `POST /v1/write`.
    Writing: [DOOR, ANY, BODY, FILE, CHANGE, ANSWER];
    /// Of `PUT /v1/overlays/{file}`.
    Overlaying: [DOOR, ANY, BODY, FILE, OVERLAY];
    /// Of `DELETE /v1/overlays/{file}`.
    Removing: [DOOR, ANY, FILE, OVERLAY];
    /// Of `POST /v1/undo`.
    Undoing: [DOOR, ANY, BODY, FILE, UNDO, ANSWER];
}

/// One response for each status, its description listing the codes.
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
