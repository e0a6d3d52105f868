//! Methods of numbers whose type is not known where they are called (E0689). rust-analyzer takes the type that the
//! number has in the end.

use ra_ap_hir::{AsAssocItem as _, AssocItemContainer};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::{report, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn ambiguous_numbers(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(call) = ast::MethodCallExpr::cast(node.clone()) else { return };
    let Some((receiver, name)) = call.receiver().zip(call.name_ref()) else { return };
    let is_open = is_open_number(&receiver) || matches!(&receiver, ast::Expr::PathExpr(it) if is_open_variable(it));
    if is_open && written::is_written(cx, node) && is_of_number_alone(cx, &call, &receiver) {
        let message = format!("cannot call `{}` on a number of ambiguous type: give it a suffix", name.text());
        out.push(report::raw_diagnostic(cx, name.syntax(), Code::E0689, message));
    }
}

/// A literal without a suffix.
fn is_open_number(of: &ast::Expr) -> bool {
    match of {
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::IntNumber(it) => it.suffix().is_none(),
            ast::LiteralKind::FloatNumber(it) => it.suffix().is_none(),
            _ => false,
        },
        ast::Expr::ParenExpr(it) => it.expr().is_some_and(|it| is_open_number(&it)),
        ast::Expr::PrefixExpr(it) => {
            matches!(it.op_kind(), Some(ast::UnaryOp::Neg)) && it.expr().is_some_and(|it| is_open_number(&it))
        }
        _ => false,
    }
}

/// A variable that only has such a value so far, in the order in which the compiler reads the body.
fn is_open_variable(receiver: &ast::PathExpr) -> bool {
    let Some(name) = receiver.path().and_then(|it| it.as_single_name_ref()) else { return false };
    let declares = |it: &ast::LetStmt| match it.pat() {
        Some(ast::Pat::IdentPat(it)) => it.pat().is_none() && it.name().is_some_and(|it| it.text() == name.text()),
        _ => false,
    };
    let mut around = receiver.syntax().clone();
    // The parts of a call are not read in the order of the text if one is a closure.
    while !ast::StmtList::can_cast(around.kind()) {
        match around.parent() {
            Some(it) if !ast::ClosureExpr::can_cast(it.kind()) => around = it,
            _ => return false,
        }
    }
    let Some(block) = ast::StmtList::cast(around) else { return false };
    let before =
        block.statements().take_while(|it| it.syntax().text_range().end() <= receiver.syntax().text_range().start());
    let lets = before.filter_map(|it| match it {
        ast::Stmt::LetStmt(it) => Some(it),
        _ => None,
    });
    let Some(declared) = lets.filter(declares).last() else { return false };
    if declared.ty().is_some() || !declared.initializer().is_some_and(|it| is_open_number(&it)) {
        return false;
    }
    let between = declared.syntax().text_range().end()..receiver.syntax().text_range().start();
    let mut tokens = block.syntax().descendants_with_tokens().filter_map(|it| it.into_token());
    let is_used = tokens.any(|it| {
        let is_named = it.kind() == SyntaxKind::IDENT && it.text() == name.text();
        is_named && between.contains(&it.text_range().start())
    });
    !is_used
}

/// Whether the method is one of a number, and no trait in scope has it too.
fn is_of_number_alone(cx: &Context<'_>, call: &ast::MethodCallExpr, receiver: &ast::Expr) -> bool {
    let Some(function) = cx.sema.resolve_method_call(call) else { return false };
    let Some(AssocItemContainer::Impl(block)) = function.as_assoc_item(cx.db).map(|it| it.container(cx.db)) else {
        return false;
    };
    let is_of_number = block.trait_(cx.db).is_none() && block.self_ty(cx.db).as_builtin().is_some();
    let Some(scope) = cx.sema.scope(call.syntax()).filter(|_| is_of_number) else { return false };
    let name = function.name(cx.db);
    let is_of_trait =
        |it: ra_ap_hir::Trait| it.items_with_supertraits(cx.db).iter().any(|it| it.name(cx.db) == Some(name.clone()));
    cx.sema.type_of_expr(receiver).is_some() && !scope.visible_traits().0.iter().any(|it| is_of_trait((*it).into()))
}
