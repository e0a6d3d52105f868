//! Implementations that do not fit their traits, before and after a change.

use std::sync::Arc;

use ra_ap_hir::{Impl, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, ast};

use super::affected::{AffectedSet, Shapes};
use super::edit_context::{EditContext, Side};
use super::rule_input::TraitImpl;
use super::rules;
use crate::checks::{anchors, expansions};
use crate::finding::{Finding, merge_equal};
use crate::resolve::paths::items;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Span, SymbolKind};

/// The mismatches between the implementation with the name at this offset and its trait. `shapes` has the previous form
/// of the functions that the edit changed, by the current positions of their names.
pub(crate) fn misfits(cx: &Context<'_>, file: &Arc<File>, offset: usize, shapes: &Shapes) -> Vec<Finding> {
    let Some(id) = cx.file_id(&file.path) else { return Vec::new() };
    cx.for_each_instance(id, |it| misfits_in_crate(it, id, offset, shapes)).concat()
}

fn misfits_in_crate(cx: &Context<'_>, id: FileId, offset: usize, shapes: &Shapes) -> Vec<Finding> {
    match items::impl_at(&cx.sema, id, offset) {
        Some(block) => misfits_in(cx, block, shapes),
        None => {
            let mut found: Vec<Finding> =
                expanded_impls(&cx.sema, id, offset).into_iter().flat_map(|it| misfits_in(cx, it, shapes)).collect();
            // All calls of a macro have the same errors.
            found.dedup_by(|a, b| a.place == b.place);
            found
        }
    }
}

/// The implementations that a macro call generates.
fn expanded_impls(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Vec<Impl> {
    let call = anchors::macro_call_at(sema, file, offset).and_then(|it| sema.expand_macro_call(&it));
    let mut blocks = Vec::new();
    if let Some(expansion) = call {
        expansions::in_expansions(sema, &expansion.value, &mut |node| blocks.extend(ast::Impl::cast(node.clone())));
    }
    blocks.into_iter().filter_map(|it| sema.to_def(&it)).collect()
}

pub(super) fn misfits_in(cx: &Context<'_>, block: Impl, shapes: &Shapes) -> Vec<Finding> {
    let of = block.trait_(cx.db).filter(|_| !block.is_negative(cx.db));
    of.map(|of| rules::check_impl(cx, &TraitImpl { block, of, shapes })).unwrap_or_default()
}

/// The items of implementations that do not fit their traits.
pub(crate) fn misfits_of(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext, side: Side) -> Vec<Finding> {
    let nothing = Shapes::new();
    let shapes = match side {
        Side::Before => &nothing,
        Side::After => &affected.shapes,
    };
    let mut found = Vec::new();
    for (name, at) in &affected.blocks {
        let at = match side {
            Side::Before => Some(*at),
            Side::After => edit.moved(name, *at),
        };
        if let Some((file, at)) = cx.files.get(name).zip(at) {
            found.extend(misfits(cx, file, at, shapes));
        }
    }
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let (name, maps) = match side {
            Side::Before => (&old.path, &edit.maps),
            Side::After => (&new.path, &edit.backs),
        };
        let Some((file, map)) = cx.files.get(name).zip(maps.get(&**name)) else { continue };
        // The contents of the block and the meaning of its names decide.
        let scope_changes = &edit.scope_changes[index];
        let is_looked_at = |at: Span| !map.is_untouched(at) || scope_changes.concerns(&file.text[at.start..at.end]);
        file.outline().walk(&mut |item| {
            if item.kind == SymbolKind::Impl && item.name.contains(" for ") && is_looked_at(item.span) {
                found.extend(misfits(cx, file, item.name_span.start, shapes));
            }
        });
    }
    merge_equal(&mut found);
    found
}
