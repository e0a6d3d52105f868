//! The map of the workspace in a prompt, from the call `map`: what is important for the task.

use serde_json::json;

use super::prompt::MAP;
use super::service_calls::ask;
use semdex_contract::budget::BYTES_PER_TOKEN;
use semdex_contract::{Name, Reply, RunTask, render};
use semdex_ops::Service;
use semdex_workspace::Workspace;

#[derive(Debug, Default)]
pub(crate) struct Map {
    pub text: String,
    /// The files of the map, the most important first.
    pub ranked: Vec<String>,
}

/// The map for the files and words of the task. A run works without a map too.
pub(crate) async fn map(service: &Service, workspace: &Workspace, task: &RunTask, named: &[String]) -> Map {
    let focus: Vec<&String> = task.files.iter().chain(named).take(20).collect();
    let arguments = json!({
        "workspace": workspace.id(), "focus": focus, "query": task.prompt, "max_tokens": MAP / BYTES_PER_TOKEN,
    });
    match ask(service, Name::Map, arguments, "run").await {
        Ok(reply) => {
            let text = render::reply(&reply);
            let files = if let Reply::Map(map) = reply { map.files } else { Vec::new() };
            Map { text, ranked: files.into_iter().map(|it| it.file).collect() }
        }
        Err(error) => {
            tracing::debug!(%error, "a run goes without a map");
            Map::default()
        }
    }
}
