//! The payload of a hook of any agent: the event, the session and the files.

use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: Kind,
    /// The name given by the agent.
    pub(super) name: String,
    pub(super) session: Option<String>,
    /// The working directories of the agent.
    pub(super) directories: Vec<PathBuf>,
    pub(super) touched: Vec<Touched>,
    /// The tokens of the changes that our own tools made, as their replies name them.
    pub(super) changes: Vec<String>,
    /// Whether the agent already continues because of a hook.
    pub(super) is_repeated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tool was used.
    Edited,
    /// Several tools were used. Each may also have been reported on its own.
    Batch,
    /// The agent is about to stop.
    Stopped,
    /// The session is over.
    Ended,
}

/// A file that a tool wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Touched {
    pub(super) file: PathBuf,
    /// The id of the use of the tool.
    pub(super) tool_use: Option<String>,
    /// The tool is one of ours: its reply has reported the errors.
    pub(super) is_own: bool,
}

/// More files than an agent edits in one step.
const MOST_FILES: usize = 50;

impl Event {
    /// Parses a payload. None for events that need no answer.
    pub(super) fn read(payload: &Value) -> Option<Event> {
        let name = payload["hook_event_name"].as_str()?;
        let kind = match name.to_ascii_lowercase().as_str() {
            "posttooluse" | "aftertool" | "afterfileedit" => Kind::Edited,
            "posttoolbatch" => Kind::Batch,
            "stop" | "subagentstop" | "afteragent" => Kind::Stopped,
            "sessionend" => Kind::Ended,
            _ => return None,
        };
        let session = session(payload);
        let roots = payload["workspace_roots"].as_array().map(Vec::as_slice).unwrap_or_default();
        let directories: Vec<PathBuf> = payload["cwd"]
            .as_str()
            .into_iter()
            .chain(roots.iter().filter_map(Value::as_str))
            .map(PathBuf::from)
            .collect();
        let base = directories.iter().find(|it| it.is_absolute()).cloned().unwrap_or_default();
        let uses: Vec<&Value> = match kind {
            Kind::Edited => vec![payload],
            Kind::Batch => {
                let uses = ["tool_calls", "tool_results"].into_iter().find_map(|it| payload[it].as_array());
                uses.into_iter().flatten().collect()
            }
            Kind::Stopped | Kind::Ended => Vec::new(),
        };
        let mut touched: Vec<Touched> = uses.iter().flat_map(|it| files_of(it, &base)).collect();
        touched.truncate(MOST_FILES);
        let changes = uses.iter().filter_map(|it| change_of(it)).map(str::to_owned).collect();
        let is_repeated =
            payload["stop_hook_active"] == true || payload["loop_count"].as_u64().is_some_and(|it| it > 0);
        Some(Event {
            kind,
            name: name.to_owned(),
            session: session.map(str::to_owned),
            directories,
            touched,
            changes,
            is_repeated,
        })
    }
}

/// The name of the session.
pub(super) fn session(payload: &Value) -> Option<&str> {
    ["session_id", "conversation_id"].into_iter().find_map(|it| payload[it].as_str())
}

/// The directories that the agent works in, or enters now.
pub(super) fn trees(payload: &Value) -> Vec<&Path> {
    const FIELDS: [&str; 6] = [
        "/cwd",
        "/new_cwd",
        "/worktree_path",
        "/worktreePath",
        "/tool_response/worktreePath",
        "/tool_response/worktree_path",
    ];
    let named = FIELDS.into_iter().filter_map(|it| payload.pointer(it)?.as_str()).map(Path::new);
    named.filter(|it| it.is_absolute()).collect()
}

/// The files that one use of a tool wrote, each once.
fn files_of(payload: &Value, base: &Path) -> Vec<Touched> {
    let tool_use = payload["tool_use_id"].as_str().map(str::to_owned);
    let tool = payload["tool_name"].as_str();
    let input = &payload["tool_input"];
    let is_own = tool.and_then(own_verb).is_some_and(|it| matches!(it, "edit" | "write"));
    let touched = |it: &str| Touched { file: base.join(it), tool_use: tool_use.clone(), is_own };
    if is_own {
        let edits = input["edits"].as_array().into_iter().flatten();
        let named = edits.chain([input]).filter_map(|it| it["file"].as_str().or(it["name"].as_str()));
        return named.map(touched).collect();
    }
    let mut named: Vec<&str> = texts(input).into_iter().flat_map(patched).collect();
    if named.is_empty() && tool.is_none_or(is_edit) {
        const FIELDS: [&str; 7] =
            ["file_path", "notebook_path", "path", "filePath", "absolute_path", "target_file", "file"];
        let field = |of: &'_ Value| FIELDS.into_iter().find_map(|it| of[it].as_str().map(str::to_owned));
        let found = field(input).or_else(|| field(payload));
        return found.iter().map(|it| touched(it)).collect();
    }
    let mut once: Vec<&str> = Vec::new();
    named.retain(|it| {
        !once.contains(it) && {
            once.push(it);
            true
        }
    });
    named.into_iter().map(touched).collect()
}

/// The verb of a tool of semdex: `edit` of `mcp__semdex__edit`, and of `mcp__plugin_semdex_semdex__edit`.
fn own_verb(tool: &str) -> Option<&str> {
    tool.strip_prefix("mcp__")?.rsplit_once("semdex__").map(|it| it.1)
}

/// The token of the change that a tool of semdex made, by the text of its reply: ``Change `TOKEN` in …``.
fn change_of(payload: &Value) -> Option<&str> {
    payload["tool_name"].as_str().and_then(own_verb)?;
    let reply = &payload["tool_response"];
    let parts = reply.as_array().or(reply["content"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let texts = parts.iter().filter_map(|it| it["text"].as_str());
    let mut lines = reply.as_str().into_iter().chain(texts).flat_map(str::lines);
    lines.find_map(|it| it.strip_prefix("Change `")?.split_once('`').map(|it| it.0))
}

/// Whether a tool with this name writes files. The tools of semdex are excluded, because their replies already report
/// errors.
fn is_edit(tool: &str) -> bool {
    const WORDS: [&str; 9] = ["edit", "write", "replace", "patch", "create", "insert", "update", "save", "delete"];
    let tool = tool.to_ascii_lowercase();
    own_verb(&tool).is_none() && WORDS.iter().any(|it| tool.contains(it))
}

/// The fields that may contain a patch.
fn texts(input: &Value) -> Vec<&str> {
    let fields = ["command", "patch", "input"].into_iter().filter_map(|it| input[it].as_str());
    let words = input["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
    input.as_str().into_iter().chain(fields).chain(words).collect()
}

/// The files in a patch of the form of `apply_patch`.
fn patched(text: &str) -> Vec<&str> {
    const BEGIN: &str = "*** Begin Patch";
    const HEADS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let Some(at) = text.find(BEGIN) else { return Vec::new() };
    let patch = text.get(at..).unwrap_or_default();
    patch.lines().filter_map(|line| HEADS.iter().find_map(|it| line.strip_prefix(it))).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(payload: Value, kind: Kind, files: &[&str]) {
        let event = Event::read(&payload).unwrap_or_else(|| panic!("{payload}"));
        assert_eq!(event.kind, kind, "{payload}");
        let named: Vec<&str> = event.touched.iter().map(|it| it.file.to_str().unwrap()).collect();
        assert_eq!(named, files, "{payload}");
    }

    #[test]
    fn each_agent_names_its_files() {
        check(
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Edit",
                "tool_input": {"file_path": "/w/a.rs", "old_string": "a", "new_string": "b"}, "tool_use_id": "1"}),
            Kind::Edited,
            &["/w/a.rs"],
        );
        check(
            json!({"hook_event_name": "PostToolBatch", "cwd": "/w", "tool_calls": [
                {"tool_name": "Read", "tool_input": {"file_path": "/w/r.rs"}, "tool_use_id": "1"},
                {"tool_name": "Write", "tool_input": {"file_path": "/w/a.rs"}, "tool_use_id": "2"},
                {"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "b.ipynb"}, "tool_use_id": "3"}]}),
            Kind::Batch,
            &["/w/a.rs", "/w/b.ipynb"],
        );
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Add File: b.rs\n+c\n*** Update File: \
                     src/a.rs\n*** Move to: src/c.rs\n*** End Patch";
        check(
            json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": "apply_patch", "tool_input": {"command": patch}}),
            Kind::Edited,
            &["/w/src/a.rs", "/w/b.rs", "/w/src/c.rs"],
        );
        check(
            json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": "Bash",
                "tool_input": {"command": format!("apply_patch <<'EOF'\n{patch}\nEOF")}}),
            Kind::Edited,
            &["/w/src/a.rs", "/w/b.rs", "/w/src/c.rs"],
        );
        check(
            json!({"hook_event_name": "AfterTool", "cwd": "/w", "tool_name": "write_file", "tool_input": {"file_path": "a.go"}}),
            Kind::Edited,
            &["/w/a.go"],
        );
        check(
            json!({"hook_event_name": "afterFileEdit", "conversation_id": "c", "workspace_roots": ["/w"],
                "file_path": "/w/a.ts", "edits": [{"old_string": "a", "new_string": "b"}]}),
            Kind::Edited,
            &["/w/a.ts"],
        );
        let own = json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": "mcp__semdex__edit",
            "tool_input": {"edits": [{"file": "a.rs"}, {"file": "/w/b.rs"}]}});
        check(own.clone(), Kind::Edited, &["/w/a.rs", "/w/b.rs"]);
        assert!(Event::read(&own).unwrap().touched.iter().all(|it| it.is_own));
        let of_plugin = json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": "mcp__plugin_semdex_semdex__write",
            "tool_input": {"file": "a.rs"}});
        check(of_plugin.clone(), Kind::Edited, &["/w/a.rs"]);
        assert!(Event::read(&of_plugin).unwrap().touched.iter().all(|it| it.is_own));
        for (name, kind) in [("Stop", Kind::Stopped), ("AfterAgent", Kind::Stopped), ("sessionEnd", Kind::Ended)] {
            check(json!({"hook_event_name": name, "cwd": "/w"}), kind, &[]);
        }
    }

    #[test]
    fn a_change_is_named_by_the_reply_of_our_own_tool() {
        let reply = "# Renamed `a` to `b`\n\nChange `01M8` in `/w`: `undo` takes it back\n";
        let changes = |tool: &str, reply: Value| {
            let used = json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": tool, "tool_input": {"symbol": "a"},
                "tool_response": reply});
            Event::read(&used).unwrap().changes
        };
        let parts = json!([{"type": "text", "text": reply}]);
        for form in [json!(reply), parts.clone(), json!({"content": parts.clone()})] {
            assert_eq!(changes("mcp__semdex__rename", form), ["01M8"]);
        }
        assert_eq!(changes("mcp__plugin_semdex_semdex__undo", parts.clone()), ["01M8"]);
        assert!(changes("Bash", parts).is_empty());
        assert!(changes("mcp__semdex__rename", json!("# Dry run, nothing written\n")).is_empty());
    }

    #[test]
    fn what_only_reads_touches_nothing_and_the_rest_is_no_event() {
        for (tool, input) in [
            ("Read", json!({"file_path": "/w/a.rs"})),
            ("Bash", json!({"command": "cat a.rs"})),
            ("run_shell_command", json!({"command": ["ls"]})),
            ("mcp__semdex__usages", json!({"symbol": "a", "file": "a.rs"})),
            ("Edit", json!(7)),
        ] {
            check(
                json!({"hook_event_name": "PostToolUse", "cwd": "/w", "tool_name": tool, "tool_input": input}),
                Kind::Edited,
                &[],
            );
        }
        for odd in
            [json!(null), json!([]), json!({}), json!({"hook_event_name": 1}), json!({"hook_event_name": "PreToolUse"})]
        {
            assert_eq!(Event::read(&odd), None, "{odd}");
        }
    }
}
