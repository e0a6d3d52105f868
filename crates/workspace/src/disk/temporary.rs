//! Temporary files and directories of a write: a file next to its target with the target's attributes, and new
//! directories. Both are removed unless they are kept.

use std::cell::Cell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{
    AtFlags, Mode, OFlags, Stat, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat, openat, unlinkat,
};
use rustix::io::Errno;

use super::TEMPORARY_PREFIX;
use super::fault::{self, Step};

/// A temporary file next to a target. It is removed on drop.
pub(super) struct Temporary {
    dir: Rc<OwnedFd>,
    pub(super) name: String,
    kept: Cell<bool>,
}

impl Temporary {
    /// A new file has the mode that the user's mask leaves. The replacement of an old file has a narrow mode until it
    /// gets the old one's.
    pub(super) fn create(dir: &Rc<OwnedFd>, tag: &str, new: bool) -> rustix::io::Result<(Temporary, File)> {
        fault::at(Step::Open)?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if new { 0o666 } else { 0o600 });
        loop {
            let temporary = Temporary::name_only(dir, tag)?;
            match openat(&**dir, &temporary.name, flags, mode) {
                Ok(opened) => return Ok((temporary, File::from(opened))),
                Err(Errno::EXIST) => temporary.keep(),
                Err(errno) => return Err(errno),
            }
        }
    }

    /// An unused name.
    pub(super) fn name_only(dir: &Rc<OwnedFd>, tag: &str) -> rustix::io::Result<Temporary> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
        let name = format!("{TEMPORARY_PREFIX}{tag}-{:016x}", u64::from_le_bytes(random));
        Ok(Temporary { dir: dir.clone(), name, kept: Cell::new(false) })
    }

    pub(super) fn keep(&self) {
        self.kept.set(true);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept.get() {
            let _ = unlinkat(&*self.dir, &self.name, AtFlags::empty());
        }
    }
}

/// Directories created for new files. They are removed on drop, unless kept.
#[derive(Default)]
pub(super) struct MadeDirectories {
    /// Each directory with its parent, from the top down.
    pub(super) list: Vec<(Rc<OwnedFd>, String)>,
    kept: bool,
}

impl MadeDirectories {
    pub(super) fn parents(&self) -> impl Iterator<Item = &Rc<OwnedFd>> {
        self.list.iter().map(|(parent, _)| parent)
    }

    pub(super) fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        for (parent, name) in self.list.iter().rev() {
            // A directory that is no longer empty belongs to somebody else now.
            let _ = unlinkat(&**parent, name, AtFlags::REMOVEDIR);
        }
    }
}

pub(super) fn keep_owner_and_mode(new: &File, old: &Stat) -> rustix::io::Result<()> {
    let stat = fstat(new)?;
    if (stat.st_uid, stat.st_gid) != (old.st_uid, old.st_gid) {
        let owner = rustix::fs::Uid::from_raw(old.st_uid);
        let group = rustix::fs::Gid::from_raw(old.st_gid);
        // Only root may change the owner; the group may be kept if it is one of the user's.
        if fchown(new, Some(owner), Some(group)).is_err() {
            let _ = fchown(new, None, Some(group));
        }
    }
    fchmod(new, Mode::from_raw_mode(old.st_mode & 0o7777))
}

/// Copies access lists and other attributes that users have attached to the file. Attributes that only root may set are
/// left out.
pub(super) fn keep_attributes(new: &File, dir: &OwnedFd, name: &str) {
    const MOST_BYTES: usize = 64 << 10;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(old) = openat(dir, name, flags, Mode::empty()) else { return };
    let mut names = [0; 4096];
    let Ok(length) = flistxattr(&old, &mut names) else { return };
    for attribute in names.get(..length).unwrap_or_default().split(|it| *it == 0).filter(|it| !it.is_empty()) {
        let mut value = vec![0; MOST_BYTES];
        if let Ok(length) = fgetxattr(&old, attribute, &mut value) {
            value.truncate(length);
            let _ = fsetxattr(new, attribute, &value, XattrFlags::empty());
        }
    }
}
