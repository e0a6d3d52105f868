//! What the settings of a workspace decide for a request: the languages, and the engines that analyse them.

use std::sync::Arc;

use super::handle::Workspace;
use super::snapshot::Needs;
use semdex_config::Settings;
use semdex_engine::files::File;
use semdex_engine::{EngineStatus, Registry};
use semdex_model::{LanguageId, Languages};

impl Workspace {
    /// To be called before a question: which languages there are is decided by the file, which may have changed.
    pub async fn follow_settings(&self) {
        let is_out_of_date = self.inner.published.borrow().settings_files.is_out_of_date();
        if is_out_of_date {
            // The next request reports what goes wrong here.
            drop(self.snapshot(Needs::texts()).await);
        }
    }

    /// What counts here now, as far as trust does not decide it.
    pub(super) fn settings(&self) -> Settings {
        let config = &self.inner.config;
        config.settings(self.root(), true).unwrap_or_else(|_| config.settings_in_part(self.root(), true))
    }

    /// Whom commits name beside their author.
    pub fn co_author(&self) -> Option<String> {
        self.settings().co_author
    }

    /// The engines that there can be, started or not.
    pub fn registry(&self) -> Registry {
        self.inner.published.borrow().registry.clone()
    }

    /// Those that are analysed here.
    pub fn languages(&self) -> Languages {
        self.registry().languages().clone()
    }

    /// The language of a file, by its name alone. None where no engine analyses it.
    pub fn language_of(&self, file: &str) -> Option<LanguageId> {
        self.inner.published.borrow().registry.languages().of(file)
    }

    /// Whether an engine analyses a language.
    pub fn serves(&self, engine: &EngineStatus, language: LanguageId) -> bool {
        let registry = self.registry();
        registry.position(engine.language) == registry.position(language)
    }

    /// A text as a file of this workspace.
    pub fn file(&self, path: &str, text: impl Into<Arc<str>>) -> File {
        File::new(self.language_of(path), path, text)
    }
}
