//! `semdex hook AGENT`: an agent's hook, with its JSON on standard input. Before a tool is used the answer is a hint
//! (`nudge.rs`). After a tool was used, the running server answers, and its answer is printed. A hook never breaks the
//! agent: on any failure nothing is printed, and the process ends with 0 after about three seconds at most.

mod nudge;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::client;
use super::init::SECTION;
use super::running_servers::{self, Running};
use super::trees;
use semdex_config::{Config, Flags};
use semdex_engine::Registry;

/// An agent waits for its hooks.
const PATIENCE: Duration = Duration::from_secs(3);
/// What an agent reads in place of an answer that comes too late.
const LATE: &str = "semdex: what this edit broke is not known yet: `diagnostics` reports it";
/// More than any agent sends.
const LONGEST: u64 = 16 << 20;
/// Agents take this exit code for a hook that blocks, and read standard error.
const BLOCKED: u8 = 2;

/// How Claude Code's names of the tools begin where a plugin brings the server.
const OF_PLUGIN: &str = "mcp__plugin_semdex_semdex__";

/// The supported agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
    Cursor,
}

impl Agent {
    fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }
}

/// Reads the hook's JSON and answers it. Returns the exit code.
pub async fn hook(agent: Agent, engines: &Registry) -> u8 {
    let Some((event, payload)) = tokio::time::timeout(PATIENCE, read()).await.ok().flatten() else { return 0 };
    let answer = match tokio::time::timeout(PATIENCE, answered(agent, &event, payload, engines)).await {
        Ok(answer) => answer.unwrap_or_default(),
        // An agent takes silence after an edit for a clean file.
        Err(_) if agent == Agent::Claude && event["hook_event_name"] == "PostToolUse" => {
            json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": LATE}})
        }
        Err(_) => Value::Null,
    };
    // If it cannot be printed, nobody reads it.
    match answer["reason"].as_str().filter(|_| answer["decision"] == "block" && agent != Agent::Gemini) {
        Some(reason) => {
            let _ = writeln!(io::stderr(), "{reason}");
            BLOCKED
        }
        None => {
            if answer.as_object().is_some_and(|it| !it.is_empty()) {
                let _ = writeln!(io::stdout(), "{answer}");
            }
            0
        }
    }
}

/// The event, and the text of it.
async fn read() -> Option<(Value, Vec<u8>)> {
    let mut payload = Vec::new();
    tokio::io::stdin().take(LONGEST).read_to_end(&mut payload).await.ok()?;
    let mut event: Value = serde_json::from_slice(&payload).ok()?;
    if let Some(verb) = event["tool_name"].as_str().and_then(|it| it.strip_prefix(OF_PLUGIN)) {
        event["tool_name"] = format!("mcp__semdex__{verb}").into();
        payload = serde_json::to_vec(&event).ok()?;
    }
    Some((event, payload))
}

async fn answered(agent: Agent, event: &Value, payload: Vec<u8>, engines: &Registry) -> Option<Value> {
    let config = Config::load(&Flags::default()).ok()?;
    trees::note(event, &config);
    if event["hook_event_name"] == "PreToolUse" {
        if let Some(input) = trees::input_with_tree(event, &config) {
            return Some(json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}}));
        }
        let reason = nudge::nudge(event, &config, engines).await.filter(|_| agent == Agent::Claude)?;
        return Some(json!({
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }));
    }
    // A subagent never sees the instructions of the server.
    if let Some(name @ ("SessionStart" | "SubagentStart")) = event["hook_event_name"].as_str() {
        let answer = json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": SECTION}});
        return Some(answer).filter(|_| agent == Agent::Claude);
    }
    let server = server(event, &config, engines)?;
    let answer = client::hook(&server.announcement, &agent.name(), payload, PATIENCE * 2).await.ok()?;
    serde_json::from_str(&answer).ok()
}

/// The server of the agent's working directory, or of the file in the payload.
fn server(event: &Value, config: &Config, engines: &Registry) -> Option<Running> {
    let roots = event["workspace_roots"].as_array().map(Vec::as_slice).unwrap_or_default();
    let file = ["/tool_input/file_path", "/tool_input/notebook_path", "/tool_input/path", "/file_path"];
    let file = file.into_iter().find_map(|it| event.pointer(it)?.as_str());
    let places = event["cwd"].as_str().into_iter().chain(roots.iter().filter_map(Value::as_str)).chain(file);
    let resolved = |it: &str| Path::new(it).canonicalize().unwrap_or_else(|_| PathBuf::from(it));
    let find = |path: &Path| running_servers::find_running(&config.state_dir, path);
    places.map(resolved).filter(|it| it.is_absolute()).find_map(|it| {
        // By its manifest, a repository may belong to a workspace around it.
        let of_manifest = || find(&engines.find_root(it.ancestors().find(|it| it.is_dir())?).ok()?);
        find(&it).or_else(of_manifest)
    })
}
