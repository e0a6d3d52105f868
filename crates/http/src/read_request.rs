//! Reads requests: the checks of a body, and the part of a request that holds a call.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};

use super::grant::Grant;
use super::response_format::JSON;
use semdex_contract::{Call, check_escapes};
use semdex_model::{Code, Error};
use semdex_ops::Access;

/// A larger body is refused without being read.
pub(crate) const LARGEST_BODY: usize = 16 << 20;
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// The request of a call: a body in JSON or in the text format of the call, or else a query; and the file of the path.
pub(crate) async fn request_for(call: &Call, request: Request) -> Result<semdex_contract::Request, Error> {
    let (mut parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let mut request = if !call.method.has_body() {
        call.from_query(&query)?
    } else if let Some(media_type) = text_type(call, &parts.headers)? {
        let bytes = read(&parts.headers, body).await?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| Error::new(Code::InvalidRequest, "the body is not text in UTF-8"))?;
        call.from_text(&query, media_type, text)?
    } else if query.is_empty() {
        call.from_json(&read(&parts.headers, body).await?)?
    } else {
        let detail = format!("this call takes its options in the JSON body, not in the query (`?{query}`)");
        return Err(Error::new(Code::InvalidRequest, detail));
    };
    if call.named_in_path().is_some() {
        check_escapes("the path", parts.uri.path())?;
        let unreadable = |_| Error::new(Code::InvalidRequest, "the name in the path is not UTF-8");
        let Path(named) = Path::<String>::from_request_parts(&mut parts, &()).await.map_err(unreadable)?;
        request.name_in_path(named);
    }
    Ok(request)
}

/// The media type of the body, if it is one of the text formats that the call accepts besides JSON. `None` for JSON, an
/// error for anything else.
fn text_type(call: &Call, headers: &HeaderMap) -> Result<Option<&'static str>, Error> {
    let given = media_type(headers);
    let texts = call.shape.texts;
    if let Some(text) = texts.iter().find(|it| Some(**it) == given.as_deref()) {
        return Ok(Some(text));
    }
    let detail = match given.as_deref() {
        Some(JSON) => return Ok(None),
        given if !texts.is_empty() => {
            let given = given.map(|it| format!(", not `{it}`")).unwrap_or_default();
            let texts: Vec<String> = texts.iter().map(|it| format!("`{it}`")).collect();
            format!("this call takes `Content-Type: {JSON}` or {}{given}", texts.join(", "))
        }
        Some(given) => format!("this call takes `Content-Type: {JSON}`, not `{given}`"),
        None => format!("say `Content-Type: {JSON}`, and send JSON"),
    };
    Err(Error::new(Code::UnsupportedMediaType, detail))
}

/// The longest name of a session that is taken.
const LONGEST_SESSION: usize = 200;

/// The session that the header `X-Session` names.
pub(crate) fn session(headers: &HeaderMap) -> Option<String> {
    let given = String::from_utf8_lossy(headers.get("x-session")?.as_bytes()).chars().take(LONGEST_SESSION).collect();
    Some(given).filter(|it: &String| !it.is_empty())
}

/// What the guard allows the request.
pub(crate) fn access(extensions: &Extensions) -> Access {
    extensions.get::<Grant>().map(|it| it.access.clone()).unwrap_or_default()
}

/// The client: its `User-Agent`, and its session.
#[derive(Debug)]
pub(crate) struct Client(pub semdex_ops::Client);

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Client, Infallible> {
        const LONGEST: usize = 200;
        let given = parts.headers.get(header::USER_AGENT);
        let name = given.map(|it| String::from_utf8_lossy(it.as_bytes()).chars().take(LONGEST).collect::<String>());
        let session = session(&parts.headers);
        let access = access(&parts.extensions);
        Ok(Client(semdex_ops::Client { name: name.filter(|it| !it.is_empty()), session, access, request_key: None }))
    }
}

/// The media type of the body, without parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let given = String::from_utf8_lossy(headers.get(header::CONTENT_TYPE)?.as_bytes()).into_owned();
    Some(given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
}

pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<bytes::Bytes, Error> {
    read_at_most(LARGEST_BODY, headers, body).await
}

pub(crate) async fn read_at_most(largest: usize, headers: &HeaderMap, body: Body) -> Result<bytes::Bytes, Error> {
    let too_large = || {
        let bound = match largest >> 20 {
            0 => format!("{largest} bytes"),
            mebibytes => format!("{mebibytes} MiB"),
        };
        Error::new(Code::TooLarge, format!("a body may have at most {bound}"))
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > largest as u64) {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY_DEADLINE, to_bytes(body, largest)).await {
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

#[cfg(test)]
mod tests {
    use super::*;

    async fn refused(request: Request) -> Error {
        let open = Call::named("open").unwrap();
        request_for(open, request).await.unwrap_err()
    }

    fn check(error: &Error, code: Code, wanted: &str) {
        assert_eq!(error.code, code, "{error}");
        assert!(error.detail.contains(wanted), "{} lacks {wanted}", error.detail);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_in_time_is_given_up() {
        let never = Body::from_stream(futures::stream::pending::<std::io::Result<bytes::Bytes>>());
        let request = Request::post("/").header("content-type", "application/json").body(never);
        let error = refused(request.unwrap()).await;
        check(&error, Code::RequestTimeout, "30 s");
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let endless = futures::stream::iter(std::iter::repeat_with(|| {
            std::io::Result::Ok(bytes::Bytes::from(vec![b' '; 1 << 20]))
        }));
        let request = Request::post("/").header("content-type", "application/json").body(Body::from_stream(endless));
        let error = refused(request.unwrap()).await;
        check(&error, Code::TooLarge, "16 MiB");
    }
}
