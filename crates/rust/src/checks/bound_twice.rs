//! Names that are bound twice: in a pattern, and among the parameters of an item.

use std::collections::BTreeSet;

use ra_ap_syntax::ast::{self, HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::attributes::is_conditional;
use crate::view::Context;

/// A pattern with a name twice. The alternatives of a pattern each bind all names, so those are not looked at.
pub(crate) fn bound_twice(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if !is_outermost(node) || node.descendants().any(|it| it.kind() == SyntaxKind::OR_PAT) {
        return;
    }
    let mut known: BTreeSet<String> = BTreeSet::new();
    for name in node.descendants().filter_map(ast::IdentPat::cast).filter_map(|it| it.name()) {
        let text = name.text().to_string();
        // It may be a constant.
        if text.starts_with(char::is_lowercase) && !known.insert(text) {
            let message = format!("identifier `{}` is bound more than once in the same pattern", name.text());
            out.push(report::raw_diagnostic(cx, name.syntax(), Code::E0416, message));
        }
    }
}

/// Whether a node is a pattern that is no part of another one.
pub(super) fn is_outermost(node: &SyntaxNode) -> bool {
    let is_around = |it: SyntaxNode| !ast::Pat::can_cast(it.kind()) && it.kind() != SyntaxKind::RECORD_PAT_FIELD;
    ast::Pat::can_cast(node.kind()) && node.parent().is_some_and(is_around)
}

/// The parameters of an item, of which one has the name of an earlier one.
pub(crate) fn parameter_twice(item: &ast::AnyHasGenericParams) -> Option<ast::GenericParam> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    item.generic_param_list()?.generic_params().filter(|it| !is_conditional(it.syntax())).find(|it| {
        let name = match it {
            ast::GenericParam::TypeParam(it) => it.name().map(|it| it.text().to_string()),
            ast::GenericParam::ConstParam(it) => it.name().map(|it| it.text().to_string()),
            ast::GenericParam::LifetimeParam(it) => it.lifetime().map(|it| it.text().to_string()),
        };
        name.is_some_and(|it| !known.insert(it))
    })
}
