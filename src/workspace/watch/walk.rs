//! Which files belong to a tree, and what one directory holds right now.
//!
//! Everything counts but `.git` (in any case), semdex's own `.semdex-*`, directories named `node_modules` and
//! directories that carry a `CACHEDIR.TAG`. A link to a file inside the root counts under its own name; a linked
//! directory is not entered, since what it holds has a name of its own already or lies outside.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Marks its directory as a cache (<https://bford.info/cachedir/>); cargo puts one into `target`.
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Whether nothing below this directory is part of the tree it lies in.
pub fn is_ignored_dir(path: &Path) -> bool {
    path.file_name().is_some_and(is_ignored_dir_name) || fs::symlink_metadata(path.join(CACHE_TAG)).is_ok()
}

/// All files below a root, in the order of their names. A missing root holds none; a directory that may not be read
/// hides its files from everybody and is passed over; any other failure is told, since a short list would pass for
/// deleted files.
pub fn walk(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        let Some(listing) = list(&directory)? else { continue };
        if listing.tagged && directory != root {
            continue;
        }
        files.extend(listing.files);
        files.extend(listing.links.into_iter().filter(|link| is_listed_link(root, link)));
        pending.extend(listing.directories);
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether `walk(root)` lists this path.
pub fn is_listed(root: &Path, path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => is_inside(root, path) && is_listed_link(root, path),
        Ok(metadata) => metadata.is_file() && is_inside(root, path),
        Err(_) => false,
    }
}

/// A link counts if its target is itself a file of the tree: changes of that one are watched, and nobody reads what
/// lies outside.
fn is_listed_link(root: &Path, link: &Path) -> bool {
    let (Ok(root), Ok(target)) = (fs::canonicalize(root), fs::canonicalize(link)) else { return false };
    target.is_file() && is_inside(&root, &target)
}

/// Whether a path lies below a root, and nothing on the way is a link or ignored.
fn is_inside(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let mut between = below.ancestors().skip(1).filter(|name| !name.as_os_str().is_empty()).map(|name| root.join(name));
    below.components().all(|component| matches!(component, Component::Normal(_)))
        && below.file_name().is_some_and(|name| !is_hidden_name(name))
        && between.all(|directory| is_directory(&directory) && !is_ignored_dir(&directory))
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Names that are no part of any tree, be they files or directories.
pub(super) fn is_hidden_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git") || name.as_encoded_bytes().starts_with(b".semdex-")
}

pub(super) fn is_ignored_dir_name(name: &OsStr) -> bool {
    is_hidden_name(name) || name == "node_modules"
}

/// What one directory holds, hidden names left out.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub files: Vec<PathBuf>,
    /// Symbolic links, to whatever.
    pub links: Vec<PathBuf>,
    /// Those that are not ignored by their name.
    pub directories: Vec<PathBuf>,
    pub tagged: bool,
}

/// Reads one directory; `None` if there is none (any more), or if it may not be read.
pub(super) fn list(directory: &Path) -> io::Result<Option<Listing>> {
    let mut listing = Listing::default();
    let Some(entries) = present(fs::read_dir(directory))? else { return Ok(None) };
    for entry in entries {
        let Some(entry) = present(entry)? else { return Ok(None) };
        let Some(kind) = present(entry.file_type())? else { continue };
        let name = entry.file_name();
        if is_hidden_name(&name) {
            continue;
        }
        listing.tagged |= name == CACHE_TAG;
        if kind.is_symlink() {
            listing.links.push(entry.path());
        } else if kind.is_file() {
            listing.files.push(entry.path());
        } else if kind.is_dir() && !is_ignored_dir_name(&name) {
            listing.directories.push(entry.path());
        }
    }
    Ok(Some(listing))
}

/// What stands at a path, links not followed; `None` if nothing does.
pub(super) fn look(path: &Path) -> io::Result<Option<Metadata>> {
    present(fs::symlink_metadata(path))
}

/// Turns the errors which say that no such thing can be reached there, by anybody, into `None`. Others (no file
/// descriptors left, a failing disk) say nothing about the tree.
pub fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::InvalidFilename => Ok(None),
            _ => Err(error),
        },
    }
}
