//! `semdex init AGENT`: the entries of an agent's configuration by which it finds semdex. They are printed, merged into
//! the existing files, which keep all their content, or removed from them.

mod agent_files;
mod agents;
mod agents_md;
mod consent;
mod hooks;
mod merge_json;
mod merge_toml;

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use agent_files::{document, is_toml};
pub(crate) use agents_md::SECTION;
use consent::{Answer, Consent};

use super::complaint::{Severity, complain};
use super::output::{Color, errors, output};
use semdex_engine::Registry;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  semdex init claude --write --hook\n  semdex init codex --remove")]
pub struct Init {
    /// The agent.
    agent: Agent,
    /// Merge the entries into the agent's configuration, after asking.
    #[arg(long)]
    write: bool,
    /// Do not ask before writing.
    #[arg(long)]
    yes: bool,
    /// Also configure hooks: they report what an edit broke right after it, and remaining errors at the end.
    #[arg(long)]
    hook: bool,
    /// Which tools the agent may call without asking, where its configuration can say so.
    #[arg(long, value_enum, default_value_t = Allow::Reading)]
    allow: Allow,
    /// Also add a short section to AGENTS.md (Claude Code: CLAUDE.md) that says what to ask when.
    #[arg(long)]
    agents_md: bool,
    /// Remove from the agent's configuration what `--write` has added, after asking.
    #[arg(long, conflicts_with_all = ["write", "hook", "agents_md"])]
    remove: bool,
}

/// The agents that `init` can configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Copilot,
    Qwen,
    Cline,
    Vscode,
    Zed,
    Windsurf,
}

/// The tools that need no permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allow {
    /// None: the agent asks for each.
    None,
    /// Those that only read.
    Reading,
    /// Those that change files too.
    Changes,
}

/// A part of a configuration file.
pub(crate) struct Entry {
    pub(crate) file: PathBuf,
    items: Vec<Item>,
}

/// A value below these keys.
struct Item {
    keys: &'static [&'static str],
    value: Value,
    /// Whether the last key holds a list, to which the value is added.
    is_listed: bool,
}

/// Prints the entries, writes them or removes them. Returns whether everything succeeded.
pub fn init(init: &Init, engines: &Registry) -> io::Result<bool> {
    let root = engines.find_root(&std::env::current_dir()?)?;
    if init.remove {
        return remove(init, &root);
    }
    let mut entries = agents::entries(init.agent, &root, &program()?, init.allow)?;
    let plugin = opencode_plugin(&root, &program()?);
    let has_plugin = init.hook && init.agent == Agent::Opencode;
    if init.hook && !has_plugin {
        let Some(hook) = hooks::of(init.agent, &root, &program()?) else {
            let message = "this agent runs no programs as hooks: leave out `--hook`";
            complain(Severity::Error, message, Color::Auto);
            return Ok(false);
        };
        add(&mut entries, hook);
    }
    let mut changes: Vec<Change<'_>> = entries.iter().map(Change::Merge).collect();
    let section = section_file(init.agent, &root);
    if has_plugin {
        changes.push(Change::Plugin(&plugin));
    }
    if init.agents_md {
        changes.push(Change::Section(&section));
    }
    if init.write {
        for change in &changes {
            if !change.written(init.yes)? {
                return Ok(false);
            }
        }
    } else {
        // The output is one document: with hooks their file, else the file with the server.
        let printed = if has_plugin {
            1
        } else if init.hook {
            entries.len() - 1
        } else {
            0
        };
        for (at, change) in changes.iter().enumerate() {
            writeln!(errors(), "{}:", change.file().display())?;
            let text = change.text()?;
            match at == printed {
                true => writeln!(output(), "{}", text.trim_end())?,
                false => writeln!(errors(), "{}", text.trim_end())?,
            }
        }
        writeln!(errors(), "`--write` merges it into these files.")?;
    }
    for note in agents::questions(init.agent, init.hook).into_iter().chain(agents::remarks(init.agent, init.hook)) {
        writeln!(errors(), "{note}")?;
    }
    writeln!(errors(), "`semdex doctor --agents` says whether the agents here find semdex.")?;
    writeln!(errors(), "`semdex doctor` says whether this workspace has all that semdex needs.")?;
    Ok(true)
}

/// Adds an entry. A file is asked about and written once.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.iter_mut().find(|it| it.file == entry.file) {
        Some(known) => known.items.extend(entry.items),
        None => entries.push(entry),
    }
}

/// A file that is semdex's alone.
struct OwnFile {
    path: PathBuf,
    text: String,
}

fn opencode_plugin(root: &Path, program: &str) -> OwnFile {
    OwnFile { path: root.join(".opencode/plugins/semdex.js"), text: hooks::opencode_plugin(program) }
}

/// The file with the section for an agent.
fn section_file(agent: Agent, root: &Path) -> PathBuf {
    root.join(if agent == Agent::Claude { "CLAUDE.md" } else { "AGENTS.md" })
}

/// Removes everything that `init` may have written for an agent.
fn remove(init: &Init, root: &Path) -> io::Result<bool> {
    let mut entries = agents::entries(init.agent, root, &program()?, Allow::Changes)?;
    if let Some(hook) = hooks::of(init.agent, root, &program()?) {
        add(&mut entries, hook);
    }
    let section = section_file(init.agent, root);
    let plugin = opencode_plugin(root, &program()?);
    let plugin = (init.agent == Agent::Opencode).then_some(Change::RemovePlugin(&plugin));
    let changes = entries.iter().map(Change::Remove).chain([Change::RemoveSection(&section)]).chain(plugin);
    let mut is_well = true;
    for change in changes.filter(|it| it.file().is_file()) {
        is_well &= change.written(init.yes)?;
    }
    Ok(is_well)
}

/// Whether each agent that is configured here finds semdex: the lines of `doctor --agents`, and whether all is well.
pub(crate) fn examine(root: &Path) -> io::Result<(Vec<String>, bool)> {
    let (mut lines, mut is_well) = (Vec::new(), true);
    for agent in Agent::value_variants() {
        let name = agent.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default();
        // Without a home directory the agent has no configuration.
        let Ok(entries) = agents::entries(*agent, root, &program()?, Allow::Reading) else { continue };
        let Some(server) = entries.first() else { continue };
        let Some(configured) = server.configured() else {
            lines.push(format!("absent  {name}: no entry in {}: `semdex init {name} --write`", server.file.display()));
            continue;
        };
        let command = configured["command"].as_str().or_else(|| configured["command"][0].as_str()).unwrap_or_default();
        match is_program(command) {
            true => lines.push(format!("ok      {name}: {}", server.file.display())),
            false => {
                is_well = false;
                lines.push(format!(
                    "MISSING {name}: {} starts `{command}`, which is not there: `semdex init {name} --remove`, then `--write`",
                    server.file.display()
                ));
            }
        }
        let rest = entries.iter().filter(|it| it.merged(&it.present()).is_ok_and(|merged| merged != it.present()));
        for entry in rest {
            let file = entry.file.display();
            lines.push(format!("note    {name}: {file} does not have all of it: `semdex init {name} --write` adds it"));
        }
        let has_hooks = hooks::of(*agent, root, &program()?);
        let has_hooks = match agent {
            Agent::Opencode => Some(opencode_plugin(root, &program()?).path.is_file()),
            _ => has_hooks.map(|it| it.present().contains(&format!("hook {name}"))),
        };
        match has_hooks {
            None => {}
            Some(true) => lines.push(format!("ok      {name}: hooks")),
            Some(false) => lines.push(format!("absent  {name}: no hooks: `semdex init {name} --hook --write`")),
        }
        let has_hooks = has_hooks == Some(true);
        let note = |it: &&str| format!("note    {name}: {it}");
        let answers = match agent {
            Agent::Claude => consent::claude(root),
            Agent::Codex => consent::codex(root, has_hooks),
            Agent::Gemini => consent::gemini(root),
            _ => None,
        };
        match answers {
            Some(answers) => {
                for Consent { answer, text } in answers {
                    is_well &= answer != Answer::Refused;
                    let mark = match answer {
                        Answer::Given => "ok     ",
                        Answer::Open => "asks   ",
                        Answer::Refused => "REFUSED",
                    };
                    lines.push(format!("{mark} {name}: {text}"));
                }
            }
            None => lines.extend(agents::questions(*agent, has_hooks).iter().map(note)),
        }
        lines.extend(agents::remarks(*agent, has_hooks).iter().map(note));
    }
    Ok((lines, is_well))
}

fn is_program(command: &str) -> bool {
    if command.contains('/') {
        return Path::new(command).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(command).is_file())
}

/// The command that starts this program: its name if the search path finds it, else its path.
fn program() -> io::Result<String> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|it| it.join("semdex")).find(|it| it.is_file());
    let is_own = found.and_then(|it| it.canonicalize().ok()).is_some_and(|it| Some(it) == own.canonicalize().ok());
    Ok(if is_own { "semdex".to_owned() } else { own.to_string_lossy().into_owned() })
}

impl Entry {
    fn new(file: PathBuf, keys: &'static [&'static str], value: Value) -> Entry {
        Entry { file, items: vec![Item { keys, value, is_listed: false }] }
    }

    fn is_toml(&self) -> bool {
        is_toml(&self.file)
    }

    /// The present text of the file. Empty if there is none.
    fn present(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    /// The present value of the first item.
    fn configured(&self) -> Option<Value> {
        let document = document(&self.file)?;
        self.items.first()?.keys.iter().try_fold(&document, |below, key| below.get(key)).cloned()
    }

    /// The file with all items; everything else is unchanged.
    fn merged(&self, text: &str) -> Result<String, String> {
        self.items.iter().try_fold(text.to_owned(), |text, it| match self.is_toml() {
            true => merge_toml::into_toml(&text, it.keys, &it.value),
            false => {
                // A hook as an older version wrote it would run beside the new one.
                let is_older = |value: &Value| is_ours(value) && !self.items.iter().any(|it| it.value == *value);
                let is_hook = it.is_listed && it.keys.first() == Some(&"hooks") && !text.trim().is_empty();
                let text = if is_hook { merge_json::out_of_json(&text, it.keys, is_older)? } else { text };
                merge_json::into_json(&text, it.keys, &it.value, it.is_listed)
            }
        })
    }

    /// The file without the items.
    fn removed(&self, text: &str) -> Result<String, String> {
        self.items.iter().try_fold(text.to_owned(), |text, it| match self.is_toml() {
            true => merge_toml::out_of_toml(&text, it.keys),
            false => merge_json::out_of_json(&text, it.keys, is_ours),
        })
    }
}

/// Whether a value starts semdex, or allows a tool of it.
fn is_ours(value: &Value) -> bool {
    let names =
        |text: &str| text.starts_with("mcp__semdex__") || text.contains("semdex hook ") || text.ends_with("semdex");
    match value {
        Value::String(text) => names(text),
        Value::Array(items) => items.iter().any(is_ours),
        Value::Object(fields) => ["command", "hooks"].iter().any(|it| fields.get(*it).is_some_and(is_ours)),
        _ => false,
    }
}

/// What happens to a file.
enum Change<'e> {
    Merge(&'e Entry),
    Remove(&'e Entry),
    Section(&'e Path),
    RemoveSection(&'e Path),
    Plugin(&'e OwnFile),
    RemovePlugin(&'e OwnFile),
}

impl Change<'_> {
    fn file(&self) -> &Path {
        match self {
            Change::Merge(entry) | Change::Remove(entry) => &entry.file,
            Change::Section(file) | Change::RemoveSection(file) => file,
            Change::Plugin(file) | Change::RemovePlugin(file) => &file.path,
        }
    }

    /// The new text of a file.
    fn applied(&self, text: &str) -> Result<String, String> {
        match self {
            Change::Merge(entry) => entry.merged(text),
            Change::Remove(entry) => entry.removed(text),
            Change::Section(_) => Ok(agents_md::with_section(text)),
            Change::RemoveSection(_) => Ok(agents_md::without_section(text)),
            Change::Plugin(file) => Ok(file.text.clone()),
            Change::RemovePlugin(_) => Ok(String::new()),
        }
    }

    /// What is added, as a file of its own.
    fn text(&self) -> io::Result<String> {
        self.applied("").map_err(io::Error::other)
    }

    fn removes(&self) -> bool {
        matches!(self, Change::Remove(_) | Change::RemoveSection(_) | Change::RemovePlugin(_))
    }

    fn written(&self, is_agreed: bool) -> io::Result<bool> {
        let path = self.file();
        let file = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
                Ok(target) => return self.refuse(&format!("it is a link to {}, which is not there", target.display())),
                Err(_) => String::new(),
            },
            Err(error) => return Err(io::Error::new(error.kind(), format!("{file}: {error}"))),
        };
        let changed = match self.applied(&text) {
            Ok(changed) => changed,
            Err(why) => return self.refuse(&why),
        };
        if changed == text {
            let says = if self.removes() { "has nothing of semdex" } else { "says so already" };
            writeln!(errors(), "{file} {says}.")?;
            return Ok(true);
        }
        if !is_agreed && !agreed(path, text.is_empty())? {
            complain(Severity::Warning, &format!("{file} is left as it is"), Color::Auto);
            return Ok(false);
        }
        // A file that has nothing else was made by `init`.
        if self.removes() && is_bare(&changed) {
            fs::remove_file(path)?;
            writeln!(errors(), "{file} is removed.")?;
            return Ok(true);
        }
        write(path, &changed)?;
        writeln!(errors(), "{file} is written.")?;
        Ok(true)
    }

    /// Prints what was not written, and the reason.
    fn refuse(&self, why: &str) -> io::Result<bool> {
        let file = self.file().display();
        if self.removes() {
            complain(Severity::Error, &format!("{file} is left as it is: {why}"), Color::Auto);
            return Ok(false);
        }
        let message = format!("{file} is left as it is: {why}. This is what belongs into it:");
        complain(Severity::Error, &message, Color::Auto);
        writeln!(output(), "{}", self.text()?.trim_end())?;
        Ok(false)
    }
}

/// Whether a file has nothing but the frame that `init` gives it: the hooks of Cursor have a version.
fn is_bare(text: &str) -> bool {
    let is_frame = |it: Value| it == serde_json::json!({}) || it == serde_json::json!({"version": 1});
    text.trim().is_empty() || serde_json::from_str(text).is_ok_and(is_frame)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let known = fs::metadata(path).ok().map(|it| it.permissions());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".semdex-");
    if known.is_none() {
        // A new file gets the mode that the umask allows. A temporary file would be readable only by its owner.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let mut new = builder.tempfile_in(directory)?;
    new.write_all(text.as_bytes())?;
    if let Some(known) = known {
        fs::set_permissions(new.path(), known)?;
    }
    // A link remains, and its target is changed.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match new.persist(&target) {
        Ok(_) => Ok(()),
        Err(_) => fs::write(&target, text),
    }
}

fn agreed(file: &Path, is_new: bool) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        complain(Severity::Error, "standard input is not a terminal: `--yes` writes without asking", Color::Auto);
        return Ok(false);
    }
    let what = if is_new { "Make" } else { "Change" };
    write!(errors(), "{what} {}? [y/N] ", file.display())?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
