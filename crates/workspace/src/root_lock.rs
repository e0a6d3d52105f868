//! The lock of a root: of all processes only one serves a directory, and nobody serves a directory in it or around it at
//! the same time. Processes with the same state directory know each other's addresses by files there; those with another
//! one are known by the marks on the directories. The kernel releases both when their holder is gone.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use semdex_config::create_private_dir;
use semdex_fs::holds;
use semdex_model::{Code, Error, Result};

use super::root_marks::{RootMarks, served_by_another};

/// A holder that was asked to end a moment ago does not say so yet.
const PATIENCE: Duration = Duration::from_secs(2);
/// A holder that ends finishes what it has begun.
const LONGEST_END: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// The first bytes of the file, of equal length.
const SERVING: &str = "serving";
const ENDING: &str = "ending ";

/// Held while a workspace is open.
#[derive(Debug)]
pub(super) struct RootLock {
    name: PathBuf,
    file: File,
    _marks: RootMarks,
}

impl Drop for RootLock {
    fn drop(&mut self) {
        // If it remains, the next process finds it unlocked and removes it.
        let _ = fs::remove_file(&self.name);
    }
}

impl RootLock {
    /// Takes the lock for a process that serves at this address. Refused with the process and the address of another one
    /// that serves this root, a directory around it or one in it.
    pub(super) fn take(state_dir: &Path, root: &Path, address: &str) -> Result<RootLock> {
        let unusable = |error: io::Error| {
            let detail = format!("{}: {error}: semdex records there which directories are served", state_dir.display());
            Error::new(Code::PermissionDenied, detail)
        };
        let directory = directory(state_dir);
        create_private_dir(&directory).map_err(unusable)?;
        let turn = File::create(directory.join("turn")).map_err(unusable)?;
        flock(&turn, FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
        remove_stale(&directory);
        if let Some(other) = overlapping(&directory, root) {
            return Err(other.refusal(root));
        }
        let marks = RootMarks::take(root).map_err(|served| Holder::elsewhere(root, served).refusal(root))?;
        write(&directory, root, address, marks).map_err(unusable)
    }

    /// Others wait for the lock from now on.
    pub(super) fn note_end(&self) {
        // Without the note others are refused until the end.
        let _ = self.file.write_all_at(ENDING.as_bytes(), 0);
    }
}

/// Refuses what is never a workspace. No name of a workspace around it leads there either.
pub(super) fn check_name(root: &Path) -> Result<()> {
    if root.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git")) {
        let detail = format!("{}: what lies in `.git` belongs to git, and is never a workspace", root.display());
        return Err(Error::new(Code::ForbiddenRoot, detail));
    }
    Ok(())
}

/// Waits a moment until no other process serves a root, a directory around it or one in it. Returns who does then.
pub fn wait_for_root(state_dir: &Path, root: &Path) -> Result<()> {
    check_name(root)?;
    let began = Instant::now();
    let overlapping = || overlapping(&directory(state_dir), root);
    let elsewhere = || served_by_another(root).map(|served| Holder::elsewhere(root, served));
    while let Some(other) = overlapping().or_else(elsewhere) {
        let patience = if other.is_ending { LONGEST_END } else { PATIENCE };
        if began.elapsed() >= patience {
            return Err(other.refusal(root));
        }
        thread::park_timeout(PAUSE);
    }
    Ok(())
}

/// The other process that serves this directory, or one around it: its address, and the directory.
pub(super) fn server_around(state_dir: &Path, root: &Path) -> Option<(String, PathBuf)> {
    let other = overlapping(&directory(state_dir), root)?;
    let is_other = other.pid != std::process::id().to_string() && holds(&other.root, root);
    is_other.then_some((other.address, other.root))
}

fn directory(state_dir: &Path) -> PathBuf {
    state_dir.join("roots")
}

fn write(directory: &Path, root: &Path, address: &str, marks: RootMarks) -> io::Result<RootLock> {
    let mut file = tempfile::Builder::new().prefix(".root-").tempfile_in(directory)?;
    write!(file, "{SERVING}\n{}\n{address}\n", std::process::id())?;
    file.write_all(root.as_os_str().as_bytes())?;
    // Locked before it has its name: others remove an unlocked file.
    flock(file.as_file(), FlockOperation::NonBlockingLockExclusive)?;
    let name = directory.join(format!("{}.root", blake3::hash(root.as_os_str().as_bytes()).to_hex()));
    let file = file.persist(&name).map_err(|error| error.error)?;
    Ok(RootLock { name, file, _marks: marks })
}

/// A process that serves a directory.
struct Holder {
    is_ending: bool,
    pid: String,
    address: String,
    root: PathBuf,
}

impl Holder {
    fn parse(text: &[u8]) -> Option<Holder> {
        let mut lines = text.splitn(4, |it| *it == b'\n');
        let mut line = || lines.next();
        let (state, pid, address, root) = (line()?, line()?, line()?, line()?);
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        let root = PathBuf::from(OsStr::from_bytes(root));
        Some(Holder { is_ending: state == ENDING.as_bytes(), pid: text(pid), address: text(address), root })
    }

    /// The process with another state directory that serves a root or what overlaps with it. `served` is what is known
    /// without the process, which another user or container may have.
    fn elsewhere(root: &Path, served: PathBuf) -> Holder {
        let found = locks_of_processes().find_map(|it| read(&it).filter(|it| it.overlaps(root)));
        let unknown = || Holder { is_ending: false, pid: String::new(), address: String::new(), root: served };
        found.unwrap_or_else(unknown)
    }

    fn overlaps(&self, root: &Path) -> bool {
        holds(root, &self.root) || holds(&self.root, root)
    }

    fn refusal(&self, root: &Path) -> Error {
        let (wanted, own) = (root.display(), self.root.display());
        let served = if self.root == root {
            format!("{wanted} is served already")
        } else if root.starts_with(&self.root) {
            format!("{wanted} lies in {own}, which is served already")
        } else {
            format!("{own}, which lies in {wanted}, is served already")
        };
        let Holder { pid, address, .. } = self;
        if pid.is_empty() {
            let or_in_it = if self.root == root { " (or a directory in it)" } else { "" };
            let by = "by a semdex of another user or in another container: end that one first";
            return Error::new(Code::Conflict, format!("{served}{or_in_it}, {by}"));
        }
        let at = if address.is_empty() { String::new() } else { format!(" at {address}") };
        Error::new(
            Code::Conflict,
            format!("{served}, by process {pid}{at}: ask that server, or end it first (`kill {pid}`)"),
        )
    }
}

/// The living process that serves this directory, one around it or one in it.
fn overlapping(directory: &Path, root: &Path) -> Option<Holder> {
    files(directory).into_iter().find_map(|name| read(&name).filter(|it| it.overlaps(root)))
}

/// The living process that holds this lock.
fn read(name: &Path) -> Option<Holder> {
    let mut file = File::open(name).ok().filter(is_held)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    Holder::parse(&text)
}

/// The locks that processes of this user hold, in any state directory.
fn locks_of_processes() -> impl Iterator<Item = PathBuf> {
    let entries = |it: &Path| fs::read_dir(it).into_iter().flatten().flatten().map(|it| it.path());
    let is_process = |it: &PathBuf| it.file_name().is_some_and(|it| it.as_bytes().iter().all(u8::is_ascii_digit));
    let opened = entries(Path::new("/proc")).filter(is_process).flat_map(move |it| entries(&it.join("fd")));
    opened.filter_map(|it| fs::read_link(it).ok()).filter(|it| is_lock(it))
}

/// Removes the files of processes that are gone. Only in turn: a file may be replaced between the look and the removal.
fn remove_stale(directory: &Path) {
    for name in files(directory) {
        if File::open(&name).is_ok_and(|it| !is_held(&it)) {
            // If it remains, it locks nothing.
            let _ = fs::remove_file(&name);
        }
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path());
    entries.filter(|it| is_lock(it)).collect()
}

fn is_lock(name: &Path) -> bool {
    name.extension().is_some_and(|it| it == "root")
}

fn is_held(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_overlapping_roots_one_is_served() {
        let home = tempfile::tempdir().unwrap();
        let take = |root: &str| RootLock::take(home.path(), Path::new(root), "http://127.0.0.1:1");
        let held = take("/a/b").unwrap();
        for (root, said) in [
            ("/a/b", "/a/b is served already"),
            ("/a/b/c", "/a/b/c lies in /a/b, which is served already"),
            ("/a", "/a/b, which lies in /a, is served already"),
        ] {
            let error = take(root).unwrap_err();
            let pid = std::process::id().to_string();
            assert_eq!(error.code, Code::Conflict);
            for part in [said, "http://127.0.0.1:1", &pid] {
                assert!(error.detail.contains(part), "{part}: {error}");
            }
        }
        let beside = [take("/a/bc").unwrap(), take("/a/c").unwrap()];
        drop(held);
        let held = take("/a/b/c").unwrap();
        drop((beside, held));
        drop(take("/a").unwrap());
    }

    #[test]
    fn the_file_of_a_process_that_is_gone_locks_nothing() {
        let home = tempfile::tempdir().unwrap();
        let root = Path::new("/a");
        let held = RootLock::take(home.path(), root, "").unwrap();
        let name = held.name.clone();
        fs::copy(&name, name.with_extension("kept")).unwrap();
        drop(held);
        fs::rename(name.with_extension("kept"), &name).unwrap();
        wait_for_root(home.path(), root).unwrap();
        drop(RootLock::take(home.path(), Path::new("/b"), "").unwrap());
        assert!(!name.exists());
    }

    #[test]
    fn what_ends_is_waited_for() {
        let home = tempfile::tempdir().unwrap();
        let held = RootLock::take(home.path(), Path::new("/a"), "").unwrap();
        held.note_end();
        assert!(overlapping(&directory(home.path()), Path::new("/a")).unwrap().is_ending);
        let release = thread::spawn(move || drop(held));
        wait_for_root(home.path(), Path::new("/a/b")).unwrap();
        release.join().unwrap();
    }
}
