//! Names in the definitions of macros. They are only tokens there and get a meaning in the expansions; the compiler
//! reports errors at the definition.

use std::collections::BTreeSet;

use ra_ap_hir::InFile;
use ra_ap_ide::FileRange;
use ra_ap_ide_db::defs::NameRefClass;
use ra_ap_syntax::{AstNode as _, ast};

use super::affected::ChangedSymbol;
use super::edit_context::EditContext;
use super::macros;
use crate::checks::unresolved::unresolved_kind;
use crate::checks::{derive_expansion, expansions, places, report};
use crate::finding::code::Code;
use crate::finding::{Finding, Subject, merge_equal};
use crate::syntax::positions;
use crate::view::Context;
use semdex_text::words::words;

/// Where the definition of a macro names a removed item.
pub(crate) fn gone_in_definitions(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    edit: &EditContext,
) -> Vec<Finding> {
    if !changed_symbol.goes() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for it in changed_symbol.calls.iter().flatten() {
        let now = edit.moved(&it.file.path, it.at.start);
        for output in now.map(|at| macros::outputs_at(&cx.sema, it.id, at)).unwrap_or_default() {
            expansions::in_expansions(&cx.sema, &output, &mut |node| {
                let name = ast::NameRef::cast(node.clone()).filter(|it| it.text() == changed_symbol.name);
                found.extend(name.and_then(|it| gone_as_written(cx, &it, changed_symbol)));
            });
        }
    }
    let mut holders = BTreeSet::new();
    derive_expansion::named_in_attributes(cx, &changed_symbol.name, &mut holders);
    for (id, at) in holders {
        let adt = positions::token(&cx.sema, id, at).and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast));
        let made = adt.iter().flat_map(|it| derive_expansion::derive_expansions(&cx.sema, it));
        let names = made.flat_map(|it| it.descendants().filter_map(ast::NameRef::cast).collect::<Vec<_>>());
        let names = names.filter(|it| it.text() == changed_symbol.name);
        found.extend(names.filter_map(|it| gone_at(cx, &it, report::reported_range(cx, it.syntax()), changed_symbol)));
    }
    merge_equal(&mut found);
    found
}

fn gone_as_written(cx: &Context<'_>, name: &ast::NameRef, changed_symbol: &ChangedSymbol<'_>) -> Option<Finding> {
    let syntax = name.syntax();
    let node = InFile::new(cx.sema.hir_file_for(syntax), syntax.text_range());
    match places::where_written(cx, node) {
        Some(at) => gone_at(cx, name, at, changed_symbol),
        None if places::is_reported_at_call(cx, node) => gone(cx, name, places::reported_at(cx, node), changed_symbol),
        None => None,
    }
}

fn gone_at(
    cx: &Context<'_>,
    name: &ast::NameRef,
    at: FileRange,
    changed_symbol: &ChangedSymbol<'_>,
) -> Option<Finding> {
    let place = cx.place(at)?;
    // Whether it is written there, as code or in a string.
    let text = cx.files.get(&place.file)?.text.get(place.start..place.end)?;
    let is_written = words(text).last().is_some_and(|it| it.1 == changed_symbol.name);
    is_written.then(|| gone(cx, name, at, changed_symbol)).flatten()
}

fn gone(cx: &Context<'_>, name: &ast::NameRef, at: FileRange, changed_symbol: &ChangedSymbol<'_>) -> Option<Finding> {
    if NameRefClass::classify(&cx.sema, name).is_some() {
        return None;
    }
    let (code, what) = unresolved_kind(&name.ident_token()?)?;
    let place = cx.place(at)?;
    let message = format!("cannot find {what} `{}`: `{}` no longer exists", changed_symbol.name, changed_symbol.path);
    let subject = if code == Code::Uncoded { Subject::Macro } else { Subject::None };
    Some(report::error(cx, place, code, message).about(subject))
}
