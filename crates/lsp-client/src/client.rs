//! The connection: one task writes the queued messages, one task reads and dispatches.

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
/// Requests without an answer yet. Further requests wait for a slot.
const IN_FLIGHT: usize = 64;
/// Answers to the server's own requests that it has not read yet. The reader must never wait for the writer, since the
/// server may be waiting for the reader. A server that lets more answers accumulate counts as broken.
const REPLIES: usize = 256;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The connection ended, for this reason.
    #[error("the language server is gone: {0}")]
    Closed(Arc<str>),
    /// The deadline passed.
    #[error("the language server did not answer in time")]
    Timeout,
    /// The server answered with an error.
    #[error("the language server refused: {message} ({code})")]
    Refused {
        /// The error code of JSON-RPC or LSP.
        code: i64,
        /// The server's message.
        message: String,
    },
    /// The answer is not of the expected type.
    #[error("the language server's answer was not understood: {0}")]
    Malformed(String),
}

pub(crate) type Configuration = Box<dyn Fn(Option<&str>) -> Value + Send + Sync>;
pub(crate) type Notified = Box<dyn Fn(&str, Value) + Send + Sync>;

/// Callbacks for the server's own requests and notifications. The reading task calls them, so they must not block.
pub struct Hooks {
    /// Returns the settings of one section, for `workspace/configuration`.
    pub configuration: Configuration,
    /// Gets the method and parameters of every notification, and of every request that registers a capability or
    /// applies an edit.
    pub notified: Notified,
}

/// A notification ready to be queued.
#[derive(Debug, Clone)]
pub struct Message(Vec<u8>);

impl Message {
    /// A typed notification.
    pub fn notification<N: Notification>(params: &N::Params) -> Message {
        Message::of(&json!({"jsonrpc": "2.0", "method": N::METHOD.as_str(), "params": params}))
    }

    /// A notification without a Rust type for its parameters.
    pub fn plain(method: &str, params: &Value) -> Message {
        Message::of(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn of(value: &Value) -> Message {
        let is_bare = value.get("params").is_some_and(Value::is_null);
        // JSON-RPC does not allow `"params": null`, and some servers refuse it.
        let bare = value.as_object().filter(|_| is_bare).map(|it| {
            let mut bare = it.clone();
            bare.remove("params");
            Value::Object(bare)
        });
        Message(bare.as_ref().unwrap_or(value).to_string().into_bytes())
    }
}

/// A cloneable handle. The connection ends when the last handle is dropped or a stream ends.
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

    /// Fails all pending and all future requests. The first reason is kept.
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
                // The receiver may have been dropped in the meantime.
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
        // None: the request was cancelled, and the server answered nevertheless.
        if let Some(waiter) = waiter {
            let _ = waiter.send(outcome);
        }
    }
}

/// Closes the connection when the task that holds this ends, even by a panic.
struct EndsWith(Arc<Shared>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.close("the connection's task has ended");
    }
}

impl Client {
    /// Starts a connection over two streams. Call it within a tokio runtime.
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

    /// Ends the connection: all pending requests fail with this reason.
    pub fn close(&self, reason: &str) {
        self.shared.close(reason);
    }

    /// Whether a request is pending.
    pub fn is_waited_for(&self) -> bool {
        matches!(&*self.shared.waiting(), Waiting::Open(waiters) if !waiters.is_empty())
    }

    /// Resolves with the reason when the connection has ended.
    pub async fn closed(&self) -> Arc<str> {
        let mut closed = self.shared.closed.subscribe();
        match closed.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(reason)) => reason.clone(),
            _ => "the connection was dropped".into(),
        }
    }

    /// Waits for a slot in the queue. Messages that are sent with it leave after all messages that were sent before.
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

    /// A slot in the queue, if one is free now.
    pub fn try_slot(&self) -> Option<Slot> {
        let in_flight = self.shared.in_flight.clone().try_acquire_owned().ok()?;
        let place = self.outgoing.clone().try_reserve_owned().ok()?;
        Some(self.slot_of(in_flight, place))
    }

    fn slot_of(&self, in_flight: OwnedSemaphorePermit, place: mpsc::OwnedPermit<Vec<u8>>) -> Slot {
        Slot { client: self.clone(), in_flight, place }
    }

    /// Waits for a slot and sends a notification.
    pub async fn notify<N: Notification>(&self, params: &N::Params, deadline: Instant) -> Result<(), RequestError> {
        self.slot(deadline).await?.notify(&[Message::notification::<N>(params)]);
        Ok(())
    }

    /// Waits for a slot, sends a request, and waits for its answer.
    pub async fn request<R: Request>(&self, params: &R::Params, deadline: Instant) -> Result<R::Result, RequestError> {
        self.slot(deadline).await?.request::<R>(&[], params)?.before(deadline).await
    }
}

/// A slot in the queue: sending with it neither waits nor fails because the queue is full.
#[derive(Debug)]
pub struct Slot {
    client: Client,
    in_flight: OwnedSemaphorePermit,
    place: mpsc::OwnedPermit<Vec<u8>>,
}

impl Slot {
    /// Sends these notifications without another message between them.
    pub fn notify(self, messages: &[Message]) {
        let mut frames = Vec::new();
        messages.iter().for_each(|message| framing::append(&mut frames, &message.0));
        self.place.send(frames);
    }

    /// Sends a request and, directly before it, notifications that the server needs first.
    pub fn request<R: Request>(self, before: &[Message], params: &R::Params) -> Result<Answer<R>, RequestError> {
        let body = json!({"method": R::METHOD.as_str(), "params": params});
        self.call(before, body).map(|pending| Answer { pending, kind: PhantomData })
    }

    /// A request without a Rust type for its parameters and result.
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

/// A pending request. Dropping it before the answer arrives cancels the request, unless it is `uncancelled`.
#[derive(Debug)]
pub struct Pending {
    id: i64,
    is_cancelled: bool,
    client: Client,
    _in_flight: OwnedSemaphorePermit,
    outcome: oneshot::Receiver<Result<Value, RequestError>>,
}

/// A pending request with a typed result.
#[derive(Debug)]
pub struct Answer<R> {
    pending: Pending,
    kind: PhantomData<fn() -> R>,
}

impl Pending {
    /// Does not cancel the request when this is dropped, for servers that must not be sent a cancellation.
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
            // Cancelling only saves the server work: if the queue is full, it is skipped.
            let mut frame = Vec::new();
            framing::append(&mut frame, &Message::of(&incoming::cancel(self.id)).0);
            let _ = self.client.outgoing.try_send(frame);
        }
    }
}

/// Writes until all senders are dropped. Then it closes the stream, which is the server's signal to end.
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

/// Reads until the stream ends, and returns the reason.
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
