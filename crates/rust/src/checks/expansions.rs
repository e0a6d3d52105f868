//! The nodes of a body and of the macro expansions in it.

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

/// The most levels of macros in macros that are looked into. Not tuned: `todo!("{}")` has five, and a macro that takes its
/// input a token at a time may have a hundred.
const MOST_LEVELS: usize = 128;

/// Each node of a body, and of the macro expansions in it.
pub(crate) fn in_expansions(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, visit: &mut dyn FnMut(&SyntaxNode)) {
    in_expansions_to(sema, body, MOST_LEVELS, visit);
}

/// Each node of a body, and of the macro expansions in it, which have a mark. Calls are visited before their expansion.
pub(crate) fn in_body(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, visit: &mut dyn FnMut(&SyntaxNode, bool)) {
    for node in body.descendants() {
        visit(&node, false);
        let call = ast::MacroCall::cast(node);
        if let Some(expansion) = call.and_then(|it| sema.expand_macro_call(&it)) {
            in_expansions_to(sema, &expansion.value, MOST_LEVELS, &mut |it| visit(it, true));
        }
    }
}

fn in_expansions_to(
    sema: &Semantics<'_, RootDatabase>,
    node: &SyntaxNode,
    depth: usize,
    visit: &mut dyn FnMut(&SyntaxNode),
) {
    for inner in node.descendants() {
        visit(&inner);
        let call = ast::MacroCall::cast(inner).filter(|_| depth > 0);
        if let Some(expansion) = call.and_then(|it| sema.expand_macro_call(&it)) {
            in_expansions_to(sema, &expansion.value, depth - 1, visit);
        }
    }
}
