//! `const ( … )`: what a whole group of declarations says of each of its members.

use tree_sitter::Node;

use super::comments::Comments;
use super::parse::Syntax;
use super::span;

/// What stands above the group that a member at this offset belongs to.
pub(crate) fn group_docs(text: &str, offset: usize) -> Option<String> {
    let syntax = Syntax::parse(text);
    let node = syntax.roots().find_map(|root| declaration_around(root, offset))?;
    let comments = Comments::of(text, syntax.roots());
    comments.docs(comments.above(node.start_byte())?)
}

fn declaration_around(root: Node, offset: usize) -> Option<Node> {
    let mut cursor = root.walk();
    let mut children = root.named_children(&mut cursor);
    let found = children.find(|it| span(*it).contains(offset))?;
    let is_group = || {
        let mut cursor = found.walk();
        found.children(&mut cursor).any(|it| it.kind() == "(" || it.kind() == "var_spec_list")
    };
    let grouped = matches!(found.kind(), "type_declaration" | "const_declaration" | "var_declaration") && is_group();
    grouped.then_some(found)
}
