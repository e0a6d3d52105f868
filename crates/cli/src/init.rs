//! `semdex init AGENT`: the entries of an agent's configuration by which it finds semdex. They are printed, or merged
//! into the existing file, which keeps all its content.

mod hooks;
mod merge_entry;

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::output::{errors, output};
use semdex_engine::Registry;

#[derive(Debug, Args)]
pub struct Init {
    agent: Agent,
    /// Merge the entries into the agent's configuration, after asking.
    #[arg(long)]
    write: bool,
    /// Do not ask before writing.
    #[arg(long, requires = "write")]
    yes: bool,
    /// Also configure hooks: they report what an edit broke right after it, and remaining errors at the end.
    #[arg(long)]
    hook: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
}

/// An entry of a configuration file.
struct Entry {
    file: PathBuf,
    items: Vec<Item>,
}

/// A value below these keys.
struct Item {
    keys: &'static [&'static str],
    value: Value,
    /// Whether the last key holds a list, to which the value is added.
    is_listed: bool,
}

/// Prints the entries, or writes them. Returns whether everything succeeded.
pub fn init(init: &Init, engines: &Registry) -> io::Result<bool> {
    let root = engines.find_root(&std::env::current_dir()?)?;
    let mut entries = vec![server(init.agent, &root, &program()?)?];
    if init.hook {
        match hooks::of(init.agent, &root, &program()?) {
            Some(hook) => match entries.iter_mut().find(|it| it.file == hook.file) {
                Some(entry) => entry.items.extend(hook.items),
                None => entries.push(hook),
            },
            None => {
                writeln!(errors(), "semdex: this agent runs no programs as hooks, so there are none to set")?;
                return Ok(false);
            }
        }
    }
    // The output is one document: the hooks' document, if hooks are requested.
    let first = if init.write { 0 } else { entries.len() - 1 };
    for entry in entries.iter().skip(first) {
        if init.write {
            if !written(entry, init.yes)? {
                return Ok(false);
            }
        } else {
            writeln!(errors(), "{}:", entry.file.display())?;
            writeln!(output(), "{}", entry.text()?.trim_end())?;
        }
    }
    if !init.write {
        writeln!(errors(), "`--write` merges it into that file.")?;
    }
    writeln!(errors(), "`semdex doctor` says whether this workspace has all that semdex needs.")?;
    Ok(true)
}

/// The command that starts this program: its name if the search path finds it, else its path.
fn program() -> io::Result<String> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|it| it.join("semdex")).find(|it| it.is_file());
    let is_own = found.and_then(|it| it.canonicalize().ok()).is_some_and(|it| Some(it) == own.canonicalize().ok());
    Ok(if is_own { "semdex".to_owned() } else { own.to_string_lossy().into_owned() })
}

fn server(agent: Agent, root: &Path, program: &str) -> io::Result<Entry> {
    let entry = |file: PathBuf, keys, value| Entry { file, items: vec![Item { keys, value, is_listed: false }] };
    let stdio = json!({"command": program, "args": ["mcp"]});
    Ok(match agent {
        Agent::Claude => {
            // The tools are loaded from the start, and not only when the model searches for them.
            let stdio = json!({"command": program, "args": ["mcp"], "alwaysLoad": true});
            entry(root.join(".mcp.json"), &["mcpServers", "semdex"], stdio)
        }
        // The agent starts its servers in another directory than the open one.
        Agent::Cursor => {
            let stdio = json!({"command": program, "args": ["mcp", "${workspaceFolder}"]});
            entry(root.join(".cursor/mcp.json"), &["mcpServers", "semdex"], stdio)
        }
        Agent::Gemini => entry(root.join(".gemini/settings.json"), &["mcpServers", "semdex"], stdio),
        Agent::Opencode => {
            let local = json!({"type": "local", "command": [program, "mcp"], "enabled": true});
            entry(root.join("opencode.json"), &["mcp", "semdex"], local)
        }
        Agent::Codex => {
            let home = std::env::var_os("CODEX_HOME").map(PathBuf::from);
            let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
            let home = home.ok_or_else(|| io::Error::other("neither CODEX_HOME nor HOME is set"))?;
            entry(home.join("config.toml"), &["mcp_servers", "semdex"], stdio)
        }
    })
}

impl Entry {
    fn is_toml(&self) -> bool {
        self.file.extension().is_some_and(|it| it == "toml")
    }

    /// The entries as a file of their own.
    fn text(&self) -> io::Result<String> {
        self.merged("").map_err(io::Error::other)
    }

    /// The file with all entries; everything else is unchanged.
    fn merged(&self, text: &str) -> Result<String, String> {
        self.items.iter().try_fold(text.to_owned(), |text, it| match self.is_toml() {
            true => merge_entry::into_toml(&text, it.keys, &it.value),
            false => merge_entry::into_json(&text, it.keys, &it.value, it.is_listed),
        })
    }
}

fn written(entry: &Entry, is_agreed: bool) -> io::Result<bool> {
    let file = entry.file.display();
    let text = match fs::read_to_string(&entry.file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(&entry.file) {
            Ok(target) => return refuse(entry, &format!("it is a link to {}, which is not there", target.display())),
            Err(_) => String::new(),
        },
        Err(error) => return Err(io::Error::new(error.kind(), format!("{file}: {error}"))),
    };
    let merged = match entry.merged(&text) {
        Ok(merged) => merged,
        Err(why) => return refuse(entry, &why),
    };
    if merged == text {
        writeln!(errors(), "{file} says so already.")?;
        return Ok(true);
    }
    if !is_agreed && !agreed(&entry.file, text.is_empty())? {
        writeln!(errors(), "semdex: {file} is left as it is.")?;
        return Ok(false);
    }
    if let Some(directory) = entry.file.parent() {
        fs::create_dir_all(directory)?;
    }
    let directory = entry.file.parent().unwrap_or(Path::new("."));
    let known = fs::metadata(&entry.file).ok().map(|it| it.permissions());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".semdex-");
    if known.is_none() {
        // A new file gets the mode that the umask allows. A temporary file would be readable only by its owner.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let mut new = builder.tempfile_in(directory)?;
    new.write_all(merged.as_bytes())?;
    if let Some(known) = known {
        fs::set_permissions(new.path(), known)?;
    }
    // A link remains, and its target is changed.
    let target = entry.file.canonicalize().unwrap_or_else(|_| entry.file.clone());
    match new.persist(&target) {
        Ok(_) => {}
        Err(_) => fs::write(&target, &merged)?,
    }
    writeln!(errors(), "{file} is written.")?;
    Ok(true)
}

/// Prints the entries that were not written, and the reason.
fn refuse(entry: &Entry, why: &str) -> io::Result<bool> {
    writeln!(errors(), "semdex: {} is left as it is: {why}. This is what belongs into it:", entry.file.display())?;
    writeln!(output(), "{}", entry.text()?.trim_end())?;
    Ok(false)
}

fn agreed(file: &Path, is_new: bool) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        writeln!(errors(), "semdex: standard input is not a terminal: `--yes` writes without asking")?;
        return Ok(false);
    }
    let what = if is_new { "Make" } else { "Change" };
    write!(errors(), "{what} {}? [y/N] ", file.display())?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
