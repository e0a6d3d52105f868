//! Constants that cannot be evaluated, or are not the length that they are used for.

use std::ops::RangeInclusive;

use ra_ap_hir::{Const, HirDisplay as _, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The most levels of constants that name constants.
const MAX_CONSTANTS: usize = 8;

/// An integer type that cannot hold the computed value.
pub(crate) fn overflow(cx: &Context<'_>, of: Const) -> Option<RawDiagnostic> {
    let range = range_of(&shown_type(cx.db, of)?)?;
    let body = cx.sema.source(of)?.value.body()?;
    match evaluate(&cx.sema, &body, &range, MAX_CONSTANTS) {
        Err(Some(operation)) => Some(report::raw_diagnostic(
            cx,
            body.syntax(),
            Code::E0080,
            format!("attempt to {operation} with overflow"),
        )),
        Ok(_) | Err(None) => None,
    }
}

/// The value of an expression of numbers, constants and operators; otherwise the error if it overflows, or nothing if
/// that cannot be decided.
fn evaluate(
    sema: &Semantics<'_, RootDatabase>,
    of: &ast::Expr,
    range: &RangeInclusive<i128>,
    depth: usize,
) -> Result<i128, Option<&'static str>> {
    use ast::ArithOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Sub};
    match of {
        ast::Expr::ParenExpr(it) => evaluate(sema, &it.expr().ok_or(None)?, range, depth),
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::IntNumber(it) => {
                it.value().ok().and_then(|it| i128::try_from(it).ok()).filter(|it| range.contains(it)).ok_or(None)
            }
            _ => Err(None),
        },
        ast::Expr::PathExpr(it) if depth > 0 => {
            let named = it.path().and_then(|it| sema.resolve_path(&it));
            let Some(PathResolution::Def(ModuleDef::Const(named))) = named else { return Err(None) };
            let range = shown_type(sema.db, named).and_then(|it| range_of(&it)).ok_or(None)?;
            let body = sema.source(named).and_then(|it| it.value.body()).ok_or(None)?;
            // An overflow of that constant is reported there.
            evaluate(sema, &body, &range, depth - 1).map_err(|_| None)
        }
        ast::Expr::BinExpr(it) => {
            let Some(ast::BinaryOp::ArithOp(operator)) = it.op_kind() else { return Err(None) };
            let left = evaluate(sema, &it.lhs().ok_or(None)?, range, depth)?;
            let right = evaluate(sema, &it.rhs().ok_or(None)?, range, depth)?;
            let (value, name) = match operator {
                Add => (left.checked_add(right), "add"),
                Sub => (left.checked_sub(right), "subtract"),
                Mul => (left.checked_mul(right), "multiply"),
                Div => (left.checked_div(right), "divide"),
                Rem => (left.checked_rem(right), "calculate the remainder"),
                BitAnd => (Some(left & right), ""),
                BitOr => (Some(left | right), ""),
                BitXor => (Some(left ^ right), ""),
                ast::ArithOp::Shl | ast::ArithOp::Shr => {
                    // A shift by as many bits as the type has, or more.
                    let bits = (range.end() - range.start() + 1).ilog2();
                    let by = u32::try_from(right).ok().filter(|it| *it < bits).ok_or(Some("shift"))?;
                    (Some(if operator == ast::ArithOp::Shl { left << by } else { left >> by }), "shift")
                }
            };
            match value.filter(|it| range.contains(it)) {
                // Bits that are shifted out are lost.
                None if name == "shift" => Err(None),
                value => value.ok_or(Some(name)),
            }
        }
        _ => Err(None),
    }
}

fn shown_type(db: &RootDatabase, of: Const) -> Option<String> {
    let ty = of.ty(db);
    ty.as_builtin()?;
    Some(ty.display(db, of.module(db).krate(db).to_display_target(db)).to_string())
}

/// The error of a name that is used as the length of an array.
pub(crate) fn length<'db>(
    sema: &Semantics<'db, RootDatabase>,
    token: &SyntaxToken,
    meant: Definition<'db>,
) -> Option<(Code, String)> {
    let path = token.parent_ancestors().find_map(ast::PathExpr::cast)?;
    // The name may be a part of the length: `N + 1`.
    let is_part = |it: &SyntaxNode| ast::BinExpr::can_cast(it.kind()) || ast::ParenExpr::can_cast(it.kind());
    let around = path.syntax().ancestors().skip(1).take_while(is_part).last();
    let whole = around.unwrap_or_else(|| path.syntax().clone());
    let parent = whole.parent()?;
    let is_length = match ast::ArrayExpr::cast(parent.clone()) {
        Some(array) => {
            let last = array.exprs().last().is_some_and(|it| *it.syntax() == whole);
            array.semicolon_token().is_some() && last
        }
        None => {
            ast::ConstArg::can_cast(parent.kind())
                && parent.parent().is_some_and(|it| ast::ArrayType::can_cast(it.kind()))
        }
    };
    let ty = match meant {
        _ if !is_length => return None,
        Definition::Const(it) => it.ty(sema.db),
        Definition::Static(it) => it.ty(sema.db),
        Definition::Function(it) => it.fn_ptr_type(sema.db),
        _ => return None,
    };
    let target = sema.scope(path.syntax())?.krate().to_display_target(sema.db);
    let found = ty.display(sema.db, target).to_string();
    if found == "usize" || ty.contains_unknown() {
        return None;
    }
    let operation = path.syntax().parent().and_then(ast::BinExpr::cast).and_then(|it| it.op_token());
    Some(match operation.filter(|_| matches!(meant, Definition::Function(_))) {
        Some(it) => (Code::E0369, format!("`{}` cannot be applied to `{found}`", it.text())),
        None => (Code::E0308, format!("mismatched types: expected `usize`, found `{found}`")),
    })
}

/// The range of an integer type; `usize` as on a 64-bit machine.
fn range_of(ty: &str) -> Option<RangeInclusive<i128>> {
    let bits = match ty.get(1..)? {
        "size" => 64,
        digits => digits.parse().ok().filter(|it| matches!(it, 8 | 16 | 32 | 64))?,
    };
    match ty.as_bytes().first()? {
        b'u' => Some(0..=(1 << bits) - 1),
        b'i' => Some(-(1 << (bits - 1))..=(1 << (bits - 1)) - 1),
        _ => None,
    }
}
