//! Patterns against the result of an `async fn` or another `impl Trait`, and conditions of such a type. rust-analyzer
//! assumes that the type may still turn out to be the expected one, and does not report a mismatch.

use ra_ap_hir::{HirDisplay as _, Semantics, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn patterns_of_opaque(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let (of, patterns) = if let Some(it) = ast::LetExpr::cast(node.clone()) {
        (it.expr(), it.pat().into_iter().collect())
    } else if let Some(it) = ast::LetStmt::cast(node.clone()).filter(|it| it.ty().is_none()) {
        (it.initializer(), it.pat().into_iter().collect())
    } else if let Some(it) = ast::MatchExpr::cast(node.clone()) {
        let arms = it.match_arm_list().into_iter().flat_map(|it| it.arms());
        (it.expr(), arms.filter_map(|it| it.pat()).collect::<Vec<_>>())
    } else {
        return opaque_condition(cx, node, out);
    };
    if !patterns.iter().any(may_refuse) {
        return;
    }
    let Some(ty) = of.and_then(|it| opaque_type(&cx.sema, &it)) else { return };
    patterns.iter().for_each(|it| refused_by(cx, it, &ty, out));
}

fn opaque_type<'db>(sema: &Semantics<'db, RootDatabase>, of: &ast::Expr) -> Option<Type<'db>> {
    let ty = sema.type_of_expr(of)?.original;
    (ty.as_impl_traits(sema.db).is_some() && ty.as_type_param(sema.db).is_none()).then_some(ty)
}

fn opaque_condition(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let condition = match ast::IfExpr::cast(node.clone()) {
        Some(it) => it.condition(),
        None => match ast::WhileExpr::cast(node.clone()) {
            Some(it) => it.condition(),
            None => ast::MatchGuard::cast(node.clone()).and_then(|it| it.condition()),
        },
    };
    let Some((condition, ty)) = condition.and_then(|it| Some((it.clone(), opaque_type(&cx.sema, &it)?))) else {
        return;
    };
    let Some(scope) = cx.sema.scope(node) else { return };
    let found = ty.display(cx.db, scope.krate().to_display_target(cx.db));
    let message = format!("mismatched types: expected `bool`, found `{found}`");
    out.push(report::raw_diagnostic(cx, condition.syntax(), Code::E0308, message));
}

fn refused_by<'db>(cx: &Context<'db>, pattern: &ast::Pat, ty: &Type<'db>, out: &mut Vec<RawDiagnostic>) {
    let path = match pattern {
        ast::Pat::OrPat(it) => return it.pats().for_each(|it| refused_by(cx, &it, ty, out)),
        ast::Pat::ParenPat(it) => return it.pat().into_iter().for_each(|it| refused_by(cx, &it, ty, out)),
        ast::Pat::IdentPat(it) if it.pat().is_some() => {
            return it.pat().into_iter().for_each(|it| refused_by(cx, &it, ty, out));
        }
        ast::Pat::IdentPat(it) if cx.sema.resolve_bind_pat_to_const(it).is_none() => return,
        ast::Pat::TupleStructPat(it) => it.path(),
        ast::Pat::RecordPat(it) => it.path(),
        ast::Pat::PathPat(it) => it.path(),
        _ => None,
    };
    // An unresolved name is reported itself.
    let is_known = path.is_none_or(|it| cx.sema.resolve_path(&it).is_some());
    let target = cx.sema.scope(pattern.syntax()).map(|it| it.krate().to_display_target(cx.db));
    if let Some(target) = target.filter(|_| is_known && may_refuse(pattern)) {
        let found = ty.display(cx.db, target);
        let message = format!("mismatched types: `{}` is matched, found `{found}`", pattern.syntax().text());
        out.push(report::raw_diagnostic(cx, pattern.syntax(), Code::E0308, message));
    }
}

/// Whether a pattern does not fit all types. A name in lower case is taken for a variable.
fn may_refuse(pattern: &ast::Pat) -> bool {
    let is_variable = |it: &ast::IdentPat| {
        it.pat().is_none() && it.name().is_some_and(|it| !it.text().starts_with(char::is_uppercase))
    };
    match pattern {
        ast::Pat::IdentPat(it) => !is_variable(it),
        ast::Pat::WildcardPat(_)
        | ast::Pat::RestPat(_)
        | ast::Pat::MacroPat(_)
        | ast::Pat::BoxPat(_)
        | ast::Pat::SlicePat(_) => false,
        _ => true,
    }
}
