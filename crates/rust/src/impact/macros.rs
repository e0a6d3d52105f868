//! What a change affects through macros of the workspace. Their definitions are only tokens, so the expansions of their
//! calls are checked.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::{Definition, NameRefClass};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::ChangedSymbol;
use crate::checks::{anchors, derive_expansion};
use crate::index::search::Occurrence;
use crate::names::definitions::as_assoc_item;
use crate::resolve::paths;
use crate::syntax::positions;
use crate::usages;
use crate::view::Context;
use semdex_model::{Role, Span};
use semdex_text::words::words;

/// The most levels of macros in macros that are followed: what is behind more counts as affected.
pub(super) const MAX_MACROS: usize = 3;

/// The bodies that these places may affect through macros: the body around each place, or the bodies around the calls
/// of the macro whose definition contains the place.
pub(crate) fn follow_macros<'db>(
    cx: &Context<'db>,
    changed_symbol: &ChangedSymbol<'_>,
    places: &[Occurrence],
    depth: usize,
    units: &mut BTreeSet<(Arc<str>, usize)>,
) {
    let mut macros: Vec<Definition<'db>> = Vec::new();
    for it in places {
        if it.calls.is_some() {
            units.extend(calls_of(cx, it).iter().filter_map(|it| anchors::anchor_of(&cx.sema, it)));
            continue;
        }
        if let Some(anchor) = anchors::anchor_of(&cx.sema, it) {
            units.insert(anchor);
            continue;
        }
        macros.extend(macro_around(&cx.sema, it.id, it.at.start).filter(|it| !macros.contains(it)));
    }
    if macros.is_empty() || depth == 0 {
        return;
    }
    for found in usages::find(cx, &macros) {
        // The calls within one file are equivalent: the first one shows whether the name in the macro is this symbol.
        for calls in found.items.chunk_by(|a, b| a.id == b.id).filter(|it| makes(cx, &it[0], changed_symbol)) {
            for it in calls {
                units.extend(anchors::anchor_of(&cx.sema, it));
            }
        }
        let inner: Vec<Occurrence> = found.in_macros().collect();
        follow_macros(cx, changed_symbol, &inner, depth - 1, units);
    }
}

/// The calls that write these names, or else the calls of each macro whose definition contains one of the places.
pub(crate) fn calls_around<'db>(cx: &Context<'db>, places: &[Occurrence]) -> Vec<Vec<Occurrence>> {
    let mut macros: Vec<Definition<'db>> = Vec::new();
    for it in places.iter().filter(|it| it.calls.is_none()) {
        macros.extend(macro_around(&cx.sema, it.id, it.at.start).filter(|it| !macros.contains(it)));
    }
    let known = places.iter().map(|it| calls_of(cx, it)).filter(|it| !it.is_empty());
    known.chain(usages::find(cx, &macros).into_iter().map(|it| it.items)).collect()
}

/// The calls that write a name. Those in doctests are where the files have them.
pub(crate) fn calls_of(cx: &Context<'_>, written: &Occurrence) -> Vec<Occurrence> {
    let calls = written.calls.iter().flat_map(|it| it.iter());
    let call = |&(id, at): &(FileId, usize)| {
        let at = Span::new(at, at);
        let (id, at) = match cx.environment.doctests.of_module(id) {
            Some(of) => (of.id, of.place(at)?),
            None => (id, at),
        };
        let file = cx.file(id)?;
        Some(Occurrence { file, id, at, role: Role::Call, build: None, calls: None })
    };
    calls.filter_map(call).collect()
}

/// The macro whose definition contains an offset.
pub(crate) fn macro_around<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    offset: usize,
) -> Option<Definition<'db>> {
    let definition = positions::token(sema, file, offset)?.parent_ancestors().find_map(ast::Macro::cast)?;
    sema.to_def(&definition).map(Definition::Macro)
}

/// The call that names a macro.
pub(crate) fn call_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<ast::MacroCall> {
    positions::token(sema, file, offset)?.parent_ancestors().find_map(ast::MacroCall::cast)
}

/// What the macro writes that is called at an offset: the output of a call, or of an item's attributes.
pub(crate) fn outputs_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Vec<SyntaxNode> {
    let Some(token) = positions::token(sema, file, offset) else { return Vec::new() };
    if let Some(call) = token.parent_ancestors().find_map(ast::MacroCall::cast) {
        return sema.expand_macro_call(&call).map(|it| it.value).into_iter().collect();
    }
    let Some(item) = token.parent_ancestors().find_map(ast::Item::cast) else { return Vec::new() };
    let adt = ast::Adt::cast(item.syntax().clone());
    let derived = adt.iter().flat_map(|it| derive_expansion::derive_expansions(sema, it));
    derived.chain(sema.expand_attr_macro(&item).map(|it| it.value.value)).collect()
}

/// Whether the expansion of a macro call names a changed symbol, or may.
fn makes(cx: &Context<'_>, call: &Occurrence, changed_symbol: &ChangedSymbol<'_>) -> bool {
    match call_at(&cx.sema, call.id, call.at.start) {
        Some(call) => expansion_names(cx, &call, changed_symbol, MAX_MACROS),
        None => true,
    }
}

fn expansion_names(cx: &Context<'_>, call: &ast::MacroCall, changed_symbol: &ChangedSymbol<'_>, depth: usize) -> bool {
    let Some(expansion) = cx.sema.expand_macro_call(call).filter(|_| depth > 0) else { return true };
    expansion.value.descendants().any(|node| {
        if let Some(inner) = ast::MacroCall::cast(node.clone()) {
            // A name in the definition of another macro is followed from there.
            let is_same = called(&inner).is_some_and(|it| Some(it) == called(call));
            let holds_it = || words(&inner.syntax().text().to_string()).any(|it| it.1 == changed_symbol.name);
            return (is_same || holds_it()) && expansion_names(cx, &inner, changed_symbol, depth - 1);
        }
        let Some(name) = ast::NameRef::cast(node).filter(|it| it.text() == changed_symbol.name) else { return false };
        match NameRefClass::classify(&cx.sema, &name) {
            // An implementation of a trait's member is meant where that member is.
            Some(NameRefClass::Definition(it, _)) if implements(cx.db, it) => true,
            Some(NameRefClass::Definition(it, _)) => paths::path_of(cx, it).is_none_or(|it| it == changed_symbol.path),
            _ => true,
        }
    })
}

fn implements<'db>(db: &'db RootDatabase, definition: Definition<'db>) -> bool {
    as_assoc_item(definition, db).is_some_and(|it| it.implemented_trait(db).is_some())
}

fn called(call: &ast::MacroCall) -> Option<String> {
    Some(call.path()?.segment()?.name_ref()?.text().to_string())
}
