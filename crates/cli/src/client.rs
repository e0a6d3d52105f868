//! One request to a running server.

use std::io;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::connection::{Connection, Message, Response};
use super::running_servers::Announcement;
use semdex_contract::{Effect, Name};

/// Longer than the longest wait that a request may ask for.
const DEADLINE: Duration = Duration::from_secs(180);
/// The default of the contract.
const VERIFY_TIMEOUT_MS: u64 = 600_000;
/// If nothing happens, the server sends a sign of life four times as often.
const SILENCE: Duration = Duration::from_secs(60);
const JSON: &str = "application/json";
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
    let row = call.name.call();
    let path = call.path();
    let (path, body) = match &call.body {
        Some((media_type, text)) => {
            (format!("{path}?{}", call.query()), Some((*media_type, text.clone().into_bytes())))
        }
        None if row.method.has_body() => (path, Some((JSON, serde_json::to_vec(&call.fields)?))),
        None => (format!("{path}?{}", call.query()), None),
    };
    let mut message = Message::new(row.method.name(), path, &agent);
    message.header("accept", if json { JSON } else { "text/markdown" });
    if let Some((media_type, body)) = body {
        message.body(media_type, body);
    }
    for (name, value) in [("x-session", &call.session), ("idempotency-key", &call.idempotency_key)] {
        if let Some(value) = value {
            message.header(name, value);
        }
    }
    said(server, message, deadline(call)).await
}

/// The payload of an agent's hook, unchanged.
pub(crate) async fn hook(
    server: &Announcement,
    agent: &str,
    payload: Vec<u8>,
    deadline: Duration,
) -> io::Result<String> {
    let mut message = Message::new("POST", format!("/v1/hooks/{agent}"), AGENT);
    message.body(JSON, payload);
    match said(server, message, deadline).await? {
        Said { well: true, text } => Ok(text),
        Said { text, .. } => Err(io::Error::other(text)),
    }
}

/// The server's events after the last one that was seen; or the server's refusal, as JSON.
pub(crate) async fn events(server: &Announcement, query: &str, last: &str) -> io::Result<Result<Response, String>> {
    let mut message = Message::new("GET", format!("/v1/events?{query}"), AGENT);
    message.header("accept", JSON);
    if !last.is_empty() {
        message.header("last-event-id", last);
    }
    let begun = async { Connection::open(server).await?.send(message).await };
    let reply = within(SILENCE, server, Box::pin(begun)).await?.with_patience(SILENCE);
    if reply.is_success() {
        return Ok(Ok(reply));
    }
    Ok(Err(reply.text().await?))
}

async fn said(server: &Announcement, message: Message, deadline: Duration) -> io::Result<Said> {
    let answered = async {
        let reply = Connection::open(server).await?.send(message).await?;
        let well = reply.is_success();
        Ok(Said { well, text: reply.text().await? })
    };
    within(deadline, server, Box::pin(answered)).await
}

async fn within<T>(
    deadline: Duration,
    server: &Announcement,
    answered: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let late = |_| {
        let Announcement { listening, pid, .. } = server;
        let detail = format!("the server at {listening} (process {pid}) does not answer within {deadline:?}");
        io::Error::new(io::ErrorKind::TimedOut, detail)
    };
    tokio::time::timeout(deadline, answered).await.map_err(late)?
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
