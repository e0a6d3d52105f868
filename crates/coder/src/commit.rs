//! Commits the changes of a run with the call `commit`.

use serde_json::json;

use super::service_calls::{ask, unexpected};
use semdex_contract::{Name, Reply};
use semdex_model::Result;
use semdex_ops::Service;
use semdex_workspace::Workspace;

/// Commits the files of these changes. Returns the hash of the commit.
pub(crate) async fn commit(
    service: &Service,
    workspace: &Workspace,
    changes: &[String],
    client: &str,
) -> Result<String> {
    let arguments = json!({"workspace": workspace.id(), "changes": changes, "dirty": "leave"});
    match ask(service, Name::Commit, arguments, client).await? {
        Reply::Commit(made) => Ok(made.commit),
        _ => Err(unexpected(Name::Commit)),
    }
}
