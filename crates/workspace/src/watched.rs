//! What a workspace has for those who watch its diagnostics: the gate's thresholds, the baseline, the statistics.

use super::handle::Workspace;
use super::journal::{self, Baseline};
use super::recent::Recent;
use super::statistics::Statistics;
use semdex_config::Gate;
use semdex_model::{Code, Error, Result};

impl Workspace {
    /// What the workspace calls a link, where a name is that of one. To git it is a file of its own.
    pub fn link(&self, name: &str) -> Result<Option<String>> {
        self.inner.disk.link(name)
    }

    /// The thresholds of the gate as the files have them at this moment. Reads them: may block.
    pub fn gate(&self) -> Result<Gate> {
        let config = &self.inner.config;
        config
            .gate(&self.inner.root)
            .map_err(|error| Error::new(Code::InvalidRequest, format!("the configuration: {error}")))
    }

    /// What files held before others changed them.
    pub fn recent(&self) -> &Recent {
        &self.inner.recent
    }

    /// What hooks reported of edits, and the diagnostics that files had then.
    pub fn statistics(&self) -> &Statistics {
        &self.inner.statistics
    }

    /// Keeps a baseline, and answers with its name.
    pub async fn keep_baseline(&self, baseline: Baseline) -> Result<String> {
        let id = ulid::Ulid::generate().to_string();
        let workspace = journal::key(&self.inner.root);
        let baseline = Baseline { id: id.clone(), workspace, made_at: journal::now(), ..baseline };
        self.inner.journal.keep_baseline(baseline).await?;
        Ok(id)
    }

    /// The one that was kept, if any was.
    pub async fn baseline(&self) -> Result<Option<Baseline>> {
        self.inner.journal.baseline(journal::key(&self.inner.root)).await
    }
}
