//! What a change affects without naming it: types with a changed type as a part, aliases and constructors of it, and
//! uses of it as `Self`.

use std::collections::BTreeSet;

use ra_ap_hir::{Adt, GenericDef, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, ast};

use super::affected::{ChangedSymbol, is_outside_body};
use super::edit_context::EditContext;
use crate::checks::anchors::has_body;
use crate::checks::derive_expansion;
use crate::index::search::Occurrence;
use crate::resolve::{at, paths};
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages;
use crate::view::Context;
use semdex_model::{ChangeKind, Role, SymbolKind};

/// Adds what is affected without naming the changed symbol. A type that contains a changed constant or alias is a
/// different type, and the caller of a constructor uses the type's traits.
pub(crate) fn follow_types<'db>(
    cx: &Context<'db>,
    edit: &EditContext,
    definitions: &[Definition<'db>],
    changed_symbols: &mut Vec<ChangedSymbol<'_>>,
) {
    let mut holders: BTreeSet<(FileId, usize)> = BTreeSet::new();
    let mut makers: BTreeSet<(FileId, usize)> = BTreeSet::new();
    let mut lost: Vec<Adt> = Vec::new();
    let mut others: Vec<(String, Vec<Occurrence>)> = Vec::new();
    let mut unresolved_heads: Vec<Definition<'db>> = Vec::new();
    for (changed_symbol, definition) in changed_symbols.iter().zip(definitions) {
        let kind = changed_symbol.delta.as_ref().and_then(|it| it.1.before).map(|it| it.kind);
        let is_in_types = matches!(kind, Some(SymbolKind::Const | SymbolKind::Static | SymbolKind::Type));
        for it in changed_symbol.occurrences.iter().filter(|_| changed_symbol.is_itself && is_in_types) {
            let chain = it.file.outline().enclosing(it.at.start);
            let Some(holder) = chain.last().filter(|holder| is_outside_body(holder, it)) else { continue };
            holders.insert((it.id, holder.name_span.start));
            // A literal names the type, not always the field.
            if holder.kind == SymbolKind::Field {
                holders.extend(chain.iter().rev().nth(1).map(|around| (it.id, around.name_span.start)));
            }
        }
        unresolved_heads.extend(members_of_unresolved_heads(&cx.sema, edit, changed_symbol, definition));
        let Definition::Adt(adt) = definition else { continue };
        // An implementation by another derive may disappear with a part of the type.
        let may_lose = !changed_symbol.lost.is_empty() || derive_expansion::has_custom_derives(&cx.sema, *adt);
        if may_lose {
            lost.push(*adt);
            changed_symbol.occurrences.iter().for_each(|it| note_holder(it, &mut holders, &mut makers));
        }
        let members = changed_symbol.occurrences.iter().flat_map(|it| members_around(&cx.sema, it, may_lose));
        others.push((changed_symbol.path.clone(), members.collect()));
    }
    for (definition, found) in unresolved_heads.iter().zip(usages::find(cx, &unresolved_heads)) {
        others.extend(paths::path_of(cx, *definition).map(|path| (path, found.items)));
    }
    let makes = |definition: &Definition<'db>| {
        let Definition::Function(function) = definition else { return false };
        let mut makes = false;
        function.ret_type(cx.db).walk(cx.db, |it| makes |= it.as_adt().is_some_and(|it| lost.contains(&it)));
        makes
    };
    let mut seen: Vec<Definition<'db>> = Vec::new();
    while !holders.is_empty() || !makers.is_empty() {
        let named = |of: &mut BTreeSet<(FileId, usize)>| {
            let all = std::mem::take(of).into_iter();
            all.filter_map(|(file, at)| at::definition_at(&cx.sema, file, at)).collect::<Vec<_>>()
        };
        let makers_now = named(&mut makers).into_iter().filter(makes);
        let mut now = named(&mut holders);
        now.extend(makers_now);
        now.retain(|it| !seen.contains(it));
        for (definition, mut found) in now.iter().zip(usages::find(cx, &now)) {
            let Some(path) = paths::path_of(cx, *definition) else { continue };
            // The alias of a type is contained and constructed like the type.
            let stands_for_it = match definition {
                Definition::TypeAlias(_) => true,
                Definition::Adt(it) => !GenericDef::Adt(*it).type_or_const_params(cx.db).is_empty(),
                _ => false,
            };
            if stands_for_it && !lost.is_empty() {
                found.items.iter().for_each(|it| note_holder(it, &mut holders, &mut makers));
            }
            if matches!(definition, Definition::Adt(_)) {
                let members = found.items.iter().flat_map(|it| members_around(&cx.sema, it, true));
                found.items.extend(members.collect::<Vec<_>>());
            }
            others.push((path, found.items));
        }
        seen.extend(now);
    }
    changed_symbols.extend(others.into_iter().filter(|it| !it.1.is_empty()).map(|(path, occurrences)| ChangedSymbol {
        delta: None,
        path,
        name: String::new(),
        occurrences,
        further: Vec::new(),
        in_macros: Vec::new(),
        in_generated: Vec::new(),
        calls: Vec::new(),
        is_itself: false,
        lost: Vec::new(),
        is_provided: false,
    }));
}

/// The items of blocks whose self type is unresolved: their types lose these items.
fn members_of_unresolved_heads<'db>(
    sema: &Semantics<'db, RootDatabase>,
    edit: &EditContext,
    changed_symbol: &ChangedSymbol<'_>,
    definition: &Definition<'db>,
) -> Vec<Definition<'db>> {
    let is_heading = matches!(definition, Definition::Adt(_));
    let is_narrowed = changed_symbol.delta.as_ref().is_some_and(|it| it.1.kind == ChangeKind::Visibility);
    // Places with a lost import are in the edited file, in which the item was named.
    let is_edited = |it: &&Occurrence| edit.olds.iter().any(|old| old.path == it.file.path);
    let is_unnamed = |it: &&Occurrence| is_narrowed || changed_symbol.delta.is_none() && is_edited(it);
    let places =
        changed_symbol.occurrences.iter().filter(|_| is_heading && changed_symbol.is_itself).filter(is_unnamed);
    let mut found = Vec::new();
    for place in places.filter(|it| it.role != Role::Import) {
        let chain = place.file.outline().enclosing(place.at.start);
        let Some(block) = chain.last().filter(|it| it.kind == SymbolKind::Impl) else { continue };
        found.extend(block.children.iter().filter_map(|it| at::definition_at(sema, place.id, it.name_span.start)));
    }
    found
}

/// For a block that names a type in its head: what may use the type without naming it, which is macro expansions and,
/// on request, all bodies.
fn members_around(sema: &Semantics<'_, RootDatabase>, place: &Occurrence, with_bodies: bool) -> Vec<Occurrence> {
    let chain = place.file.outline().enclosing(place.at.start);
    let Some(block) = chain.last().filter(|it| it.kind == SymbolKind::Impl) else { return Vec::new() };
    let bodies = block.children.iter().filter(|it| with_bodies && has_body(it.kind)).map(|it| it.name_span);
    let around = positions::token(sema, place.id, block.name_span.start);
    let around = around.and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
    let calls = around.and_then(|it| it.assoc_item_list()).into_iter().flat_map(|it| it.assoc_items());
    let calls = calls.filter(|it| matches!(it, ast::AssocItem::MacroCall(_))).map(|it| span(it.syntax().text_range()));
    bodies.chain(calls).map(|at| Occurrence { at, ..place.clone() }).collect()
}

/// For a place that names a type: the aliases of it, the types that contain it, and the functions with this place in
/// their head.
fn note_holder(place: &Occurrence, holders: &mut BTreeSet<(FileId, usize)>, makers: &mut BTreeSet<(FileId, usize)>) {
    if !matches!(place.role, Role::Type | Role::SelfType) {
        return;
    }
    let chain = place.file.outline().enclosing(place.at.start);
    let Some(own) = chain.last().filter(|own| is_outside_body(own, place)) else { return };
    match own.kind {
        SymbolKind::Function | SymbolKind::Method => drop(makers.insert((place.id, own.name_span.start))),
        SymbolKind::Type
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Union
        | SymbolKind::Variant
        | SymbolKind::Field => {
            holders.insert((place.id, own.name_span.start));
            // A pattern names what has the field, not the field: `One(it)`.
            let is_positional = own.kind == SymbolKind::Field && own.name.bytes().all(|it| it.is_ascii_digit());
            let around = chain.iter().rev().nth(1).filter(|_| is_positional);
            holders.extend(around.map(|it| (place.id, it.name_span.start)));
        }
        _ => {}
    }
}
