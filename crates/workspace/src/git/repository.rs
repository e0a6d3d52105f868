//! The repository around a workspace: where it is, its state, and what must not be done in it now.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::end::End;
use super::file_paths::{GitPath, Naming, text};
use super::program::{Program, Run, failed};
use super::status::{self, Kind, Status};
use semdex_model::{Code, Error, Result};

/// Files in the git directory of a work tree that exist while an operation is in progress.
const OPERATIONS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick"),
    ("BISECT_LOG", "bisect"),
];
/// At most this many files are named in a message.
const NAMED: usize = 10;

/// A repository with a work tree around the workspace.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    pub(super) git: Program,
    /// The top directory of the work tree.
    pub(super) top: PathBuf,
    /// The directory of this work tree's own files: its index, its HEAD.
    pub(super) directory: PathBuf,
    /// The directory that all work trees share: the branches.
    pub(super) common: PathBuf,
    pub(super) naming: Naming,
    /// Commits are to be signed.
    pub(super) signs: bool,
    pub(super) is_shallow: bool,
}

/// The state of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// `None` before the first commit.
    pub(super) commit: Option<String>,
    /// For example `refs/heads/main`. `None` if HEAD is detached.
    pub(super) branch: Option<Vec<u8>>,
}

impl Repository {
    /// Finds the repository of a workspace's root.
    pub(super) fn find(root: &Path, trusted: bool, end: End) -> Result<Repository> {
        let mut git = Program::new(root, trusted, end)?;
        let asked = ["rev-parse", "--is-inside-work-tree", "--is-shallow-repository"];
        let ended = git.run(&asked).ended()?;
        if !ended.is_well() {
            return Err(not_found(root, failed("rev-parse", &ended)));
        }
        let mut lines = ended.stdout.split(|it| *it == b'\n');
        if lines.next() != Some(b"true") {
            let detail =
                format!("{} lies in a repository without a work tree, so nothing can be dirty", root.display());
            return Err(Error::new(Code::NotARepository, detail));
        }
        let is_shallow = lines.next() == Some(b"true");
        let line = |argument: &str| git.run(&["rev-parse", argument]).line();
        let path = |argument: &str| Ok::<_, Error>(PathBuf::from(OsString::from_vec(line(argument)?)));
        let top = path("--show-toplevel")?;
        let directory = path("--absolute-git-dir")?;
        let common = root.join(path("--git-common-dir")?);
        // With a slash at its end, if it is not empty.
        let prefix = line("--show-prefix")?;
        let settings = Settings::read(&git.run(&["config", "--list", "-z"]).output()?);
        git.filters = settings.filters.into_iter().collect();
        let git = git.at(&top);
        Ok(Repository { git, top, directory, common, naming: Naming { prefix }, signs: settings.signs, is_shallow })
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Run<'_> {
        self.git.run(arguments)
    }

    pub(super) fn head(&self) -> Result<Head> {
        let commit = self.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ended()?;
        let branch = self.run(&["symbolic-ref", "--quiet", "HEAD"]).ended()?;
        Ok(Head {
            commit: commit.is_well().then(|| text(commit.line())),
            branch: branch.is_well().then(|| branch.line().to_vec()),
        })
    }

    /// The tree of a commit, or the empty tree.
    pub(super) fn tree_of(&self, commit: Option<&str>) -> Result<String> {
        match commit {
            Some(commit) => Ok(text(&self.run(&["rev-parse", "--verify"]).with(format!("{commit}^{{tree}}")).line()?)),
            None => Ok(text(&self.run(&["hash-object", "-t", "tree", "-w", "--stdin"]).line()?)),
        }
    }

    pub(super) fn status(&self, untracked: bool, submodules: bool) -> Result<Status> {
        let untracked = if untracked { "--untracked-files=all" } else { "--untracked-files=no" };
        // A submodule is examined by another git, which uses the submodule's configuration.
        let submodules = if submodules && self.git.trusted { "untracked" } else { "dirty" };
        let run = self.run(&["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--find-renames"]);
        // Otherwise git would start the configured file system monitor.
        let run =
            run.with(untracked).with(format!("--ignore-submodules={submodules}")).setting("core.fsmonitor", "false");
        let output = run.output()?;
        status::parse(&output)
            .ok_or_else(|| Error::new(Code::Internal, "`git status` printed what is not of its documented form"))
    }

    /// The operation in progress, which has to be finished first.
    pub(super) fn operation(&self) -> Option<&'static str> {
        let lies = |name: &str| fs::symlink_metadata(self.directory.join(name)).is_ok();
        // If references are not stored in files, these are not either.
        let is = |name: &str| {
            let verified =
                || self.run(&["rev-parse", "--verify", "--quiet", name]).ended().is_ok_and(|it| it.is_well());
            lies(name) || self.common.join("reftable").exists() && name.ends_with("_HEAD") && verified()
        };
        OPERATIONS.iter().find(|(name, _)| is(name)).map(|(_, operation)| *operation)
    }

    /// An error while a merge, a rebase or the like is in progress, or files are unmerged.
    pub(super) fn check_idle(&self, status: &Status) -> Result<()> {
        if let Some(operation) = self.operation() {
            let detail = format!("a {operation} is in progress: finish it or abort it, and ask again");
            return Err(Error::new(Code::Conflict, detail));
        }
        let unmerged: Vec<&[u8]> =
            status.entries.iter().filter(|it| it.kind == Kind::Unmerged).map(|it| it.path.as_slice()).collect();
        if unmerged.is_empty() {
            return Ok(());
        }
        let detail = format!("files are not merged: {}: resolve them, and ask again", self.list(unmerged));
        Err(Error::new(Code::Conflict, detail))
    }

    /// Files as a message lists them.
    pub(super) fn list<'a>(&self, paths: impl IntoIterator<Item = &'a [u8]>) -> String {
        let names: Vec<String> = paths.into_iter().map(|it| format!("`{}`", self.naming.shown(it))).collect();
        let more = names.len().saturating_sub(NAMED);
        let shown = names.get(..NAMED).unwrap_or(&names).join(", ");
        if more == 0 { shown } else { format!("{shown} and {more} more") }
    }

    /// The nested repository that contains a file: a submodule, or an unregistered repository.
    pub(super) fn inner_repository(
        &self,
        paths: &BTreeSet<GitPath>,
        head: &Head,
    ) -> Result<Option<(GitPath, GitPath)>> {
        let mut above: BTreeSet<GitPath> = BTreeSet::new();
        for path in paths {
            for (at, _) in path.iter().enumerate().filter(|(_, it)| **it == b'/') {
                above.extend(path.get(..at).map(<[u8]>::to_vec));
            }
        }
        let is_inner = |directory: &GitPath| {
            let directory = self.top.join(Path::new(std::ffi::OsStr::from_bytes(directory)));
            fs::symlink_metadata(directory.join(".git")).is_ok()
        };
        let mut inner: BTreeSet<GitPath> = above.iter().filter(|it| is_inner(it)).cloned().collect();
        if let (Some(commit), false) = (&head.commit, above.is_empty()) {
            // A submodule that is not checked out has no `.git`.
            let mut run = self.run(&["ls-tree", "-z", "--full-tree"]).with(commit).with("--");
            for directory in &above {
                run = run.with(directory);
            }
            for line in run.output()?.split(|it| *it == 0).filter(|it| it.starts_with(b"160000 ")) {
                inner.extend(line.splitn(2, |it| *it == b'\t').nth(1).map(<[u8]>::to_vec));
            }
        }
        let below = |path: &&GitPath, directory: &GitPath| {
            path.strip_prefix(directory.as_slice()).is_some_and(|rest| rest.first() == Some(&b'/'))
        };
        Ok(inner.into_iter().find_map(|directory| {
            let path = paths.iter().find(|path| below(path, &directory))?;
            Some((path.clone(), directory))
        }))
    }
}

fn not_found(root: &Path, error: Error) -> Error {
    if error.code == Code::Untrusted {
        return error;
    }
    if error.detail.contains("not a git repository") || error.detail.contains("bare repository") {
        let detail = format!("{} is in no repository of git: {}", root.display(), error.detail);
        return Error::new(Code::NotARepository, detail);
    }
    error
}

/// The settings of git's configuration that are used here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    signs: bool,
    /// The filters that have commands.
    filters: BTreeSet<String>,
}

impl Settings {
    /// Parses `git config --list -z`: each key, a line feed and the value if there is one, then NUL.
    fn read(output: &[u8]) -> Settings {
        let mut settings = Settings::default();
        for entry in output.split(|it| *it == 0) {
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n').map_or((entry.as_ref(), None), |(key, value)| (key, Some(value)));
            if key == "commit.gpgsign" {
                settings.signs = value.is_none_or(is_true);
            }
            let filter = key.strip_prefix("filter.").and_then(|it| it.rsplit_once('.'));
            if let Some((name, "clean" | "smudge" | "process")) = filter {
                settings.filters.insert(name.to_owned());
            }
        }
        settings
    }
}

fn is_true(value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    matches!(value.as_str(), "true" | "yes" | "on") || value.parse::<i64>().is_ok_and(|it| it != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let list =
            b"core.bare\nfalse\0commit.gpgsign\nyes\0filter.a.b=c.clean\nsed\ns/x/y/\0filter.lfs.required\ntrue\0";
        let filters = ["a.b=c".to_owned()].into();
        assert_eq!(Settings::read(list), Settings { signs: true, filters });
        assert!(Settings::read(b"commit.gpgsign\0").signs);
        // The last one counts.
        assert!(!Settings::read(b"commit.gpgsign\n1\0commit.gpgsign\n0\0").signs);
    }
}
