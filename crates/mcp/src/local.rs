//! Tool calls that this process answers.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures::FutureExt;
use serde_json::{Map, Value};
use tracing::Instrument;

use super::{Backend, Caller, describe_progress};
use semdex_contract::{Call, Name, Problem, Request, render};
use semdex_model::{Code, Error, Result, State};
use semdex_ops::Service;
use semdex_ops::first_replies::{IdempotencyKey, WrittenReply, answer_once, is_final};
use semdex_ops::timed_answer::timed_answer;

/// Answers the calls of tools with a service in this process.
#[derive(Clone)]
pub struct Local(pub Service);

impl Backend for Local {
    async fn answer(
        &self,
        name: Name,
        arguments: Map<String, Value>,
        caller: Caller,
        idempotency_key: Option<String>,
    ) -> Result<String, String> {
        let came = Instant::now();
        let request_id = caller.request_id.as_deref().map(str::to_owned);
        let span = tracing::info_span!("request", id = request_id.as_deref());
        let answer = AssertUnwindSafe(self.once(name.call(), arguments, caller, idempotency_key, came)).catch_unwind();
        let answer = answer.instrument(span.clone()).await;
        let fault = |_| {
            let detail = "this call met a fault of semdex; it is in the log, and other calls are not touched by it";
            Err(Error::new(Code::Internal, detail))
        };
        let refused = |error: Error| {
            span.in_scope(|| {
                tracing::debug!(code = error.code.name(), call = name.call().name, "refused");
                // The detail may quote the file and the request.
                tracing::trace!(%error, "refused");
            });
            refusal(error, request_id, came)
        };
        answer.unwrap_or_else(fault).unwrap_or_else(|error| Err(refused(error)))
    }

    async fn busy_with(&self, workspace: Option<&str>) -> Option<String> {
        let status = self.0.workspaces.pick(workspace).ok()?.status();
        if matches!(status.state, State::Ready | State::Degraded) {
            return None;
        }
        Some(match status.progress {
            Some(it) => describe_progress(&status.id, &it.stage, it.done as u64, it.total as u64),
            None => format!("{}: {}", status.id, status.state.name()),
        })
    }

    async fn has_several_workspaces(&self) -> bool {
        self.0.workspaces.list().len() > 1
    }

    /// Workspaces are opened and closed, and the client may be on another machine.
    fn root(&self) -> Option<String> {
        None
    }
}

fn refusal(error: Error, request_id: Option<String>, came: Instant) -> String {
    render::refusal(Problem { request_id, ..Problem::new(error) }, came)
}

/// The statuses under which replies are kept.
const ANSWERED: u16 = 200;
const REFUSED: u16 = 400;

impl Local {
    /// The reply or the refusal as Markdown. With an idempotency key, those of the first call with it.
    async fn once(
        &self,
        call: &Call,
        arguments: Map<String, Value>,
        caller: Caller,
        idempotency_key: Option<String>,
        came: Instant,
    ) -> Result<Result<String, String>> {
        let key = idempotency_key.map(|key| {
            let arguments: BTreeMap<&String, &Value> = arguments.iter().collect();
            let arguments = serde_json::to_vec(&arguments).unwrap_or_default();
            IdempotencyKey::new(&key, &[b"mcp", call.name.as_bytes(), &arguments])
        });
        let key = key.transpose()?;
        let request = call.from_arguments(arguments)?;
        let Some(key) = key.filter(|_| request.is_made_once()) else {
            return self.markdown(request, caller, came).await.map(Ok);
        };
        let own = self.clone();
        let answer = async move |request, caller: Caller| {
            let request_id = caller.request_id.as_deref().map(str::to_owned);
            let (status, body) = match own.markdown(request, caller, came).await {
                Ok(body) => (ANSWERED, body),
                Err(error) if !is_final(&error) => return Err(error),
                Err(error) => (REFUSED, refusal(error, request_id, came)),
            };
            Ok(WrittenReply { status, media_type: "text/markdown".to_owned(), body })
        };
        let (reply, _) = answer_once(&self.0, request, key, caller, answer).await?;
        Ok(if reply.status == ANSWERED { Ok(reply.body) } else { Err(reply.body) })
    }

    async fn markdown(&self, request: Request, caller: Caller, came: Instant) -> Result<String> {
        let max_tokens = request.common().max_tokens;
        let write = |reply| render::answer(reply, max_tokens.or(self.0.max_tokens), came);
        timed_answer(&self.0, request, caller, came, write).await
    }
}
