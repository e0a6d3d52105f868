//! Which parts of an agent's configuration `init` has written, in this version or an older one. It changes and removes
//! nothing else.

use std::path::Path;

use serde_json::Value;

use super::merge_json::Step;

/// The arguments with which `init` starts the server.
const ARGUMENTS: [&[&str]; 2] = [&["mcp"], &["mcp", "${workspaceFolder}"]];
/// The kinds of servers that are started. Without one an entry with a command is started too.
const STARTED: [&str; 2] = ["stdio", "local"];

/// Whether the entry of a server is one that `init` writes. Other fields may be added to it.
pub(super) fn is_server(entry: &Value) -> bool {
    let words = words(entry);
    let is_started = entry.get("type").is_none_or(|it| STARTED.iter().any(|started| it == started));
    is_started && words.first().is_some_and(|it| is_program(it)) && ARGUMENTS.iter().any(|it| words[1..] == **it)
}

/// Whether an entry starts semdex as a server, with any further arguments.
pub(super) fn starts_server(entry: &Value) -> bool {
    let words = words(entry);
    words.first().is_some_and(|it| is_program(it)) && words.get(1) == Some(&"mcp")
}

/// The program that an entry starts, and its arguments. One agent has both in one list.
pub(super) fn words(entry: &Value) -> Vec<&str> {
    let command = &entry["command"];
    let program = command.as_str().map_or_else(|| texts(command), |it| vec![it]);
    [program, texts(&entry["args"])].concat()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether a word starts semdex: the name alone, or the path of this program or of another one of the name.
fn is_program(word: &str) -> bool {
    let path = Path::new(word);
    let is_this = || std::env::current_exe().is_ok_and(|it| it == path);
    word == "semdex" || path.is_absolute() && path.file_name().is_some_and(|it| it == "semdex") || is_this()
}

/// Whether the command of a hook is the one that `init` writes for an agent, and nothing more.
pub(super) fn is_hook(command: &str, agent: &str) -> bool {
    let Some(word) = command.strip_suffix(agent).and_then(|it| it.strip_suffix(" hook ")) else { return false };
    let quoted = word.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    if let Some(program) = quoted.map(|it| it.replace("'\\''", "'")) {
        return shell_word(&program) == word && is_program(&program);
    }
    // An older version wrote a path with blanks without quotes.
    let is_this = || std::env::current_exe().is_ok_and(|it| it == Path::new(word));
    is_program(word) && (!word.contains(char::is_whitespace) || is_this())
}

/// A word of a shell's command line: in quotes if it has other characters than most paths.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+@:".contains(it);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Where a list of hooks has one of semdex that is not a part of `wanted`: the whole group if it has no other hook.
pub(super) fn hook_in<'k>(list: &Value, agent: &str, wanted: Option<&Value>) -> Option<Vec<Step<'k>>> {
    let groups = list.as_array()?;
    let kept = wanted.and_then(|wanted| groups.iter().position(|it| has_hook(it, wanted)));
    let is_own = |hook: &Value| hook["command"].as_str().is_some_and(|it| is_hook(it, agent));
    let others = groups.iter().enumerate().filter(|(at, _)| Some(*at) != kept);
    others.into_iter().find_map(|(at, group)| {
        if is_own(group) {
            return Some(vec![Step::Item(at)]);
        }
        let hooks = group["hooks"].as_array()?;
        let own = hooks.iter().position(is_own)?;
        match hooks.len() {
            1 => Some(vec![Step::Item(at)]),
            _ => Some(vec![Step::Item(at), Step::Key("hooks"), Step::Item(own)]),
        }
    })
}

/// Whether a hook or a group has all that `wanted` has: the same matcher, and the hook among its hooks.
pub(super) fn has_hook(group: &Value, wanted: &Value) -> bool {
    let has_all = |it: &Value, wanted: &Value| {
        wanted.as_object().is_some_and(|wanted| wanted.iter().all(|(key, value)| it.get(key) == Some(value)))
    };
    match wanted["hooks"].as_array() {
        None => has_all(group, wanted) && group.get("matcher") == wanted.get("matcher"),
        Some(hooks) => {
            let present = group["hooks"].as_array();
            let is_there = |wanted: &Value| present.is_some_and(|it| it.iter().any(|it| has_all(it, wanted)));
            group.get("matcher") == wanted.get("matcher") && hooks.iter().all(is_there)
        }
    }
}

/// Where a list of permissions has one for semdex that is not among the kept ones.
pub(super) fn permission_in<'k>(list: &Value, kept: &Value) -> Option<Vec<Step<'k>>> {
    let is_own = |it: &Value| it.as_str().is_some_and(|it| it == "mcp__semdex" || it.starts_with("mcp__semdex__"));
    let is_kept = |it: &Value| kept.as_array().is_some_and(|kept| kept.contains(it));
    let at = list.as_array()?.iter().position(|it| is_own(it) && !is_kept(it))?;
    Some(vec![Step::Item(at)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_is_the_whole_command() {
        for program in ["semdex", "/opt/x/semdex", "/opt/my programs/semdex", "/opt/it's/semdex"] {
            let own = format!("{} hook claude", shell_word(program));
            assert!(is_hook(&own, "claude"), "{own}");
        }
        for other in [
            "./my-guard.sh --except 'semdex hook claude'",
            "nice semdex hook claude",
            "/usr/bin/env semdex hook claude",
            "/bin/guard /opt/semdex hook claude",
            "semdex hook claude && notify-send done",
            "semdex hook codex",
            "systemctl --user start semdex",
            "my-semdex hook claude",
            "'/opt/guard' '/opt/semdex' hook claude",
            "/opt/my programs/semdex hook claude",
        ] {
            assert!(!is_hook(other, "claude"), "{other}");
        }
    }

    #[test]
    fn a_server_is_one_that_init_writes() {
        for own in [
            json!({"command": "semdex", "args": ["mcp"]}),
            json!({"type": "stdio", "command": "/opt/semdex", "args": ["mcp", "${workspaceFolder}"], "own": 1}),
            json!({"type": "local", "command": ["semdex", "mcp"], "enabled": true}),
        ] {
            assert!(is_server(&own), "{own}");
        }
        for other in [
            json!({"type": "http", "url": "http://127.0.0.1:7878/mcp"}),
            json!({"type": "http", "url": "http://127.0.0.1:7878/mcp", "command": "semdex", "args": ["mcp"]}),
            json!({"command": "/opt/wrap/semdex", "args": ["--ws", "x"], "env": {"A": "1"}}),
            json!({"command": "cat", "args": ["mcp"]}),
            json!("semdex"),
            json!({"command": "semdex"}),
        ] {
            assert!(!is_server(&other), "{other}");
        }
    }
}
