//! Writing: every file wholly old or wholly new, several files together or not at all.
//!
//! First all new contents are written beside their targets and synced, so that whatever can fail for want of space or
//! permission fails before any target is touched. Then target after target is swapped with its new content, after a
//! last look that it still is what the change was made for; the old file stays under the temporary name until all is
//! done, and is swapped back if anything fails. The swap also closes the gap between look and rename: what it hands
//! out is looked at again, and put back if somebody has changed it just then.
//!
//! What people expect of an editor holds: mode and owner stay (the owner as far as permitted), a file without write
//! permission is not replaced, not even by root. A file with several hard links gets a content of its own, as with
//! git or any editor that writes atomically: the other names keep the old one. What survives a crash between two
//! swaps is the journal's business, not this module's.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, RenameFlags, Stat, accessat, fchmod, fchown, fstat, fsync, mkdirat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Disk, Doing, Found, Located, TEMPORARY_PREFIX, check_size, error, failed, open_directory, read_in, split};
use crate::model::{Code, Error, Result};

/// The new content of one file.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    pub located: &'a Located,
    /// What must be there for the write to happen; `None`: nothing.
    pub expected: Option<blake3::Hash>,
    /// `None` deletes the file.
    pub content: Option<&'a [u8]>,
}

impl Disk {
    /// Writes all of these files, or none.
    pub fn write(&self, writes: &[Write]) -> Result<()> {
        self.write_watched(writes, &mut |_| {})
    }

    /// `before_swap` is told each file at the last moment before it is looked at and swapped; tests interfere there.
    pub(super) fn write_watched(&self, writes: &[Write], before_swap: &mut dyn FnMut(&str)) -> Result<()> {
        let mut files = HashSet::new();
        if let Some(twice) = writes.iter().find(|write| !files.insert(&write.located.rel)) {
            return Err(error(Code::InvalidRequest, &twice.located.rel, "is written twice in one change"));
        }
        let mut made = MadeDirectories::default();
        let staged = writes.iter().map(|write| self.stage(write, &mut made)).collect::<Result<Vec<Staged>>>();
        let staged = staged.map_err(|error| take_back(Vec::new(), error))?;
        let mut swapped = Vec::new();
        for staged in &staged {
            before_swap(staged.file());
            match staged.swap() {
                Ok(undo) => swapped.push((staged, undo)),
                Err(error) => return Err(take_back(swapped, error)),
            }
        }
        if let Err(error) = sync_directories(&staged, &made) {
            return Err(take_back(swapped, error));
        }
        made.keep();
        Ok(())
    }

    /// Makes all ready for one file, without touching its target.
    fn stage<'a>(&self, write: &Write<'a>, made: &mut MadeDirectories) -> Result<Staged<'a>> {
        let file = write.located.rel.as_str();
        let told = |errno| failed(file, Doing::Write, errno);
        let (parents, name) = split(file);
        let dir = match self.directory(parents) {
            Ok(dir) => dir,
            Err(Errno::NOENT) if write.expected.is_none() => self.make_directories(parents, made).map_err(told)?,
            Err(errno) => return Err(told(errno)),
        };
        let dir = Rc::new(dir);
        let old = check(read_in(&dir, name, file)?, write)?;
        if let Some(old) = &old {
            check_writable(&dir, name, file, &old.stat)?;
        }
        let (temporary, new) = match write.content {
            Some(content) => {
                check_size(file, content.len())?;
                let (temporary, mut opened) = Temporary::create(&dir, old.is_none()).map_err(told)?;
                opened.write_all(content).map_err(|error| told(errno_of(&error)))?;
                if let Some(old) = &old {
                    keep_owner_and_mode(&opened, &old.stat).map_err(told)?;
                }
                opened.sync_all().map_err(|error| told(errno_of(&error)))?;
                let new = fstat(&opened).map_err(told)?;
                (temporary, Some(new))
            }
            None => (Temporary::name_only(&dir).map_err(told)?, None),
        };
        Ok(Staged { write: *write, dir, name, temporary, new })
    }

    fn make_directories(&self, parents: &str, made: &mut MadeDirectories) -> rustix::io::Result<OwnedFd> {
        let mut dir = Rc::new(self.directory("")?);
        for part in parents.split('/') {
            match mkdirat(&*dir, part, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.list.push((dir.clone(), part.to_owned())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
            dir = Rc::new(open_directory(&*dir, part)?);
        }
        open_directory(&*dir, ".")
    }
}

/// One file, ready to be swapped.
struct Staged<'a> {
    write: Write<'a>,
    dir: Rc<OwnedFd>,
    name: &'a str,
    /// Its new content; after the swap the old one.
    temporary: Temporary,
    /// What the new content is as a file; absent where there is none.
    new: Option<Stat>,
}

/// What takes a swap back.
enum Undo {
    /// The old file lies under the temporary name.
    SwapBack,
    MoveBack,
    Remove,
    /// The file system cannot swap: the old file is gone, but for this.
    WriteBack(Box<Found>),
}

impl Staged<'_> {
    fn file(&self) -> &str {
        &self.write.located.rel
    }

    fn told(&self, errno: Errno) -> Error {
        failed(self.file(), Doing::Write, errno)
    }

    fn swap(&self) -> Result<Undo> {
        let old = check(read_in(&self.dir, self.name, self.file())?, &self.write)?;
        match (old, self.write.content) {
            (None, _) => self.create(),
            (Some(old), Some(_)) => self.replace(old),
            (Some(old), None) => self.delete(&old),
        }
    }

    fn create(&self) -> Result<Undo> {
        let (dir, temporary) = (&*self.dir, &self.temporary.name);
        let created = match renameat_with(dir, temporary, dir, self.name, RenameFlags::NOREPLACE) {
            // A file system that cannot refuse to replace can link, which never replaces.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(dir, temporary, dir, self.name, AtFlags::empty())
            }
            done => done,
        };
        match created {
            Ok(()) => Ok(Undo::Remove),
            Err(Errno::EXIST) => Err(already_exists(self.file())),
            Err(errno) => Err(self.told(errno)),
        }
    }

    fn replace(&self, old: Found) -> Result<Undo> {
        let (dir, temporary) = (&*self.dir, &self.temporary.name);
        match renameat_with(dir, temporary, dir, self.name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                renameat(dir, temporary, dir, self.name).map_err(|errno| self.told(errno))?;
                return Ok(Undo::WriteBack(Box::new(old)));
            }
            Err(Errno::NOENT) => return Err(gone(self.file())),
            Err(errno) => return Err(self.told(errno)),
        }
        self.check_swapped_out(&old, Undo::SwapBack)
    }

    fn delete(&self, old: &Found) -> Result<Undo> {
        let dir = &*self.dir;
        renameat(dir, self.name, dir, &self.temporary.name).map_err(|errno| self.told(errno))?;
        self.check_swapped_out(old, Undo::MoveBack)
    }

    /// Whether what lies under the temporary name now is what was looked at a moment before.
    fn check_swapped_out(&self, old: &Found, undo: Undo) -> Result<Undo> {
        let stat = statat(&*self.dir, &self.temporary.name, AtFlags::SYMLINK_NOFOLLOW);
        if stat.is_ok_and(|stat| is_untouched(&old.stat, &stat)) {
            return Ok(undo);
        }
        let changed = read_in(&self.dir, &self.temporary.name, self.file()).and_then(|now| check(now, &self.write));
        match changed {
            Ok(_) => Ok(undo),
            Err(error) => Err(take_back(vec![(self, undo)], error)),
        }
    }

    /// Whether the old state could be restored.
    fn undo(&self, undo: Undo) -> std::result::Result<(), String> {
        let (dir, temporary) = (&*self.dir, &self.temporary.name);
        let done = match undo {
            Undo::SwapBack => {
                self.still_new().and_then(|()| renameat_with(dir, temporary, dir, self.name, RenameFlags::EXCHANGE))
            }
            Undo::MoveBack => renameat_with(dir, temporary, dir, self.name, RenameFlags::NOREPLACE),
            Undo::Remove => match self.still_new() {
                Err(Errno::NOENT) => Ok(()),
                Ok(()) => unlinkat(dir, self.name, AtFlags::empty()),
                Err(errno) => Err(errno),
            },
            Undo::WriteBack(old) => self.still_new().and_then(|()| {
                let (restored, mut opened) = Temporary::create(&self.dir, false)?;
                opened.write_all(&old.bytes).map_err(|error| errno_of(&error))?;
                keep_owner_and_mode(&opened, &old.stat)?;
                opened.sync_all().map_err(|error| errno_of(&error))?;
                renameat(dir, &restored.name, dir, self.name)
            }),
        };
        done.map_err(|errno| match errno {
            Errno::BUSY | Errno::EXIST | Errno::NOENT => {
                format!("`{}` was written by someone else meanwhile", self.file())
            }
            _ => {
                // What could not be put back is not thrown away.
                self.temporary.keep();
                let why = std::io::Error::from(errno);
                format!("`{}` could not be restored ({why}), its old content is in `{temporary}`", self.file())
            }
        })
    }

    /// What somebody wrote after the swap is not overwritten by taking the swap back.
    fn still_new(&self) -> rustix::io::Result<()> {
        let now = statat(&*self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        if self.new.is_some_and(|new| is_untouched(&new, &now)) { Ok(()) } else { Err(Errno::BUSY) }
    }
}

fn sync_directories(staged: &[Staged], made: &MadeDirectories) -> Result<()> {
    let Some(first) = staged.first() else { return Ok(()) };
    made.parents().try_for_each(|parent| sync(parent)).map_err(|errno| first.told(errno))?;
    let mut synced = HashSet::new();
    let mut directories = staged.iter().filter(|staged| synced.insert(split(staged.file()).0));
    directories.try_for_each(|staged| sync(&staged.dir).map_err(|errno| staged.told(errno)))
}

/// Takes back what was swapped, the last one first, and says with the error in what state the disk is.
fn take_back(swapped: Vec<(&Staged, Undo)>, mut error: Error) -> Error {
    let mut left = Vec::new();
    for (staged, undo) in swapped.into_iter().rev() {
        if let Err(what) = staged.undo(undo) {
            left.push(what);
        }
        // Only for what a power failure would leave.
        let _ = sync(&staged.dir);
    }
    if left.is_empty() {
        error.detail.push_str("; nothing was changed");
    } else {
        error.detail.push_str(&format!("; the change was not taken back everywhere: {}", left.join(", ")));
    }
    error
}

/// Whether what is there is what the write was made for.
fn check(found: Option<Found>, write: &Write) -> Result<Option<Found>> {
    let file = &write.located.rel;
    match (found, write.expected) {
        (None, None) if write.content.is_none() => Err(failed(file, Doing::Write, Errno::NOENT)),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(gone(file)),
        (Some(_), None) => Err(already_exists(file)),
        (Some(found), Some(expected)) => {
            let actual = blake3::hash(&found.bytes);
            if actual == expected {
                return Ok(Some(found));
            }
            let mut error = error(Code::HashMismatch, file, "has changed since it was read: read it again");
            error.help.actual_hash = Some(actual.to_hex().to_string());
            Err(error)
        }
    }
}

fn gone(file: &str) -> Error {
    error(Code::Conflict, file, "is gone since it was read")
}

fn already_exists(file: &str) -> Error {
    error(Code::AlreadyExists, file, "exists already")
}

/// The same file with the same content, as far as that can be told without reading it. The time of the last change of
/// the inode is left out: a rename changes it.
fn is_untouched(before: &Stat, now: &Stat) -> bool {
    let identity =
        |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_mode);
    identity(before) == identity(now)
}

/// As an editor would: a file without write permission is not written, though its directory would allow to replace it.
fn check_writable(dir: &OwnedFd, name: &str, file: &str, stat: &Stat) -> Result<()> {
    let owner_may_write = Mode::from_raw_mode(stat.st_mode).contains(Mode::WUSR);
    let denied = match accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::NOSYS | Errno::INVAL) | Ok(()) => false,
        Err(_) => true,
    };
    if denied || !owner_may_write {
        return Err(error(Code::PermissionDenied, file, "is read-only"));
    }
    Ok(())
}

fn keep_owner_and_mode(new: &File, old: &Stat) -> rustix::io::Result<()> {
    let stat = fstat(new)?;
    if (stat.st_uid, stat.st_gid) != (old.st_uid, old.st_gid) {
        let owner = rustix::fs::Uid::from_raw(old.st_uid);
        let group = rustix::fs::Gid::from_raw(old.st_gid);
        // Only root may give a file away; a group of one's own may be kept.
        if fchown(new, Some(owner), Some(group)).is_err() {
            let _ = fchown(new, None, Some(group));
        }
    }
    fchmod(new, Mode::from_raw_mode(old.st_mode & 0o7777))
}

fn sync(dir: &OwnedFd) -> rustix::io::Result<()> {
    match fsync(dir) {
        // Some file systems have nothing to sync in a directory.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        done => done,
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

/// A file of semdex's own beside a target. It goes with this value.
struct Temporary {
    dir: Rc<OwnedFd>,
    name: String,
    kept: Cell<bool>,
}

impl Temporary {
    /// A new file has the mode that the user's mask leaves; for an old one's successor it is narrow until it has the
    /// old one's.
    fn create(dir: &Rc<OwnedFd>, new: bool) -> rustix::io::Result<(Temporary, File)> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if new { 0o666 } else { 0o600 });
        loop {
            let temporary = Temporary::name_only(dir)?;
            match openat(&**dir, &temporary.name, flags, mode) {
                Ok(opened) => return Ok((temporary, File::from(opened))),
                Err(Errno::EXIST) => temporary.keep(),
                Err(errno) => return Err(errno),
            }
        }
    }

    /// A name that nobody has.
    fn name_only(dir: &Rc<OwnedFd>) -> rustix::io::Result<Temporary> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|_| Errno::IO)?;
        let name = format!("{TEMPORARY_PREFIX}{:016x}", u64::from_le_bytes(random));
        Ok(Temporary { dir: dir.clone(), name, kept: Cell::new(false) })
    }

    fn keep(&self) {
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

/// Directories made for new files. They go again with this value, unless kept.
#[derive(Default)]
struct MadeDirectories {
    /// Each with the directory that it is in, from the top down.
    list: Vec<(Rc<OwnedFd>, String)>,
    kept: bool,
}

impl MadeDirectories {
    fn parents(&self) -> impl Iterator<Item = &Rc<OwnedFd>> {
        self.list.iter().map(|(parent, _)| parent)
    }

    fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        for (parent, name) in self.list.iter().rev() {
            // One that is not empty any more is somebody's now.
            let _ = unlinkat(&**parent, name, AtFlags::REMOVEDIR);
        }
    }
}
