//! What the writer has of each engine of the registry: the engine, how often it fell, and what it reads outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch as channel;

use semdex_engine::files::Files;
use semdex_engine::{Backoff, Condition, Engine, EngineKind, EngineStatus, Handle, panic_message};
use semdex_model::{LanguageId, Missing, MissingCode, State};

/// One engine of the registry, with all that the writer has of it.
pub(super) struct Slot {
    pub(super) kind: Arc<dyn EngineKind>,
    pub(super) engine: Option<Box<dyn Engine>>,
    pub(super) lives: Lives,
    pub(super) outside: OutsideModules,
}

/// The lives of one engine, one after the other.
#[derive(Default)]
pub(super) struct Lives {
    pub(super) retries: Backoff,
    pub(super) failed: u32,
    /// The texts that the engine has.
    pub(super) fed: Arc<Files>,
    /// What the status says while there is no engine where there was one.
    pub(super) down: Option<channel::Receiver<EngineStatus>>,
}

/// What readers know of an engine.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) handle: Option<Handle>,
    /// The status that is reported while there is none.
    pub(super) down: Option<channel::Receiver<EngineStatus>>,
}

impl Seen {
    pub(super) fn status(&self) -> Option<EngineStatus> {
        let status = self.handle.as_ref().map(|it| &it.status).or(self.down.as_ref())?;
        Some(status.borrow().clone())
    }
}

impl Lives {
    /// Notes that the engine panicked.
    pub(super) fn fell(&mut self, kind: &dyn EngineKind, panic: &(dyn std::any::Any + Send)) {
        let Some(&language) = kind.languages().first() else { return };
        let name = kind.name();
        self.failed += 1;
        let pause = self.retries.failed();
        tracing::error!(engine = name, panic = panic_message(panic), ?pause, "an engine panicked and is made anew");
        let detail = format!("{name} met a fault, which is in the log, and is being made anew: ask again");
        let status = EngineStatus {
            condition: Condition::Broken,
            restarts: self.failed,
            missing: vec![Missing::new(MissingCode::EngineRestarting, language.name, detail)],
            ..EngineStatus::new(name, language, State::Degraded)
        };
        self.down = Some(channel::channel(status).1);
    }

    /// Why there is no engine, though there was one.
    fn lack(&self) -> Option<Missing> {
        self.down.as_ref().and_then(|it| it.borrow().missing.first().cloned())
    }
}

impl Slot {
    pub(super) fn new(kind: Arc<dyn EngineKind>) -> Slot {
        Slot { kind, engine: None, lives: Lives::default(), outside: OutsideModules::default() }
    }

    /// Why there is no engine, though there was one.
    pub(super) fn lack(&self) -> Option<Missing> {
        self.lives.lack()
    }

    pub(super) fn seen(&self) -> Seen {
        let down = self.lives.down.clone().filter(|_| self.engine.is_none());
        Seen { handle: self.engine.as_ref().map(|it| it.handle()), down }
    }

    /// Of an engine of several languages those that there is code of.
    pub(super) fn present(&self, files: &Files) -> Option<Vec<LanguageId>> {
        let languages = Some(self.kind.languages()).filter(|it| self.engine.is_some() && it.len() > 1)?;
        let (main, _) = languages.split_first()?;
        let has = |it: &&LanguageId| files.of(**it).next().is_some();
        Some(std::iter::once(*main).chain(languages.iter().filter(has).copied()).collect())
    }

    pub(super) fn is_to_revive(&self) -> bool {
        self.engine.is_none() && self.lives.down.is_some() && self.lives.retries.is_due()
    }
}

/// What one file held; none where it cannot be read.
pub(super) type Content = Option<blake3::Hash>;

/// What one engine reads of modules outside.
#[derive(Default)]
pub(super) struct OutsideModules {
    /// Directories of modules, and whether each is watched: one that is not there yet is looked for.
    pub(super) roots: BTreeMap<PathBuf, bool>,
    pub(super) known: BTreeMap<PathBuf, Content>,
}

impl OutsideModules {
    /// There is a new watcher, which watches none of them yet.
    pub(super) fn forget_watches(&mut self) {
        self.roots.values_mut().for_each(|is_watched| *is_watched = false);
    }

    pub(super) fn holds(&self, path: &Path) -> bool {
        self.root_of(path).is_some()
    }

    pub(super) fn root_of(&self, path: &Path) -> Option<&PathBuf> {
        self.roots.keys().find(|it| path.starts_with(it))
    }
}
