//! The engines as the writer has them: each is started with the first file of its language, and guarded. One that panics
//! is thrown away and made anew from the texts; the writer, the other engine and all requests but one go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::watch as channel;

use super::Workspaces;
use super::writer::{Event, Writer, texts};
use crate::config::Features;
use crate::fault;
use crate::lang::files::{File, Files};
use crate::lang::go::{FileChange, FileChangeKind, Go, GoConfig};
use crate::lang::retries::Retries;
use crate::lang::rust::engine::{Adopted, Rust, RustConfig, Step};
use crate::lang::rust::load::Limits;
use crate::lang::rust::second::Made;
use crate::lang::{Ended, EngineStatus, go, panic_message, rust};
use crate::model::{FileEdit, LanguageId, Missing, MissingCode, State};

/// What the threads of the Rust engine tell the writer.
pub(super) enum RustNews {
    Loaded(Box<Step>),
    Primed(Ended),
    Indexed(Ended),
    Second(Box<Made>),
}

/// The lives of one engine, one after the other.
#[derive(Default)]
pub(super) struct Lives {
    retries: Retries,
    /// Each life has its number, so that what an earlier one has begun is told apart.
    number: u32,
    /// The texts that the engine has.
    pub(super) fed: Arc<Files>,
    /// What the status says while there is no engine where there was one.
    down: Option<channel::Receiver<EngineStatus>>,
}

impl Lives {
    /// Notes that the engine panicked.
    fn fell(&mut self, language: LanguageId, panic: &(dyn std::any::Any + Send)) {
        let name = if language == rust::LANGUAGE { rust::ENGINE } else { go::ENGINE };
        let pause = self.retries.failed();
        tracing::error!(engine = name, panic = panic_message(panic), ?pause, "an engine panicked and is made anew");
        let detail = format!("{name} met a fault, which is in the log, and is being made anew: ask again");
        let status = EngineStatus {
            name: name.to_owned(),
            language,
            version: None,
            state: State::Degraded,
            progress: None,
            pid: None,
            memory_bytes: None,
            restarts: self.number,
            warm: false,
            missing: vec![Missing::new(MissingCode::EngineRestarting, language.name, detail)],
        };
        self.down = Some(channel::channel(status).1);
    }

    /// That of the life which is, or comes.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Why there is no engine, though there was one.
    pub(super) fn lack(&self) -> Option<Missing> {
        self.down.as_ref().and_then(|it| it.borrow().missing.first().cloned())
    }

    pub(super) fn down_status(&self) -> Option<channel::Receiver<EngineStatus>> {
        self.down.clone()
    }
}

impl Writer {
    /// Engines start when the first file of their language is there, and again where one panicked.
    pub(super) fn start_engines(&mut self) {
        if self.rust.is_none() && self.rust_lives.retries.is_due() && has(&self.files, rust::LANGUAGE, "Cargo.toml") {
            self.start_rust();
        }
        if self.go.is_none() && self.go_lives.retries.is_due() && has(&self.files, go::LANGUAGE, "go.mod") {
            let config = GoConfig {
                root: self.root.clone(),
                trusted: self.trusted,
                cache_dir: self.config.cache_dir.clone(),
                runtime: self.runtime.clone(),
                memory_limit: self.settings.go_memory_limit,
            };
            self.go = Some(Go::start(config, self.files.clone()));
            self.go_lives.fed = self.files.clone();
            self.go_lives.down = None;
        }
    }

    fn start_rust(&mut self) {
        let (features, all_features) = match &self.settings.rust.features {
            Features::Default => (Vec::new(), false),
            Features::All => (Vec::new(), true),
            Features::Named(features) => (features.clone(), false),
        };
        let config = RustConfig {
            root: self.root.clone(),
            trusted: self.trusted,
            target_dir: Workspaces::target_dir(&self.config, &self.root),
            features,
            all_features,
            build_scripts: self.settings.rust.build_scripts,
            proc_macros: self.settings.rust.proc_macros,
            second_database: self.settings.rust.second_database,
            limits: Limits::default(),
        };
        let files = self.files.clone();
        match catch_unwind(AssertUnwindSafe(|| Rust::new(config, &files, self.rust_lives.number))) {
            Ok(Some(engine)) => {
                self.rust = Some(Box::new(engine));
                self.rust_lives.fed = files;
                self.rust_lives.down = None;
                (self.is_priming, self.is_indexing) = (false, false);
                self.reload_rust();
            }
            Ok(None) => {
                let detail = "the path of the workspace is not UTF-8, which rust-analyzer needs: move it";
                let missing = Missing::new(MissingCode::WorkspaceBroken, "rust", detail);
                if !self.missing.contains(&missing) {
                    self.missing.push(missing);
                }
            }
            Err(panic) => {
                self.rust_lives.number += 1;
                self.rust_lives.fell(rust::LANGUAGE, &*panic);
            }
        }
    }

    /// Those that panicked are tried again.
    pub(super) fn revive_engines(&mut self) {
        let is_due = |is_there: bool, lives: &Lives| !is_there && lives.down.is_some() && lives.retries.is_due();
        if is_due(self.rust.is_some(), &self.rust_lives) || is_due(self.go.is_some(), &self.go_lives) {
            self.start_engines();
            self.publish();
        }
        if self.rust.as_ref().is_some_and(|it| it.needs_reload()) {
            self.reload_rust();
            self.publish();
        }
    }

    /// Has the Rust engine do something. A panic costs the engine, which is made anew. `None` where there is none, or
    /// none any more.
    pub(super) fn with_rust<T>(&mut self, work: impl FnOnce(&mut Rust) -> T) -> Option<T> {
        let mut engine = self.rust.take()?;
        match catch_unwind(AssertUnwindSafe(|| work(&mut engine))) {
            Ok(value) => {
                self.rust = Some(engine);
                Some(value)
            }
            Err(panic) => {
                self.rust = Some(engine);
                self.discard_rust();
                self.rust_lives.fell(rust::LANGUAGE, &*panic);
                self.publish();
                None
            }
        }
    }

    /// Throws the Rust engine away.
    pub(super) fn discard_rust(&mut self) {
        let Some(engine) = self.rust.take() else { return };
        // Its database may take a while to go, or panic over it.
        let thread = std::thread::Builder::new().name("rust-discard".to_owned());
        let _ = thread.spawn(move || drop(catch_unwind(AssertUnwindSafe(|| drop(engine)))));
        self.rust_lives.number += 1;
        (self.is_priming, self.is_indexing) = (false, false);
    }

    pub(super) fn reload_rust(&mut self) {
        let (inbox, files, life) = (self.inbox.clone(), self.files.clone(), self.rust_lives.number);
        // The loader may wait for its turn: it is no request that could be told to come back.
        let deliver = move |step| drop(inbox.send(Event::Rust(life, RustNews::Loaded(Box::new(step)))));
        self.with_rust(|it| it.reload(&files, deliver));
    }

    /// What a thread of the Rust engine tells; one of an earlier engine speaks of what is gone.
    pub(super) fn hear_of_rust(&mut self, life: u32, news: RustNews) {
        if life != self.rust_lives.number {
            return;
        }
        match news {
            RustNews::Loaded(step) => self.adopt(*step),
            RustNews::Primed(ended) => {
                self.is_priming = false;
                self.has_garbage |= ended == Ended::Finished;
                self.with_rust(|it| it.set_primed(ended));
            }
            RustNews::Indexed(ended) => {
                self.is_indexing = false;
                let is_full = self.with_rust(|it| {
                    it.set_indexed(ended);
                    ended == Ended::Finished && !it.evict()
                });
                self.is_full = is_full.unwrap_or_default();
            }
            RustNews::Second(made) => {
                self.has_garbage = true;
                self.with_rust(|it| it.adopt_second(*made));
            }
        }
    }

    fn adopt(&mut self, step: Step) {
        let Some(Adopted::Step { roots, sources }) = self.with_rust(|it| it.adopt(step)) else { return self.publish() };
        self.watch_path_dependencies(roots, sources);
        if self.rust.as_ref().is_some_and(|it| it.is_outdated()) {
            self.reload_rust();
        }
        self.is_priming = false;
        self.publish();
    }

    /// Tells the engines of new contents; the texts are those of the revision already.
    pub(super) fn feed_engines(&mut self, edits: &[FileEdit]) {
        self.with_rust(|it| it.apply(&texts(edits)));
        self.rust_lives.fed = self.files.clone();
        self.feed_go(edits);
    }

    fn feed_go(&mut self, edits: &[FileEdit]) {
        let Some(go) = self.go.take() else { return };
        let (files, changes) = (self.files.clone(), edits.iter().map(go_change).collect::<Vec<_>>());
        let feed = || {
            fault::point("go.feed");
            go.feed(files, &changes);
        };
        match catch_unwind(AssertUnwindSafe(feed)) {
            Ok(()) => {
                self.go = Some(go);
                self.go_lives.fed = self.files.clone();
            }
            Err(panic) => {
                self.go_lives.number += 1;
                self.go_lives.fell(go::LANGUAGE, &*panic);
                self.runtime.spawn(async move { go.shutdown().await });
            }
        }
    }

    /// Brings engines to the texts that missed something when the writer panicked.
    pub(super) fn bring_engines_in_step(&mut self) {
        let edits = difference(&self.rust_lives.fed, &self.files);
        if !edits.is_empty() {
            self.with_rust(|it| it.apply(&texts(&edits)));
        }
        self.rust_lives.fed = self.files.clone();
        let edits = difference(&self.go_lives.fed, &self.files);
        if !edits.is_empty() {
            self.feed_go(&edits);
        }
    }
}

fn has(files: &Files, language: LanguageId, manifest: &str) -> bool {
    let is_manifest = |it: &Arc<File>| *it.path == *manifest || it.path.ends_with(&format!("/{manifest}"));
    files.of(language).next().is_some() || files.iter().any(is_manifest)
}

/// What leads from these texts to those.
pub(super) fn difference(before: &Files, after: &Files) -> Vec<FileEdit> {
    let text = |files: &Files, name: &str| files.get(name).map(|it| it.text.clone());
    let edit = |name: &str| FileEdit { file: name.to_owned(), old: text(before, name), new: text(after, name) };
    let gone = before.iter().filter(|it| after.get(&it.path).is_none());
    let changed = after.iter().filter(|it| before.get(&it.path).is_none_or(|old| old.hash != it.hash));
    gone.chain(changed).map(|it| edit(&it.path)).collect()
}

fn go_change(edit: &FileEdit) -> FileChange {
    let kind = match (&edit.old, &edit.new) {
        (None, _) => FileChangeKind::Created,
        (_, None) => FileChangeKind::Deleted,
        _ => FileChangeKind::Changed,
    };
    FileChange { path: edit.file.clone(), kind }
}
