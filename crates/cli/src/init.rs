//! `semdex init AGENT`: the entries of an agent's configuration by which it finds semdex. They are printed, merged into
//! the existing files, which keep all their content, or removed from them.

mod agent_files;
mod agents;
mod agents_md;
mod consent;
mod examine;
mod hooks;
mod merge_json;
mod merge_toml;
mod own;

use std::fs::{self, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::Value;

use agent_files::{document, is_toml};
pub(crate) use agents_md::SECTION;
pub(crate) use examine::examine;

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
    /// Which tools the agent may call without asking, where its configuration can say so. Default: those that read; an
    /// agent that is configured already keeps its permissions.
    #[arg(long, value_enum)]
    allow: Option<Allow>,
    /// Also add a short section to AGENTS.md (Claude Code: CLAUDE.md) that says what to ask when.
    #[arg(long)]
    agents_md: bool,
    /// Remove from the agent's configuration what `--write` has added, after asking.
    #[arg(long, conflicts_with_all = ["write", "hook", "agents_md", "allow"])]
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
    /// Whether permissions for semdex that are not among these are taken back.
    is_exact: bool,
}

/// A value below these keys.
struct Item {
    keys: &'static [&'static str],
    value: Value,
    kind: Kind,
}

/// What a value is.
enum Kind {
    /// The entry of the server, with the fields that give permissions.
    Server { permissions: &'static [&'static str] },
    /// Permissions, in a list with others.
    Permissions,
    /// A hook of this agent, in a list with others.
    Hook(Agent),
    /// Something that the file has to have.
    Frame,
}

/// Prints the entries, writes them or removes them. Returns whether everything succeeded.
pub fn init(init: &Init, engines: &Registry) -> io::Result<bool> {
    let root = engines.find_root(&std::env::current_dir()?)?;
    if init.remove {
        return remove(init, &root);
    }
    let allow = init.allow.unwrap_or(Allow::Reading);
    let mut entries = agents::entries(init.agent, &root, &program()?, allow)?;
    // Only `--allow` changes what was allowed before.
    let is_known = init.write && init.allow.is_none() && entries.first().is_some_and(Entry::has_server);
    let keeps = is_known && keep_permissions(&mut entries);
    for entry in &mut entries {
        entry.is_exact = init.allow.is_some();
    }
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
    // Without permissions there may be nothing to write.
    entries.retain(|it| it.file.exists() || it.merged("").is_ok_and(|it| !it.is_empty()));
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
    if keeps {
        writeln!(errors(), "What the agent may do without asking stays as it is: `--allow` changes it.")?;
    }
    let server = entries.first();
    let has_trust = if init.write { server.is_some_and(Entry::has_trust) } else { allow != Allow::None };
    let remarks = agents::remarks(init.agent, init.hook, has_trust);
    for note in agents::questions(init.agent, init.hook).into_iter().chain(remarks) {
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

/// Leaves permissions out of what is written. Returns whether there are any.
fn keep_permissions(entries: &mut Vec<Entry>) -> bool {
    let mut are_any = false;
    for item in entries.iter_mut().flat_map(|it| &mut it.items) {
        are_any |= matches!(item.kind, Kind::Permissions);
        if let (Kind::Server { permissions }, Some(fields)) = (&item.kind, item.value.as_object_mut()) {
            are_any |= !permissions.is_empty();
            fields.retain(|key, _| !permissions.contains(&key.as_str()));
        }
    }
    for entry in entries.iter_mut() {
        entry.items.retain(|it| !matches!(it.kind, Kind::Permissions));
    }
    entries.retain(|it| !it.items.is_empty());
    are_any
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

/// The command that starts this program: its name if the search path finds it, else its path.
fn program() -> io::Result<String> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|it| it.join("semdex")).find(|it| it.is_file());
    let is_own = found.and_then(|it| it.canonicalize().ok()).is_some_and(|it| Some(it) == own.canonicalize().ok());
    Ok(if is_own { "semdex".to_owned() } else { own.to_string_lossy().into_owned() })
}

impl Agent {
    /// As on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }
}

impl Entry {
    fn new(file: PathBuf, items: Vec<Item>) -> Entry {
        Entry { file, items, is_exact: false }
    }

    /// The entry of a server. These fields of it give permissions.
    fn server(
        file: PathBuf,
        keys: &'static [&'static str],
        value: Value,
        permissions: &'static [&'static str],
    ) -> Entry {
        Entry::new(file, vec![Item { keys, value, kind: Kind::Server { permissions } }])
    }

    /// The present text of the file. Empty if there is none.
    fn present(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    /// The present value of the first item.
    fn configured(&self) -> Option<Value> {
        self.items.first()?.in_document(&document(&self.file).ok()??).cloned()
    }

    fn has_server(&self) -> bool {
        self.configured().is_some_and(|it| own::is_server(&it))
    }

    /// Whether the agent calls all tools without asking.
    fn has_trust(&self) -> bool {
        self.configured().is_some_and(|it| it["trust"] == true)
    }

    /// The file with all items; everything else is unchanged.
    fn merged(&self, text: &str) -> Result<String, String> {
        let is_toml = is_toml(&self.file);
        self.items.iter().try_fold(text.to_owned(), |text, it| it.merged(&text, is_toml, self.is_exact))
    }

    /// The file without the items.
    fn removed(&self, text: &str) -> Result<String, String> {
        let is_toml = is_toml(&self.file);
        self.items.iter().try_fold(text.to_owned(), |text, it| it.removed(&text, is_toml))
    }

    /// The key of a server in the text that has the name of ours, and is another one.
    fn foreign(&self, text: &str) -> Option<&'static str> {
        let document = agent_files::parsed(text, is_toml(&self.file)).ok()??;
        let is_foreign = |it: &&Item| {
            let present = it.in_document(&document);
            matches!(it.kind, Kind::Server { .. }) && present.is_some_and(|it| !own::is_server(it))
        };
        self.items.iter().find(is_foreign)?.keys.last().copied()
    }
}

impl Item {
    fn in_document<'d>(&self, document: &'d Value) -> Option<&'d Value> {
        self.keys.iter().try_fold(document, |below, key| below.get(key))
    }

    /// The text with this item. `is_exact`: without other permissions.
    fn merged(&self, text: &str, is_toml: bool, is_exact: bool) -> Result<String, String> {
        let keys = self.keys;
        match &self.kind {
            Kind::Server { permissions } => {
                let document = agent_files::parsed(text, is_toml)?.unwrap_or_default();
                let present = self.in_document(&document);
                if present.is_some_and(|it| !own::is_server(it)) {
                    return Err(format!("it has another `{}`", keys.last().unwrap_or(&"server")));
                }
                let differs =
                    |key: &&str| present.is_some_and(|it| it.get(key).is_some() && it.get(key) != self.value.get(key));
                let withdrawn = permissions.iter().copied().filter(|it| is_exact && differs(it));
                let text =
                    withdrawn.map(|it| [keys, &[it][..]].concat()).try_fold(text.to_owned(), |text, field| {
                        match is_toml {
                            true => merge_toml::out_of_toml(&text, &field),
                            false => merge_json::out_of_json(&text, &field, |_| Some(Vec::new())),
                        }
                    })?;
                match is_toml {
                    true => merge_toml::into_toml(&text, keys, &self.value),
                    false => merge_json::into_json(&text, keys, &self.value, false),
                }
            }
            Kind::Permissions => {
                let others = |list: &Value| own::permission_in(list, &self.value).filter(|_| is_exact);
                let text = merge_json::out_of_json(text, keys, others)?;
                let tools = self.value.as_array().into_iter().flatten();
                tools.into_iter().try_fold(text, |text, it| merge_json::into_json(&text, keys, it, true))
            }
            Kind::Hook(agent) => {
                // A hook as an older version wrote it would run beside the new one.
                let older = |list: &Value| own::hook_in(list, &agent.name(), Some(&self.value));
                let text = merge_json::out_of_json(text, keys, older)?;
                let document = agent_files::parsed(&text, false)?.unwrap_or_default();
                let list = self.in_document(&document).and_then(Value::as_array);
                match list.is_some_and(|it| it.iter().any(|it| own::has_hook(it, &self.value))) {
                    true => Ok(text),
                    false => merge_json::into_json(&text, keys, &self.value, true),
                }
            }
            Kind::Frame => merge_json::into_json(text, keys, &self.value, false),
        }
    }

    /// The text without this item.
    fn removed(&self, text: &str, is_toml: bool) -> Result<String, String> {
        let keys = self.keys;
        let server = |it: &Value| own::is_server(it).then(Vec::new);
        match &self.kind {
            Kind::Server { .. } if is_toml => {
                let document = agent_files::parsed(text, true)?.unwrap_or_default();
                match self.in_document(&document).is_some_and(own::is_server) {
                    true => merge_toml::out_of_toml(text, keys),
                    false => Ok(text.to_owned()),
                }
            }
            Kind::Server { .. } => merge_json::out_of_json(text, keys, server),
            Kind::Permissions => merge_json::out_of_json(text, keys, |it| own::permission_in(it, &Value::Null)),
            Kind::Hook(agent) => merge_json::out_of_json(text, keys, |it| own::hook_in(it, &agent.name(), None)),
            Kind::Frame => Ok(text.to_owned()),
        }
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
            Change::Plugin(_) if !text.is_empty() && !hooks::is_opencode_plugin(text) => {
                Err("it is another plugin of the name".to_owned())
            }
            Change::Plugin(file) => Ok(file.text.clone()),
            Change::RemovePlugin(_) if hooks::is_opencode_plugin(text) => Ok(String::new()),
            Change::RemovePlugin(_) => Ok(text.to_owned()),
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
        if let Change::Remove(entry) = self
            && let Some(key) = entry.foreign(&text)
        {
            let message = format!("{file} has a `{key}` that `init` did not write, which stays");
            complain(Severity::Warning, &message, Color::Auto);
            if changed == text {
                return Ok(true);
            }
        }
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
