//! The engines as the writer has them: each is started when there is something for it, and guarded. One that panics is
//! thrown away and started anew from the texts; the writer, the other engines and all requests but one go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::slots::Slot;
use super::writer::{Event, Writer};
use semdex_engine::files::Files;
use semdex_engine::{Applied, Engine, Pause, Setup, panic_message};
use semdex_model::{FileEdit, LanguageId};

impl Writer {
    /// The engine of a language.
    pub(super) fn slot_of(&self, language: LanguageId) -> Option<&Slot> {
        self.slots.get(self.registry.position(language)?)
    }

    /// Engines start when the first file of theirs is there, and again where one panicked.
    pub(super) fn start_engines(&mut self) {
        for at in 0..self.slots.len() {
            let slot = &self.slots[at];
            if slot.engine.is_none() && slot.lives.retries.is_due() && slot.kind.is_needed(&self.files) {
                self.start_engine(at);
            }
        }
    }

    fn start_engine(&mut self, at: usize) {
        let inbox = self.inbox.clone();
        let slot = &mut self.slots[at];
        let setup = Setup {
            root: self.root.clone(),
            trusted: self.trusted,
            settings: self.settings.clone(),
            cache_dir: self.config.cache_dir.clone(),
            forbidden: self.disk.tree().forbidden().clone(),
            runtime: self.runtime.clone(),
            files: self.files.clone(),
            restarts: slot.lives.failed,
            // Its threads may wait for their turn: they are no requests that could be asked to come back.
            wake: Arc::new(move || drop(inbox.send(Event::Engine(at)))),
        };
        match catch_unwind(AssertUnwindSafe(|| slot.kind.start(setup))) {
            Ok(Ok(engine)) => {
                slot.engine = Some(engine);
                slot.lives.fed = self.files.clone();
                slot.lives.down = None;
                self.named.note_news();
            }
            Ok(Err(missing)) => {
                if !self.missing.contains(&missing) {
                    self.missing.push(missing);
                }
            }
            Err(panic) => slot.lives.fell(&*slot.kind, &*panic),
        }
    }

    /// Those that panicked are tried again.
    pub(super) fn revive_engines(&mut self) {
        if self.slots.iter().any(Slot::is_to_revive) {
            self.start_engines();
            self.publish();
        }
    }

    /// Has an engine do something. A panic costs the engine, which is made anew. `None` where there is none, or none any
    /// more.
    pub(super) fn with_engine<T>(&mut self, at: usize, work: impl FnOnce(&mut dyn Engine) -> T) -> Option<T> {
        let slot = &mut self.slots[at];
        let engine = slot.engine.as_mut()?;
        match catch_unwind(AssertUnwindSafe(|| work(&mut **engine))) {
            Ok(value) => Some(value),
            Err(panic) => {
                self.discard_engine(at);
                let slot = &mut self.slots[at];
                slot.lives.fell(&*slot.kind, &*panic);
                self.publish();
                None
            }
        }
    }

    /// Throws an engine away.
    pub(super) fn discard_engine(&mut self, at: usize) {
        let engine = self.slots[at].engine.take();
        self.end_engine(engine);
    }

    pub(super) fn end_engine(&self, engine: Option<Box<dyn Engine>>) {
        let Some(engine) = engine else { return };
        match catch_unwind(AssertUnwindSafe(|| engine.close())) {
            Ok(closing) => drop(self.runtime.spawn(closing)),
            Err(panic) => tracing::error!(panic = panic_message(&*panic), "an engine panicked over its end"),
        }
    }

    /// What an engine's threads have found out.
    pub(super) fn hear_engine(&mut self, at: usize) {
        self.with_engine(at, |it| it.take_results());
        self.watch_sources_outside(at);
        self.follow_roots(at);
    }

    /// The same of all: where a panic came between, some wait to be heard.
    pub(super) fn hear_engines(&mut self) {
        (0..self.slots.len()).for_each(|at| self.hear_engine(at));
    }

    /// Whether an engine waits for a moment in which nobody asks anything.
    pub(super) fn is_engine_due(&self) -> bool {
        self.slots.iter().filter_map(|it| it.engine.as_ref()).any(|it| it.is_due())
    }

    /// Has the engines do what nobody waits for.
    pub(super) fn have_engines_work(&mut self, quiet: Option<Duration>) {
        let pause = Pause { quiet, unchanged: self.changed.elapsed() };
        for at in 0..self.slots.len() {
            let files = self.files.clone();
            self.with_engine(at, |it| it.work(&files, pause));
        }
    }

    /// Tells the engines of new contents; the texts are those of the revision already.
    pub(super) fn feed_engines(&mut self, edits: &[FileEdit], is_on_disk: bool) {
        (0..self.slots.len()).for_each(|at| self.feed_engine(at, edits, is_on_disk));
    }

    pub(super) fn feed_engine(&mut self, at: usize, edits: &[FileEdit], is_on_disk: bool) {
        let files = self.files.clone();
        self.with_engine(at, |it| it.apply(Applied { files: &files, edits, is_on_disk }));
        self.slots[at].lives.fed = files;
    }

    /// Brings engines to the texts that missed something when the writer panicked.
    pub(super) fn bring_engines_in_step(&mut self) {
        for at in 0..self.slots.len() {
            let edits = difference(&self.slots[at].lives.fed, &self.files);
            if !edits.is_empty() {
                self.feed_engine(at, &edits, true);
            }
        }
    }

    /// The owner's trust has changed: those that cannot go on are closed and started anew.
    pub(super) fn have_engines_trust(&mut self, trusted: bool) {
        let (files, settings) = (self.files.clone(), self.settings.clone());
        for at in 0..self.slots.len() {
            let goes_on = self.with_engine(at, |it| it.set_trust(trusted, &settings, &files));
            if goes_on == Some(false) {
                self.discard_engine(at);
            }
        }
        self.start_engines();
    }
}

/// What leads from these texts to those.
fn difference(before: &Files, after: &Files) -> Vec<FileEdit> {
    let text = |files: &Files, name: &str| files.get(name).map(|it| it.text.clone());
    let edit = |name: &str| FileEdit { file: name.to_owned(), old: text(before, name), new: text(after, name) };
    let gone = before.iter().filter(|it| after.get(&it.path).is_none());
    let changed = after.iter().filter(|it| before.get(&it.path).is_none_or(|old| old.hash != it.hash));
    gone.chain(changed).map(|it| edit(&it.path)).collect()
}
