//! Anchors: the position of an item's name, which identifies a body in both states.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::{Const, DefWithBody, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{derive_expansion, expansions};
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::declaration::is_among_items;
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, SymbolKind};

/// The body of the item named at an offset; for a macro call among items, the bodies of its expansion.
pub(crate) fn bodies_at(cx: &Context<'_>, file: &str, offset: usize) -> Vec<DefWithBody> {
    let Some(id) = cx.file_id(file) else { return Vec::new() };
    let body = match at::definition_at(&cx.sema, id, offset) {
        Some(Definition::Function(it)) => Some(it.into()),
        Some(Definition::Const(it)) => Some(it.into()),
        Some(Definition::Static(it)) => Some(it.into()),
        Some(Definition::EnumVariant(it)) => Some(it.into()),
        Some(_) => None,
        // `const _` is no definition.
        None => {
            let constant = positions::token(&cx.sema, id, offset).and_then(|it| it.parent()).and_then(ast::Const::cast);
            constant.filter(|it| it.underscore_token().is_some()).and_then(|it| cx.sema.to_def(&it)).map(Const::into)
        }
    };
    if body.is_some() {
        return body.into_iter().collect();
    }
    if let Some((attribute, adt)) = derive_expansion::attribute_at(&cx.sema, id, offset) {
        let is_its_start = usize::from(attribute.syntax().text_range().start()) == offset;
        return if is_its_start { derive_expansion::derived_bodies(&cx.sema, &adt) } else { Vec::new() };
    }
    let call = macro_call_at(&cx.sema, id, offset).filter(|it| usize::from(it.syntax().text_range().start()) == offset);
    // What is left of a call that no rule takes is not compiled.
    let has_failed = |it: &ast::MacroCall| {
        let failure = cx.sema.to_def(it).and_then(|it| it.parse_macro_expansion_error(cx.db));
        failure.is_some_and(|it| it.err.is_some())
    };
    let call = call.filter(|it| !has_failed(it));
    let Some(expansion) = call.and_then(|it| cx.sema.expand_macro_call(&it)) else { return Vec::new() };
    let mut found = Vec::new();
    expansions::in_expansions(&cx.sema, &expansion.value, &mut |node| found.extend(body_of(&cx.sema, node)));
    found
}

/// The body of an item in the output of a macro.
fn body_of(sema: &Semantics<'_, RootDatabase>, item: &SyntaxNode) -> Option<DefWithBody> {
    match ast::Item::cast(item.clone())? {
        ast::Item::Fn(it) => sema.to_def(&it).map(DefWithBody::from),
        ast::Item::Const(it) => sema.to_def(&it).map(DefWithBody::from),
        ast::Item::Static(it) => sema.to_def(&it).map(DefWithBody::from),
        _ => None,
    }
}

/// The anchor of the bodies around an offset: the outermost item with a body, an attribute of a type, or a macro call
/// among items.
pub(crate) fn anchor(sema: &Semantics<'_, RootDatabase>, file: &File, id: FileId, offset: usize) -> Option<usize> {
    if let Some((attribute, _)) = derive_expansion::attribute_at(sema, id, offset) {
        return Some(attribute.syntax().text_range().start().into());
    }
    let item = body_item_around(file, offset).map(|it| it.name_span.start);
    item.or_else(|| Some(macro_call_at(sema, id, offset)?.syntax().text_range().start().into()))
}

pub(crate) fn anchor_of(sema: &Semantics<'_, RootDatabase>, place: &Occurrence) -> Option<(Arc<str>, usize)> {
    Some((place.file.path.clone(), anchor(sema, &place.file, place.id, place.at.start)?))
}

pub(crate) fn macro_call_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<ast::MacroCall> {
    let token = positions::token(sema, file, offset)?;
    token.parent_ancestors().filter_map(ast::MacroCall::cast).find(is_among_items)
}

/// Whether a symbol of this kind has a body of its own.
pub(crate) fn has_body(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static | SymbolKind::Variant
    )
}

/// The outermost items with a body of a file, by the positions of their names.
pub(crate) fn bodies_of_file(file: &File) -> BTreeSet<usize> {
    let mut bodies = BTreeSet::new();
    file.outline().walk(&mut |item| {
        bodies.extend(body_item_around(file, item.name_span.start).map(|it| it.name_span.start));
    });
    bodies
}

/// The outermost item with a body around an offset.
pub(crate) fn body_item_around(file: &File, offset: usize) -> Option<&OutlineItem> {
    file.outline().enclosing(offset).into_iter().find(|it| has_body(it.kind))
}
