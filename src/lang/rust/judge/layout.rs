//! Whether an edit changes no more than white space and comments: then nothing can come of it.

use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, SyntaxKind};

use super::Scene;
use crate::lang::files::File;
use crate::lang::rust::view::{Context, text_size};
use crate::model::Span;

/// Longer stretches are compared as any other change.
const MAX_BYTES: usize = 64 * 1024;

impl Scene {
    /// Whether each text says what it said.
    pub(super) fn is_layout(&self, context: &Context<'_>) -> bool {
        let mut both = self.olds.iter().zip(&self.news);
        both.all(|(old, new)| old.text == new.text || self.says_the_same(context, old, new).unwrap_or(false))
    }

    fn says_the_same(&self, context: &Context<'_>, old: &File, new: &File) -> Option<bool> {
        if old.path != new.path || !old.outline().errors.is_empty() || !new.outline().errors.is_empty() {
            return Some(false);
        }
        let around = |gaps: Vec<Span>| Some(Span::new(gaps.first()?.start, gaps.last()?.end));
        let before = around(self.maps.get(&*old.path)?.gaps())?;
        let after = around(self.backs.get(&*new.path)?.gaps())?;
        let (before, after) = (lines_around(&old.text, before), lines_around(&new.text, after));
        // What stands before and behind has to be read as it was.
        let is_between = |at: usize| {
            let tree = context.sema.parse_guess_edition(context.file_id(&old.path)?);
            let token = tree.syntax().token_at_offset(text_size(at)).left_biased();
            Some(token.is_none_or(|it| it.kind() == SyntaxKind::WHITESPACE || it.text_range().end() == text_size(at)))
        };
        if !is_between(before.start)? || !is_between(before.end)? {
            return Some(false);
        }
        Some(read(&old.text[before.start..before.end])? == read(&new.text[after.start..after.end])?)
    }
}

fn lines_around(text: &str, at: Span) -> Span {
    let start = text[..at.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |it| at.end + it + 1);
    Span::new(start, end)
}

/// The tokens of some lines, each with whether it stands apart from the one before. `None` where the last one does not
/// end there.
fn read(lines: &str) -> Option<Vec<(SyntaxKind, String, bool)>> {
    if lines.len() > MAX_BYTES || !lines.is_empty() && !lines.ends_with('\n') {
        return None;
    }
    let tree = SourceFile::parse(lines, Edition::CURRENT).tree();
    let mut tokens = Vec::new();
    let mut is_apart = true;
    let mut last = SyntaxKind::WHITESPACE;
    for token in tree.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token) {
        last = token.kind();
        // What documents an item is part of it.
        let is_doc = |text: &str| ["///", "//!", "/**", "/*!"].iter().any(|it| text.starts_with(it));
        if last == SyntaxKind::WHITESPACE || last == SyntaxKind::COMMENT && !is_doc(token.text()) {
            is_apart = true;
            continue;
        }
        let is_apart = std::mem::take(&mut is_apart) && last.is_punct();
        tokens.push((last, token.text().to_owned(), is_apart));
    }
    (last == SyntaxKind::WHITESPACE).then_some(tokens)
}
