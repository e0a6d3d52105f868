//! One connection to a running server, over HTTP/1.1. The other end proves that it is the user's server before anything
//! of the user is sent: a Unix socket by the user of its process, any other by the token (`POST /v1/hello`). The request
//! goes over the same connection, since another program may listen on the address by the time of the next.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;

use super::running_servers::Announcement;
use semdex_config::token::{self, Token};

/// A server proves itself from memory.
const PROOF_DEADLINE: Duration = Duration::from_secs(5);
/// More than any proof has.
const LONGEST_PROOF: usize = 4 << 10;

/// A request that is not sent yet.
pub(crate) struct Message {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Message {
    pub(crate) fn new(method: &'static str, path: String, agent: &str) -> Message {
        Message { method, path, headers: vec![("user-agent", agent.to_owned())], body: Vec::new() }
    }

    pub(crate) fn header(&mut self, name: &'static str, value: &str) {
        self.headers.push((name, value.to_owned()));
    }

    pub(crate) fn body(&mut self, media_type: &str, body: Vec<u8>) {
        self.header("content-type", media_type);
        self.body = body;
    }

    fn request(self, host: &str) -> io::Result<Request<Full<Bytes>>> {
        let builder = Request::builder().method(self.method).uri(self.path).header("host", host);
        let builder = self.headers.into_iter().fold(builder, |it, (name, value)| it.header(name, value));
        builder.body(Full::new(self.body.into())).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

/// A connection to a server that has proved itself.
pub(crate) struct Connection<'s> {
    server: &'s Announcement,
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    host: String,
    /// Sent with the request, if the server requires one.
    token: Option<Token>,
}

/// The task that reads and writes. The connection is closed when this is dropped, so that the server stops working on a
/// request that nobody waits for.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<'s> Connection<'s> {
    /// Connects to the server by its socket, else by its address. `ConnectionRefused` if that is not reached, or if
    /// another program listens there.
    pub(crate) async fn open(server: &'s Announcement) -> io::Result<Connection<'s>> {
        let unreached = match &server.socket {
            Some(path) => match over_socket(path).await {
                Ok(stream) => return Connection::over(server, stream, "localhost".to_owned()).await,
                // In another namespace the file may be missing, and the address may be reached.
                Err(error) if is_unreached(&error) => Some(error),
                Err(error) => return Err(unreachable(server, io::ErrorKind::ConnectionRefused, &error)),
            },
            None => None,
        };
        if let Some(path) = server.listening.strip_prefix("unix:") {
            let stream = over_socket(Path::new(path)).await;
            let stream = stream.map_err(|error| unreachable(server, io::ErrorKind::ConnectionRefused, &error))?;
            return Connection::over(server, stream, "localhost".to_owned()).await;
        }
        let host = server.listening.strip_prefix("http://").unwrap_or(&server.listening);
        let Some(file) = &server.token_file else {
            let why = unreached.map_or_else(|| "its socket has no path".to_owned(), |it| it.to_string());
            let detail = format!(
                "{why}; and without tokens (`--no-auth`) it cannot prove itself at its address: make `XDG_STATE_HOME` \
                 shorter, or start it without `--no-auth`"
            );
            return Err(unreachable(server, io::ErrorKind::ConnectionRefused, &detail));
        };
        let stream = TcpStream::connect(host).await;
        let stream = stream.map_err(|error| unreachable(server, io::ErrorKind::ConnectionRefused, &error))?;
        stream.set_nodelay(true)?;
        let token = token::load(file)?;
        let mut connection = Connection::over(server, stream, host.to_owned()).await?;
        connection.check(&token).await?;
        Ok(Connection { token: Some(token), ..connection })
    }

    async fn over<S>(server: &'s Announcement, stream: S, host: String) -> io::Result<Connection<'s>>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| aborted(server, &error))?;
        // What went wrong is also the outcome of the request.
        let driver = Driver(tokio::spawn(async move { drop(connection.await) }));
        Ok(Connection { server, sender, driver, host, token: None })
    }

    /// Asks for the proof that the server at this address knows the token.
    async fn check(&mut self, token: &Token) -> io::Result<()> {
        let nonce = token::nonce()?;
        let mut message = Message::new("POST", "/v1/hello".to_owned(), "semdex");
        message.body("application/json", json!({"nonce": nonce}).to_string().into_bytes());
        let expected = token.address_proof(&nonce, &self.server.listening);
        let request = message.request(&self.host)?;
        let answered = async {
            self.sender.ready().await?;
            let mut body = self.sender.send_request(request).await?.into_body();
            let mut text = Vec::new();
            while let Some(piece) = next(&mut body).await? {
                text.extend_from_slice(&piece);
                if text.len() > LONGEST_PROOF {
                    break;
                }
            }
            Ok::<_, hyper::Error>(text)
        };
        let answered = tokio::time::timeout(PROOF_DEADLINE, answered).await;
        let text = answered.ok().and_then(Result::ok).unwrap_or_default();
        let answer: Value = serde_json::from_slice(&text).unwrap_or_default();
        // Nothing of the answer is shown: another program may have chosen it.
        if answer["address_proof"] == expected {
            return Ok(());
        }
        let why = "it did not prove that it knows the token: another program listens on its port, or it is of an older \
                   version; end it and ask again";
        Err(unreachable(self.server, io::ErrorKind::ConnectionRefused, &why))
    }

    /// Sends the request. Returns when the head of the response has arrived.
    pub(crate) async fn send(mut self, mut message: Message) -> io::Result<Response> {
        if let Some(token) = &self.token {
            message.header("authorization", &format!("Bearer {}", token.as_str()));
        }
        let request = message.request(&self.host)?;
        let server = self.server;
        self.sender.ready().await.map_err(|error| aborted(server, &error))?;
        let response = self.sender.send_request(request).await.map_err(|error| aborted(server, &error))?;
        let is_success = response.status().is_success();
        let of = server.clone();
        Ok(Response { is_success, body: response.into_body(), server: of, patience: None, _driver: self.driver })
    }
}

/// A response whose body is still being received.
pub(crate) struct Response {
    is_success: bool,
    body: Incoming,
    server: Announcement,
    patience: Option<Duration>,
    _driver: Driver,
}

impl Response {
    /// The same, but a pause of this length is the end.
    pub(crate) fn with_patience(self, patience: Duration) -> Response {
        Response { patience: Some(patience), ..self }
    }

    pub(crate) fn is_success(&self) -> bool {
        self.is_success
    }

    pub(crate) async fn text(mut self) -> io::Result<String> {
        let mut text = Vec::new();
        while let Some(piece) = self.piece().await? {
            text.extend_from_slice(&piece);
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The next piece of the body. `None` at its end.
    pub(crate) async fn piece(&mut self) -> io::Result<Option<Bytes>> {
        let piece = next(&mut self.body);
        let piece = match self.patience {
            Some(patience) => tokio::time::timeout(patience, piece).await?,
            None => piece.await,
        };
        piece.map_err(|error| aborted(&self.server, &error))
    }
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    loop {
        match poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await.transpose()? {
            None => return Ok(None),
            // Trailers carry nothing.
            Some(frame) => {
                if let Ok(piece) = frame.into_data() {
                    return Ok(Some(piece));
                }
            }
        }
    }
}

/// Connects to a socket whose listener is a process of this user.
async fn over_socket(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    let peer = stream.peer_cred()?.uid();
    if peer == rustix::process::geteuid().as_raw() {
        return Ok(stream);
    }
    let detail = format!("a process of another user (uid {peer}) listens on {}: nothing was sent", path.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, detail))
}

fn is_unreached(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn aborted(server: &Announcement, error: &hyper::Error) -> io::Error {
    // The outermost message names only the kind of the error; its source says what went wrong.
    let mut why: &dyn std::error::Error = error;
    while let Some(source) = why.source() {
        why = source;
    }
    unreachable(server, io::ErrorKind::ConnectionAborted, &why)
}

fn unreachable(server: &Announcement, kind: io::ErrorKind, why: &dyn std::fmt::Display) -> io::Error {
    let Announcement { listening, pid, .. } = server;
    io::Error::new(kind, format!("the server at {listening} (process {pid}) does not answer: {why}"))
}
