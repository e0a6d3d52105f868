//! One request to a running server.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Map, Value};

use super::running_servers::Announcement;
use semdex_contract::{Effect, Name};

/// Longer than the longest wait that a request may ask for.
const DEADLINE: Duration = Duration::from_secs(180);
/// The default of the contract.
const VERIFY_TIMEOUT_MS: u64 = 600_000;
/// If nothing happens, the server sends a sign of life four times as often.
const SILENCE: Duration = Duration::from_secs(60);
/// The client name of the command line in the journal.
const AGENT: &str = concat!("semdex-cli/", env!("CARGO_PKG_VERSION"));

/// A call of the contract, with its fields in the body or in the query, as the table of calls says.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub name: Name,
    /// The subject in the path: a file or a run.
    pub(super) about: Option<String>,
    pub fields: Map<String, Value>,
    /// A body of a text format that the call accepts besides JSON, with its media type; the fields are then in the
    /// query.
    pub(super) body: Option<(&'static str, String)>,
    /// What distinguishes the client from others.
    pub(super) session: Option<String>,
    /// The request is made once, however often it is sent with this key.
    pub(super) idempotency_key: Option<String>,
}

impl Call {
    pub(crate) fn of(name: Name) -> Call {
        Call { name, about: None, fields: Map::new(), body: None, session: None, idempotency_key: None }
    }

    /// Sets the subject in the path.
    pub(crate) fn about(self, named: String) -> Call {
        Call { about: Some(named), ..self }
    }

    fn path(&self) -> String {
        let path = self.name.call().path;
        match path.rsplit_once('{') {
            Some((before, _)) => format!("{before}{}", escaped(self.about.as_deref().unwrap_or_default())),
            None => path.to_owned(),
        }
    }

    pub(crate) fn sending(self, media_type: &'static str, text: String) -> Call {
        Call { body: Some((media_type, text)), ..self }
    }

    /// Sets a field if it has a value.
    pub(crate) fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Call {
        if let Some(value) = value {
            self.fields.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Whether the call changes nothing, so that it can be repeated.
    pub(crate) fn only_reads(&self) -> bool {
        self.name.call().effect == Effect::Read || self.fields.get("dry_run") == Some(&Value::Bool(true))
    }

    fn query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.fields {
            match value {
                Value::String(text) => query.append_pair(name, text),
                Value::Array(several) => {
                    let texts = several.iter().filter_map(Value::as_str);
                    query.extend_pairs(texts.map(|it| (name, it)))
                }
                other => query.append_pair(name, &other.to_string()),
            };
        }
        query.finish()
    }
}

/// The reply of the server, in the requested format.
#[derive(Debug)]
pub(crate) struct Said {
    /// It is an answer, not a problem.
    pub well: bool,
    pub text: String,
}

/// `client`: the client's name, if it is not the command line itself.
pub(crate) async fn call(server: &Announcement, call: &Call, json: bool, client: Option<&str>) -> io::Result<Said> {
    let agent = client.map_or_else(
        || AGENT.to_owned(),
        |it| {
            // A header allows only these characters.
            let name: String = it.chars().filter(|it| it.is_ascii_graphic() || *it == ' ').collect();
            format!("{AGENT} ({name})")
        },
    );
    let (client, base) = connection(server, Some(deadline(call)), agent)?;
    let url = format!("{base}{}", call.path());
    let row = call.name.call();
    let method = Method::from_bytes(row.method.name().as_bytes()).map_err(io::Error::other)?;
    let mut request = match &call.body {
        Some((media_type, text)) => {
            let request = client.request(method, format!("{url}?{}", call.query()));
            request.header("content-type", *media_type).body(text.clone())
        }
        None if row.method.has_body() => client.request(method, url).json(&call.fields),
        None => client.request(method, format!("{url}?{}", call.query())),
    };
    request = request.header("accept", if json { "application/json" } else { "text/markdown" });
    for (name, value) in [("x-session", &call.session), ("idempotency-key", &call.idempotency_key)] {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    said(server, request).await
}

/// The payload of an agent's hook, unchanged.
pub(crate) async fn hook(
    server: &Announcement,
    agent: &str,
    payload: Vec<u8>,
    deadline: Duration,
) -> io::Result<String> {
    let (client, base) = connection(server, Some(deadline), AGENT.to_owned())?;
    let request =
        client.post(format!("{base}/v1/hooks/{agent}")).header("content-type", "application/json").body(payload);
    match said(server, request).await? {
        Said { well: true, text } => Ok(text),
        Said { text, .. } => Err(io::Error::other(text)),
    }
}

/// The server's events after the last one that was seen; or the server's refusal, as JSON.
pub(crate) async fn events(
    server: &Announcement,
    query: &str,
    last: &str,
) -> io::Result<Result<reqwest::Response, String>> {
    let (client, base) = connection(server, None, AGENT.to_owned())?;
    let mut request = client.get(format!("{base}/v1/events?{query}")).header("accept", "application/json");
    if !last.is_empty() {
        request = request.header("last-event-id", last);
    }
    let reply = sent(server, request).await?;
    if reply.status().is_success() {
        return Ok(Ok(reply));
    }
    Ok(Err(reply.text().await.map_err(|error| unreachable(server, &error))?))
}

/// An HTTP client for a server, and the prefix of its URLs. Without a deadline a reply may last forever.
fn connection(server: &Announcement, deadline: Option<Duration>, agent: String) -> io::Result<(reqwest::Client, &str)> {
    let builder = reqwest::Client::builder().no_proxy().user_agent(agent);
    let builder = match deadline {
        Some(deadline) => builder.timeout(deadline),
        None => builder.read_timeout(SILENCE),
    };
    let (builder, base) = match server.listening.strip_prefix("unix:") {
        Some(path) => (builder.unix_socket(PathBuf::from(path)), "http://localhost"),
        None => (builder, server.listening.as_str()),
    };
    Ok((builder.build().map_err(io::Error::other)?, base))
}

async fn said(server: &Announcement, request: reqwest::RequestBuilder) -> io::Result<Said> {
    let reply = sent(server, request).await?;
    let well = reply.status().is_success();
    let text = reply.text().await.map_err(|error| unreachable(server, &error))?;
    Ok(Said { well, text })
}

async fn sent(server: &Announcement, mut request: reqwest::RequestBuilder) -> io::Result<reqwest::Response> {
    if let Some(file) = &server.token_file {
        let token = std::fs::read_to_string(file)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
        request = request.bearer_auth(token.trim());
    }
    request.send().await.map_err(|error| unreachable(server, &error))
}

/// For a call with a time-out of its own, the deadline is later than that time-out.
fn deadline(call: &Call) -> Duration {
    if call.name != Name::Verify {
        return DEADLINE;
    }
    let timeout = call.fields.get("timeout_ms").and_then(Value::as_u64).unwrap_or(VERIFY_TIMEOUT_MS);
    DEADLINE + Duration::from_millis(timeout)
}

/// Everything except what RFC 3986 allows in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A file name as a part of a path: its slashes remain.
fn escaped(file: &str) -> String {
    utf8_percent_encode(file, ESCAPED).to_string()
}

/// Why a server does not answer: `ConnectionRefused` if it cannot be reached, else `TimedOut` or `ConnectionAborted`.
fn unreachable(server: &Announcement, error: &reqwest::Error) -> io::Error {
    let Announcement { listening, pid, .. } = server;
    // The outermost message names only the address; its source says what went wrong.
    let mut why: &dyn std::error::Error = error;
    while let Some(source) = why.source() {
        why = source;
    }
    let kind = if error.is_connect() {
        io::ErrorKind::ConnectionRefused
    } else if error.is_timeout() {
        io::ErrorKind::TimedOut
    } else {
        io::ErrorKind::ConnectionAborted
    };
    io::Error::new(kind, format!("the server at {listening} (process {pid}) does not answer: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_in_a_path() {
        let call = Call::of(Name::PutOverlay).about("src/a b#?%.rs".to_owned());
        assert_eq!(call.path(), "/v1/overlays/src/a%20b%23%3F%25.rs");
    }

    #[test]
    fn a_query_holds_what_was_said() {
        let call =
            Call::of(Name::Symbols).with("query", Some("a&b c")).with("limit", Some(3)).with("file", None::<String>);
        assert_eq!(call.query(), "limit=3&query=a%26b+c");
        let call = Call::of(Name::Map).with("focus", Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(call.query(), "focus=a&focus=b");
    }
}
