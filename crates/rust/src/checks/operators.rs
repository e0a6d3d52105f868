//! Operators of types that do not have them, and arrays that repeat a value of a type that is not `Copy`: rust-analyzer
//! reports neither.

use ra_ap_hir::{
    AsAssocItem as _, AssocItemContainer, Function, HirDisplay as _, Impl, ModuleDef, Mutability, PathResolution,
    Semantics, Trait, Type,
};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{body_impls, report};
use crate::finding::code::Code;
use crate::finding::{RawDiagnostic, Subject};
use crate::view::Context;

pub(crate) fn operators(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some(unary) = ast::PrefixExpr::cast(node.clone()) {
        out.extend(check_unary(cx, &unary));
    } else if let Some(binary) = ast::BinExpr::cast(node.clone()) {
        out.extend(check_binary(cx, &binary));
    } else if let Some(array) = ast::ArrayExpr::cast(node.clone()) {
        out.extend(check_repeated(cx, &array));
    }
}

fn check_binary<'db>(cx: &Context<'db>, expression: &ast::BinExpr) -> Option<RawDiagnostic> {
    let (left, right) = (type_of_operand(&cx.sema, expression.lhs())?, type_of_operand(&cx.sema, expression.rhs())?);
    let is_builtin = |it: &Type<'db>| it.as_builtin().is_some();
    let is_same = is_builtin(&left) && is_builtin(&right) && left == right;
    if is_same || left.contains_unknown() || [&left, &right].into_iter().any(|it| it.is_never()) {
        return None;
    }
    let kind = expression.op_kind()?;
    let is_arithmetic = matches!(kind, ast::BinaryOp::ArithOp(_));
    let is_function = is_arithmetic && left.strip_references().is_fn();
    let has_it = if is_function {
        // Nothing is called, and there is no operator to look up.
        false
    } else if right.contains_unknown() {
        // Regardless of the right operand.
        !(is_arithmetic && has_no_arithmetic(&left))
    } else {
        let of = trait_with(cx.db, cx.sema.resolve_bin_expr(expression)?)?;
        // A raw pointer has one implementation of each comparison, and the right operand is coerced to its parameter.
        let is_coerced = || left.is_raw_ptr() && right.could_coerce_to(cx.db, &left);
        // So is that of an operator with one implementation: `&String` to `&str` in `text += &more`, in comparisons too.
        let is_dereferenced = || {
            let Some(inner) = right.as_reference_inner().filter(|_| ways_of(&cx.sema, expression, &left).len() == 1)
            else {
                return false;
            };
            let references = inner.autoderef(cx.db).map(|it| it.add_reference(cx.db, Mutability::Shared));
            references.into_iter().any(|it| left.impls_trait(cx.db, of, &[it]))
        };
        let as_coerced = || cx.sema.type_of_expr(&expression.rhs()?).and_then(|it| it.adjusted);
        left.impls_trait(cx.db, of, std::slice::from_ref(&right))
            || is_coerced()
            || is_dereferenced()
            || as_coerced().is_some_and(|it| left.impls_trait(cx.db, of, &[it]))
            || body_impls::may_implement(cx, of, &left)
    };
    if has_it {
        return None;
    }
    let target = cx.sema.scope(expression.syntax())?.krate().to_display_target(cx.db);
    let shown = |it: &Type<'db>| it.display(cx.db, target).to_string();
    let operator = expression.op_token()?;
    let message = format!("`{}` cannot be applied to `{}` and `{}`", operator.text(), shown(&left), shown(&right));
    let code = match kind {
        ast::BinaryOp::Assignment { .. } => Code::E0368,
        // The result has the type of the left operand.
        ast::BinaryOp::ArithOp(_) if is_number(&left) => Code::E0277,
        // If a type has only one implementation for comparison, the right operand has to be of its parameter's type.
        ast::BinaryOp::CmpOp(_) => match ways_of(&cx.sema, expression, &left).len() {
            1 if left.as_adt() != right.as_adt() => {
                let message = format!("mismatched types: expected `{}`, found `{}`", shown(&left), shown(&right));
                return Some(report::raw_diagnostic(cx, expression.rhs()?.syntax(), Code::E0308, message));
            }
            2.. if is_number(&right) => Code::E0277,
            _ => Code::E0369,
        },
        _ => Code::E0369,
    };
    Some(report::raw_diagnostic(cx, expression.syntax(), code, message))
}

/// The implementations that a type has of an operator's trait.
fn ways_of<'db>(sema: &Semantics<'db, RootDatabase>, expression: &ast::BinExpr, left: &Type<'db>) -> Vec<Impl> {
    let of = sema.resolve_bin_expr(expression).and_then(|it| trait_with(sema.db, it));
    let Some((of, adt)) = of.zip(left.as_adt()) else { return Vec::new() };
    let blocks = Impl::all_for_type(sema.db, adt.ty(sema.db)).into_iter();
    let own = blocks.filter(|it| it.trait_(sema.db) == Some(of));
    own.filter(|it| it.self_ty(sema.db).as_adt() == Some(adt)).collect()
}

fn check_unary(cx: &Context<'_>, expression: &ast::PrefixExpr) -> Option<RawDiagnostic> {
    let operator = match expression.op_kind()? {
        ast::UnaryOp::Deref => return None,
        ast::UnaryOp::Not | ast::UnaryOp::Neg => expression.op_token()?,
    };
    let ty = type_of_operand(&cx.sema, expression.expr())?;
    let is_unsigned = ty.as_builtin().is_some_and(|it| it.is_uint());
    if is_unsigned && matches!(expression.op_kind(), Some(ast::UnaryOp::Neg)) {
        let message = "cannot apply unary operator `-` to an unsigned number".to_owned();
        return Some(report::raw_diagnostic(cx, expression.syntax(), Code::E0600, message));
    }
    if ty.as_builtin().is_some() || ty.contains_unknown() || ty.is_never() {
        return None;
    }
    let of = trait_with(cx.db, cx.sema.resolve_prefix_expr(expression)?)?;
    if ty.impls_trait(cx.db, of, &[]) || body_impls::may_implement(cx, of, &ty) {
        return None;
    }
    let target = cx.sema.scope(expression.syntax())?.krate().to_display_target(cx.db);
    let message = format!("cannot apply unary operator `{}` to type `{}`", operator.text(), ty.display(cx.db, target));
    Some(report::raw_diagnostic(cx, expression.syntax(), Code::E0600, message))
}

/// A repeated value is copied, unless it is a constant.
fn check_repeated(cx: &Context<'_>, array: &ast::ArrayExpr) -> Option<RawDiagnostic> {
    let ast::ArrayExprKind::Repeat { initializer: Some(of), repeat: Some(times) } = array.kind() else {
        return None;
    };
    let is_constant = match &of {
        ast::Expr::PathExpr(it) => {
            let meant = it.path().and_then(|it| cx.sema.resolve_path(&it));
            matches!(meant, Some(PathResolution::Def(ModuleDef::Const(_) | ModuleDef::Adt(_))))
        }
        ast::Expr::BlockExpr(it) => it.const_token().is_some(),
        _ => false,
    };
    let ty = type_of_operand(&cx.sema, Some(of.clone()))?;
    let is_once = matches!(times.syntax().text().to_string().as_str(), "0" | "1");
    if is_constant || is_once || ty.contains_unknown() || ty.is_never() || ty.is_copy(cx.db) {
        return None;
    }
    let target = cx.sema.scope(array.syntax())?.krate().to_display_target(cx.db);
    let message = format!("the trait bound `{}: Copy` is not satisfied", ty.display(cx.db, target));
    let bound = Subject::of_bound(ty.display(cx.db, target).to_string(), "Copy");
    Some(report::raw_diagnostic(cx, of.syntax(), Code::E0277, message).about(bound))
}

fn type_of_operand<'db>(sema: &Semantics<'db, RootDatabase>, expression: Option<ast::Expr>) -> Option<Type<'db>> {
    sema.type_of_expr(&expression?).map(|it| it.original)
}

fn trait_with(db: &RootDatabase, function: Function) -> Option<Trait> {
    match function.as_assoc_item(db)?.container(db) {
        AssocItemContainer::Trait(it) => Some(it),
        AssocItemContainer::Impl(it) => it.trait_(db),
    }
}

fn is_number(ty: &Type<'_>) -> bool {
    ty.as_builtin().is_some_and(|it| it.is_int() || it.is_uint()) || ty.is_float()
}

/// Strings, slices, tuples and similar types, behind any number of references.
fn has_no_arithmetic(ty: &Type<'_>) -> bool {
    let ty = ty.strip_references();
    let is_text = ty.as_builtin().is_some_and(|it| it.is_str() || it.is_char());
    is_text || ty.as_slice().is_some() || ty.is_array() || ty.is_tuple() || ty.is_closure()
}
