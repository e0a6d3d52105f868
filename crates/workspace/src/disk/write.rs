//! Writing: every file is wholly old or wholly new, and several files are written together or not at all.
//!
//! First all new contents are written next to their targets and synced, so that missing space or permission fails
//! before any target is touched. Then each target is swapped with its new content, after a last check that it still has
//! the content that the change is based on. The old file keeps the temporary name until all is done, and is swapped
//! back if anything fails. The swap also closes the gap between check and rename: the swapped-out file is checked
//! again, and put back if somebody has just changed it. The same happens once more after everything is synced: a
//! process that had the old file open and wrote to it finds its content there, too.
//!
//! The file keeps what people expect of an editor: mode, extended attributes (including access lists) and, where
//! permitted, the owner. A file without write permission is not replaced, not even by root. A file with several hard
//! links gets a content of its own, as with git or any editor that writes atomically: its other names keep the old
//! content, and the answer says so. The journal repairs what a crash between two swaps leaves. It finds it by the
//! change's tag, which is part of every temporary name.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{
    Access, AtFlags, Mode, RenameFlags, Stat, accessat, fchmod, fstat, fsync, mkdirat, renameat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::fault::{self, Step};
use super::temporary::{MadeDirectories, Temporary, keep_attributes, keep_owner_and_mode};
use super::{Disk, Doing, Located, TEMPORARY_PREFIX, check_size, error, failed, open_directory, read_in, split};
use semdex_fs::Content;
use semdex_model::{Code, Error, Result};

/// The new content of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write<'a> {
    pub located: &'a Located,
    /// The content that must be there for the write to happen. `None`: no file.
    pub expected: Option<blake3::Hash>,
    /// `None` deletes the file.
    pub content: Option<&'a [u8]>,
    /// The file that gets this name. The new file keeps its owner, mode and attributes.
    pub moved_from: Option<&'a Located>,
    /// The permissions of a new file. `None`: what the user's mask leaves.
    pub mode: Option<u32>,
    /// How many of the directories around a deleted file are removed if they are empty.
    pub directories: usize,
}

impl<'a> Write<'a> {
    pub(crate) fn new(located: &'a Located, expected: Option<blake3::Hash>, content: Option<&'a [u8]>) -> Write<'a> {
        Write { located, expected, content, moved_from: None, mode: None, directories: 0 }
    }
}

/// What users should know of written files besides.
pub type Notes = Vec<(String, String)>;

/// A change that was not made.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error, which also reports the state of the disk.
    pub error: Error,
    /// Something was left on the disk that could not be reverted.
    pub remains: bool,
}

impl Failure {
    fn clean(mut error: Error) -> Failure {
        error.detail.push_str("; nothing was changed");
        Failure { error, remains: false }
    }
}

impl Disk {
    /// Writes all of these files, or none. The tag identifies the change.
    pub(crate) fn write(&self, tag: &str, writes: &[Write]) -> std::result::Result<Notes, Failure> {
        self.write_watched(tag, writes, &mut |_, _| {})
    }

    /// Calls `watch` for each file just before it is checked and swapped, and before the swapped-out file is removed.
    /// Tests interfere there.
    pub(super) fn write_watched(
        &self,
        tag: &str,
        writes: &[Write],
        watch: &mut dyn FnMut(&str, Moment),
    ) -> std::result::Result<Notes, Failure> {
        let mut files = HashSet::new();
        if let Some(twice) = writes.iter().find(|write| !files.insert(&write.located.rel)) {
            let error = error(Code::InvalidRequest, &twice.located.rel, "is written twice in one change");
            return Err(Failure::clean(error));
        }
        let mut made = MadeDirectories::default();
        let staged = writes.iter().map(|write| self.stage(tag, write, &mut made)).collect::<Result<Vec<Staged>>>();
        let staged = staged.map_err(Failure::clean)?;
        let mut swapped = Vec::new();
        for staged in &staged {
            watch(staged.file(), Moment::BeforeSwap);
            match staged.swap() {
                Ok(undo) => swapped.push((staged, undo)),
                Err(failure) => return Err(failure.after(take_back(swapped))),
            }
        }
        if let Err(error) = sync_directories(&staged, &made) {
            return Err(Unswapped::from(error).after(take_back(swapped)));
        }
        for staged in &staged {
            watch(staged.file(), Moment::BeforeEnd);
        }
        if let Some((staged, _)) = swapped.iter().find(|(staged, undo)| undo.was_written_to(&staged.write)) {
            let error = error(Code::HashMismatch, staged.file(), "was written to at the same moment: read it again");
            return Err(Unswapped::from(error).after(take_back(swapped)));
        }
        made.keep();
        let notes =
            swapped.iter().filter_map(|(staged, undo)| Some((staged.file().to_owned(), undo.note()?))).collect();
        drop(swapped);
        for staged in staged {
            staged.remove_directories(self);
        }
        Ok(notes)
    }

    /// Removes the temporary files of a change with this tag from a file's directory. Returns their number.
    pub(crate) fn sweep(&self, located: &Located, tag: &str) -> usize {
        let Ok(dir) = self.directory(split(&located.rel).0) else { return 0 };
        let Ok(entries) = rustix::fs::Dir::read_from(&dir) else { return 0 };
        let prefix = format!("{TEMPORARY_PREFIX}{tag}-");
        let left = entries.flatten().filter(|it| it.file_name().to_bytes().starts_with(prefix.as_bytes()));
        let left: Vec<_> = left.map(|it| it.file_name().to_owned()).collect();
        left.iter().filter(|name| unlinkat(&dir, name.as_c_str(), AtFlags::empty()).is_ok()).count()
    }

    /// Removes up to this many empty directories around a file that does not exist.
    pub(crate) fn remove_directories(&self, located: &Located, count: usize) {
        let mut directory = split(&located.rel).0;
        for _ in 0..count {
            let (above, name) = split(directory);
            if name.is_empty() || self.directory(above).and_then(|it| unlinkat(it, name, AtFlags::REMOVEDIR)).is_err() {
                return;
            }
            directory = above;
        }
    }

    /// The permissions of the file, if it exists, and the number of missing directories around it.
    pub(crate) fn look(&self, located: &Located) -> (Option<u32>, usize) {
        let (parents, name) = split(&located.rel);
        if let Ok(dir) = self.directory(parents) {
            let stat = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
            return (stat.ok().map(|it| it.st_mode & 0o7777), 0);
        }
        let above = std::iter::successors(Some(parents), |it| (!it.is_empty()).then(|| split(it).0));
        (None, above.take_while(|it| matches!(self.directory(it), Err(Errno::NOENT))).count())
    }

    /// Prepares one file without touching its target.
    fn stage<'a>(&self, tag: &'a str, write: &Write<'a>, made: &mut MadeDirectories) -> Result<Staged<'a>> {
        let file = write.located.rel.as_str();
        let fail = |errno| failed(file, Doing::Write, errno);
        let (parents, name) = split(file);
        let dir = match self.directory(parents) {
            Ok(dir) => dir,
            Err(Errno::NOENT) if write.expected.is_none() => self.make_directories(parents, made).map_err(fail)?,
            Err(errno) => return Err(fail(errno)),
        };
        let dir = Rc::new(dir);
        let old = check(read_in(&dir, name, file)?, write)?;
        if let Some(old) = &old {
            check_writable(&dir, name, file, &old.stat)?;
        }
        let (temporary, new) = match write.content {
            Some(content) => {
                check_size(file, content.len())?;
                let (temporary, opened) = Temporary::create(&dir, tag, old.is_none()).map_err(fail)?;
                fault::at(Step::Write).map_err(fail)?;
                opened.write_all_at(content, 0).map_err(|error| fail(errno_of(&error)))?;
                fault::at(Step::Mode).map_err(fail)?;
                match (write.moved_from, &old, write.mode) {
                    (Some(from), ..) => self.keep_form_of(from, &opened)?,
                    (None, Some(old), _) => {
                        keep_owner_and_mode(&opened, &old.stat).map_err(fail)?;
                        keep_attributes(&opened, &dir, name);
                    }
                    (None, None, Some(mode)) => fchmod(&opened, Mode::from_raw_mode(mode & 0o7777)).map_err(fail)?,
                    (None, None, None) => {}
                }
                fault::at(Step::Sync).map_err(fail)?;
                opened.sync_all().map_err(|error| fail(errno_of(&error)))?;
                let new = fstat(&opened).map_err(fail)?;
                (temporary, Some(new))
            }
            None => (Temporary::name_only(&dir, tag).map_err(fail)?, None),
        };
        Ok(Staged { write: *write, tag, dir, name, temporary, new })
    }

    /// Gives a new file the owner, mode and attributes of another one.
    fn keep_form_of(&self, other: &Located, new: &std::fs::File) -> Result<()> {
        let (parents, name) = split(&other.rel);
        let fail = |errno| failed(&other.rel, Doing::Read, errno);
        let dir = self.directory(parents).map_err(fail)?;
        let stat = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
        keep_owner_and_mode(new, &stat).map_err(fail)?;
        keep_attributes(new, &dir, name);
        Ok(())
    }

    fn make_directories(&self, parents: &str, made: &mut MadeDirectories) -> rustix::io::Result<OwnedFd> {
        let mut dir = Rc::new(self.directory("")?);
        for part in parents.split('/') {
            fault::at(Step::Directory)?;
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

/// The moments at which `watch` is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    BeforeSwap,
    BeforeEnd,
}

/// One file that is ready to be swapped.
struct Staged<'a> {
    write: Write<'a>,
    tag: &'a str,
    dir: Rc<OwnedFd>,
    name: &'a str,
    /// The new content; after the swap the old content.
    temporary: Temporary,
    /// The new file's metadata. `None` if the file is deleted.
    new: Option<Stat>,
}

/// How to revert a swap, and what was swapped out.
struct Undo {
    how: How,
    /// Where the old file is, and its metadata when it was swapped out.
    old: Option<(Rc<OwnedFd>, String, Stat)>,
}

enum How {
    /// The old file has the temporary name.
    SwapBack,
    MoveBack,
    Remove,
    /// The file system cannot swap: only this copy of the old file is left.
    WriteBack(Box<Content>),
}

impl Undo {
    /// Whether a process that had the old file open has written to it since it was swapped out.
    fn was_written_to(&self, write: &Write) -> bool {
        let Some((dir, name, stat)) = &self.old else { return false };
        if statat(&**dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|now| is_untouched(stat, &now)) {
            return false;
        }
        read_in(dir, name, &write.located.rel).and_then(|now| check(now, write)).is_err()
    }

    fn note(&self) -> Option<String> {
        let (.., stat) = self.old.as_ref()?;
        let names = stat.st_nlink;
        (names > 1).then(|| format!("the file had {names} names (hard links): the others keep the old content"))
    }
}

/// Why a file was not swapped.
struct Unswapped {
    error: Error,
    /// The file was swapped and could not be put back.
    left: Option<String>,
}

impl From<Error> for Unswapped {
    fn from(error: Error) -> Unswapped {
        Unswapped { error, left: None }
    }
}

impl Unswapped {
    /// Adds the state of the disk to the error: everything was reverted except `left`.
    fn after(self, mut left: Vec<String>) -> Failure {
        left.extend(self.left);
        if left.is_empty() {
            return Failure::clean(self.error);
        }
        let mut error = self.error;
        error.detail.push_str(&format!("; the change was not taken back everywhere: {}", left.join(", ")));
        Failure { error, remains: true }
    }
}

impl Staged<'_> {
    fn file(&self) -> &str {
        &self.write.located.rel
    }

    fn error_of(&self, errno: Errno) -> Error {
        failed(self.file(), Doing::Write, errno)
    }

    fn swap(&self) -> std::result::Result<Undo, Unswapped> {
        let old = check(read_in(&self.dir, self.name, self.file())?, &self.write)?;
        fault::at(Step::Rename).map_err(|errno| self.error_of(errno))?;
        match (old, self.write.content) {
            (None, _) => Ok(self.create()?),
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
            Ok(()) => Ok(Undo { how: How::Remove, old: None }),
            Err(Errno::EXIST) => Err(already_exists(self.file())),
            Err(errno) => Err(self.error_of(errno)),
        }
    }

    fn replace(&self, old: Content) -> std::result::Result<Undo, Unswapped> {
        let (dir, temporary) = (&*self.dir, &self.temporary.name);
        match renameat_with(dir, temporary, dir, self.name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                renameat(dir, temporary, dir, self.name).map_err(|errno| self.error_of(errno))?;
                return Ok(Undo { how: How::WriteBack(Box::new(old)), old: None });
            }
            Err(Errno::NOENT) => return Err(gone(self.file()).into()),
            Err(errno) => return Err(self.error_of(errno).into()),
        }
        self.check_swapped_out(&old, How::SwapBack)
    }

    fn delete(&self, old: &Content) -> std::result::Result<Undo, Unswapped> {
        let dir = &*self.dir;
        renameat(dir, self.name, dir, &self.temporary.name).map_err(|errno| self.error_of(errno))?;
        self.check_swapped_out(old, How::MoveBack)
    }

    /// Whether the file with the temporary name is the file that was checked before the swap.
    fn check_swapped_out(&self, old: &Content, how: How) -> std::result::Result<Undo, Unswapped> {
        let (dir, temporary) = (&self.dir, &self.temporary.name);
        let stat = statat(&**dir, temporary, AtFlags::SYMLINK_NOFOLLOW);
        let undo = |stat| Undo { how, old: Some((dir.clone(), temporary.clone(), stat)) };
        if let Ok(stat) = stat
            && is_untouched(&old.stat, &stat)
        {
            return Ok(undo(stat));
        }
        match read_in(dir, temporary, self.file()).and_then(|now| check(now, &self.write)) {
            Ok(now) => Ok(undo(now.map_or(old.stat, |it| it.stat))),
            Err(error) => {
                let left = self.undo(undo(old.stat)).err();
                let _ = sync(dir);
                Err(Unswapped { error, left })
            }
        }
    }

    /// An error if the old state could not be restored.
    fn undo(&self, undo: Undo) -> std::result::Result<(), String> {
        let (dir, temporary) = (&*self.dir, &self.temporary.name);
        let done = match undo.how {
            How::SwapBack => self
                .still_new()
                .and_then(|()| fault::at(Step::Rename))
                .and_then(|()| renameat_with(dir, temporary, dir, self.name, RenameFlags::EXCHANGE)),
            How::MoveBack => fault::at(Step::Rename)
                .and_then(|()| renameat_with(dir, temporary, dir, self.name, RenameFlags::NOREPLACE)),
            How::Remove => match self.still_new() {
                Err(Errno::NOENT) => Ok(()),
                Ok(()) => fault::at(Step::Rename).and_then(|()| unlinkat(dir, self.name, AtFlags::empty())),
                Err(errno) => Err(errno),
            },
            How::WriteBack(old) => self.still_new().and_then(|()| {
                let (restored, opened) = Temporary::create(&self.dir, self.tag, false)?;
                opened.write_all_at(&old.bytes, 0).map_err(|error| errno_of(&error))?;
                keep_owner_and_mode(&opened, &old.stat)?;
                opened.sync_all().map_err(|error| errno_of(&error))?;
                renameat(dir, &restored.name, dir, self.name)
            }),
        };
        done.map_err(|errno| match errno {
            Errno::BUSY | Errno::EXIST | Errno::NOENT => {
                format!("`{}` was written by someone else during this request", self.file())
            }
            _ => {
                // A file that could not be put back is kept.
                self.temporary.keep();
                let why = std::io::Error::from(errno);
                format!("`{}` could not be restored ({why}), its old content is in `{temporary}`", self.file())
            }
        })
    }

    /// Content that somebody wrote after the swap must not be overwritten by the reversal.
    fn still_new(&self) -> rustix::io::Result<()> {
        let now = statat(&*self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let same = |new: &Stat| (new.st_dev, new.st_ino, new.st_size) == (now.st_dev, now.st_ino, now.st_size);
        let unwritten = |new: &Stat| (new.st_mtime, new.st_mtime_nsec) == (now.st_mtime, now.st_mtime_nsec);
        if self.new.is_some_and(|new| same(&new) && unwritten(&new)) { Ok(()) } else { Err(Errno::BUSY) }
    }

    /// Removes the directories that were created for a file that is now deleted.
    fn remove_directories(self, disk: &Disk) {
        let Staged { write, temporary, .. } = self;
        drop(temporary);
        disk.remove_directories(write.located, write.directories);
    }
}

fn sync_directories(staged: &[Staged], made: &MadeDirectories) -> Result<()> {
    let Some(first) = staged.first() else { return Ok(()) };
    made.parents().try_for_each(|parent| sync(parent)).map_err(|errno| first.error_of(errno))?;
    let mut synced = HashSet::new();
    let mut directories = staged.iter().filter(|staged| synced.insert(split(staged.file()).0));
    directories.try_for_each(|staged| sync(&staged.dir).map_err(|errno| staged.error_of(errno)))
}

/// Reverts the swaps, last one first. Returns the files that could not be reverted.
fn take_back(swapped: Vec<(&Staged, Undo)>) -> Vec<String> {
    let mut left = Vec::new();
    for (staged, undo) in swapped.into_iter().rev() {
        if let Err(what) = staged.undo(undo) {
            left.push(what);
        }
        // Only matters after a power failure.
        let _ = sync(&staged.dir);
    }
    left
}

/// An error unless the file has the content that the write is based on.
fn check(found: Option<Content>, write: &Write) -> Result<Option<Content>> {
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

/// Whether it is certainly the same file with the same content. The inode's change time is ignored, because a rename
/// changes it. Modification times are coarse, so a recent one proves nothing.
fn is_untouched(before: &Stat, now: &Stat) -> bool {
    const COARSE: Duration = Duration::from_millis(50);
    let identity =
        |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_mode);
    let seconds = u64::try_from(now.st_mtime).unwrap_or_default();
    let modified = UNIX_EPOCH + Duration::new(seconds, u32::try_from(now.st_mtime_nsec).unwrap_or_default());
    identity(before) == identity(now) && modified.elapsed().is_ok_and(|age| age > COARSE)
}

/// As for an editor: a file without write permission is not written, though its directory would permit a replacement.
fn check_writable(dir: &OwnedFd, name: &str, file: &str, stat: &Stat) -> Result<()> {
    let owner_may_write = Mode::from_raw_mode(stat.st_mode).contains(Mode::WUSR);
    let denied = match accessat(dir, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::NOSYS | Errno::INVAL) | Ok(()) => false,
        Err(_) => true,
    };
    if denied || !owner_may_write {
        return Err(error(Code::PermissionDenied, file, "is read-only: make it writable first (`chmod u+w`)"));
    }
    Ok(())
}

fn sync(dir: &OwnedFd) -> rustix::io::Result<()> {
    fault::at(Step::Sync)?;
    match fsync(dir) {
        // Some file systems have nothing to sync in a directory.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        done => done,
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
