//! Refusals of malformed request heads. hyper answers most of them itself, without a body; this module replaces hyper's
//! reply by a refusal in the usual form.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::{HeaderMap, StatusCode, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::problem;
use super::request_id::{self, RequestId};
use super::response_format::PROBLEM;
use semdex_contract::Problem;
use semdex_model::{Code, Error};

/// The stream of a connection, for hyper to read and to write.
pub(crate) struct HeadRefusal<S> {
    stream: S,
    /// The rest of the reply that replaces hyper's own.
    refusal: Vec<u8>,
}

impl<S> HeadRefusal<S> {
    pub(crate) fn new(stream: S) -> HeadRefusal<S> {
        HeadRefusal { stream, refusal: Vec::new() }
    }

    pub(crate) fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsyncWrite + Unpin> HeadRefusal<S> {
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.refusal))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.refusal.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadRefusal<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

/// Several buffers are written as one, so that hyper's reply is in one piece.
impl<S: AsyncWrite + Unpin> AsyncWrite for HeadRefusal<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_refusal(context))?;
        let bytes = match own_refusal(bytes) {
            Some((0, status)) => {
                // Written when hyper flushes, before it closes the connection.
                this.refusal = refusal(status, of_status(status));
                return Poll::Ready(Ok(bytes.len()));
            }
            Some((before, _)) => bytes.get(..before).unwrap_or(bytes),
            None => bytes,
        };
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_refusal(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_refusal(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

/// Where hyper's own reply to a malformed head begins in these bytes, and its status. Replies of the router are never
/// taken for one, because each has an id.
fn own_refusal(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    const LONGEST: usize = 256;
    const BEGIN: &[u8] = b"HTTP/1.1 4";
    let from = bytes.len().saturating_sub(LONGEST);
    let tail = bytes.get(from..)?.strip_suffix(b"\r\n\r\n")?;
    let start = tail.windows(BEGIN.len()).rposition(|it| it == BEGIN)?;
    let mut lines = std::str::from_utf8(tail.get(start..)?).ok()?.split("\r\n");
    let status = StatusCode::from_bytes(lines.next()?.as_bytes().get(9..12)?).ok()?;
    let is_own = matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    let is_plain = |it: &str| it == "content-length: 0" || it.starts_with("date: ") || it.starts_with("connection: ");
    (is_own && lines.all(is_plain)).then_some((from + start, status))
}

fn of_status(status: StatusCode) -> Error {
    match status {
        StatusCode::URI_TOO_LONG => Error::new(
            Code::TooLarge,
            "the path and the query are too long: together they may have at most 65534 bytes",
        ),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            Error::new(Code::TooLarge, "the request's head is too large: it may have at most 100 fields and 400 KiB")
        }
        _ => {
            Error::new(Code::InvalidRequest, "the request's head is not HTTP/1.1: `METHOD PATH HTTP/1.1`, then fields")
        }
    }
}

/// A refusal in the form in which it is sent over a connection that ends with it.
pub(crate) fn refusal(status: StatusCode, error: Error) -> Vec<u8> {
    let id = RequestId::of(&HeaderMap::new());
    tracing::debug!(code = error.code.name(), id = id.as_str(), "refused");
    let request_id = Some(id.as_str().to_owned());
    let problem = Problem { status: Some(status.as_u16()), request_id, ..problem::over_http(error) };
    let body = serde_json::to_string(&problem).unwrap_or_default();
    let fields = [
        (header::CONTENT_TYPE, PROBLEM),
        (header::CONTENT_LENGTH, &body.len().to_string()),
        (header::CACHE_CONTROL, "no-store"),
        (request_id::HEADER, id.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONNECTION, "close"),
    ];
    let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{fields}\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reply_of_hypers_own_is_replaced() {
        let own = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                   date: Tue, 24 Nov 2026 17:00:00 GMT\r\n\r\n";
        let found = |text: &str| own_refusal(text.as_bytes()).map(|(at, status)| (at, status.as_u16()));
        assert_eq!(found(own), Some((0, 431)));
        assert_eq!(found(&format!("{{\"a\":1}}{own}")), Some((7, 431)));
        assert_eq!(found(&format!("{own}{{}}")), None);
        assert_eq!(found(&own.replace("date", "x-request-id")), None);
        assert_eq!(found(&own.replace("431", "404")), None);
        assert_eq!(found(&own.replace("length: 0", "length: 5")), None);
        assert_eq!(found("\r\n\r\n"), None);
    }
}
