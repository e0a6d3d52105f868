//! Collects what a change may affect: the places that name what it changes, in the state before, and the bodies around
//! them.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_base_db::further_build;
use ra_ap_hir::{Adt, Semantics, Trait};
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, ast};

use super::affected::{AffectedSet, BodyRef, ChangedSymbol, InFurtherBuild, Shapes};
use super::delta::{Delta, derives, is_type, pairs};
use super::derives::type_of;
use super::edit_context::EditContext;
use super::fixed_names::Missed;
use super::impls::shape_at;
use super::unresolved_names::bodies_with_other_imports;
use super::{
    arity, compared_heads, declared, dyn_traits, helper_attributes, holders, macros, provided, reexports, shadowed,
    sizes, switched_on, unused, wellformed,
};
use crate::checks::{ambiguous_globs, anchors, derive_expansion, errors};
use crate::index::file_names::StoredResolution;
use crate::names::definitions::{as_assoc_item, assoc_definition};
use crate::names::{builds, instances};
use crate::resolve::paths::items;
use crate::resolve::{at, paths};
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages;
use crate::usages::names_now;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, OutlineItem, Role, Span, SymbolKind};
use semdex_text::words::words;

/// The most members of a hidden or removed module that are searched for.
const MAX_FOUND_THROUGH: usize = 512;

pub(crate) fn affected_set<'a>(
    cx: &Context<'_>,
    edit: &'a EditContext,
    deltas: &[(usize, Delta<'a>)],
    missed: &[Missed],
) -> AffectedSet<'a> {
    let mut affected = AffectedSet { changed_symbols: changed_symbols(cx, edit, deltas), ..AffectedSet::default() };
    let mut bodies_by_ref: BTreeSet<(Arc<str>, usize)> = BTreeSet::new();
    let mut miscalls = arity::bodies_around(cx, &affected.changed_symbols, edit, &mut bodies_by_ref);
    bodies_by_ref.extend(missed.iter().filter_map(|it| anchors::anchor_of(&cx.sema, &it.occurrence)));
    // Missing or surplus parts of a type's literal or pattern are errors in macros too.
    let breaking = affected.changed_symbols.iter().filter(|it| !it.is_provided);
    for changed_symbol in breaking.filter(|it| it.is_itself || it.delta.is_some()) {
        macros::follow_macros(cx, changed_symbol, &changed_symbol.in_macros, macros::MAX_MACROS, &mut bodies_by_ref);
    }
    shadowed::add_bodies(cx, edit, deltas, &mut bodies_by_ref);
    bodies_by_ref.extend(changed_expansions(cx, edit, deltas, &affected.changed_symbols));
    for (index, delta) in deltas {
        follow_traits(cx, &edit.olds[*index], delta, &mut affected, &mut bodies_by_ref);
    }
    unused::note_unused_candidates(cx, edit, deltas, &mut affected);
    sizes::note_constants(cx, deltas, &mut bodies_by_ref);
    compared_heads::note_heads(cx, &mut affected, &mut bodies_by_ref);
    note_declared_again(cx, edit, deltas, &mut affected, &mut bodies_by_ref);
    affected.deleted_files = declared::deleted_files(cx, edit);
    affected.helpers = helper_attributes::helpers_at_stake(cx, edit, deltas);
    miscalls.retain(|body, _| !bodies_by_ref.contains(body));
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let of_file: Vec<Delta<'a>> = deltas.iter().filter(|it| it.0 == index).map(|it| it.1.clone()).collect();
        let changed: BTreeSet<usize> = of_file.iter().filter_map(|it| it.after).map(|it| it.name_span.start).collect();
        let scope_changes = &edit.scope_changes[index];
        let mut bodies = scope_changes.bodies(new);
        bodies.extend(switched_on::bodies(edit, index));
        switched_on::new_files(cx, edit, index).iter().for_each(|it| switched_on::note_file(it, &mut affected));
        bodies.extend(changed.into_iter().filter_map(|it| Some(anchors::body_item_around(new, it)?.name_span.start)));
        let mut shapes = Shapes::new();
        for (before, after) in pairs((old.outline(), &old.text), (new.outline(), &new.text), &of_file) {
            if let Some(shape) = before.and_then(|it| affected.shapes.remove(&(old.path.clone(), it))) {
                shapes.insert((old.path.clone(), after), shape);
            }
            let asked = before.is_some_and(|it| bodies_by_ref.remove(&(old.path.clone(), it)));
            let edited = bodies.contains(&after);
            if edited && let Some(before) = before {
                miscalls.remove(&(old.path.clone(), before));
            }
            if asked || edited {
                affected.bodies_by_ref.push(BodyRef { file: old.path.clone(), before, after: Some(after), edited });
            }
        }
        affected.shapes.extend(shapes);
        for (before, after) in altered_calls(cx, edit, index) {
            if let Some(before) = before {
                bodies_by_ref.remove(&(old.path.clone(), before));
            }
            affected.bodies_by_ref.push(BodyRef { file: old.path.clone(), before, after, edited: true });
        }
        if !scope_changes.is_empty() || !bodies_with_other_imports(old, new).is_empty() {
            note_unresolved(cx, old, &mut affected.unresolved);
        }
        // The rest of the old file is removed, except calls of macros.
        let left: Vec<usize> = bodies_by_ref.extract_if(.., |it| it.0 == old.path).map(|it| it.1).collect();
        for before in left {
            if let Some(after) = edit.moved(&old.path, before) {
                let (file, edited) = (old.path.clone(), scope_changes.all);
                affected.bodies_by_ref.push(BodyRef { file, before: Some(before), after: Some(after), edited });
            }
        }
    }
    let body_ref = |(file, at)| BodyRef { file, before: Some(at), after: Some(at), edited: false };
    affected.bodies_by_ref.extend(bodies_by_ref.into_iter().map(body_ref));
    affected.miscalls = miscalls;
    affected.retyped = affected.changed_symbols.iter().any(|it| {
        let is_other = |delta: &Delta<'_>| retypes(delta) || is_replaced(delta, deltas);
        !it.lost.is_empty() || it.delta.as_ref().is_none_or(|it| is_other(&it.1))
    });
    affected
}

/// What names an item that the edit adds or makes visible, or an import that it writes: two globs may bring in the name
/// then.
fn note_declared_again(
    cx: &Context<'_>,
    edit: &EditContext,
    deltas: &[(usize, Delta<'_>)],
    affected: &mut AffectedSet<'_>,
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) {
    let is_own_name =
        |it: &&OutlineItem| !matches!(it.kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Variant);
    let declared = deltas.iter().filter(|it| it.1.brings_name()).filter_map(|it| it.1.after);
    let mut names: BTreeSet<&str> = declared.filter(is_own_name).map(|it| &*it.name).collect();
    names.extend(edit.scope_changes.iter().flat_map(|it| it.names.iter().map(|it| &**it)));
    for (file, id, at) in
        names.into_iter().filter(|it| !it.is_empty()).flat_map(|it| ambiguous_globs::places_of(cx, it))
    {
        let Some(holder) = file.outline().enclosing(at).pop() else { continue };
        if holder.body.is_none_or(|body| at < body.start) {
            affected.heads.insert((file.path.clone(), holder.name_span.start));
        }
        bodies_by_ref.extend(anchors::anchor(&cx.sema, file, id, at).map(|it| (file.path.clone(), it)));
    }
}

/// The macro calls among items whose text the edit alters, or which it writes, removes or switches on: the starts before
/// and after. What the edit leaves of one that it removes may be in another, so its errors are compared too.
fn altered_calls(cx: &Context<'_>, edit: &EditContext, index: usize) -> Vec<(Option<usize>, Option<usize>)> {
    let (old, new) = (&edit.olds[index], &edit.news[index]);
    let Some(back) = edit.backs.get(&*new.path) else { return Vec::new() };
    let of_old = cx.file_id(&old.path).map(|it| calls_among_items(&cx.sema.parse_guess_edition(it)));
    let mut left: BTreeSet<usize> = of_old.into_iter().flatten().map(|it| it.start).collect();
    let mut altered = Vec::new();
    for it in calls_among_items(&SourceFile::parse(&new.text, Edition::CURRENT).tree()) {
        let before = back.offset(it.start).filter(|it| left.remove(it));
        if !back.is_untouched(it) || edit.is_switched_on(index, it) {
            altered.push((before, Some(it.start)));
        }
    }
    altered.extend(left.into_iter().map(|it| (Some(it), None)));
    altered
}

fn calls_among_items(tree: &SourceFile) -> Vec<Span> {
    let calls = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
    calls.map(|it| span(it.syntax().text_range())).collect()
}

/// The changed declarations with the places that name them.
fn changed_symbols<'db, 'a>(
    cx: &Context<'db>,
    edit: &EditContext,
    deltas: &[(usize, Delta<'a>)],
) -> Vec<ChangedSymbol<'a>> {
    let mut definitions: Vec<Definition<'db>> = Vec::new();
    let mut changed_symbols: Vec<ChangedSymbol<'a>> = Vec::new();
    type Of<'b, 'a> = Option<&'b (usize, Delta<'a>)>;
    let mut add = |delta: Of<'_, 'a>, definition: Definition<'db>, is_itself: bool, lost: Vec<String>| {
        let Some(path) = paths::path_of(cx, definition) else { return };
        let name = definition.name(cx.db).map(|it| it.as_str().to_owned()).unwrap_or_default();
        let (occurrences, in_macros, in_generated, calls) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let delta = delta.cloned();
        changed_symbols.push(ChangedSymbol {
            delta,
            path,
            name,
            occurrences,
            further: Vec::new(),
            in_macros,
            in_generated,
            calls,
            is_itself,
            lost,
            is_provided: false,
        });
        definitions.push(definition);
    };
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut provided: Vec<Definition<'db>> = Vec::new();
    for edited in deltas {
        let (index, delta) = edited;
        let file = &edit.olds[*index];
        let Some(id) = cx.file_id(&file.path) else { continue };
        let Some(item) = delta.before else {
            // A new field or variant may break code that names its type: a literal, a pattern.
            let part = delta.after.filter(|it| matches!(it.kind, SymbolKind::Field | SymbolKind::Variant));
            for parent in part.into_iter().flat_map(|it| with_siblings(&cx.sema, file, id, it)) {
                add(Some(edited), parent, false, Vec::new());
            }
            continue;
        };
        let is_evaluated = matches!(item.kind, SymbolKind::Const | SymbolKind::Static | SymbolKind::Macro);
        if delta.kind == ChangeKind::Body && !is_evaluated {
            continue;
        }
        let lost = lost_traits(delta, file, edit.news.get(*index).map(|it| &**it));
        if item.kind == SymbolKind::Impl {
            if let Some(adt) = adt_of_block(&cx.sema, id, item) {
                add(Some(edited), adt, false, lost);
            }
            continue;
        }
        if let Some(of) = type_of(file.outline(), item).filter(|it| seen.insert((*index, it.name_span.start))) {
            let goes = |it: &(usize, Delta<'_>)| {
                let is_it = it.0 == *index && it.1.before.is_some_and(|it| it.name_span == of.name_span);
                is_it && matches!(it.1.kind, ChangeKind::Removed | ChangeKind::Renamed)
            };
            let is_gone = deltas.iter().any(goes);
            for made in derive_expansion::expanded_from(&cx.sema, id, of) {
                // Members of a removed type are unresolved where they are named.
                let is_member = as_assoc_item(made, cx.db).is_some() || matches!(made, Definition::EnumVariant(_));
                if !is_gone || !is_member {
                    add(None, made, true, Vec::new());
                }
            }
        }
        let Some(definition) = at::definition_in_any_build(&cx.sema, id, item.name_span.start) else { continue };
        let of_file = deltas.iter().filter(|it| it.0 == *index).map(|it| &it.1);
        provided.extend(provided::is_provided(cx, file, definition, delta, of_file).then_some(definition));
        add(Some(edited), definition, true, lost);
        for member in found_through(cx.db, definition, delta) {
            add(Some(edited), member, true, Vec::new());
        }
        if matches!(definition, Definition::Field(_) | Definition::EnumVariant(_)) {
            for parent in with_siblings(&cx.sema, file, id, item) {
                add(Some(edited), parent, false, Vec::new());
            }
        }
    }
    let imported = reexports::no_more_imported(cx, edit);
    for (definition, _) in &imported {
        add(None, *definition, true, Vec::new());
    }
    let found = usages::find(cx, &definitions);
    for ((changed_symbol, definition), mut found) in changed_symbols.iter_mut().zip(&definitions).zip(found) {
        let import = imported.iter().find(|it| changed_symbol.delta.is_none() && it.0 == *definition);
        if let Some(files) = import.and_then(|it| it.1.as_ref()) {
            found.retain(|it| files.contains(&it.id));
        }
        changed_symbol.is_provided = provided.contains(definition);
        for it in std::mem::take(&mut found.items) {
            match it.build {
                None if it.calls.is_some() => changed_symbol.in_macros.push(it),
                None => changed_symbol.occurrences.push(it),
                Some(krate) => {
                    let build = match further_build(cx.db, krate) {
                        Some(build) => build.as_str().to_owned(),
                        None => builds::DOCTEST.to_owned(),
                    };
                    // What a macro writes is checked at its calls.
                    let calls = if it.calls.is_some() { macros::calls_of(cx, &it) } else { vec![it] };
                    for at in calls {
                        let name = builds::name_at(cx.db, krate, at.id, at.at.start);
                        changed_symbol.further.push(InFurtherBuild { build: build.clone(), name, at });
                    }
                }
            }
        }
        changed_symbol.in_generated = std::mem::take(&mut found.in_generated);
        changed_symbol.in_macros.extend(found.in_macros());
        if changed_symbol.goes() || changed_symbol.is_itself && changed_symbol.has_other_generics() {
            changed_symbol.calls = macros::calls_around(cx, &changed_symbol.in_macros);
        }
    }
    holders::follow_types(cx, edit, &definitions, &mut changed_symbols);
    changed_symbols
}

/// What globs and imports find through an enum or a module that is no longer found there. For the edited text itself
/// the outline shows what is removed.
fn found_through<'db>(db: &'db RootDatabase, definition: Definition<'db>, delta: &Delta<'_>) -> Vec<Definition<'db>> {
    let is_hidden = delta.kind == ChangeKind::Visibility;
    let goes = matches!(delta.kind, ChangeKind::Removed | ChangeKind::Renamed);
    let is_elsewhere = delta.before.is_some_and(|it| it.children.is_empty());
    match definition {
        Definition::Adt(Adt::Enum(it)) if is_hidden => {
            it.variants(db).into_iter().map(Definition::EnumVariant).collect()
        }
        Definition::Module(it) if is_hidden || goes && is_elsewhere => {
            it.declarations(db).into_iter().take(MAX_FOUND_THROUGH).map(Definition::from).collect()
        }
        _ => Vec::new(),
    }
}

/// The type that contains an item, in the old text. For a variant its siblings too, since a pattern names these.
fn with_siblings<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: &File,
    id: FileId,
    item: &OutlineItem,
) -> Vec<Definition<'db>> {
    let kinds = [SymbolKind::Struct, SymbolKind::Enum, SymbolKind::Union, SymbolKind::Variant];
    let mut found = Vec::new();
    for parent in parents(file, item, &kinds) {
        found.push(parent.name_span.start);
        let siblings = parent.children.iter().filter(|it| it.kind == SymbolKind::Variant);
        found.extend(siblings.filter(|it| it.name != item.name).map(|it| it.name_span.start));
    }
    found.into_iter().filter_map(|it| at::definition_in_any_build(sema, id, it)).collect()
}

fn adt_of_block<'db>(sema: &Semantics<'db, RootDatabase>, file: FileId, item: &OutlineItem) -> Option<Definition<'db>> {
    let block = items::impl_at(sema, file, item.name_span.start)?;
    block.self_ty(sema.db).as_adt().map(Definition::Adt)
}

/// A trait and its implementations have to fit each other.
fn follow_traits(
    cx: &Context<'_>,
    file: &Arc<File>,
    delta: &Delta<'_>,
    affected: &mut AffectedSet<'_>,
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) {
    let Some(id) = cx.file_id(&file.path) else { return };
    if delta.kind == ChangeKind::Body {
        return;
    }
    let item = delta.before.or(delta.after);
    let own = delta.before.and_then(|it| at::definition_at(&cx.sema, id, it.name_span.start));
    if let (Some(Definition::Function(function)), Some(before)) = (own, delta.before)
        && let Some(shape) = shape_at(&cx.sema, function)
    {
        affected.shapes.insert((file.path.clone(), before.name_span.start), shape);
    }
    let of_trait = match own {
        Some(Definition::Trait(it)) => Some(it),
        Some(it) => as_assoc_item(it, cx.db).and_then(|it| it.container_trait(cx.db)),
        None => item.and_then(|it| trait_around(&cx.sema, file, id, it)),
    };
    if let Some(of) = of_trait {
        let has_other_types = item.is_some_and(|it| matches!(it.kind, SymbolKind::Type | SymbolKind::Trait));
        dyn_traits::note_objects(cx, of, has_other_types, affected);
        wellformed::note_inner_blocks(cx, of, affected);
        for block in instances::blocks_of_trait(cx.db, of) {
            let Some(target) = block.try_to_nav(&cx.sema).map(|it| it.call_site) else { continue };
            let Some(name) = cx.name_of(target.file_id).filter(|it| cx.files.get(it).is_some()) else {
                continue;
            };
            let name: Arc<str> = name.into();
            affected.blocks.insert((name.clone(), span(target.focus_or_full_range()).start));
            let member = item.map_or("", |it| it.name.as_str());
            for own in block.items(cx.db) {
                let same = own.name(cx.db).is_some_and(|it| it.as_str() == member);
                let at = assoc_definition(own).try_to_nav(&cx.sema);
                if let Some(at) = at.filter(|_| same) {
                    bodies_by_ref.insert((name.clone(), span(at.call_site.focus_or_full_range()).start));
                }
            }
        }
    }
}

/// The trait that contains an item of a new text, in the old text.
fn trait_around(sema: &Semantics<'_, RootDatabase>, file: &File, id: FileId, item: &OutlineItem) -> Option<Trait> {
    let around = parents(file, item, &[SymbolKind::Trait]).into_iter().next()?;
    match at::definition_at(sema, id, around.name_span.start)? {
        Definition::Trait(it) => Some(it),
        _ => None,
    }
}

fn note_unresolved(cx: &Context<'_>, file: &Arc<File>, unresolved: &mut BTreeSet<(Arc<str>, usize)>) {
    let Some(id) = cx.file_id(&file.path) else { return };
    for (at, resolution, _) in names_now(cx, id).within(0, file.text.len()) {
        if matches!(resolution, StoredResolution::Unresolved(_)) {
            unresolved.insert((file.path.clone(), at));
        }
    }
}

/// The items that contain an item of a new text, in the old text.
fn parents<'f>(old: &'f File, item: &OutlineItem, kinds: &[SymbolKind]) -> Vec<&'f OutlineItem> {
    let Some((name, around)) = item.container.split_last() else { return Vec::new() };
    let mut found = Vec::new();
    old.outline().walk(&mut |candidate| {
        if kinds.contains(&candidate.kind) && candidate.name == *name && candidate.container == around {
            found.push(candidate);
        }
    });
    found
}

fn lost_traits(delta: &Delta<'_>, old: &File, new: Option<&File>) -> Vec<String> {
    let Some(before) = delta.before else { return Vec::new() };
    match (before.kind, delta.after, new) {
        (SymbolKind::Impl, None, _) => {
            let of = before.name.split(" for ").next().unwrap_or_default();
            let of = of.split('<').next().unwrap_or_default();
            vec![of.rsplit("::").next().unwrap_or_default().to_owned()]
        }
        (_, Some(after), Some(new)) => {
            let kept = derives(after, &new.text);
            derives(before, &old.text).into_iter().filter(|it| !kept.contains(it)).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether an item of another kind takes the name of a removed one, for example a function the name of a constant.
fn is_replaced(delta: &Delta<'_>, deltas: &[(usize, Delta<'_>)]) -> bool {
    let Some(before) = delta.before.filter(|_| delta.kind == ChangeKind::Removed) else { return false };
    let is_new = |it: &Delta<'_>| it.kind == ChangeKind::Added;
    let mut new = deltas.iter().filter(|it| is_new(&it.1)).filter_map(|it| it.1.after);
    new.any(|it| it.name == before.name && it.container == before.container)
}

/// Whether expressions that name a declaration may have a different type now.
fn retypes(delta: &Delta<'_>) -> bool {
    let result = |item: &OutlineItem| {
        let (head, result) = item.signature.split_once("->").unwrap_or((&item.signature, ""));
        (result.trim().to_owned(), head.contains("async fn"))
    };
    match (delta.kind, delta.before.zip(delta.after)) {
        (ChangeKind::Visibility | ChangeKind::Added | ChangeKind::Renamed | ChangeKind::Removed, _) => {
            delta.before.is_some_and(|it| it.kind == SymbolKind::Impl)
        }
        (_, Some((before, after))) if matches!(before.kind, SymbolKind::Function | SymbolKind::Method) => {
            // A callable has parameters and a result of its own.
            let takes_called = |it: &OutlineItem| words(&it.signature).any(|it| it.1.starts_with("Fn"));
            result(before) != result(after) || takes_called(before) || takes_called(after)
        }
        _ => true,
    }
}

/// The anchors of derive expansions for types that change or whose text does, that contain something that changes, or
/// whose attributes name it.
fn changed_expansions(
    cx: &Context<'_>,
    edit: &EditContext,
    deltas: &[(usize, Delta<'_>)],
    changed_symbols: &[ChangedSymbol<'_>],
) -> BTreeSet<(Arc<str>, usize)> {
    let mut places: BTreeSet<(FileId, usize)> = BTreeSet::new();
    for (index, delta) in deltas.iter().filter(|it| it.1.kind != ChangeKind::Body) {
        let file = &edit.olds[*index];
        let of = delta.before.or(delta.after).and_then(|it| type_of(file.outline(), it));
        places.extend(cx.file_id(&file.path).zip(of.map(|it| it.name_span.start)));
    }
    for (index, (before, _)) in edit.altered_types() {
        places.extend(cx.file_id(&edit.olds[index].path).map(|it| (it, before.name_span.start)));
    }
    for changed_symbol in changed_symbols {
        for it in changed_symbol.occurrences.iter().filter(|it| it.role == Role::Type) {
            let around = it.file.outline().enclosing(it.at.start);
            let own = around.into_iter().find(|it| is_type(it.kind));
            places.extend(own.map(|own| (it.id, own.name_span.start)));
        }
        if changed_symbol.is_itself {
            let module = changed_symbol.path.rsplit("::").nth(1);
            for name in [Some(changed_symbol.name.as_str()), module].into_iter().flatten() {
                derive_expansion::named_in_attributes(cx, name, &mut places);
            }
        }
    }
    let mut found = BTreeSet::new();
    for (id, at) in places {
        let token = positions::token(&cx.sema, id, at);
        let Some(adt) = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast)) else { continue };
        let Some(anchor) = derive_expansion::derive_anchor(&adt) else { continue };
        // Nothing can be said about an expansion that had errors before.
        let is_understood = match cx.index.errors(id).filter(|it| it.made.contains(&anchor)) {
            Some(known) => !known.bodies.contains_key(&anchor),
            None => derive_expansion::derived_bodies(&cx.sema, &adt)
                .into_iter()
                .all(|it| errors::errors_in(cx, it, true).is_empty()),
        };
        found.extend(cx.name_of(id).filter(|_| is_understood).map(|it| (Arc::from(it), anchor)));
    }
    found
}
