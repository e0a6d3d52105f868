//! What the token of a client allows, checked before a call is dispatched.

use semdex_config::access::Access;
use semdex_contract::Request;
use semdex_model::{Code, Error, Result};
use semdex_workspace::{Workspace, Workspaces};

/// Refuses a request that the client's token does not allow. Returns the only workspace that the request may use, if the
/// token is limited to one.
pub(crate) fn permitted(workspaces: &Workspaces, request: &Request, access: &Access) -> Result<Option<Workspace>> {
    if access.reads_only && !request.only_reads() {
        let detail = format!(
            "`{}` changes something or starts programs, and this token only reads: `semdex token` prints one that may",
            request.name().call().name
        );
        return Err(insufficient(detail));
    }
    if access.workspace.is_some() && matches!(request, Request::OpenWorkspace(_)) {
        return Err(insufficient(
            "this token is for one workspace, and opens no other: `semdex token` prints one that may",
        ));
    }
    if matches!(request, Request::Health(_)) {
        return Ok(None);
    }
    only_workspace(workspaces, request.common().workspace.as_deref(), access)
}

/// The only workspace that a request may use, if the token is limited to one. The error for any other workspace is the
/// same whether it is open or not.
pub(crate) fn only_workspace(
    workspaces: &Workspaces,
    named: Option<&str>,
    access: &Access,
) -> Result<Option<Workspace>> {
    let Some(root) = &access.workspace else { return Ok(None) };
    let own = workspaces.list().into_iter().find(|it| it.root() == root);
    match (own, named) {
        (Some(own), None) => Ok(Some(own)),
        (Some(own), Some(named)) if own.id() == named || own.root().as_os_str() == named => Ok(Some(own)),
        (None, None) => {
            let detail = format!("the workspace of this token, {}, is not open", root.display());
            Err(Error::new(Code::UnknownWorkspace, detail))
        }
        (_, Some(named)) => Err(insufficient(format!(
            "this token is for the workspace {}, not for `{named}`: `semdex token` prints one for all",
            root.display()
        ))),
    }
}

fn insufficient(detail: impl Into<String>) -> Error {
    Error::new(Code::InsufficientScope, detail)
}
