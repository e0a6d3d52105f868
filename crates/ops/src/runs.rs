//! `runs`: the calls about runs of a model. Who carries them out is above this module, and is given to the service.

use futures::future::BoxFuture;

use super::Service;
use super::query::RequestOptions;
use semdex_contract::{CancelRunQuery, RunQuery, RunReply, RunStarted, RunTask, StartRunRequest};
use semdex_model::{Code, Error, Result};
use semdex_workspace::Workspace;

/// Who carries runs out.
pub trait Runs: Send + Sync {
    /// Begins one. What can be said against it at once is an error.
    fn start<'a>(
        &'a self,
        service: &'a Service,
        workspace: Workspace,
        task: RunTask,
        client: Option<String>,
    ) -> BoxFuture<'a, Result<RunStarted>>;

    /// How far one of this workspace is.
    fn look(&self, workspace: &Workspace, run: &str, cursor: Option<&str>) -> Result<RunReply>;

    /// Ends one, and answers once that is done.
    fn cancel<'a>(
        &'a self,
        workspace: &'a Workspace,
        run: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<RunReply>>;

    /// Ends those of a workspace, or all and for good. Bounded in time.
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
