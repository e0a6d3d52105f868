//! What a missing brace does to the tree. A block that is not closed swallows the items after it; without this,
//! one brace lost while editing would make half of a file vanish from its outline.
//!
//! The items that cannot belong where the parser put them are called strays,
//! and are treated as if they stood after the item that swallowed them.

use ra_ap_syntax::ast::{self, HasModuleItem};
use ra_ap_syntax::{AstNode, SyntaxNode, SyntaxToken, TextRange, TextSize};

use super::source::Source;

/// The items that a function swallowed: those in a body that is never closed, or from the first method on in one
/// that is closed by the brace of its `impl`.
pub(super) fn strays_of_function(source: &Source, function: &ast::Fn) -> Vec<ast::Item> {
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

/// What stands in the block of an `impl` or a trait from the first item on that cannot be a member.
pub(super) fn strays_of_members(members: &ast::AssocItemList) -> Vec<ast::Item> {
    children::<ast::Item>(members.syntax()).skip_while(is_member).collect()
}

pub(super) fn is_member(item: &ast::Item) -> bool {
    matches!(item, ast::Item::Fn(_) | ast::Item::Const(_) | ast::Item::TypeAlias(_) | ast::Item::MacroCall(_))
}

fn is_method(item: &ast::Item) -> bool {
    matches!(item, ast::Item::Fn(function) if function.param_list().is_some_and(|list| list.self_param().is_some()))
}

/// Where an item ends if these strays are not its own.
pub(super) fn end_before(node: &SyntaxNode, strays: &[ast::Item]) -> TextSize {
    match strays.first() {
        Some(stray) => last_word_before(node, stray.syntax().text_range().start()),
        None => end_of(node),
    }
}

/// Where an item ends: in broken code the parser ends some with white space, and with a node of no token at all.
pub(super) fn end_of(node: &SyntaxNode) -> TextSize {
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

/// What stands between two braces. `None` where one is missing.
pub(super) fn between(open: Option<SyntaxToken>, close: Option<SyntaxToken>) -> Option<TextRange> {
    let (start, end) = (open?.text_range().end(), close?.text_range().start());
    (start <= end).then(|| TextRange::new(start, end))
}

pub(super) fn children<N: AstNode>(node: &SyntaxNode) -> impl Iterator<Item = N> {
    node.children().filter_map(N::cast)
}
