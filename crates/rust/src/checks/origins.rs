//! What the value of an expression comes from: one walk for all rules that follow an error through a body.

use ra_ap_syntax::ast;
use ra_ap_syntax::ast::{HasArgList as _, RangeItem as _};

/// How a value comes from another expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is that value: of a branch, of a block, or in parentheses.
    Value,
    /// It is computed from that value: a member, a call, a reference.
    Receiver,
    /// That value is a part of it, or an operand.
    Operand,
    /// Only if the type of an argument determines the type of the result.
    Argument,
}

/// The expressions from which the value of another one comes, in the order of the text.
pub(crate) fn origins(of: &ast::Expr) -> Vec<(Origin, ast::Expr)> {
    use Origin::{Argument, Operand, Receiver, Value};
    let one = |origin: Origin, it: Option<ast::Expr>| it.map(|it| (origin, it)).into_iter().collect::<Vec<_>>();
    let arguments = |it: Option<ast::ArgList>| it.into_iter().flat_map(|it| it.args()).map(|it| (Argument, it));
    match of {
        ast::Expr::ParenExpr(it) => one(Value, it.expr()),
        ast::Expr::BlockExpr(it) => one(Value, it.tail_expr()),
        ast::Expr::IfExpr(it) => {
            let other = it.else_branch().map(|it| match it {
                ast::ElseBranch::Block(it) => ast::Expr::from(it),
                ast::ElseBranch::IfExpr(it) => it.into(),
            });
            it.then_branch().map(Into::into).into_iter().chain(other).map(|it| (Value, it)).collect()
        }
        ast::Expr::MatchExpr(it) => {
            let arms = it.match_arm_list().into_iter().flat_map(|it| it.arms()).filter_map(|it| it.expr());
            one(Operand, it.expr()).into_iter().chain(arms.map(|it| (Value, it))).collect()
        }
        ast::Expr::RefExpr(it) => one(Receiver, it.expr()),
        ast::Expr::TryExpr(it) => one(Receiver, it.expr()),
        ast::Expr::FieldExpr(it) => one(Receiver, it.expr()),
        ast::Expr::MethodCallExpr(it) => {
            one(Receiver, it.receiver()).into_iter().chain(arguments(it.arg_list())).collect()
        }
        ast::Expr::CallExpr(it) => one(Receiver, it.expr()).into_iter().chain(arguments(it.arg_list())).collect(),
        ast::Expr::AwaitExpr(it) => one(Operand, it.expr()),
        ast::Expr::PrefixExpr(it) => one(Operand, it.expr()),
        // A comparison is a `bool`, whatever its operands are.
        ast::Expr::BinExpr(it) => match it.op_kind() {
            Some(ast::BinaryOp::LogicOp(_) | ast::BinaryOp::CmpOp(_)) => Vec::new(),
            _ => it.lhs().into_iter().chain(it.rhs()).map(|it| (Operand, it)).collect(),
        },
        ast::Expr::RangeExpr(it) => it.start().into_iter().chain(it.end()).map(|it| (Operand, it)).collect(),
        ast::Expr::IndexExpr(it) => it.base().into_iter().chain(it.index()).map(|it| (Operand, it)).collect(),
        ast::Expr::TupleExpr(it) => it.fields().map(|it| (Operand, it)).collect(),
        ast::Expr::ArrayExpr(it) => it.exprs().map(|it| (Operand, it)).collect(),
        _ => Vec::new(),
    }
}
