//! A macro or derive that has the name of a type, trait or module: it is named beside that one.

use ra_ap_ide_db::defs::Definition;

use super::Meant;
use super::written::Written;
use crate::lang::rust::paths::is_named_first;
use crate::lang::rust::view::Context;
use crate::model::SymbolKind;

impl<'db> Context<'db> {
    /// Where a type, trait or module is among what was found, macros are left out. Answers their paths.
    pub(super) fn set_macros_aside(&self, written: &Written<'_>, found: &mut Vec<Meant<'db>>) -> Vec<String> {
        let comes_first = |it: &Meant<'db>| it.definition.is_some_and(is_named_first);
        if written.kind.is_some() || !found.iter().any(comes_first) {
            return Vec::new();
        }
        let is_macro = |it: &mut Meant<'db>| it.symbol.kind == SymbolKind::Macro;
        found.extract_if(.., is_macro).map(|it| it.symbol.path).collect()
    }

    /// The macros that stand beside a definition under its own name.
    pub(super) fn macros_beside(&self, definition: Definition<'db>) -> Vec<String> {
        if !is_named_first(definition) {
            return Vec::new();
        }
        let Some((container, name)) = self.container_of(definition).zip(self.name_in_path(definition)) else {
            return Vec::new();
        };
        let members = self.members_of(container);
        let macros = members.named(&name).iter().filter(|it| matches!(it, Definition::Macro(_)));
        macros.filter_map(|it| self.path_of(*it)).collect()
    }
}
