//! The hooks of each agent: after an edit, at the end of a turn and of the session; and before a search, for agents
//! that support it.

use std::path::Path;

use serde_json::{Value, json};

use super::own::shell_word;
use super::{Agent, Entry, Item, Kind};

/// The plugin of opencode, which runs no programs as hooks.
const OPENCODE_PLUGIN: &str = include_str!("opencode_plugin.js");

/// The plugin that calls the hook, with the program's name as text of JavaScript.
pub(super) fn opencode_plugin(program: &str) -> String {
    OPENCODE_PLUGIN.replace("\"SEMDEX\"", &json!(program).to_string())
}

/// Whether a file is the plugin, of this version or an older one: one of its first lines says who wrote it.
pub(super) fn is_opencode_plugin(text: &str) -> bool {
    text.lines().take(5).any(|it| it.starts_with("// `semdex init opencode --hook --write` wrote this file"))
}

/// In seconds: `semdex hook` gives up after three.
const PATIENCE: u64 = 5;

/// `None` for an agent that runs no programs.
pub(crate) fn of(agent: Agent, root: &Path, program: &str) -> Option<Entry> {
    let program = shell_word(program);
    let item = |keys, value| Item { keys, value, kind: Kind::Hook(agent) };
    let run = |agent: &str, timeout: u64| json!({"type": "command", "command": format!("{program} hook {agent}"), "timeout": timeout});
    let claude = |matcher: Option<&str>| group(matcher, run("claude", PATIENCE));
    let codex = |matcher: Option<&str>| group(matcher, run("codex", PATIENCE));
    // This agent counts milliseconds.
    let gemini = |matcher: Option<&str>| group(matcher, run("gemini", PATIENCE * 1000));
    let cursor = |matcher: Option<&str>| {
        let mut hook = json!({"command": format!("{program} hook cursor"), "timeout": PATIENCE});
        if let Some(matcher) = matcher {
            hook["matcher"] = matcher.into();
        }
        hook
    };
    let (file, items) = match agent {
        Agent::Claude => (
            ".claude/settings.json",
            vec![
                item(&["hooks", "PreToolUse"], claude(Some("Bash|Grep|Read|mcp__semdex__.*"))),
                item(
                    &["hooks", "PostToolUse"],
                    claude(Some("Edit|MultiEdit|Write|NotebookEdit|mcp__semdex__(edit|write|rename|undo)")),
                ),
                item(&["hooks", "Stop"], claude(None)),
                item(&["hooks", "SessionEnd"], claude(None)),
                item(&["hooks", "SessionStart"], claude(None)),
                item(&["hooks", "SubagentStart"], claude(None)),
                item(&["hooks", "CwdChanged"], claude(None)),
            ],
        ),
        Agent::Codex => (
            ".codex/hooks.json",
            vec![
                item(&["hooks", "PostToolUse"], codex(Some("apply_patch|Edit|Write"))),
                item(&["hooks", "Stop"], codex(None)),
            ],
        ),
        Agent::Gemini => (
            ".gemini/settings.json",
            vec![
                item(&["hooks", "AfterTool"], gemini(Some("write_file|replace"))),
                item(&["hooks", "AfterAgent"], gemini(None)),
                item(&["hooks", "SessionEnd"], gemini(None)),
            ],
        ),
        Agent::Cursor => (
            ".cursor/hooks.json",
            vec![
                Item { keys: &["version"], value: json!(1), kind: Kind::Frame },
                item(&["hooks", "postToolUse"], cursor(Some("Write"))),
                item(&["hooks", "stop"], cursor(None)),
                item(&["hooks", "sessionEnd"], cursor(None)),
            ],
        ),
        Agent::Opencode
        | Agent::Copilot
        | Agent::Qwen
        | Agent::Cline
        | Agent::Vscode
        | Agent::Zed
        | Agent::Windsurf => return None,
    };
    Some(Entry::new(root.join(file), items))
}

/// Hooks in groups, each for the tools that a pattern names.
fn group(matcher: Option<&str>, hook: Value) -> Value {
    match matcher {
        Some(matcher) => json!({"matcher": matcher, "hooks": [hook]}),
        None => json!({"hooks": [hook]}),
    }
}
