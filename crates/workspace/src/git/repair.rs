//! What a kill left of a commit is put right: a commit is made or it is not, and no lock of ours stays. Where HEAD was
//! moved the index that belongs to it lies ready in the lock, and becomes the index; where it was not, the lock goes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

use super::end::End;
use super::index_lock::Places;
use super::private::{Abandoned, Record};
use super::program::Program;
use semdex_model::Result;

/// A git that was started by the dead process may take so long to end.
const DYING: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// A lock on HEAD that is older or younger than the move is not of it. The move itself has a deadline.
const BEFORE: Duration = Duration::from_millis(100);
const AFTER: Duration = Duration::from_secs(15);

/// Puts right what processes that are gone have left, in whatever repository.
pub(crate) fn repair(state_dir: &Path) {
    for abandoned in Abandoned::all(state_dir) {
        let Some(record) = abandoned.record() else {
            abandoned.forget();
            continue;
        };
        match mend(&record, abandoned.begun()) {
            Ok(made) => {
                tracing::warn!(commit = record.commit, made, "a commit was interrupted; it was put right");
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
    // Nothing of the repository is run for this.
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

/// Takes away what a git that was killed while it moved HEAD has left: locks of that very time that are empty, or name
/// the commit. One that ends by itself takes its locks away.
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
