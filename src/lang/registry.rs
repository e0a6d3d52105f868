//! Which engines there are: the one place besides their own rooms that names them.

use std::sync::Arc;

use super::engine::EngineKind;
use super::{go, rust};
use crate::model::{LanguageId, Languages};

/// The engines of a server, in the order in which their languages are listed. Cheap to copy.
#[derive(Clone)]
pub struct Registry {
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
    pub fn new(kinds: Vec<Arc<dyn EngineKind>>) -> Registry {
        let languages = Languages::new(kinds.iter().flat_map(|it| it.languages().iter().copied()));
        Registry { kinds: kinds.into(), languages }
    }

    /// These, and one more.
    pub fn with(&self, kind: Arc<dyn EngineKind>) -> Registry {
        Registry::new(self.kinds.iter().cloned().chain([kind]).collect())
    }

    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    pub fn kinds(&self) -> &[Arc<dyn EngineKind>] {
        &self.kinds
    }

    /// The engine of a language, as its position.
    pub fn position(&self, language: LanguageId) -> Option<usize> {
        self.kinds.iter().position(|it| it.languages().contains(&language))
    }

    pub fn kind_of(&self, language: LanguageId) -> Option<&Arc<dyn EngineKind>> {
        self.position(language).and_then(|it| self.kinds.get(it))
    }
}
