//! `[languages.NAME]`: how a language server is found, started and asked. The same keys stand in the embedded table.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// What one file says of one language. What it leaves out is as the file below it has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageKeys {
    /// `false` switches the language off.
    pub enabled: Option<bool>,
    /// As prose names the language.
    pub title: Option<String>,
    /// The server as the status names it; else the program's name.
    pub server: Option<String>,
    /// The language whose server serves this one too.
    pub shares: Option<String>,
    /// The program and its arguments.
    pub command: Option<Vec<String>>,
    /// Paths below a `node_modules` of the program itself, where the command is a script that starts it.
    pub native: Option<Vec<String>>,
    /// The command that installs the server.
    pub install: Option<String>,
    /// Of its files, without the dot, each with the protocol's name of the language.
    pub extensions: Option<BTreeMap<String, String>>,
    /// The same for files by their whole names.
    pub file_names: Option<BTreeMap<String, String>>,
    /// Files that make a directory a root, the best first.
    pub roots: Option<Vec<String>>,
    /// Files that make a directory none.
    pub exclude: Option<Vec<String>>,
    /// `initializationOptions`.
    pub init: Option<Value>,
    /// What `workspace/configuration` answers.
    pub settings: Option<Value>,
    /// Environment variables of the server, besides those of semdex.
    pub env: Option<BTreeMap<String, String>>,
    /// By which sign the server is known to have loaded the workspace.
    pub readiness: Option<Readiness>,
    /// How the server gives its diagnostics.
    pub diagnostics: Option<DiagnosticsFrom>,
    /// Codes of diagnostics that are not reported.
    pub ignored_codes: Option<Vec<String>>,
    /// A question of the server's own about a place, answered with nothing where it does not know what stands there. It is
    /// asked before a definition that may be a guess.
    pub known_by: Option<String>,
    /// Requests that the server is never told to cancel, by their methods: it has to end them, though nobody waits any more.
    pub uncancelled: Option<Vec<String>>,
    /// Diagnostics that are pushed without a version count once nothing came for so long.
    pub quiet_ms: Option<u64>,
    /// Whether the server hears of documents that are saved, if it wants to.
    pub saves: Option<bool>,
    /// Below a root, `*` for any one name: what every installation of packages changes. The server is started anew then.
    pub environment: Option<Vec<String>>,
    /// What is other where `command` names another program, by that program's name.
    pub programs: Option<BTreeMap<String, LanguageKeys>>,
    /// What the server is called with besides, where the workspace is not trusted: that it writes nothing, say.
    pub untrusted_arguments: Option<Vec<String>>,
    /// It runs code of the workspace, so that it is started only where that is trusted.
    pub runs_code: Option<bool>,
    /// Its files are checked where somebody asks for them, and are no part of what is asked of the whole workspace.
    pub on_request: Option<bool>,
    /// Whether the server formats what is written.
    pub format: Option<bool>,
    /// One level of indentation.
    pub indent: Option<String>,
    /// The most memory that the server may take, in MiB; then it is restarted.
    pub memory_mib: Option<u64>,
    /// A server that leaves a question unanswered for so many seconds, and answers no other meanwhile, is restarted.
    pub deadline_s: Option<u64>,
    /// The tool that answers for diagnostics where there is no server. The file's name is appended.
    pub fallback: Option<Vec<String>>,
    /// The command that installs the fallback.
    pub fallback_install: Option<String>,
    /// The commands that check, lint and test its code.
    pub verify: Option<VerifyCommands>,
}

/// `[languages.NAME.verify]`: each a program and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerifyCommands {
    /// What `verify check` runs.
    pub check: Option<Vec<String>>,
    /// What `verify lint` runs.
    pub lint: Option<Vec<String>>,
    /// What `verify test` runs.
    pub test: Option<Vec<String>>,
}

/// When a server that has just started can be believed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Readiness {
    /// When the work that it reports has ended.
    pub progress: bool,
    /// When it has logged a line with one of these.
    pub log: Vec<String>,
    /// So long it is waited for the line, or for the first report of work.
    pub grace_ms: u64,
}

/// How a server gives its diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticsFrom {
    /// It answers `textDocument/diagnostic`.
    Pull,
    /// It sends `textDocument/publishDiagnostics` when it likes.
    Push,
    /// It has none.
    None,
}

impl LanguageKeys {
    /// These keys, and what they leave out as the others have it. Settings are merged key by key.
    pub fn over(self, base: LanguageKeys) -> LanguageKeys {
        LanguageKeys {
            enabled: self.enabled.or(base.enabled),
            title: self.title.or(base.title),
            server: self.server.or(base.server),
            shares: self.shares.or(base.shares),
            command: self.command.or(base.command),
            native: self.native.or(base.native),
            install: self.install.or(base.install),
            extensions: self.extensions.or(base.extensions),
            file_names: self.file_names.or(base.file_names),
            roots: self.roots.or(base.roots),
            exclude: self.exclude.or(base.exclude),
            init: merge(self.init, base.init),
            settings: merge(self.settings, base.settings),
            env: self.env.or(base.env),
            readiness: self.readiness.or(base.readiness),
            diagnostics: self.diagnostics.or(base.diagnostics),
            ignored_codes: self.ignored_codes.or(base.ignored_codes),
            known_by: self.known_by.or(base.known_by),
            uncancelled: self.uncancelled.or(base.uncancelled),
            quiet_ms: self.quiet_ms.or(base.quiet_ms),
            saves: self.saves.or(base.saves),
            environment: self.environment.or(base.environment),
            programs: self.programs.or(base.programs),
            untrusted_arguments: self.untrusted_arguments.or(base.untrusted_arguments),
            runs_code: self.runs_code.or(base.runs_code),
            on_request: self.on_request.or(base.on_request),
            format: self.format.or(base.format),
            indent: self.indent.or(base.indent),
            memory_mib: self.memory_mib.or(base.memory_mib),
            deadline_s: self.deadline_s.or(base.deadline_s),
            fallback: self.fallback.or(base.fallback),
            fallback_install: self.fallback_install.or(base.fallback_install),
            verify: match (self.verify, base.verify) {
                (Some(own), Some(base)) => Some(VerifyCommands {
                    check: own.check.or(base.check),
                    lint: own.lint.or(base.lint),
                    test: own.test.or(base.test),
                }),
                (own, base) => own.or(base),
            },
        }
    }

    /// Without what starts programs or tells them what to run.
    fn harmless(self) -> LanguageKeys {
        LanguageKeys {
            command: None,
            native: None,
            init: None,
            settings: None,
            env: None,
            programs: None,
            fallback: None,
            untrusted_arguments: None,
            runs_code: None,
            install: None,
            fallback_install: None,
            verify: None,
            ..self
        }
    }
}

fn merge(over: Option<Value>, base: Option<Value>) -> Option<Value> {
    match (over, base) {
        (Some(Value::Object(over)), Some(Value::Object(mut base))) => {
            for (key, value) in over {
                let below = base.remove(&key);
                if let Some(value) = merge(Some(value), below) {
                    base.insert(key, value);
                }
            }
            Some(Value::Object(base))
        }
        (over, base) => over.or(base),
    }
}

/// The workspace's file over the user's. What starts programs counts only where the workspace is trusted.
pub(super) fn merged(
    workspace: &BTreeMap<String, LanguageKeys>,
    user: &BTreeMap<String, LanguageKeys>,
    trusted: bool,
) -> BTreeMap<String, LanguageKeys> {
    let mut all = user.clone();
    for (name, keys) in workspace {
        let keys = if trusted { keys.clone() } else { keys.clone().harmless() };
        let base = all.remove(name).unwrap_or_default();
        all.insert(name.clone(), keys.over(base));
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> BTreeMap<String, LanguageKeys> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn settings_are_merged_and_the_workspace_counts_first() {
        let user = read("[py]\ncommand = ['a']\n[py.settings.x]\none = 1\ntwo = 2");
        let own = read("[py.settings.x]\ntwo = 3\n[py.env]\nA = 'b'");
        let merged = merged(&own, &user, true);
        assert_eq!(merged["py"].settings, Some(json!({"x": {"one": 1, "two": 3}})));
        assert_eq!(merged["py"].command.as_deref(), Some(&["a".to_owned()][..]));
        assert!(merged["py"].env.is_some());
    }

    #[test]
    fn what_starts_programs_counts_only_where_it_is_trusted() {
        let own = read(
            "[py]\ncommand = ['evil']\nextensions = {py = 'python'}\nfallback = ['x']\nenv = {A = 'b'}\nverify.test = ['y']",
        );
        let found = merged(&own, &BTreeMap::new(), false).remove("py").unwrap();
        assert_eq!((found.command, found.fallback, found.env, found.verify), (None, None, None, None));
        assert!(found.extensions.is_some());
        assert!(toml::from_str::<LanguageKeys>("comand = ['x']").is_err());
    }
}
