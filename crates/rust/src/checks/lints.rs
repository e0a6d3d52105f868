//! Lints that are errors by default.

use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use crate::view::Context;

/// Whether an attribute around a node, the crate's root or a manifest names a lint: it may set another level for it.
pub(super) fn is_set_otherwise(cx: &Context<'_>, node: &SyntaxNode, lint: &str) -> bool {
    let Some(root) = cx.sema.scope(node).map(|it| it.krate().root_file(cx.db)) else { return true };
    let root = cx.sema.parse_guess_edition(root).syntax().clone();
    let around = node.ancestors().chain([root]);
    let attributes = around.flat_map(|it| it.children().filter_map(ast::Attr::cast).collect::<Vec<_>>());
    attributes.into_iter().any(|it| it.syntax().text().to_string().contains(lint))
        || cx.files.iter().any(|it| it.path.ends_with("Cargo.toml") && it.text.contains(lint))
}
