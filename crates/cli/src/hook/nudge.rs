//! Hooks before a tool is used. The first search for a symbol's name, and the first read of a whole long file, are
//! answered with what semdex knows. The same tool call passes when it is repeated.

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

/// The answer in place of the tool's, if there is a complete one that was not given before.
pub(crate) async fn nudge(event: &Value, config: &Config, engines: &Registry) -> Option<String> {
    let directory = PathBuf::from(event["cwd"].as_str()?);
    let root = engines.find_root(&directory).ok()?;
    let (subject, call) = question(event, &root, &directory)?;
    let running = running_servers::find_running(&config.state_dir, &root)?;
    let call = call.with("wait_ms", Some(0)).with("max_tokens", Some(MAX_TOKENS));
    let is_own = running.roots.contains(&root);
    let call = call.with("workspace", is_own.then(|| root.to_string_lossy().into_owned()));
    let said = async |json: bool| match client::call(&running.announcement, &call, json, None).await {
        Ok(Said { well: true, text }) => Some(text),
        _ => None,
    };
    // The tool may know more than an incomplete answer. In Markdown only prose shows whether an answer is complete.
    let answer: Value = serde_json::from_str(&said(true).await?).ok()?;
    if answer["meta"]["complete"] != true {
        return None;
    }
    let text = said(false).await?;
    is_first(&config.state_dir, event["session_id"].as_str()?, &subject).then(|| {
        format!("semdex knows this already; the same call again passes, if this is not what was wanted.\n\n{text}")
    })
}

/// What the tool is about, and the call that answers it better.
fn question(event: &Value, root: &Path, directory: &Path) -> Option<(String, Call)> {
    let input = &event["tool_input"];
    match event["tool_name"].as_str()? {
        "Grep" => {
            let pattern = input["pattern"].as_str()?;
            let name = pattern.trim_matches(|it: char| it == '(').trim_start_matches("\\b").trim_end_matches("\\b");
            let name = name.trim_end_matches("\\");
            is_identifier(name).then(|| (name.to_owned(), Call::of(Name::Describe).with("symbol", Some(name))))
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
    fn each_session_is_notified_once() {
        let state = tempfile::tempdir().unwrap();
        assert!(is_first(state.path(), "a", "x"));
        assert!(!is_first(state.path(), "a", "x"));
        assert!(is_first(state.path(), "a", "y") && is_first(state.path(), "b", "x"));
    }
}
