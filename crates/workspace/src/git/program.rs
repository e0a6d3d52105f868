//! Runs the user's `git` for one answer, with a deadline, without prompts or pagers, and in an environment that does
//! not refer to another repository. In an untrusted workspace it starts no program that the repository names.

use std::ffi::{OsStr, OsString};
use std::io::{Seek as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use super::end::End;
use semdex_model::{Code, Error, Result};
use semdex_process::process_group::{Failure, run_on};
use semdex_process::search_path;

/// How long one run of git may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How much of the output of git or a hook is reported, in bytes.
const MOST_WORDS: usize = 2000;
/// The first version that takes settings from variables with arbitrary values.
const OLDEST: (u32, u32) = (2, 31);

/// Variables of git that are kept: the user's identity and the place of the user's configuration. All others would
/// select another repository, another index or other behaviour.
const KEPT: &[&str] = &[
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
    "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];
const KEPT_PREFIXES: &[&str] = &["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Settings for every run.
const ALWAYS: &[(&str, &str)] =
    &[("i18n.commitEncoding", "UTF-8"), ("gc.auto", "0"), ("maintenance.auto", "false"), ("core.pager", "cat")];

/// Settings that keep a repository from running its own programs.
const UNTRUSTED: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("submodule.recurse", "false"),
];

/// How git is run in one directory.
#[derive(Debug, Clone)]
pub(super) struct Program {
    program: PathBuf,
    directory: PathBuf,
    pub(super) trusted: bool,
    /// The filters that have commands in the configuration.
    pub(super) filters: Vec<String>,
    end: End,
}

/// A run in preparation.
pub(super) struct Run<'a> {
    git: &'a Program,
    arguments: Vec<OsString>,
    input: Option<Vec<u8>>,
    variables: Vec<(&'static str, OsString)>,
    settings: Vec<(String, String)>,
    limit: Duration,
    whole: bool,
}

/// How a program ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    /// The standard error output.
    pub(super) words: String,
}

impl Ended {
    pub(super) fn is_well(&self) -> bool {
        self.code == Some(0)
    }

    /// The only line of the output.
    pub(super) fn line(&self) -> &[u8] {
        self.stdout.strip_suffix(b"\n").unwrap_or(&self.stdout)
    }
}

impl Program {
    pub(super) fn new(directory: &Path, trusted: bool, end: End) -> Result<Program> {
        let program = search_path::find("git").ok_or_else(|| {
            Error::new(Code::EngineUnavailable, "git is not installed, or not on the PATH: install it, and ask again")
        })?;
        let git = Program { program, directory: directory.to_path_buf(), trusted, filters: Vec::new(), end };
        git.check_version()?;
        Ok(git)
    }

    pub(super) fn at(&self, directory: &Path) -> Program {
        Program { directory: directory.to_path_buf(), ..self.clone() }
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Run<'_> {
        Run {
            git: self,
            arguments: arguments.iter().map(OsString::from).collect(),
            input: None,
            variables: Vec::new(),
            settings: Vec::new(),
            limit: LIMIT,
            whole: false,
        }
    }

    /// Another program, such as a hook, in the same environment.
    pub(super) fn other(&self, program: &Path, arguments: &[&OsStr], index: &Path, limit: Duration) -> Result<Ended> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        clean(&mut command);
        command
            .env("GIT_INDEX_FILE", index)
            .env("GIT_EDITOR", ":")
            .env("GIT_PREFIX", "")
            .env("GIT_TERMINAL_PROMPT", "0");
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.wait(command, Stdio::null(), limit, &format!("the hook `{name}`"), false)
    }

    fn wait(&self, command: Command, input: Stdio, limit: Duration, what: &str, whole: bool) -> Result<Ended> {
        let is_revoked = || self.trusted && self.end.revoked.load(Ordering::Relaxed);
        let is_wanted = || whole || !self.end.cancelled.load(Ordering::Relaxed) && !is_revoked();
        let revoked = || {
            let detail =
                format!("{what} was ended: the trust in this workspace was taken back (`semdex trust --revoke`)");
            Error::new(Code::Untrusted, detail)
        };
        if !whole && is_revoked() {
            return Err(revoked());
        }
        let output = run_on(command, input, Instant::now() + limit, &is_wanted).map_err(|failure| match failure {
            Failure::NotStarted(error) => {
                Error::new(Code::PermissionDenied, format!("{what} could not be started: {error}"))
            }
            Failure::Late => Error::new(Code::Timeout, format!("{what} did not end within {} s", limit.as_secs())),
            Failure::Unwanted if !self.end.cancelled.load(Ordering::Relaxed) => revoked(),
            Failure::Unwanted => Error::new(Code::Timeout, "the client has gone, so it was given up"),
        })?;
        Ok(Ended { code: output.status.code(), stdout: output.stdout, words: words(&output.stderr) })
    }

    fn check_version(&self) -> Result<()> {
        /// A version that is new enough was found. It is not checked again.
        static IS_NEW_ENOUGH: AtomicBool = AtomicBool::new(false);
        if IS_NEW_ENOUGH.load(Ordering::Relaxed) {
            return Ok(());
        }
        let said = self.run(&["--version"]).ended()?;
        let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        match version(&said) {
            Some(found) if found >= OLDEST => {
                IS_NEW_ENOUGH.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => {
                let detail = format!("git {}.{} or newer is needed; `git --version` says: {said}", OLDEST.0, OLDEST.1);
                Err(Error::new(Code::EngineUnavailable, detail))
            }
        }
    }
}

impl Run<'_> {
    pub(super) fn with(mut self, argument: impl AsRef<[u8]>) -> Self {
        self.arguments.push(OsString::from_vec(argument.as_ref().to_vec()));
        self
    }

    pub(super) fn input(self, input: Vec<u8>) -> Self {
        Run { input: Some(input), ..self }
    }

    pub(super) fn variable(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name, value.as_ref().to_owned()));
        self
    }

    pub(super) fn setting(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn index(self, index: &Path) -> Self {
        self.variable("GIT_INDEX_FILE", index)
    }

    /// The run is not ended if the client stops waiting.
    pub(super) fn whole(self) -> Self {
        Run { whole: true, ..self }
    }

    pub(super) fn within(self, limit: Duration) -> Self {
        Run { limit, ..self }
    }

    /// Runs the program and returns how it ended.
    pub(super) fn ended(self) -> Result<Ended> {
        let git = self.git;
        let mut command = Command::new(&git.program);
        command.args(&self.arguments).current_dir(&git.directory);
        clean(&mut command);
        for (name, value) in [
            ("LC_ALL", "C"),
            ("LANGUAGE", ""),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("GIT_EDITOR", ":"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ] {
            command.env(name, value);
        }
        if !git.trusted {
            // Otherwise a partial clone would fetch missing objects by a program that the repository names.
            command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        }
        let untrusted = UNTRUSTED.iter().filter(|_| !git.trusted).chain(ALWAYS);
        let mut settings: Vec<(String, String)> =
            untrusted.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        if !git.trusted {
            for filter in &git.filters {
                settings
                    .extend(["clean", "smudge", "process"].map(|it| (format!("filter.{filter}.{it}"), String::new())));
                settings.push((format!("filter.{filter}.required"), "false".to_owned()));
            }
        }
        settings.extend(self.settings);
        set(&mut command, &settings);
        command.envs(self.variables);
        let what = self.arguments.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        git.wait(command, stdin(self.input.as_deref())?, self.limit, &format!("`git {what}`"), self.whole)
    }

    /// The output. An error if the program fails.
    pub(super) fn output(self) -> Result<Vec<u8>> {
        let what = self.arguments.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let ended = self.ended()?;
        if ended.is_well() { Ok(ended.stdout) } else { Err(failed(&what, &ended)) }
    }

    /// The only line of the output. An error if the program fails.
    pub(super) fn line(self) -> Result<Vec<u8>> {
        let mut output = self.output()?;
        if output.last() == Some(&b'\n') {
            output.pop();
        }
        Ok(output)
    }
}

/// The error for a failed git, with its message.
pub(super) fn failed(what: &str, ended: &Ended) -> Error {
    if ended.words.contains("No space left on device") {
        return Error::new(Code::DiskFull, format!("`git {what}`: {}", ended.words));
    }
    if ended.words.contains("dubious ownership") || ended.words.contains("unsafe repository") {
        let detail = format!("git does not trust the owner of this repository: {}", ended.words);
        return Error::new(Code::Untrusted, detail);
    }
    let why = if ended.words.is_empty() { format!("it ended with {:?}", ended.code) } else { ended.words.clone() };
    Error::new(Code::Conflict, format!("`git {what}` failed: {why}"))
}

/// Removes variables that would make git use something else.
fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let bytes = name.as_bytes();
        let is_kept = KEPT.iter().any(|it| it.as_bytes() == bytes)
            || KEPT_PREFIXES.iter().any(|it| bytes.starts_with(it.as_bytes()));
        if bytes.starts_with(b"GIT_") && !is_kept {
            command.env_remove(name);
        }
    }
}

/// Adds settings after those that the environment already has.
fn set(command: &mut Command, settings: &[(String, String)]) {
    let count = std::env::var("GIT_CONFIG_COUNT").ok();
    let before: usize = count.and_then(|it| it.parse().ok()).unwrap_or_default();
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{}", before + number), key);
        command.env(format!("GIT_CONFIG_VALUE_{}", before + number), value);
    }
    command.env("GIT_CONFIG_COUNT", (before + settings.len()).to_string());
}

/// In memory, so that no thread has to write to a pipe while git prints.
fn stdin(input: Option<&[u8]>) -> Result<Stdio> {
    let Some(input) = input else { return Ok(Stdio::null()) };
    let filled = || -> std::io::Result<std::fs::File> {
        let mut file = std::fs::File::from(memfd_create("semdex-git", MemfdFlags::CLOEXEC)?);
        file.write_all(input)?;
        file.rewind()?;
        Ok(file)
    };
    let file = filled().map_err(|error| Error::new(Code::Internal, format!("no memory for git's input: {error}")))?;
    Ok(Stdio::from(file))
}

/// The end of the message, which contains the reason.
pub(super) fn words(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text: Vec<&str> = text.lines().filter(|it| !it.trim_start().starts_with("hint: ")).collect();
    let text = text.join("\n");
    let text = text.trim();
    let from = text.char_indices().rev().nth(MOST_WORDS).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default().to_owned()
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split('.').map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("git version 2.39.5"), Some((2, 39)));
        assert_eq!(version("git version 2.50.1 (Apple Git-155)"), Some((2, 50)));
        assert_eq!(version("hub version 1"), None);
    }

    #[test]
    fn of_many_words_the_last_are_reported() {
        assert_eq!(words(b" hint: x\n"), "");
        assert_eq!(words(b"hint: x\nfatal: no\n"), "fatal: no");
        let long = "x".repeat(MOST_WORDS * 3) + "end";
        assert!(words(long.as_bytes()).ends_with("end") && words(long.as_bytes()).len() == MOST_WORDS + 1);
    }
}
