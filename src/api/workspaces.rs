//! `/v1/workspaces`: which are open, opening and closing them.

use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Service;
use super::extract::{Asked, Posted};
use super::problem::{Opening, Plain, Refusal};
use super::process::{WorkspaceStatus, process_meta};
use super::responder::Responder;
use super::shapes::Meta;
use crate::model::{Code, Error, Result};
use crate::render;
use crate::workspace::Workspace;

/// The workspaces that are open.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkspacesReply {
    pub workspaces: Vec<WorkspaceStatus>,
    pub meta: Meta,
}

/// A call that takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Which workspaces are open
#[utoipa::path(
    get, path = "/v1/workspaces", operation_id = "list_workspaces", tag = "workspaces",
    description = "Each with its state, as `/v1/status` tells it.",
    responses(
        (status = 200, description = "The workspaces.",
            content((WorkspacesReply = "application/json"), (String = "text/markdown"))),
        Plain
    )
)]
pub async fn list_workspaces(
    State(service): State<Service>,
    responder: Responder,
    Asked(Nothing {}): Asked<Nothing>,
) -> Result<Response, Refusal> {
    let statuses: Vec<_> = service.workspaces.list().iter().map(Workspace::status).collect();
    let text = render::workspaces(&statuses);
    let meta = process_meta(&statuses, responder.elapsed());
    let workspaces = statuses.into_iter().map(WorkspaceStatus::from).collect();
    Ok(responder.plain(&WorkspacesReply { workspaces, meta }, |_| text))
}

/// Which directory to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"root": "/src/ripgrep"})))]
pub struct OpenWorkspaceRequest {
    /// An absolute path. If it lies inside of a Cargo workspace or Go module, the root is that one's.
    #[schema(value_type = String)]
    pub root: PathBuf,
}

/// One workspace.
#[derive(Debug, Serialize, ToSchema)]
pub struct WorkspaceReply {
    pub workspace: WorkspaceStatus,
    pub meta: Meta,
}

/// Open a workspace
#[utoipa::path(
    post, path = "/v1/workspaces", operation_id = "open_workspace", tag = "workspaces",
    description = "In or below a root that was named at the start or in the configuration. Answers at once; loading \
                   goes on in the background, and `/v1/status` tells how far it is.",
    request_body = OpenWorkspaceRequest,
    responses(
        (status = 200, description = "The workspace, open now or before.",
            content((WorkspaceReply = "application/json"), (String = "text/markdown"))),
        Opening
    )
)]
pub async fn open_workspace(
    State(service): State<Service>,
    responder: Responder,
    Posted(request): Posted<OpenWorkspaceRequest>,
) -> Result<Response, Refusal> {
    let directory = permitted(&request.root, &service.roots)?;
    let status = service.workspaces.open_below(&directory, &service.roots)?.status();
    let text = render::workspaces(std::slice::from_ref(&status));
    let meta = process_meta(std::slice::from_ref(&status), responder.elapsed());
    Ok(responder.plain(&WorkspaceReply { workspace: status.into(), meta }, |_| text))
}

/// The directory with links resolved, if it lies in or below a permitted root.
fn permitted(root: &Path, roots: &[PathBuf]) -> Result<PathBuf> {
    if !root.is_absolute() {
        let detail = format!("`root`: `{}` is not an absolute path", root.display());
        return Err(Error::new(Code::InvalidRequest, detail));
    }
    // What lies outside is refused alike whether it exists or not: this call is no way to look around.
    let resolved = root.canonicalize().ok().filter(|it| it.is_dir());
    let inside = |path: &Path| roots.iter().any(|permitted| path.starts_with(permitted));
    match resolved {
        Some(resolved) if inside(&resolved) => Ok(resolved),
        None if inside(root) && !root.components().any(|it| it == std::path::Component::ParentDir) => {
            let detail = format!("`root`: there is no directory `{}`", root.display());
            Err(Error::new(Code::InvalidRequest, detail))
        }
        _ => {
            let permitted: Vec<String> = roots.iter().map(|it| format!("`{}`", it.display())).collect();
            let detail = format!(
                "only directories in or below {} may be opened: name others when starting `semdex serve`",
                permitted.join(", ")
            );
            Err(Error::new(Code::ForbiddenRoot, detail))
        }
    }
}

/// Which workspace to close.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CloseWorkspaceQuery {
    /// Its id or root.
    pub workspace: String,
}

/// Close a workspace
#[utoipa::path(
    delete, path = "/v1/workspaces", operation_id = "close_workspace", tag = "workspaces",
    description = "Ends its engines and frees its memory. Nothing on disk changes.",
    params(CloseWorkspaceQuery),
    responses(
        (status = 200, description = "The workspace, as it was.",
            content((WorkspaceReply = "application/json"), (String = "text/markdown"))),
        Plain
    )
)]
pub async fn close_workspace(
    State(service): State<Service>,
    responder: Responder,
    Asked(query): Asked<CloseWorkspaceQuery>,
) -> Result<Response, Refusal> {
    let status = service.pick(Some(&query.workspace))?.status();
    service.workspaces.close(&query.workspace).await?;
    let text = format!("Closed `{}` ({}).\n", status.id, status.root.display());
    let meta = process_meta(std::slice::from_ref(&status), responder.elapsed());
    Ok(responder.plain(&WorkspaceReply { workspace: status.into(), meta }, |_| text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_below_a_named_root_may_be_opened() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["root/inner", "other", "root-like"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(base.join("other"), base.join("root/link")).unwrap();
        let roots = [base.join("root")];
        let code = |path: PathBuf| permitted(&path, &roots).map_err(|it| it.code);
        assert_eq!(code(base.join("root")), Ok(base.join("root")));
        assert_eq!(code(base.join("root/inner/../inner")), Ok(base.join("root/inner")));
        assert_eq!(code(base.join("other")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root-like")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/../other")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/../missing")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/link")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("missing")), Err(Code::ForbiddenRoot));
        assert_eq!(code(base.join("root/missing")), Err(Code::InvalidRequest));
        assert_eq!(code("root".into()), Err(Code::InvalidRequest));
    }
}
