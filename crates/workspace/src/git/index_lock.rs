//! The lock of the user's index, as git takes it: the file `index.lock` beside it. Ours has a second name, so that a lock
//! that a dead process left is known by its inode, and nobody else's is ever taken away.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use semdex_model::{Code, Error, Result};

/// Somebody else's lock is waited for so long.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// As long as this lives nobody else writes the index. Dropped, it leaves the index as it was.
#[derive(Debug)]
pub(super) struct IndexLock {
    places: Places,
    file: File,
}

/// Where the index lies, its lock, and the lock's other name.
#[derive(Debug, Clone)]
pub(super) struct Places {
    pub(super) index: PathBuf,
    pub(super) lock: PathBuf,
    pub(super) twin: PathBuf,
}

impl Places {
    /// In the directory of a work tree's own files.
    pub(super) fn new(directory: &Path, id: &str) -> Places {
        Places {
            index: directory.join("index"),
            lock: directory.join("index.lock"),
            twin: directory.join(format!("semdex-{id}")),
        }
    }

    /// Whether the lock is the one that we have made.
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
        // Dropped where the lock cannot be had.
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

    /// Puts what the index is to be into the lock. `written`: as when it is to have been written, if not now.
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

    /// Makes it the index.
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

/// Waits until none of these locks is held by somebody.
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
