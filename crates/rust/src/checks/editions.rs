//! What the edition 2024 refuses: patterns that are half implicit, references to mutable statics (the lint
//! `static_mut_refs`), `extern` blocks and attributes that are not declared `unsafe`. rust-analyzer reports none of these.

use ra_ap_hir::{Access, ModuleDef, PathResolution};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::bound_twice::is_outermost;
use super::report::Add;
use super::{lints, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// For a node of a body.
pub(crate) fn refused_since_2024(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    match node.kind() {
        SyntaxKind::REF_EXPR | SyntaxKind::METHOD_CALL_EXPR => {
            let is_refused = refers_to_static(cx, node) == Some(true) && is_of_2024(cx, node);
            if is_refused && !lints::is_set_otherwise(cx, node, Code::StaticMutRefs.name()) {
                let message = "creating a reference to a mutable static".to_owned();
                out.push(report::raw_diagnostic(cx, node, Code::StaticMutRefs, message));
            }
        }
        _ if is_outermost(node) => {
            let is_explicit = |it: SyntaxNode| match ast::IdentPat::cast(it.clone()) {
                Some(it) => it.ref_token().is_some() || it.mut_token().is_some(),
                None => it.kind() == SyntaxKind::REF_PAT,
            };
            if node.descendants().any(is_explicit) && is_of_2024(cx, node) {
                ast::Pat::cast(node.clone()).into_iter().for_each(|it| half_implicit(cx, &it, false, out));
            }
        }
        _ => {}
    }
}

fn is_of_2024(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    cx.sema.scope(node).is_some_and(|it| it.krate().edition(cx.db).at_least_2024())
}

/// Whether an expression makes a reference to a mutable static: `&COUNT.of`, or a method that takes one of its receiver.
fn refers_to_static(cx: &Context<'_>, node: &SyntaxNode) -> Option<bool> {
    let expression = ast::Expr::cast(node.clone())?;
    let mut place = match &expression {
        ast::Expr::RefExpr(it) if it.raw_token().is_none() => it.expr()?,
        ast::Expr::MethodCallExpr(it) => it.receiver()?,
        _ => return None,
    };
    while let ast::Expr::FieldExpr(it) = &place {
        place = it.expr()?;
    }
    let ast::Expr::PathExpr(path) = place else { return None };
    let PathResolution::Def(ModuleDef::Static(of)) = cx.sema.resolve_path(&path.path()?)? else { return None };
    let is_by_value = match &expression {
        ast::Expr::MethodCallExpr(it) => {
            cx.sema.resolve_method_call(it)?.self_param(cx.db)?.access(cx.db) == Access::Owned
        }
        _ => false,
    };
    Some(of.is_mut(cx.db) && !is_by_value)
}

/// The explicit parts of a pattern within one that goes through a reference implicitly. `is_borrowed` says whether a
/// pattern around this one does.
fn half_implicit(cx: &Context<'_>, pattern: &ast::Pat, is_borrowed: bool, out: &mut Vec<RawDiagnostic>) {
    let is_through = || !cx.sema.pattern_adjustments(pattern).is_empty();
    let mut refuse = |what: &str| {
        let message = format!("cannot {what} within an implicitly-borrowing pattern");
        out.push(report::raw_diagnostic(cx, pattern.syntax(), Code::Uncoded, message));
    };
    let (parts, is_borrowed): (Vec<ast::Pat>, bool) = match pattern {
        ast::Pat::IdentPat(it) => {
            if is_borrowed && it.ref_token().is_some() {
                refuse("explicitly borrow");
            } else if is_borrowed && it.mut_token().is_some() {
                refuse("mutably bind by value");
            }
            (it.pat().into_iter().collect(), is_borrowed)
        }
        ast::Pat::RefPat(it) => {
            if is_borrowed {
                refuse("explicitly dereference");
            }
            (it.pat().into_iter().collect(), false)
        }
        ast::Pat::RecordPat(it) => {
            let fields = it.record_pat_field_list().into_iter().flat_map(|it| it.fields());
            (fields.filter_map(|it| it.pat()).collect(), is_borrowed || is_through())
        }
        it => {
            let parts = it.syntax().children().filter_map(ast::Pat::cast).collect();
            (parts, is_borrowed || is_through())
        }
    };
    parts.iter().for_each(|it| half_implicit(cx, it, is_borrowed, out));
}

/// An `extern` block that is not `unsafe`, reported for its first item.
pub(super) fn safe_block(cx: &Context<'_>, item: &SyntaxNode, add: &mut Add<'_>) {
    let Some(list) = item.parent().filter(|it| it.kind() == SyntaxKind::EXTERN_ITEM_LIST) else { return };
    let is_first = list.children().find(|it| ast::Item::can_cast(it.kind())).as_ref() == Some(item);
    let Some(block) = list.parent().and_then(ast::ExternBlock::cast).filter(|_| is_first) else { return };
    if block.unsafe_token().is_none() && is_of_2024(cx, item) {
        let at = block.abi().map_or_else(|| block.syntax().clone(), |it| it.syntax().clone());
        add(&at, Code::Uncoded, "extern blocks must be unsafe");
    }
}

/// An attribute that is `unsafe` and not declared so.
pub(super) fn safe_attribute(cx: &Context<'_>, name: &str, attribute: &ast::Attr, add: &mut Add<'_>) {
    let is_unsafe = matches!(name, "export_name" | "link_section" | "no_mangle");
    let is_declared = matches!(attribute.meta(), Some(ast::Meta::UnsafeMeta(_)));
    if is_unsafe && !is_declared && is_of_2024(cx, attribute.syntax()) {
        add(attribute.syntax(), Code::Uncoded, "unsafe attribute used without unsafe");
    }
}
