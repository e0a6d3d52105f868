//! Which files belong to a tree, and what one directory contains now.
//!
//! Everything counts except `.git` (in any case), semdex's own files, directories named `node_modules`, directories
//! with a `CACHEDIR.TAG` and linked worktrees of the repository. A link to a file inside the root counts under its own name. A linked directory is not
//! entered, since its content has a name of its own or is outside.
//!
//! All access goes by directory handles: what is listed or read is in the tree at that moment, even if somebody
//! exchanges names at the same time.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat, statat};
use rustix::io::Errno;

use semdex_fs::{Descent, GIT, Reader, Tree, Unreadable, entries, is_linked_worktree_at, read_at};

/// Marks its directory as a cache (<https://bford.info/cachedir/>). Cargo creates one in `target`.
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Why the walk passes over a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// semdex may not list or enter it.
    Refused,
    /// Its path is longer than the system allows.
    TooDeep,
    /// It has a `CACHEDIR.TAG`.
    Tagged,
    /// It is a link to a directory outside of the tree.
    Outside,
    /// It is the root, and not there.
    Gone,
}

/// The directories that the walk passes over, though they may contain code.
pub(crate) type Gaps = BTreeMap<PathBuf, Gap>;

/// All files below a root, sorted by name. A missing root has none.
pub(crate) fn walk(tree: &Tree) -> io::Result<Vec<PathBuf>> {
    walk_with_gaps(tree).map(|it| it.0)
}

/// The same, with the directories that are passed over. Any other failure than a missing permission is an error, since
/// a short list would look like deleted files.
pub(crate) fn walk_with_gaps(tree: &Tree) -> io::Result<(Vec<PathBuf>, Gaps)> {
    let (mut files, mut gaps) = (Vec::new(), Gaps::new());
    let Some(reader) = enter(tree)? else {
        gaps.insert(tree.root().to_path_buf(), Gap::Gone);
        return Ok((files, gaps));
    };
    let mut descent = Descent::new(&reader);
    let mut pending = vec![tree.root().to_path_buf()];
    while let Some(directory) = pending.pop() {
        let Some(listing) = list(&mut descent, &directory)? else { continue };
        let outside = listing.links.iter().filter(|(link, _)| leads_to_outer_directory(&reader, link));
        gaps.extend(outside.map(|(link, _)| (link.clone(), Gap::Outside)));
        gaps.extend(listing.gap.map(|it| (directory.clone(), it)));
        match listing.passed_over.filter(|_| directory != tree.root()) {
            None => {}
            Some(PassedOver::Worktree) => continue,
            Some(PassedOver::Tagged) => {
                gaps.insert(directory, Gap::Tagged);
                continue;
            }
        }
        files.extend(listing.files.into_iter().map(|(path, _)| path));
        files.extend(listing.links.into_iter().map(|(path, _)| path).filter(|link| lists(&reader, link)));
        pending.extend(listing.directories);
    }
    files.sort_unstable();
    Ok((files, gaps))
}

/// The paths of files below a directory that the walk passes over, at most so many of them, and whether these are all.
pub(crate) fn files_below(tree: &Tree, directory: &Path, most: usize) -> io::Result<(Vec<PathBuf>, bool)> {
    let mut files = Vec::new();
    let Some(reader) = enter(tree)? else { return Ok((files, true)) };
    let mut descent = Descent::new(&reader);
    let mut pending = vec![directory.to_path_buf()];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        let Some(listing) = list(&mut descent, &directory)? else { continue };
        if listing.passed_over == Some(PassedOver::Worktree) {
            continue;
        }
        seen += listing.files.len() + listing.directories.len();
        files.extend(listing.files.into_iter().map(|(path, _)| path));
        pending.extend(listing.directories);
        if seen > most || listing.gap.is_some() {
            return Ok((files, false));
        }
    }
    Ok((files, true))
}

/// What a link leads to, if that is not in the tree. `None` also for links that lead nowhere.
fn outside(reader: &Reader, link: &Path) -> Option<Metadata> {
    let below = link.strip_prefix(reader.root()).ok().filter(|_| link.is_symlink())?;
    let is_inside = reader.resolve(below).is_ok_and(|it| it.kind.is_some() && it.path.starts_with(reader.root()));
    if is_inside { None } else { fs::metadata(link).ok() }
}

/// Whether a link leads to a directory that is not in the tree, and could be one of the tree by its name.
pub(super) fn leads_to_outer_directory(reader: &Reader, link: &Path) -> bool {
    !link.file_name().is_some_and(is_ignored_dir_name) && outside(reader, link).is_some_and(|it| it.is_dir())
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

    /// Whether a file that `walk` lists may not be read.
    pub(crate) fn is_refused(&self, path: &Path) -> bool {
        let Some(Ok(Some(found))) = self.reader.as_ref().map(|it| find(it, path, None)) else { return false };
        let read = read_at(&found.directory, found.name.as_os_str(), 0);
        matches!(read, Err(Unreadable::Failed(Errno::ACCESS | Errno::PERM)))
    }

    /// Whether a path is a link to a file that is not in the tree.
    pub(crate) fn leads_out(&self, path: &Path) -> bool {
        self.reader.as_ref().is_some_and(|it| outside(it, path).is_some_and(|it| it.is_file()))
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
    let takes = |path: &Path, directory: &OwnedFd| {
        let is_named_so = path.file_name().is_some_and(is_ignored_dir_name);
        !is_named_so && !is_tagged(directory) && !is_linked_worktree_at(directory, path)
    };
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
    /// Why the directory counts only where it is the root.
    pub passed_over: Option<PassedOver>,
    /// Not all of the directory could be read.
    pub gap: Option<Gap>,
}

/// Why the content of a directory is no part of the tree around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PassedOver {
    /// It has a `CACHEDIR.TAG`.
    Tagged,
    /// It is a linked worktree of the repository, a tree of its own.
    Worktree,
}

/// What an error means for a directory that exists.
pub(super) fn gap_of(error: &io::Error) -> Option<Gap> {
    match error.kind() {
        ErrorKind::PermissionDenied => Some(Gap::Refused),
        ErrorKind::InvalidFilename => Some(Gap::TooDeep),
        _ => None,
    }
}

/// Reads one directory. `None` if there is none. A directory that may not be read is empty and has a gap.
pub(super) fn list(descent: &mut Descent, directory: &Path) -> io::Result<Option<Listing>> {
    let mut listing = Listing::default();
    let reader = descent.reader();
    let Ok(below) = directory.strip_prefix(reader.root()) else { return Ok(None) };
    let opened = descent.directory(below).and_then(|handle| Ok((handle, entries(handle)?))).map_err(io::Error::from);
    let gap = opened.as_ref().err().and_then(gap_of);
    let Some((handle, held)) = present(opened)? else {
        return Ok(gap.map(|it| Listing { gap: Some(it), ..listing }));
    };
    for entry in held {
        let Some(entry) = present(entry.map_err(io::Error::from))? else { return Ok(None) };
        let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
        if matches!(name.as_encoded_bytes(), b"." | b"..") || is_hidden_name(&name) {
            if name == GIT && is_linked_worktree_at(handle, directory) {
                listing.passed_over = Some(PassedOver::Worktree);
            }
            continue;
        }
        let found = statat(handle, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from);
        listing.gap = listing.gap.or(found.as_ref().err().and_then(gap_of));
        let Some(found) = present(found)? else { continue };
        if name == CACHE_TAG {
            listing.passed_over = listing.passed_over.or(Some(PassedOver::Tagged));
        }
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
