//! The entry of each agent's configuration by which it starts semdex, and the permissions that it needs.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::agent_files::home;
use super::{Agent, Allow, Entry, Item, Kind};
use semdex_mcp::names_by_effect;

/// Codex passes few variables to its servers. By these semdex and the tools find their files.
const VARIABLES: [&str; 5] = ["CARGO_HOME", "RUSTUP_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
/// The same of the go command, without the beginning that all have.
const OF_GO: [&str; 3] = ["CACHE", "MODCACHE", "PATH"];
/// In seconds: a little longer than `verify` takes by default.
const LONGEST_CALL: u64 = 660;
/// By this field an agent trusts a server.
const TRUST: &[&str] = &["trust"];

/// The entries of an agent, the one with the server first.
pub(crate) fn entries(agent: Agent, root: &Path, program: &str, allow: Allow) -> io::Result<Vec<Entry>> {
    let is_allowed = allow != Allow::None;
    let stdio = json!({"command": program, "args": ["mcp"]});
    let with = |more: Value| {
        let mut entry = stdio.clone();
        if let (Some(entry), Value::Object(more)) = (entry.as_object_mut(), more) {
            entry.extend(more);
        }
        entry
    };
    let servers = &["mcpServers", "semdex"];
    Ok(vec![match agent {
        Agent::Claude => {
            // Loaded from the start, and not only if the model searches for it.
            let server = Entry::server(root.join(".mcp.json"), servers, with(json!({"alwaysLoad": true})), &[]);
            return Ok(vec![server, permissions(root, &tools(allow))]);
        }
        // The agent starts its servers in another directory than the open one.
        Agent::Cursor => {
            let here = json!({"command": program, "args": ["mcp", "${workspaceFolder}"]});
            Entry::server(root.join(".cursor/mcp.json"), servers, here, &[])
        }
        // Without a terminal these agents know no permission for a single tool.
        Agent::Gemini => {
            let server = if is_allowed { with(json!({"trust": true})) } else { stdio };
            Entry::server(root.join(".gemini/settings.json"), servers, server, TRUST)
        }
        Agent::Qwen => {
            // Loaded from the start, and not only if the model searches for it.
            let loaded = with(json!({"alwaysLoadTools": true}));
            let trusted = with(json!({"alwaysLoadTools": true, "trust": true}));
            Entry::server(root.join(".qwen/settings.json"), servers, if is_allowed { trusted } else { loaded }, TRUST)
        }
        Agent::Opencode => {
            let local = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
            Entry::server(root.join("opencode.json"), &["mcp", "semdex"], local, &[])
        }
        Agent::Codex => {
            let variables = VARIABLES.map(str::to_owned).into_iter().chain(OF_GO.map(|it| format!("GO{it}")));
            let mut server = with(json!({"env_vars": variables.collect::<Vec<_>>()}));
            if is_allowed {
                server["default_tools_approval_mode"] = json!("approve");
            }
            let file = home("CODEX_HOME", ".codex")?.join("config.toml");
            Entry::server(file, &["mcp_servers", "semdex"], server, &["default_tools_approval_mode"])
        }
        Agent::Copilot => {
            let local = with(json!({"type": "local", "tools": ["*"], "deferTools": "never"}));
            Entry::server(home("COPILOT_HOME", ".copilot")?.join("mcp-config.json"), servers, local, &[])
        }
        Agent::Cline => {
            // Otherwise a call ends after a minute, whether it sends its progress or not.
            let allowed = with(json!({"disabled": false, "autoApprove": tools(allow), "timeout": LONGEST_CALL}));
            let file = home("CLINE_DIR", ".cline")?.join("data/settings/cline_mcp_settings.json");
            Entry::server(file, servers, allowed, &["autoApprove"])
        }
        Agent::Vscode => {
            let here = json!({"type": "stdio", "command": program, "args": ["mcp", "${workspaceFolder}"]});
            Entry::server(root.join(".vscode/mcp.json"), &["servers", "semdex"], here, &[])
        }
        Agent::Zed => {
            let custom = with(json!({"source": "custom", "env": {}}));
            Entry::server(root.join(".zed/settings.json"), &["context_servers", "semdex"], custom, &[])
        }
        Agent::Windsurf => {
            let file = home("WINDSURF_HOME", ".codeium/windsurf")?.join("mcp_config.json");
            Entry::server(file, servers, stdio, &[])
        }
    }])
}

fn tools(allow: Allow) -> Vec<&'static str> {
    match allow {
        Allow::None => Vec::new(),
        Allow::Reading => names_by_effect(true).collect(),
        Allow::Changes => names_by_effect(true).chain(names_by_effect(false)).collect(),
    }
}

/// The tools that Claude Code runs without asking.
fn permissions(root: &Path, tools: &[&str]) -> Entry {
    let tools: Vec<String> = tools.iter().map(|it| format!("mcp__semdex__{it}")).collect();
    let item = Item { keys: &["permissions", "allow"], value: json!(tools), kind: Kind::Permissions };
    Entry::new(root.join(".claude/settings.json"), vec![item])
}

const TRUSTED_SERVER: &str =
    "`\"trust\": true` lets it call all tools of semdex without asking; `--allow none` takes it back.";

/// What the user will be asked, or has to do, once.
pub(crate) fn questions(agent: Agent, has_hooks: bool) -> Vec<&'static str> {
    let mut questions = match agent {
        Agent::Claude => vec![
            "Claude Code asks once about the new server of `.mcp.json`. Its default is to go on without it: choose to use it.",
            "It also asks once whether it trusts the project; until then the permissions do not count.",
        ],
        Agent::Codex => {
            vec!["Codex asks once whether it trusts the project; until then files of the project do not count."]
        }
        Agent::Gemini => {
            vec![
                "Gemini CLI asks once whether it trusts the folder; until then the settings of the project do not count.",
            ]
        }
        Agent::Qwen => vec!["Qwen Code wants a server of a project approved once: `qwen mcp approve semdex`."],
        Agent::Vscode => vec!["VS Code asks once whether it trusts the server, and lists the tools in agent mode."],
        Agent::Zed => vec!["Zed reads the settings of a project only if the project is trusted."],
        Agent::Copilot => vec!["Copilot CLI asks before each tool; without a terminal: `--allow-tool semdex`."],
        Agent::Cursor | Agent::Windsurf => vec!["The new server has to be switched on once in the settings of MCP."],
        Agent::Cline | Agent::Opencode => Vec::new(),
    };
    if has_hooks && agent == Agent::Codex {
        questions.push("Codex asks about hooks separately (`/hooks`).");
    }
    questions
}

/// What else the user should know.
pub(crate) fn remarks(agent: Agent, has_hooks: bool, has_trust: bool) -> Vec<&'static str> {
    match agent {
        Agent::Claude if has_hooks => {
            vec!["Claude Code runs the hooks of a project only if it is started in this directory."]
        }
        Agent::Gemini | Agent::Qwen if has_trust => vec![TRUSTED_SERVER],
        _ => Vec::new(),
    }
}
