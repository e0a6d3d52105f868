//! The lock of the user's index, as git takes it: the file `index.lock` next to it. Our lock has a second name, so that
//! the lock of a dead process is recognized by its inode, and a foreign lock is never removed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use semdex_model::{Code, Error, Result};

/// How long a foreign lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// While this exists, nobody else writes the index. Dropping it leaves the index unchanged.
#[derive(Debug)]
pub(super) struct IndexLock {
    places: Places,
    file: File,
}

/// The paths of the index, of its lock, and of the lock's second name.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) index: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) twin: PathBuf,
}

impl Places {
    /// In the directory of the work tree's own files.
    pub(super) fn new(directory: &Path, id: &str) -> Places {
        Places {
            index: directory.join("index"),
            lock: directory.join("index.lock"),
            twin: directory.join(format!("semdex-{id}")),
        }
    }

    /// Whether the lock is our own.
    pub(super) fn is_ours(&self) -> bool {
        match (fs::symlink_metadata(&self.lock), fs::symlink_metadata(&self.twin)) {
            (Ok(lock), Ok(twin)) => (lock.dev(), lock.ino()) == (twin.dev(), twin.ino()),
            _ => false,
        }
    }
}

impl IndexLock {
    pub(super) fn take(places: Places) -> Result<IndexLock> {
        let mut made = File::create_new(&places.twin);
        if let (Ok(file), Ok(index)) = (&made, fs::metadata(&places.index)) {
            let mode = fs::Permissions::from_mode(index.permissions().mode() & 0o777);
            made = file.set_permissions(mode).and(made);
        }
        let file = made.map_err(|error| failed(&places.twin, &error))?;
        // Dropped if the lock cannot be taken.
        let lock = IndexLock { places, file };
        let until = Instant::now() + PATIENCE;
        loop {
            match fs::hard_link(&lock.places.twin, &lock.places.lock) {
                Ok(()) => return Ok(lock),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && Instant::now() < until => {
                    thread::sleep(PAUSE);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(&lock.places.lock)),
                Err(error) => return Err(failed(&lock.places.lock, &error)),
            }
        }
    }

    /// Writes the new index into the lock. `written`: its time of modification, if not now.
    pub(super) fn fill(&mut self, next: &Path, written: Option<SystemTime>) -> Result<()> {
        let mut filled = || -> io::Result<()> {
            let bytes = fs::read(next)?;
            self.file.write_all(&bytes)?;
            if let Some(written) = written {
                self.file.set_modified(written)?;
            }
            self.file.sync_all()
        };
        filled().map_err(|error| failed(&self.places.lock, &error))
    }

    /// Replaces the index.
    pub(super) fn publish(self) -> io::Result<()> {
        fs::rename(&self.places.lock, &self.places.index)
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if self.places.is_ours() {
            let _ = fs::remove_file(&self.places.lock);
        }
        let _ = fs::remove_file(&self.places.twin);
    }
}

/// Waits until nobody holds these locks.
pub(super) fn wait_for(locks: &[PathBuf]) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        match locks.iter().find(|it| fs::symlink_metadata(it).is_ok()) {
            None => return Ok(()),
            Some(_) if Instant::now() < until => thread::sleep(PAUSE),
            Some(held) => return Err(taken(held)),
        }
    }
}

pub(super) fn taken(lock: &Path) -> Error {
    let detail = format!(
        "nothing was committed: {} is there, so another git is at work, or one was killed: ask again, or remove the file \
         if none runs",
        lock.display()
    );
    Error::new(Code::Conflict, detail)
}

fn failed(path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::PermissionDenied,
        _ => Code::Internal,
    };
    Error::new(code, format!("nothing was committed: {} cannot be written: {error}", path.display()))
}
