//! Visits directories of a tree without starting at its root for each of them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Stat, fstat, statat};
use rustix::io::Errno;

use super::{Reader, split};

/// The most directory handles that are kept open.
const MOST_HELD: usize = 64;

/// Resolves paths from the nearest directory that was visited last. It still reaches a directory that was moved since,
/// by its handle. Use the [`Reader`] to learn what the path names now.
#[derive(Debug)]
pub struct Descent<'a> {
    reader: &'a Reader,
    /// The path components from the root to the current directory.
    walked: Vec<OsString>,
    /// The handles of the last components. The root's handle belongs to the reader.
    handles: VecDeque<OwnedFd>,
}

impl<'a> Descent<'a> {
    /// Starts at the reader's root.
    pub fn new(reader: &'a Reader) -> Descent<'a> {
        Descent { reader, walked: Vec::new(), handles: VecDeque::new() }
    }

    /// The reader that it starts from.
    pub fn reader(&self) -> &'a Reader {
        self.reader
    }

    /// Like [`Reader::directory`], but starts at the nearest open directory.
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

    /// Like [`Reader::stat`], but starts at the nearest open directory.
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
