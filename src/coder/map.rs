//! The map of the workspace in a prompt: what is important for the task, as the call `map` tells it.

use serde_json::json;

use super::prompt::MAP;
use crate::contract::budget::BYTES_PER_TOKEN;
use crate::contract::{Call, RunTask};
use crate::ops::{self, Service};
use crate::render;
use crate::workspace::Workspace;

#[derive(Debug, Default)]
pub struct Map {
    pub text: String,
    /// Its files, the most important first.
    pub ranked: Vec<String>,
}

/// Around the files that the task names, and its words. A workspace without a map is worked on all the same.
pub async fn map(service: &Service, workspace: &Workspace, task: &RunTask, named: &[String]) -> Map {
    let Some(call) = Call::named("map") else { return Map::default() };
    let focus: Vec<&String> = task.files.iter().chain(named).take(20).collect();
    let arguments = json!({
        "workspace": workspace.id(), "focus": focus, "query": task.prompt, "max_tokens": MAP / BYTES_PER_TOKEN,
    });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let asked = async { Box::pin(ops::answer(service, call.from_arguments(arguments)?, Some("run".to_owned()))).await };
    match asked.await {
        Ok(reply) => {
            let files = serde_json::to_value(&reply).unwrap_or_default();
            let files = files["files"].as_array().cloned().unwrap_or_default();
            let ranked = files.iter().filter_map(|it| it["file"].as_str().map(str::to_owned)).collect();
            Map { text: render::reply(&reply), ranked }
        }
        Err(error) => {
            tracing::debug!(%error, "a run goes without a map");
            Map::default()
        }
    }
}
