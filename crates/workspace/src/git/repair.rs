//! Repairs what a kill left of a commit: afterwards the commit is made or not made, and no lock of ours is left. If
//! HEAD was moved, the lock contains the new index and becomes the index. Otherwise the lock is removed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use super::end::End;
use super::index_lock::Places;
use super::private::{Abandoned, Record};
use super::program::Program;
use semdex_model::Result;

/// How long a git that the dead process started may still run.
const DYING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// A lock on HEAD that is older or younger than the move is not from the move. The move itself has a deadline.
const BEFORE: Duration = Duration::from_millis(100);
const AFTER: Duration = Duration::from_secs(15);

/// Repairs what dead processes have left, in any repository.
pub(crate) fn repair(state_dir: &Path) {
    for abandoned in Abandoned::all(state_dir) {
        let Some(record) = abandoned.record() else {
            abandoned.forget();
            continue;
        };
        match mend(&record, abandoned.begun()) {
            Ok(made) => {
                tracing::warn!(commit = record.commit, made, "a commit was interrupted; it was repaired");
                abandoned.forget();
            }
            Err(error) => tracing::error!(%error, commit = record.commit, "a commit was interrupted"),
        }
    }
}

/// Whether the commit was made.
fn mend(record: &Record, begun: Option<SystemTime>) -> Result<bool> {
    let places = Places { index: record.index.clone(), lock: record.lock.clone(), twin: record.twin.clone() };
    if let Some(begun) = begun {
        clear_heads(&record.heads, &record.commit, begun);
    }
    // This runs no program of the repository.
    let git = Program::new(&record.top, false, End::default())?;
    let ended = git.run(&["merge-base", "--is-ancestor"]).with(&record.commit).with("HEAD").ended()?;
    let made = begun.is_some() && ended.is_well();
    if places.is_ours() {
        let done = if made { fs::rename(&places.lock, &places.index) } else { fs::remove_file(&places.lock) };
        if let Err(error) = done {
            tracing::error!(%error, lock = %places.lock.display(), "a lock of ours could not be taken away");
        }
    }
    let _ = fs::remove_file(&places.twin);
    Ok(made)
}

/// Removes the locks of a git that was killed while it moved HEAD: locks from that time that are empty or name the
/// commit. A git that ends normally removes its locks.
pub(super) fn clear_heads(heads: &[PathBuf], commit: &str, begun: SystemTime) {
    let until = Instant::now() + DYING;
    for lock in heads {
        while is_left(lock, commit, begun) {
            if Instant::now() < until {
                thread::sleep(PAUSE);
            } else {
                let _ = fs::remove_file(lock);
                break;
            }
        }
    }
}

fn is_left(lock: &Path, commit: &str, begun: SystemTime) -> bool {
    let Ok(written) = fs::symlink_metadata(lock).and_then(|it| it.modified()) else { return false };
    let is_of_the_time = written + BEFORE >= begun && written <= begun + AFTER;
    is_of_the_time && fs::read_to_string(lock).is_ok_and(|it| it.is_empty() || it.trim_end() == commit)
}
