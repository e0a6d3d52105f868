//! The engines of a workspace: for each kind in the registry the running engine, its failures, and its external
//! modules.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::watch as channel;

use crate::external_inputs::ExternalModules;
use semdex_engine::files::Files;
use semdex_engine::{Backoff, Condition, Engine, EngineKind, EngineStatus, Handle, Registry, Setup, panic_message};
use semdex_model::{LanguageId, Missing, MissingCode, State};

/// The engines, in the order of the registry.
pub(super) struct Engines {
    registry: Registry,
    slots: Vec<Slot>,
    runtime: tokio::runtime::Handle,
}

/// One kind of engine in the registry, and its engine.
pub(super) struct Slot {
    pub(super) kind: Arc<dyn EngineKind>,
    /// `None` until there is code for it, and after a panic until it is started again.
    pub(super) engine: Option<Box<dyn Engine>>,
    pub(super) lives: Lives,
    pub(super) external_modules: ExternalModules,
}

/// The lives of one engine: it panics, and is started again.
#[derive(Default)]
pub(super) struct Lives {
    pub(super) backoff: Backoff,
    pub(super) failed: u32,
    /// The texts that the engine has.
    pub(super) fed: Arc<Files>,
    /// The status that is reported after a panic, until the engine is started again.
    pub(super) down: Option<channel::Receiver<EngineStatus>>,
}

/// What readers know of an engine.
#[derive(Clone)]
pub(super) struct Seen {
    /// `None` if no engine is running.
    pub(super) handle: Option<Handle>,
    /// The status that is reported after a panic.
    pub(super) down: Option<channel::Receiver<EngineStatus>>,
}

/// An engine panicked and was discarded.
pub(super) struct EnginePanicked;

impl Engines {
    /// None is running yet.
    pub(super) fn new(registry: Registry, runtime: tokio::runtime::Handle) -> Engines {
        let slots = registry.kinds().iter().cloned().map(Slot::new).collect();
        Engines { registry, slots, runtime }
    }

    /// The registry that lists them.
    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The runtime on which engines start tasks.
    pub(super) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.runtime
    }

    /// The number of slots. Positions are the same as in the registry.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// All slots, in the order of the registry.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// The slot at a position of the registry.
    pub(super) fn slot(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    /// The slot at a position of the registry, to change.
    pub(super) fn slot_mut(&mut self, at: usize) -> &mut Slot {
        &mut self.slots[at]
    }

    /// The slot of a language.
    pub(super) fn slot_of(&self, language: LanguageId) -> Option<&Slot> {
        self.slots.get(self.registry.position(language)?)
    }

    /// The engines that are running.
    pub(super) fn running(&self) -> impl Iterator<Item = &dyn Engine> {
        self.slots.iter().filter_map(|it| it.engine.as_deref())
    }

    /// The languages of all engines.
    pub(super) fn languages(&self) -> Vec<LanguageId> {
        self.slots.iter().flat_map(|it| it.kind.languages()).copied().collect()
    }

    /// Starts an engine. `Some` where it could not: what the workspace misses without it.
    pub(super) fn start(&mut self, at: usize, setup: Setup) -> Option<Missing> {
        let slot = &mut self.slots[at];
        let files = setup.files.clone();
        match catch_unwind(AssertUnwindSafe(|| slot.kind.start(setup))) {
            Ok(Ok(engine)) => {
                slot.engine = Some(engine);
                slot.lives.fed = files;
                slot.lives.down = None;
                None
            }
            Ok(Err(missing)) => Some(missing),
            Err(panic) => {
                slot.lives.note_panic(&*slot.kind, &*panic);
                None
            }
        }
    }

    /// Calls an engine. An engine that panics is discarded and started again later. `None` if it is not running.
    pub(super) fn call<T>(
        &mut self,
        at: usize,
        work: impl FnOnce(&mut dyn Engine) -> T,
    ) -> Result<Option<T>, EnginePanicked> {
        let slot = &mut self.slots[at];
        let Some(engine) = slot.engine.as_mut() else { return Ok(None) };
        match catch_unwind(AssertUnwindSafe(|| work(&mut **engine))) {
            Ok(value) => Ok(Some(value)),
            Err(panic) => {
                self.discard(at);
                let slot = &mut self.slots[at];
                slot.lives.note_panic(&*slot.kind, &*panic);
                Err(EnginePanicked)
            }
        }
    }

    /// Ends an engine and forgets it.
    pub(super) fn discard(&mut self, at: usize) {
        let engine = self.slots[at].engine.take();
        self.end(engine);
    }

    /// Goes on with the engines of another registry. Those that both list keep running.
    pub(super) fn set_registry(&mut self, registry: Registry) {
        let slots = registry.kinds().iter().cloned().map(Slot::new).collect();
        let before = std::mem::replace(&mut self.slots, slots);
        for slot in before {
            let now = self.slots.iter_mut().find(|it| it.kind.languages().first() == slot.kind.languages().first());
            match now {
                Some(now) => *now = Slot { kind: now.kind.clone(), ..slot },
                None => self.end(slot.engine),
            }
        }
        self.registry = registry;
    }

    /// A new watcher watches no external module.
    pub(super) fn forget_watches(&mut self) {
        self.slots.iter_mut().for_each(|it| it.external_modules.forget_watches());
    }

    fn end(&self, engine: Option<Box<dyn Engine>>) {
        let Some(engine) = engine else { return };
        match catch_unwind(AssertUnwindSafe(|| engine.close())) {
            Ok(closing) => drop(self.runtime.spawn(closing)),
            Err(panic) => tracing::error!(panic = panic_message(&*panic), "an engine panicked while it was closed"),
        }
    }
}

impl Slot {
    fn new(kind: Arc<dyn EngineKind>) -> Slot {
        Slot { kind, engine: None, lives: Lives::default(), external_modules: ExternalModules::default() }
    }

    /// Why there is no engine although there was one. `None` if it did not panic.
    pub(super) fn missing(&self) -> Option<Missing> {
        self.lives.down.as_ref().and_then(|it| it.borrow().missing.first().cloned())
    }

    /// What readers may know of the engine.
    pub(super) fn seen(&self) -> Seen {
        let down = self.lives.down.clone().filter(|_| self.engine.is_none());
        Seen { handle: self.engine.as_ref().map(|it| it.handle()), down }
    }

    /// The languages that there is code of, the first one always among them. `None` for an engine of one language.
    pub(super) fn present(&self, files: &Files) -> Option<Vec<LanguageId>> {
        let languages = Some(self.kind.languages()).filter(|it| self.engine.is_some() && it.len() > 1)?;
        let (main, _) = languages.split_first()?;
        let has = |it: &&LanguageId| files.of(**it).next().is_some();
        Some(std::iter::once(*main).chain(languages.iter().filter(has).copied()).collect())
    }

    /// Whether the engine is to be started.
    pub(super) fn is_to_start(&self, files: &Files) -> bool {
        self.engine.is_none() && self.lives.backoff.is_due() && self.kind.is_needed(files)
    }

    /// Whether the engine panicked and is to be started again.
    pub(super) fn is_to_restart(&self) -> bool {
        self.engine.is_none() && self.lives.down.is_some() && self.lives.backoff.is_due()
    }
}

impl Lives {
    /// Notes that the engine panicked.
    fn note_panic(&mut self, kind: &dyn EngineKind, panic: &(dyn std::any::Any + Send)) {
        let Some(&language) = kind.languages().first() else { return };
        let name = kind.name();
        self.failed += 1;
        let pause = self.backoff.failed();
        tracing::error!(engine = name, panic = panic_message(panic), ?pause, "an engine panicked and is started again");
        let detail = format!("{name} met a fault, which is in the log, and is being started again: ask again");
        let status = EngineStatus {
            condition: Condition::Broken,
            restarts: self.failed,
            missing: vec![Missing::new(MissingCode::EngineRestarting, language.name, detail)],
            ..EngineStatus::new(name, language, State::Degraded)
        };
        self.down = Some(channel::channel(status).1);
    }
}

impl Seen {
    /// The engine's status. `None` if it was never started.
    pub(super) fn status(&self) -> Option<EngineStatus> {
        let status = self.handle.as_ref().map(|it| &it.status).or(self.down.as_ref())?;
        Some(status.borrow().clone())
    }
}
