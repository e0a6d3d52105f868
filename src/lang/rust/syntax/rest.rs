//! What stands between the items of a file, as a hash: imports, the heads of blocks, macros.

use std::hash::{Hash as _, Hasher as _};

use ra_ap_syntax::{NodeOrToken, SyntaxKind, SyntaxNode, WalkEvent};
use rustc_hash::FxHasher;

/// White space and comments do not count.
pub(super) fn rest(tree: &SyntaxNode) -> u64 {
    let mut hasher = FxHasher::default();
    let mut walk = tree.preorder_with_tokens();
    while let Some(event) = walk.next() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => {
                let is_item = matches!(
                    node.kind(),
                    SyntaxKind::FN
                        | SyntaxKind::STRUCT
                        | SyntaxKind::ENUM
                        | SyntaxKind::UNION
                        | SyntaxKind::CONST
                        | SyntaxKind::STATIC
                        | SyntaxKind::TYPE_ALIAS
                );
                if is_item {
                    walk.skip_subtree();
                }
            }
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => token.text().hash(&mut hasher),
            _ => {}
        }
    }
    hasher.finish()
}
