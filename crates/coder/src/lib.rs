//! Runs of a model: from a task in plain words to a verified change. Each run is a loop of reply, change and
//! verification, with the same calls as for clients. The files end verified, or as they were.

mod apply_edits;
#[cfg(feature = "bedrock")]
pub mod bedrock;
mod commit;
mod feedback;
pub mod model;
pub(crate) mod model_reply;
mod prompt;
mod run;
mod run_record;
mod service_calls;
mod verification;
mod visible_files;
mod workspace_map;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use model::Model;
use run_record::RunRecord;
use semdex_contract::{RunReply, RunStarted, RunTask};
use semdex_model::{Code, Coverage, Error, Result};
use semdex_ops::{Runs, Service};
use semdex_workspace::Workspace;

/// How many runs are kept.
const KEPT: usize = 100;
/// How many runs may execute concurrently.
const MOST_RUNNING: usize = 8;
/// How long to wait until a cancelled run has restored its files. After that it continues in the background.
const ENDING: Duration = Duration::from_secs(30);

/// Executes runs with a model.
pub struct Coder {
    model: Arc<dyn Model>,
    /// The runs, the newest first.
    records: Mutex<VecDeque<Arc<RunRecord>>>,
    stop: CancellationToken,
}

impl Coder {
    /// An executor for this model.
    pub fn new(model: Arc<dyn Model>) -> Coder {
        Coder { model, records: Mutex::default(), stop: CancellationToken::new() }
    }

    async fn begin(&self, service: &Service, workspace: Workspace, task: RunTask) -> Result<Arc<RunRecord>> {
        let task = run::checked(&workspace, task).await?;
        self.model.check().await.map_err(|error| error.in_workspace(meta_of(&workspace)))?;
        let model = task.model.clone().unwrap_or_else(|| self.model.default_name().to_owned());
        let record = Arc::new(RunRecord::new(workspace, model, &self.stop));
        self.enter(record.clone())?;
        let job = run::Run { service: service.clone(), model: self.model.clone(), task, record: record.clone() };
        tokio::spawn(job.carry_out());
        Ok(record)
    }

    /// Only one run at a time in a workspace, because two would verify each other's edits.
    fn enter(&self, record: Arc<RunRecord>) -> Result<()> {
        let mut records = self.lock();
        let running: Vec<&Arc<RunRecord>> = records.iter().filter(|it| it.is_running()).collect();
        if let Some(other) = running.iter().find(|it| it.workspace().id() == record.workspace().id()) {
            let detail = format!(
                "the run `{}` is under way in this workspace: wait for its end, or `DELETE /v1/runs/{}`",
                other.run, other.run
            );
            return Err(Error::new(Code::Busy, detail));
        }
        if running.len() >= MOST_RUNNING || self.stop.is_cancelled() {
            return Err(Error::new(Code::Busy, format!("{} runs are under way: try again later", running.len())));
        }
        records.push_front(record);
        while records.len() > KEPT {
            let Some(oldest) = records.iter().rposition(|it| !it.is_running()) else { break };
            records.remove(oldest);
        }
        Ok(())
    }

    fn find(&self, workspace: &Workspace, run: &str) -> Result<Arc<RunRecord>> {
        let token = run.trim().to_ascii_uppercase();
        let known = |it: &&Arc<RunRecord>| it.run == token && it.workspace().id() == workspace.id();
        self.lock().iter().find(known).cloned().ok_or_else(|| {
            let detail = format!("no run `{run}` of this workspace is known: the last {KEPT} of this process are");
            Error::new(Code::UnknownRun, detail).in_workspace(meta_of(workspace))
        })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<RunRecord>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn meta_of(workspace: &Workspace) -> semdex_model::Meta {
    workspace.meta(None, workspace.status().revision, Coverage::default())
}

impl Runs for Coder {
    fn start<'a>(
        &'a self,
        service: &'a Service,
        workspace: Workspace,
        task: RunTask,
        _client: Option<String>,
    ) -> BoxFuture<'a, Result<RunStarted>> {
        Box::pin(async move {
            let meta = meta_of(&workspace).into();
            let record = self.begin(service, workspace, task).await?;
            Ok(RunStarted { run: record.run.clone(), meta })
        })
    }

    fn look(&self, workspace: &Workspace, run: &str, cursor: Option<&str>) -> Result<RunReply> {
        self.find(workspace, run)?.reply(cursor)
    }

    fn cancel<'a>(
        &'a self,
        workspace: &'a Workspace,
        run: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<RunReply>> {
        Box::pin(async move {
            let record = self.find(workspace, run)?;
            record.cancel.cancel();
            // A run that takes longer is still reported as running.
            let _ = tokio::time::timeout(ENDING, record.ended()).await;
            record.reply(cursor)
        })
    }

    fn leave<'a>(&'a self, workspace: Option<&'a Workspace>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if workspace.is_none() {
                self.stop.cancel();
            }
            let concerned = |it: &&Arc<RunRecord>| {
                it.is_running() && workspace.is_none_or(|workspace| it.workspace().id() == workspace.id())
            };
            let records: Vec<Arc<RunRecord>> = self.lock().iter().filter(concerned).cloned().collect();
            records.iter().for_each(|it| it.cancel.cancel());
            let all = futures::future::join_all(records.iter().map(|it| it.ended()));
            if tokio::time::timeout(ENDING, all).await.is_err() {
                tracing::error!("a run did not end within {ENDING:?}: its changes stay, and are in the journal");
            }
        })
    }
}
