//! The revisions of a workspace over all its lives. Whoever remembers one compares it with those that are announced
//! later, so each life begins above all that were announced before: one number never means two states of the texts.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use semdex_config::create_private_dir;
use semdex_model::Revision;

/// So many are taken at once. A life that was cut off leaves the rest of them out.
const TAKEN: u64 = 1000;
/// More are taken before the last one is announced.
const MARGIN: u64 = 100;
/// Every number is written over the one before.
const DIGITS: usize = 20;

/// In the user's state directory. Not synced: after a power cut a life may begin lower, as if nobody remembered.
#[derive(Debug)]
pub(crate) struct Revisions {
    file: PathBuf,
    first: u64,
    /// The last one that nobody else takes.
    taken: Cell<u64>,
    announced: Cell<u64>,
}

impl Revisions {
    pub(crate) fn new(state_dir: &Path, root: &Path) -> Revisions {
        let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let file = state_dir.join("revisions").join(&key[..16]);
        let mut revisions = Revisions { file, first: 1, taken: Cell::new(0), announced: Cell::new(0) };
        let before = revisions.take();
        revisions.first = before + 1;
        revisions.announced.set(before);
        revisions
    }

    /// Of this life.
    pub(crate) fn first(&self) -> Revision {
        Revision(self.first)
    }

    /// Before any answer names it.
    pub(crate) fn announce(&self, revision: Revision) {
        self.announced.set(revision.0.max(self.announced.get()));
        if self.announced.get() + MARGIN > self.taken.get() {
            self.take();
        }
    }

    /// Takes more, and answers with the last one that was taken before.
    fn take(&self) -> u64 {
        let taken = self.locked(|file| {
            let before = number_in(file);
            self.taken.set(before.max(self.announced.get()) + TAKEN);
            write(file, self.taken.get())?;
            Ok(before)
        });
        taken.unwrap_or_else(|error| {
            tracing::warn!(%error, file = %self.file.display(), "the revisions that were told are not kept");
            self.taken.set(self.announced.get() + TAKEN);
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

impl Drop for Revisions {
    /// What was taken and not announced is the next life's, unless another took more meanwhile.
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
        let begin = |root: &str| Revisions::new(state.path(), Path::new(root));
        let life = begin("/a");
        assert_eq!(life.first(), Revision(1));
        life.announce(Revision(7));
        drop(life);
        assert_eq!(begin("/a").first(), Revision(8));
        // Nothing was announced.
        assert_eq!(begin("/a").first(), Revision(8));
        assert_eq!(begin("/b").first(), Revision(1));

        // Two at once, and one that is killed.
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
        let life = Revisions::new(state.path(), Path::new("/a"));
        life.announce(Revision(3));
        assert_eq!(life.first(), Revision(1));
    }
}
