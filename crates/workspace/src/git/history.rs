//! Reverses a commit of the history: the files as they were before it, unless something has changed them since.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::file_paths::{GitPath, text};
use super::index::Difference;
use super::program::failed;
use super::repository::Repository;
use crate::disk::{MOST_BYTES, text_of};
use semdex_model::{Code, Error, Help, Result};

/// The changes that reverse a commit.
#[derive(Debug, Clone)]
pub struct Reverse {
    /// The full hash.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// The commit on which the reversal is based.
    pub head: String,
    /// The files to change.
    pub files: Vec<ReverseFile>,
}

/// A file of a reversed commit.
#[derive(Debug, Clone)]
pub struct ReverseFile {
    /// The name in the workspace.
    pub file: String,
    /// The object name of the content after the commit. `None` if the commit deleted the file.
    pub left: Option<String>,
    /// The content to restore. `None` if there was no file.
    pub text: Option<Arc<str>>,
    /// The permissions of a restored file.
    pub mode: Option<u32>,
    /// For a file that is deleted: how many of the directories around it were created with it.
    pub made_directories: usize,
}

/// The content of a file, and the object name that it should have.
#[derive(Debug, Clone)]
pub struct Held {
    /// The name in the workspace.
    pub file: String,
    /// The content. `None` if there is no file.
    pub text: Option<Arc<str>>,
    /// The object name. `None` if there should be no file.
    pub object: Option<String>,
}

impl Repository {
    pub(super) fn reverse(&self, name: &str) -> Result<Reverse> {
        let commit = self.resolve(name)?;
        let head = self.head()?.commit.ok_or_else(|| not_in_history(&commit))?;
        let ended = self.run(&["merge-base", "--is-ancestor"]).with(&commit).with(&head).ended()?;
        match ended.code {
            Some(0) => {}
            Some(1) => return Err(not_in_history(&commit)),
            _ => return Err(failed("merge-base", &ended)),
        }
        let parents = text(&self.run(&["rev-list", "--parents", "-n", "1"]).with(&commit).line()?);
        let parents: Vec<&str> = parents.split(' ').skip(1).collect();
        let parent = match parents[..] {
            [] if self.is_shallow => {
                return Err(conflict(format!(
                    "{commit} is where a shallow clone ends: fetch more of the history first"
                )));
            }
            [] => None,
            [parent] => Some(parent),
            _ => return Err(conflict(format!("{commit} is a merge: undo it with `git revert -m`"))),
        };
        let before = self.tree_of(parent)?;
        let after = self.tree_of(Some(&commit))?;
        let differences = self.differences(&before, &after)?;
        if differences.is_empty() {
            return Err(Error::new(
                Code::NothingToCommit,
                format!("{commit} changed no file, so there is nothing to undo"),
            ));
        }
        self.check_reversible(&differences, &commit, &head)?;
        self.check_filters(differences.iter().map(|it| &it.path))?;
        let directories = self.directories(&before)?;
        let files = differences.iter().map(|it| self.reversed(it, &before, &directories)).collect::<Result<_>>()?;
        let subject = self.run(&["log", "-1", "--no-show-signature", "--format=%s"]).with(&commit).line()?;
        Ok(Reverse { commit, subject: text(&subject), head, files })
    }

    /// The commit whose hash begins with `name`. Names of branches and HEAD are refused: they mean another commit once
    /// the undo is made, so repeating the request would undo the undo. Git is not asked to resolve the name either,
    /// since a branch or a tag may be named like the beginning of a hash.
    fn resolve(&self, name: &str) -> Result<String> {
        let unknown = |detail: String| Err(Error::new(Code::UnknownChange, detail));
        if !(4..=64).contains(&name.len()) || !name.bytes().all(|it| it.is_ascii_hexdigit()) {
            return unknown(format!(
                "`{name}` is not the hash of a commit: give the hash, or at least its first 4 characters, as `git log` \
                 and `git rev-parse` print it"
            ));
        }
        let objects =
            self.run(&["rev-parse"]).with(format!("--disambiguate={}", name.to_ascii_lowercase())).output()?;
        let kinds = self.run(&["cat-file", "--batch-check=%(objecttype) %(objectname)"]).input(objects).output()?;
        let lines = kinds.split(|it| *it == b'\n');
        let commits: Vec<&[u8]> = lines.filter_map(|it| it.strip_prefix(b"commit ")).collect();
        match commits[..] {
            [commit] => Ok(text(commit)),
            [] => unknown(format!("the repository has no commit `{name}`")),
            _ => unknown(format!("`{name}` begins the hashes of {} commits: give more of it", commits.len())),
        }
    }

    /// Refuses files that were changed since, and files that are not text.
    fn check_reversible(&self, differences: &[Difference], commit: &str, head: &str) -> Result<()> {
        let outside: Vec<&[u8]> = differences
            .iter()
            .filter(|it| self.naming.inside(&it.path).is_none())
            .map(|it| it.path.as_slice())
            .collect();
        if !outside.is_empty() {
            let files = self.list(outside);
            return Err(conflict(format!(
                "{commit} changed what is no file of this workspace: {files}: use `git revert`"
            )));
        }
        let mode = |side: &Option<(String, String)>| side.as_ref().map(|it| it.0.clone());
        let is_odd = |it: &&Difference| {
            let (old, new) = (mode(&it.old), mode(&it.new));
            let is_plain = |it: &Option<String>| it.as_deref().is_none_or(|it| it.starts_with("100"));
            !is_plain(&old) || !is_plain(&new) || old.is_some() && new.is_some() && old != new
        };
        let odd: Vec<&[u8]> = differences.iter().filter(is_odd).map(|it| it.path.as_slice()).collect();
        if !odd.is_empty() {
            let files = self.list(odd);
            let detail = format!("{commit} changed links, submodules or permissions: {files}: use `git revert`");
            return Err(conflict(detail));
        }
        let paths: BTreeSet<&GitPath> = differences.iter().map(|it| &it.path).collect();
        let later = self.differences(&self.tree_of(Some(commit))?, &self.tree_of(Some(head))?)?;
        let later = later.iter().map(|it| &it.path).filter(|it| paths.contains(*it));
        let status = self.status(false, false)?;
        let dirty =
            status.entries.iter().flat_map(|it| it.from.iter().chain([&it.path])).filter(|it| paths.contains(*it));
        let there = differences.iter().filter(|it| it.new.is_none() && self.is_there(&it.path)).map(|it| &it.path);
        let since: BTreeSet<&GitPath> = later.chain(dirty).chain(there).collect();
        let Some(first) = since.first() else { return Ok(()) };
        let help = Help { file: Some(self.naming.shown(first)), ..Help::default() };
        let files = self.list(since.into_iter().map(Vec::as_slice));
        let detail = format!(
            "nothing was changed: {files} changed since {commit}: change it by an edit, or undo first what came later"
        );
        Err(Error::new(Code::HashMismatch, detail).with_help(help))
    }

    fn reversed(&self, difference: &Difference, before: &str, directories: &BTreeSet<GitPath>) -> Result<ReverseFile> {
        let file = self.naming.inside(&difference.path).unwrap_or_default();
        let content = match &difference.old {
            Some((_, object)) => {
                let size = text(&self.run(&["cat-file", "-s"]).with(object).line()?);
                if size.parse::<usize>().is_ok_and(|it| it > MOST_BYTES) {
                    return Err(odd_content(Code::TooLarge, &file, "held more than 10 MiB before"));
                }
                let name = [before.as_bytes(), b":", &difference.path].concat();
                let bytes = self.run(&["cat-file", "--filters"]).with(name).output()?;
                let content =
                    text_of(&bytes).ok_or_else(|| odd_content(Code::NotText, &file, "was not text before"))?;
                Some(Arc::from(content))
            }
            None => None,
        };
        let slashes = difference.path.iter().enumerate().filter(|(_, it)| **it == b'/');
        let above = slashes.filter_map(|(at, _)| difference.path.get(..at));
        let made_directories = above.filter(|it| !directories.contains(*it)).count();
        Ok(ReverseFile {
            file,
            left: difference.new.as_ref().map(|it| it.1.clone()),
            text: content,
            mode: difference.old.as_ref().and_then(|it| u32::from_str_radix(&it.0, 8).ok()).map(|it| it & 0o777),
            made_directories,
        })
    }

    /// All directories of a tree.
    fn directories(&self, tree: &str) -> Result<BTreeSet<GitPath>> {
        let output = self.run(&["ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree"]).with(tree).output()?;
        Ok(output.split(|it| *it == 0).map(<[u8]>::to_vec).collect())
    }

    /// The first of these files whose content differs.
    pub(super) fn mismatch(&self, files: &[Held]) -> Result<Option<String>> {
        for Held { file, text: content, object } in files {
            let now = match content {
                Some(content) => {
                    let run = self.run(&["hash-object", "--stdin", "--path"]).with(self.naming.of(file));
                    Some(text(&run.input(content.as_bytes().to_vec()).line()?))
                }
                None => None,
            };
            if now != *object {
                return Ok(Some(file.clone()));
            }
        }
        Ok(None)
    }
}

fn odd_content(code: Code, file: &str, what: &str) -> Error {
    let help = Help { file: Some(file.to_owned()), ..Help::default() };
    Error::new(code, format!("nothing was changed: `{file}` {what}: use `git revert`")).with_help(help)
}

fn conflict(detail: String) -> Error {
    Error::new(Code::Conflict, detail)
}

fn not_in_history(commit: &str) -> Error {
    conflict(format!("{commit} is not in the history of HEAD: switch to a branch that has it"))
}
