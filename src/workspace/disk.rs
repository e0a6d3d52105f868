//! The files of a workspace: names confined to its root, reads, and the only writes that ever happen to them.
//!
//! A name is resolved once, following links by hand, to a place below the root ([`Disk::locate`]). Whatever is done
//! there afterwards walks down from the root again by directory handles that follow no link, so that nobody who
//! swaps a directory for a link in between leads it elsewhere.

mod fault;
mod temporary;
mod write;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::model::{Code, Error, Help, Result};

pub use write::{Failure, Notes, Write};

/// Larger files are neither read nor written.
pub const MOST_BYTES: usize = 10 << 20;
/// What semdex calls a file of its own for the moment of a write.
pub const TEMPORARY_PREFIX: &str = ".semdex-";
/// As many links as Linux itself follows in one name.
const MOST_LINKS: usize = 40;

#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
}

/// A file's place below the root. The file need not exist yet, nor the directories above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Relative to the root, with `/`, all links followed: what replies call the file.
    pub rel: String,
    pub abs: PathBuf,
    /// The name asked for is a link, or leads through one.
    pub via_link: bool,
}

/// A file's content as text: UTF-8 without NUL. Anything else is not text.
pub fn text_of(bytes: &[u8]) -> Option<&str> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

impl Disk {
    pub fn new(root: &Path) -> io::Result<Disk> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Disk { root })
    }

    /// Without links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The place of a name as a request gives it.
    pub fn locate(&self, name: &str) -> Result<Located> {
        let parts = parts_of(name)?;
        let resolved = self.resolve(name, parts.into_iter().map(OsString::from).collect())?;
        let outside = || outside(name, "leads out of the workspace");
        let below = resolved.path.strip_prefix(&self.root).map_err(|_| outside())?;
        let mut rel = String::new();
        for part in below {
            let part = part.to_str().ok_or_else(|| invalid(name, "leads to a file whose name is not UTF-8"))?;
            check_part(name, part)?;
            if !rel.is_empty() {
                rel.push('/');
            }
            rel.push_str(part);
        }
        match resolved.kind {
            Some(FileType::RegularFile) | None => {}
            Some(FileType::Directory) => return Err(invalid(name, "is a directory: name a file")),
            Some(kind) => return Err(not_a_file(name, kind)),
        }
        if rel.is_empty() {
            return Err(invalid(name, "is the workspace itself: name a file"));
        }
        Ok(Located { rel, abs: resolved.path, via_link: resolved.via_link })
    }

    /// Follows the parts of a name from the root, link by link.
    fn resolve(&self, name: &str, mut ahead: VecDeque<OsString>) -> Result<Resolved> {
        let mut at = Resolved { path: self.root.clone(), kind: Some(FileType::Directory), via_link: false };
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            // Only a link can say so. What was walked holds no link, so that the parent is the one of the path.
            if part == ".." {
                at.path.pop();
                at.kind = Some(FileType::Directory);
                continue;
            }
            at.path.push(&part);
            let metadata = match at.path.symlink_metadata() {
                Ok(metadata) => metadata,
                Err(error) => return self.unresolved(name, at, ahead, &error),
            };
            if metadata.is_symlink() {
                links += 1;
                if links > MOST_LINKS {
                    return Err(invalid(name, "leads through too many links, perhaps in a circle"));
                }
                let target = at.path.read_link().map_err(|error| self.unreadable(name, &at.path, &error))?;
                at.path.pop();
                at.via_link = true;
                for component in target.components().rev() {
                    match component {
                        Component::Normal(part) => ahead.push_front(part.to_owned()),
                        Component::ParentDir => ahead.push_front(OsString::from("..")),
                        Component::RootDir => at.path = PathBuf::from("/"),
                        Component::CurDir | Component::Prefix(_) => {}
                    }
                }
                at.kind = Some(FileType::Directory);
                continue;
            }
            at.kind = Some(FileType::from_raw_mode(mode_of(&metadata)));
            if !ahead.is_empty() && !metadata.is_dir() {
                let here = self.shown(&at.path);
                return Err(unknown(name, &format!("`{here}` is a file, so that nothing can be below it")));
            }
        }
        Ok(at)
    }

    /// What is not there may yet be written, with the directories above it.
    fn unresolved(
        &self,
        name: &str,
        mut at: Resolved,
        ahead: VecDeque<OsString>,
        error: &io::Error,
    ) -> Result<Resolved> {
        if error.kind() != io::ErrorKind::NotFound || ahead.iter().any(|part| part == "..") {
            return Err(self.unreadable(name, &at.path, error));
        }
        at.path.extend(ahead);
        at.kind = None;
        Ok(at)
    }

    /// Of what lies outside no answer tells more than that.
    fn unreadable(&self, name: &str, path: &Path, error: &io::Error) -> Error {
        if !path.starts_with(&self.root) {
            return outside(name, "leads out of the workspace");
        }
        match error.raw_os_error() {
            Some(raw) => failed(name, Doing::Read, Errno::from_raw_os_error(raw)),
            None => invalid(name, "cannot be resolved"),
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub fn read(&self, located: &Located) -> Result<Vec<u8>> {
        let (parents, name) = split(&located.rel);
        let dir = self.directory(parents).map_err(|error| failed(&located.rel, Doing::Read, error))?;
        let found = read_in(&dir, name, &located.rel)?;
        found.map(|found| found.bytes).ok_or_else(|| unknown(&located.rel, "there is no such file"))
    }

    pub fn read_text(&self, located: &Located) -> Result<String> {
        let bytes = self.read(located)?;
        match text_of(&bytes) {
            Some(_) => String::from_utf8(bytes).map_err(|_| not_text(&located.rel)),
            None => Err(not_text(&located.rel)),
        }
    }

    /// A directory below the root, reached without following a link.
    fn directory(&self, parents: &str) -> rustix::io::Result<OwnedFd> {
        let mut dir = open_directory(rustix::fs::CWD, &self.root)?;
        for part in parents.split('/').filter(|part| !part.is_empty()) {
            dir = open_directory(&dir, part)?;
        }
        Ok(dir)
    }
}

struct Resolved {
    path: PathBuf,
    /// Absent where nothing is there.
    kind: Option<FileType>,
    via_link: bool,
}

fn mode_of(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata)
}

fn open_directory<P: rustix::path::Arg>(at: impl std::os::fd::AsFd, name: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// A file that was read, and what it was at that moment.
struct Found {
    bytes: Vec<u8>,
    stat: Stat,
}

/// The file of this name in a directory; nothing if there is none. Looks before it opens, so that it never touches a
/// device or waits for the other end of a pipe.
fn read_in(dir: &OwnedFd, name: &str, file: &str) -> Result<Option<Found>> {
    let told = |error| failed(file, Doing::Read, error);
    let before = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(told(error)),
    };
    check_regular(file, &before)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = match openat(dir, name, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(told(error)),
    };
    let stat = rustix::fs::fstat(&opened).map_err(told)?;
    check_regular(file, &stat)?;
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    check_size(file, size)?;
    let mut bytes = Vec::with_capacity(size + 1);
    let limit = MOST_BYTES as u64 + 1;
    File::from(opened)
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| told(error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)))?;
    check_size(file, bytes.len())?;
    Ok(Some(Found { bytes, stat }))
}

fn check_regular(file: &str, stat: &Stat) -> Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(invalid(file, "is a directory: name a file")),
        // The place was resolved before: whatever this is came later.
        FileType::Symlink => Err(error(Code::Conflict, file, "was replaced by a link just now: ask again")),
        kind => Err(not_a_file(file, kind)),
    }
}

fn check_size(file: &str, size: usize) -> Result<()> {
    if size <= MOST_BYTES {
        return Ok(());
    }
    Err(error(Code::TooLarge, file, "is larger than 10 MiB, the most that semdex reads or writes"))
}

/// The parts of a lawful name.
fn parts_of(name: &str) -> Result<Vec<&str>> {
    if name.is_empty() {
        return Err(Error::new(Code::InvalidRequest, "the name of a file is empty"));
    }
    if name.contains('\0') {
        return Err(invalid(name, "holds a NUL, which no name can"));
    }
    if name.starts_with('/') {
        return Err(outside(name, "is absolute: name files relative to the workspace's root"));
    }
    let mut parts = Vec::new();
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            return Err(outside(name, "holds `..`: name files from the workspace's root down"));
        }
        check_part(name, part)?;
        parts.push(part);
    }
    if parts.is_empty() || name.ends_with('/') || name.ends_with("/.") {
        return Err(invalid(name, "is a directory: name a file"));
    }
    Ok(parts)
}

/// Version control's own files and semdex's are not the workspace's, at whatever depth.
fn check_part(name: &str, part: &str) -> Result<()> {
    if part.eq_ignore_ascii_case(".git") {
        return Err(outside(name, "lies in `.git`, which is not part of the workspace"));
    }
    if part.starts_with(TEMPORARY_PREFIX) {
        return Err(outside(name, "is semdex's own, for the moment of a write"));
    }
    Ok(())
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

fn unknown(file: &str, why: &str) -> Error {
    error(Code::UnknownFile, file, &format!("is not a file of the workspace: {why}"))
}

fn not_text(file: &str) -> Error {
    error(Code::NotText, file, "is not text: it is not UTF-8, or holds NUL bytes")
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

/// What the system says, in words of ours.
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
