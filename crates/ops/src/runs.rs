//! The calls about runs of a model. The implementation is in a crate above, and is passed to the service.

use futures::future::BoxFuture;

use super::Service;
use super::query::RequestOptions;
use semdex_contract::{CancelRunQuery, RunQuery, RunReply, RunStarted, RunTask, StartRunRequest};
use semdex_model::{Code, Error, Result};
use semdex_workspace::Workspace;

/// Executes runs of a model.
pub trait Runs: Send + Sync {
    /// Starts a run. Problems that are known immediately are errors.
    fn start<'a>(
        &'a self,
        service: &'a Service,
        workspace: Workspace,
        task: RunTask,
        client: Option<String>,
    ) -> BoxFuture<'a, Result<RunStarted>>;

    /// The state of a run of this workspace.
    fn look(&self, workspace: &Workspace, run: &str, cursor: Option<&str>) -> Result<RunReply>;

    /// Cancels a run, and returns after that is done.
    fn cancel<'a>(
        &'a self,
        workspace: &'a Workspace,
        run: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<RunReply>>;

    /// Cancels the runs of a workspace. Without a workspace, cancels all and accepts no new run. It has a deadline.
    fn leave<'a>(&'a self, workspace: Option<&'a Workspace>) -> BoxFuture<'a, ()>;
}

pub(crate) async fn start(
    service: &Service,
    workspace: Workspace,
    request: StartRunRequest,
    options: &RequestOptions,
) -> Result<RunStarted> {
    let task = request.checked()?;
    runs(service)?.start(service, workspace, task, options.client.clone()).await
}

pub(crate) fn look(
    service: &Service,
    workspace: &Workspace,
    request: &RunQuery,
    options: &RequestOptions,
) -> Result<RunReply> {
    runs(service)?.look(workspace, &request.run, options.cursor.as_deref())
}

pub(crate) async fn cancel(
    service: &Service,
    workspace: &Workspace,
    request: &CancelRunQuery,
    options: &RequestOptions,
) -> Result<RunReply> {
    runs(service)?.cancel(workspace, &request.run, options.cursor.as_deref()).await
}

fn runs(service: &Service) -> Result<&dyn Runs> {
    service.runs.as_deref().ok_or_else(|| {
        let detail = "this semdex has no client for a model: it was built without the feature `bedrock` (`cargo build \
                      --features bedrock` has it)";
        Error::new(Code::ModelUnavailable, detail)
    })
}
