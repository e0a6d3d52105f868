//! Integer literals that their type cannot hold: the lint `overflowing_literals`, an error by default.

use ra_ap_hir::HirDisplay as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{lints, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn overflowing(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(literal) = ast::Literal::cast(node.clone()) else { return };
    let ast::LiteralKind::IntNumber(number) = literal.kind() else { return };
    // Every type holds these.
    let Some(value) = number.value().ok().filter(|it| *it > 0x7f) else { return };
    let Some(expression) = ast::Expr::cast(node.clone()) else { return };
    let Some(krate) = cx.sema.scope(node).map(|it| it.krate()) else { return };
    let Some(ty) = cx.sema.type_of_expr(&expression) else { return };
    let ty = ty.original.display(cx.db, krate.to_display_target(cx.db)).to_string();
    let negation = node.parent().and_then(ast::PrefixExpr::cast);
    let is_negative = negation.is_some_and(|it| it.op_kind() == Some(ast::UnaryOp::Neg));
    let Some(most) = most(&ty, is_negative).filter(|it| value > *it) else { return };
    if lints::is_set_otherwise(cx, node, Code::OverflowingLiterals.name()) {
        return;
    }
    let message = format!("literal out of range for `{ty}`: at most {most}");
    out.push(report::raw_diagnostic(cx, node, Code::OverflowingLiterals, message));
}

/// The largest value of a type. That of a negated literal is one more.
fn most(ty: &str, is_negative: bool) -> Option<u128> {
    let (kind, width) = ty.split_at_checked(1)?;
    // A pointer may be smaller.
    let width = if width == "size" { 64 } else { width.parse::<u32>().ok()? };
    match kind {
        "u" => 1_u128.checked_shl(width).unwrap_or(0).checked_sub(1).or(Some(u128::MAX)),
        "i" => Some((1_u128 << (width - 1)) - u128::from(!is_negative)),
        _ => None,
    }
}
