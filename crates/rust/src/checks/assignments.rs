//! Assignments to what is not a place (E0070). rust-analyzer checks only compound assignments.

use ra_ap_hir::{ModuleDef, PathResolution};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{places, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn no_place(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(assignment) = ast::BinExpr::cast(node.clone()) else { return };
    let is_plain = matches!(assignment.op_kind(), Some(ast::BinaryOp::Assignment { op: None }));
    let Some((left, operator)) = assignment.lhs().zip(assignment.op_token()).filter(|_| is_plain) else { return };
    // A condition that assigns has another error.
    let parent = node.ancestors().skip(1).find(|it| !ast::ParenExpr::can_cast(it.kind()));
    let is_statement =
        parent.is_some_and(|it| ast::ExprStmt::can_cast(it.kind()) || ast::StmtList::can_cast(it.kind()));
    if is_statement && written::is_written(cx, node) && is_no_place(cx, &left) {
        let at = ra_ap_hir::InFile::new(cx.sema.hir_file_for(node), operator.text_range());
        let message = "invalid left-hand side of assignment".to_owned();
        out.push(RawDiagnostic::new(places::reported_at(cx, at), Code::E0070, message));
    }
}

/// Whether neither the expression nor a part of it that is assigned to is a place or a pattern.
fn is_no_place(cx: &Context<'_>, left: &ast::Expr) -> bool {
    match left {
        ast::Expr::Literal(_)
        | ast::Expr::MethodCallExpr(_)
        | ast::Expr::RefExpr(_)
        | ast::Expr::CastExpr(_)
        | ast::Expr::ClosureExpr(_)
        | ast::Expr::AwaitExpr(_)
        | ast::Expr::TryExpr(_) => true,
        ast::Expr::BinExpr(it) => !matches!(it.op_kind(), None | Some(ast::BinaryOp::Assignment { .. })),
        ast::Expr::PrefixExpr(it) => matches!(it.op_kind(), Some(ast::UnaryOp::Not | ast::UnaryOp::Neg)),
        ast::Expr::ParenExpr(it) => it.expr().is_some_and(|it| is_no_place(cx, &it)),
        ast::Expr::TupleExpr(it) => it.fields().any(|it| is_no_place(cx, &it)),
        ast::Expr::CallExpr(it) => match it.expr() {
            // A tuple struct or a variant is a pattern.
            Some(ast::Expr::PathExpr(it)) => is_function(cx, &it),
            _ => false,
        },
        ast::Expr::PathExpr(it) => {
            let meant = it.path().and_then(|it| cx.sema.resolve_path(&it));
            matches!(meant, Some(PathResolution::Def(ModuleDef::Function(_) | ModuleDef::Const(_))))
        }
        _ => false,
    }
}

fn is_function(cx: &Context<'_>, callee: &ast::PathExpr) -> bool {
    let meant = callee.path().and_then(|it| cx.sema.resolve_path(&it));
    matches!(meant, Some(PathResolution::Def(ModuleDef::Function(_))))
}
