//! Converts offsets and positions of the workspace's texts to rust-analyzer's trees.

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase, TextRange, TextSize};
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxNode, SyntaxToken, TokenAtOffset, ast};

use semdex_model::Span;

/// The token that contains an offset, or begins there.
pub(crate) fn token(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<SyntaxToken> {
    let tree = sema.parse_guess_edition(file);
    tokens_at(tree.syntax(), offset).right_biased()
}

/// The steps that a lookup counts as, so that a loop over the names of a file can be cancelled.
const STEPS_OF_LOOKUP: u32 = 16;

/// The tokens at an offset of a file: none if the file is longer than its analysed text.
pub(crate) fn tokens_at(tree: &SyntaxNode, offset: usize) -> TokenAtOffset<SyntaxToken> {
    semdex_steps::count(STEPS_OF_LOOKUP);
    let at = text_size(offset);
    let one = TextSize::new(1);
    let before = at.checked_sub(one).and_then(|it| token_over(tree, TextRange::at(it, one)));
    let after = at.checked_add(one).and_then(|it| token_over(tree, TextRange::new(at, it)));
    match (before, after) {
        (Some(before), Some(after)) if before != after => TokenAtOffset::Between(before, after),
        (_, Some(it)) | (Some(it), None) => TokenAtOffset::Single(it),
        (None, None) => TokenAtOffset::None,
    }
}

/// Whether an offset is in the definition of a declarative macro.
pub(crate) fn is_in_macro_definition(tree: &SyntaxNode, offset: usize) -> bool {
    let around = |it: SyntaxToken| it.parent_ancestors().any(|it| ast::Macro::can_cast(it.kind()));
    tokens_at(tree, offset).right_biased().is_some_and(around)
}

/// The token that contains a range. Each node's children are searched by halving, while `token_at_offset` walks through
/// them: a list can have tens of thousands.
fn token_over(tree: &SyntaxNode, range: TextRange) -> Option<SyntaxToken> {
    if !tree.text_range().contains_range(range) {
        return None;
    }
    let mut node = tree.clone();
    loop {
        match node.child_or_token_at_range(range)? {
            NodeOrToken::Node(it) => node = it,
            NodeOrToken::Token(it) => return Some(it),
        }
    }
}

pub(crate) fn span(range: TextRange) -> Span {
    Span::new(range.start().into(), range.end().into())
}

pub(crate) fn text_size(offset: usize) -> TextSize {
    TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use ra_ap_syntax::{Edition, SourceFile};

    use super::*;

    #[test]
    fn the_tokens_are_those_that_a_walk_finds() {
        for text in ["", "\u{feff}fn ä() { \"ö\" }\n", "struct A<>;\nfn f(a: u8,, ) -> { a.b( }\n}\n", "  "] {
            let tree = SourceFile::parse(text, Edition::CURRENT).tree().syntax().clone();
            for offset in 0..=text.len() {
                let walked = tree.token_at_offset(text_size(offset));
                let found = tokens_at(&tree, offset);
                assert_eq!(found.clone().left_biased(), walked.clone().left_biased(), "{text:?} at {offset}");
                assert_eq!(found.right_biased(), walked.right_biased(), "{text:?} at {offset}");
            }
            assert!(matches!(tokens_at(&tree, text.len() + 2), TokenAtOffset::None));
        }
    }
}
