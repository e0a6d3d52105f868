//! The expansions of derive and attribute macros for a type, which disappear with their input. Also the contents of
//! attributes that such macros read: they become code in the generated functions.

use std::collections::BTreeSet;

use ra_ap_hir::{Adt, DefWithBody, Function, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode, SyntaxNode, ast};

use crate::finding::RawDiagnostic;
use crate::resolve::paths::items::files_with;
use crate::syntax::positions;
use crate::view::Context;
use semdex_model::OutlineItem;
use semdex_text::words::occurrences;

pub(crate) const OF_THE_COMPILER: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The most items of one type's expansion that are followed.
const MAX_EXPANDED: usize = 300;

/// What macros generate for a type, except implementations of traits.
pub(crate) fn expanded_from<'db>(
    sema: &Semantics<'db, RootDatabase>,
    file: FileId,
    item: &OutlineItem,
) -> Vec<Definition<'db>> {
    let token = positions::token(sema, file, item.name_span.start);
    // The type itself may be the output of an attribute macro: the written one is used.
    let Some(adt) = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast)) else { return Vec::new() };
    let by_attributes = sema.expand_attr_macro(&adt.clone().into()).map(|it| it.value.value);
    let mut found = Vec::new();
    for expansion in derive_expansions(sema, &adt).into_iter().chain(by_attributes) {
        named_in(sema, &expansion, &mut found);
    }
    if found.len() > MAX_EXPANDED { Vec::new() } else { found }
}

/// The expansions of derive macros, except the compiler's own.
pub(crate) fn derive_expansions(sema: &Semantics<'_, RootDatabase>, adt: &ast::Adt) -> Vec<SyntaxNode> {
    let metas = adt.attrs().flat_map(|it| it.skip_cfg_attrs());
    let made = metas.filter_map(|it| sema.expand_derive_macro(&it)).flatten().flatten();
    made.map(|it| it.value).collect()
}

fn named_in<'db>(sema: &Semantics<'db, RootDatabase>, node: &SyntaxNode, found: &mut Vec<Definition<'db>>) {
    for item in node.children() {
        if let Some(block) = ast::Impl::cast(item.clone()) {
            let members = block.assoc_item_list().filter(|_| block.trait_().is_none());
            members.into_iter().for_each(|it| named_in(sema, it.syntax(), found));
        } else if let Some(module) = ast::Module::cast(item.clone()) {
            module.item_list().into_iter().for_each(|it| named_in(sema, it.syntax(), found));
        } else if let Some(it) = ast::Fn::cast(item.clone()) {
            found.extend(sema.to_def(&it).map(Definition::Function));
        } else if let Some(it) = ast::Const::cast(item.clone()) {
            found.extend(sema.to_def(&it).map(Definition::Const));
        } else if let Some(it) = ast::Static::cast(item.clone()) {
            found.extend(sema.to_def(&it).map(Definition::Static));
        } else if let Some(it) = ast::Trait::cast(item.clone()) {
            found.extend(sema.to_def(&it).map(Definition::Trait));
        } else if let Some(it) = ast::Adt::cast(item.clone()) {
            found.extend(sema.to_def(&it).map(Definition::Adt));
            let variants = item.descendants().filter_map(ast::Variant::cast);
            found.extend(variants.filter_map(|it| sema.to_def(&it)).map(Definition::EnumVariant));
        }
    }
}

/// The attribute of a type, or of a part of it, that contains an offset, with the type.
pub(crate) fn attribute_at(
    sema: &Semantics<'_, RootDatabase>,
    file: FileId,
    offset: usize,
) -> Option<(ast::Attr, ast::Adt)> {
    let token = positions::token(sema, file, offset)?;
    let attribute = token.parent_ancestors().find_map(ast::Attr::cast)?;
    let adt = attribute.syntax().ancestors().find_map(ast::Adt::cast)?;
    // The first attribute represents all of them.
    Some((adt.attrs().next().unwrap_or(attribute), adt))
}

/// Whether the anchor at this offset represents the expansions of derive macros.
pub(crate) fn is_derive_anchor(cx: &Context<'_>, file: &str, offset: usize) -> bool {
    cx.files.get(file).is_some_and(|it| it.text.as_bytes().get(offset) == Some(&b'#'))
}

/// The types with an attribute that contains a string ending with this name: `default = "path::name"`.
pub(crate) fn named_in_attributes(cx: &Context<'_>, name: &str, places: &mut BTreeSet<(FileId, usize)>) {
    for (file, id) in files_with(cx, name) {
        let ends = |at: &usize| file.text.get(at + name.len()..).is_some_and(|it| it.starts_with('"'));
        for at in occurrences(&file.text, name).filter(ends) {
            let adt = attribute_at(&cx.sema, id, at).and_then(|it| it.1.name());
            places.extend(adt.map(|it| (id, it.syntax().text_range().start().into())));
        }
    }
}

/// Whether the derive macro is all that is known about the place of an error.
pub(crate) fn is_at_derive(sema: &Semantics<'_, RootDatabase>, raw: &RawDiagnostic) -> bool {
    let attribute = positions::token(sema, raw.file, raw.range.start().into());
    let attribute = attribute.and_then(|it| it.parent_ancestors().find_map(ast::Attr::cast));
    attribute.is_some_and(|it| it.simple_name().is_some_and(|it| it == "derive"))
}

pub(crate) fn has_custom_derives(sema: &Semantics<'_, RootDatabase>, adt: Adt) -> bool {
    sema.source(adt).is_some_and(|it| derives_more(&it.value))
}

/// The bodies that derive macros generate for a type.
pub(crate) fn derived_bodies(sema: &Semantics<'_, RootDatabase>, adt: &ast::Adt) -> Vec<DefWithBody> {
    let made = derive_expansions(sema, adt).into_iter();
    let functions = made.flat_map(|it| it.descendants().collect::<Vec<_>>()).filter_map(ast::Fn::cast);
    let functions: Vec<Function> = functions.filter_map(|it| sema.to_def(&it)).collect();
    functions.into_iter().map(DefWithBody::from).collect()
}

/// The anchor for the expansions of a type's derive macros, if it has macros other than the compiler's.
pub(crate) fn derive_anchor(adt: &ast::Adt) -> Option<usize> {
    let first = adt.attrs().next().filter(|_| derives_more(adt))?;
    Some(first.syntax().text_range().start().into())
}

fn derives_more(adt: &ast::Adt) -> bool {
    let derives = adt.attrs().filter(|it| it.simple_name().is_some_and(|it| it == "derive"));
    derives.into_iter().any(|it| {
        let text = it.syntax().text().to_string();
        let list = text.split_once('(').map_or("", |it| it.1).trim_end_matches([')', ']']);
        list.split(',').any(|it| !it.trim().is_empty() && !OF_THE_COMPILER.contains(&it.trim()))
    })
}
