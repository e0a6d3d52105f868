//! The files of the last commits.

use std::time::Duration;

use super::file_paths::text;
use super::repository::Repository;
use semdex_model::Result;

/// So much time may reading them take.
const LIMIT: Duration = Duration::from_secs(20);
/// Merges have no files of their own.
const LOG: &[&str] = &["log", "--no-merges", "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-renames"];

/// The files of the last commits, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LastCommits {
    /// The commit that they lead to.
    pub head: String,
    /// The names of the files of each commit, in the workspace.
    pub files: Vec<Vec<String>>,
}

impl Repository {
    /// The files of the last commits. `None` if HEAD is still this commit. The repository starts no program, and git
    /// fetches nothing.
    pub(super) fn last_commits(&self, most: usize, known: Option<&str>) -> Result<Option<LastCommits>> {
        let Some(head) = self.head()?.commit else { return Ok(Some(LastCommits::default())) };
        if known == Some(head.as_str()) {
            return Ok(None);
        }
        let run =
            self.run(LOG).with("--name-only").with("-z").with("--format=%x01").with(format!("--max-count={most}"));
        let run = run.with(&head).setting("protocol.allow", "never").variable("GIT_NO_LAZY_FETCH", "1").within(LIMIT);
        let output = run.output()?;
        let commits = output.split(|it| *it == 1).skip(1);
        let names = |commit: &[u8]| {
            let paths = commit.split(|it| matches!(it, 0 | b'\n')).filter(|it| !it.is_empty());
            paths.filter_map(|it| self.naming.inside(it)).collect()
        };
        Ok(Some(LastCommits { head: text(head.as_bytes()), files: commits.map(names).collect() }))
    }
}
