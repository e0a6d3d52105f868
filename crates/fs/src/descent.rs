//! A tree walked through, directory after directory, without beginning at its root for each.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Stat, fstat, statat};
use rustix::io::Errno;

use super::{Reader, split};

/// So many handles are held at most.
const MOST_HELD: usize = 64;

/// Goes on from the directories that were reached last. One that was moved meanwhile is still gone through by its
/// handle: whoever needs to know what its name means now asks the [`Reader`].
#[derive(Debug)]
pub struct Descent<'a> {
    reader: &'a Reader,
    /// The names of the steps down to where it stands.
    walked: Vec<OsString>,
    /// Of the last steps. Only the root needs none.
    handles: VecDeque<OwnedFd>,
}

impl<'a> Descent<'a> {
    pub fn new(reader: &'a Reader) -> Descent<'a> {
        Descent { reader, walked: Vec::new(), handles: VecDeque::new() }
    }

    pub fn reader(&self) -> &'a Reader {
        self.reader
    }

    /// As [`Reader::directory`], but for where the way begins.
    pub fn directory(&mut self, below: &Path) -> rustix::io::Result<BorrowedFd<'_>> {
        let parts = self.walked.iter().zip(below.components());
        let mut shared = parts.take_while(|(name, part)| part.as_os_str() == name.as_os_str()).count();
        let without_handle = self.walked.len() - self.handles.len();
        if shared <= without_handle {
            shared = 0;
        }
        self.walked.truncate(shared);
        self.handles.truncate(shared.saturating_sub(without_handle));
        for part in below.components().skip(shared) {
            let Component::Normal(name) = part else { return Err(Errno::INVAL) };
            let next = self.reader.step(self.handle(), name)?;
            if self.handles.len() == MOST_HELD {
                self.handles.pop_front();
            }
            self.handles.push_back(next);
            self.walked.push(name.to_owned());
        }
        Ok(self.handle())
    }

    /// As [`Reader::stat`], but for where the way begins.
    pub fn stat(&mut self, below: &Path) -> rustix::io::Result<Stat> {
        let reader = self.reader;
        let found = match split(below) {
            Ok((parent, name)) => statat(self.directory(parent)?, name, AtFlags::SYMLINK_NOFOLLOW)?,
            Err(_) => fstat(&reader.handle)?,
        };
        reader.check(&found)?;
        Ok(found)
    }

    fn handle(&self) -> BorrowedFd<'_> {
        self.handles.back().unwrap_or(&self.reader.handle).as_fd()
    }
}
