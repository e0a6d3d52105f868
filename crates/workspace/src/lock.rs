//! The lock of a workspace. Several processes may serve the same workspace; only the holder of the lock writes. A
//! process that dies releases the lock. Its mark in the lock file makes the next holder look for interrupted changes.
//! The mark is not synced, so a mark of an earlier boot is ignored.

use std::cell::Cell;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use semdex_config::create_private_dir;
use semdex_model::{Code, Error, Result};

const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(1);
/// The mark begins with this while the lock is held.
const BUSY: &[u8] = b"!";
/// How many changes are remembered. A process can miss the notes of its last two changes in the journal.
const REMEMBERED: usize = 64;
/// The length of a change's token.
const TOKEN_LENGTH: usize = 26;

#[derive(Debug)]
pub(crate) struct LockFile {
    file: PathBuf,
    opened: Option<File>,
    /// The mark of a holder that ended properly.
    ended: String,
}

/// Nobody else changes the workspace while this exists.
pub(crate) struct WorkspaceLock<'a> {
    file: &'a File,
    ended: &'a str,
    /// The holder before did not end properly.
    pub interrupted: bool,
    /// Changes that any process made, newest first.
    made: Vec<String>,
    unfinished: Cell<bool>,
}

impl WorkspaceLock<'_> {
    /// Whether this change was made. Only the last changes are known.
    pub(crate) fn was_made(&self, change: &str) -> bool {
        self.made.iter().any(|it| it == change)
    }

    /// Enters a change that is on the disk. No kill reverts it from here on.
    pub(crate) fn enter(&self, change: &str) -> std::io::Result<()> {
        let made = std::iter::once(change).chain(self.made.iter().map(String::as_str)).take(REMEMBERED);
        let lines: String = std::iter::once(self.ended).chain(made).map(|it| format!("{it}\n")).collect();
        self.file.write_all_at(lines.as_bytes(), 0)
    }

    /// Marks that the next holder has to repair something.
    pub(crate) fn leave_unfinished(&self) {
        self.unfinished.set(true);
    }
}

impl LockFile {
    pub(crate) fn new(state_dir: &Path, root: &Path) -> LockFile {
        let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let ended = format!("ended {}", boot.trim_end());
        LockFile { file: state_dir.join("turns").join(&key[..16]), opened: None, ended }
    }

    /// Whether, since the machine was started, every holder ended properly and nobody holds the lock.
    pub(crate) fn all_ended(&self) -> bool {
        // Unknown if one boot cannot be distinguished from another.
        let knows_boot = self.ended.trim_end().contains(' ');
        knows_boot && File::open(&self.file).is_ok_and(|it| lines_of(&it).first() == Some(&self.ended))
    }

    pub(crate) fn acquire(&mut self) -> Result<WorkspaceLock<'_>> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => open(&self.file).map_err(|error| {
                let detail = format!(
                    "nothing was changed: {}: {error}; make it writable, or set XDG_STATE_HOME",
                    self.file.display()
                );
                let code = match error.kind() {
                    std::io::ErrorKind::StorageFull => Code::DiskFull,
                    std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                        Code::PermissionDenied
                    }
                    _ => Code::Internal,
                };
                Error::new(code, detail)
            })?,
        };
        let file = self.opened.insert(opened);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let mut made = lines_of(file);
                    let interrupted = made.first().is_some_and(|mark| mark.as_bytes().starts_with(BUSY));
                    made.retain(|it| it.len() == TOKEN_LENGTH && it.bytes().all(|it| it.is_ascii_alphanumeric()));
                    // Without the mark only the journal notices a kill, at the next start.
                    let _ = file.write_all_at(BUSY, 0);
                    return Ok(WorkspaceLock {
                        file,
                        ended: &self.ended,
                        interrupted,
                        made,
                        unfinished: Cell::new(false),
                    });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let detail = "nothing was changed: another semdex process is changing this workspace: try again";
                    return Err(Error::new(Code::Busy, detail));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(Error::new(Code::Internal, format!("nothing was changed: {error}")));
                }
            }
        }
    }
}

/// The lines of the lock file: the mark, then the changes.
fn lines_of(file: &File) -> Vec<String> {
    const MOST_BYTES: usize = 4096;
    let mut bytes = vec![0; MOST_BYTES];
    let length = file.read_at(&mut bytes, 0).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).lines().map(str::to_owned).collect()
}

fn open(file: &Path) -> std::io::Result<File> {
    if let Some(directory) = file.parent() {
        create_private_dir(directory)?;
    }
    OpenOptions::new().create(true).read(true).write(true).truncate(false).open(file)
}

impl Drop for WorkspaceLock<'_> {
    fn drop(&mut self) {
        if !self.unfinished.get() && !thread::panicking() {
            let _ = self.file.write_all_at(self.ended.as_bytes(), 0);
        }
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn one_after_the_other() {
        let home = tempfile::tempdir().unwrap();
        let mut mine = LockFile::new(home.path(), Path::new("/w"));
        let (mut theirs, mut elsewhere) =
            (LockFile::new(home.path(), Path::new("/w")), LockFile::new(home.path(), Path::new("/x")));
        let lock = mine.acquire().unwrap();
        drop(elsewhere.acquire().unwrap());
        let (sender, asked) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.send("waiting").unwrap();
                drop(theirs.acquire().unwrap());
                sender.send("done").unwrap();
            });
            assert_eq!(asked.recv().unwrap(), "waiting");
            assert!(asked.try_recv().is_err());
            drop(lock);
            assert_eq!(asked.recv().unwrap(), "done");
        });
    }

    #[test]
    fn what_was_left_is_reported_to_whoever_comes_next() {
        let home = tempfile::tempdir().unwrap();
        let mut lock_file = LockFile::new(home.path(), Path::new("/w"));
        assert!(!lock_file.all_ended(), "nothing is known yet");
        for leaves in [false, true, false] {
            let lock = lock_file.acquire().unwrap();
            assert!(!lock.interrupted);
            let mut another = LockFile::new(home.path(), Path::new("/w"));
            assert!(!another.all_ended(), "somebody has it");
            if leaves {
                lock.leave_unfinished();
                drop(lock);
                assert!(!another.all_ended() && another.acquire().unwrap().interrupted);
            } else {
                drop(lock);
            }
            assert!(another.all_ended());
        }
    }

    #[test]
    fn changes_that_were_made_are_remembered_whoever_dies() {
        let home = tempfile::tempdir().unwrap();
        let mut lock_file = LockFile::new(home.path(), Path::new("/w"));
        let token = |number: usize| format!("01{number:024}");
        for number in 0..100 {
            let lock = lock_file.acquire().unwrap();
            assert!(!lock.was_made(&token(number)));
            lock.enter(&token(number)).unwrap();
        }
        // The state after a kill in the middle of the next change.
        let lock = lock_file.acquire().unwrap();
        lock.leave_unfinished();
        drop(lock);
        let mut another = LockFile::new(home.path(), Path::new("/w"));
        let lock = another.acquire().unwrap();
        assert!(lock.interrupted && lock.was_made(&token(99)) && lock.was_made(&token(50)));
        assert!(!lock.was_made(&token(1)) && !lock.was_made(&token(100)) && !lock.was_made(""));
        drop(lock);
        assert!(lock_file.all_ended());
    }

    #[test]
    fn no_place_for_it_is_reported() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let error = LockFile::new(&home.path().join("file"), Path::new("/w")).acquire().err().unwrap();
        assert!(error.detail.contains("XDG_STATE_HOME"), "{error}");
    }
}
