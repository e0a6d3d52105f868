//! What the user has answered an agent about semdex, read from the files in which the agent keeps it. Until then the
//! agent starts no server of the project, or skips its permissions and hooks, often without a word. `None`: the user has
//! no home directory.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agent_files::{home, readable};
use super::own;

/// What an agent asks once, and what the user answered.
pub(crate) struct Consent {
    pub(crate) answer: Answer,
    /// A sentence about it.
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Given,
    /// The agent will ask.
    Open,
    /// The agent neither asks nor uses semdex.
    Refused,
}

impl Consent {
    fn new(answer: Answer, text: impl Into<String>) -> Consent {
        Consent { answer, text: text.into() }
    }
}

/// Claude Code trusts a project with all directories below it, and approves the servers of `.mcp.json` one by one.
pub(super) fn claude(root: &Path) -> Option<Vec<Consent>> {
    let own = home("CLAUDE_CONFIG_DIR", ".claude").ok()?;
    let state = match std::env::var_os("CLAUDE_CONFIG_DIR") {
        Some(_) => own.join(".claude.json"),
        None => own.with_file_name(".claude.json"),
    };
    let projects = readable(&state).and_then(|it| it.get("projects").cloned()).unwrap_or_default();
    let project = |directory: &Path| projects.get(directory.to_str()?);
    let is_trusted = root.ancestors().filter_map(project).any(|it| it["hasTrustDialogAccepted"] == true);
    let trust = match is_trusted {
        true => Consent::new(Answer::Given, "Claude Code trusts this project"),
        false => Consent::new(
            Answer::Open,
            "Claude Code will ask whether it trusts this project. Until then its permissions and hooks do not count.",
        ),
    };
    // A file that the repository brings along approves nothing before the project is trusted.
    let shared = is_trusted.then(|| root.join(".claude/settings.json"));
    let files = [own.join("settings.json"), root.join(".claude/settings.local.json")].into_iter().chain(shared);
    let mut settings: Vec<(PathBuf, Value)> = files.filter_map(|it| readable(&it).map(|found| (it, found))).collect();
    settings.extend(project(root).map(|it| (state.clone(), it.clone())));
    let lists = |it: &Value, key: &str| it[key].as_array().is_some_and(|it| it.iter().any(|it| it == "semdex"));
    let refused = settings.iter().find(|it| lists(&it.1, "disabledMcpjsonServers"));
    let approves =
        |it: &&(PathBuf, Value)| it.1["enableAllProjectMcpServers"] == true || lists(&it.1, "enabledMcpjsonServers");
    let server = match (refused, settings.iter().find(approves)) {
        (Some((file, _)), _) => Consent::new(
            Answer::Refused,
            format!(
                "Claude Code does not start the server: `disabledMcpjsonServers` in {} has it. Remove it there.",
                file.display()
            ),
        ),
        (None, Some((file, _))) => {
            Consent::new(Answer::Given, format!("the server of `.mcp.json` is approved ({})", file.display()))
        }
        (None, None) => Consent::new(
            Answer::Open,
            "Claude Code will ask about the new server of `.mcp.json`. Its default is to go on without it: choose to \
             use it.",
        ),
    };
    Some(vec![trust, server])
}

/// Codex has the server in the user's own file. It trusts project and hooks separately.
pub(super) fn codex(root: &Path, has_hooks: bool) -> Option<Vec<Consent>> {
    let file = home("CODEX_HOME", ".codex").ok()?.join("config.toml");
    let settings = readable(&file).unwrap_or_default();
    let trust = match root.to_str().and_then(|it| settings["projects"][it]["trust_level"].as_str()) {
        Some("trusted") => Consent::new(Answer::Given, "Codex trusts this project"),
        Some(level) => Consent::new(
            Answer::Refused,
            format!("for Codex this project is `{level}` ({}): its files, hooks too, do not count", file.display()),
        ),
        None => Consent::new(
            Answer::Open,
            "Codex will ask whether it trusts this project. Until then its files, hooks too, do not count.",
        ),
    };
    let hooks = root.join(".codex/hooks.json");
    let keys = if has_hooks { codex_hooks(&hooks) } else { Vec::new() };
    let is_trusted = |key: &&String| {
        let state = &settings["hooks"]["state"][key.as_str()];
        state["trusted_hash"].is_string() && state["enabled"] != false
    };
    let open = keys.len() - keys.iter().filter(is_trusted).count();
    let hooks = (!keys.is_empty()).then(|| match open {
        0 => Consent::new(Answer::Given, "Codex has reviewed the hooks; a hook that changes is reviewed again"),
        open => Consent::new(
            Answer::Open,
            format!("Codex will ask to review {open} of {} hooks (`/hooks`). Until then it skips them.", keys.len()),
        ),
    });
    Some([trust].into_iter().chain(hooks).collect())
}

/// The keys by which it keeps the trust in our hooks: the file, the event, and two positions.
fn codex_hooks(file: &Path) -> Vec<String> {
    let written = readable(file).unwrap_or_default();
    let events = written["hooks"].as_object().into_iter().flatten();
    let mut keys = Vec::new();
    for (event, groups) in events {
        for (group, hooks) in groups.as_array().into_iter().flatten().enumerate() {
            for (at, hook) in hooks["hooks"].as_array().into_iter().flatten().enumerate() {
                if hook["command"].as_str().is_some_and(|it| own::is_hook(it, "codex")) {
                    keys.push(format!("{}:{}:{group}:{at}", file.display(), in_snake_case(event)));
                }
            }
        }
    }
    keys
}

/// `post_tool_use` of `PostToolUse`.
fn in_snake_case(name: &str) -> String {
    let mut written = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !written.is_empty() {
            written.push('_');
        }
        written.push(letter.to_ascii_lowercase());
    }
    written
}

/// Gemini CLI trusts folders, unless the user has switched that off.
pub(super) fn gemini(root: &Path) -> Option<Vec<Consent>> {
    let own = PathBuf::from(std::env::var_os("HOME")?).join(".gemini");
    let file = std::env::var_os("GEMINI_CLI_TRUSTED_FOLDERS_PATH");
    let file = file.map_or_else(|| own.join("trustedFolders.json"), PathBuf::from);
    let settings = readable(&own.join("settings.json")).unwrap_or_default();
    if settings["security"]["folderTrust"]["enabled"] == false {
        return Some(vec![Consent::new(Answer::Given, "Gemini CLI trusts every folder, as its settings say")]);
    }
    let folders = readable(&file).unwrap_or_default();
    let says = |level: &str, covers: &dyn Fn(&Path) -> bool| {
        let rules = folders.as_object().into_iter().flatten();
        rules.filter(|it| it.1 == level).any(|it| covers(Path::new(it.0)))
    };
    let is_refused = says("DO_NOT_TRUST", &|folder| folder == root);
    let is_trusted = says("TRUST_FOLDER", &|folder| root.starts_with(folder))
        || says("TRUST_PARENT", &|folder| folder.parent().is_some_and(|it| root.starts_with(it)));
    Some(vec![match (is_refused, is_trusted) {
        (true, _) => Consent::new(
            Answer::Refused,
            format!("Gemini CLI does not trust this folder ({}): its settings do not count", file.display()),
        ),
        (false, true) => Consent::new(Answer::Given, "Gemini CLI trusts this folder"),
        (false, false) => Consent::new(
            Answer::Open,
            "Gemini CLI will ask whether it trusts the folder. Until then the settings of the project do not count; \
             without a terminal it does not ask.",
        ),
    }])
}
