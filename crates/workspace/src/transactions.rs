//! Transactions: how a change reaches the disk whole or not at all. It is recorded in the journal, then written, and
//! what a kill or a power cut interrupted is completed or taken back before the next change.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::change::{Change, Hashes, Outcome, Undone};
use crate::disk::{Disk, Located, Notes, Write};
use crate::journal::{self, Entry, EntryFile, Journal, Reached, RecordOutcome};
use crate::lock::LockFile;
use crate::repair::{recover, recover_locked};
use semdex_engine::files::Files;
use semdex_model::{Code, FileEdit, Result, Revision};
use semdex_process::fault;

/// How long the journal may take to record a change.
const RECORD: Duration = Duration::from_secs(10);

/// The journal and the lock file of a workspace.
pub(super) struct Transactions {
    disk: Arc<Disk>,
    journal: Journal,
    lock_file: LockFile,
    tokens: ulid::Generator,
    /// Interrupted changes were looked for.
    is_recovered: bool,
}

impl Transactions {
    /// Of the workspace on this disk. `state_dir` is the user's directory for semdex's state.
    pub(super) fn new(disk: Arc<Disk>, journal: Journal, state_dir: &Path) -> Transactions {
        let lock_file = LockFile::new(state_dir, disk.root());
        Transactions { disk, journal, lock_file, tokens: ulid::Generator::new(), is_recovered: false }
    }

    /// Whether no change was interrupted. Cheaper than [`Transactions::recover`], which opens the journal.
    pub(super) fn all_ended(&self) -> bool {
        self.lock_file.all_ended()
    }

    /// Completes or takes back interrupted changes, once.
    pub(super) fn recover(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_recovered, true) {
            return Ok(());
        }
        recover(&self.disk, &self.journal, &mut self.lock_file)
    }

    /// A change may have been interrupted: opens the lock file again, and has the next [`Transactions::recover`] look.
    pub(super) fn restart(&mut self, state_dir: &Path) {
        self.lock_file = LockFile::new(state_dir, self.disk.root());
        self.is_recovered = false;
    }

    /// The places of the edited files on the disk.
    pub(super) fn locate(&self, edits: &[FileEdit]) -> Result<Vec<Located>> {
        edits.iter().map(|edit| self.disk.locate(&edit.file)).collect()
    }

    /// Writes a change to the disk: records it first, then writes all files or none. Returns the token that undoes it,
    /// and notes about files. `files` and `revision` are those before the change; `located` are the places of its
    /// edits.
    pub(super) fn write(
        &mut self,
        change: &Change,
        located: &[Located],
        files: &Files,
        revision: Revision,
        outcome: &Outcome,
    ) -> Result<(String, Notes)> {
        let lock = self.lock_file.acquire()?;
        if lock.interrupted
            && let Err(error) = recover_locked(&self.disk, &self.journal, &lock)
        {
            tracing::error!(%error, "a change that was interrupted is perhaps half made");
            lock.leave_unfinished();
        }
        let token = token(&mut self.tokens);
        let looks: Vec<(Option<u32>, usize)> = located.iter().map(|it| self.disk.look(it)).collect();
        let none = Undone::default();
        let undone = change.undoes.as_ref().unwrap_or(&none);
        let place_of = |name: &String| Some(&located[change.edits.iter().position(|it| it.file == *name)?]);
        let writes: Vec<Write> = change
            .edits
            .iter()
            .zip(located)
            .map(|(edit, located)| Write {
                located,
                expected: files.get(&edit.file).map(|it| it.hash),
                content: edit.new.as_deref().map(str::as_bytes),
                moved_from: change.moves.get(&edit.file).and_then(place_of),
                mode: undone.modes.get(&edit.file).copied(),
                directories: undone.made_directories.get(&edit.file).copied().unwrap_or_default(),
            })
            .collect();
        let entry = Entry {
            id: token.clone(),
            workspace: journal::key(self.disk.root()),
            made_at: journal::now(),
            revision: revision.0 + 1,
            cause: change.cause,
            client: change.client.clone(),
            undoes: change.undoes.as_ref().and_then(|it| it.change.clone()),
            undone_by: None,
            files: change
                .edits
                .iter()
                .zip(located)
                .zip(&looks)
                .map(|((a, b), c)| entry_file(a, b, *c, undone, &outcome.hashes))
                .collect(),
            reached: Some(Reached::from(&outcome.change_impact)),
            request_key: change.request_key.clone(),
        };
        self.journal.begin(entry, RECORD).map_err(|mut error| {
            error.detail = format!("nothing was changed: {}", error.detail);
            error
        })?;
        fault::point("writer.change.recorded");
        match self.disk.write(&token, &writes) {
            Ok(notes) => {
                fault::point("writer.change.written");
                let entered = lock.enter(&token);
                self.journal.settle(token.clone(), RecordOutcome::Done);
                // Without the mark in the lock file, wait until the journal has recorded the end of the change.
                if let Err(error) = entered
                    && let Err(also) = self.journal.unfinished(journal::key(self.disk.root()), RECORD)
                {
                    tracing::error!(%error, %also, "a change was made; a kill right now would have it looked at again");
                }
                drop(lock);
                fault::point("writer.change.settled");
                Ok((token, notes))
            }
            Err(failure) => {
                // The next change or the next start repairs what remains: the record says how.
                if failure.remains {
                    lock.leave_unfinished();
                } else {
                    self.journal.settle(token, RecordOutcome::Dropped);
                }
                let mut error = failure.error;
                // A file changed between the barrier and the rename: the same error as for a change before the barrier.
                if matches!(error.code, Code::HashMismatch | Code::AlreadyExists) && !failure.remains {
                    error.code = Code::Conflict;
                }
                Err(error)
            }
        }
    }
}

/// Tokens of one workspace rise with time, also within a millisecond.
fn token(tokens: &mut ulid::Generator) -> String {
    tokens.generate().unwrap_or_else(|_| ulid::Ulid::generate()).to_string()
}

fn entry_file(
    edit: &FileEdit,
    located: &Located,
    look: (Option<u32>, usize),
    undone: &Undone,
    hashes: &Hashes,
) -> EntryFile {
    let (old, new) = hashes.get(&edit.file).copied().unwrap_or_default();
    let hex = |it: blake3::Hash| it.to_hex().to_string();
    EntryFile {
        file: located.rel.clone(),
        old: edit.old.clone(),
        new: edit.new.clone(),
        old_hash: old.map(hex),
        new_hash: new.map(hex),
        mode: look.0.or_else(|| undone.modes.get(&edit.file).copied()),
        made_directories: look.1.max(undone.made_directories.get(&edit.file).copied().unwrap_or_default()),
    }
}
