//! The checkout that an agent works in. Its hooks know it by the working directory; its connection to the tools does not.
//! So hooks record it with the processes around them, and add it to the arguments of our tools.

use std::path::{Path, PathBuf};
use std::process;

use serde_json::{Map, Value, json};

use semdex_config::Config;
use semdex_fs::Checkout;
use semdex_ops::hooks::directories;
use semdex_workspace::session_trees::SessionTrees;

/// More than lie between an agent and its hook.
const MOST_PARENTS: usize = 12;

/// The process that started this one.
pub(crate) fn parent() -> Option<String> {
    parents().into_iter().next()
}

/// The processes around this one, the nearest first, each with its start, since an id may be used again.
fn parents() -> Vec<String> {
    let mut found = Vec::new();
    let mut next = stat(process::id()).map(|it| it.0);
    while let Some(pid) = next.filter(|it| *it > 1 && found.len() < MOST_PARENTS) {
        let Some((parent, start)) = stat(pid) else { break };
        found.push(format!("{pid}:{start}"));
        next = Some(parent);
    }
    found
}

/// The parent of a process, and when the process started.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// Records where the agent of a hook works.
pub(crate) fn note(event: &Value, config: &Config) {
    let Some((session, directories)) = directories(event) else { return };
    let (trees, parents) = (SessionTrees::new(&config.state_dir), parents());
    directories.into_iter().for_each(|it| trees.note(session, &parents, it));
}

/// The arguments of one of our tools with the checkout that the agent works in. `None` if they name a tree already, or
/// the session works in one checkout only.
pub(crate) fn input_with_tree(event: &Value, config: &Config) -> Option<Value> {
    let input = event["tool_input"].as_object()?;
    if !event["tool_name"].as_str()?.starts_with("mcp__semdex") || names_tree(input) {
        return None;
    }
    let directory = Path::new(event["cwd"].as_str()?).canonicalize().ok()?;
    let checkout = Checkout::around(&directory)?;
    let trees = SessionTrees::new(&config.state_dir).of_session(event["session_id"].as_str()?);
    if !trees.contains(&checkout.root) {
        return None;
    }
    let mut input = input.clone();
    input.insert("workspace".to_owned(), json!(checkout.root));
    Some(Value::Object(input))
}

/// Whether the arguments of a tool name a workspace or a full path.
pub(crate) fn names_tree(arguments: &Map<String, Value>) -> bool {
    arguments.get("workspace").is_some_and(Value::is_string) || full_path(arguments).is_some()
}

/// The first full path among the files in the arguments of a tool.
pub(crate) fn full_path(arguments: &Map<String, Value>) -> Option<PathBuf> {
    let of = |fields: &Map<String, Value>| {
        let named = ["file", "name"].into_iter().filter_map(|it| fields.get(it)?.as_str()).map(PathBuf::from);
        named.into_iter().find(|it| it.is_absolute())
    };
    let edits = arguments.get("edits").and_then(Value::as_array).into_iter().flatten();
    of(arguments).or_else(|| edits.filter_map(Value::as_object).find_map(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_around_this_one_are_known() {
        let parents = parents();
        assert!(!parents.is_empty() && parents.iter().all(|it| it.split_once(':').is_some()), "{parents:?}");
        assert_eq!(parent(), parents.first().cloned());
    }

    #[test]
    fn a_full_path_names_a_tree() {
        let object = |value: Value| value.as_object().unwrap().clone();
        assert_eq!(full_path(&object(json!({"file": "/a/b.rs"}))), Some("/a/b.rs".into()));
        assert_eq!(full_path(&object(json!({"edits": [{"file": "a"}, {"file": "/x"}]}))), Some("/x".into()));
        assert!(names_tree(&object(json!({"workspace": "w"}))));
        assert!(!names_tree(&object(json!({"file": "src/a.rs", "symbol": "/"}))));
    }
}
