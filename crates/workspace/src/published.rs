//! The state that the writer publishes: readers have it without asking the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch as channel;

use crate::busy::Busy;
use crate::engines::Seen;
use crate::overlays::Overlays;
use crate::settings_files::SettingsFiles;
use semdex_engine::Registry;
use semdex_model::{LanguageId, Missing, Revision};

/// What the writer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It reads the workspace's files.
    Starting,
    /// It handles requests.
    Up,
    /// It panicked, and rebuilds its state.
    Rebuilding,
    /// The workspace is closed.
    Closed,
}

/// The published state.
#[derive(Clone)]
pub(super) struct Published {
    pub(super) registry: Registry,
    pub(super) settings_files: SettingsFiles,
    pub(super) revision: Revision,
    /// Whether code of the workspace may run.
    pub(super) trusted: bool,
    pub(super) phase: Phase,
    /// In the order of the registry.
    pub(super) engines: Vec<Seen>,
    /// For each engine of several languages those that there is code of.
    pub(super) present: Vec<Vec<LanguageId>>,
    pub(super) overlays: Arc<Overlays>,
    pub(super) missing: Vec<Missing>,
}

/// The writer's end of what others know of it.
pub(super) struct Publication {
    state: channel::Sender<Published>,
    busy: Arc<Busy>,
    /// The workspace was closed.
    closing: Arc<AtomicBool>,
}

impl Publication {
    /// Publishes this state first.
    pub(super) fn new(first: Published) -> Publication {
        Publication { state: channel::channel(first).0, busy: Arc::default(), closing: Arc::default() }
    }

    /// The state, for readers.
    pub(super) fn subscribe(&self) -> channel::Receiver<Published> {
        self.state.subscribe()
    }

    /// How long the writer has handled its event, for readers.
    pub(super) fn busy(&self) -> &Arc<Busy> {
        &self.busy
    }

    /// Set by others when the workspace is closed.
    pub(super) fn closing(&self) -> &Arc<AtomicBool> {
        &self.closing
    }

    /// Whether the workspace was closed.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Publishes another phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.state.send_modify(|it| it.phase = phase);
    }

    /// Publishes a changed state.
    pub(super) fn update(&self, change: impl FnOnce(&mut Published)) {
        self.state.send_modify(change);
    }
}

/// What the status of a workspace reports as missing.
#[derive(Default)]
pub(super) struct MissingList(Vec<Missing>);

impl MissingList {
    /// All that is missing.
    pub(super) fn all(&self) -> &Vec<Missing> {
        &self.0
    }

    /// Adds one, unless it is listed.
    pub(super) fn add(&mut self, missing: Missing) {
        if !self.0.contains(&missing) {
            self.0.push(missing);
        }
    }

    /// Adds one.
    pub(super) fn push(&mut self, missing: Missing) {
        self.0.push(missing);
    }

    /// Replaces what is listed under a scope.
    pub(super) fn replace(&mut self, scope: &str, missing: impl IntoIterator<Item = Missing>) {
        self.0.retain(|it| it.scope.as_deref() != Some(scope));
        self.0.extend(missing);
    }
}
