//! The list of a server's engines. The program supplies them; this module names none.

use std::collections::BTreeMap;
use std::sync::Arc;

use semdex_config::LanguageKeys;
use semdex_model::{LanguageId, Languages};

use crate::engine::EngineKind;

/// The engines that a configuration describes, except engines of the given languages, which have one already.
pub(crate) type ConfiguredKinds = fn(&BTreeMap<String, LanguageKeys>, &[LanguageId]) -> Vec<Arc<dyn EngineKind>>;

/// The engines of a server, in the order of their languages: built-in engines first, then configured ones. Cheap to
/// clone.
#[derive(Clone)]
pub struct Registry {
    /// The built-in engines. They do not depend on the configuration.
    own: Arc<[Arc<dyn EngineKind>]>,
    configured_kinds: ConfiguredKinds,
    kinds: Arc<[Arc<dyn EngineKind>]>,
    languages: Languages,
}

impl Registry {
    /// These engines, and the configured ones with their defaults.
    pub fn new(own: Vec<Arc<dyn EngineKind>>, configured_kinds: ConfiguredKinds) -> Registry {
        Registry::of(own.into(), configured_kinds, &BTreeMap::new())
    }

    fn of(
        own: Arc<[Arc<dyn EngineKind>]>,
        configured_kinds: ConfiguredKinds,
        keys: &BTreeMap<String, LanguageKeys>,
    ) -> Registry {
        let taken: Vec<LanguageId> = own.iter().flat_map(|it| it.languages().iter().copied()).collect();
        let kinds: Vec<Arc<dyn EngineKind>> = own.iter().cloned().chain(configured_kinds(keys, &taken)).collect();
        let languages = Languages::new(kinds.iter().flat_map(|it| it.languages().iter().copied()));
        Registry { own, configured_kinds, kinds: kinds.into(), languages }
    }

    /// The same engines and one more.
    pub fn with(&self, kind: Arc<dyn EngineKind>) -> Registry {
        Registry::new(self.own.iter().cloned().chain([kind]).collect(), self.configured_kinds)
    }

    /// The same built-in engines, and the engines that a workspace configures.
    pub fn configured(&self, keys: &BTreeMap<String, LanguageKeys>) -> Registry {
        Registry::of(self.own.clone(), self.configured_kinds, keys)
    }

    /// All languages that an engine can analyse, in the order of the engines.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// All engines. Positions in this list identify them.
    pub fn kinds(&self) -> &[Arc<dyn EngineKind>] {
        &self.kinds
    }

    /// The position of a language's engine. `None` if no engine analyses the language.
    pub fn position(&self, language: LanguageId) -> Option<usize> {
        self.kinds.iter().position(|it| it.languages().contains(&language))
    }

    /// The engine of a language. `None` if no engine analyses it.
    pub fn kind_of(&self, language: LanguageId) -> Option<Arc<dyn EngineKind>> {
        self.position(language).and_then(|it| self.kinds.get(it)).cloned()
    }
}
