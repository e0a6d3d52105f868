//! Errors in the heads of items, before and after a change: types that contain themselves, parameters that no field
//! uses, types `dyn Trait` without an associated type, and lifetimes that nothing declares, those in bodies too.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::GenericDef;
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::affected::{AffectedSet, is_outside_body};
use super::delta::is_content;
use super::edit_context::{EditContext, Side};
use super::item_heads::{errors_of_item, is_whole};
use super::made_items;
use crate::checks::recursive_types::Contents;
use crate::checks::{anchors, report, unresolved, written_imports};
use crate::finding::{Finding, RawDiagnostic, RuleId, merge_equal};
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions::{self, span};
use crate::usages;
use crate::view::Context;
use semdex_model::{ChangeKind, Role, Span, SymbolKind};

/// The most levels of generic types and aliases that are followed.
const MAX_LEVELS: usize = 4;

/// The items whose heads a change may affect and that it does not edit, in the state before.
pub(crate) fn note_heads<'db>(
    cx: &Context<'db>,
    affected: &mut AffectedSet<'_>,
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) {
    // A type may become recursive if the content of a generic type or an alias that it names differs.
    let mut named: Vec<Occurrence> = Vec::new();
    for it in &affected.changed_symbols {
        let delta = it.delta.as_ref().map(|it| &it.1).filter(|it| it.kind != ChangeKind::Body);
        if delta.and_then(|it| it.before.or(it.after)).is_some_and(|it| is_content(it.kind)) {
            named.extend(it.occurrences.iter().filter(|it| it.role == Role::Type).cloned());
        }
    }
    let mut seen: Vec<Definition<'db>> = Vec::new();
    for _ in 0..MAX_LEVELS {
        let mut holders: Vec<Definition<'db>> = Vec::new();
        for it in std::mem::take(&mut named) {
            affected.heads.extend(static_of(&it).map(|at| (it.file.path.clone(), at)));
            let Some(holder) = holder_of(cx, &it) else { continue };
            if let Definition::Adt(_) = holder {
                affected.heads.extend(name_of_holder(cx, &it).map(|at| (it.file.path.clone(), at)));
            }
            let is_followed = match holder {
                Definition::Adt(it) => !GenericDef::Adt(it).type_or_const_params(cx.db).is_empty(),
                _ => true,
            };
            if is_followed && !seen.contains(&holder) {
                seen.push(holder);
                holders.push(holder);
            }
        }
        if holders.is_empty() {
            break;
        }
        let found = usages::find(cx, &holders).into_iter().flat_map(|it| it.items);
        named.extend(found.filter(|it| it.role == Role::Type && it.build.is_none()));
    }
    for it in affected.objects.values().filter(|it| it.has_other_types).flat_map(|it| &it.places) {
        let holder = it.file.outline().enclosing(it.at.start).pop();
        let head = holder.filter(|holder| is_outside_body(holder, it)).map(|it| it.name_span.start);
        affected.heads.extend(head.map(|at| (it.file.path.clone(), at)));
        bodies_by_ref.extend(anchors::anchor_of(&cx.sema, it));
    }
}

/// The type with a field, or the alias, that names something at a place.
fn holder_of<'db>(cx: &Context<'db>, place: &Occurrence) -> Option<Definition<'db>> {
    let token = positions::token(&cx.sema, place.id, place.at.start)?;
    token.parent_ancestors().find_map(|it| match it.kind() {
        SyntaxKind::TYPE_ALIAS => cx.sema.to_def(&ast::TypeAlias::cast(it)?).map(Definition::TypeAlias),
        SyntaxKind::STRUCT | SyntaxKind::ENUM | SyntaxKind::UNION => {
            cx.sema.to_def(&ast::Adt::cast(it)?).map(Definition::Adt)
        }
        _ => None,
    })
}

/// The static whose type names something at a place: threads may not share it any longer.
fn static_of(place: &Occurrence) -> Option<usize> {
    let holder = place.file.outline().enclosing(place.at.start).pop()?;
    (holder.kind == SymbolKind::Static && is_outside_body(holder, place)).then_some(holder.name_span.start)
}

fn name_of_holder(cx: &Context<'_>, place: &Occurrence) -> Option<usize> {
    let token = positions::token(&cx.sema, place.id, place.at.start)?;
    let adt = token.parent_ancestors().find_map(ast::Adt::cast)?;
    Some(span(adt.name()?.syntax().text_range()).start)
}

/// The errors in the heads of the affected items, and of those that the edit writes.
pub(crate) fn errors_of_heads(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    edit: &EditContext,
    side: Side,
) -> Vec<Finding> {
    let mut heads: BTreeSet<(Arc<str>, usize)> = BTreeSet::new();
    let mut imports: Vec<SyntaxNode> = Vec::new();
    let mut calls: Vec<ast::MacroCall> = Vec::new();
    for (file, at) in &affected.heads {
        let at = match side {
            Side::Before => Some(*at),
            Side::After => edit.moved(file, *at),
        };
        heads.extend(at.map(|at| (file.clone(), at)));
    }
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let (path, maps) = match side {
            Side::Before => (&old.path, &edit.maps),
            Side::After => (&new.path, &edit.backs),
        };
        let Some((file, map)) = cx.files.get(path).zip(maps.get(&**path)) else { continue };
        let scope_changes = &edit.scope_changes[index];
        let is_affected = |at: Span| {
            let is_on = || side == Side::After && edit.is_switched_on(index, at);
            !map.is_untouched(at) || scope_changes.concerns(&file.text[at.start..at.end]) || is_on()
        };
        if let Some(id) = cx.file_id(path) {
            let tree = cx.sema.parse_guess_edition(id);
            let items = tree.syntax().descendants();
            let is_import = |it: &SyntaxNode| ast::Use::can_cast(it.kind()) || ast::ExternCrate::can_cast(it.kind());
            imports.extend(items.filter(|it| is_import(it) && is_affected(span(it.text_range()))));
            let items = tree.syntax().descendants().filter_map(ast::MacroCall::cast).filter(is_among_items);
            calls.extend(items.filter(|it| is_affected(span(it.syntax().text_range()))));
        }
        file.outline().walk(&mut |item| {
            let is_part = matches!(item.kind, SymbolKind::Field | SymbolKind::Variant);
            if !is_part && is_affected(item.span) {
                heads.insert((path.clone(), item.name_span.start));
            }
        });
    }
    let mut contents = Contents::default();
    let mut found = Vec::new();
    let mut made = Vec::new();
    for call in calls {
        let place = || "a macro call".to_owned();
        cx.unless_at_fault(place, || made.extend(made_items::errors_of_call(cx, &call, &mut contents)));
    }
    for import in imports {
        let from = found.len();
        cx.unless_at_fault(|| "an import".to_owned(), || written_imports::unfit_import(cx, &import, &mut found));
        found[from..].iter_mut().for_each(|it: &mut RawDiagnostic| it.rule = RuleId::WrittenImports);
    }
    for (file, at) in heads {
        let Some(id) = cx.file_id(&file) else { continue };
        let place = || format!("an item in {file}");
        cx.unless_at_fault(place, || errors_of_head(cx, id, at, &mut contents, &mut found));
    }
    let mut found: Vec<Finding> = found.into_iter().filter_map(|it| report::placed(cx, it)).collect();
    found.extend(made);
    merge_equal(&mut found);
    found
}

fn errors_of_head(cx: &Context<'_>, id: FileId, at: usize, contents: &mut Contents, found: &mut Vec<RawDiagnostic>) {
    let Some(token) = positions::token(&cx.sema, id, at) else { return };
    let Some(node) = token.parent_ancestors().find(is_whole) else { return };
    let definition = at::definition_at(&cx.sema, id, at);
    // Items that `cfg` disables have no definition.
    let is_compiled = match ast::Impl::cast(node.clone()) {
        Some(block) => cx.sema.to_def(&block).is_some(),
        None => definition.is_some(),
    };
    if is_compiled {
        let adt = match definition {
            Some(Definition::Adt(it)) => Some(it),
            _ => None,
        };
        errors_of_item(cx, &node, adt, unresolved::is_as_written(&cx.sema, id, &token), contents, found);
    }
}
