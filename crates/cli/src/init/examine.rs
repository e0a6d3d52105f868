//! `doctor --agents`: whether each agent that is configured here finds semdex, and what it will ask.

use std::io;
use std::path::Path;

use clap::ValueEnum;
use serde_json::Value;

use super::agent_files::document;
use super::consent::{self, Answer, Consent};
use super::{Agent, Allow, Entry, Kind, agents, hooks, keep_permissions, opencode_plugin, own, program};

/// The lines about all agents, and whether all is well.
pub(crate) fn examine(root: &Path) -> io::Result<(Vec<String>, bool)> {
    let mut report = Report { lines: Vec::new(), is_well: true };
    for agent in Agent::value_variants() {
        // Without a home directory the agent has no configuration.
        let Ok(entries) = agents::entries(*agent, root, &program()?, Allow::Reading) else { continue };
        report.agent(*agent, entries, root)?;
    }
    Ok((report.lines, report.is_well))
}

struct Report {
    lines: Vec<String>,
    is_well: bool,
}

impl Report {
    fn say(&mut self, mark: &str, agent: Agent, text: &str) {
        self.lines.push(format!("{mark:7} {}: {text}", agent.name()));
    }

    fn fail(&mut self, mark: &str, agent: Agent, text: &str) {
        self.is_well = false;
        self.say(mark, agent, text);
    }

    fn agent(&mut self, agent: Agent, mut entries: Vec<Entry>, root: &Path) -> io::Result<()> {
        let hook = hooks::of(agent, root, &program()?);
        let Some(server) = entries.first() else { return Ok(()) };
        let file = server.file.display().to_string();
        let is_valid = self.files(agent, entries.iter().chain(&hook));
        let Some(configured) = server.configured() else {
            if document(&server.file).is_ok() {
                let advice = format!("no entry in {file}: `semdex init {} --write`", agent.name());
                self.say("absent", agent, &advice);
            }
            return Ok(());
        };
        self.server(agent, &file, &configured);
        if own::is_server(&configured) && is_valid {
            keep_permissions(&mut entries);
            self.rest(agent, &entries, "--write");
        }
        let has_hooks = match agent {
            Agent::Opencode => {
                let plugin = std::fs::read_to_string(opencode_plugin(root, &program()?).path);
                Some(plugin.is_ok_and(|it| hooks::is_opencode_plugin(&it)))
            }
            _ => hook.as_ref().map(has_hook),
        };
        match has_hooks {
            None => {}
            Some(true) => {
                self.say("ok", agent, "hooks");
                self.rest(agent, hook.as_slice(), "--hook --write");
            }
            Some(false) => {
                let advice = format!("no hooks: `semdex init {} --hook --write`", agent.name());
                self.say("absent", agent, &advice);
            }
        }
        self.questions(agent, root, has_hooks == Some(true));
        for remark in agents::remarks(agent, has_hooks == Some(true), configured["trust"] == true) {
            self.say("note", agent, remark);
        }
        Ok(())
    }

    /// Reports files that cannot be read. Returns whether there is none.
    fn files<'e>(&mut self, agent: Agent, entries: impl Iterator<Item = &'e Entry>) -> bool {
        let mut files: Vec<&Path> = entries.map(|it| it.file.as_path()).collect();
        files.dedup();
        let mut is_valid = true;
        for file in files {
            if let Err(why) = document(file) {
                is_valid = false;
                let text = format!("{}: {why}. Correct it by hand: `init` leaves it as it is", file.display());
                self.fail("INVALID", agent, &text);
            }
        }
        is_valid
    }

    /// Reports what the entry of the server starts.
    fn server(&mut self, agent: Agent, file: &str, configured: &Value) {
        let words = own::words(configured);
        let Some(program) = words.first() else {
            return self.say("note", agent, &format!("`semdex` in {file} starts no program: it is not examined"));
        };
        if !is_there(program) {
            let name = agent.name();
            let text = match own::is_server(configured) {
                true => format!("`semdex init {name} --remove`, then `--write`"),
                false => "correct the entry by hand".to_owned(),
            };
            return self.fail("MISSING", agent, &format!("{file} starts `{program}`, which is not there: {text}"));
        }
        match own::starts_server(configured) {
            true => self.say("ok", agent, file),
            false => {
                let text =
                    format!("`semdex` in {file} starts `{}`, not `semdex mcp`: it is not examined", words.join(" "));
                self.say("note", agent, &text);
            }
        }
    }

    /// Reports files that do not have all of the entries.
    fn rest(&mut self, agent: Agent, entries: &[Entry], options: &str) {
        for entry in entries {
            let present = entry.present();
            if entry.merged(&present).is_ok_and(|merged| merged != present) {
                let (file, name) = (entry.file.display(), agent.name());
                let text = format!("{file} does not have all of it: `semdex init {name} {options}` adds it");
                self.say("note", agent, &text);
            }
        }
    }

    /// Reports what the user has answered, or will be asked.
    fn questions(&mut self, agent: Agent, root: &Path, has_hooks: bool) {
        let answers = match agent {
            Agent::Claude => consent::claude(root),
            Agent::Codex => consent::codex(root, has_hooks),
            Agent::Gemini => consent::gemini(root),
            _ => None,
        };
        let Some(answers) = answers else {
            for question in agents::questions(agent, has_hooks) {
                self.say("note", agent, question);
            }
            return;
        };
        for Consent { answer, text } in answers {
            match answer {
                Answer::Given => self.say("ok", agent, &text),
                Answer::Open => self.say("asks", agent, &text),
                Answer::Refused => self.fail("REFUSED", agent, &text),
            }
        }
    }
}

/// Whether the file of the hooks has one of semdex.
fn has_hook(entry: &Entry) -> bool {
    let document = document(&entry.file).ok().flatten().unwrap_or_default();
    entry.items.iter().any(|it| match it.kind {
        Kind::Hook(agent) => {
            it.in_document(&document).is_some_and(|list| own::hook_in(list, &agent.name(), None).is_some())
        }
        _ => false,
    })
}

fn is_there(command: &str) -> bool {
    if command.contains('/') {
        return Path::new(command).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|it| it.join(command).is_file())
}
