//! An `async fn` that waits for itself without a box (E0733).

use ra_ap_hir::{DefWithBody, InFile, ModuleDef, PathResolution};
use ra_ap_ide::TextRange;
use ra_ap_syntax::{AstNode as _, Direction, NodeOrToken, SyntaxNode, ast};

use super::{places, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn unboxed_recursion(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    let DefWithBody::Function(function) = body else { return };
    if !function.is_async(cx.db) {
        return;
    }
    let Some(source) = cx.sema.source(function).filter(|it| it.value.async_token().is_some()) else { return };
    let Some(body) = source.value.body() else { return };
    let waits = body.syntax().descendants().filter_map(ast::AwaitExpr::cast);
    let mut calls = waits.filter(|it| is_reached(cx, it.syntax(), body.syntax())).filter_map(|it| it.expr());
    let is_itself = |it: ast::Expr| match it {
        ast::Expr::MethodCallExpr(it) => cx.sema.resolve_method_call(&it) == Some(function),
        ast::Expr::CallExpr(it) => {
            let Some(ast::Expr::PathExpr(callee)) = it.expr() else { return false };
            let meant = callee.path().and_then(|it| cx.sema.resolve_path(&it));
            meant == Some(PathResolution::Def(ModuleDef::Function(function)))
        }
        _ => false,
    };
    if calls.any(is_itself)
        && !written::may_be_changed(cx, source.value.syntax())
        && let Some(head) = head_of(&source.value)
    {
        let message = "recursion in an async fn requires boxing".to_owned();
        let at = places::reported_at(cx, InFile::new(source.file_id, head));
        out.push(RawDiagnostic::new(at, Code::E0733, message));
    }
}

/// Whether code belongs to the function itself, and no statement before it ends the function.
fn is_reached(cx: &Context<'_>, node: &SyntaxNode, body: &SyntaxNode) -> bool {
    let within: Vec<SyntaxNode> = node.ancestors().take_while(|it| it != body).collect();
    let is_own = within.iter().all(|it| {
        let is_block = ast::BlockExpr::cast(it.clone()).is_some_and(|it| it.async_token().is_some());
        !is_block && !ast::ClosureExpr::can_cast(it.kind()) && !ast::Item::can_cast(it.kind())
    });
    let is_behind_end = |it: &SyntaxNode| {
        let is_part =
            ast::Stmt::can_cast(it.kind()) || it.parent().is_some_and(|it| ast::StmtList::can_cast(it.kind()));
        is_part && it.siblings(Direction::Prev).skip(1).any(|it| may_end(cx, &it))
    };
    is_own && !within.iter().any(is_behind_end)
}

/// Macros that do not end a function.
const CONTINUING: [&str; 12] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug",
    "eprint",
    "eprintln",
    "error",
    "info",
    "print",
    "println",
    "trace",
    "warn",
];

/// Whether nothing may be reached behind a statement.
fn may_end(cx: &Context<'_>, statement: &SyntaxNode) -> bool {
    let Some(expression) = ast::ExprStmt::cast(statement.clone()).and_then(|it| it.expr()) else {
        return ast::LoopExpr::can_cast(statement.kind());
    };
    match &expression {
        ast::Expr::ReturnExpr(_) | ast::Expr::BreakExpr(_) | ast::Expr::ContinueExpr(_) | ast::Expr::LoopExpr(_) => {
            true
        }
        ast::Expr::MacroExpr(it) => {
            let path = it.macro_call().and_then(|it| it.path()?.segment()?.name_ref());
            !path.is_some_and(|it| CONTINUING.iter().any(|known| it.text() == *known))
        }
        _ => cx.sema.type_of_expr(&expression).is_some_and(|it| it.original.is_never()),
    }
}

/// From the visibility to the parameters.
fn head_of(function: &ast::Fn) -> Option<TextRange> {
    let mut parts = function.syntax().children_with_tokens().filter(|it| match it {
        NodeOrToken::Node(it) => !ast::Attr::can_cast(it.kind()),
        NodeOrToken::Token(it) => !it.kind().is_trivia(),
    });
    Some(parts.next()?.text_range().cover(function.param_list()?.syntax().text_range()))
}
