//! The imports that a change breaks, and the names that they would have brought into scope.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use ra_ap_hir::Module;

use semdex_model::Span;

/// The names that broken imports would have brought into scope, and where.
pub(crate) type UnresolvedImports = HashMap<Arc<str>, Vec<(String, Span)>>;

/// An import that is unresolved or not allowed to name its target.
pub(crate) struct BrokenImport {
    pub(crate) within: Module,
    /// The names that it would bring into scope; `None` for a glob.
    pub(crate) names: Option<Vec<String>>,
    /// The aliases among them that it gives to a renamed symbol: only the import has to be edited.
    pub(crate) aliases: Vec<String>,
}

impl BrokenImport {
    pub(crate) fn brings(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|it| it.iter().any(|it| it == name))
    }
}

impl BrokenImports {
    pub(crate) fn is_alias(&self, name: &str) -> bool {
        self.all.iter().any(|it| it.aliases.iter().any(|it| it == name))
    }
}

/// All broken imports of a change.
#[derive(Default)]
pub(crate) struct BrokenImports {
    pub(crate) all: Vec<BrokenImport>,
    /// The modules whose glob a module imports, computed once.
    pub(crate) globs: RefCell<HashMap<Module, Vec<Module>>>,
}

/// What broken imports would have brought into scope.
#[derive(Default)]
pub(crate) struct Imports {
    pub(crate) lost: UnresolvedImports,
    pub(crate) broken: BrokenImports,
}
