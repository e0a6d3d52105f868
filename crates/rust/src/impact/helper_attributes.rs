//! Derives of types, and the attributes that derive macros read: both are unresolved if the macro is no longer derived
//! or imported.

use std::collections::BTreeSet;

use ra_ap_hir::{HasSource as _, Macro, Semantics};
use ra_ap_ide::{FileRange, RootDatabase};
use ra_ap_syntax::ast::HasAttrs as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::Derived;
use super::delta::{Delta, derives};
use super::derives::type_of;
use super::edit_context::EditContext;
use super::unresolved_names::derived;
use crate::checks::report;
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::syntax::attributes::{attributes_of, derives_in};
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::OutlineItem;
use semdex_text::words::words;

pub(crate) fn helpers_at_stake<'a>(
    cx: &Context<'_>,
    edit: &'a EditContext,
    deltas: &[(usize, Delta<'a>)],
) -> Vec<Derived<'a>> {
    let mut found = Vec::new();
    let mut add = |file: usize, old: Option<&OutlineItem>, item: &'a OutlineItem| {
        let adt = old.and_then(|it| adt_of(cx, &edit.olds[file], it));
        let helpers = adt.as_ref().map(|it| helpers_in(&cx.sema, it)).unwrap_or_default();
        let unknown = adt.iter().flat_map(|it| derives_of(&cx.sema, it)).filter(|it| !it.1).map(|it| it.0).collect();
        found.push(Derived { file, item, helpers, unknown });
    };
    for (index, delta) in deltas {
        let Some(after) = delta.after else { continue };
        let (old, new) = (&edit.olds[*index], &edit.news[*index]);
        let before = delta.before.map(|it| derives(it, &old.text)).unwrap_or_default();
        if before != derives(after, &new.text) {
            add(*index, delta.before, after);
        }
    }
    for (index, (old, scope_changes)) in edit.olds.iter().zip(&edit.scope_changes).enumerate() {
        old.outline().walk(&mut |item| {
            let names = derives(item, &old.text);
            if names.iter().any(|it| scope_changes.all || scope_changes.names.contains(*it)) {
                add(index, Some(item), item);
            }
        });
    }
    found
}

/// The derives that are unresolved now, and the attributes that no derive reads any longer.
pub(crate) fn unread_helpers(cx: &Context<'_>, before: &[Derived<'_>], edit: &EditContext) -> Vec<Finding> {
    let mut found = Vec::new();
    for Derived { file, item, helpers, unknown } in before {
        let file = &edit.news[*file];
        let Some(adt) = adt_of(cx, file, item) else { continue };
        for (name, _) in derives_of(&cx.sema, &adt).into_iter().filter(|it| !it.1 && !unknown.contains(&it.0)) {
            let own = type_of(file.outline(), item).and_then(|it| derived(it, file, &name));
            let message = format!("cannot find derive macro `{name}` in this scope");
            found.extend(own.map(|it| report::error(cx, file.lines().place(&file.path, it), Code::Uncoded, message)));
        }
        let kept = if helpers.is_empty() { BTreeSet::new() } else { helpers_in(&cx.sema, &adt) };
        let attributes = adt.syntax().descendants().filter_map(ast::Attr::cast);
        for meta in attributes.flat_map(|it| it.skip_cfg_attrs()) {
            let Some(name) = meta.simple_name().filter(|it| helpers.contains(&**it)) else { continue };
            let Some(path) = meta.path().filter(|_| !kept.contains(&*name)) else { continue };
            let range = cx.sema.original_range(path.syntax());
            let at = FileRange { file_id: range.file_id.file_id(cx.db), range: range.range };
            let message = format!("cannot find attribute `{name}` in this scope");
            found.extend(cx.place(at).map(|it| report::error(cx, it, Code::Uncoded, message)));
        }
    }
    found
}

/// The derives of a type, and whether their macros exist.
pub(crate) fn derives_of(sema: &Semantics<'_, RootDatabase>, adt: &ast::Adt) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for meta in adt.attrs().flat_map(|it| it.skip_cfg_attrs()) {
        let Some(macros) = sema.resolve_derive_macro(&meta) else { continue };
        found.extend(derives_in(&meta).into_iter().zip(macros.iter().map(Option::is_some)));
    }
    found
}

/// Whether a type derives a trait in the build that is read, if a derive is under a condition.
pub(crate) fn has_derive(cx: &Context<'_>, file: &File, item: &OutlineItem, name: &str) -> bool {
    adt_of(cx, file, item).is_some_and(|it| derives_of(&cx.sema, &it).iter().any(|it| it.0 == name))
}

fn adt_of(cx: &Context<'_>, file: &File, item: &OutlineItem) -> Option<ast::Adt> {
    let own = type_of(file.outline(), item)?;
    let token = positions::token(&cx.sema, cx.file_id(&file.path)?, own.name_span.start)?;
    token.parent_ancestors().find_map(ast::Adt::cast)
}

/// The attributes that a type's derive macros declare as helpers.
fn helpers_in(sema: &Semantics<'_, RootDatabase>, adt: &ast::Adt) -> BTreeSet<String> {
    let metas = adt.attrs().flat_map(|it| it.skip_cfg_attrs());
    let macros = metas.filter_map(|it| sema.resolve_derive_macro(&it)).flatten().flatten();
    macros.into_iter().flat_map(|it| helpers_of(sema.db, it)).collect()
}

fn helpers_of(db: &RootDatabase, derive: Macro) -> Vec<String> {
    let source = derive.source(db).map(|it| it.value.either(|it| it.syntax().clone(), |it| it.syntax().clone()));
    let attributes = |it: SyntaxNode| attributes_of(&it).map(|it| it.syntax().text().to_string());
    let texts = source.into_iter().flat_map(attributes);
    let lists = texts.filter_map(|it| it.split_once("attributes(").map(|it| it.1.to_owned()));
    let names =
        |it: String| words(it.split(')').next().unwrap_or_default()).map(|it| it.1.to_owned()).collect::<Vec<_>>();
    lists.flat_map(names).collect()
}
