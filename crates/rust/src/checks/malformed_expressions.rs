//! Expressions, patterns and types that rust-analyzer's parser accepts and the compiler refuses by their form.

use ra_ap_syntax::{AstNode as _, Edition, SyntaxKind, SyntaxNode, ast};

use super::{exhaustive, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// For a node of a body or of an item's head.
pub(crate) fn malformed_node(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let found = match node.kind() {
        SyntaxKind::RANGE_PAT => empty_range(node),
        SyntaxKind::BREAK_EXPR | SyntaxKind::CONTINUE_EXPR => in_labeled_block(node),
        SyntaxKind::DYN_TRAIT_TYPE => bare_object(cx, node),
        SyntaxKind::GENERIC_ARG_LIST => bound_twice(node),
        _ => None,
    };
    if let Some((code, message)) = found {
        out.push(report::raw_diagnostic(cx, node, code, message));
    }
}

type Malformed = Option<(Code, String)>;

/// A range between two numbers or characters that holds none.
fn empty_range(node: &SyntaxNode) -> Malformed {
    let ends: Vec<i128> = node.children().filter_map(ast::Pat::cast).map(|it| value(&it)).collect::<Option<_>>()?;
    let [from, to] = ends[..] else { return None };
    let is_inclusive = node.children_with_tokens().any(|it| matches!(it.kind(), SyntaxKind::DOT2EQ | SyntaxKind::DOT3));
    match is_inclusive {
        true if from > to => Some((Code::E0030, "lower range bound must be less than or equal to upper".to_owned())),
        false if from >= to => {
            Some((Code::E0579, "lower bound for range pattern must be less than upper bound".to_owned()))
        }
        _ => None,
    }
}

fn value(of: &ast::Pat) -> Option<i128> {
    let ast::Pat::LiteralPat(of) = of else { return None };
    exhaustive::number(of)
}

/// `&raw const 2`, as `addr_of!` writes it too.
pub(crate) fn address_of_temporary(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some((code, message)) = ast::RefExpr::cast(node.clone()).and_then(|it| raw_reference(&it)) {
        out.push(report::raw_diagnostic(cx, node, code, message));
    }
}

fn raw_reference(it: &ast::RefExpr) -> Malformed {
    it.raw_token()?;
    let mut of = it.expr()?;
    while let ast::Expr::ParenExpr(it) = of {
        of = it.expr()?;
    }
    let is_temporary = matches!(
        of,
        ast::Expr::Literal(_) | ast::Expr::CallExpr(_) | ast::Expr::MethodCallExpr(_) | ast::Expr::BinExpr(_)
    );
    is_temporary.then(|| (Code::E0745, "cannot take address of a temporary".to_owned()))
}

/// `break` or `continue` without a label, in a block with a label within a loop.
fn in_labeled_block(node: &SyntaxNode) -> Malformed {
    if node.children().any(|it| ast::Lifetime::can_cast(it.kind())) {
        return None;
    }
    let inner = node.ancestors().skip(1).find(|it| {
        matches!(
            it.kind(),
            SyntaxKind::LOOP_EXPR | SyntaxKind::WHILE_EXPR | SyntaxKind::FOR_EXPR | SyntaxKind::CLOSURE_EXPR
        ) || ast::Item::can_cast(it.kind())
            || ast::BlockExpr::cast(it.clone()).is_some_and(|it| it.label().is_some())
    });
    inner.filter(|it| ast::BlockExpr::can_cast(it.kind()))?;
    let what = if ast::BreakExpr::can_cast(node.kind()) { "break" } else { "continue" };
    Some((Code::E0695, format!("unlabeled `{what}` inside of a labeled block")))
}

/// `Box<Trait + 'a>`
fn bare_object(cx: &Context<'_>, node: &SyntaxNode) -> Malformed {
    let it = ast::DynTraitType::cast(node.clone()).filter(|it| it.dyn_token().is_none())?;
    it.type_bound_list()?;
    let edition = cx.sema.scope(node)?.krate().edition(cx.db);
    (edition >= Edition::Edition2021).then(|| (Code::E0782, "expected a type, found a trait".to_owned()))
}

/// `Iterator<Item = u8, Item = u8>`
fn bound_twice(node: &SyntaxNode) -> Malformed {
    let list = ast::GenericArgList::cast(node.clone())?;
    let mut known = Vec::new();
    for it in list.generic_args() {
        let ast::GenericArg::AssocTypeArg(it) = it else { continue };
        let name = it.name_ref()?.text().to_string();
        if known.contains(&name) && it.ty().is_some() {
            return Some((Code::E0719, format!("the value of the associated type `{name}` is already specified")));
        }
        known.push(name);
    }
    None
}
