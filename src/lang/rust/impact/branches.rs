//! The arms of a `match` that have another type than is wanted. The compiler tells the first of them, and then knows the
//! type of the whole no more; only what stands in a block of its own is still told.

use ra_ap_ide::{FileId, TextRange};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::native::{Told, salient};
use crate::lang::rust::view::Context;

impl<'db> Context<'db> {
    /// Takes away what is told of arms behind one that is wrong.
    pub(super) fn without_later_arms(&self, body: &SyntaxNode, told: &mut Vec<Told>) {
        let Some(file) = self.sema.hir_file_for(body).file_id().map(|it| it.file_id(self.db)) else { return };
        let wrong: Vec<TextRange> = mismatches(file, told).collect();
        if wrong.len() < 2 {
            return;
        }
        let mut silent: Vec<TextRange> = Vec::new();
        for of in body.descendants().filter_map(ast::MatchExpr::cast) {
            let arms = of.match_arm_list().into_iter().flat_map(|it| it.arms()).filter_map(|it| it.expr());
            let mut arms = arms.skip_while(|it| !is_wrong(it, &wrong));
            arms.next();
            silent.extend(arms.filter(|it| !is_of_branches(it)).map(|it| told_at(&it)));
        }
        told.retain(|it| it.file != file || it.code != "E0308" || !silent.contains(&it.range));
    }
}

fn mismatches(file: FileId, told: &[Told]) -> impl Iterator<Item = TextRange> {
    told.iter().filter(move |it| it.file == file && it.code == "E0308").map(|it| it.range)
}

fn told_at(of: &ast::Expr) -> TextRange {
    salient(of).unwrap_or_else(|| of.syntax().text_range())
}

/// Whether the value of an expression, or of a branch of it, has another type than is wanted.
fn is_wrong(of: &ast::Expr, wrong: &[TextRange]) -> bool {
    let is = |it: Option<ast::Expr>| it.is_some_and(|it| is_wrong(&it, wrong));
    let is_so_itself = wrong.contains(&told_at(of));
    is_so_itself
        || match of {
            ast::Expr::ParenExpr(it) => is(it.expr()),
            ast::Expr::BlockExpr(it) => is(it.tail_expr()),
            ast::Expr::IfExpr(it) => {
                let other = it.else_branch().map(|it| match it {
                    ast::ElseBranch::Block(it) => ast::Expr::from(it),
                    ast::ElseBranch::IfExpr(it) => it.into(),
                });
                is(it.then_branch().map(Into::into)) || is(other)
            }
            ast::Expr::MatchExpr(it) => it.match_arm_list().is_some_and(|it| it.arms().any(|it| is(it.expr()))),
            _ => false,
        }
}

fn is_of_branches(of: &ast::Expr) -> bool {
    matches!(of, ast::Expr::BlockExpr(_) | ast::Expr::IfExpr(_) | ast::Expr::MatchExpr(_) | ast::Expr::LoopExpr(_))
}
