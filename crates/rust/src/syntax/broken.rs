//! Repairs the effect of a missing brace on the tree. A block that is not closed swallows the items after it. Without
//! this module, a brace that is missing during an edit would remove half of a file from its outline.
//!
//! Items that cannot belong where the parser put them are called strays. They are treated as if they followed the item
//! that swallowed them.

use ra_ap_syntax::ast::{self, HasModuleItem};
use ra_ap_syntax::{AstNode, SyntaxNode, SyntaxToken, TextRange, TextSize};

use super::source::Source;

/// The items that a function swallowed: all items in a body that is never closed. If the brace of its `impl` closes the
/// body, the items from the first method on.
pub(crate) fn strays_of_function(source: &Source, function: &ast::Fn) -> Vec<ast::Item> {
    if !source.is_broken() {
        return Vec::new();
    }
    let Some(body) = function.body().and_then(|body| body.stmt_list()) else { return Vec::new() };
    let items = body.items();
    if body.r_curly_token().is_none() {
        return items.collect();
    }
    items.skip_while(|item| !is_method(item)).collect()
}

/// The contents of an `impl` or trait block from the first item on that cannot be a member.
pub(crate) fn strays_of_members(members: &ast::AssocItemList) -> Vec<ast::Item> {
    children::<ast::Item>(members.syntax()).skip_while(is_member).collect()
}

pub(crate) fn is_member(item: &ast::Item) -> bool {
    matches!(item, ast::Item::Fn(_) | ast::Item::Const(_) | ast::Item::TypeAlias(_) | ast::Item::MacroCall(_))
}

fn is_method(item: &ast::Item) -> bool {
    matches!(item, ast::Item::Fn(function) if function.param_list().is_some_and(|list| list.self_param().is_some()))
}

/// Where an item ends without these strays.
pub(crate) fn end_before(node: &SyntaxNode, strays: &[ast::Item]) -> TextSize {
    match strays.first() {
        Some(stray) => last_word_before(node, stray.syntax().text_range().start()),
        None => end_of(node),
    }
}

/// Where an item ends: in broken code the parser ends some with white space, or with a node without tokens.
pub(crate) fn end_of(node: &SyntaxNode) -> TextSize {
    let end = node.text_range().end();
    let ends_well = node.last_token().is_some_and(|token| !token.kind().is_trivia());
    if ends_well { end } else { last_word_before(node, end) }
}

fn last_word_before(node: &SyntaxNode, offset: TextSize) -> TextSize {
    let mut token = node.token_at_offset(offset).left_biased();
    while let Some(before) = token.take_if(|token| token.kind().is_trivia()) {
        token = before.prev_token();
    }
    token.map_or(node.text_range().start(), |token| token.text_range().end())
}

/// The range between two braces. `None` if one is missing.
pub(crate) fn between(open: Option<SyntaxToken>, close: Option<SyntaxToken>) -> Option<TextRange> {
    let (start, end) = (open?.text_range().end(), close?.text_range().start());
    (start <= end).then(|| TextRange::new(start, end))
}

pub(crate) fn children<N: AstNode>(node: &SyntaxNode) -> impl Iterator<Item = N> {
    node.children().filter_map(N::cast)
}
