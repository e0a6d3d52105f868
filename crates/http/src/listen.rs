//! The socket: bound to an address or a path, with deadlines for slow clients and a shutdown that answers open
//! requests.

use std::fs::File;
use std::io;
use std::net::TcpListener as StdTcpListener;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::fs::{FlockOperation, flock};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::connections::{Connections, Place};
use super::drain_body;
use super::grant::Via;
use super::head_refusal::{self, HeadRefusal};
use super::write_deadline::WriteDeadline;
use semdex_config::{LONGEST_SOCKET_PATH, Listen, create_private_dir};
use semdex_model::{Code, Error};

const HEAD_DEADLINE: Duration = Duration::from_secs(10);
/// How long a new connection waits for those that give way to it.
const LONGEST_CLOSING_MS: u32 = 50;
/// How long open requests may take to end after the server is asked to stop.
const FAREWELL: Duration = Duration::from_secs(30);

/// A bound socket. When it is dropped, its file is removed.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
    /// The socket of the user's own programs.
    Own(UnixListener, SocketFile),
}

impl Listener {
    /// Binds; must be called inside of a tokio runtime.
    pub fn bind(listen: &Listen) -> io::Result<Listener> {
        let socket = match listen {
            Listen::Tcp(address) => {
                let socket = StdTcpListener::bind(address)?;
                socket.set_nonblocking(true)?;
                Socket::Tcp(TcpListener::from_std(socket)?)
            }
            Listen::Unix(path) => {
                let (socket, file) = bind_unix(path)?;
                socket.set_nonblocking(true)?;
                Socket::Unix(UnixListener::from_std(socket)?, file)
            }
        };
        Ok(Listener { socket })
    }

    /// Binds the socket in the state directory by which the user's own programs reach this process, whatever it listens
    /// on besides; must be called inside of a tokio runtime. Removes the sockets of servers that were killed.
    pub fn bind_own(state_dir: &Path) -> io::Result<Listener> {
        let directory = state_dir.join("run");
        create_private_dir(&directory)?;
        let turn = File::create(directory.join("lock"))?;
        flock(&turn, FlockOperation::LockExclusive)?;
        remove_stale(&directory)?;
        let path = directory.join(format!("{}.sock", std::process::id()));
        if path.as_os_str().len() > LONGEST_SOCKET_PATH {
            let message = format!("{}: a socket's path has at most {LONGEST_SOCKET_PATH} bytes", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
        }
        // Process ids of different namespaces may be equal.
        if path.exists() {
            let message = format!("another server listens on {}", path.display());
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        }
        let lock = File::create(path.with_extension("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let (socket, mut file) = bind_unix(&path)?;
        socket.set_nonblocking(true)?;
        file.lock = Some(lock);
        Ok(Listener { socket: Socket::Own(UnixListener::from_std(socket)?, file) })
    }

    /// The file of a socket in the file system.
    pub fn socket_file(&self) -> Option<&Path> {
        match &self.socket {
            Socket::Tcp(_) => None,
            Socket::Unix(_, file) | Socket::Own(_, file) => Some(&file.path),
        }
    }

    /// As clients name it: `http://127.0.0.1:41237` or `unix:PATH`.
    pub fn address(&self) -> io::Result<String> {
        match &self.socket {
            Socket::Tcp(socket) => Ok(format!("http://{}", socket.local_addr()?)),
            Socket::Unix(_, file) | Socket::Own(_, file) => Ok(format!("unix:{}", file.path.display())),
        }
    }

    /// Whether it is a socket file, which its mode guards instead of a token.
    pub fn is_unix(&self) -> bool {
        self.socket_file().is_some()
    }

    /// Serves until it is asked to stop. Then it accepts no new connections, answers open requests, and returns.
    pub async fn serve(self, router: Router, stop: CancellationToken) {
        let connections = TaskTracker::new();
        let open = Connections::default();
        loop {
            for _ in 0..LONGEST_CLOSING_MS {
                if !open.are_many_closing() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = self.accept() => accepted,
            };
            match accepted {
                Ok((Stream::Tcp(stream), via)) => {
                    let cut = CancellationToken::new();
                    let line = Line::new(stop.clone(), cut.clone(), open.of_stranger(cut));
                    connections.spawn(converse(stream, via, router.clone(), line))
                }
                Ok((Stream::Unix(stream), via)) => {
                    // A peer without credentials is gone.
                    let user = stream.peer_cred().map_or(u32::MAX, |it| it.uid());
                    match open.of_user(user) {
                        Some(place) => {
                            let line = Line::new(stop.clone(), CancellationToken::new(), place);
                            connections.spawn(converse(stream, via, router.clone(), line))
                        }
                        None => connections.spawn(one_too_many(stream)),
                    }
                }
                Err(error) => {
                    // Usually there are no free file descriptors: open connections have to end first.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
        }
        drop(self);
        connections.close();
        if tokio::time::timeout(FAREWELL, connections.wait()).await.is_err() {
            tracing::warn!("requests still in flight after {FAREWELL:?} are given up");
        }
    }

    async fn accept(&self) -> io::Result<(Stream, Via)> {
        match &self.socket {
            Socket::Tcp(socket) => {
                let (stream, _) = socket.accept().await?;
                // Replies are written whole; waiting for more data only delays their last packet.
                stream.set_nodelay(true)?;
                let via = Via::Tcp(stream.local_addr()?.ip());
                Ok((Stream::Tcp(stream), via))
            }
            Socket::Unix(socket, _) => Ok((Stream::Unix(socket.accept().await?.0), Via::Unix)),
            Socket::Own(socket, _) => loop {
                let (stream, _) = socket.accept().await?;
                let peer = stream.peer_cred().map(|it| it.uid());
                if peer.as_ref().is_ok_and(|it| *it == rustix::process::geteuid().as_raw()) {
                    return Ok((Stream::Unix(stream), Via::Unix));
                }
                tracing::warn!(?peer, "a connection of another user is closed");
            },
        }
    }
}

/// The connection of a request, for replies without an end of their own.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The server was asked to stop.
    pub stopping: CancellationToken,
    /// Closes the connection immediately, whatever is still to be sent.
    pub cut: CancellationToken,
    /// Its number in this process.
    number: u64,
    place: Arc<Place>,
}

impl Line {
    fn new(stopping: CancellationToken, cut: CancellationToken, place: Place) -> Line {
        static LINES: AtomicU64 = AtomicU64::new(1);
        Line { stopping, cut, number: LINES.fetch_add(1, Ordering::Relaxed), place: Arc::new(place) }
    }

    /// A request of the connection was permitted.
    pub(crate) fn is_known(&self) {
        self.place.is_known();
    }

    /// The session of a client that does not name itself.
    pub(crate) fn session(&self) -> String {
        format!("connection-{}", self.number)
    }
}

enum Stream {
    Tcp(tokio::net::TcpStream),
    Unix(tokio::net::UnixStream),
}

/// One connection, to its end.
async fn converse<S>(stream: S, via: Via, router: Router, line: Line)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (stop, cut) = (line.stopping.clone(), line.cut.clone());
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(via);
        request.extensions_mut().insert(line.clone());
        router.clone().oneshot(request.map(Body::new))
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE);
    let mut connection = builder.serve_connection(TokioIo::new(HeadRefusal::new(WriteDeadline::new(stream))), service);
    let ended = tokio::select! {
        outcome = &mut connection => Some(outcome),
        () = stop.cancelled() => None,
        () = cut.cancelled() => return,
    };
    let outcome = match ended {
        Some(outcome) => outcome,
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                outcome = &mut connection => outcome,
                () = cut.cancelled() => return,
            }
        }
    };
    match outcome {
        Ok(()) => {}
        Err(error) if error.is_timeout() => {
            let parts = connection.into_parts();
            // Without a byte of a head the connection was only idle. The next request on it must not read this reply.
            if !parts.read_buf.is_empty() {
                too_slow(parts.io.into_inner().into_inner()).await;
            }
        }
        Err(error) if error.is_parse() => {
            tracing::debug!(%error, "a connection ended");
            read_out(connection.into_parts().io.into_inner().into_inner()).await;
        }
        Err(error) => tracing::debug!(%error, "a connection ended"),
    }
}

/// hyper only closes the connection when a head does not arrive in time; this reply says why.
async fn too_slow<S: AsyncWrite + Unpin>(mut stream: S) {
    let detail = format!("the request's head did not arrive within {} s", HEAD_DEADLINE.as_secs());
    let reply = head_refusal::refusal(StatusCode::REQUEST_TIMEOUT, Error::new(Code::RequestTimeout, detail));
    refuse(&mut stream, &reply).await;
}

async fn one_too_many<S: AsyncWrite + Unpin>(mut stream: S) {
    let detail = "your programs have too many connections open: close some, and ask again";
    let reply = head_refusal::refusal(StatusCode::TOO_MANY_REQUESTS, Error::new(Code::Busy, detail));
    refuse(&mut stream, &reply).await;
}

async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, reply: &[u8]) {
    let farewell = async {
        stream.write_all(reply).await?;
        stream.shutdown().await
    };
    if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(1), farewell).await {
        tracing::debug!(%error, "a refused client was gone");
    }
}

/// Otherwise a client that still sends its refused request would meet a closed connection instead of the reply.
async fn read_out<S: AsyncRead + Unpin>(stream: S) {
    let mut rest = stream.take(drain_body::MOST_BYTES as u64);
    // A slower client meets the closed connection.
    let _ = tokio::time::timeout(drain_body::LONGEST, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
}

/// The file of a socket, removed when it is dropped, unless another process has replaced it.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: u64,
    /// Locked while the socket lives.
    lock: Option<File>,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|it| it.ino() == self.inode) {
            // If the file remains, it is stale, and the next server replaces it.
            let _ = std::fs::remove_file(&self.path);
            if self.lock.is_some() {
                let _ = std::fs::remove_file(self.path.with_extension("lock"));
            }
        }
    }
}

/// Removes the sockets of servers that are gone. The kernel has unlocked their files; a connection would block if the
/// server is alive and stopped.
fn remove_stale(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|it| it != "sock") {
            continue;
        }
        let lock = path.with_extension("lock");
        let is_alive = File::open(&lock).is_ok_and(|it| flock(&it, FlockOperation::NonBlockingLockShared).is_err());
        if !is_alive {
            std::fs::remove_file(&path)?;
            // If it remains, the next server of this process id uses it.
            let _ = std::fs::remove_file(&lock);
        }
    }
    Ok(())
}

/// Binds a socket that only its owner may use. A stale socket file, on which nobody listens, is replaced; any other
/// file never.
fn bind_unix(path: &Path) -> io::Result<(StdUnixListener, SocketFile)> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            let message = format!("{} exists and is not a socket: it is left alone", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        Ok(_) => match StdUnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            Ok(_) => {
                let message = format!("another server listens on {}", path.display());
                return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
            }
            Err(error) => return Err(error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Private from the start: a mode set after binding would leave a gap.
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let bound = StdUnixListener::bind(path);
    rustix::process::umask(before);
    let socket = bound?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    let inode = std::fs::symlink_metadata(path)?.ino();
    Ok((socket, SocketFile { path: path.to_owned(), inode, lock: None }))
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;

    use super::super::write_deadline;

    use super::*;

    fn line(stop: CancellationToken) -> Line {
        Line::new(stop, CancellationToken::new(), Connections::default().of_user(0).unwrap())
    }

    /// What a client reads that sends this and nothing more.
    async fn slow_client(sends: &[u8]) -> String {
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let router = Router::new().route("/", axum::routing::get(async || "fine"));
        let conversation = tokio::spawn(converse(server, Via::Unix, router, line(CancellationToken::new())));
        client.write_all(sends).await.unwrap();
        let mut reply = String::new();
        client.read_to_string(&mut reply).await.unwrap();
        conversation.await.unwrap();
        reply
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_client_takes_nothing_is_closed() {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let router = Router::new().route("/", axum::routing::get(async || "much ".repeat(10_000)));
        let conversation = tokio::spawn(converse(server, Via::Unix, router, line(CancellationToken::new())));
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let begin = tokio::time::Instant::now();
        // Slow, but not without progress.
        let mut some = [0; 500];
        client.read_exact(&mut some).await.unwrap();
        for _ in 0..3 {
            tokio::task::yield_now().await;
            tokio::time::advance(write_deadline::PATIENCE / 2).await;
            client.read_exact(&mut some).await.unwrap();
        }
        conversation.await.unwrap();
        assert_eq!(begin.elapsed(), write_deadline::PATIENCE * 5 / 2);
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        assert!(rest.len() < 10_000, "{}", rest.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_does_not_come_in_time_is_given_up() {
        let late = slow_client(b"GET / HTTP/1.1\r\nHost: x\r\nX-Sl").await;
        assert!(late.starts_with("HTTP/1.1 408 ") && late.contains("\"code\":\"request_timeout\""), "{late}");
        for field in
            ["x-request-id: ", "cache-control: no-store", "x-content-type-options: nosniff", "\"request_id\":\""]
        {
            assert!(late.contains(field), "{field}: {late}");
        }
        let second = slow_client(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET").await;
        assert!(second.starts_with("HTTP/1.1 200 ") && second.contains("HTTP/1.1 408 "), "{second}");
        // Only idle, before the first request or after one.
        assert_eq!(slow_client(b"").await, "");
        let idle = slow_client(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(idle.ends_with("\r\n\r\nfine"), "{idle}");
    }

    #[tokio::test]
    async fn what_is_in_flight_is_answered_before_the_end() {
        let (began, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begins, released) = (began.clone(), release.clone());
        let handler = async move || {
            begins.notify_one();
            released.notified().await;
            "fine"
        };
        let router = Router::new().route("/", axum::routing::get(handler));
        let stop = CancellationToken::new();
        let (mut client, server) = tokio::io::duplex(1 << 16);
        let conversation = tokio::spawn(converse(server, Via::Unix, router, line(stop.clone())));
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        began.notified().await;
        stop.cancel();
        release.notify_one();
        let mut reply = String::new();
        client.read_to_string(&mut reply).await.unwrap();
        assert!(reply.ends_with("fine"), "{reply}");
        conversation.await.unwrap();
    }

    #[test]
    fn a_stale_socket_is_replaced_and_any_other_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("semdex.sock");
        let (first, file) = bind_unix(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(bind_unix(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);

        // A killed server does not remove its file.
        drop(first);
        let _ = std::mem::ManuallyDrop::new(file);
        let (second, file) = bind_unix(&path).unwrap();
        drop((second, file));
        assert!(!path.exists());

        std::fs::write(&path, "precious").unwrap();
        assert_eq!(bind_unix(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }
}
