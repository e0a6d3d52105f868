//! What follows from a name that means nothing any more: the compiler tells that where the name is imported, or where
//! its type is named, and is silent about the rest.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, ast};

use super::reach::has_body;
use crate::lang::rust::view::Context;
use crate::model::{Diagnostic, Span, SymbolKind};
use crate::text::words::words;

/// The names that broken imports would have brought in, and where.
pub(super) type LostImports = HashMap<Arc<str>, Vec<(String, Span)>>;

pub(super) fn is_lost(lost: &LostImports, error: &Diagnostic, name: &str) -> bool {
    let names = lost.get(error.place.file.as_str());
    names.into_iter().flatten().any(|(lost, within)| lost == name && within.contains(error.place.start))
}

impl<'db> Context<'db> {
    /// Where the name of a broken import would have been seen; `None` for what only leads to something else.
    pub(super) fn brought_in(&self, import: &Diagnostic) -> Option<Span> {
        let file = self.files.get(&import.place.file)?;
        if file.text.get(import.place.end..)?.trim_start().starts_with("::") {
            return None;
        }
        let around = file.outline().enclosing(import.place.start);
        let scope = around.iter().rfind(|it| it.kind == SymbolKind::Module || has_body(it.kind));
        Some(scope.map_or(Span::new(0, file.text.len()), |it| it.span))
    }

    /// Whether an error is that of an import, told once more where the name is used.
    pub(super) fn follows_from(&self, lost: &LostImports, error: &Diagnostic) -> bool {
        if !matches!(error.code.as_deref(), Some("E0425" | "E0412" | "E0433" | "E0405" | "E0404" | "E0422" | "E0531")) {
            return false;
        }
        let text = self.text_of(error).unwrap_or_default();
        let first = text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
        is_lost(lost, error, first)
    }

    /// Whether an error is there because a type is not known any more: that is told where the type is named, or was
    /// imported.
    pub(super) fn follows_from_unknown(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Diagnostic) -> bool {
        let message = &error.message;
        match error.code.as_deref() {
            Some("E0282") => true,
            Some("E0599") if message.ends_with("for type `()`") => true,
            Some("E0277") if message.starts_with("the trait bound `(): ") => true,
            Some("E0277" | "E0308" | "E0369") => self.names_lost(gone, lost, error),
            Some("E0599") => message.starts_with("no ") && self.names_lost(gone, lost, error),
            _ => false,
        }
    }

    /// Whether a line of an error names what is gone.
    pub(super) fn names_lost(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Diagnostic) -> bool {
        let Some(file) = self.files.get(&error.place.file) else { return false };
        let mut lines = (error.place.line..=error.place.end_line).map(|it| file.lines().line_text(&file.text, it));
        lines.any(|line| words(line).any(|(_, word)| gone.contains(word) || is_lost(lost, error, word)))
    }

    pub(super) fn text_of(&self, error: &Diagnostic) -> Option<&'db str> {
        self.files.get(&error.place.file)?.text.get(error.place.start..error.place.end)
    }

    /// Whether a name stands there without what contains it.
    pub(super) fn is_bare(&self, error: &Diagnostic) -> bool {
        let Some(token) = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start)) else {
            return false;
        };
        // The input of a macro is no more than tokens.
        if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
            let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
            return before.is_none_or(|it| it.text() != ":");
        }
        let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast);
        segment.is_some_and(|it| it.parent_path().qualifier().is_none())
    }
}
