//! Dispatches each call of the contract to its handler, for all interfaces.

use std::path::PathBuf;
use std::sync::Arc;

use super::client::Client;
use super::query::RequestOptions;
use super::reply_cache::ReplyCache;
use super::runs::Runs;
use super::trees::Tree;
use super::{
    access, baseline, changes, commit, describe, diagnostics, edit, explore, gate, git, impact, map, nearest_file,
    open, overlays, relations, rename, runs, stats, status, symbols, undo, verify, write,
};
use semdex_contract::{Reply, Request};
use semdex_model::{Error, Result};
use semdex_workspace::{NamedLocks, Workspace, Workspaces};

/// The state that answers calls.
#[derive(Clone)]
pub struct Service {
    /// The open workspaces, and the means to open others.
    pub workspaces: Workspaces,
    /// A call may open a workspace only in or below one of these directories.
    pub roots: Arc<[PathBuf]>,
    /// The default for `max_tokens` of replies in Markdown.
    pub max_tokens: Option<usize>,
    /// Executes runs of a model. None if runs are not available.
    pub(super) runs: Option<Arc<dyn Runs>>,
    replies: Arc<ReplyCache>,
    /// The idempotency keys whose requests are being answered, by workspace and key: a second request with the key waits
    /// for the first.
    pub(super) keys_in_use: Arc<NamedLocks<(String, String)>>,
}

impl Service {
    /// A service without runs of a model; [`Service::with_runs`] adds them.
    pub fn new(workspaces: Workspaces, roots: Arc<[PathBuf]>, max_tokens: Option<usize>) -> Service {
        let (replies, keys_in_use) = Default::default();
        Service { workspaces, roots, max_tokens, runs: None, replies, keys_in_use }
    }

    /// The same service with runs of a model.
    pub fn with_runs(self, runs: Arc<dyn Runs>) -> Service {
        Service { runs: Some(runs), ..self }
    }
}

/// Answers a request of this client.
pub async fn answer(service: &Service, request: Request, mut client: Client) -> Result<Reply> {
    let mut common = request.common();
    if let Some(only) = access::permitted(&service.workspaces, &request, &client.access)? {
        common.workspace = Some(only.id().to_owned());
    }
    client.session = request.session().map(str::to_owned).or(client.session).filter(|it| !it.is_empty());
    if let Some(rest) = service.replies.continued(request.name(), &common)? {
        return Ok(rest);
    }
    let tree = Tree::new(&request, &common, &client);
    let pick = || tree.pick(&service.workspaces, &service.roots);
    // Calls the handler of the request with the workspace of the request.
    macro_rules! handle {
        ($call:ident, $handler:path, $request:expr) => {{
            let workspace = pick()?;
            workspace.follow_settings().await;
            let options = RequestOptions::new(&common, client)?;
            match Box::pin($handler(&workspace, $request, &options)).await {
                Ok(reply) => tree.naming_root(Reply::$call(reply), &service.workspaces, &workspace),
                Err(error) => return Err(refused(&workspace, error).await),
            }
        }};
    }
    Ok(service.replies.keep(match request {
        Request::Open(it) => handle!(Open, open::open, it),
        Request::Explore(it) => handle!(Explore, explore::explore, it),
        Request::Describe(it) => handle!(Describe, describe::describe, it),
        Request::Symbols(it) => handle!(Symbols, symbols::symbols, it),
        Request::SymbolAt(it) => handle!(SymbolAt, symbols::symbol_at, it),
        Request::Usages(it) => handle!(Usages, relations::usages, it),
        Request::Callers(it) => handle!(Callers, relations::callers, it),
        Request::Callees(it) => handle!(Callees, relations::callees, it),
        Request::Implementations(it) => handle!(Implementations, relations::implementations, it),
        Request::Diagnostics(it) => handle!(Diagnostics, diagnostics::diagnostics, it),
        Request::Baseline(it) => handle!(Baseline, baseline::baseline, it),
        Request::Regressions(it) => handle!(Regressions, baseline::regressions, it),
        Request::Gate(it) => handle!(Gate, gate::gate, it),
        Request::Stats(it) => handle!(Stats, stats::stats, it),
        Request::Map(it) => handle!(Map, map::map, it),
        Request::Impact(it) => handle!(Impact, impact::impact, it),
        Request::Edit(it) => handle!(Edit, edit::edit, it),
        Request::Write(it) => handle!(Write, write::write, it),
        Request::Undo(it) => handle!(Undo, undo::undo, it),
        Request::Changes(it) => handle!(Changes, changes::changes, it),
        Request::Git(it) => handle!(Git, git::git, it),
        Request::Commit(it) => handle!(Commit, commit::commit, it),
        Request::Rename(it) => handle!(Rename, rename::rename, it),
        Request::Verify(it) => handle!(Verify, verify::verify, it),
        Request::ListOverlays(it) => handle!(ListOverlays, overlays::overlays, it),
        Request::PutOverlay(it) => handle!(PutOverlay, overlays::put, it),
        Request::DeleteOverlay(it) => handle!(DeleteOverlay, overlays::delete, it),
        Request::StartRun(it) => {
            let (workspace, options) = (pick()?, RequestOptions::new(&common, client)?);
            match Box::pin(runs::start(service, workspace.clone(), it, &options)).await {
                Ok(begun) => Reply::StartRun(begun),
                Err(error) => return Err(refused(&workspace, error).await),
            }
        }
        Request::Run(it) => {
            let (workspace, options) = (pick()?, RequestOptions::new(&common, client)?);
            Reply::Run(runs::look(service, &workspace, &it, &options).map_err(|it| workspace.with_meta(it))?)
        }
        Request::CancelRun(it) => {
            let (workspace, options) = (pick()?, RequestOptions::new(&common, client)?);
            match Box::pin(runs::cancel(service, &workspace, &it, &options)).await {
                Ok(run) => Reply::CancelRun(run),
                Err(error) => return Err(refused(&workspace, error).await),
            }
        }
        Request::ListWorkspaces(_) => {
            Reply::ListWorkspaces(status::list_workspaces(service, common.workspace.as_deref())?)
        }
        Request::OpenWorkspace(it) => Reply::OpenWorkspace(status::open_workspace(service, &it)?),
        Request::CloseWorkspace(it) => Reply::CloseWorkspace(status::close_workspace(service, &it).await?),
        Request::Status(_) => Reply::Status(status::status(service, common.workspace.as_deref())?),
        Request::Health(_) => Reply::Health(status::health()),
    }))
}

/// Completes an error about a missing file, and adds the metadata of the workspace.
async fn refused(workspace: &Workspace, error: Error) -> Error {
    workspace.with_meta(Box::pin(nearest_file::complete(workspace, error)).await)
}
