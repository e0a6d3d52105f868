//! `semdex init AGENT`: what an agent's configuration has to say so that it finds semdex, printed, or merged into the
//! file that is there without losing anything of it.

mod hooks;
mod merge;

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::print::{errors, output};
use semdex_engine::Registry;

#[derive(Debug, Args)]
pub struct Init {
    agent: Agent,
    /// Merge it into the agent's configuration, after asking.
    #[arg(long)]
    write: bool,
    /// Do not ask before writing.
    #[arg(long, requires = "write")]
    yes: bool,
    /// Also the hooks: what an edit broke is told right after it, and what is left at the end.
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

/// What belongs into a configuration file.
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

/// Prints the entries, or writes them. Whether all of it went well.
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
    // What is printed is one document: that of the hooks, where they are asked for.
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

/// What starts this program: its name where that finds it, else its path.
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
        Agent::Claude => entry(root.join(".mcp.json"), &["mcpServers", "semdex"], stdio),
        // It starts its servers in another directory than the one that is open.
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

    /// As a file of its own.
    fn text(&self) -> io::Result<String> {
        self.merged("").map_err(io::Error::other)
    }

    /// The file with all of it, and else as it was.
    fn merged(&self, text: &str) -> Result<String, String> {
        self.items.iter().try_fold(text.to_owned(), |text, it| match self.is_toml() {
            true => merge::into_toml(&text, it.keys, &it.value),
            false => merge::into_json(&text, it.keys, &it.value, it.is_listed),
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
        // As any program makes a file: the umask takes from it. Else a temporary one is its owner's alone.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let mut new = builder.tempfile_in(directory)?;
    new.write_all(merged.as_bytes())?;
    if let Some(known) = known {
        fs::set_permissions(new.path(), known)?;
    }
    // A link stays one, and what it names is changed.
    let target = entry.file.canonicalize().unwrap_or_else(|_| entry.file.clone());
    match new.persist(&target) {
        Ok(_) => {}
        Err(_) => fs::write(&target, &merged)?,
    }
    writeln!(errors(), "{file} is written.")?;
    Ok(true)
}

/// What belongs into the file, for whoever reads why it was not put there.
fn refuse(entry: &Entry, why: &str) -> io::Result<bool> {
    writeln!(errors(), "semdex: {} is left as it is: {why}. This is what belongs into it:", entry.file.display())?;
    writeln!(output(), "{}", entry.text()?.trim_end())?;
    Ok(false)
}

fn agreed(file: &Path, is_new: bool) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        writeln!(errors(), "semdex: nobody is there to be asked: `--yes` writes without asking")?;
        return Ok(false);
    }
    let what = if is_new { "Make" } else { "Change" };
    write!(errors(), "{what} {}? [y/N] ", file.display())?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
