//! The files of a workspace: names confined to its root, reads, and the only writes that ever happen to them.
//!
//! A name is resolved once, following links by hand, to a place below the root ([`Disk::locate`]). Whatever is done
//! there afterwards walks down from the root again by directory handles that follow no link, so that nobody who
//! swaps a directory for a link in between leads it elsewhere (`beneath`).

mod fault;
mod requested_paths;
mod temporary;
mod write;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, Stat, openat};
use rustix::io::Errno;

use semdex_fs::{Content, Tree, Unreadable, Unresolved, read_at, worktree_between};
use semdex_model::{Code, Error, Help, Result};

pub(crate) use requested_paths::absolute_path_of;
pub use requested_paths::path_of_uri;
pub use write::Notes;
pub(crate) use write::Write;

/// Larger files are neither read nor written. In bytes.
pub(crate) const MOST_BYTES: usize = 10 << 20;
/// Files are not created deeper than this: each name would take as much memory as a small workspace.
const MOST_PARTS: usize = 256;
const TOO_DEEP: &str = "lies deeper than 255 directories, the most that semdex makes a file in";
/// The prefix of the temporary files that semdex creates while it writes.
pub(crate) const TEMPORARY_PREFIX: &str = ".semdex-";

#[derive(Debug, Clone)]
pub(crate) struct Disk {
    tree: Tree,
}

/// A file's place below the root. The file and the directories above it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// Relative to the root, with `/`, all links followed. Replies use this name.
    pub rel: String,
    pub abs: PathBuf,
    /// The requested name is a link or leads through one.
    pub via_link: bool,
}

/// A file's content as text: UTF-8 without NUL. Anything else is not text.
pub(crate) fn text_of(bytes: &[u8]) -> Option<&str> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

impl Disk {
    /// The disk of a workspace. Forbidden files are not part of it, by whatever name they are reached.
    pub(crate) fn new(root: &Path, forbidden: Arc<[PathBuf]>) -> io::Result<Disk> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let tree = Tree::new(root, forbidden);
        if tree.is_forbidden() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "semdex keeps its own files there"));
        }
        Ok(Disk { tree })
    }

    /// The root, without links.
    pub(crate) fn root(&self) -> &Path {
        self.tree.root()
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// An external directory, in which the same files are forbidden.
    pub(crate) fn external_tree(&self, directory: &Path) -> Tree {
        Tree::named(directory.to_path_buf(), self.tree.forbidden().clone())
    }

    /// The name of a path: relative to the root, or absolute outside of it.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(self.tree.root()).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Resolves a name as a request has it.
    pub(crate) fn locate(&self, name: &str) -> Result<Located> {
        let path = requested_paths::path_of(name)?;
        let reader = self.tree.reader().map_err(|errno| failed(name, Doing::Read, errno))?;
        let resolved = reader.resolve(&path).map_err(|unresolved| self.unresolved(name, unresolved))?;
        let out = |_| outside(name, "leads out of the workspace");
        let below = resolved.path.strip_prefix(self.root()).map_err(out)?;
        if let Some(worktree) = worktree_between(self.root(), &resolved.path) {
            return Err(outside(name, &in_worktree(worktree)));
        }
        let mut rel = String::new();
        for part in below {
            let part = part.to_str().ok_or_else(|| invalid(name, "leads to a file whose name is not UTF-8"))?;
            requested_paths::check_part(name, part)?;
            if !rel.is_empty() {
                rel.push('/');
            }
            rel.push_str(part);
        }
        match resolved.kind {
            None if rel.split('/').count() > MOST_PARTS => return Err(invalid(name, TOO_DEEP)),
            Some(FileType::RegularFile) | None => {}
            Some(FileType::Directory) => return Err(invalid(name, "is a directory: name a file")),
            Some(kind) => return Err(not_a_file(name, kind)),
        }
        if rel.is_empty() {
            return Err(invalid(name, "is the workspace itself: name a file"));
        }
        Ok(Located { rel, abs: resolved.path, via_link: resolved.via_link })
    }

    /// The path below the root of a name that is a link. Other links may lead to its directory. Its own target does not
    /// matter. `None` if the name is not a link.
    pub(crate) fn link(&self, name: &str) -> Result<Option<String>> {
        let path = requested_paths::path_of(name)?;
        let reader = self.tree.reader().map_err(|errno| failed(name, Doing::Read, errno))?;
        let (Some(parent), Some(last)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let Ok(parent) = reader.resolve(parent) else { return Ok(None) };
        let Ok(below) = parent.path.strip_prefix(self.root()).map(|it| it.join(last)) else { return Ok(None) };
        let is_link = |it: &Stat| FileType::from_raw_mode(it.st_mode) == FileType::Symlink;
        if !reader.stat(&below).is_ok_and(|it| is_link(&it)) {
            return Ok(None);
        }
        let rel = below.to_str().ok_or_else(|| invalid(name, "leads to a file whose name is not UTF-8"))?;
        rel.split('/').try_for_each(|part| requested_paths::check_part(name, part))?;
        Ok(Some(rel.to_owned()))
    }

    /// The error does not reveal more about what is outside the workspace.
    fn unresolved(&self, name: &str, unresolved: Unresolved) -> Error {
        match unresolved {
            Unresolved::TooManyLinks => invalid(name, "leads through too many links, perhaps in a circle"),
            Unresolved::BelowFile(path) | Unresolved::Failed(path, _) if !path.starts_with(self.root()) => {
                outside(name, "leads out of the workspace")
            }
            Unresolved::BelowFile(path) => {
                unknown(name, &format!("`{}` is a file, so that nothing can be below it", self.shown(&path)))
            }
            Unresolved::Failed(_, errno) => failed(name, Doing::Read, errno),
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root()).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub(crate) fn read(&self, located: &Located) -> Result<Vec<u8>> {
        let (parents, name) = split(&located.rel);
        let dir = self.directory(parents).map_err(|error| failed(&located.rel, Doing::Read, error))?;
        let found = read_in(&dir, name, &located.rel)?;
        found.map(|found| found.bytes).ok_or_else(|| unknown(&located.rel, "there is no such file"))
    }

    pub(crate) fn read_text(&self, located: &Located) -> Result<String> {
        let bytes = self.read(located)?;
        match text_of(&bytes) {
            Some(_) => String::from_utf8(bytes).map_err(|it| not_text(&located.rel, it.as_bytes())),
            None => Err(not_text(&located.rel, &bytes)),
        }
    }

    /// A directory below the root, opened without following a link.
    fn directory(&self, parents: &str) -> rustix::io::Result<OwnedFd> {
        let directory = self.tree.reader()?.directory(Path::new(parents))?;
        // Opened for listing and syncing; a path handle is not enough for that.
        open_directory(&directory, ".")
    }
}

fn open_directory<P: rustix::path::Arg>(at: impl std::os::fd::AsFd, name: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// The content of the file with this name in a directory. `None` if there is no such file.
fn read_in(dir: &OwnedFd, name: &str, file: &str) -> Result<Option<Content>> {
    match read_at(dir, name, MOST_BYTES) {
        Ok(content) => Ok(Some(content)),
        Err(Unreadable::Failed(Errno::NOENT)) => Ok(None),
        Err(Unreadable::Failed(errno)) => Err(failed(file, Doing::Read, errno)),
        Err(Unreadable::Kind(FileType::Directory)) => Err(invalid(file, "is a directory: name a file")),
        // The place was resolved before, so this appeared later.
        Err(Unreadable::Kind(FileType::Symlink)) => {
            Err(error(Code::Conflict, file, "was replaced by a link just now: ask again"))
        }
        Err(Unreadable::Kind(kind)) => Err(not_a_file(file, kind)),
        Err(Unreadable::TooLarge) => check_size(file, usize::MAX).map(|()| None),
    }
}

fn check_size(file: &str, size: usize) -> Result<()> {
    if size <= MOST_BYTES {
        return Ok(());
    }
    Err(error(Code::TooLarge, file, "is larger than 10 MiB, the most that semdex reads or writes"))
}

fn split(rel: &str) -> (&str, &str) {
    rel.rsplit_once('/').unwrap_or(("", rel))
}

fn error(code: Code, file: &str, what: &str) -> Error {
    let help = Help { file: Some(file.to_owned()), ..Help::default() };
    Error::new(code, format!("`{file}` {what}")).with_help(help)
}

fn invalid(file: &str, what: &str) -> Error {
    error(Code::InvalidRequest, file, what)
}

fn outside(file: &str, what: &str) -> Error {
    error(Code::OutsideWorkspace, file, what)
}

fn in_worktree(worktree: &Path) -> String {
    let worktree = worktree.display();
    format!("lies in the linked worktree {worktree}, which is a workspace of its own: name it as `workspace`")
}

fn unknown(file: &str, why: &str) -> Error {
    error(Code::UnknownFile, file, &format!("is not a file of the workspace: {why}"))
}

fn not_text(file: &str, bytes: &[u8]) -> Error {
    let valid = std::str::from_utf8(bytes).map_or_else(|it| it.valid_up_to(), str::len);
    let why = match memchr::memchr(0, &bytes[..valid]) {
        Some(at) => format!("byte {at} is NUL"),
        None => format!("byte {valid} is not UTF-8"),
    };
    let what = format!(
        "exists and is not text ({why}): semdex reads and writes text in UTF-8 only; nothing was changed. Convert the \
         file to UTF-8 first, or leave it to other tools"
    );
    error(Code::NotText, file, &what)
}

fn not_a_file(file: &str, kind: FileType) -> Error {
    let kind = match kind {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "no regular file",
    };
    error(Code::NotText, file, &format!("is {kind}, not a text file"))
}

/// The system's error in terms of a request.
fn failed(file: &str, doing: Doing, errno: Errno) -> Error {
    match errno {
        Errno::NOENT => unknown(file, "there is no such file"),
        Errno::NOTDIR => unknown(file, "something above it is no directory"),
        Errno::ACCESS | Errno::PERM => {
            error(Code::PermissionDenied, file, &format!("could not be {}: permission denied", doing.done()))
        }
        Errno::ROFS => error(Code::PermissionDenied, file, "lies on a read-only file system"),
        Errno::NOSPC | Errno::DQUOT => error(Code::DiskFull, file, "could not be written: no space is left"),
        Errno::FBIG => error(Code::TooLarge, file, "could not be written: the file system takes no file that large"),
        Errno::XDEV => outside(file, "is semdex's own, and no part of the workspace"),
        Errno::AGAIN => error(Code::Busy, file, "is held by another program at the moment: try again"),
        Errno::LOOP => error(Code::Conflict, file, "leads through a link that came just now: ask again"),
        Errno::NAMETOOLONG => invalid(file, "is too long a name for the file system"),
        Errno::ISDIR => invalid(file, "is a directory: name a file"),
        Errno::MFILE | Errno::NFILE => error(Code::Busy, file, "could not be opened: too many files are open"),
        _ => error(Code::Internal, file, &format!("could not be {}: {}", doing.done(), io::Error::from(errno))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Read,
    Write,
}

impl Doing {
    fn done(self) -> &'static str {
        match self {
            Doing::Read => "read",
            Doing::Write => "written",
        }
    }
}

#[cfg(test)]
mod tests;
