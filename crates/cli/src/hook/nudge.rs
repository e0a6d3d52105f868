//! Hooks before a tool is used. The first search for a symbol's name, by a tool or by `grep` and `rg` in a shell, and the
//! first read of a whole long file, are answered with what semdex knows. The same tool call passes when it is repeated.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::{self, Call, Said};
use crate::running_servers;
use semdex_config::{Config, create_private_dir};
use semdex_contract::Name;
use semdex_engine::Registry;

/// A shorter file is read as quickly as its outline.
const LONG_FILE: u64 = 16 << 10;
/// The budget of an answer in a conversation.
const MAX_TOKENS: usize = 1500;
const BYTES_PER_TOKEN: usize = 4;
/// How much of a signature an outline shows.
const WIDTH: usize = 160;

/// The answer in place of the tool's, if there is a complete one that was not given before.
pub(crate) async fn nudge(event: &Value, config: &Config, engines: &Registry) -> Option<String> {
    let directory = PathBuf::from(event["cwd"].as_str()?);
    let root = engines.find_root(&directory).ok()?;
    let (subject, call) = question(event, &root, &directory)?;
    let running = running_servers::find_running(&config.state_dir, &root)?;
    let call = call.with("wait_ms", Some(0));
    let is_own = running.roots.contains(&root);
    let call = call.with("workspace", is_own.then(|| root.to_string_lossy().into_owned()));
    let said = async |call: &Call, json: bool| match client::call(&running.announcement, call, json, None).await {
        Ok(Said { well: true, text }) => Some(text),
        _ => None,
    };
    // The tool may know more than an answer that waits for something. In Markdown only prose shows that.
    let answer: Value = serde_json::from_str(&said(&call, true).await?).ok()?;
    if !is_settled(&answer["meta"]) {
        return None;
    }
    let text = match call.name {
        Name::Open => outline(&answer)?,
        _ => said(&call.clone().with("max_tokens", Some(MAX_TOKENS)), false).await?,
    };
    is_first(&config.state_dir, event["session_id"].as_str()?, &subject).then(|| {
        format!("semdex knows this already; the same call again passes, if this is not what was wanted.\n\n{text}")
    })
}

/// Whether an answer is as good as it becomes: what it is missing is in other builds, and not on its way.
fn is_settled(meta: &Value) -> bool {
    const LASTING: [&str; 3] = ["cfg_off", "macro_output", "budget"];
    let missing = meta["missing"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lasts = |it: &Value| it["code"].as_str().is_some_and(|code| LASTING.contains(&code));
    meta["complete"] == true || !missing.is_empty() && missing.iter().all(lasts)
}

/// The symbols of a file, one a line, without docs and bodies: all of them, and their members as far as they fit.
fn outline(opened: &Value) -> Option<String> {
    let symbols = opened["symbols"].as_array()?;
    let mut text = String::new();
    for depth in [usize::MAX, 1, 0] {
        text =
            format!("# {}, {} lines; in brackets: uses and their files\n\n", opened["file"].as_str()?, opened["lines"]);
        rows(&mut text, symbols, 0, depth);
        if text.len() <= MAX_TOKENS * BYTES_PER_TOKEN {
            break;
        }
    }
    let file = opened["file"].as_str()?;
    text += &format!("\n`open` of `{file}` has the signatures with their docs, `describe` one symbol in full.\n");
    Some(text)
}

fn rows(text: &mut String, symbols: &[Value], depth: usize, deepest: usize) {
    for symbol in symbols {
        let head = symbol["signature"].as_str().or(symbol["name"].as_str()).unwrap_or_default();
        let head: String = head.lines().next().unwrap_or_default().trim_end_matches(" {").chars().take(WIDTH).collect();
        let used = match (&symbol["usages"]["total"], &symbol["usages"]["files"]) {
            (Value::Null, _) => String::new(),
            (total, files) => format!(" [{total} in {files}]"),
        };
        let indent = "  ".repeat(depth);
        let [from, to] = [&symbol["line"], &symbol["end_line"]];
        let lines = if from == to { from.to_string() } else { format!("{from}-{to}") };
        *text += &format!("{indent}{lines} {head}{used}\n");
        if let Some(members) = symbol["children"].as_array().filter(|_| depth < deepest) {
            rows(text, members, depth + 1, deepest);
        }
    }
}

/// The pattern of a search by `grep`, `rg` or `git grep` that a shell command begins with.
fn searched(command: &str) -> Option<String> {
    // Options that take the next word.
    const WITH_VALUE: [&str; 12] =
        ["-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--include", "--exclude", "--exclude-dir"];
    let first = command.rsplit("&&").next()?.split(['|', ';']).next()?;
    let words = shell_words(first)?;
    let rest = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["grep" | "rg" | "egrep", ..] => 1,
        ["git", "grep", ..] => 2,
        _ => return None,
    };
    let mut words = words.into_iter().skip(rest);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-e" | "--regexp" => return words.next(),
            it if WITH_VALUE.contains(&it) => drop(words.next()),
            it if it.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// The words of a simple command. `None` if it has more than quotes that a shell interprets.
fn shell_words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = command.chars();
    while let Some(it) = characters.next() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            (Some('\''), it) => word.get_or_insert_default().push(it),
            (_, '`' | '$') => return None,
            (None, '\'' | '"') => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            (_, '\\') => {
                let next = characters.next()?;
                let word = word.get_or_insert_default();
                if quote.is_some() || next.is_alphanumeric() {
                    word.push('\\');
                }
                word.push(next);
            }
            (None, it) if it.is_whitespace() => words.extend(word.take()),
            (_, it) => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The name of a symbol, if a pattern is one.
fn name_in(pattern: &str) -> Option<String> {
    let name = pattern.trim_start_matches("\\b").trim_end_matches("\\b");
    let name = name.trim_matches(|it: char| it == '(').trim_end_matches("\\b").trim_end_matches('\\');
    is_identifier(name).then(|| name.to_owned())
}

/// What the tool is about, and the call that answers it better.
fn question(event: &Value, root: &Path, directory: &Path) -> Option<(String, Call)> {
    let input = &event["tool_input"];
    match event["tool_name"].as_str()? {
        tool @ ("Grep" | "Bash") => {
            let pattern = match tool {
                "Bash" => searched(input["command"].as_str()?)?,
                _ => input["pattern"].as_str()?.to_owned(),
            };
            let name = name_in(&pattern)?;
            Some((name.clone(), Call::of(Name::Describe).with("symbol", Some(name))))
        }
        "Read" if input["offset"].is_null() && input["limit"].is_null() => {
            let file = directory.join(input["file_path"].as_str()?);
            if fs::metadata(&file).ok()?.len() < LONG_FILE {
                return None;
            }
            let name = file.canonicalize().ok()?.strip_prefix(root).ok()?.to_str()?.to_owned();
            Some((name.clone(), Call::of(Name::Open).with("file", Some(name))))
        }
        _ => None,
    }
}

/// A name as in code. A short word in lower case is more likely prose.
fn is_identifier(text: &str) -> bool {
    let is_word = text.chars().all(|it| it.is_alphanumeric() || it == '_');
    let is_name = text.contains('_') || text.chars().any(char::is_uppercase) || text.len() > 8;
    is_word && is_name && text.len() > 2 && !text.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether this session did not get this answer before. If that cannot be recorded, there is no answer.
fn is_first(state_dir: &Path, session: &str, subject: &str) -> bool {
    let note = |text: &str| blake3::hash(text.as_bytes()).to_hex().as_str()[..16].to_owned();
    let directory = state_dir.join("nudged").join(note(session));
    if create_private_dir(&state_dir.join("nudged")).is_err() || create_private_dir(&directory).is_err() {
        return false;
    }
    OpenOptions::new().write(true).create_new(true).open(directory.join(note(subject))).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_code_are_distinguished_from_words() {
        for name in ["SearcherBuilder", "search_path", "greet_all", "HiArgs", "canonicalize"] {
            assert!(is_identifier(name), "{name}");
        }
        for word in ["error", "TODO: x", "a.*b", "fn greet", "", "2D_x", "ab"] {
            assert!(!is_identifier(word), "{word}");
        }
    }

    #[test]
    fn a_search_in_a_shell_is_read() {
        for (command, name) in [
            ("grep -rn SearcherBuilder crates/", Some("SearcherBuilder")),
            ("rg -n --type rust 'fn_name\\(' src | head -20", Some("fn_name")),
            ("cd /x && rg -t rust \"\\bsearch_path\\b\"", Some("search_path")),
            ("git grep -n -e greet_all -- src", Some("greet_all")),
            ("grep -A 3 HiArgs src/main.rs", Some("HiArgs")),
            ("grep -rn TODO: .", None),
            ("rg \"$PATTERN\"", None),
            ("cargo build 2>&1 | grep SearcherBuilder", None),
            ("rg 'unclosed", None),
            ("rg --files", None),
        ] {
            assert_eq!(searched(command).as_deref().and_then(name_in).as_deref(), name, "{command}");
        }
    }

    #[test]
    fn an_outline_has_all_symbols() {
        let method = |at: usize| serde_json::json!({"name": format!("m{at}"), "signature": "fn m()", "line": at, "end_line": at});
        let methods: Vec<Value> = (0..2000).map(method).collect();
        let symbols = serde_json::json!([
            {"name": "A", "signature": "pub struct A {", "line": 1, "end_line": 9, "usages": {"total": 3, "files": 2}},
            {"name": "impl A", "signature": "impl A {", "line": 10, "end_line": 3000, "children": methods},
            {"name": "last", "signature": "fn last()", "line": 3001, "end_line": 3002},
        ]);
        let text = outline(&serde_json::json!({"file": "a.rs", "lines": 3002, "symbols": symbols})).unwrap();
        assert!(text.contains("1-9 pub struct A [3 in 2]\n10-3000 impl A\n3001-3002 fn last()\n"), "{text}");
        assert!(text.starts_with("# a.rs, 3002 lines; in brackets: uses and their files\n"), "{text}");
        assert!(text.len() <= MAX_TOKENS * BYTES_PER_TOKEN, "{}", text.len());
    }

    #[test]
    fn each_session_is_notified_once() {
        let state = tempfile::tempdir().unwrap();
        assert!(is_first(state.path(), "a", "x"));
        assert!(!is_first(state.path(), "a", "x"));
        assert!(is_first(state.path(), "a", "y") && is_first(state.path(), "b", "x"));
    }
}
