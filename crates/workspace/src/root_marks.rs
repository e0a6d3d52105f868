//! Marks on served directories that all processes see, whatever their state directory, user or mount. A mark is a read
//! lock of an open file description on one byte far behind the end of the directory: it hinders no other program, and
//! the kernel removes it when its holder is gone. File systems without such locks have no marks.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use semdex_fs::{holds, is_byte_locked, lock_byte};

/// "semdex" in ASCII and one byte: the directory is served.
const SERVED: i64 = 0x73_65_6d_64_65_78_00;
/// A directory in it is served.
const AROUND: i64 = SERVED + 1;

/// Held while a directory is served: a mark on it, and marks on those around it that belong to the same user.
#[derive(Debug)]
pub(super) struct RootMarks {
    _held: Vec<File>,
}

impl RootMarks {
    /// Marks a root. The error is a directory that is it, lies around it or in it, and that another process serves; the
    /// root itself where that one is unknown.
    pub(super) fn take(root: &Path) -> Result<RootMarks, PathBuf> {
        let opened = directories(root);
        // First set, then look: of two processes at the same time one sees the other.
        for (path, directory) in &opened {
            let mark = if *path == root { SERVED } else { AROUND };
            if let Err(error) = lock_byte(directory, mark) {
                tracing::debug!(root = %root.display(), %error, "a served directory cannot be marked for other processes");
            }
        }
        other(root, &opened).map_or(Ok(()), Err)?;
        Ok(RootMarks { _held: opened.into_iter().map(|it| it.1).collect() })
    }
}

/// The directory that another process serves: this one, or one around it; this one too if that serves one in it.
pub(super) fn served_by_another(root: &Path) -> Option<PathBuf> {
    other(root, &directories(root))
}

/// The root and the directories around it whose trees it belongs to, opened. What is not this user's is left out: anyone
/// may lock a directory that all can read.
fn directories(root: &Path) -> Vec<(&Path, File)> {
    let own = rustix::process::geteuid().as_raw();
    let is_own = |it: &File| it.metadata().is_ok_and(|it| it.is_dir() && it.uid() == own);
    let around = root.ancestors().skip(1).filter(|it| holds(it, root));
    let around = around.filter_map(|it| Some((it, File::open(it).ok().filter(is_own)?)));
    File::open(root).ok().map(|it| (root, it)).into_iter().chain(around).collect()
}

fn other(root: &Path, opened: &[(&Path, File)]) -> Option<PathBuf> {
    let is_other = |(path, directory): &&(&Path, File)| {
        is_byte_locked(directory, SERVED) || (*path == root && is_byte_locked(directory, AROUND))
    };
    opened.iter().find(is_other).map(|(path, _)| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_directory_is_marked_once_with_those_around_it_and_in_it() {
        let home = tempfile::tempdir().unwrap();
        let path = |below: &str| home.path().join(below);
        for it in ["a/b/c", "a/d"] {
            fs::create_dir_all(path(it)).unwrap();
        }
        let held = RootMarks::take(&path("a/b")).unwrap();
        for (root, said) in [("a/b", "a/b"), ("a/b/c", "a/b"), ("a", "a")] {
            assert_eq!(RootMarks::take(&path(root)).unwrap_err(), path(said), "{root}");
            assert_eq!(served_by_another(&path(root)), Some(path(said)), "{root}");
        }
        // A refusal leaves no mark, and those side by side do not hinder each other.
        let beside = RootMarks::take(&path("a/d")).unwrap();
        assert!(RootMarks::take(&path("a")).is_err());
        drop(held);
        drop(RootMarks::take(&path("a/b/c")).unwrap());
        drop(beside);
        drop(RootMarks::take(&path("a")).unwrap());
    }

    #[test]
    fn a_directory_that_cannot_be_opened_is_not_taken_for_the_one_around_it() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("a")).unwrap();
        let _held = RootMarks::take(&home.path().join("a")).unwrap();
        drop(RootMarks::take(&home.path().join("missing")).unwrap());
    }

    #[test]
    fn the_marks_of_a_directory_follow_it_by_any_name() {
        let home = tempfile::tempdir().unwrap();
        let (directory, link) = (home.path().join("a"), home.path().join("link"));
        fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink(&directory, &link).unwrap();
        let _held = RootMarks::take(&directory).unwrap();
        assert_eq!(served_by_another(&link), Some(link));
    }
}
