//! The format of replies: JSON for programs or Markdown for models, with the time that the answer took.

use std::time::{Duration, Instant};

use super::problem::{Refusal, over_http};
use super::request_id::RequestId;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use semdex_contract::shorten::json;
use semdex_contract::{DiagnosticsReply, Meta, PROBLEM_TOKENS, Problem, Reply, milliseconds, render};
use semdex_model::{Code, Error};

pub(super) const JSON: &str = "application/json";
pub(crate) const PROBLEM: &str = "application/problem+json";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
pub(crate) const SARIF: &str = "application/sarif+json";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Markdown,
    /// Only for diagnostics.
    Sarif,
}

/// The format of this request's reply, and when the request arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Responder {
    /// `None` if the client accepts neither format.
    format: Option<Format>,
    came: Instant,
}

impl Responder {
    /// For a request with these headers and this time of arrival.
    pub(super) fn new(headers: &HeaderMap, came: Instant) -> Responder {
        Responder { format: accepted(headers), came }
    }

    /// The response with a reply, shortened to so many tokens if possible. The default applies only to Markdown.
    pub(crate) fn answer(self, reply: Reply, max_tokens: Option<usize>, default_tokens: Option<usize>) -> Response {
        self.send(match self.format {
            Some(Format::Markdown) => Ok(render::answer(reply, max_tokens.or(default_tokens), self.came).into_bytes()),
            _ => json(reply, max_tokens, |reply| self.stamp(reply.meta())),
        })
    }

    /// The response with diagnostics as a SARIF log, in full.
    pub(crate) fn sarif(self, reply: &DiagnosticsReply) -> Response {
        match serde_json::to_vec(&render::sarif(reply)) {
            Ok(body) => with_type(SARIF, body),
            Err(error) => self.send(Err(error)),
        }
    }

    pub(crate) fn wants_sarif(self) -> bool {
        self.format == Some(Format::Sarif)
    }

    /// Sets the elapsed time, as late as possible.
    fn stamp(self, meta: Option<&mut Meta>) {
        if let Some(meta) = meta {
            meta.elapsed_ms = milliseconds(self.elapsed());
        }
    }

    /// When the request arrived.
    pub(crate) fn came(self) -> Instant {
        self.came
    }

    pub(super) fn elapsed(self) -> Duration {
        self.came.elapsed()
    }

    /// A body in the requested format.
    fn send(self, body: serde_json::Result<Vec<u8>>) -> Response {
        let content_type = if self.format == Some(Format::Markdown) { MARKDOWN } else { JSON };
        match body {
            Ok(body) => ([(header::CONTENT_TYPE, content_type)], body).into_response(),
            Err(error) => {
                tracing::error!(%error, "a reply could not be written as JSON");
                Refusal(internal()).into_response()
            }
        }
    }

    /// Gives a refusal its body; status and headers are unchanged.
    pub(super) fn refuse(self, error: Error, id: &RequestId, refusal: Response) -> Response {
        let (mut parts, _) = refusal.into_parts();
        let problem = Problem { request_id: Some(id.as_str().to_owned()), ..over_http(error) };
        let (content_type, body) = match self.format {
            Some(Format::Markdown) => (MARKDOWN, render::refusal(problem, self.came).into_bytes()),
            _ => {
                let body = json(problem, Some(PROBLEM_TOKENS), |problem| self.stamp(problem.meta.as_mut()));
                (PROBLEM, body.unwrap_or_default())
            }
        };
        parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        parts.headers.remove(header::CONTENT_LENGTH);
        Response::from_parts(parts, body.into())
    }
}

impl<S: Sync> FromRequestParts<S> for Responder {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Responder, Refusal> {
        match parts.extensions.get::<Responder>() {
            Some(responder) if responder.format.is_some() => Ok(*responder),
            _ => Err(Refusal(not_acceptable())),
        }
    }
}

pub(crate) fn not_acceptable() -> Error {
    Error::new(
        Code::NotAcceptable,
        "ask with `Accept: application/json` or `Accept: text/markdown`: those are the forms that there are; of \
         diagnostics there is `application/sarif+json` too",
    )
}

/// The response after a panic in a handler. The panic's message is logged, but not sent to the client.
pub(crate) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Refusal(internal()).into_response()
}

fn internal() -> Error {
    Error::new(
        Code::Internal,
        "this request met a fault of semdex; it is in the log, and other requests are not touched by it",
    )
}

/// A reply that has only one format.
pub(crate) fn with_type(content_type: &'static str, body: impl Into<axum::body::Body>) -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, content_type)], body.into()).into_response()
}

/// The preferred format of the client among the available ones. Without a preference, JSON.
fn accepted(headers: &HeaderMap) -> Option<Format> {
    let mut ranges = Vec::new();
    for value in headers.get_all(header::ACCEPT) {
        ranges.extend(String::from_utf8_lossy(value.as_bytes()).split(',').map(|it| it.trim().to_ascii_lowercase()));
    }
    ranges.retain(|range| !range.is_empty());
    if ranges.is_empty() {
        return Some(Format::Json);
    }
    let json = quality(&ranges, "application", &["json", "problem+json"]);
    let markdown = quality(&ranges, "text", &["markdown"]);
    // `*/*` is no request for a particular format.
    let names_sarif = ranges.iter().any(|it| it.starts_with(SARIF));
    let sarif = if names_sarif { quality(&ranges, "application", &["sarif+json"]) } else { 0.0 };
    if sarif > json.max(markdown) {
        Some(Format::Sarif)
    } else if markdown > json {
        Some(Format::Markdown)
    } else if json > 0.0 {
        Some(Format::Json)
    } else {
        None
    }
}

/// The quality of a media type: the most specific matching range decides, as RFC 9110 says.
fn quality(ranges: &[String], kind: &str, subtypes: &[&str]) -> f32 {
    let mut best = (0, 0.0);
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let (Some((range_kind, range_subtype)), parameters) = (parts.next().and_then(|it| it.split_once('/')), parts)
        else {
            continue;
        };
        let precision = match (range_kind, range_subtype) {
            ("*", "*") => 1,
            (it, "*") if it == kind => 2,
            (it, subtype) if it == kind && subtypes.contains(&subtype) => 3,
            _ => continue,
        };
        let mut wanted = 1.0;
        for parameter in parameters {
            if let Some(value) = parameter.strip_prefix("q=") {
                wanted = value.trim().parse().unwrap_or(0.0);
            }
        }
        if precision > best.0 || precision == best.0 && wanted > best.1 {
            best = (precision, wanted);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &[&'static str], expected: Option<Format>) {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(value));
        }
        assert_eq!(accepted(&headers), expected, "{accept:?}");
    }

    #[test]
    fn the_form_most_wanted_is_given() {
        check(&[], Some(Format::Json));
        check(&["*/*"], Some(Format::Json));
        check(&["application/json"], Some(Format::Json));
        check(&["application/problem+json"], Some(Format::Json));
        check(&["text/markdown"], Some(Format::Markdown));
        check(&["Text/Markdown; charset=utf-8"], Some(Format::Markdown));
        check(&["text/*, application/json;q=0.5"], Some(Format::Markdown));
        check(&["text/markdown;q=0.2, application/json;q=0.7"], Some(Format::Json));
        check(&["text/markdown, */*;q=0.1"], Some(Format::Markdown));
        check(&["text/html", "*/*;q=0.8"], Some(Format::Json));
        check(&["text/html"], None);
        check(&["application/xml, image/png"], None);
        check(&["application/json;q=0"], None);
        check(&["nonsense"], None);
        check(&["application/sarif+json"], Some(Format::Sarif));
        check(&["application/sarif+json, application/json;q=0.5"], Some(Format::Sarif));
        check(&["application/sarif+json;q=0.2, application/json"], Some(Format::Json));
        check(&["application/*"], Some(Format::Json));
    }
}
