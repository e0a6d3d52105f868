//! A private directory with one file, which is renamed to prove that no event is outstanding.
//!
//! inotify queues an event inside the system call that causes it, and one instance keeps one order. So once the event
//! of the rename has arrived, every earlier change has arrived too.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use semdex_config::create_private_dir;

/// Hidden, in case the watched tree contains it.
const PREFIX: &str = ".semdex-watch-";

#[derive(Debug)]
pub(super) struct Cookie {
    home: TempDir,
    /// The number in the file's current name.
    number: u64,
    /// Held while this process lives, so that another process can recognize a leftover by its free lock.
    _lock: File,
}

impl Cookie {
    pub(crate) fn new(below: &Path) -> io::Result<Cookie> {
        create_private_dir(below)?;
        let below = fs::canonicalize(below)?;
        remove_leftovers(&below);
        // Another process may remove the new directory as a leftover before it is locked: then another is created.
        let mut attempts = 8;
        loop {
            attempts -= 1;
            match Cookie::make(&below) {
                Err(error) if attempts == 0 => return Err(error),
                Err(_) => {}
                made => return made,
            }
        }
    }

    fn make(below: &Path) -> io::Result<Cookie> {
        let home =
            tempfile::Builder::new().prefix(PREFIX).permissions(fs::Permissions::from_mode(0o700)).tempdir_in(below)?;
        let lock = File::open(home.path())?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let cookie = Cookie { home, number: 0, _lock: lock };
        File::create_new(cookie.file(0))?;
        Ok(cookie)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Causes an event that follows the events of all earlier changes. Returns its number.
    pub(crate) fn throw(&mut self) -> io::Result<u64> {
        let next = self.number + 1;
        fs::rename(self.file(self.number), self.file(next))?;
        self.number = next;
        Ok(next)
    }

    fn file(&self, number: u64) -> PathBuf {
        self.home.path().join(number.to_string())
    }
}

/// The number of the cookie with this name.
pub(super) fn number_of(name: Option<&OsStr>) -> Option<u64> {
    name?.to_str()?.parse().ok()
}

/// Removes the directories of killed processes. Best effort: a leftover does no harm.
fn remove_leftovers(below: &Path) {
    let Ok(entries) = fs::read_dir(below) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let Ok(lock) = File::open(&path) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
