//! The connection: one task that writes what is queued, one that reads and hands out.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gen_lsp_types::{Notification, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::framing;
use super::incoming::{self, Incoming};

/// Batches of messages that wait to be written.
const QUEUE: usize = 256;
/// Requests that wait for their answers; more wait for a slot.
const IN_FLIGHT: usize = 64;
/// Answers to the server's own requests that it has not read yet. The reader must never wait for the writer (the
/// server may be waiting for the reader), so a server that lets more pile up is taken for broken.
const REPLIES: usize = 256;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("the language server is gone: {0}")]
    Closed(Arc<str>),
    #[error("the language server did not answer in time")]
    Timeout,
    #[error("the language server refused: {message} ({code})")]
    Refused { code: i64, message: String },
    #[error("the language server's answer was not understood: {0}")]
    Malformed(String),
}

pub(crate) type Configuration = Box<dyn Fn(Option<&str>) -> Value + Send + Sync>;
pub(crate) type Notified = Box<dyn Fn(&str, Value) + Send + Sync>;

/// What a client does with what a server asks and tells by itself. Called by the reading task: must not block.
pub struct Hooks {
    /// The settings of one section, for `workspace/configuration`.
    pub configuration: Configuration,
    /// Every notification, and every request that registers a capability or brings an edit: its method and parameters.
    pub notified: Notified,
}

/// A notification ready to be queued.
#[derive(Debug, Clone)]
pub struct Message(Vec<u8>);

impl Message {
    pub fn notification<N: Notification>(params: &N::Params) -> Message {
        Message::of(&json!({"jsonrpc": "2.0", "method": N::METHOD.as_str(), "params": params}))
    }

    /// One whose parameters no types describe.
    pub fn plain(method: &str, params: &Value) -> Message {
        Message::of(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn of(value: &Value) -> Message {
        let is_bare = value.get("params").is_some_and(Value::is_null);
        // JSON-RPC knows no `"params": null`, and some servers refuse it.
        let bare = value.as_object().filter(|_| is_bare).map(|it| {
            let mut bare = it.clone();
            bare.remove("params");
            Value::Object(bare)
        });
        Message(bare.as_ref().unwrap_or(value).to_string().into_bytes())
    }
}

/// A cloneable handle. The connection ends when the last one is dropped, or when a stream does.
#[derive(Debug, Clone)]
pub struct Client {
    outgoing: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    next_id: AtomicI64,
    in_flight: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    closed: watch::Sender<Option<Arc<str>>>,
}

type Waiter = oneshot::Sender<Result<Value, RequestError>>;

#[derive(Debug)]
enum Waiting {
    Open(HashMap<i64, Waiter>),
    Closed(Arc<str>),
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails all that wait and all that will ask. The first reason stays.
    fn close(&self, reason: &str) {
        let reason: Arc<str> = reason.into();
        let before = {
            let mut waiting = self.waiting();
            if matches!(*waiting, Waiting::Closed(_)) {
                return;
            }
            std::mem::replace(&mut *waiting, Waiting::Closed(reason.clone()))
        };
        if let Waiting::Open(waiters) = before {
            for waiter in waiters.into_values() {
                // The one who waits may have given up in this very moment.
                let _ = waiter.send(Err(RequestError::Closed(reason.clone())));
            }
        }
        self.closed.send_replace(Some(reason));
    }

    fn closed_error(&self) -> RequestError {
        match &*self.waiting() {
            Waiting::Closed(reason) => RequestError::Closed(reason.clone()),
            Waiting::Open(_) => RequestError::Closed("the connection is being closed".into()),
        }
    }

    fn answered(&self, id: i64, outcome: Result<Value, RequestError>) {
        let waiter = match &mut *self.waiting() {
            Waiting::Open(waiters) => waiters.remove(&id),
            Waiting::Closed(_) => None,
        };
        // None: it was cancelled, and answered all the same.
        if let Some(waiter) = waiter {
            let _ = waiter.send(outcome);
        }
    }
}

/// The connection ends with the task that holds this, be it by a panic.
struct EndsWith(Arc<Shared>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.close("the connection's task has ended");
    }
}

impl Client {
    /// Starts to speak over two streams. Call it within a tokio runtime.
    pub fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        hooks: Hooks,
    ) -> Client {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (reply, replies) = mpsc::channel(REPLIES);
        let shared = Arc::new(Shared {
            next_id: AtomicI64::new(1),
            in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
            waiting: Mutex::new(Waiting::Open(HashMap::new())),
            closed: watch::Sender::new(None),
        });
        tokio::spawn({
            let shared = shared.clone();
            async move {
                let _end = EndsWith(shared.clone());
                write(writer, queue, replies, shared.clone()).await;
            }
        });
        tokio::spawn({
            let shared = shared.clone();
            async move {
                let _end = EndsWith(shared.clone());
                let mut closed = shared.closed.subscribe();
                let reason = tokio::select! {
                    reason = read(reader, &hooks, &reply, &shared) => reason,
                    _ = closed.wait_for(Option::is_some) => return,
                };
                shared.close(&reason);
            }
        });
        Client { outgoing, shared }
    }

    /// Ends the connection: all that wait are answered why.
    pub fn close(&self, reason: &str) {
        self.shared.close(reason);
    }

    /// Whether a request waits for its answer.
    pub fn is_waited_for(&self) -> bool {
        matches!(&*self.shared.waiting(), Waiting::Open(waiters) if !waiters.is_empty())
    }

    /// Resolves when the connection has ended, with the reason.
    pub async fn closed(&self) -> Arc<str> {
        let mut closed = self.shared.closed.subscribe();
        match closed.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(reason)) => reason.clone(),
            _ => "the connection was dropped".into(),
        }
    }

    /// Waits for a place in the queue. What is sent with it leaves after all that was sent before.
    pub async fn slot(&self, deadline: Instant) -> Result<Slot, RequestError> {
        let take = async {
            let in_flight = self.shared.in_flight.clone().acquire_owned().await;
            let place = self.outgoing.clone().reserve_owned().await;
            match (in_flight, place) {
                (Ok(in_flight), Ok(place)) => Ok(self.slot_of(in_flight, place)),
                _ => Err(self.shared.closed_error()),
            }
        };
        tokio::time::timeout_at(deadline.into(), take).await.unwrap_or(Err(RequestError::Timeout))
    }

    /// A place in the queue, if one is free at this moment.
    pub fn try_slot(&self) -> Option<Slot> {
        let in_flight = self.shared.in_flight.clone().try_acquire_owned().ok()?;
        let place = self.outgoing.clone().try_reserve_owned().ok()?;
        Some(self.slot_of(in_flight, place))
    }

    fn slot_of(&self, in_flight: OwnedSemaphorePermit, place: mpsc::OwnedPermit<Vec<u8>>) -> Slot {
        Slot { client: self.clone(), in_flight, place }
    }

    pub async fn notify<N: Notification>(&self, params: &N::Params, deadline: Instant) -> Result<(), RequestError> {
        self.slot(deadline).await?.notify(&[Message::notification::<N>(params)]);
        Ok(())
    }

    pub async fn request<R: Request>(&self, params: &R::Params, deadline: Instant) -> Result<R::Result, RequestError> {
        self.slot(deadline).await?.request::<R>(&[], params)?.before(deadline).await
    }
}

/// A place in the queue: sending with it neither waits nor fails for want of room.
#[derive(Debug)]
pub struct Slot {
    client: Client,
    in_flight: OwnedSemaphorePermit,
    place: mpsc::OwnedPermit<Vec<u8>>,
}

impl Slot {
    /// Sends these one right after another.
    pub fn notify(self, messages: &[Message]) {
        let mut frames = Vec::new();
        messages.iter().for_each(|message| framing::append(&mut frames, &message.0));
        self.place.send(frames);
    }

    /// Sends a request and, right before it, what the server has to know first.
    pub fn request<R: Request>(self, before: &[Message], params: &R::Params) -> Result<Answer<R>, RequestError> {
        let body = json!({"method": R::METHOD.as_str(), "params": params});
        self.call(before, body).map(|pending| Answer { pending, kind: PhantomData })
    }

    /// One whose parameters and answer no types describe.
    pub fn plain(self, before: &[Message], method: &str, params: &Value) -> Result<Pending, RequestError> {
        self.call(before, json!({"method": method, "params": params}))
    }

    fn call(self, before: &[Message], mut body: Value) -> Result<Pending, RequestError> {
        let shared = self.client.shared.clone();
        let id = shared.next_id.fetch_add(1, Ordering::Relaxed);
        let (waiter, outcome) = oneshot::channel();
        match &mut *shared.waiting() {
            Waiting::Open(waiters) => waiters.insert(id, waiter),
            Waiting::Closed(reason) => return Err(RequestError::Closed(reason.clone())),
        };
        body["jsonrpc"] = "2.0".into();
        body["id"] = id.into();
        let body = Message::of(&body);
        let mut frames = Vec::new();
        before.iter().chain([&body]).for_each(|message| framing::append(&mut frames, &message.0));
        self.place.send(frames);
        Ok(Pending { id, is_cancelled: true, client: self.client, _in_flight: self.in_flight, outcome })
    }
}

/// An answer to come. Dropped before it came, the request is cancelled, unless it is `uncancelled`.
#[derive(Debug)]
pub struct Pending {
    id: i64,
    is_cancelled: bool,
    client: Client,
    _in_flight: OwnedSemaphorePermit,
    outcome: oneshot::Receiver<Result<Value, RequestError>>,
}

/// One of a known kind.
#[derive(Debug)]
pub struct Answer<R> {
    pending: Pending,
    kind: PhantomData<fn() -> R>,
}

impl Pending {
    /// Of a request that the server has to end, though nobody waits any more.
    pub fn uncancelled(mut self) -> Pending {
        self.is_cancelled = false;
        self
    }

    pub async fn before(mut self, deadline: Instant) -> Result<Value, RequestError> {
        match tokio::time::timeout_at(deadline.into(), &mut self.outcome).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(self.client.shared.closed_error()),
            Err(_) => Err(RequestError::Timeout),
        }
    }
}

impl<R: Request> Answer<R> {
    pub async fn before(self, deadline: Instant) -> Result<R::Result, RequestError> {
        let outcome = self.pending.before(deadline).await?;
        serde_json::from_value(outcome)
            .map_err(|error| RequestError::Malformed(format!("{} answered {error}", R::METHOD)))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let unanswered = match &mut *self.client.shared.waiting() {
            Waiting::Open(waiters) => waiters.remove(&self.id).is_some(),
            Waiting::Closed(_) => false,
        };
        if unanswered && self.is_cancelled {
            // A courtesy that saves the server work: with a full queue it is left out.
            let mut frame = Vec::new();
            framing::append(&mut frame, &Message::of(&incoming::cancel(self.id)).0);
            let _ = self.client.outgoing.try_send(frame);
        }
    }
}

/// Writes until nobody can queue any more, then closes the stream, which tells the server to end.
async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Vec<u8>>,
    mut replies: mpsc::Receiver<Vec<u8>>,
    shared: Arc<Shared>,
) {
    let mut closed = shared.closed.subscribe();
    let mut run = async || -> io::Result<()> {
        loop {
            let frames = tokio::select! {
                biased;
                Some(reply) = replies.recv() => reply,
                frames = queue.recv() => match frames {
                    Some(frames) => frames,
                    None => return writer.shutdown().await,
                },
            };
            writer.write_all(&frames).await?;
            writer.flush().await?;
        }
    };
    let reason = tokio::select! {
        result = run() => match result {
            Ok(()) => "the client has closed the connection".to_owned(),
            Err(error) => format!("its input is closed: {error}"),
        },
        _ = closed.wait_for(Option::is_some) => return,
    };
    shared.close(&reason);
}

/// Reads until the stream ends, and says why it did.
async fn read(
    reader: impl AsyncRead + Unpin,
    hooks: &Hooks,
    replies: &mpsc::Sender<Vec<u8>>,
    shared: &Shared,
) -> String {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    loop {
        let body = match framing::read(&mut reader).await {
            Ok(Some(body)) => body,
            Ok(None) => return "it closed its output".to_owned(),
            Err(error) => return format!("its output cannot be read: {error}"),
        };
        match incoming::parse(&body) {
            Ok(Incoming::Answer { id, outcome }) => shared.answered(id, outcome),
            Ok(Incoming::Notification { method, params }) => (hooks.notified)(&method, params),
            Ok(Incoming::Request { id, method, params }) => {
                if incoming::is_passed_on(&method) {
                    (hooks.notified)(&method, params.clone());
                }
                let mut frame = Vec::new();
                framing::append(&mut frame, &Message::of(&incoming::answer(hooks, &id, &method, &params)).0);
                if replies.try_send(frame).is_err() {
                    return "it asks without reading the answers".to_owned();
                }
            }
            Err(detail) => return format!("it sent {detail}"),
        }
    }
}
