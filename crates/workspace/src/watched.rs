//! The baseline, the statistics and the thresholds of the gate, for clients that watch the diagnostics of a workspace.

use super::handle::Workspace;
use super::journal::{self, Baseline};
use super::recent::Recent;
use super::statistics::Statistics;
use semdex_config::Gate;
use semdex_model::{Code, Error, Result};

impl Workspace {
    /// The path of a link, if the name is a link. Git treats a link as a file of its own.
    pub fn link(&self, name: &str) -> Result<Option<String>> {
        self.inner.disk.link(name)
    }

    /// The thresholds of the gate from the current files. Reads the files: may block.
    pub fn gate(&self) -> Result<Gate> {
        let config = &self.inner.config;
        config.gate(&self.inner.root).map_err(|error| Error::new(Code::InvalidRequest, error.to_string()))
    }

    /// What files contained before others changed them.
    pub fn recent(&self) -> &Recent {
        &self.inner.recent
    }

    /// The statistics of edits and diagnostics.
    pub fn statistics(&self) -> &Statistics {
        &self.inner.statistics
    }

    /// Keeps a baseline and returns its id.
    pub async fn keep_baseline(&self, baseline: Baseline) -> Result<String> {
        let id = ulid::Ulid::generate().to_string();
        let workspace = journal::key(&self.inner.root);
        let baseline = Baseline { id: id.clone(), workspace, made_at: journal::now(), ..baseline };
        self.inner.journal.keep_baseline(baseline).await?;
        Ok(id)
    }

    /// The baseline that was kept. `None` if there is none.
    pub async fn baseline(&self) -> Result<Option<Baseline>> {
        self.inner.journal.baseline(journal::key(&self.inner.root)).await
    }
}
