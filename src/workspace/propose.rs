//! How the writer makes a change: judged in memory, recorded in the journal, written to the disk, whole or not at all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::change::{self, Change, Hashes, Outcome, Undone};
use super::disk::{Located, Notes, Write};
use super::journal::{self, Entry, EntryFile, Verdict};
use super::overlays;
use super::repair::mend;
use super::writer::{Writer, texts};
use crate::fault;
use crate::lang::Tidied;
use crate::lang::engine::{is_unjudged, unjudged};
use crate::lang::rust::LANGUAGE;
use crate::model::{Code, Error, FileEdit, Help, Judgement, Missing, MissingCode, Result};

/// How long the journal may take to record a change.
const RECORD: Duration = Duration::from_secs(10);

impl Writer {
    /// Judges a change, and makes it unless it is only asked about, would break what it must not, or rests on
    /// contents that are no longer there.
    pub(super) fn propose(&mut self, change: Change, given_up: &AtomicBool) -> Result<Outcome> {
        if let Some(moved) = change::moved_on(&self.files, &change.edits) {
            let now = self.files.get(&moved.file).map(|it| it.hash.to_hex().to_string());
            let detail = format!("`{}` was changed by somebody else meanwhile: read it again", moved.file);
            let help = Help { actual_hash: now, file: Some(moved.file.clone()), ..Help::default() };
            return Err(Error::new(Code::Conflict, detail).with_help(help));
        }
        let Change { dry_run, reject_if_broken, .. } = change;
        let edits = &change.edits;
        let to_overlays = overlays::takes(&self.overlays, edits)?;
        let after = change::with_edits(&self.files, edits);
        let mut judgement = change.judged.clone();
        let is_broken = |it: &Judgement| !it.impact.broken.is_empty();
        let mut rejected = reject_if_broken && is_broken(&judgement);
        let touches_rust = edits.iter().any(|it| LANGUAGE.takes(&it.file));
        let has_rust = self.rust.is_some() || self.rust_lives.lack().is_some();
        if touches_rust && has_rust {
            let keep = |own: &Judgement| !(rejected || reject_if_broken && (is_broken(own) || is_unjudged(own)));
            let keep: Option<&dyn Fn(&Judgement) -> bool> = if dry_run { None } else { Some(&keep) };
            let before = self.files.clone();
            let own = self.with_rust(|it| it.judge(&before, &after, edits, keep)).unwrap_or_else(|| unjudged(LANGUAGE));
            if reject_if_broken && !dry_run && is_unjudged(&own) {
                let detail = "nothing was changed: what it would break could not be told; ask again, or send it with \
                              `on_break: \"report\"`";
                return Err(Error::new(Code::NotReady, detail));
            }
            rejected |= reject_if_broken && is_broken(&own);
            self.has_garbage = true;
            if !dry_run && !rejected {
                self.rust_lives.fed = after.clone();
            }
            join(&mut judgement, own);
        } else if touches_rust {
            let detail = "the first code of Rust starts its engine: what the change breaks could not be asked";
            let missing = Missing::new(MissingCode::EngineDown, LANGUAGE.name, detail);
            join(&mut judgement, Judgement::unanswered(missing));
        }
        if let Some(missing) = self.rust.as_ref().and_then(|it| it.unknown_before_load(edits)) {
            judgement.coverage.lacks(missing);
        }
        let mut outcome = Outcome {
            applied: false,
            change: None,
            to_overlays,
            notes: Notes::new(),
            rejected,
            revision: self.revision,
            judgement,
            hashes: change::hashes(&self.files, &after, edits),
        };
        if dry_run || rejected {
            return Ok(outcome);
        }
        if to_overlays {
            self.edit_overlays(edits, after);
            return Ok(Outcome { applied: true, revision: self.revision, ..outcome });
        }
        let written = match given_up.load(Ordering::Relaxed) {
            true => Err(Error::new(Code::Timeout, "nothing was changed: whoever asked has given up")),
            false => self.write(&change, &outcome.hashes),
        };
        match written {
            Ok((token, notes)) => {
                outcome.change = Some(token);
                outcome.notes = notes;
            }
            Err(error) => {
                // The disk is as it was, and so must be the index.
                let back = |it: &FileEdit| FileEdit { file: it.file.clone(), old: it.new.clone(), new: it.old.clone() };
                let back = texts(&edits.iter().map(back).collect::<Vec<_>>());
                self.with_rust(|it| it.apply(&back));
                self.rust_lives.fed = self.files.clone();
                return Err(error);
            }
        }
        self.apply(edits, after, change.cause);
        outcome.applied = true;
        outcome.revision = self.revision;
        Ok(outcome)
    }

    /// Planned texts of Rust with their imports put right, where that changes them.
    pub(super) fn fix_imports(&mut self, edits: &[FileEdit]) -> Result<Vec<Tidied>> {
        if let Some(moved) = change::moved_on(&self.files, edits) {
            let detail = format!("`{}` was changed by somebody else meanwhile: read it again", moved.file);
            return Err(Error::new(Code::Conflict, detail));
        }
        let after = change::with_edits(&self.files, edits);
        if self.rust.is_none() {
            return Ok(Vec::new());
        }
        self.with_rust(|it| it.fix_imports(&after, edits)).ok_or_else(|| {
            let detail = "nothing was changed: putting the imports right met a fault of semdex, which is in the log";
            Error::new(Code::Internal, detail)
        })
    }

    /// Brings a change to the disk: recorded first, then all files or none. Answers with the token that takes it back.
    fn write(&mut self, change: &Change, hashes: &Hashes) -> Result<(String, Notes)> {
        let located = change.edits.iter().map(|edit| self.disk.locate(&edit.file)).collect::<Result<Vec<_>>>()?;
        self.look_into_journal();
        let lock = self.lock_file.acquire()?;
        if lock.interrupted
            && let Err(error) = mend(&self.disk, &self.journal, &lock)
        {
            tracing::error!(%error, "a change that was interrupted is perhaps half made");
            lock.leave_unfinished();
        }
        let token = token(&mut self.tokens);
        let looks: Vec<(Option<u32>, usize)> = located.iter().map(|it| self.disk.look(it)).collect();
        let none = Undone::default();
        let undone = change.undoes.as_ref().unwrap_or(&none);
        let writes: Vec<Write> = change
            .edits
            .iter()
            .zip(&located)
            .map(|(edit, located)| Write {
                located,
                expected: self.files.get(&edit.file).map(|it| it.hash),
                content: edit.new.as_deref().map(str::as_bytes),
                mode: undone.modes.get(&edit.file).copied(),
                directories: undone.made_directories.get(&edit.file).copied().unwrap_or_default(),
            })
            .collect();
        let entry = Entry {
            id: token.clone(),
            workspace: journal::key(&self.root),
            made_at: journal::now(),
            revision: self.revision.0 + 1,
            cause: change.cause,
            client: change.client.clone(),
            undoes: change.undoes.as_ref().map(|it| it.change.clone()),
            undone_by: None,
            files: change
                .edits
                .iter()
                .zip(&located)
                .zip(&looks)
                .map(|((a, b), c)| entry_file(a, b, *c, undone, hashes))
                .collect(),
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
                self.journal.settle(token.clone(), Verdict::Done);
                // Then the journal's own note is waited for.
                if let Err(error) = entered
                    && let Err(also) = self.journal.unfinished(journal::key(&self.root), RECORD)
                {
                    tracing::error!(%error, %also, "a change was made; a kill right now would have it looked at anew");
                }
                drop(lock);
                fault::point("writer.change.settled");
                Ok((token, notes))
            }
            Err(failure) => {
                // What remains is put right by the next change or the next start: the record says how.
                if failure.remains {
                    lock.leave_unfinished();
                } else {
                    self.journal.settle(token, Verdict::Dropped);
                }
                let mut error = failure.error;
                // Somebody wrote between the barrier and the rename: as if it had been before.
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

fn join(all: &mut Judgement, other: Judgement) {
    all.new.extend(other.new);
    all.fixed.extend(other.fixed);
    all.impact.changed.extend(other.impact.changed);
    all.impact.broken.extend(other.impact.broken);
    all.impact.affected.extend(other.impact.affected);
    all.impact.tests.extend(other.impact.tests);
    for unchecked in other.impact.unchecked {
        if !all.impact.unchecked.contains(&unchecked) {
            all.impact.unchecked.push(unchecked);
        }
    }
    all.coverage.absorb(other.coverage);
}
