//! Finds the root of the workspace that contains a directory.
//!
//! The root is the nearest directory that an engine takes for one by the manifests around it, as the tools of its
//! language would. Without one it is the directory itself. The search ends at the home directory and never returns `/`:
//! a stray manifest there must not turn everything into one workspace.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::registry::Registry;
use semdex_fs::{is_linked_worktree, read_file};

impl Registry {
    /// The root of the workspace that contains this directory, in canonical form. An error if it is not a directory.
    pub fn find_root(&self, start: &Path) -> io::Result<PathBuf> {
        self.find_root_below(start, home().as_deref())
    }

    /// The root that a manifest makes around this directory. `None` if there is no such manifest.
    pub fn manifest_root(&self, start: &Path) -> io::Result<Option<PathBuf>> {
        Ok(self.roots_around(start, home().as_deref())?.1)
    }

    /// Whether a directory, in canonical form, is the home directory or `/`, and no manifest makes it a workspace.
    pub fn is_everything(&self, directory: &Path) -> io::Result<bool> {
        self.is_everything_of(directory, home().as_deref())
    }

    /// The same for a given home directory.
    pub fn is_everything_of(&self, directory: &Path, home: Option<&Path>) -> io::Result<bool> {
        let holds_all = directory.parent().is_none() || Some(directory) == home;
        Ok(holds_all && self.roots_around(directory, home)?.1.is_none())
    }

    /// The root of the workspace that contains this directory. The search ends at the given home directory.
    pub fn find_root_below(&self, start: &Path, home: Option<&Path>) -> io::Result<PathBuf> {
        let (start, root) = self.roots_around(start, home)?;
        Ok(root.unwrap_or(start))
    }

    /// The directory in canonical form, and the root that a manifest makes around it.
    fn roots_around(&self, start: &Path, home: Option<&Path>) -> io::Result<(PathBuf, Option<PathBuf>)> {
        let with_path = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", start.display()));
        let start = fs::canonicalize(start).map_err(with_path)?;
        if !start.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is not a directory", start.display()),
            ));
        }
        let around = around(&start, home);
        let nearest = self.kinds().iter().filter_map(|it| it.root_of(&around));
        let root = nearest.max_by_key(|root| root.components().count());
        Ok((start.clone(), root))
    }
}

/// The nearest directory that contains `.git`, beginning with the path itself. It is canonical if the path is.
pub fn repository_around(path: &Path) -> Option<PathBuf> {
    repository_below(path, home().as_deref())
}

fn repository_below(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    // In a worktree and in a submodule `.git` is a file.
    around(path, home).into_iter().find(|it| it.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

/// Bytes of a manifest; a longer file is not a manifest.
const LONGEST_MANIFEST: usize = 10 << 20;

/// The text of a manifest that is a regular file. Anything else with its name is ignored: reading a FIFO would block.
pub fn read_manifest(path: &Path) -> Option<String> {
    let bytes = read_file(path, LONGEST_MANIFEST).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The home directory in canonical form.
fn home() -> Option<PathBuf> {
    std::env::home_dir().and_then(|home| fs::canonicalize(home).ok())
}

/// The directory and those above it that may be a root, innermost first.
fn around<'a>(start: &'a Path, home: Option<&Path>) -> Vec<&'a Path> {
    let mut around = Vec::new();
    for directory in start.ancestors() {
        if directory.parent().is_some() || directory == start {
            around.push(directory);
        }
        // A manifest of the checkout around a worktree does not count there.
        if Some(directory) == home || is_linked_worktree(directory) {
            break;
        }
    }
    around
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_repository_is_found_up_to_the_home_directory() {
        let top = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(top.path()).unwrap().join("home");
        for directory in ["a/.git", "a/b/c", "d", "../.git"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        fs::write(home.join("a/b/.git"), "gitdir: ../.git/modules/b\n").unwrap();
        let found = |path: &str| repository_below(&home.join(path), Some(&home));
        for path in ["a/b", "a/b/c", "a/b/c/no/such/file"] {
            assert_eq!(found(path), Some(home.join("a/b")), "from {path}");
        }
        assert_eq!(found("a/x.py"), Some(home.join("a")));
        assert_eq!(found("d"), None);
        fs::create_dir(home.join(".git")).unwrap();
        assert_eq!(found("d"), Some(home.clone()));
    }
}
