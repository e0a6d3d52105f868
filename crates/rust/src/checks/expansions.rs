//! The nodes of a body and of the macro expansions in it.

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

/// The most levels of macros in macros that are followed.
pub(crate) const MAX_MACROS: usize = 3;

/// Each node of a body, and of the macro expansions in it.
pub(crate) fn in_expansions(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, visit: &mut dyn FnMut(&SyntaxNode)) {
    in_expansions_to(sema, body, MAX_MACROS, visit);
}

/// Each node of a body and, on request, of the macro expansions in it, which have a mark.
pub(crate) fn in_body(
    sema: &Semantics<'_, RootDatabase>,
    body: &SyntaxNode,
    expands: bool,
    visit: &mut dyn FnMut(&SyntaxNode, bool),
) {
    for node in body.descendants() {
        match ast::MacroCall::cast(node.clone()).filter(|_| expands) {
            Some(call) => {
                if let Some(expansion) = sema.expand_macro_call(&call) {
                    in_expansions_to(sema, &expansion.value, MAX_MACROS - 1, &mut |it| visit(it, true));
                }
            }
            None => visit(&node, false),
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
        match ast::MacroCall::cast(inner.clone()) {
            Some(call) if depth > 0 => {
                if let Some(expansion) = sema.expand_macro_call(&call) {
                    in_expansions_to(sema, &expansion.value, depth - 1, visit);
                }
            }
            Some(_) => {}
            None => visit(&inner),
        }
    }
}
