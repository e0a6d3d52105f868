//! Linked worktrees of git: checkouts of the same repository, which agents like to put below its root
//! (`.claude/worktrees/NAME`). Each is a tree of its own and no part of the tree around it, where every file would have
//! a second copy. A submodule is another repository, and belongs to the tree around it.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, statat};

use super::{read_at, read_file};

/// The entry that makes a directory a checkout. In linked worktrees and submodules it is a file.
pub const GIT: &str = ".git";

/// Bytes of a file of git that names a directory.
const LONGEST: usize = 64 << 10;

/// Whether a path is in the tree at a root: below the root, and not in a linked worktree below it.
pub fn holds(root: &Path, path: &Path) -> bool {
    path.starts_with(root) && worktree_between(root, path).is_none()
}

/// The outermost linked worktree below a root that contains a path, or that is the path.
pub fn worktree_between<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    let below = path.ancestors().take_while(|it| *it != root && it.starts_with(root));
    below.filter(|it| is_linked_worktree(it)).last()
}

/// Whether a directory is a linked worktree of the repository that its parent directories belong to.
pub fn is_linked_worktree(directory: &Path) -> bool {
    let git = directory.join(GIT);
    let text = || git.symlink_metadata().ok().filter(|it| it.is_file()).and_then(|_| text_of(&git));
    text().is_some_and(|it| is_worktree_of_parents(directory, &it))
}

/// The same for an opened directory, whose path is known.
pub fn is_linked_worktree_at(directory: impl AsFd, path: &Path) -> bool {
    let is_file = statat(&directory, GIT, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::RegularFile);
    let text = || String::from_utf8(read_at(&directory, GIT, LONGEST).ok()?.bytes).ok();
    is_file && text().is_some_and(|it| is_worktree_of_parents(path, &it))
}

fn is_worktree_of_parents(directory: &Path, git_file: &str) -> bool {
    let Some(own) = repository_of_worktree(directory, git_file) else { return false };
    let around = directory.parent().and_then(Checkout::around);
    // The worktrees below a bare repository have no checkout around them.
    around.is_some_and(|it| it.common == own && !it.is_bare)
}

/// The repository of a linked worktree, by the text of its file `.git`. The directory in `worktrees` need not exist:
/// git removes it before or after the worktree itself.
fn repository_of_worktree(directory: &Path, git_file: &str) -> Option<PathBuf> {
    let own = directory.join(target_of(git_file)?);
    let worktrees = own.parent().filter(|it| it.file_name().is_some_and(|name| name == "worktrees"))?;
    worktrees.parent()?.canonicalize().ok()
}

/// A directory with the files of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The directory that has `.git`.
    pub root: PathBuf,
    /// The directory that all checkouts of the repository share.
    pub common: PathBuf,
    /// Whether it is a linked worktree.
    pub is_linked: bool,
    /// The repository has no checkout of its own, and this is none of its worktrees.
    is_bare: bool,
}

impl Checkout {
    /// The innermost checkout that contains a path, which is canonical. `None` outside of repositories.
    pub fn around(path: &Path) -> Option<Checkout> {
        path.ancestors().find_map(|directory| {
            let git = directory.join(GIT);
            if git.symlink_metadata().ok()?.is_dir() {
                return Some(Checkout::of_repository(directory, git.canonicalize().ok()?));
            }
            let text = text_of(&git)?;
            if let Some(common) = repository_of_worktree(directory, &text) {
                return Some(Checkout { root: directory.to_path_buf(), common, is_linked: true, is_bare: false });
            }
            let common = directory.join(target_of(&text)?).canonicalize().ok()?;
            Some(Checkout::of_repository(directory, common))
        })
    }

    fn of_repository(root: &Path, common: PathBuf) -> Checkout {
        let config = text_of(&common.join("config")).unwrap_or_default();
        let is_bare = |line: &str| {
            line.split_once('=').is_some_and(|(key, value)| key.trim() == "bare" && value.trim() == "true")
        };
        let is_bare = config.lines().any(is_bare);
        Checkout { root: root.to_path_buf(), common, is_linked: false, is_bare }
    }
}

/// The directory that the text of a file `.git` names.
fn target_of(git_file: &str) -> Option<&str> {
    Some(git_file.strip_prefix("gitdir:")?.trim()).filter(|it| !it.is_empty())
}

fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(read_file(path, LONGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn linked_worktrees_are_told_from_submodules_and_other_repositories() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let write = |file: &str, text: &str| {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), text).unwrap();
        };
        for repository in ["r/.git", "r/.git/modules/sub", "other/.git"] {
            write(&format!("{repository}/config"), "[core]\n\tbare = false\n");
        }
        write("bare/.bare/config", "[core]\n\tbare = true\n");
        write("bare/.git", "gitdir: ./.bare\n");
        let absolute = |it: &str| format!("gitdir: {}\n", top.join(it).display());
        write("r/.claude/worktrees/a/.git", &absolute("r/.git/worktrees/a"));
        write("r/relative/.git", "gitdir: ../.git/worktrees/relative\n");
        write("r/sub/.git", "gitdir: ../.git/modules/sub\n");
        write("r/sub/own/.git", &absolute("r/.git/modules/sub/worktrees/own"));
        write("r/foreign/.git", &absolute("other/.git/worktrees/foreign"));
        write("r/empty/.git", "");
        write("beside/.git", &absolute("r/.git/worktrees/beside"));
        write("beside/inner/.git", &absolute("r/.git/worktrees/inner"));
        write("bare/main/.git", "gitdir: ../.bare/worktrees/main\n");
        write("bare/main/x/.git", "gitdir: ../../.bare/worktrees/x\n");
        for (directory, expected) in [
            ("r", false),
            ("r/.claude", false),
            ("r/.claude/worktrees/a", true),
            ("r/relative", true),
            ("r/sub", false),
            ("r/sub/own", true),
            ("r/foreign", false),
            ("r/empty", false),
            ("r/none", false),
            ("beside", false),
            ("beside/inner", true),
            ("bare/main", false),
            ("bare/main/x", true),
        ] {
            assert_eq!(is_linked_worktree(&top.join(directory)), expected, "{directory}");
            if let Ok(opened) = fs::File::open(top.join(directory)) {
                assert_eq!(is_linked_worktree_at(&opened, &top.join(directory)), expected, "{directory}, opened");
            }
        }
        let (root, file) = (top.join("r"), top.join("r/.claude/worktrees/a/src/lib.rs"));
        assert_eq!(worktree_between(&root, &file), Some(&*top.join("r/.claude/worktrees/a")));
        assert!(!holds(&root, &file) && holds(&root, &top.join("r/sub/a.c")) && !holds(&root, &top.join("other")));
        assert!(holds(&top.join("r/.claude/worktrees/a"), &file));
        let (inner, beside) = (Checkout::around(&file).unwrap(), Checkout::around(&top.join("beside/x")).unwrap());
        assert!(inner.is_linked && beside.is_linked && inner.common == beside.common);
        assert_eq!(beside.root, top.join("beside"));
    }
}
