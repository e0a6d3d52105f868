//! How the writer makes a change: tried in memory, recorded in the journal, written to the disk, whole or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::change::{self, Change, Hashes, Outcome, Undone};
use super::disk::{Located, Notes, Write};
use super::events::{self, MadeChange, News};
use super::journal::{self, Entry, EntryFile, Reached, RecordOutcome};
use super::overlays;
use super::repair::mend;
use super::writer::Writer;
use semdex_engine::files::Files;
use semdex_engine::{Route, Tidied, Trial, impact_unknown, not_started};
use semdex_model::{ChangeImpact, Code, Error, FileEdit, Help, LanguageId, Result};
use semdex_process::fault;

/// How long the journal may take to record a change.
const RECORD: Duration = Duration::from_secs(10);

impl Writer {
    /// Computes the impact of a change, and makes it unless it is only asked about, would break what it must not, or rests on
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
        // What is compiled under another name is checked too.
        let everywhere = self.with_other_names(edits);
        let after = change::with_edits(&self.files, &everywhere);
        let mut change_impact = change.view_impact.clone();
        let stops =
            |it: &ChangeImpact| reject_if_broken && (!it.impact.broken.is_empty() || it.not_analysed().is_some());
        let mut rejected = stops(&change_impact);
        // These have the texts after it already.
        let mut ahead: Vec<usize> = Vec::new();
        for at in 0..self.slots.len() {
            let kind = &self.slots[at].kind;
            let is_named = |file: &str| {
                kind.languages().iter().any(|it| self.files.references(*it, file) || after.references(*it, file))
            };
            let concerns = |it: &FileEdit| kind.computes_impact(&it.file) || is_named(&it.file);
            if kind.route() != Route::Writer || !everywhere.iter().any(concerns) {
                continue;
            }
            let keep = |own: &ChangeImpact| !(rejected || stops(own));
            let keep: Option<&dyn Fn(&ChangeImpact) -> bool> = if dry_run { None } else { Some(&keep) };
            let own = self.impact(at, &after, &everywhere, keep);
            rejected |= stops(&own);
            if !dry_run && !rejected {
                self.slots[at].lives.fed = after.clone();
                ahead.push(at);
            }
            change_impact.join(own);
        }
        let trial = Trial { before: &self.files, after: &after, edits };
        let engines = self.slots.iter().filter_map(|it| it.engine.as_ref());
        engines.filter_map(|it| it.unknown_before_load(&trial)).for_each(|it| change_impact.lacks(it));
        let mut outcome = Outcome {
            applied: false,
            change: None,
            to_overlays,
            notes: Notes::new(),
            rejected,
            revision: self.revision,
            change_impact,
            hashes: change::hashes(&self.files, &after, edits),
        };
        if dry_run || rejected {
            self.take_back(&ahead, &everywhere);
            return Ok(outcome);
        }
        if to_overlays {
            self.edit_overlays(&everywhere, after);
            return Ok(Outcome { applied: true, revision: self.revision, ..outcome });
        }
        let written = match given_up.load(Ordering::Relaxed) {
            true => Err(Error::new(Code::Timeout, "nothing was changed: whoever asked has given up")),
            false => self.write(&change, &outcome),
        };
        match written {
            Ok((token, notes)) => {
                outcome.change = Some(token);
                outcome.notes = notes;
            }
            Err(error) => {
                // The disk is as it was, and so must be the engines.
                self.take_back(&ahead, &everywhere);
                return Err(error);
            }
        }
        self.apply(&everywhere, after, change.cause);
        outcome.applied = true;
        outcome.revision = self.revision;
        self.tell_change(change, &outcome);
        Ok(outcome)
    }

    fn tell_change(&self, change: Change, outcome: &Outcome) {
        let Some(token) = outcome.change.clone() else { return };
        let (impact, new, fixed) = events::bounded(&outcome.change_impact);
        self.tell(News::Change(Box::new(MadeChange {
            change: token.clone(),
            cause: change.cause,
            client: change.client,
            undoes: change.undoes.and_then(|it| it.change),
            files: events::files(&change.edits),
            impact,
        })));
        if !new.is_empty() || !fixed.is_empty() {
            self.tell(News::Diagnostics { change: token, new, fixed });
        }
    }

    /// What an engine says of a change, tried in the writer's turn.
    fn impact(
        &mut self,
        at: usize,
        after: &Arc<Files>,
        edits: &[FileEdit],
        keep: Option<&dyn Fn(&ChangeImpact) -> bool>,
    ) -> ChangeImpact {
        let Some(&language) = self.slots[at].kind.languages().first() else { return ChangeImpact::nothing() };
        if self.slots[at].engine.is_none() && self.slots[at].lack().is_none() {
            return not_started(language);
        }
        let before = self.files.clone();
        let trial = Trial { before: &before, after, edits };
        self.with_engine(at, |it| it.impact(&trial, keep)).flatten().unwrap_or_else(|| impact_unknown(language))
    }

    /// Brings engines back to the texts as they are.
    fn take_back(&mut self, ahead: &[usize], edits: &[FileEdit]) {
        let back = |it: &FileEdit| FileEdit { file: it.file.clone(), old: it.new.clone(), new: it.old.clone() };
        let back: Vec<FileEdit> = edits.iter().map(back).collect();
        ahead.iter().for_each(|&at| self.feed_engine(at, &back, false));
    }

    /// Planned texts of a language with their imports put right, where that changes them.
    pub(super) fn fix_imports(&mut self, language: LanguageId, edits: &[FileEdit]) -> Result<Vec<Tidied>> {
        if let Some(moved) = change::moved_on(&self.files, edits) {
            let detail = format!("`{}` was changed by somebody else meanwhile: read it again", moved.file);
            return Err(Error::new(Code::Conflict, detail));
        }
        let Some(at) = self.registry.position(language).filter(|at| self.slots[*at].engine.is_some()) else {
            return Ok(Vec::new());
        };
        let (before, after) = (self.files.clone(), change::with_edits(&self.files, edits));
        let trial = Trial { before: &before, after: &after, edits };
        self.with_engine(at, |it| it.fix_imports(&trial)).ok_or_else(|| {
            let detail = "nothing was changed: putting the imports right met a fault of semdex, which is in the log";
            Error::new(Code::Internal, detail)
        })
    }

    /// Brings a change to the disk: recorded first, then all files or none. Answers with the token that takes it back.
    fn write(&mut self, change: &Change, outcome: &Outcome) -> Result<(String, Notes)> {
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
            undoes: change.undoes.as_ref().and_then(|it| it.change.clone()),
            undone_by: None,
            files: change
                .edits
                .iter()
                .zip(&located)
                .zip(&looks)
                .map(|((a, b), c)| entry_file(a, b, *c, undone, &outcome.hashes))
                .collect(),
            reached: Some(Reached::from(&outcome.change_impact)),
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
                    self.journal.settle(token, RecordOutcome::Dropped);
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
