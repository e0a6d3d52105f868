//! How the writer runs the engines: it starts each when there is code for it, and gives it every change. An engine that
//! panics is discarded and started again from the texts. The writer, all other engines and all other requests continue.

use std::sync::Arc;
use std::time::Duration;

use super::{Event, Writer};
use semdex_engine::files::Files;
use semdex_engine::{Applied, Engine, Pause, Setup};
use semdex_model::FileEdit;

impl Writer {
    /// Starts each engine that there is code for, unless it panicked just now.
    pub(super) fn start_engines(&mut self) {
        let due: Vec<usize> =
            (0..self.engines.len()).filter(|at| self.engines.slot(*at).is_to_start(&self.files)).collect();
        if due.is_empty() {
            return;
        }
        due.into_iter().for_each(|at| self.start_engine(at));
        // An engine needs the links before the first change: it has read files by the links' names.
        self.notify_of_referenced_files();
    }

    fn start_engine(&mut self, at: usize) {
        let inbox = self.inbox.clone();
        let setup = Setup {
            root: self.disk.root().to_path_buf(),
            trusted: self.trust.is_given(),
            settings: self.settings.values().clone(),
            cache_dir: self.config.cache_dir.clone(),
            forbidden: self.disk.tree().forbidden().clone(),
            runtime: self.engines.runtime().clone(),
            files: self.files.clone(),
            restarts: self.engines.slot(at).lives.failed,
            // Its threads may wait for their turn: they are no requests that could be asked to come back.
            wake: Arc::new(move || drop(inbox.send(Event::Engine(at)))),
        };
        match self.engines.start(at, setup) {
            Some(missing) => self.missing.add(missing),
            None if self.engines.slot(at).engine.is_some() => self.referenced.note_news(),
            None => {}
        }
    }

    /// Starts engines again that panicked.
    pub(super) fn restart_engines(&mut self) {
        if self.engines.iter().any(|it| it.is_to_restart()) {
            self.start_engines();
            self.publish();
        }
    }

    /// Calls an engine. `None` if it is not running, or if it panicked: then it is started again.
    pub(super) fn with_engine<T>(&mut self, at: usize, work: impl FnOnce(&mut dyn Engine) -> T) -> Option<T> {
        self.engines.call(at, work).unwrap_or_else(|_| {
            self.publish();
            None
        })
    }

    /// Takes the results of an engine's threads.
    pub(super) fn take_engine_results(&mut self, at: usize) {
        self.with_engine(at, |it| it.take_results());
        self.watch_external_sources(at);
        self.read_build_roots(at);
    }

    /// Takes the results of all engines: after a panic of the writer some may wait.
    pub(super) fn take_all_engine_results(&mut self) {
        (0..self.engines.len()).for_each(|at| self.take_engine_results(at));
    }

    /// Whether an engine waits for a moment without requests.
    pub(super) fn is_engine_due(&self) -> bool {
        self.engines.running().any(|it| it.is_due())
    }

    /// Has the engines do their background work. `quiet`: how long there was no event.
    pub(super) fn run_background_work(&mut self, quiet: Option<Duration>) {
        let pause = Pause { quiet, unchanged: self.revisions.unchanged() };
        for at in 0..self.engines.len() {
            let files = self.files.clone();
            self.with_engine(at, |it| it.work(&files, pause));
        }
    }

    /// Gives the engines new contents. `self.files` has them already.
    pub(super) fn feed_engines(&mut self, edits: &[FileEdit], is_on_disk: bool) {
        (0..self.engines.len()).for_each(|at| self.feed_engine(at, edits, is_on_disk));
    }

    /// Gives one engine new contents. `self.files` has them already.
    pub(super) fn feed_engine(&mut self, at: usize, edits: &[FileEdit], is_on_disk: bool) {
        let files = self.files.clone();
        self.with_engine(at, |it| it.apply(Applied { files: &files, edits, is_on_disk }));
        self.engines.slot_mut(at).lives.fed = files;
    }

    /// Gives each engine the changes that it did not get because the writer panicked.
    pub(super) fn bring_engines_in_step(&mut self) {
        for at in 0..self.engines.len() {
            let edits = difference(&self.engines.slot(at).lives.fed, &self.files);
            if !edits.is_empty() {
                self.feed_engine(at, &edits, true);
            }
        }
    }

    /// The owner's trust has changed: engines that cannot go on are closed and started again.
    pub(super) fn set_trust_of_engines(&mut self, trusted: bool) {
        let (files, settings) = (self.files.clone(), self.settings.values().clone());
        for at in 0..self.engines.len() {
            let goes_on = self.with_engine(at, |it| it.set_trust(trusted, &settings, &files));
            if goes_on == Some(false) {
                self.engines.discard(at);
            }
        }
        self.start_engines();
    }
}

/// The edits that lead from one state of the texts to another.
fn difference(before: &Files, after: &Files) -> Vec<FileEdit> {
    let text = |files: &Files, name: &str| files.get(name).map(|it| it.text.clone());
    let edit = |name: &str| FileEdit { file: name.to_owned(), old: text(before, name), new: text(after, name) };
    let gone = before.iter().filter(|it| after.get(&it.path).is_none());
    let changed = after.iter().filter(|it| before.get(&it.path).is_none_or(|old| old.hash != it.hash));
    gone.chain(changed).map(|it| edit(&it.path)).collect()
}
