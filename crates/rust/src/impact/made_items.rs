//! Errors in what a macro call among items makes, outside of bodies: a call that fails, and the heads of the items that it
//! makes. Code is often written in such a call: `cfg_if! { … }`, `lazy_static! { … }`.

use std::collections::HashSet;

use ra_ap_hir::InFile;
use ra_ap_hir_expand::MacroDefKind;
use ra_ap_hir_expand::builtin::EagerExpander;
use ra_ap_syntax::{AstNode as _, SyntaxError, SyntaxKind, SyntaxNode, ast};

use super::affected::Shapes;
use super::findings::Findings;
use super::item_heads::{self, head_of, is_whole};
use super::{conflicts, lifetimes, misfits};
use crate::bounds::Bound;
use crate::checks::recursive_types::Contents;
use crate::checks::{expansions, gates, macro_paths, native, places, report, written, written_imports};
use crate::finding::code::Code;
use crate::finding::{Finding, RawDiagnostic, RuleId};
use crate::syntax::attributes::is_conditional;
use crate::syntax::declaration::is_among_items;
use crate::syntax::{nesting, validation};
use crate::view::{Context, Fault};

/// The errors in what a macro call among items makes, outside of bodies.
pub(super) fn errors_of_call(cx: &Context<'_>, call: &ast::MacroCall, contents: &mut Contents) -> Vec<Finding> {
    let mut found = Vec::new();
    let placed = |found: Vec<RawDiagnostic>| found.into_iter().filter_map(|it| report::placed(cx, it)).collect();
    if fails(cx, call, &mut found) {
        return placed(found);
    }
    let Some(expansion) = cx.sema.expand_macro_call(call) else { return Vec::new() };
    let (mut items, mut calls) = (Vec::new(), vec![call.clone()]);
    expansions::in_expansions(&cx.sema, &expansion.value, &mut |node| {
        let is_in_body = || node.ancestors().any(|it| ast::Expr::can_cast(it.kind()));
        if is_whole(node) {
            items.push(node.clone());
        }
        match ast::MacroCall::cast(node.clone()) {
            Some(call) => calls.push(call),
            None if !is_in_body() => macro_paths::unresolved_in_output(cx, node, &mut found),
            None => {}
        }
    });
    let inner = calls.iter().skip(1).filter(|it| is_among_items(it));
    inner.for_each(|it| {
        fails(cx, it, &mut found);
    });
    found.iter_mut().for_each(|it| it.rule = RuleId::MacroPaths);
    let mut told: Vec<Finding> = placed(found);
    let mut found = Vec::new();
    let mut of_items = Vec::new();
    for node in items {
        if ast::Item::cast(node.clone()).is_some_and(|it| !is_compiled(cx, &it)) {
            continue;
        }
        if matches!(node.kind(), SyntaxKind::USE | SyntaxKind::EXTERN_CRATE) {
            let from = found.len();
            written_imports::unfit_import(cx, &node, &mut found);
            found[from..].iter_mut().for_each(|it| it.rule = RuleId::WrittenImports);
            continue;
        }
        let adt = ast::Adt::cast(node.clone());
        let own = adt.as_ref().and_then(|it| cx.sema.to_def(it));
        // Rules about the form of a member look for the list that it is in.
        let is_in_list = node.parent().is_some_and(|it| is_list_of_members(&it));
        let is_final = is_final(cx, &node) && (is_in_list || !is_member(cx, &node));
        item_heads::errors_of_item(cx, &node, own, is_final, contents, &mut found);
        errors_of_node(cx, &node, adt, &mut Findings::new(&mut of_items));
    }
    repeated_names(cx, &expansion.value, &calls, &mut found);
    for call in calls.iter().filter(|it| !is_member(cx, it.syntax())) {
        let made = cx.sema.expand_macro_call(call).map(|it| it.value);
        let Some(made) = made.filter(|it| ast::MacroItems::can_cast(it.kind())) else { continue };
        let file = cx.sema.hir_file_for(&made);
        found.extend(validation::refused_items(&made).into_iter().map(|(at, message)| {
            let range = places::reported_at(cx, InFile::new(file, at));
            RawDiagnostic { rule: RuleId::MacroPaths, ..RawDiagnostic::new(range, Code::Uncoded, message) }
        }));
    }
    // What the macro of another crate writes by itself is that crate's business.
    let calls = calls.iter().filter_map(|it| cx.place(report::reported_range(cx, it.syntax()))).collect::<Vec<_>>();
    of_items.extend(placed(found));
    told.extend(of_items.into_iter().filter(|it: &Finding| !calls.contains(&it.place)));
    told
}

/// The errors in the head of an item that are found without a comparison.
fn errors_of_node(cx: &Context<'_>, node: &SyntaxNode, adt: Option<ast::Adt>, out: &mut Findings<'_>) {
    out.rule = RuleId::Heads;
    item_heads::unfit_head(cx, node, out);
    if let Some(adt) = adt {
        item_heads::unfit_derives(cx, &adt, out);
        let own = cx.sema.to_def(&adt);
        own.into_iter().flat_map(|it| conflicts::conflicting_derives(cx, it)).for_each(|it| out.add(it));
    }
    let block = ast::Impl::cast(node.clone());
    if let Some((block, of)) = block.and_then(|it| Some((it.clone(), cx.sema.to_def(&it)?))) {
        item_heads::unfit_block(cx, &block, of, out);
        misfits::misfits_in(cx, of, &Shapes::new()).into_iter().for_each(|it| {
            out.rule = it.rule;
            out.add(it);
        });
    }
    out.rule = RuleId::Lifetimes;
    let file = cx.sema.hir_file_for(node);
    for range in lifetimes::elided_in(&cx.sema, node) {
        let place = cx.place(places::reported_at(cx, InFile::new(file, range)));
        let message = "missing lifetime specifier".to_owned();
        place.into_iter().for_each(|it| out.add(report::error(cx, it, Code::E0106, message.clone())));
    }
    out.rule = RuleId::GatedHeads;
    let mut gated = Vec::new();
    for it in head_of(node).into_iter().filter(|it| written::is_input(cx, it)) {
        gates::gated_syntax(cx, &it, &mut gated);
        if ast::Path::can_cast(it.kind()) {
            gates::unstable_items(cx, &it, &mut gated);
        }
    }
    gated.into_iter().filter_map(|it| report::placed(cx, it)).for_each(|it| out.add(it));
}

/// Items, fields and variants of one list that have the same name.
fn repeated_names(cx: &Context<'_>, made: &SyntaxNode, calls: &[ast::MacroCall], out: &mut Vec<RawDiagnostic>) {
    let others = calls.iter().skip(1).filter_map(|it| cx.sema.expand_macro_call(it)).map(|it| it.value);
    for list in [made.clone()].into_iter().chain(others).flat_map(|it| it.descendants().collect::<Vec<_>>()) {
        let mut known: HashSet<(u8, String)> = HashSet::new();
        for node in list.children().filter(|it| !is_conditional(it)) {
            let Some((space, name)) = declared(&node) else { continue };
            if known.insert((space, name.text().to_string())) {
                continue;
            }
            let code = match space {
                FIELDS => Code::E0124,
                _ if ast::AssocItemList::can_cast(list.kind()) => {
                    let block = list.parent().and_then(ast::Impl::cast);
                    if block.is_some_and(|it| it.trait_().is_none()) { Code::E0592 } else { Code::E0201 }
                }
                _ => Code::E0428,
            };
            let message = format!("`{}` is declared twice", name.text());
            out.push(RawDiagnostic {
                rule: RuleId::Duplicates,
                ..report::raw_diagnostic(cx, name.syntax(), code, message)
            });
        }
    }
}

const FIELDS: u8 = 2;

/// The name that a node declares, and its namespace.
fn declared(node: &SyntaxNode) -> Option<(u8, ast::Name)> {
    let space = match node.kind() {
        SyntaxKind::STRUCT
        | SyntaxKind::ENUM
        | SyntaxKind::UNION
        | SyntaxKind::TRAIT
        | SyntaxKind::TYPE_ALIAS
        | SyntaxKind::MODULE => 0,
        SyntaxKind::FN | SyntaxKind::CONST | SyntaxKind::STATIC => 1,
        SyntaxKind::RECORD_FIELD => FIELDS,
        SyntaxKind::VARIANT => 3,
        _ => return None,
    };
    Some((space, node.children().find_map(ast::Name::cast)?))
}

/// Whether a macro call cannot be expanded, or into nothing that the compiler could parse.
fn fails(cx: &Context<'_>, call: &ast::MacroCall, found: &mut Vec<RawDiagnostic>) -> bool {
    let Some(id) = cx.sema.to_def(call) else { return false };
    // Of the built-in macros only this one fails wherever the compiler's does. `cargo metadata` enables more features than a
    // build does, so that a condition on features may not hold there.
    let is_exact = match id.loc(cx.db).def.kind {
        MacroDefKind::Declarative(..) => true,
        MacroDefKind::BuiltInEager(_, it) => it == EagerExpander::CompileError && !is_conditional(call.syntax()),
        _ => false,
    };
    let Some(failure) = id.parse_macro_expansion_error(cx.db).filter(|_| is_exact) else { return false };
    let at = call.path().map_or_else(|| call.syntax().clone(), |it| it.syntax().clone());
    let at = InFile::new(cx.sema.hir_file_for(&at), at.text_range());
    let (at, message) = match failure.err {
        Some(error) => (at, error.render_to_string(cx.db).message),
        None => {
            let made = cx.sema.expand_macro_call(call).map(|it| it.value);
            let token_at = |it: &SyntaxError| made.as_ref()?.token_at_offset(it.range().start()).right_biased();
            // rust-analyzer takes the name of the macro in `safe! { … }` for a qualifier.
            let is_call = |it: &SyntaxError| token_at(it).is_some_and(|it| it.kind() == SyntaxKind::BANG);
            let is_error = |it: &&SyntaxError| {
                let message = it.to_string();
                !nesting::is_refusal(&message) && !native::is_of_fragment(cx, &message, at)
            };
            if failure.value.iter().any(is_call) {
                return false;
            }
            let Some(error) = failure.value.iter().find(is_error) else { return false };
            let token = token_at(error);
            let stands =
                made.as_ref().zip(token).map(|(made, it)| InFile::new(cx.sema.hir_file_for(made), it.text_range()));
            (stands.unwrap_or(at), error.to_string())
        }
    };
    if nesting::is_too_long(&message) {
        cx.note_stumble(Fault::Exhausted(Bound::Steps), || "a macro call".to_owned());
    } else {
        let range = places::reported_at(cx, at);
        found.push(RawDiagnostic { rule: RuleId::MacroPaths, ..RawDiagnostic::new(range, Code::Uncoded, message) });
    }
    true
}

/// Whether a node is a member, or a call that makes some, of an `impl` block, a trait or an extern block.
fn is_member(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let is_of_macro = |it: &SyntaxNode| ast::MacroItems::can_cast(it.kind()) || ast::MacroCall::can_cast(it.kind());
    let around = cx.sema.ancestors_with_macros(node.clone()).skip(1).find(|it| !is_of_macro(it));
    around.is_some_and(|it| is_list_of_members(&it))
}

fn is_list_of_members(node: &SyntaxNode) -> bool {
    ast::AssocItemList::can_cast(node.kind()) || ast::ExternItemList::can_cast(node.kind())
}

/// Whether no attribute macro replaces a node of an expansion.
fn is_final(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let file = cx.sema.hir_file_for(node);
    let mut items = node.ancestors().filter_map(ast::Item::cast);
    !items.any(|it| cx.sema.is_attr_macro_call(InFile::new(file, &it)))
}

/// Whether no `cfg` switches off an item of an expansion.
fn is_compiled(cx: &Context<'_>, item: &ast::Item) -> bool {
    match item {
        ast::Item::Fn(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Impl(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Struct(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Enum(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Union(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Trait(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Const(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Static(it) => cx.sema.to_def(it).is_some(),
        ast::Item::TypeAlias(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Module(it) => cx.sema.to_def(it).is_some(),
        ast::Item::Use(_) | ast::Item::ExternCrate(_) => true,
        _ => false,
    }
}
