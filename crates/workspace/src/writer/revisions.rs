//! The revisions of a workspace. They rise over all runs of the process, so that one number never means two states of
//! the texts: a client that remembers a revision compares it with later ones.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use semdex_config::create_private_dir;
use semdex_model::Revision;

/// How many numbers a run reserves in the file at a time. A run that is killed leaves the rest of them unused.
const RESERVED: u64 = 1000;
/// A run reserves more before fewer than this are left.
const MARGIN: u64 = 100;
/// Every number in the file has the same length, so each overwrites the last.
const DIGITS: usize = 20;

/// The current revision, and the numbers that are reserved for later ones.
pub(super) struct Revisions {
    current: Revision,
    /// When the current revision began.
    changed: Instant,
    numbers: RevisionNumbers,
}

impl Revisions {
    /// Revision 0, before the texts are read. The numbers are reserved in the user's state directory.
    pub(super) fn new(state_dir: &Path, root: &Path) -> Revisions {
        let numbers = RevisionNumbers::new(state_dir, root);
        Revisions { current: Revision(0), changed: Instant::now(), numbers }
    }

    /// The current revision.
    pub(super) fn current(&self) -> Revision {
        self.current
    }

    /// For how long nothing has changed.
    pub(super) fn unchanged(&self) -> Duration {
        self.changed.elapsed()
    }

    /// The texts are read: the first revision of this run.
    pub(super) fn begin(&mut self) {
        self.current = self.numbers.first();
    }

    /// The texts were read again after a panic: at least the first revision of this run.
    pub(super) fn resume(&mut self) {
        self.current = self.current.max(self.numbers.first());
    }

    /// Something has changed. It is a revision of its own if `is_new`.
    pub(super) fn note_change(&mut self, is_new: bool) {
        self.current.0 += u64::from(is_new);
        self.changed = Instant::now();
    }

    /// To be called before an answer has the current revision: numbers above it are reserved.
    pub(super) fn announce(&self) {
        self.numbers.announce(self.current);
    }
}

/// The numbers that this run has reserved in a file of the user's state directory. The file is not synced: after a
/// power cut a run may begin lower.
#[derive(Debug)]
struct RevisionNumbers {
    file: PathBuf,
    /// The first number of this run.
    first: u64,
    /// The last number that no other run takes.
    taken: Cell<u64>,
    /// The highest number that an answer has.
    announced: Cell<u64>,
}

impl RevisionNumbers {
    fn new(state_dir: &Path, root: &Path) -> RevisionNumbers {
        let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let file = state_dir.join("revisions").join(&key[..16]);
        let mut revisions = RevisionNumbers { file, first: 1, taken: Cell::new(0), announced: Cell::new(0) };
        let before = revisions.take();
        revisions.first = before + 1;
        revisions.announced.set(before);
        revisions
    }

    fn first(&self) -> Revision {
        Revision(self.first)
    }

    /// To be called before an answer has this number.
    fn announce(&self, revision: Revision) {
        self.announced.set(revision.0.max(self.announced.get()));
        if self.announced.get() + MARGIN > self.taken.get() {
            self.take();
        }
    }

    /// Reserves more numbers, and returns the last one that was reserved before.
    fn take(&self) -> u64 {
        let taken = self.locked(|file| {
            let before = number_in(file);
            self.taken.set(before.max(self.announced.get()) + RESERVED);
            write(file, self.taken.get())?;
            Ok(before)
        });
        taken.unwrap_or_else(|error| {
            tracing::warn!(%error, file = %self.file.display(), "the revisions that answers have are not kept");
            self.taken.set(self.announced.get() + RESERVED);
            0
        })
    }

    fn locked<T>(&self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        if let Some(directory) = self.file.parent() {
            create_private_dir(directory)?;
        }
        let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(&self.file)?;
        // Held for a moment; closing the file releases it.
        file.lock()?;
        work(&file)
    }
}

impl Drop for RevisionNumbers {
    /// Leaves the numbers that no answer has to the next run, unless another run has reserved more since.
    fn drop(&mut self) {
        let _ = self.locked(|file| match number_in(file) == self.taken.get() {
            true => write(file, self.announced.get()),
            false => Ok(()),
        });
    }
}

fn number_in(file: &File) -> u64 {
    let mut digits = [0; DIGITS];
    let length = file.read_at(&mut digits, 0).unwrap_or_default();
    std::str::from_utf8(&digits[..length]).ok().and_then(|it| it.parse().ok()).unwrap_or_default()
}

fn write(file: &File, number: u64) -> io::Result<()> {
    file.write_all_at(format!("{number:0DIGITS$}").as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_begins_above_all_that_were_announced() {
        let state = tempfile::tempdir().unwrap();
        let begin = |root: &str| RevisionNumbers::new(state.path(), Path::new(root));
        let life = begin("/a");
        assert_eq!(life.first(), Revision(1));
        life.announce(Revision(7));
        drop(life);
        assert_eq!(begin("/a").first(), Revision(8));
        // Nothing was announced.
        assert_eq!(begin("/a").first(), Revision(8));
        assert_eq!(begin("/b").first(), Revision(1));

        // Two at the same time, and one that is killed.
        let (one, other) = (begin("/a"), begin("/a"));
        assert!(other.first() > one.first());
        one.announce(Revision(9));
        drop(one);
        let announced = Revision(other.first().0 + 5000);
        other.announce(announced);
        let _killed = std::mem::ManuallyDrop::new(other);
        assert!(begin("/a").first() > announced);
    }

    #[test]
    fn where_nothing_can_be_kept_it_begins_anew() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("revisions"), "").unwrap();
        let life = RevisionNumbers::new(state.path(), Path::new("/a"));
        life.announce(Revision(3));
        assert_eq!(life.first(), Revision(1));
    }
}
