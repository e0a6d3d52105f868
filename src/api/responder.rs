//! What a reply looks like: JSON for programs or Markdown for models, with the time it took. The handlers answer
//! in the words of `ops` and never look at headers.

use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::problem::{Problem, Refusal};
use super::shapes::Meta;
use crate::model::{Code, Error, Missing, MissingCode};
use crate::ops::Reply;
use crate::ops::fit::{BYTES_PER_TOKEN, Budget, Fit};
use crate::render;

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// So often an answer is written anew to come nearer to its budget.
const FITTINGS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Markdown,
}

/// How this request wants to be answered, and when it came.
#[derive(Debug, Clone, Copy)]
pub struct Responder {
    /// Absent where the client takes neither.
    format: Option<Format>,
    came: Instant,
}

impl Responder {
    /// Answers with what `ops` said: `wire` makes the JSON shape, `markdown` the text.
    pub fn answer<T, W: Serialize>(
        self,
        reply: Reply<T>,
        wire: impl FnOnce(T, Meta) -> W,
        markdown: impl FnOnce(&T) -> String,
    ) -> Response {
        self.send(self.body(reply, wire, markdown))
    }

    /// As `answer`, but no longer than so many tokens, if the answer can be that short.
    pub fn fitted<T: Fit, W: Serialize>(
        self,
        reply: Reply<T>,
        max_tokens: Option<usize>,
        wire: impl Fn(T, Meta) -> W,
        markdown: impl Fn(&T) -> String,
    ) -> Response {
        let Some(most) = max_tokens.map(|it| it.saturating_mul(BYTES_PER_TOKEN)) else {
            return self.answer(reply, wire, markdown);
        };
        // What an answer takes is known when it is written: the budget is set by what came of the one before.
        let mut budget = most;
        let mut best: Option<(bool, Vec<u8>)> = None;
        let mut was_too_long = false;
        for round in 0..FITTINGS {
            let mut reply = reply.clone();
            let left_out = reply.value.fit(Budget::new(budget));
            let is_whole = left_out.is_empty();
            if !is_whole {
                let detail = format!("{}: go on with `next_cursor`", left_out.join(", "));
                reply.meta.coverage.note(Missing::new(MissingCode::Budget, "max_tokens", detail));
            }
            let body = match self.body(reply, &wire, &markdown) {
                Ok(body) => body,
                Err(error) => return self.send(Err(error)),
            };
            let (fits, length) = (body.len() <= most, body.len().max(1));
            let is_better = best.as_ref().is_none_or(|(best_fits, best)| match (fits, best_fits) {
                (true, true) => length > best.len(),
                (false, false) => length < best.len(),
                (fits, _) => fits,
            });
            if is_better {
                best = Some((fits, body));
            }
            // What is left free is worth another try, unless one was too long already.
            if fits && (is_whole || was_too_long || length * 20 >= most * 19) || budget <= 1 {
                break;
            }
            was_too_long |= !fits;
            let margin = if fits { 98 } else { 96 - 4 * round };
            budget = budget.saturating_mul(most) / length * margin / 100;
        }
        self.send(Ok(best.map(|it| it.1).unwrap_or_default()))
    }

    fn body<T, W: Serialize>(
        self,
        reply: Reply<T>,
        wire: impl FnOnce(T, Meta) -> W,
        markdown: impl FnOnce(&T) -> String,
    ) -> serde_json::Result<Vec<u8>> {
        match self.format {
            Some(Format::Markdown) => {
                Ok((markdown(&reply.value) + &render::footer(&reply.meta, self.elapsed())).into_bytes())
            }
            _ => {
                let Reply { value, meta } = reply;
                let meta = Meta::new(meta, self.elapsed());
                serde_json::to_vec(&wire(value, meta))
            }
        }
    }

    /// Answers with something that is no workspace's, in JSON or, told in lines, in Markdown.
    pub fn plain<W: Serialize>(self, value: &W, markdown: impl FnOnce(&W) -> String) -> Response {
        self.send(match self.format {
            Some(Format::Markdown) => Ok(markdown(value).into_bytes()),
            _ => serde_json::to_vec(value),
        })
    }

    pub fn elapsed(self) -> Duration {
        self.came.elapsed()
    }

    /// A body in the form that was asked for.
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

    /// Gives a refusal its body; status and headers stay as they are.
    fn refuse(self, error: Error, refusal: Response) -> Response {
        let (mut parts, _) = refusal.into_parts();
        let (content_type, body) = match self.format {
            Some(Format::Markdown) => (MARKDOWN, render::problem(&error, self.elapsed()).into_bytes()),
            _ => (PROBLEM, serde_json::to_vec(&Problem::new(error, self.elapsed())).unwrap_or_default()),
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
            _ => Err(Refusal(Error::new(
                Code::NotAcceptable,
                "ask with `Accept: application/json` or `Accept: text/markdown`: those are the forms that there are",
            ))),
        }
    }
}

/// The outermost layer: notes when the request came and what it accepts, and gives refusals their body.
pub async fn speak(mut request: Request, next: Next) -> Response {
    let responder = Responder { format: accepted(request.headers()), came: Instant::now() };
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(responder);
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions_mut().remove::<Error>() {
        tracing::debug!(%error, "refused");
        response = responder.refuse(error, response);
    }
    // Every reply tells of the workspace at this moment, and some hold private code.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    tracing::debug!(%method, path, status = response.status().as_u16(), elapsed = ?responder.elapsed(), "answered");
    response
}

/// What a panic in a handler answers. What it said goes to the log, not to the client.
pub fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Refusal(internal()).into_response()
}

fn internal() -> Error {
    Error::new(
        Code::Internal,
        "this request met a fault of semdex; it is in the log, and other requests are not touched by it",
    )
}

/// A reply that comes in one form only.
pub fn with_type(content_type: &'static str, body: impl Into<axum::body::Body>) -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, content_type)], body.into()).into_response()
}

/// The form that the client likes best of those that there are. Without a word from it, JSON.
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
    if markdown > json {
        Some(Format::Markdown)
    } else if json > 0.0 {
        Some(Format::Json)
    } else {
        None
    }
}

/// How much a media type is wanted: the most specific range that covers it decides, as RFC 9110 has it.
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
    }
}
