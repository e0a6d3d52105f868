//! Where programs are looked for: by the search path, but for what lies in a workspace that is open without trust.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The real paths of the roots that are open without trust, each as often as it is open. As the search path itself, they
/// are the whole process's: what is started for one root runs nothing of another either.
static BARRED: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// As long as it lives, no program of a root is found or run by its name.
#[derive(Debug)]
pub struct Barred(PathBuf);

/// Bars a root whose owner does not trust it.
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

/// Takes relative and empty entries out of `PATH`, for this process and all that it starts: a program that is looked
/// for from within a workspace would be found in the workspace. To be called before the first thread is started.
pub fn forget_relative() {
    let Some(path) = std::env::var_os("PATH") else { return };
    #[expect(unsafe_code, reason = "rust-analyzer, gopls and Cargo look into the environment themselves")]
    // SAFETY: no other thread is there to read the environment.
    unsafe {
        std::env::set_var("PATH", absolute_of(&path));
    }
}

fn absolute_of(path: &OsStr) -> OsString {
    let kept: Vec<PathBuf> = std::env::split_paths(path).filter(|it| it.is_absolute()).collect();
    // Each was an entry before, so none holds a separator.
    std::env::join_paths(kept).unwrap_or_default()
}

/// The program that its name stands for.
pub fn find(program: &str) -> Option<PathBuf> {
    let barred = barred();
    let is_lawful = |it: &PathBuf| is_program(it) && !lies_in_one(it, &barred);
    directories().into_iter().map(|it| it.join(program)).find(is_lawful)
}

/// The same, or the bare name: then it is not started either.
pub fn find_or_name(program: &str) -> PathBuf {
    find(program).unwrap_or_else(|| program.into())
}

/// The directories that programs are looked for in.
pub fn directories() -> Vec<PathBuf> {
    lawful(&std::env::var_os("PATH").unwrap_or_default(), &barred())
}

/// The search path of a program that is about to be started, and of what it starts; the process's own where nothing else
/// is set. `None`: it stays as it is, since all that is open is trusted.
pub fn confined(set: Option<&OsStr>) -> Option<OsString> {
    let barred = barred();
    if barred.is_empty() {
        return None;
    }
    let own = || std::env::var_os("PATH").unwrap_or_default();
    let kept = lawful(&set.map_or_else(own, OsStr::to_owned), &barred);
    // Each was an entry before, so none holds a separator.
    Some(std::env::join_paths(kept).unwrap_or_default())
}

/// Whether a name, looked up by a search path, would be that of a program that is barred: by a link, where the path is
/// confined.
pub fn is_barred(program: &OsStr, path: &OsStr) -> bool {
    let found = std::env::split_paths(path).map(|it| it.join(program)).find(|it| is_program(it));
    found.is_some_and(|it| lies_in_one(&it, &barred()))
}

/// Not relative entries either: these would be directories of wherever semdex was started.
fn lawful(path: &OsStr, barred: &[PathBuf]) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|it| it.is_absolute() && !lies_in_one(it, barred)).collect()
}

/// Whether a path leads into a directory, be it as it is written or by its links. What cannot be followed counts as if.
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

/// Whether a file may be run.
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
