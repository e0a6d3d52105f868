//! Heads of items that an edit writes with syntax or types that need an unstable feature.

use ra_ap_syntax::{AstNode as _, SyntaxNode, WalkEvent, ast};

use super::findings::Findings;
use super::rule_input::{Change, EditedFile};
use crate::checks::{gates, report};
use crate::syntax::attributes::attributes_of;
use crate::syntax::positions::span;
use crate::view::Context;

pub(crate) fn gated_heads(
    cx: &Context<'_>,
    EditedFile { file, .. }: &EditedFile<'_, '_>,
    change: &Change<'_, '_>,
    out: &mut Findings<'_>,
) {
    let Some(id) = cx.file_id(&file.path) else { return };
    let Some(back) = change.edit.backs.get(&*file.path).filter(|_| cx.sema.file_to_module_def(id).is_some()) else {
        return;
    };
    let tree = cx.sema.parse_guess_edition(id);
    let mut found = Vec::new();
    let mut events = tree.syntax().preorder();
    while let Some(event) = events.next() {
        let WalkEvent::Enter(node) = event else { continue };
        // Bodies have rules of their own.
        if ast::Expr::can_cast(node.kind()) || is_conditional(&node) || back.is_untouched(span(node.text_range())) {
            events.skip_subtree();
            continue;
        }
        gates::gated_syntax(cx, &node, &mut found);
        gates::features(cx, &node, &mut found);
        if ast::Path::can_cast(node.kind()) {
            gates::unstable_items(cx, &node, &mut found);
        }
    }
    found.into_iter().filter_map(|it| report::placed(cx, it)).for_each(|it| out.add(it));
}

/// Whether a node exists only in some configurations, or is made by an attribute macro.
fn is_conditional(node: &SyntaxNode) -> bool {
    attributes_of(node).any(|it| {
        let text = it.syntax().text().to_string();
        let name = text.trim_start_matches(['#', '!', '[', ' ']);
        name.starts_with("cfg") || !crate::syntax::is_read_by_tools(name) && !name.starts_with("derive")
    })
}
