//! The hooks of a commit in a trusted workspace: `pre-commit`, `commit-msg` and `post-commit`. They run on the private
//! index, so that they only see the files of the commit.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private::Private;
use super::repository::Repository;
use semdex_model::{Code, Error, Result};

/// Long, since a hook may run tests.
const LIMIT: Duration = Duration::from_secs(150);
/// Short, since nobody waits for the result.
const LIMIT_AFTERWARDS: Duration = Duration::from_secs(20);

impl Repository {
    pub(super) fn pre_commit(&self, private: &Private) -> Result<()> {
        self.hook("pre-commit", &[], private)
    }

    /// Runs the hook and returns the message as it leaves it.
    pub(super) fn commit_msg(&self, private: &Private, message: String) -> Result<String> {
        if self.find_hook("commit-msg")?.is_none() {
            return Ok(message);
        }
        let file = private.message();
        let failed = |error: std::io::Error| Error::new(Code::Internal, format!("{}: {error}", file.display()));
        fs::write(&file, &message).map_err(failed)?;
        self.hook("commit-msg", &[file.as_os_str()], private)?;
        let left = fs::read_to_string(&file).map_err(failed)?;
        if left.trim().is_empty() {
            return Err(Error::new(
                Code::InvalidContent,
                "nothing was committed: the hook `commit-msg` left no message",
            ));
        }
        Ok(left)
    }

    /// The result of the hook no longer matters.
    pub(super) fn post_commit(&self) {
        let run = || -> Result<()> {
            let Some(hook) = self.find_hook("post-commit")? else { return Ok(()) };
            self.git.other(&hook, &[], &self.directory.join("index"), LIMIT_AFTERWARDS).map(drop)
        };
        if let Err(error) = run() {
            tracing::warn!(%error, "the hook `post-commit` did not end well");
        }
    }

    fn hook(&self, name: &str, arguments: &[&OsStr], private: &Private) -> Result<()> {
        let Some(hook) = self.find_hook(name)? else { return Ok(()) };
        let ended = self.git.other(&hook, arguments, &private.index(), LIMIT).map_err(|mut error| {
            error.detail = format!("nothing was committed: {}", error.detail);
            error
        })?;
        if ended.is_well() {
            return Ok(());
        }
        // The output as a terminal would show it.
        let said = [String::from_utf8_lossy(&ended.stdout).trim().to_owned(), ended.words].join("\n");
        let said = super::program::words(said.as_bytes());
        let said = if said.is_empty() { "it says nothing".to_owned() } else { said };
        Err(Error::new(Code::InvalidContent, format!("nothing was committed: the hook `{name}` refused: {said}")))
    }

    /// The path of a hook that exists and is executable. Git ignores others too.
    fn find_hook(&self, name: &str) -> Result<Option<PathBuf>> {
        if !self.git.trusted {
            return Ok(None);
        }
        let hooks = OsString::from_vec(self.run(&["rev-parse", "--git-path", "hooks"]).line()?);
        let hook = self.top.join(Path::new(&hooks)).join(name);
        let is_executable = |it: fs::Metadata| it.is_file() && it.permissions().mode() & 0o111 != 0;
        Ok(fs::metadata(&hook).is_ok_and(is_executable).then_some(hook))
    }
}
