//! How the writer makes a change: it computes the impact in memory, records the change in the journal, and writes all
//! files or none.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Writer;
use crate::change::{self, Change, Outcome};
use crate::disk::Notes;
use crate::events::{self, MadeChange, News};
use crate::overlays;
use crate::referenced_files::edit_of;
use semdex_config::CountedBuilds;
use semdex_engine::files::Files;
use semdex_engine::{Prepared, Route, Tidied, Trial, impact_unknown, not_started};
use semdex_model::{ChangeImpact, Code, Error, FileEdit, Help, LanguageId, Result};

impl Writer {
    /// Computes the impact of a change, and makes it unless it is only asked about, would break what it must not, or
    /// rests on contents that are no longer there.
    pub(super) fn propose(&mut self, change: Change, given_up: &AtomicBool) -> Result<Outcome> {
        if let Some(moved) = change::moved_on(&self.files, &change.edits) {
            let now = self.files.get(&moved.file).map(|it| it.hash.to_hex().to_string());
            let detail = format!("`{}` was changed by somebody else during this request: read it again", moved.file);
            let help = Help { actual_hash: now, file: Some(moved.file.clone()), ..Help::default() };
            return Err(Error::new(Code::Conflict, detail).with_help(help));
        }
        let Change { dry_run, rejected_in, .. } = change;
        let edits = &change.edits;
        let to_overlays = overlays::takes(&self.overlays, edits)?;
        // What is compiled under another name is checked too.
        let everywhere = self.with_other_names(edits);
        let after = change::with_edits(&self.files, &everywhere);
        let mut change_impact = change.view_impact.clone();
        let stops = |it: &ChangeImpact| {
            let breaks = |builds: CountedBuilds| {
                it.impact.broken.iter().any(|it| builds.counts(it.at.build.as_deref())) || it.not_analysed().is_some()
            };
            rejected_in.is_some_and(breaks)
        };
        let mut rejected = stops(&change_impact);
        // These have the texts after it already.
        let mut ahead: Vec<usize> = Vec::new();
        for at in 0..self.engines.len() {
            let slot = self.engines.slot(at);
            let kind = &slot.kind;
            let has_code = |file: &str| slot.engine.as_ref().is_some_and(|it| it.has_code_of(file));
            let is_named = |file: &str| {
                kind.languages().iter().any(|it| self.files.references(*it, file) || after.references(*it, file))
            };
            let concerns = |it: &FileEdit| kind.computes_impact(&it.file) || is_named(&it.file) || has_code(&it.file);
            if kind.route() != Route::Writer || !everywhere.iter().any(concerns) {
                continue;
            }
            let keep = |own: &ChangeImpact| !(rejected || stops(own));
            let keep: Option<&dyn Fn(&ChangeImpact) -> bool> = if dry_run { None } else { Some(&keep) };
            let prepared = change.prepared.of(self.engines.slot(at).kind.name());
            let own = self.impact(at, &after, (&everywhere, &change.moves, prepared), keep);
            rejected |= stops(&own);
            if !dry_run && !rejected {
                self.engines.slot_mut(at).lives.fed = after.clone();
                ahead.push(at);
            }
            change_impact.join(own);
        }
        // Of a file that is gone no line can be looked at.
        let is_gone = |file: &str| edits.iter().any(|it| it.file == file && it.new.is_none());
        change_impact.impact.affected.retain(|it| !is_gone(&it.place.file));
        let trial = Trial { before: &self.files, after: &after, edits, moves: &change.moves, prepared: None };
        let engines = self.engines.running();
        engines.filter_map(|it| it.unknown_before_load(&trial)).for_each(|it| change_impact.lacks(it));
        let mut outcome = Outcome {
            applied: false,
            change: None,
            to_overlays,
            notes: Notes::new(),
            rejected,
            revision: self.revisions.current(),
            change_impact,
            hashes: change::hashes(&self.files, &after, edits),
        };
        if dry_run || rejected {
            self.take_back(&ahead, &everywhere);
            return Ok(outcome);
        }
        if to_overlays {
            self.edit_overlays(&everywhere, after);
            return Ok(Outcome { applied: true, revision: self.revisions.current(), ..outcome });
        }
        let written = match given_up.load(Ordering::Relaxed) {
            true => Err(Error::new(Code::Timeout, "nothing was changed: the client has given up")),
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
        outcome.revision = self.revisions.current();
        self.report_change(change, &outcome);
        Ok(outcome)
    }

    fn report_change(&self, change: Change, outcome: &Outcome) {
        let Some(token) = outcome.change.clone() else { return };
        let (impact, new, fixed) = events::bounded(&outcome.change_impact);
        self.report(News::Change(Box::new(MadeChange {
            change: token.clone(),
            cause: change.cause,
            client: change.client,
            undoes: change.undoes.and_then(|it| it.change),
            files: events::files(&change.edits),
            impact,
        })));
        if !new.is_empty() || !fixed.is_empty() {
            self.report(News::Diagnostics { change: token, new, fixed });
        }
    }

    /// What an engine says of a change, tried in the writer's turn.
    fn impact(
        &mut self,
        at: usize,
        after: &Arc<Files>,
        (edits, moves, prepared): (&[FileEdit], &BTreeMap<String, String>, Option<&Prepared>),
        keep: Option<&dyn Fn(&ChangeImpact) -> bool>,
    ) -> ChangeImpact {
        let Some(&language) = self.engines.slot(at).kind.languages().first() else { return ChangeImpact::nothing() };
        if self.engines.slot(at).engine.is_none() && self.engines.slot(at).missing().is_none() {
            return not_started(language);
        }
        let before = self.files.clone();
        let trial = Trial { before: &before, after, edits, moves, prepared };
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
            let detail = format!("`{}` was changed by somebody else during this request: read it again", moved.file);
            return Err(Error::new(Code::Conflict, detail));
        }
        let Some(at) = self.engines.registry().position(language).filter(|at| self.engines.slot(*at).engine.is_some())
        else {
            return Ok(Vec::new());
        };
        let (before, after) = (self.files.clone(), change::with_edits(&self.files, edits));
        let trial = Trial { before: &before, after: &after, edits, moves: &BTreeMap::new(), prepared: None };
        self.with_engine(at, |it| it.fix_imports(&trial)).ok_or_else(|| {
            let detail = "nothing was changed: putting the imports right met a fault of semdex, which is in the log";
            Error::new(Code::Internal, detail)
        })
    }

    /// Writes a change to the disk: all files or none. Returns the token that undoes it, and notes about files.
    fn write(&mut self, change: &Change, outcome: &Outcome) -> Result<(String, Notes)> {
        let located = self.transactions.locate(&change.edits)?;
        self.recover_changes();
        self.transactions.write(change, &located, &self.files, self.revisions.current(), outcome)
    }

    /// These edits, and the same edits of all other names of the files, by links and linked directories.
    pub(super) fn with_other_names(&self, edits: &[FileEdit]) -> Vec<FileEdit> {
        let mut all = edits.to_vec();
        for (name, real) in self.real_names() {
            if let Some(edit) = edits.iter().find(|it| it.file == real) {
                all.extend(edit_of(&self.files, &name, edit.new.clone()));
            }
        }
        all
    }

    /// The texts that are other names of files, each with the file's name without links.
    pub(super) fn real_names(&self) -> BTreeMap<String, String> {
        let links = self.disk_changes.links().map(|it| self.disk.name_of(it));
        let names = links.chain(self.referenced.texts().cloned()).filter(|it| self.files.get(it).is_some());
        let real = |name: String| Some((self.disk.locate(&name).ok()?.rel, name));
        names.filter_map(real).filter(|(real, name)| real != name).map(|(real, name)| (name, real)).collect()
    }
}
