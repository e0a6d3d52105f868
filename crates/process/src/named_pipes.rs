//! Releases language servers that block on a named pipe. A process that opens a named pipe to read blocks until another
//! process opens it to write. A server that does so never answers again. It reads an empty file instead, or is
//! restarted if the pipe is gone.

use std::collections::VecDeque;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::resource_usage;

/// The pause between two checks of a server that owes an answer, and before the first check.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// The search for pipes takes at most one part in `SHARE` of the time.
const SHARE: u32 = 20;
/// The most directory entries that a search visits, breadth first.
const MOST_ENTRIES: usize = 300_000;
/// The pause after a release: a released process may open the pipe again immediately.
const RECHECK_PAUSE: Duration = Duration::from_millis(200);
/// After so many checks that find the server blocked and release nothing, it waits for a pipe that is gone or may not
/// be opened.
const MAX_FUTILE_CHECKS: u32 = 5;

/// The reason to end a server that cannot be released.
pub const GONE: &str = "it waits for a named pipe that is gone or may not be opened";

/// Releases the processes of the server's group that block on a named pipe below `root` whose name satisfies `is_read`:
/// they read the end of the file. It only does so while `is_awaited`, which means that the server owes an answer or is
/// starting. Returns the reason to end the server if that does not help. Other readers of the same pipe read the end of
/// the file, too.
pub async fn release(
    root: &Path,
    is_read: impl Fn(&str) -> bool + Clone + Send + 'static,
    leader: u32,
    is_awaited: impl Fn() -> bool,
) -> String {
    let (mut pause, mut times) = (CHECK_INTERVAL, 0);
    loop {
        tokio::time::sleep(pause).await;
        pause = CHECK_INTERVAL;
        if !is_awaited() {
            times = 0;
            continue;
        }
        let (root, is_read) = (root.to_path_buf(), is_read.clone());
        let look = move || {
            let waits = waits_for_pipe(leader);
            let begun = Instant::now();
            let released = if waits == Waits::No { 0 } else { release_now(&root, &is_read) };
            (waits, released, begun.elapsed())
        };
        // The next iteration repeats a check that failed.
        let Ok((waits, released, took)) = tokio::task::spawn_blocking(look).await else { continue };
        pause = if released > 0 { RECHECK_PAUSE } else { CHECK_INTERVAL }.max(took * SHARE);
        times = if waits == Waits::Yes && released == 0 { times + 1 } else { 0 };
        if times > MAX_FUTILE_CHECKS {
            return GONE.to_owned();
        }
    }
}

/// Returns the number of pipes that had a blocked reader.
fn release_now(root: &Path, is_read: &impl Fn(&str) -> bool) -> usize {
    let mut released = 0;
    let mut directories = VecDeque::from([root.to_path_buf()]);
    let mut entries = 0;
    while let Some(directory) = directories.pop_front() {
        for (path, kind) in listed(&directory) {
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            entries += 1;
            if entries > MOST_ENTRIES {
                return released;
            }
            if kind.is_dir() && name != ".git" {
                directories.push_back(path);
            } else if is_read(name)
                && let Some(pipe) = pipe(&path, kind)
            {
                released += usize::from(end(&pipe));
            }
        }
    }
    released
}

/// The path of the pipe, if the entry is a named pipe or a link to one.
fn pipe(path: &Path, kind: FileType) -> Option<PathBuf> {
    if kind.is_symlink() {
        let target = path.canonicalize().ok()?;
        return target.symlink_metadata().ok()?.file_type().is_fifo().then_some(target);
    }
    kind.is_fifo().then(|| path.to_path_buf())
}

fn listed(directory: &Path) -> impl Iterator<Item = (PathBuf, FileType)> {
    // A server cannot read a directory that cannot be listed either.
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
}

/// Opens the pipe to write and closes it, so that blocked readers read the end of the file. Without a reader, the open
/// fails immediately.
fn end(pipe: &Path) -> bool {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let is_read = rustix::fs::open(pipe, flags, Mode::empty()).is_ok();
    if is_read {
        tracing::info!(pipe = %pipe.display(), "a language server blocked on a named pipe: it reads an empty file instead");
    }
    is_read
}

/// Whether a process group waits for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// A thread waits.
    Yes,
    /// No thread waits.
    No,
    /// The kernel does not report it.
    Unknown,
}

/// Whether a thread of a process group is blocked in the open of a named pipe.
pub fn waits_for_pipe(leader: u32) -> Waits {
    let mut waits = Waits::Unknown;
    for member in resource_usage::members(leader) {
        let threads = std::fs::read_dir(format!("/proc/{}/task", member.pid)).into_iter().flatten().flatten();
        for thread in threads {
            match std::fs::read_to_string(thread.path().join("wchan")).unwrap_or_default().trim() {
                "" | "0" => {}
                "wait_for_partner" | "fifo_open" => return Waits::Yes,
                _ => waits = Waits::No,
            }
        }
    }
    waits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_a_pipe_find_the_end_and_others_wait_on() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let [own, other] = ["x.go", "log"].map(|name| inner.join(name));
        for pipe in [&own, &other] {
            rustix::fs::mkfifoat(rustix::fs::CWD, pipe, Mode::from_raw_mode(0o600)).unwrap();
        }
        let read = |pipe: &Path| {
            let pipe = pipe.to_path_buf();
            std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
        };
        let (reads_own, reads_other) = (read(&own), read(&other));
        let deadline = Instant::now() + Duration::from_secs(60);
        while !reads_own.is_finished() {
            assert!(Instant::now() < deadline, "whoever reads `x.go` goes on");
            release_now(directory.path(), &|name| name.ends_with(".go"));
            std::thread::yield_now();
        }
        assert_eq!(reads_own.join().unwrap(), "");
        assert!(!reads_other.is_finished(), "what no server reads is not touched");
        std::fs::write(&other, "from its own writer").unwrap();
        assert_eq!(reads_other.join().unwrap(), "from its own writer");
    }
}
