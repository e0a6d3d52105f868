//! Files below a directory, reached only by handles, and reads that never block.
//!
//! A path is walked component by component, each opened relative to its parent. Only links that this crate itself reads
//! and resolves are followed. A directory that another process replaces with a link during the walk is therefore not
//! followed. A file's type is checked before it is read: a named pipe, a socket or a device is refused.
//!
//! Some directories belong to no tree, wherever they are and whatever their path is: a [`Tree`] identifies them by
//! device and inode.

mod byte_locks;
mod descent;
mod file_stamp;
#[cfg(test)]
mod tests;
mod worktrees;

pub use byte_locks::{is_byte_locked, lock_byte};
pub use descent::Descent;
pub use file_stamp::FileStamp;
pub use worktrees::{Checkout, GIT, holds, is_linked_worktree, is_linked_worktree_at, worktree_between};

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, lstat, openat, openat2, readlinkat, stat,
    statat,
};
use rustix::io::Errno;
use rustix::path::Arg;

/// The most links in one path, the same as in Linux.
const MOST_LINKS: usize = 40;
/// A handle to walk on from. It requires no permission to read the directory.
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Device and inode.
pub type Identity = (u64, u64);

/// The identity of the file with this metadata.
pub fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

/// A directory and everything below it, except forbidden directories and files.
#[derive(Debug, Clone)]
pub struct Tree {
    root: PathBuf,
    forbidden: Arc<[PathBuf]>,
    /// The root's path may be a link.
    via_link: bool,
}

impl Tree {
    /// The root is canonical. The root and the forbidden paths may be missing.
    pub fn new(root: PathBuf, forbidden: Arc<[PathBuf]>) -> Tree {
        Tree { root, forbidden, via_link: false }
    }

    /// The same for a root as the user wrote it, possibly a link. Paths keep that form.
    pub fn named(root: PathBuf, forbidden: Arc<[PathBuf]>) -> Tree {
        Tree { root, forbidden, via_link: true }
    }

    /// The tree of an existing directory, with nothing forbidden.
    pub fn open(root: &Path) -> io::Result<Tree> {
        Ok(Tree::new(root.canonicalize()?, Arc::default()))
    }

    /// The root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The paths that are not part of the tree.
    pub fn forbidden(&self) -> &Arc<[PathBuf]> {
        &self.forbidden
    }

    /// Whether the root is forbidden or inside a forbidden directory.
    pub fn is_forbidden(&self) -> bool {
        let forbidden = Forbidden::look(&self.forbidden);
        let is_forbidden = |it: &Path| stat(it).is_ok_and(|it| forbidden.identities.contains(&identity(&it)));
        self.root.ancestors().any(is_forbidden)
    }

    /// Device and inode of the directory at the root.
    pub fn identity(&self) -> Option<Identity> {
        let found = if self.via_link { stat(&self.root) } else { lstat(&self.root) }.ok()?;
        (FileType::from_raw_mode(found.st_mode) == FileType::Directory).then(|| identity(&found))
    }

    /// A handle on the root, for one operation or several.
    pub fn reader(&self) -> rustix::io::Result<Reader> {
        let flags = if self.via_link { STEP.difference(OFlags::NOFOLLOW) } else { STEP };
        let handle = openat(CWD, &self.root, flags, Mode::empty())?;
        Ok(Reader { root: self.root.clone(), handle, forbidden: Forbidden::look(&self.forbidden) })
    }

    /// The content of a regular file. Links are followed if they stay in the tree.
    pub fn read(&self, below: &Path, most: usize) -> io::Result<Vec<u8>> {
        let reader = self.reader()?;
        let below = reader.settle(below)?;
        let (directory, name) = split(&below)?;
        Ok(read_at(&reader.directory(directory)?, name, most)?.bytes)
    }

    /// The sorted names of a directory's entries. Links are followed if they stay in the tree.
    pub fn names(&self, below: &Path) -> io::Result<Vec<OsString>> {
        let reader = self.reader()?;
        let directory = reader.directory(&reader.settle(below)?)?;
        let entries = entries(&directory)?.collect::<rustix::io::Result<Vec<_>>>()?;
        let names = entries.iter().map(|it| OsString::from_vec(it.file_name().to_bytes().to_vec()));
        let mut names: Vec<_> = names.filter(|it| it != "." && it != "..").collect();
        names.sort();
        Ok(names)
    }
}

/// The forbidden directories and files, as they are on disk now.
#[derive(Debug)]
struct Forbidden {
    paths: Arc<[PathBuf]>,
    /// The forbidden directories and single files.
    identities: Vec<Identity>,
    /// The files directly in the forbidden directories.
    files: OnceCell<Vec<Identity>>,
}

impl Forbidden {
    fn look(paths: &Arc<[PathBuf]>) -> Forbidden {
        let identities = paths.iter().filter_map(|it| Some(identity(&stat(it).ok()?))).collect();
        Forbidden { paths: paths.clone(), identities, files: OnceCell::new() }
    }

    fn check(&self, stat: &Stat) -> rustix::io::Result<()> {
        let found = identity(stat);
        // A hard link is another name of the same file.
        let may_be_linked = stat.st_nlink > 1 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if self.identities.contains(&found) || may_be_linked && self.files().contains(&found) {
            return Err(Errno::XDEV);
        }
        Ok(())
    }

    /// Whether creating this missing path would create it in a forbidden directory.
    fn would_hold(&self, absent: &Path) -> bool {
        self.paths.iter().filter_map(|it| would_be(it)).any(|it| absent.starts_with(it))
    }

    fn files(&self) -> &[Identity] {
        self.files.get_or_init(|| {
            let entries = self.paths.iter().filter_map(|it| std::fs::read_dir(it).ok()).flatten().flatten();
            entries.filter_map(|it| Some(identity(&stat(it.path()).ok()?))).collect()
        })
    }
}

/// The canonical path of a file, or the path that it would have if it were created.
fn would_be(path: &Path) -> Option<PathBuf> {
    let (there, real) = path.ancestors().skip(1).find_map(|it| Some((it, it.canonicalize().ok()?)))?;
    Some(real.join(path.strip_prefix(there).ok()?))
}

/// Walks and reads below the root, as it was when the reader was created.
#[derive(Debug)]
pub struct Reader {
    root: PathBuf,
    handle: OwnedFd,
    forbidden: Forbidden,
}

/// The target of a path.
#[derive(Debug)]
pub struct Resolved {
    /// Without links.
    pub path: PathBuf,
    /// `None` if nothing exists at the path.
    pub kind: Option<FileType>,
    /// Whether a link was followed.
    pub via_link: bool,
}

/// Why a path has no target.
#[derive(Debug)]
pub enum Unresolved {
    /// The path leads through more than 40 links.
    TooManyLinks,
    /// The path continues below this file.
    BelowFile(PathBuf),
    /// [`Errno::XDEV`] means that the path is forbidden.
    Failed(PathBuf, Errno),
}

impl Reader {
    /// The root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A directory below the root, reached without following links. [`Errno::XDEV`] if it is forbidden.
    pub fn directory(&self, below: &Path) -> rustix::io::Result<OwnedFd> {
        self.directory_where(below, |_, _| true)
    }

    /// The same, with a check of each directory on the way by its path and handle. [`Errno::XDEV`] if one is refused.
    pub fn directory_where(
        &self,
        below: &Path,
        takes: impl Fn(&Path, &OwnedFd) -> bool,
    ) -> rustix::io::Result<OwnedFd> {
        let mut directory = openat(&self.handle, ".", STEP, Mode::empty())?;
        let mut path = self.root.clone();
        for component in below.components() {
            let Component::Normal(name) = component else { return Err(Errno::INVAL) };
            directory = self.step(&directory, name)?;
            path.push(name);
            if !takes(&path, &directory) {
                return Err(Errno::XDEV);
            }
        }
        Ok(directory)
    }

    /// A child directory, not a link. [`Errno::XDEV`] if it is forbidden.
    fn step(&self, directory: impl AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        let next = openat(directory, name, STEP, Mode::empty())?;
        self.forbidden.check(&fstat(&next)?)?;
        Ok(next)
    }

    /// The identity of the directory that a path names now, links not followed. A forbidden directory is not refused.
    pub fn identity_now(&self, below: &Path) -> rustix::io::Result<Identity> {
        let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        match openat2(&self.handle, below, STEP, Mode::empty(), no_links) {
            Ok(directory) => Ok(identity(&fstat(&directory)?)),
            // The root itself, older kernels, and sandboxes.
            Err(Errno::NOENT | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {
                Ok(identity(&fstat(&self.directory(below)?)?))
            }
            Err(errno) => Err(errno),
        }
    }

    /// The metadata of a path below the root, links not followed. [`Errno::XDEV`] if it is forbidden.
    pub fn stat(&self, below: &Path) -> rustix::io::Result<Stat> {
        let found = match below.file_name() {
            Some(name) => {
                let parent = below.parent().unwrap_or(Path::new(""));
                statat(self.directory(parent)?, name, AtFlags::SYMLINK_NOFOLLOW)?
            }
            None => fstat(&self.handle)?,
        };
        self.forbidden.check(&found)?;
        Ok(found)
    }

    /// [`Errno::XDEV`] if it is forbidden.
    pub fn check(&self, found: &Stat) -> rustix::io::Result<()> {
        self.forbidden.check(found)
    }

    /// Follows a path from the root, or an absolute path, link by link. The target may be outside the tree: see its
    /// path.
    pub fn resolve(&self, name: &Path) -> Result<Resolved, Unresolved> {
        let mut ahead: VecDeque<OsString> = parts(name).collect();
        let failed = |path: &Path, errno| Unresolved::Failed(path.to_path_buf(), errno);
        let place = if name.is_absolute() { Place::top() } else { Place::at(&self.root, &self.handle) };
        let mut place = place.map_err(|errno| failed(&self.root, errno))?;
        let mut links = 0;
        while let Some(part) = ahead.pop_front() {
            // Only the target of a link contains `..`. The path so far contains no links, so its parent is the parent
            // directory.
            if part == ".." {
                place.up().map_err(|errno| failed(&place.path, errno))?;
                continue;
            }
            let path = place.path.join(&part);
            let failed = |errno| failed(&path, errno);
            let found = match statat(&place.handle, &part, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => found,
                // The path and the directories above it may still be created.
                Err(Errno::NOENT) if ahead.iter().all(|it| it != "..") => {
                    let path: PathBuf = std::iter::once(path).chain(ahead.into_iter().map(PathBuf::from)).collect();
                    if self.forbidden.would_hold(&path) {
                        return Err(Unresolved::Failed(path, Errno::XDEV));
                    }
                    return Ok(Resolved { path, kind: None, via_link: links > 0 });
                }
                Err(errno) => return Err(failed(errno)),
            };
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Symlink => {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(Unresolved::TooManyLinks);
                    }
                    let target = readlinkat(&place.handle, &part, Vec::new()).map_err(failed)?;
                    let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                    if target.is_absolute() {
                        place = Place::top().map_err(failed)?;
                    }
                    parts(&target).rev().for_each(|it| ahead.push_front(it));
                }
                FileType::Directory => {
                    let opened = openat(&place.handle, &part, STEP, Mode::empty()).map_err(failed)?;
                    fstat(&opened).and_then(|it| self.forbidden.check(&it)).map_err(failed)?;
                    place.enter(&part, opened);
                }
                kind if ahead.is_empty() => {
                    self.forbidden.check(&found).map_err(failed)?;
                    return Ok(Resolved { path, kind: Some(kind), via_link: links > 0 });
                }
                _ => return Err(Unresolved::BelowFile(path)),
            }
        }
        Ok(Resolved { path: place.path, kind: Some(FileType::Directory), via_link: links > 0 })
    }

    /// The path below the root without links.
    fn settle(&self, below: &Path) -> rustix::io::Result<PathBuf> {
        let resolved = self.resolve(below).map_err(|unresolved| match unresolved {
            Unresolved::TooManyLinks => Errno::LOOP,
            Unresolved::BelowFile(_) => Errno::NOTDIR,
            Unresolved::Failed(_, errno) => errno,
        })?;
        if resolved.kind.is_none() {
            return Err(Errno::NOENT);
        }
        resolved.path.strip_prefix(&self.root).map(Path::to_path_buf).map_err(|_| Errno::XDEV)
    }
}

/// A directory that the walk has reached, without links.
struct Place {
    path: PathBuf,
    handle: OwnedFd,
    /// Handles of its parents, as far as the walk went through them.
    around: Vec<OwnedFd>,
}

impl Place {
    fn at(path: &Path, handle: &OwnedFd) -> rustix::io::Result<Place> {
        let handle = openat(handle, ".", STEP, Mode::empty())?;
        Ok(Place { path: path.to_path_buf(), handle, around: Vec::new() })
    }

    fn top() -> rustix::io::Result<Place> {
        let handle = openat(CWD, "/", STEP, Mode::empty())?;
        Ok(Place { path: PathBuf::from("/"), handle, around: Vec::new() })
    }

    fn enter(&mut self, name: &OsStr, handle: OwnedFd) {
        self.around.push(std::mem::replace(&mut self.handle, handle));
        self.path.push(name);
    }

    fn up(&mut self) -> rustix::io::Result<()> {
        if self.path.pop() {
            // Above the start of the walk, the path names a directory and contains no links.
            let above = self.around.pop().map_or_else(|| openat(CWD, &self.path, STEP, Mode::empty()), Ok);
            self.handle = above?;
        }
        Ok(())
    }
}

/// The components of a path to walk.
fn parts(name: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    name.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

fn split(below: &Path) -> rustix::io::Result<(&Path, &OsStr)> {
    let name = below.file_name().ok_or(Errno::ISDIR)?;
    Ok((below.parent().unwrap_or(Path::new("")), name))
}

/// The entries of a directory, with `.` and `..`.
pub fn entries(directory: impl AsFd) -> rustix::io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Dir::new(openat(directory, ".", flags, Mode::empty())?)
}

/// A file's content, and its metadata when it was read.
#[derive(Debug)]
pub struct Content {
    /// The file's content.
    pub bytes: Vec<u8>,
    /// The file's metadata.
    pub stat: Stat,
}

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not a regular file.
    Kind(FileType),
    /// It is larger than the limit.
    TooLarge,
    /// The operating system refused.
    Failed(Errno),
}

impl From<Errno> for Unreadable {
    fn from(errno: Errno) -> Unreadable {
        match errno {
            // The error of opening a socket.
            Errno::NXIO => Unreadable::Kind(FileType::Socket),
            errno => Unreadable::Failed(errno),
        }
    }
}

impl From<Unreadable> for io::Error {
    fn from(unreadable: Unreadable) -> io::Error {
        match unreadable {
            Unreadable::Kind(FileType::Directory) => Errno::ISDIR.into(),
            Unreadable::Kind(_) => io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"),
            Unreadable::TooLarge => Errno::FBIG.into(),
            Unreadable::Failed(errno) => errno.into(),
        }
    }
}

/// Reads the regular file of this name in a directory, of at most `most` bytes. A link is not followed. Checks the
/// file's type before it opens the file, so that it opens no device. Checks it again afterwards, since the file may
/// have been replaced between.
pub fn read_at(directory: impl AsFd, name: impl Arg + Copy, most: usize) -> Result<Content, Unreadable> {
    let before = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    check_regular(&before)?;
    read_opened(openat(&directory, name, reading().union(OFlags::NOFOLLOW), Mode::empty())?, most)
}

/// Reads the regular file at a path, of at most `most` bytes. Links are followed.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let read = || {
        check_regular(&stat(path)?)?;
        read_opened(openat(CWD, path, reading(), Mode::empty())?, most)
    };
    Ok(read()?.bytes)
}

const fn reading() -> OFlags {
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC)
}

fn read_opened(opened: OwnedFd, most: usize) -> Result<Content, Unreadable> {
    let stat = fstat(&opened)?;
    check_regular(&stat)?;
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if size > most {
        return Err(Unreadable::TooLarge);
    }
    let mut bytes = Vec::with_capacity(size + 1);
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let read = File::from(opened).take(limit).read_to_end(&mut bytes);
    read.map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))?;
    if bytes.len() > most { Err(Unreadable::TooLarge) } else { Ok(Content { bytes, stat }) }
}

fn check_regular(stat: &Stat) -> Result<(), Unreadable> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        kind => Err(Unreadable::Kind(kind)),
    }
}
