//! Messages over standard input and output, one a line. The library ignores lines that are not JSON; this module
//! answers them.

use std::{io, mem};

use futures::future::BoxFuture;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, DEFAULT_MAX_LINE_LENGTH};
use tokio::io::{AsyncBufReadExt, BufReader, Empty, Stdin, Stdout};

use super::message::read;

/// Standard input, read here, and standard output, written by the library.
pub(crate) struct Stdio {
    input: BufReader<Stdin>,
    /// The received part of the next line.
    line: Vec<u8>,
    output: AsyncRwTransport<RoleServer, Empty, Stdout>,
    /// An error that is still to be written.
    refusal: Option<BoxFuture<'static, io::Result<()>>>,
}

impl Stdio {
    pub(crate) fn new() -> Stdio {
        let output = AsyncRwTransport::new_server(tokio::io::empty(), tokio::io::stdout());
        Stdio { input: BufReader::new(tokio::io::stdin()), line: Vec::new(), output, refusal: None }
    }

    /// The next line; `None` at the end. Cancelling it loses nothing. Of a line that is too long, the first bytes.
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
            // Kept until it is written: this future is dropped whenever something else is first.
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
