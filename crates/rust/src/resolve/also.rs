//! Macros and derives with the name of a type, trait or module, which are reported with it.

use ra_ap_ide_db::defs::Definition;

use super::requested::RequestedPath;
use super::{ResolvedSymbol, paths};
use crate::resolve::paths::text::is_named_first;
use crate::resolve::paths::{definitions, members};
use crate::view::Context;
use semdex_model::SymbolKind;

/// If a type, trait or module was found, macros are removed. Returns their paths.
pub(super) fn set_macros_aside<'db>(written: &RequestedPath<'_>, found: &mut Vec<ResolvedSymbol<'db>>) -> Vec<String> {
    let comes_first = |it: &ResolvedSymbol<'db>| it.definition.is_some_and(is_named_first);
    if written.kind.is_some() || !found.iter().any(comes_first) {
        return Vec::new();
    }
    let is_macro = |it: &mut ResolvedSymbol<'db>| it.symbol.kind == SymbolKind::Macro;
    found.extract_if(.., is_macro).map(|it| it.symbol.path).collect()
}

/// The macros with the name of a definition in the same scope.
pub(super) fn macros_beside<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<String> {
    if !is_named_first(definition) {
        return Vec::new();
    }
    let Some((container, name)) =
        definitions::container_of(&cx.sema, definition).zip(definitions::name_in_path(cx.db, definition))
    else {
        return Vec::new();
    };
    let members = members::members_of(cx, container);
    let macros = members.named(&name).iter().filter(|it| matches!(it, Definition::Macro(_)));
    macros.filter_map(|it| paths::path_of(cx, *it)).collect()
}
