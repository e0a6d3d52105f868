//! The list of engines of a server. It names none of them: the program says which there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use semdex_config::LanguageKeys;
use semdex_model::{LanguageId, Languages};

use crate::engine::EngineKind;

/// The engines that a configuration describes, without those of the given languages, which have an engine already.
pub(crate) type ConfiguredKinds = fn(&BTreeMap<String, LanguageKeys>, &[LanguageId]) -> Vec<Arc<dyn EngineKind>>;

/// The engines of a server, in the order in which their languages are listed: the built-in ones, then those that the
/// configuration describes. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    /// Independent of the configuration.
    own: Arc<[Arc<dyn EngineKind>]>,
    configured_kinds: ConfiguredKinds,
    kinds: Arc<[Arc<dyn EngineKind>]>,
    languages: Languages,
}

impl Registry {
    /// These engines, followed by the configured ones at their defaults.
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

    /// The same engines as a workspace configures them.
    pub fn configured(&self, keys: &BTreeMap<String, LanguageKeys>) -> Registry {
        Registry::of(self.own.clone(), self.configured_kinds, keys)
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
