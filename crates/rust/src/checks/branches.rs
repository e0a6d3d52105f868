//! Arms of a `match` that have a different type than the expected one. The compiler reports the first one and then has
//! no type for the match; it still reports errors within an arm's own block.

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase, TextRange};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::origins::{Origin, origins};
use super::places::salient;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;

/// Removes errors about arms after a wrong one.
pub(crate) fn without_later_arms(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(file) = sema.hir_file_for(body).file_id().map(|it| it.file_id(sema.db)) else { return };
    let wrong: Vec<TextRange> = mismatches(file, out).collect();
    if wrong.len() < 2 {
        return;
    }
    let mut silent: Vec<TextRange> = Vec::new();
    for of in body.descendants().filter_map(ast::MatchExpr::cast) {
        let arms = of.match_arm_list().into_iter().flat_map(|it| it.arms()).filter_map(|it| it.expr());
        let mut arms = arms.skip_while(|it| !is_wrong(it, &wrong));
        arms.next();
        silent.extend(arms.filter(|it| !is_of_branches(it)).map(|it| error_range(&it)));
    }
    out.retain(|it| it.file != file || it.code != Code::E0308 || !silent.contains(&it.range));
}

fn mismatches(file: FileId, out: &[RawDiagnostic]) -> impl Iterator<Item = TextRange> {
    out.iter().filter(move |it| it.file == file && it.code == Code::E0308).map(|it| it.range)
}

fn error_range(of: &ast::Expr) -> TextRange {
    salient(of).unwrap_or_else(|| of.syntax().text_range())
}

/// Whether the value of an expression, or of one of its branches, has a wrong type.
fn is_wrong(of: &ast::Expr, wrong: &[TextRange]) -> bool {
    let branches = || origins(of).into_iter().filter(|it| it.0 == Origin::Value);
    wrong.contains(&error_range(of)) || branches().any(|it| is_wrong(&it.1, wrong))
}

fn is_of_branches(of: &ast::Expr) -> bool {
    matches!(of, ast::Expr::BlockExpr(_) | ast::Expr::IfExpr(_) | ast::Expr::MatchExpr(_) | ast::Expr::LoopExpr(_))
}
