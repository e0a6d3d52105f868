//! `?` in a function whose result cannot take what it returns, which rust-analyzer does not report.

use ra_ap_hir::{HirDisplay as _, ModuleDef, PathResolution, Type};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn try_operator(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(operator) = ast::TryExpr::cast(node.clone()) else { return };
    out.extend(check(cx, &operator));
}

fn check(cx: &Context<'_>, operator: &ast::TryExpr) -> Option<RawDiagnostic> {
    let around = operator.syntax().ancestors().skip(1).find(|it| {
        let is_block = ast::BlockExpr::cast(it.clone()).is_some_and(|it| it.modifier().is_some());
        is_block || ast::ClosureExpr::can_cast(it.kind()) || ast::Item::can_cast(it.kind())
    })?;
    let function = ast::Fn::cast(around).filter(|it| it.async_token().is_none())?;
    let result = cx.sema.to_def(&function)?.ret_type(cx.db);
    let operand = cx.sema.type_of_expr(&operator.expr()?)?.original;
    if operand.contains_unknown() || result.contains_unknown() {
        return None;
    }
    let (given, wanted) = (kind(cx, operator, &operand)?, kind(cx, operator, &result));
    let target = cx.sema.scope(operator.syntax())?.krate().to_display_target(cx.db);
    let shown = |it: &Type<'_>| it.display(cx.db, target).to_string();
    let message = match wanted {
        Some(wanted) if wanted == given => return None,
        // Other types of the standard library and opaque types may take it.
        None if !takes_none(cx, &result) => return None,
        _ => format!("`?` on `{}` is used in a function that returns `{}`", shown(&operand), shown(&result)),
    };
    let at = operator.question_mark_token()?.text_range();
    let place = cx.sema.hir_file_for(operator.syntax());
    let range = super::places::reported_at(cx, ra_ap_hir::InFile::new(place, at));
    Some(RawDiagnostic::new(range, Code::E0277, message))
}

/// Whether a type certainly does not implement `Try`, as only types of the standard library can.
fn takes_none(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    let is_own = ty.as_adt().is_some_and(|it| !it.module(cx.db).krate(cx.db).origin(cx.db).is_lang());
    is_own || ty.is_unit() || ty.as_builtin().is_some() || ty.is_reference()
}

/// Whether a type is the `Result` or the `Option` of the standard library.
fn kind(cx: &Context<'_>, around: &ast::TryExpr, ty: &Type<'_>) -> Option<&'static str> {
    let adt = ty.as_adt()?;
    [("Result", "::core::result::Result"), ("Option", "::core::option::Option")].into_iter().find_map(|(name, path)| {
        let meant = cx.sema.scope(around.syntax())?.speculative_resolve(&ast::make::path_from_text(path))?;
        let is_it = matches!(meant, PathResolution::Def(ModuleDef::Adt(it)) if it == adt);
        is_it.then_some(name)
    })
}
