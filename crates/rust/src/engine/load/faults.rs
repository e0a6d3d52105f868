//! Failures of a load's results after the load has ended: macros that hung. Answers are incomplete from then on.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use semdex_engine::EngineStatus;
use semdex_model::{Missing, MissingCode};

/// The most failures that are listed one by one.
const MOST: usize = 16;

/// Shared by the macros of one load and all views of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    noted: Arc<Mutex<Vec<Missing>>>,
    status: Option<watch::Sender<EngineStatus>>,
}

impl Faults {
    pub(crate) fn new(status: watch::Sender<EngineStatus>) -> Faults {
        Faults { noted: Arc::default(), status: Some(status) }
    }

    /// Each failure is recorded once.
    pub(super) fn note(&self, detail: &str) {
        let missing = Missing::new(MissingCode::ProcMacros, "rust", detail);
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < MOST && !noted.contains(&missing) {
            noted.push(missing.clone());
            drop(noted);
            if let Some(status) = &self.status {
                status.send_modify(|it| it.missing.push(missing));
            }
        }
    }

    pub(crate) fn list(&self) -> Vec<Missing> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
