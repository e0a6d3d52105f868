//! The entry of each agent's configuration by which it starts semdex, and the permissions that it needs.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::agent_files::home;
use super::{Agent, Allow, Entry, Item};
use semdex_mcp::names_by_effect;

/// Codex passes few variables to its servers. By these semdex and the tools find their files.
const VARIABLES: [&str; 5] = ["CARGO_HOME", "RUSTUP_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
/// The same of the go command, without the beginning that all have.
const OF_GO: [&str; 3] = ["CACHE", "MODCACHE", "PATH"];
/// In seconds: a little longer than `verify` takes by default.
const LONGEST_CALL: u64 = 660;

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
            let server = Entry::new(root.join(".mcp.json"), servers, with(json!({"alwaysLoad": true})));
            return Ok(match tools(allow) {
                tools if tools.is_empty() => vec![server],
                tools => vec![server, permissions(root, &tools)],
            });
        }
        // The agent starts its servers in another directory than the open one.
        Agent::Cursor => {
            let here = json!({"command": program, "args": ["mcp", "${workspaceFolder}"]});
            Entry::new(root.join(".cursor/mcp.json"), servers, here)
        }
        // Without a terminal these agents know no permission for a single tool.
        Agent::Gemini => Entry::new(
            root.join(".gemini/settings.json"),
            servers,
            if is_allowed { with(json!({"trust": true})) } else { stdio },
        ),
        Agent::Qwen => {
            // Loaded from the start, and not only if the model searches for it.
            let loaded = with(json!({"alwaysLoadTools": true}));
            let trusted = with(json!({"alwaysLoadTools": true, "trust": true}));
            Entry::new(root.join(".qwen/settings.json"), servers, if is_allowed { trusted } else { loaded })
        }
        Agent::Opencode => {
            let local = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
            Entry::new(root.join("opencode.json"), &["mcp", "semdex"], local)
        }
        Agent::Codex => {
            let variables = VARIABLES.map(str::to_owned).into_iter().chain(OF_GO.map(|it| format!("GO{it}")));
            let mut server = with(json!({"env_vars": variables.collect::<Vec<_>>()}));
            if is_allowed {
                server["default_tools_approval_mode"] = json!("approve");
            }
            Entry::new(home("CODEX_HOME", ".codex")?.join("config.toml"), &["mcp_servers", "semdex"], server)
        }
        Agent::Copilot => {
            let local = with(json!({"type": "local", "tools": ["*"], "deferTools": "never"}));
            Entry::new(home("COPILOT_HOME", ".copilot")?.join("mcp-config.json"), servers, local)
        }
        Agent::Cline => {
            // Otherwise a call ends after a minute, whether it sends its progress or not.
            let allowed = with(json!({"disabled": false, "autoApprove": tools(allow), "timeout": LONGEST_CALL}));
            let file = home("CLINE_DIR", ".cline")?.join("data/settings/cline_mcp_settings.json");
            Entry::new(file, servers, allowed)
        }
        Agent::Vscode => {
            let here = json!({"type": "stdio", "command": program, "args": ["mcp", "${workspaceFolder}"]});
            Entry::new(root.join(".vscode/mcp.json"), &["servers", "semdex"], here)
        }
        Agent::Zed => {
            let custom = with(json!({"source": "custom", "env": {}}));
            Entry::new(root.join(".zed/settings.json"), &["context_servers", "semdex"], custom)
        }
        Agent::Windsurf => {
            Entry::new(home("WINDSURF_HOME", ".codeium/windsurf")?.join("mcp_config.json"), servers, stdio)
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
    let item = |tool: &&str| Item {
        keys: &["permissions", "allow"],
        value: json!(format!("mcp__semdex__{tool}")),
        is_listed: true,
    };
    Entry { file: root.join(".claude/settings.json"), items: tools.iter().map(item).collect() }
}

const TRUSTED_SERVER: &str =
    "`\"trust\": true` lets it call all tools of semdex without asking; `--allow none` leaves it out.";

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
pub(crate) fn remarks(agent: Agent, has_hooks: bool) -> Vec<&'static str> {
    match agent {
        Agent::Claude if has_hooks => {
            vec!["Claude Code runs the hooks of a project only if it is started in this directory."]
        }
        Agent::Gemini | Agent::Qwen => vec![TRUSTED_SERVER],
        _ => Vec::new(),
    }
}
