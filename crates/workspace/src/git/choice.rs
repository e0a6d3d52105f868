//! The files of a commit, and what else is dirty: the user's own work, in other files and in the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use super::LeftOut;
use super::file_paths::{GitPath, text};
use super::index::Content;
use super::repository::{Head, Repository};
use super::status::{Kind, Status};
use semdex_model::{Code, Error, Help, Result};

/// A file to be committed in its current state.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name in the workspace.
    pub file: String,
    /// The request names the file, not only a change.
    pub named: bool,
    /// The target in the workspace, if the file is a link. If the link is as in the last commit, the target is
    /// committed.
    pub leads_to: Option<String>,
    /// The content before the first of the changes to be committed.
    pub before: Option<Before>,
}

/// The content of a file before a change of semdex.
#[derive(Debug, Clone)]
pub struct Before {
    /// `None` if there was no file.
    pub text: Option<Arc<str>>,
    /// Milliseconds since 1970.
    pub changed_at: i64,
    /// The contents that the changes left.
    pub outcomes: Vec<Option<Arc<str>>>,
}

/// What is to be committed, and what else is dirty.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) paths: BTreeSet<GitPath>,
    pub(super) left_out: Vec<LeftOut>,
    /// Tracked files that the user has changed.
    pub(super) others: BTreeSet<GitPath>,
    /// The contents of the chosen files before the changes, where they differ from the last commit.
    pub(super) own_lines: Vec<Content>,
}

impl Repository {
    pub(super) fn choose(&self, wanted: &[Wanted], head: &Head, status: &Status) -> Result<Choice> {
        let mut paths = self.meant(wanted, head, status)?;
        let all: BTreeSet<GitPath> = paths.keys().cloned().collect();
        if let Some((path, directory)) = self.inner_repository(&all, head)? {
            let detail = format!(
                "`{}` lies in `{}`, a submodule or a repository of its own: open that as a workspace to commit there",
                self.naming.shown(&path),
                self.naming.shown(&directory)
            );
            return Err(Error::new(Code::Conflict, detail));
        }
        let committed = self.committed(&all, head)?;
        for (path, it) in &paths {
            if it.named && !self.is_there(path) && !committed.contains_key(path) && !self.is_in_index(path)? {
                let help = Help { file: Some(it.file.clone()), ..Help::default() };
                let detail = format!("`{}` is neither in the work tree nor tracked by git", it.file);
                return Err(Error::new(Code::UnknownFile, detail).with_help(help));
            }
        }
        let mut left_out = Vec::new();
        for path in self.ignored(&all)? {
            paths.remove(&path);
            let reason = "git ignores it (`.gitignore`): `git add --force` makes it a tracked file".to_owned();
            left_out.push(LeftOut { file: self.naming.shown(&path), reason });
        }
        let mut others = BTreeSet::new();
        for entry in status.entries.iter().filter(|it| !matches!(it.kind, Kind::Untracked | Kind::Unmerged)) {
            // A renamed file counts as two: a deleted and an added one.
            let gone = entry.from.iter().filter(|_| entry.kind == Kind::Renamed);
            others.extend(gone.chain([&entry.path]).filter(|it| !paths.contains_key(*it)).cloned());
        }
        let mut own_lines = Vec::new();
        for (path, wanted) in &paths {
            let staged = status.entries.iter().any(|it| it.path == *path && it.kind == Kind::Added);
            if let Some(before) = &wanted.before
                && let Some(content) = self.own_lines(path, before, committed.get(path), staged)?
            {
                own_lines.push(content);
            }
        }
        Ok(Choice { paths: paths.into_keys().collect(), left_out, others, own_lines })
    }

    /// Git's names of the requested files.
    fn meant<'w>(&self, wanted: &'w [Wanted], head: &Head, status: &Status) -> Result<BTreeMap<GitPath, &'w Wanted>> {
        let links = wanted.iter().filter(|it| it.leads_to.is_some()).map(|it| self.naming.of(&it.file)).collect();
        let committed = self.committed(&links, head)?;
        let is_as_committed =
            |it: &GitPath| committed.contains_key(it) && status.entries.iter().all(|of| of.path != *it);
        let mut paths: BTreeMap<GitPath, &Wanted> = BTreeMap::new();
        for it in wanted {
            let own = self.naming.of(&it.file);
            let target = it.leads_to.as_ref().filter(|_| is_as_committed(&own)).map(|it| self.naming.of(it));
            // For a file that a change wrote, its content before is known.
            let meant = paths.entry(target.unwrap_or(own)).or_insert(it);
            if it.before.is_some() {
                *meant = it;
            }
        }
        Ok(paths)
    }

    /// The content of a file before the changes, where it is the user's own uncommitted work.
    fn own_lines(
        &self,
        path: &GitPath,
        before: &Before,
        committed: Option<&String>,
        staged: bool,
    ) -> Result<Option<Content>> {
        let Some(committed) = committed else {
            // An untracked file stays untracked.
            let text = before.text.as_ref().filter(|_| staged);
            return Ok(text.map(|it| Content { path: path.clone(), text: Some(it.as_bytes().to_vec()) }));
        };
        let object = |text: &Arc<str>| -> Result<String> {
            let run = self.run(&["hash-object", "--stdin", "--path"]).with(path);
            Ok(super::file_paths::text(&run.input(text.as_bytes().to_vec()).line()?))
        };
        if let Some(text) = &before.text
            && object(text)? == *committed
        {
            return Ok(None);
        }
        // If the file was committed since, the commit includes its content before the changes.
        for outcome in before.outcomes.iter().flatten() {
            if object(outcome)? == *committed {
                return Ok(None);
            }
        }
        let last = self.run(&["rev-list", "-1", "--timestamp", "HEAD", "--"]).with(path).output()?;
        let last: i64 = text(&last).split(' ').next().and_then(|it| it.parse().ok()).unwrap_or_default();
        if last.saturating_mul(1000) > before.changed_at {
            return Ok(None);
        }
        Ok(Some(Content { path: path.clone(), text: before.text.as_ref().map(|it| it.as_bytes().to_vec()) }))
    }

    /// The objects of these files in the last commit.
    pub(super) fn committed(&self, paths: &BTreeSet<GitPath>, head: &Head) -> Result<BTreeMap<GitPath, String>> {
        let Some(commit) = head.commit.as_deref().filter(|_| !paths.is_empty()) else { return Ok(BTreeMap::new()) };
        let mut found = BTreeMap::new();
        for some in paths.iter().collect::<Vec<_>>().chunks(500) {
            let mut run = self.run(&["ls-tree", "-z", "--full-tree"]).with(commit).with("--");
            for path in some {
                run = run.with(path);
            }
            for line in run.output()?.split(|it| *it == 0) {
                let mut parts = line.splitn(2, |it| *it == b'\t');
                let (Some(head), Some(path)) = (parts.next(), parts.next()) else { continue };
                if let Some(object) = text(head).split(' ').nth(2) {
                    found.insert(path.to_vec(), object.to_owned());
                }
            }
        }
        Ok(found)
    }

    pub(super) fn is_there(&self, path: &[u8]) -> bool {
        fs::symlink_metadata(self.top.join(OsStr::from_bytes(path))).is_ok()
    }

    fn is_in_index(&self, path: &GitPath) -> Result<bool> {
        Ok(!self.run(&["ls-files", "-z", "--"]).with(path).output()?.is_empty())
    }
}
