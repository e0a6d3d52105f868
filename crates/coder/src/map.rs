//! The map of the workspace in a prompt: what is important for the task, as the call `map` tells it.

use serde_json::json;

use super::calls::ask;
use super::prompt::MAP;
use semdex_contract::budget::BYTES_PER_TOKEN;
use semdex_contract::{Name, Reply, RunTask, render};
use semdex_ops::Service;
use semdex_workspace::Workspace;

#[derive(Debug, Default)]
pub(crate) struct Map {
    pub text: String,
    /// Its files, the most important first.
    pub ranked: Vec<String>,
}

/// Around the files that the task names, and its words. A workspace without a map is worked on all the same.
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
