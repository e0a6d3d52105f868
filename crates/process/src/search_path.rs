//! The search path for programs, without directories in workspaces that are open without trust.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The real paths of the roots that are open without trust, once for each time that they are open. They apply to the
/// whole process, like the search path itself: a program that is started for one root cannot run a program of another
/// root either.
static BARRED: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// While this value exists, no program of the root is found or run by its name.
#[derive(Debug)]
pub struct Barred(PathBuf);

/// Bars a root that its owner does not trust.
pub fn bar(root: &Path) -> Barred {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    BARRED.write().unwrap_or_else(PoisonError::into_inner).push(root.clone());
    Barred(root)
}

impl Drop for Barred {
    fn drop(&mut self) {
        let mut barred = BARRED.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = barred.iter().position(|it| *it == self.0) {
            barred.swap_remove(at);
        }
    }
}

fn barred() -> Vec<PathBuf> {
    BARRED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Removes relative and empty entries from `PATH`, for this process and all that it starts: with them, a lookup from
/// within a workspace would find the workspace's programs. Call it before the first thread is started.
pub fn forget_relative() {
    let Some(path) = std::env::var_os("PATH") else { return };
    #[expect(unsafe_code, reason = "rust-analyzer, gopls and Cargo look into the environment themselves")]
    // SAFETY: no other thread exists that could read the environment.
    unsafe {
        std::env::set_var("PATH", absolute_of(&path));
    }
}

fn absolute_of(path: &OsStr) -> OsString {
    let kept: Vec<PathBuf> = std::env::split_paths(path).filter(|it| it.is_absolute()).collect();
    // Each was an entry before, so none contains a separator.
    std::env::join_paths(kept).unwrap_or_default()
}

/// Finds a program by its name.
pub fn find(program: &str) -> Option<PathBuf> {
    let barred = barred();
    let is_lawful = |it: &PathBuf| is_program(it) && !lies_in_one(it, &barred);
    directories().into_iter().map(|it| it.join(program)).find(is_lawful)
}

/// The same, or the bare name, which then fails to start.
pub fn find_or_name(program: &str) -> PathBuf {
    find(program).unwrap_or_else(|| program.into())
}

/// The directories in which programs are searched.
pub fn directories() -> Vec<PathBuf> {
    lawful(&std::env::var_os("PATH").unwrap_or_default(), &barred())
}

/// The search path for a program that is about to be started: `set`, or the process's own path if `set` is `None`.
/// Returns `None` if it needs no change, since all open roots are trusted.
pub fn confined(set: Option<&OsStr>) -> Option<OsString> {
    let barred = barred();
    if barred.is_empty() {
        return None;
    }
    let own = || std::env::var_os("PATH").unwrap_or_default();
    let kept = lawful(&set.map_or_else(own, OsStr::to_owned), &barred);
    // Each was an entry before, so none contains a separator.
    Some(std::env::join_paths(kept).unwrap_or_default())
}

/// Whether a lookup of this name would find a program of a barred root. `path` is already confined, so this can only
/// happen through a link.
pub fn is_barred(program: &OsStr, path: &OsStr) -> bool {
    let found = std::env::split_paths(path).map(|it| it.join(program)).find(|it| is_program(it));
    found.is_some_and(|it| lies_in_one(&it, &barred()))
}

/// Excludes relative entries, too: they would be relative to the directory in which semdex was started.
fn lawful(path: &OsStr, barred: &[PathBuf]) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|it| it.is_absolute() && !lies_in_one(it, barred)).collect()
}

/// Whether a path leads into a directory, as written or after its links are resolved. A path that cannot be resolved
/// counts as inside.
pub fn lies_in(path: &Path, directory: &Path) -> bool {
    let Ok(real) = directory.canonicalize() else { return true };
    lies_in_one(path, &[directory.to_owned(), real])
}

fn lies_in_one(path: &Path, directories: &[PathBuf]) -> bool {
    let leads_in = |it: &Path| directories.iter().any(|directory| it.starts_with(directory));
    if directories.is_empty() || leads_in(path) {
        return !directories.is_empty();
    }
    let is_there = path.symlink_metadata().is_ok();
    path.canonicalize().map_or(is_there, |it| leads_in(&it))
}

/// Whether a file is executable.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_entries_are_left_out() {
        assert_eq!(absolute_of("./bin:/usr/bin::.:/bin:x".as_ref()), "/usr/bin:/bin");
        assert_eq!(absolute_of("".as_ref()), "");
    }

    #[test]
    fn a_barred_root_is_left_out_by_whatever_way_one_comes_to_it() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (root, link, outside) = (home.join("w"), home.join("link"), home.join("outside"));
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(root.join("bin"), &link).unwrap();
        let program = root.join("bin/p");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&program, outside.join("p")).unwrap();
        let path = std::env::join_paths([&root.join("bin"), &link, &outside, &home.join("none")]).unwrap();
        let barred = bar(&root);
        let kept = std::env::join_paths([&outside, &home.join("none")]).unwrap();
        assert_eq!(confined(Some(&path)), Some(kept.clone()));
        assert!(is_barred("p".as_ref(), &kept) && !is_barred("q".as_ref(), &kept));
        drop(barred);
        assert!(!is_barred("p".as_ref(), &kept));
    }
}
