//! What the writer tells all readers without being asked.

use std::sync::Arc;

use super::overlays::Overlays;
use super::settings_files::SettingsFiles;
use super::slots::Seen;
use semdex_engine::Registry;
use semdex_model::{LanguageId, Missing, Revision};

/// How the writer is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The text of the workspace is being read.
    Starting,
    Up,
    /// It panicked.
    Rebuilding,
    Closed,
}

/// What the writer tells without being asked.
#[derive(Clone)]
pub(super) struct Published {
    pub(super) registry: Registry,
    pub(super) settings_files: SettingsFiles,
    pub(super) revision: Revision,
    /// Whether code of the workspace may run.
    pub(super) trusted: bool,
    pub(super) phase: Phase,
    /// As the registry lists them.
    pub(super) engines: Vec<Seen>,
    /// Of the engines of several languages those that there is code of.
    pub(super) present: Vec<Vec<LanguageId>>,
    pub(super) overlays: Arc<Overlays>,
    pub(super) missing: Vec<Missing>,
}
