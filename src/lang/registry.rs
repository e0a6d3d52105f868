//! Which engines there are: the one place besides their own rooms that names them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::EngineKind;
use super::{go, lsp, rust};
use crate::config::LanguageKeys;
use crate::model::{LanguageId, Languages};

/// The engines of a server, in the order in which their languages are listed: its own, then the language servers of the
/// table. Cheap to copy.
#[derive(Clone)]
pub struct Registry {
    /// Those that no configuration changes.
    own: Arc<[Arc<dyn EngineKind>]>,
    kinds: Arc<[Arc<dyn EngineKind>]>,
    languages: Languages,
}

impl Default for Registry {
    /// Those that are built in.
    fn default() -> Registry {
        Registry::new(vec![Arc::new(rust::RustKind), Arc::new(go::GoKind)])
    }
}

impl Registry {
    /// These, and the language servers of the table.
    pub fn new(own: Vec<Arc<dyn EngineKind>>) -> Registry {
        Registry::of(own.into(), &BTreeMap::new())
    }

    fn of(own: Arc<[Arc<dyn EngineKind>]>, configured: &BTreeMap<String, LanguageKeys>) -> Registry {
        let taken: Vec<LanguageId> = own.iter().flat_map(|it| it.languages().iter().copied()).collect();
        let kinds: Vec<Arc<dyn EngineKind>> = own.iter().cloned().chain(lsp::kinds(configured, &taken)).collect();
        let languages = Languages::new(kinds.iter().flat_map(|it| it.languages().iter().copied()));
        Registry { own, kinds: kinds.into(), languages }
    }

    /// These, and one more.
    pub fn with(&self, kind: Arc<dyn EngineKind>) -> Registry {
        Registry::new(self.own.iter().cloned().chain([kind]).collect())
    }

    /// The same engines, with the language servers as a workspace has them.
    pub fn configured(&self, languages: &BTreeMap<String, LanguageKeys>) -> Registry {
        Registry::of(self.own.clone(), languages)
    }

    /// All languages that an engine can analyse, in the order in which they are listed.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// The engines that there can be; positions in this list identify them.
    pub fn kinds(&self) -> &[Arc<dyn EngineKind>] {
        &self.kinds
    }

    /// The engine of a language, as its position.
    pub fn position(&self, language: LanguageId) -> Option<usize> {
        self.kinds.iter().position(|it| it.languages().contains(&language))
    }

    /// The engine of a language. None where no engine analyses it.
    pub fn kind_of(&self, language: LanguageId) -> Option<Arc<dyn EngineKind>> {
        self.position(language).and_then(|it| self.kinds.get(it)).cloned()
    }
}
