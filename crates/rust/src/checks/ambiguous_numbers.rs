//! Methods of numbers whose type is not known where they are called (E0689).

use ra_ap_hir::{Name, PathResolution};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, TextSize, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// A trait's method is found for any number; a method of one type is not.
pub(crate) fn methods_of_numbers(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(call) = ast::MethodCallExpr::cast(node.clone()) else { return };
    let Some((receiver, name)) = call.receiver().zip(call.name_ref()) else { return };
    let Some(number) = ambiguous(&receiver).or_else(|| initial(cx, &receiver)) else { return };
    // rust-analyzer finds no inherent method of such a number either, and reports nothing.
    if cx.sema.resolve_method_call(&call).is_some() {
        return;
    }
    let Some((scope, ty)) = cx.sema.scope(call.syntax()).zip(cx.sema.type_of_expr(&receiver)) else { return };
    let found = ty.original.iterate_method_candidates(cx.db, &scope, Some(&Name::new_root(name.text())), Some);
    if found.is_some() {
        let message = format!("can't call method `{}` on ambiguous numeric type `{{{number}}}`", name.text());
        out.push(report::raw_diagnostic(cx, name.syntax(), Code::E0689, message));
    }
}

/// What a literal without a suffix is, also a negative one: an integer or a float.
fn ambiguous(expression: &ast::Expr) -> Option<&'static str> {
    match expression {
        ast::Expr::ParenExpr(it) => ambiguous(&it.expr()?),
        ast::Expr::PrefixExpr(it) if it.op_kind() == Some(ast::UnaryOp::Neg) => ambiguous(&it.expr()?),
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::IntNumber(it) if it.suffix().is_none() => Some("integer"),
            ast::LiteralKind::FloatNumber(it) if it.suffix().is_none() => Some("float"),
            _ => None,
        },
        _ => None,
    }
}

/// The same of a variable that has only been initialised so far.
fn initial(cx: &Context<'_>, receiver: &ast::Expr) -> Option<&'static str> {
    let ast::Expr::PathExpr(path) = receiver else { return None };
    let path = path.path()?;
    let PathResolution::Local(local) = cx.sema.resolve_path(&path)? else { return None };
    let source = local.primary_source(cx.db);
    let pattern = source.as_ident_pat()?.clone();
    let statement = ast::LetStmt::cast(pattern.syntax().parent()?).filter(|it| it.ty().is_none())?;
    let number = ambiguous(&statement.initializer()?)?;
    let name = pattern.name()?;
    let from = statement.syntax().text_range().end();
    let within = statement.syntax().parent()?;
    // Any use in between may decide its type, also one in the same expression.
    let is_between = |it: &SyntaxToken| (from..path.syntax().text_range().start()).contains(&it.text_range().start());
    let tokens = within.descendants_with_tokens().filter_map(|it| it.into_token());
    let start: TextSize = path.syntax().text_range().start();
    (start > from && !tokens.filter(is_between).any(|it| it.text() == name.text())).then_some(number)
}
