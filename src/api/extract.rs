//! Reading requests: bodies and queries into their types, and what is wrong with them said so that the next try is
//! right: which field, and the nearest known one.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use super::problem::Refusal;
use crate::model::{Code, Error};
use crate::ops::Ask;

/// A body above this is refused unread.
const LARGEST_BODY: usize = 16 << 20;
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// The request's JSON body. What a call takes stands there alone: a query beside it is refused.
#[derive(Debug)]
pub struct Posted<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Posted<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Posted<T>, Refusal> {
        let (parts, body) = request.into_parts();
        is_json(&parts.headers)?;
        if let Some(query) = parts.uri.query().filter(|it| !it.is_empty()) {
            let detail = format!("this call takes its options in the JSON body, not in the query (`?{query}`)");
            return Err(Error::new(Code::InvalidRequest, detail).into());
        }
        let bytes = read(&parts.headers, body).await?;
        is_object(&bytes)?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(refused_body)?;
        reader.end().map_err(|error| not_json(&error))?;
        Ok(Posted(value))
    }
}

/// Who asks, as it calls itself: its `User-Agent`.
#[derive(Debug)]
pub struct Client(Option<String>);

impl Client {
    /// The question as this client asks it.
    pub fn asks(self, ask: Ask) -> Ask {
        Ask { client: self.0, ..ask }
    }
}

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Client, Infallible> {
        const LONGEST: usize = 200;
        let given = parts.headers.get(header::USER_AGENT);
        let name = given.map(|it| String::from_utf8_lossy(it.as_bytes()).chars().take(LONGEST).collect::<String>());
        Ok(Client(name.filter(|it| !it.is_empty())))
    }
}

/// What a call takes beside a body of text, in the query.
pub trait TextBody: DeserializeOwned + Send {
    /// Of the body.
    const MEDIA_TYPE: &'static str;
}

/// A JSON body, or a text of its own media type with its options in the query.
#[derive(Debug)]
pub enum PostedOr<T, Q> {
    Json(Posted<T>),
    Text(Q, String),
}

impl<T: DeserializeOwned, Q: TextBody, S: Sync> FromRequest<S> for PostedOr<T, Q> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<PostedOr<T, Q>, Refusal> {
        match media_type(request.headers()).as_deref() {
            Some("application/json") => Posted::from_request(request, state).await.map(PostedOr::Json),
            Some(text) if text == Q::MEDIA_TYPE => {
                let (parts, body) = request.into_parts();
                let query = query(&parts)?;
                let bytes = read(&parts.headers, body).await?;
                let text = String::from_utf8(bytes.into())
                    .map_err(|_| Error::new(Code::InvalidRequest, "the body is not text in UTF-8"))?;
                Ok(PostedOr::Text(query, text))
            }
            given => {
                let given = given.map(|it| format!(", not `{it}`")).unwrap_or_default();
                let detail = format!("this call takes `Content-Type: application/json` or `{}`{given}", Q::MEDIA_TYPE);
                Err(Error::new(Code::UnsupportedMediaType, detail).into())
            }
        }
    }
}

/// The request's query.
#[derive(Debug)]
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Asked<T>, Refusal> {
        Ok(Asked(query(parts)?))
    }
}

fn query<T: DeserializeOwned>(parts: &Parts) -> Result<T, Error> {
    let query = parts.uri.query().unwrap_or_default();
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs)
        .map_err(|error| refused(&error.path().to_string(), &error.inner().to_string()))
}

/// What the body is said to be, its parameters aside.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let given = String::from_utf8_lossy(headers.get(header::CONTENT_TYPE)?.as_bytes()).into_owned();
    Some(given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

fn is_json(headers: &HeaderMap) -> Result<(), Error> {
    match media_type(headers).as_deref() {
        Some("application/json") => Ok(()),
        Some(other) => Err(Error::new(
            Code::UnsupportedMediaType,
            format!("this call takes `Content-Type: application/json`, not `{other}`"),
        )),
        None => Err(Error::new(Code::UnsupportedMediaType, "say `Content-Type: application/json`, and send JSON")),
    }
}

async fn read(headers: &HeaderMap, body: Body) -> Result<bytes::Bytes, Error> {
    let too_large = || Error::new(Code::TooLarge, format!("a body may have at most {} MiB", LARGEST_BODY >> 20));
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > LARGEST_BODY as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_DEADLINE, to_bytes(body, LARGEST_BODY)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_length_limit(&error) => Err(too_large()),
        Ok(Err(_)) => Err(Error::new(Code::InvalidRequest, "the body ended before it was complete")),
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", BODY_DEADLINE.as_secs());
            Err(Error::new(Code::RequestTimeout, detail))
        }
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<http_body_util::LengthLimitError>)
}

/// serde would take a list for the fields in their order.
fn is_object(bytes: &[u8]) -> Result<(), Error> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(());
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Ok(_) => {
            Err(Error::new(Code::InvalidRequest, "the body is JSON, but not an object: send `{…}` with the fields"))
        }
        Err(error) => Err(not_json(&error)),
    }
}

fn refused_body(error: serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = error.path().to_string();
    let error = error.into_inner();
    match error.classify() {
        serde_json::error::Category::Data => refused(&path, &error.to_string()),
        _ => not_json(&error),
    }
}

fn not_json(error: &serde_json::Error) -> Error {
    Error::new(Code::InvalidJson, format!("the body is not JSON: {error}"))
}

/// Turns serde's message into one that names the field by its path in the request and, of an unknown one, the
/// nearest that is known. The message's form is serde's own, the same for JSON and for queries.
fn refused(path: &str, message: &str) -> Error {
    let at = if path.is_empty() || path == "." { String::new() } else { format!("`{path}`: ") };
    for (kind, word) in [("unknown field `", "field"), ("unknown variant `", "value")] {
        let Some((name, rest)) = message.strip_prefix(kind).and_then(|it| it.rsplit_once("`, expected ")) else {
            continue;
        };
        let known: Vec<String> = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let nearest = nearest(name, &known);
        let hint = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "it is none of those known".to_owned(),
        };
        // The path of an unknown field ends in its name, which the message says already.
        let at = if word == "value" { at } else { within(path) };
        let detail = format!("{at}unknown {word} `{name}`: {hint} Known: {}", known.join(", "));
        return Error::new(Code::InvalidRequest, detail).suggesting(nearest.map(str::to_owned).into_iter().collect());
    }
    // The name of a type of ours tells nobody anything.
    let message = match message.split_once(", expected struct ") {
        Some((found, _)) => format!("{found}, expected an object"),
        None => message.to_owned(),
    };
    Error::new(Code::InvalidRequest, format!("{at}{message}"))
}

/// The path around the last field.
fn within(path: &str) -> String {
    path.rsplit_once('.').map(|(around, _)| format!("`{around}`: ")).unwrap_or_default()
}

/// The known name that was perhaps meant.
pub fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let score = |it: &str| strsim::jaro_winkler(&name.to_ascii_lowercase(), it);
    let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.7).then_some(best.as_str())
}

#[cfg(test)]
mod tests {
    use axum::http::Uri;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[expect(dead_code, reason = "only its reading is tested")]
        file: String,
        #[expect(dead_code, reason = "only its reading is tested")]
        autofix: Option<u8>,
        #[expect(dead_code, reason = "only its reading is tested")]
        mode: Option<Mode>,
        #[expect(dead_code, reason = "only its reading is tested")]
        edits: Option<Vec<Sample>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Append,
        Create,
    }

    async fn body(text: &str) -> Error {
        let request = Request::post("/").header("content-type", "application/json").body(Body::from(text.to_owned()));
        Posted::<Sample>::from_request(request.unwrap(), &()).await.unwrap_err().0
    }

    async fn query(text: &str) -> Error {
        let uri: Uri = format!("/?{text}").parse().unwrap();
        let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
        Asked::<Sample>::from_request_parts(&mut parts, &()).await.unwrap_err().0
    }

    fn check(error: &Error, code: Code, wanted: &[&str]) {
        assert_eq!(error.code, code, "{error}");
        for word in wanted {
            assert!(error.detail.contains(word), "{} lacks {word}", error.detail);
        }
    }

    #[tokio::test]
    async fn a_wrong_field_is_named_with_the_nearest_known() {
        let error = body(r#"{"fiel":"a"}"#).await;
        check(&error, Code::InvalidRequest, &["`fiel`", "did you mean `file`", "autofix"]);
        assert_eq!(error.help.suggestions, ["file"]);
        let nested = body(r#"{"file":"a","edits":[{"file":"b","autofx":3}]}"#).await;
        check(&nested, Code::InvalidRequest, &["`edits[0]`", "`autofx`", "`autofix`"]);
        check(&body(r#"{"file":"a","mode":"crate"}"#).await, Code::InvalidRequest, &["`mode`", "`crate`", "`create`"]);
        check(&body(r#"{"file":"a","zzzzzz":1}"#).await, Code::InvalidRequest, &["`zzzzzz`", "file, autofix"]);
        check(&query("file=a&autofx=3").await, Code::InvalidRequest, &["`autofx`", "`autofix`"]);
        // A name that holds what the message is split at.
        check(&body(r#"{"file":"a","`, expected `x":1}"#).await, Code::InvalidRequest, &["file, autofix"]);
    }

    #[tokio::test]
    async fn a_wrong_value_is_refused_by_its_field() {
        check(&body(r#"{"file":"a","autofix":95.5}"#).await, Code::InvalidRequest, &["`autofix`", "95.5"]);
        check(&body(r#"{"file":"a","autofix":300}"#).await, Code::InvalidRequest, &["`autofix`", "300"]);
        check(&body(r#"{"file":null}"#).await, Code::InvalidRequest, &["`file`", "null"]);
        check(&body(r#"{"autofix":1}"#).await, Code::InvalidRequest, &["missing field `file`"]);
        check(&body(r#"{"file":"a","file":"b"}"#).await, Code::InvalidRequest, &["duplicate field `file`"]);
        check(&body(r#"["a"]"#).await, Code::InvalidRequest, &["not an object"]);
        check(&body(r#"{"file":"a","edits":[3]}"#).await, Code::InvalidRequest, &["`edits[0]`", "expected an object"]);
        check(&query("file=a&autofix=x").await, Code::InvalidRequest, &["`autofix`", "invalid digit"]);
        check(&query("file=a&file=b").await, Code::InvalidRequest, &["duplicate field `file`"]);
        check(&query("file=a&mode=crate").await, Code::InvalidRequest, &["`mode`", "`create`"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_in_time_is_given_up() {
        let never = Body::from_stream(futures::stream::pending::<std::io::Result<bytes::Bytes>>());
        let request = Request::post("/").header("content-type", "application/json").body(never);
        let error = Posted::<Sample>::from_request(request.unwrap(), &()).await.unwrap_err().0;
        check(&error, Code::RequestTimeout, &["30 s"]);
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let endless = futures::stream::iter(std::iter::repeat_with(|| {
            std::io::Result::Ok(bytes::Bytes::from(vec![b' '; 1 << 20]))
        }));
        let request = Request::post("/").header("content-type", "application/json").body(Body::from_stream(endless));
        let error = Posted::<Sample>::from_request(request.unwrap(), &()).await.unwrap_err().0;
        check(&error, Code::TooLarge, &["16 MiB"]);
    }

    #[tokio::test]
    async fn what_is_not_json_is_told_apart() {
        check(&body("{").await, Code::InvalidJson, &["line 1"]);
        check(&body("").await, Code::InvalidJson, &["not JSON"]);
        check(&body(r#"{"file":"a"} x"#).await, Code::InvalidJson, &["trailing"]);
        check(&body("{\"file\":\"\\ud800\"}").await, Code::InvalidJson, &["not JSON"]);
    }
}
