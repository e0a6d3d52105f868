//! What has no type because of an error. The compiler is silent about whatever is done with it; rust-analyzer goes on
//! with a guess.

use std::collections::HashMap;

use ra_ap_hir::Type;
use ra_ap_ide::{FileId, TextRange, TextSize};
use ra_ap_syntax::ast::{HasArgList as _, RangeItem as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::native::Told;
use crate::lang::rust::view::Context;

/// After these an expression has no type.
const ENDING: [&str; 8] = ["E0369", "E0425", "E0433", "E0599", "E0600", "E0609", "E0614", "E0615"];
/// These are not told of an expression that has none.
const FOLLOWING: [&str; 8] = ["E0277", "E0282", "E0308", "E0368", "E0369", "E0599", "E0600", "E0609"];

/// Locals that have no type, and from where on.
type Tainted = HashMap<String, TextSize>;

impl<'db> Context<'db> {
    /// Takes away what is told of locals that have no type.
    pub(super) fn without_tainted(&self, body: &SyntaxNode, told: &mut Vec<Told>) {
        let Some(file) = self.sema.hir_file_for(body).file_id().map(|it| it.file_id(self.db)) else { return };
        let is_ending = |it: &&Told| it.file == file && ENDING.contains(&it.code);
        let ends: Vec<TextRange> = told.iter().filter(is_ending).map(|it| it.range).collect();
        if ends.is_empty() {
            return;
        }
        let mut tainted = Tainted::new();
        for binding in body.descendants().filter_map(ast::LetStmt::cast) {
            let names =
                || binding.pat().into_iter().flat_map(|it| it.syntax().descendants()).filter_map(ast::Name::cast);
            let has_type = binding.ty().is_some();
            if !has_type && binding.initializer().is_some_and(|it| has_none(&it, &ends, &tainted)) {
                tainted.extend(names().map(|it| (it.text().to_string(), binding.syntax().text_range().end())));
            } else {
                // Another one of the name.
                names().for_each(|it| {
                    tainted.remove(it.text());
                });
            }
        }
        if !tainted.is_empty() {
            told.retain(|it| !FOLLOWING.contains(&it.code) || !self.speaks_of(body, file, it, &tainted));
        }
    }

    fn speaks_of(&self, body: &SyntaxNode, file: FileId, told: &Told, tainted: &Tainted) -> bool {
        if told.file != file || !body.text_range().contains_range(told.range) {
            return false;
        }
        let element = body.covering_element(told.range);
        let node = element.as_node().cloned().or_else(|| element.parent());
        let is = |it: Option<ast::Expr>| it.is_some_and(|it| has_none(&it, &[], tainted));
        // The token of a method or a field stands for what it is asked of, and arguments depend on that too.
        let around = node.into_iter().flat_map(|it| it.ancestors()).take_while(|it| !ast::Stmt::can_cast(it.kind()));
        around.filter_map(ast::Expr::cast).enumerate().any(|(depth, it)| match it {
            ast::Expr::MethodCallExpr(it) => is(it.receiver()),
            ast::Expr::BinExpr(it) if !is_logic(&it) => is(it.lhs()) || is(it.rhs()),
            it => depth == 0 && is(Some(it)),
        })
    }

    /// Whether a type is, holds or leads to one that is not known.
    pub(super) fn leads_to_unknown(&self, ty: &Type<'db>) -> bool {
        let inner = ty.strip_references();
        ty.autoderef(self.db).any(|it| it.contains_unknown())
            || inner.fields(self.db).iter().any(|it| it.1.contains_unknown())
    }
}

fn local(path: &ast::PathExpr) -> Option<String> {
    Some(path.path()?.as_single_name_ref()?.text().to_string())
}

/// Whether the value of an expression comes from one of those that end so.
fn has_none(of: &ast::Expr, ends: &[TextRange], tainted: &Tainted) -> bool {
    let is = |it: Option<ast::Expr>| it.is_some_and(|it| has_none(&it, ends, tainted));
    let is_at = |range: TextRange| ends.contains(&range);
    if is_at(of.syntax().text_range()) {
        return true;
    }
    match of {
        ast::Expr::ParenExpr(it) => is(it.expr()),
        ast::Expr::RefExpr(it) => is(it.expr()),
        ast::Expr::TryExpr(it) => is(it.expr()),
        ast::Expr::AwaitExpr(it) => is(it.expr()),
        ast::Expr::PrefixExpr(it) => is(it.expr()),
        ast::Expr::BinExpr(it) => !is_logic(it) && !is_comparison(it) && (is(it.lhs()) || is(it.rhs())),
        ast::Expr::RangeExpr(it) => is(it.start()) || is(it.end()),
        ast::Expr::IndexExpr(it) => is(it.base()) || is(it.index()),
        ast::Expr::FieldExpr(it) => it.name_ref().is_some_and(|it| is_at(it.syntax().text_range())) || is(it.expr()),
        ast::Expr::MethodCallExpr(it) => {
            it.name_ref().is_some_and(|it| is_at(it.syntax().text_range())) || is(it.receiver())
        }
        ast::Expr::CallExpr(it) => {
            let is_constructor = matches!(it.expr(), Some(ast::Expr::PathExpr(it)) if is_named_as_type(&it));
            is(it.expr()) || is_constructor && it.arg_list().is_some_and(|it| it.args().any(|it| is(Some(it))))
        }
        ast::Expr::BlockExpr(it) => is(it.tail_expr()),
        ast::Expr::IfExpr(it) => {
            let other = it.else_branch().and_then(|it| match it {
                ast::ElseBranch::Block(it) => it.tail_expr(),
                ast::ElseBranch::IfExpr(it) => Some(it.into()),
            });
            is(it.then_branch().and_then(|it| it.tail_expr())) || is(other)
        }
        ast::Expr::MatchExpr(it) => {
            it.match_arm_list().is_some_and(|it| it.arms().any(|it| is(it.expr()))) || is(it.expr())
        }
        ast::Expr::PathExpr(it) => {
            let since = local(it).and_then(|it| tainted.get(&it).copied());
            since.is_some_and(|since| it.syntax().text_range().start() >= since)
        }
        _ => false,
    }
}

fn is_logic(of: &ast::BinExpr) -> bool {
    matches!(of.op_kind(), Some(ast::BinaryOp::LogicOp(_)))
}

fn is_comparison(of: &ast::BinExpr) -> bool {
    matches!(of.op_kind(), Some(ast::BinaryOp::CmpOp(_)))
}

fn is_named_as_type(path: &ast::PathExpr) -> bool {
    let name = path.path().and_then(|it| it.segment()?.name_ref());
    name.is_some_and(|it| it.text().starts_with(char::is_uppercase))
}
