//! Messages over standard input and output, one a line. The library passes over what is no JSON; here it is answered.

use std::io;
use std::mem;

use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, DEFAULT_MAX_LINE_LENGTH};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Empty, Stdin, Stdout};

use super::parameters;

/// Standard input, read here, and standard output, written by the library.
pub struct Stdio {
    input: BufReader<Stdin>,
    /// What is read of the next line.
    line: Vec<u8>,
    output: AsyncRwTransport<RoleServer, Empty, Stdout>,
    /// A refusal on its way out.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
}

impl Stdio {
    pub fn new() -> Stdio {
        let output = AsyncRwTransport::new_server(tokio::io::empty(), tokio::io::stdout());
        Stdio { input: BufReader::new(tokio::io::stdin()), line: Vec::new(), output, refusal: None }
    }

    /// The next line; absent at the end. Whoever gives it up loses nothing. Of one that is too long, the first bytes.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let read = self.input.fill_buf().await?;
            if read.is_empty() && self.line.is_empty() {
                return Ok(None);
            }
            let end = read.iter().position(|it| *it == b'\n');
            let ends = read.is_empty() || end.is_some();
            let room = (DEFAULT_MAX_LINE_LENGTH + 1).saturating_sub(self.line.len());
            self.line.extend(read.iter().take(end.unwrap_or(read.len()).min(room)));
            let length = end.map_or(read.len(), |it| it + 1);
            self.input.consume(length);
            if ends {
                return Ok(Some(mem::take(&mut self.line)));
            }
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.output.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Kept until it is written: this future is dropped whenever something else comes first.
            if let Some(refusal) = &mut self.refusal {
                refusal.await.ok()?;
                self.refusal = None;
            }
            let line = match self.next_line().await {
                Ok(line) => line?,
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    return None;
                }
            };
            match read(&line) {
                Ok(message) => return Some(message),
                Err(Some(refused)) => self.refusal = Some(Box::pin(self.output.send(*refused))),
                Err(None) => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await
    }
}

/// The message of a line, or what answers the line in its place: nothing for an empty one and for a notification.
fn read(line: &[u8]) -> Result<ClientJsonRpcMessage, Option<Box<ServerJsonRpcMessage>>> {
    // Some clients begin with a byte order mark.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    let refused = |error, id| Err(Some(Box::new(ServerJsonRpcMessage::error(error, id))));
    if line.is_empty() {
        return Err(None);
    }
    if line.len() > DEFAULT_MAX_LINE_LENGTH {
        let detail = format!("a message may have at most {} MiB", DEFAULT_MAX_LINE_LENGTH >> 20);
        return refused(ErrorData::invalid_request(detail, None), None);
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return refused(ErrorData::parse_error(format!("the line is not JSON: {error}"), None), None),
    };
    let id = value.get("id").and_then(|it| RequestId::deserialize(it).ok());
    let wrong = || parameters::refused(value.get("method")?.as_str()?, value.get("params"));
    match ClientJsonRpcMessage::deserialize(&value) {
        Ok(message) if !is_unread(&message) => Ok(message),
        Ok(message) => match wrong() {
            Some(error) => refused(error, id),
            None => Ok(message),
        },
        Err(_) if value.get("method").is_some() && value.get("id").is_none() => Err(None),
        Err(_) => {
            let detail = "the line is JSON, but no request, notification or response of JSON-RPC 2.0";
            refused(wrong().unwrap_or_else(|| ErrorData::invalid_request(detail, None)), id)
        }
    }
}

/// Whether the library could not read it as a request that it knows.
fn is_unread(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(it) if matches!(it.request, ClientRequest::CustomRequest(_)))
}
