//! Requests with an idempotency key are answered once. The same request with the same key gets the first reply again,
//! so that a client may repeat a request whose reply it did not receive.

use tracing::Instrument as _;

use super::Service;
use super::access::permitted;
use super::timed_answer::Caller;
use semdex_contract::Request;
use semdex_model::{Code, Error, Result};
use semdex_process::fault;
use semdex_workspace::journal::{self, KeptReply};
use semdex_workspace::{RequestKey, Workspace};

const LONGEST_KEY: usize = 255;

/// A checked key of a request.
#[derive(Debug, Clone)]
pub struct IdempotencyKey(RequestKey);

/// A reply as an interface writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenReply {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub media_type: String,
    /// The body.
    pub body: String,
}

/// A written reply, or an error that is not kept, because a repetition may succeed.
pub type Outcome = Result<WrittenReply>;

impl IdempotencyKey {
    /// A key, and everything that makes a request another one.
    pub fn new(key: &str, request: &[&[u8]]) -> Result<IdempotencyKey> {
        let wrong = |why: &str| Err(Error::new(Code::InvalidRequest, format!("the idempotency key {why}")));
        if key.trim().is_empty() {
            return wrong("is empty: send any text that no other request has, or none");
        }
        if key.len() > LONGEST_KEY {
            return wrong(&format!("has {} bytes: at most {LONGEST_KEY} are taken", key.len()));
        }
        let mut hasher = blake3::Hasher::new();
        for part in request {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
        Ok(IdempotencyKey(RequestKey { key: key.to_owned(), fingerprint: hasher.finalize().to_hex().to_string() }))
    }
}

/// Whether an error is the same if the request is repeated later, as far as the request decides it.
pub fn is_final(error: &Error) -> bool {
    let is_denied = matches!(
        error.code,
        Code::Unauthorized
            | Code::PermissionDenied
            | Code::InsufficientScope
            | Code::Untrusted
            | Code::ForbiddenRoot
            | Code::ModelUnavailable
            | Code::DiskFull
            | Code::UnknownWorkspace
    );
    error.code.lack().is_none() && !is_denied
}

/// Answers a request that is made once: the first reply to its key, or the reply of `answer`. Returns whether it is the
/// first reply again. The request is answered to its end even if the client leaves.
///
/// The key is recorded with the change itself, for the case that semdex ends between the change and its reply.
pub async fn answer_once<F>(
    service: &Service,
    request: Request,
    IdempotencyKey(key): IdempotencyKey,
    mut caller: Caller,
    answer: impl FnOnce(Request, Caller) -> F,
) -> Result<(WrittenReply, bool)>
where
    F: Future<Output = Outcome> + Send + 'static,
{
    let files: Vec<String> = request.files().into_iter().map(str::to_owned).collect();
    let workspace = match permitted(&service.workspaces, &request, &caller.client.access)? {
        Some(only) => only,
        None => service.workspaces.pick_for(request.common().workspace.as_deref(), &files)?,
    };
    // The first request with the key is waited for.
    let held = service.keys_in_use.of((workspace.id().to_owned(), key.key.clone())).lock_owned().await;
    if let Some(kept) = workspace.first_reply(&key.key).await? {
        return again(kept, &key).map(|reply| (reply, true));
    }
    made_before(&workspace, &key).await?;
    caller.client.request_key = Some(key.clone());
    let answer = answer(request, caller);
    let answered = async move {
        let outcome = answer.await;
        if let Ok(reply) = &outcome {
            keep(&workspace, key, reply).await;
        }
        drop(held);
        outcome
    };
    let answered = tokio::spawn(answered.in_current_span());
    let fault = |_| Error::new(Code::Internal, "this request met a fault of semdex, which is in the log");
    Ok((answered.await.map_err(fault)??, false))
}

fn again(kept: KeptReply, key: &RequestKey) -> Result<WrittenReply> {
    if kept.fingerprint != key.fingerprint {
        return Err(another(key));
    }
    Ok(WrittenReply { status: kept.status, media_type: kept.media_type, body: kept.body })
}

fn another(key: &RequestKey) -> Error {
    let detail = format!(
        "the idempotency key `{}` was sent with another request in the last 24 hours: send this one with a key of its \
         own; nothing was changed",
        key.key
    );
    Error::new(Code::InvalidContent, detail)
}

/// An error if a request with this key made its change, and semdex ended before it kept the reply.
async fn made_before(workspace: &Workspace, key: &RequestKey) -> Result<()> {
    let query = journal::Query { request_key: Some(key.key.clone()), limit: 1, ..journal::Query::default() };
    let made = workspace.changes(query).await?.entries.into_iter().next();
    let Some(made) = made.filter(|it| it.made_at > journal::now() - journal::KEPT_FOR_MS) else { return Ok(()) };
    if made.request_key.as_ref() != Some(key) {
        return Err(another(key));
    }
    let detail = format!(
        "nothing was written: the request with the idempotency key `{}` made the change `{}` before, and semdex ended \
         before it replied. `changes` shows it, `undo` takes it back",
        key.key, made.id
    );
    Err(Error::new(Code::AlreadyApplied, detail))
}

async fn keep(workspace: &Workspace, key: RequestKey, reply: &WrittenReply) {
    fault::point("first_reply.keep");
    let RequestKey { key, fingerprint } = key;
    let WrittenReply { status, media_type, body } = reply.clone();
    let kept = KeptReply { workspace: String::new(), key, fingerprint, status, media_type, body };
    if let Err(error) = workspace.keep_first_reply(kept).await {
        tracing::warn!(%error, "the reply to a request with an idempotency key could not be kept");
    }
}
