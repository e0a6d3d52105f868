//! Errors of derive macros themselves: a `compile_error!` in their expansion.

use ra_ap_ide::FileRange;
use ra_ap_syntax::ast::HasAttrs as _;
use ra_ap_syntax::{AstNode as _, AstToken as _, SyntaxNode, ast};

use super::delta::{Delta, is_type};
use super::edit_context::{EditContext, Side};
use super::unresolved_names::derived;
use crate::ENGINE;
use crate::checks::{derive_expansion, report};
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId, merge_equal};
use crate::syntax::positions;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{ChangeKind, Outline, OutlineItem};

/// The errors from derives of all types that change or whose text does.
pub(crate) fn refused_derives(
    cx: &Context<'_>,
    deltas: &[(usize, Delta<'_>)],
    edit: &EditContext,
    side: Side,
) -> Vec<Finding> {
    let files = match side {
        Side::Before => &edit.olds,
        Side::After => &edit.news,
    };
    let mut found: Vec<Finding> = Vec::new();
    let changed = deltas.iter().filter(|it| it.1.kind != ChangeKind::Body);
    let changed = changed.filter_map(|(index, delta)| Some((*index, delta.after.or(delta.before)?)));
    for (index, item) in changed.chain(edit.altered_types().map(|(index, (_, after))| (index, after))) {
        let around = files.get(index).and_then(|file| Some((file, type_of(file.outline(), item)?)));
        if let Some((file, item)) = around {
            found.extend(refused(cx, file, item));
        }
    }
    found.iter_mut().for_each(|it| it.rule = RuleId::DeriveErrors);
    merge_equal(&mut found);
    found
}

fn refused(cx: &Context<'_>, file: &File, item: &OutlineItem) -> Vec<Finding> {
    let Some(id) = cx.file_id(&file.path) else { return Vec::new() };
    let token = positions::token(&cx.sema, id, item.name_span.start);
    let Some(adt) = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast)) else { return Vec::new() };
    let mut found = Vec::new();
    if let ast::Adt::Enum(it) = &adt
        && let Some(at) = derived(item, file, "Default").filter(|_| has_no_default(it))
    {
        let message = "`#[derive(Default)]` on an enum with no `#[default]`".to_owned();
        found.push(report::error(cx, file.lines().place(&file.path, at), Code::E0665, message));
    }
    for expansion in derive_expansion::derive_expansions(&cx.sema, &adt) {
        found.extend(expansion.descendants().filter_map(ast::MacroCall::cast).filter_map(|it| {
            let message = refusal(&it)?;
            let range = cx.sema.original_range_opt(it.syntax());
            let range = range.unwrap_or_else(|| cx.sema.original_range(adt.syntax()));
            let at = FileRange { file_id: range.file_id.file_id(cx.db), range: range.range };
            Some(report::error_of(cx, ENGINE, cx.place(at)?, Code::Uncoded, message))
        }));
    }
    found
}

fn has_no_default(of: &ast::Enum) -> bool {
    let variants = of.variant_list().into_iter().flat_map(|it| it.variants());
    !variants.into_iter().any(|it| it.attrs().any(|it| it.simple_name().is_some_and(|it| it == "default")))
}

/// The type that an item is, or is a part of.
pub(crate) fn type_of<'f>(outline: &'f Outline, item: &OutlineItem) -> Option<&'f OutlineItem> {
    let mut whole: Vec<&str> = item.container.iter().map(String::as_str).collect();
    whole.push(&item.name);
    let mut found = None;
    outline.walk(&mut |it| {
        let own = it.container.iter().map(String::as_str).chain([it.name.as_str()]);
        let depth = it.container.len() + 1;
        if is_type(it.kind) && depth <= whole.len() && own.eq(whole[..depth].iter().copied()) {
            found = Some(it);
        }
    });
    found
}

/// The message of a `compile_error!` call.
fn refusal(call: &ast::MacroCall) -> Option<String> {
    let name = call.path()?.segment()?.name_ref()?;
    if name.text() != "compile_error" {
        return None;
    }
    let input: SyntaxNode = call.token_tree()?.syntax().clone();
    let text = input.descendants_with_tokens().filter_map(|it| it.into_token()).find_map(ast::String::cast)?;
    Some(text.value().map_or_else(|_| text.text().to_owned(), |it| it.into_owned()))
}
