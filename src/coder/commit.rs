//! What a run has changed, committed by the call `commit`.

use serde_json::json;

use crate::contract::Call;
use crate::model::{Code, Error, Result};
use crate::ops::{self, Service};
use crate::workspace::Workspace;

/// Commits the files of these changes. Answers with the commit's hash.
pub async fn commit(service: &Service, workspace: &Workspace, changes: &[String], client: &str) -> Result<String> {
    let unknown = || Error::new(Code::Internal, "this semdex cannot commit");
    let call = Call::named("commit").ok_or_else(unknown)?;
    let arguments = json!({"workspace": workspace.id(), "changes": changes, "dirty": "leave"});
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let reply = Box::pin(ops::answer(service, call.from_arguments(arguments)?, Some(client.to_owned()))).await?;
    let reply = serde_json::to_value(&reply).unwrap_or_default();
    reply["commit"].as_str().map(str::to_owned).ok_or_else(unknown)
}
