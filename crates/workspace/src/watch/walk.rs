//! Which files belong to a tree, and what one directory contains now.
//!
//! Everything counts except `.git` (in any case), semdex's own files, directories named `node_modules` and directories
//! with a `CACHEDIR.TAG`. A link to a file inside the root counts under its own name. A linked directory is not
//! entered, since its content has a name of its own or is outside.
//!
//! All access goes by directory handles: what is listed or read is in the tree at that moment, even if somebody
//! exchanges names at the same time.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat, statat};
use rustix::io::Errno;

use semdex_fs::{Descent, Reader, Tree, Unreadable, entries, read_at};

/// Marks its directory as a cache (<https://bford.info/cachedir/>). Cargo creates one in `target`.
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";

/// All files below a root, sorted by name. A missing root has none. A directory without permission hides its files from
/// everybody and is skipped. Any other failure is an error, since a short list would look like deleted files.
pub(crate) fn walk(tree: &Tree) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let Some(reader) = enter(tree)? else { return Ok(files) };
    let mut descent = Descent::new(&reader);
    let mut pending = vec![tree.root().to_path_buf()];
    while let Some(directory) = pending.pop() {
        let Some(listing) = list(&mut descent, &directory)? else { continue };
        if listing.tagged && directory != tree.root() {
            continue;
        }
        files.extend(listing.files.into_iter().map(|(path, _)| path));
        files.extend(listing.links.into_iter().map(|(path, _)| path).filter(|link| lists(&reader, link)));
        pending.extend(listing.directories);
    }
    files.sort_unstable();
    Ok(files)
}

/// Whether `walk` lists this path.
pub(super) fn lists(reader: &Reader, path: &Path) -> bool {
    find(reader, path, None).is_ok_and(|found| found.is_some())
}

/// Reads files that `walk` lists. Each directory is opened once for consecutive files in it.
pub(crate) struct Texts {
    reader: Option<Reader>,
    last: Option<(PathBuf, OwnedFd)>,
}

impl Texts {
    pub(crate) fn of(tree: &Tree) -> io::Result<Texts> {
        Ok(Texts { reader: enter(tree)?, last: None })
    }

    /// The content of a file that `walk` lists. `None` for other paths, and for a file that is too large.
    pub(crate) fn read(&mut self, path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let last = self.last.take().filter(|(directory, _)| Some(directory.as_path()) == path.parent());
        let Some(found) = find(reader, path, last.map(|(_, handle)| handle))? else { return Ok(None) };
        let content = match read_at(&found.directory, found.name.as_os_str(), most) {
            Ok(content) if reader.check(&content.stat).is_ok() => Some(content.bytes),
            Ok(_) | Err(Unreadable::Kind(_) | Unreadable::TooLarge) => None,
            Err(Unreadable::Failed(errno)) => present::<Vec<u8>>(Err(errno.into()))?,
        };
        if !found.via_link {
            self.last = path.parent().map(|it| (it.to_path_buf(), found.directory));
        }
        Ok(content)
    }

    /// The size of a file that `walk` lists, in bytes. `None` for other paths.
    pub(crate) fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let Some(found) = find(reader, path, None)? else { return Ok(None) };
        let stat = statat(&found.directory, found.name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW);
        Ok(present(stat.map_err(io::Error::from))?.map(|it| u64::try_from(it.st_size).unwrap_or(u64::MAX)))
    }
}

/// The directory of a file, opened, and the file's name in it.
struct OpenedDirectory {
    directory: OwnedFd,
    name: OsString,
    via_link: bool,
}

/// `handle` is the path's directory, if it is open already.
fn find(reader: &Reader, path: &Path, handle: Option<OwnedFd>) -> io::Result<Option<OpenedDirectory>> {
    let Some((parent, name)) = split(reader, path) else { return Ok(None) };
    let handle = match handle {
        Some(handle) => handle,
        None => match present(inside(reader, parent))? {
            Some(handle) => handle,
            None => return Ok(None),
        },
    };
    let Some(found) = present(statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from))? else {
        return Ok(None);
    };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if reader.check(&found).is_ok() => {
            Ok(Some(OpenedDirectory { directory: handle, name: name.to_owned(), via_link: false }))
        }
        // A link counts if its target is itself a file of the tree. Changes of the target are watched, and nothing
        // outside is read.
        FileType::Symlink => {
            let below = path.strip_prefix(reader.root()).unwrap_or(path);
            let Ok(target) = reader.resolve(below) else { return Ok(None) };
            let Some((parent, name)) = split(reader, &target.path) else { return Ok(None) };
            if target.kind != Some(FileType::RegularFile) {
                return Ok(None);
            }
            let directory = present(inside(reader, parent))?;
            Ok(directory.map(|directory| OpenedDirectory { directory, name: name.to_owned(), via_link: true }))
        }
        _ => Ok(None),
    }
}

/// The directory and the name of a path below the root. `None` if the name is hidden.
fn split<'a>(reader: &Reader, path: &'a Path) -> Option<(&'a Path, &'a OsStr)> {
    let below = path.strip_prefix(reader.root()).ok()?;
    let name = below.file_name().filter(|name| !is_hidden_name(name))?;
    Some((below.parent()?, name))
}

/// Opens a directory of the tree, unless a directory on the way is a link or ignored.
fn inside(reader: &Reader, below: &Path) -> io::Result<OwnedFd> {
    let takes = |name: &OsStr, directory: &OwnedFd| !is_ignored_dir_name(name) && !is_tagged(directory);
    Ok(reader.directory_where(below, takes)?)
}

fn is_tagged(directory: &OwnedFd) -> bool {
    statat(directory, CACHE_TAG, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// A reader of a tree. `None` if there is no such tree.
pub(super) fn enter(tree: &Tree) -> io::Result<Option<Reader>> {
    present(tree.reader().map_err(io::Error::from))
}

/// Names that are not part of any tree, of files or directories.
pub(crate) fn is_hidden_name(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git") || name.as_encoded_bytes().starts_with(b".semdex-")
}

/// Names of directories that are not part of any tree.
pub(crate) fn is_ignored_dir_name(name: &OsStr) -> bool {
    is_hidden_name(name) || name == "node_modules"
}

/// The content of one directory, without hidden names.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub files: Vec<(PathBuf, Stat)>,
    /// Symbolic links, whatever their targets.
    pub links: Vec<(PathBuf, Stat)>,
    /// Directories that are not ignored by their name.
    pub directories: Vec<PathBuf>,
    pub tagged: bool,
}

/// Reads one directory. `None` if there is none, or if it may not be read.
pub(super) fn list(descent: &mut Descent, directory: &Path) -> io::Result<Option<Listing>> {
    let mut listing = Listing::default();
    let reader = descent.reader();
    let Ok(below) = directory.strip_prefix(reader.root()) else { return Ok(None) };
    let Some(handle) = present(descent.directory(below).map_err(io::Error::from))? else { return Ok(None) };
    let Some(held) = present(entries(handle).map_err(io::Error::from))? else { return Ok(None) };
    for entry in held {
        let Some(entry) = present(entry.map_err(io::Error::from))? else { return Ok(None) };
        let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
        if matches!(name.as_encoded_bytes(), b"." | b"..") || is_hidden_name(&name) {
            continue;
        }
        let found = statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from);
        let Some(found) = present(found)? else { continue };
        listing.tagged |= name == CACHE_TAG;
        let path = directory.join(&name);
        match FileType::from_raw_mode(found.st_mode) {
            _ if reader.check(&found).is_err() => {}
            FileType::Symlink => listing.links.push((path, found)),
            FileType::RegularFile => listing.files.push((path, found)),
            FileType::Directory if !is_ignored_dir_name(&name) => listing.directories.push(path),
            _ => {}
        }
    }
    Ok(Some(listing))
}

/// The metadata of a path of the tree, links not followed. `None` if nothing is there.
pub(super) fn look(reader: &Reader, path: &Path) -> io::Result<Option<Stat>> {
    let Ok(below) = path.strip_prefix(reader.root()) else { return Ok(None) };
    present(reader.stat(below).map_err(io::Error::from))
}

/// Turns errors that mean "nothing reachable here" into `None`. Other errors (no file descriptors left, a failing disk)
/// say nothing about the tree.
pub(super) fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::InvalidFilename => Ok(None),
            _ if matches!(Errno::from_io_error(&error), Some(Errno::LOOP | Errno::XDEV | Errno::NXIO)) => Ok(None),
            _ => Err(error),
        },
    }
}
