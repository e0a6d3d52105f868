//! Named pipes under names that a language server reads. Whoever opens one to read waits until somebody opens it to write, which
//! nobody does: a server that waits so answers nothing, for ever. Its readers are given an empty file instead.

use std::convert::Infallible;
use std::fs::FileType;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use crate::lsp::Client;

/// How long a server may have to answer before pipes are looked for, and then how often.
const EVERY: Duration = Duration::from_secs(2);
/// Looking for them takes this part of the time at most.
const SHARE: u32 = 20;
/// More entries of directories are not looked at.
const MOST_ENTRIES: usize = 300_000;

/// As long as it is polled, whoever reads a pipe of such a name below `root` finds the end of the file, while the server has
/// something to answer or, by `is_starting`, is coming up.
pub async fn release(
    root: &Path,
    is_read: impl Fn(&str) -> bool + Clone + Send + 'static,
    client: &Client,
    is_starting: impl Fn() -> bool,
) -> Infallible {
    let mut pause = EVERY;
    loop {
        tokio::time::sleep(pause).await;
        if !client.is_waited_for() && !is_starting() {
            continue;
        }
        let (root, is_read) = (root.to_path_buf(), is_read.clone());
        let begun = Instant::now();
        // A look that fails is made again.
        let _ = tokio::task::spawn_blocking(move || release_now(&root, &is_read)).await;
        pause = EVERY.max(begun.elapsed() * SHARE);
    }
}

fn release_now(root: &Path, is_read: &impl Fn(&str) -> bool) {
    let mut directories = vec![root.to_path_buf()];
    let mut entries = 0;
    while let Some(directory) = directories.pop() {
        for (path, kind) in listed(&directory) {
            let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
            entries += 1;
            if entries > MOST_ENTRIES {
                return;
            }
            if kind.is_dir() && name != ".git" {
                directories.push(path);
            } else if kind.is_fifo() && is_read(name) {
                end(&path);
            }
        }
    }
}

fn listed(directory: &Path) -> impl Iterator<Item = (PathBuf, FileType)> {
    // What cannot be listed is not read by a server either.
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)))
}

/// Opened to write and closed: who waits for a writer reads the end. Where nobody waits it is refused, at once.
fn end(pipe: &Path) {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if rustix::fs::open(pipe, flags, Mode::empty()).is_ok() {
        tracing::warn!(pipe = %pipe.display(), "a named pipe stands where a language server reads a file: it reads an empty one");
    }
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
