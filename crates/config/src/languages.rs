//! `[languages.NAME]`: how a language server is found, started and used. The embedded table has the same keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The keys of one language in one file. A key that is absent has the value of the file below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageKeys {
    /// `false` switches the language off.
    pub enabled: Option<bool>,
    /// The language's name in messages.
    pub title: Option<String>,
    /// The server's name in the status. Default: the program's name.
    pub server: Option<String>,
    /// The language whose server also serves this one.
    pub shares: Option<String>,
    /// The program and its arguments.
    pub command: Option<Vec<String>>,
    /// If the command is a script that starts a native program: paths of that program below a `node_modules` directory.
    pub native: Option<Vec<String>>,
    /// The command that installs the server.
    pub install: Option<String>,
    /// File extensions without the dot, each with the language ID of the protocol.
    pub extensions: Option<BTreeMap<String, String>>,
    /// Whole file names, each with the language ID of the protocol.
    pub file_names: Option<BTreeMap<String, String>>,
    /// Files that make a directory a root, in order of preference.
    pub roots: Option<Vec<String>>,
    /// Files that prevent a directory from being a root.
    pub exclude: Option<Vec<String>>,
    /// `initializationOptions`.
    pub init: Option<Value>,
    /// The answer to `workspace/configuration`.
    pub settings: Option<Value>,
    /// Environment variables of the server, in addition to semdex's own.
    pub env: Option<BTreeMap<String, String>>,
    /// How semdex detects that the server has loaded the workspace.
    pub readiness: Option<Readiness>,
    /// How the server reports its diagnostics.
    pub diagnostics: Option<DiagnosticsFrom>,
    /// Codes of diagnostics that are not reported.
    pub ignored_codes: Option<Vec<String>>,
    /// A request specific to this server about a position. An empty answer means that the server does not know the
    /// symbol there. It is sent before a definition request whose answer may be a guess.
    pub known_by: Option<String>,
    /// Methods of requests that are never cancelled, because the server has to complete them.
    pub uncancelled: Option<Vec<String>>,
    /// Pushed diagnostics without a version are accepted after no further ones have arrived for this time.
    pub quiet_ms: Option<u64>,
    /// Whether the server is notified of saved documents, if it supports that.
    pub saves: Option<bool>,
    /// Paths below a root, with `*` for any one name, that every installation of packages changes. A change restarts
    /// the server.
    pub environment: Option<Vec<String>>,
    /// Keys that differ if `command` names another program, by that program's name.
    pub programs: Option<BTreeMap<String, LanguageKeys>>,
    /// Additional arguments in a workspace that is not trusted, for example to write no files.
    pub untrusted_arguments: Option<Vec<String>>,
    /// The server runs code of the workspace, so it is started only in a trusted workspace.
    pub runs_code: Option<bool>,
    /// Files are checked only on request, and are not part of answers about the whole workspace.
    pub on_request: Option<bool>,
    /// Whether the server formats changed files.
    pub format: Option<bool>,
    /// One level of indentation.
    pub indent: Option<String>,
    /// The most memory that the server may use, in MiB. Beyond it, the server is restarted.
    pub memory_mib: Option<u64>,
    /// A server that leaves a request unanswered for so many seconds, and answers no other during that time, is
    /// restarted.
    pub deadline_s: Option<u64>,
    /// The tool that reports diagnostics when the server is not available. The file's name is appended to its
    /// arguments.
    pub fallback: Option<Vec<String>>,
    /// The command that installs the fallback.
    pub fallback_install: Option<String>,
    /// The commands that check, lint and test code of the language.
    pub verify: Option<VerifyCommands>,
}

/// `[languages.NAME.verify]`: each command is a program and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerifyCommands {
    /// The command of `verify check`.
    pub check: Option<Vec<String>>,
    /// The command of `verify lint`.
    pub lint: Option<Vec<String>>,
    /// The command of `verify test`.
    pub test: Option<Vec<String>>,
}

/// When the answers of a server that has just started are complete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Readiness {
    /// When the work that it reports has ended.
    pub progress: bool,
    /// When it has logged a line that contains one of these texts.
    pub log: Vec<String>,
    /// How long semdex waits for the line or for the first report of work, in milliseconds.
    pub grace_ms: u64,
}

/// How a server reports its diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticsFrom {
    /// It answers `textDocument/diagnostic`.
    Pull,
    /// It sends `textDocument/publishDiagnostics` at any time.
    Push,
    /// It reports none.
    None,
}

impl LanguageKeys {
    /// These keys over the keys of `base`. Settings are merged key by key.
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

    /// Without the keys that start programs or determine what programs run.
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

/// The workspace's file over the user's. Keys that start programs count only in a trusted workspace.
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
