//! Operators of types that do not have them, and arrays of one value of a type that cannot be copied: rust-analyzer says
//! nothing of these.

use ra_ap_hir::{
    AsAssocItem as _, AssocItemContainer, Function, HirDisplay as _, Impl, InFile, ModuleDef, PathResolution, Trait,
    Type,
};
use ra_ap_ide::FileRange;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::code::Code;
use super::finding::{RawDiagnostic, Subject};
use crate::lang::rust::view::Context;

impl<'db> Context<'db> {
    pub(super) fn operators(&self, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
        if let Some(unary) = ast::PrefixExpr::cast(node.clone()) {
            out.extend(self.unary(&unary));
        } else if let Some(binary) = ast::BinExpr::cast(node.clone()) {
            out.extend(self.binary(&binary));
        } else if let Some(array) = ast::ArrayExpr::cast(node.clone()) {
            out.extend(self.repeated(&array));
        }
    }

    fn binary(&self, expression: &ast::BinExpr) -> Option<RawDiagnostic> {
        let (left, right) = (self.type_of_operand(expression.lhs())?, self.type_of_operand(expression.rhs())?);
        let is_builtin = |it: &Type<'db>| it.as_builtin().is_some();
        let is_same = is_builtin(&left) && is_builtin(&right) && left == right;
        if is_same || left.contains_unknown() || [&left, &right].into_iter().any(|it| it.is_never()) {
            return None;
        }
        let kind = expression.op_kind()?;
        let has_it = match right.contains_unknown() {
            // Whatever stands on the right.
            true => !(matches!(kind, ast::BinaryOp::ArithOp(_)) && has_no_arithmetic(&left)),
            false => {
                let of = self.trait_with(self.sema.resolve_bin_expr(expression)?)?;
                left.impls_trait(self.db, of, std::slice::from_ref(&right))
            }
        };
        if has_it {
            return None;
        }
        let target = self.sema.scope(expression.syntax())?.krate().to_display_target(self.db);
        let told = |it: &Type<'db>| it.display(self.db, target).to_string();
        let operator = expression.op_token()?;
        let message = format!("`{}` cannot be applied to `{}` and `{}`", operator.text(), told(&left), told(&right));
        let code = match kind {
            ast::BinaryOp::Assignment { .. } => Code::E0368,
            // What comes of it is of the type on the left.
            ast::BinaryOp::ArithOp(_) if is_number(&left) && is_number(&right) => Code::E0277,
            // Where there is one way to compare a type, the other side has to be what that takes.
            ast::BinaryOp::CmpOp(_) => match self.ways_of(expression, &left) {
                1 if left.as_adt() != right.as_adt() => {
                    let message = format!("mismatched types: expected `{}`, found `{}`", told(&left), told(&right));
                    return Some(self.told_of(expression.rhs()?.syntax(), Code::E0308, message));
                }
                2.. if is_number(&right) => Code::E0277,
                _ => Code::E0369,
            },
            _ => Code::E0369,
        };
        Some(self.told_of(expression.syntax(), code, message))
    }

    /// How many implementations a type has of the trait of an operator.
    fn ways_of(&self, expression: &ast::BinExpr, left: &Type<'db>) -> usize {
        let of = self.sema.resolve_bin_expr(expression).and_then(|it| self.trait_with(it));
        let Some((of, adt)) = of.zip(left.as_adt()) else { return 0 };
        let blocks = Impl::all_for_type(self.db, adt.ty(self.db)).into_iter();
        let own = blocks.filter(|it| it.trait_(self.db) == Some(of));
        own.filter(|it| it.self_ty(self.db).as_adt() == Some(adt)).count()
    }

    fn unary(&self, expression: &ast::PrefixExpr) -> Option<RawDiagnostic> {
        let operator = match expression.op_kind()? {
            ast::UnaryOp::Deref => return None,
            ast::UnaryOp::Not | ast::UnaryOp::Neg => expression.op_token()?,
        };
        let ty = self.type_of_operand(expression.expr())?;
        let is_unsigned = ty.as_builtin().is_some_and(|it| it.is_uint());
        if is_unsigned && matches!(expression.op_kind(), Some(ast::UnaryOp::Neg)) {
            let message = "cannot apply unary operator `-` to an unsigned number".to_owned();
            return Some(self.told_of(expression.syntax(), Code::E0600, message));
        }
        if ty.as_builtin().is_some() || ty.contains_unknown() || ty.is_never() {
            return None;
        }
        let of = self.trait_with(self.sema.resolve_prefix_expr(expression)?)?;
        if ty.impls_trait(self.db, of, &[]) {
            return None;
        }
        let target = self.sema.scope(expression.syntax())?.krate().to_display_target(self.db);
        let message =
            format!("cannot apply unary operator `{}` to type `{}`", operator.text(), ty.display(self.db, target));
        Some(self.told_of(expression.syntax(), Code::E0600, message))
    }

    /// What is repeated is copied, unless it is a constant.
    fn repeated(&self, array: &ast::ArrayExpr) -> Option<RawDiagnostic> {
        let ast::ArrayExprKind::Repeat { initializer: Some(of), repeat: Some(times) } = array.kind() else {
            return None;
        };
        let is_constant = match &of {
            ast::Expr::PathExpr(it) => {
                let meant = it.path().and_then(|it| self.sema.resolve_path(&it));
                matches!(meant, Some(PathResolution::Def(ModuleDef::Const(_) | ModuleDef::Adt(_))))
            }
            ast::Expr::BlockExpr(it) => it.const_token().is_some(),
            _ => false,
        };
        let ty = self.type_of_operand(Some(of.clone()))?;
        let is_once = matches!(times.syntax().text().to_string().as_str(), "0" | "1");
        if is_constant || is_once || ty.contains_unknown() || ty.is_never() || ty.is_copy(self.db) {
            return None;
        }
        let target = self.sema.scope(array.syntax())?.krate().to_display_target(self.db);
        let message = format!("the trait bound `{}: Copy` is not satisfied", ty.display(self.db, target));
        let bound = Subject::of_bound(ty.display(self.db, target).to_string(), "Copy");
        Some(self.told_of(of.syntax(), Code::E0277, message).about(bound))
    }

    fn type_of_operand(&self, expression: Option<ast::Expr>) -> Option<Type<'db>> {
        self.sema.type_of_expr(&expression?).map(|it| it.original)
    }

    fn trait_with(&self, function: Function) -> Option<Trait> {
        match function.as_assoc_item(self.db)?.container(self.db) {
            AssocItemContainer::Trait(it) => Some(it),
            AssocItemContainer::Impl(it) => it.trait_(self.db),
        }
    }

    pub(super) fn told_of(&self, node: &SyntaxNode, code: Code, message: String) -> RawDiagnostic {
        RawDiagnostic::new(self.told_range(node), code, message)
    }

    /// Where the compiler tells of a node, that a macro may have made.
    pub(super) fn told_range(&self, node: &SyntaxNode) -> FileRange {
        self.told_at(InFile::new(self.sema.hir_file_for(node), node.text_range()))
    }
}

fn is_number(ty: &Type<'_>) -> bool {
    ty.as_builtin().is_some_and(|it| it.is_int() || it.is_uint()) || ty.is_float()
}

/// Texts, slices, tuples and the like, behind however many references.
fn has_no_arithmetic(ty: &Type<'_>) -> bool {
    let ty = ty.strip_references();
    let is_text = ty.as_builtin().is_some_and(|it| it.is_str() || it.is_char());
    is_text || ty.as_slice().is_some() || ty.is_array() || ty.is_tuple() || ty.is_closure()
}
