//! Converts offsets and positions of the workspace's texts to rust-analyzer's trees.

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase, TextRange, TextSize};
use ra_ap_intern::steps;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, TokenAtOffset};

use semdex_model::Span;

/// The token that contains an offset, or begins there.
pub(crate) fn token(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<SyntaxToken> {
    let tree = sema.parse_guess_edition(file);
    tokens_at(tree.syntax(), offset).right_biased()
}

/// The steps that one of these lookups counts as. A node with 20,000 children takes half a millisecond.
const STEPS_OF_LOOKUP: u32 = 16;

/// The tokens at an offset of a file: none if the file is longer than its analysed text.
pub(crate) fn tokens_at(tree: &SyntaxNode, offset: usize) -> TokenAtOffset<SyntaxToken> {
    steps::count(STEPS_OF_LOOKUP);
    match text_size(offset) {
        at if tree.text_range().contains_inclusive(at) => tree.token_at_offset(at),
        _ => TokenAtOffset::None,
    }
}

pub(crate) fn span(range: TextRange) -> Span {
    Span::new(range.start().into(), range.end().into())
}

pub(crate) fn text_size(offset: usize) -> TextSize {
    TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX))
}
