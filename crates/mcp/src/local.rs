//! Tool calls that this process answers.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures::FutureExt;
use serde_json::{Map, Value};
use tracing::Instrument;

use super::{Backend, Caller, describe_progress};
use semdex_contract::{Call, Name, Problem, render};
use semdex_model::{Code, Error, Result, State};
use semdex_ops::Service;
use semdex_ops::timed_answer::timed_answer;

/// Answers the calls of tools with a service in this process.
#[derive(Clone)]
pub struct Local(pub Service);

impl Backend for Local {
    async fn answer(&self, name: Name, arguments: Map<String, Value>, caller: Caller) -> Result<String, String> {
        let came = Instant::now();
        let request_id = caller.request_id.as_deref().map(str::to_owned);
        let span = tracing::info_span!("request", id = request_id.as_deref());
        let answer = AssertUnwindSafe(self.markdown(name.call(), arguments, caller, came)).catch_unwind();
        let answer = answer.instrument(span.clone()).await;
        let fault = |_| {
            let detail = "this call met a fault of semdex; it is in the log, and other calls are not touched by it";
            Err(Error::new(Code::Internal, detail))
        };
        answer.unwrap_or_else(fault).map_err(|error| {
            span.in_scope(|| tracing::debug!(%error, call = name.call().name, "refused"));
            render::refusal(Problem { request_id, ..Problem::new(error) }, came)
        })
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

impl Local {
    async fn markdown(
        &self,
        call: &Call,
        arguments: Map<String, Value>,
        caller: Caller,
        came: Instant,
    ) -> Result<String> {
        let request = call.from_arguments(arguments)?;
        let max_tokens = request.common().max_tokens;
        let write = |reply| render::answer(reply, max_tokens.or(self.0.max_tokens), came);
        timed_answer(&self.0, request, caller, came, write).await
    }
}
