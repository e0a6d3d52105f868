//! Whether an edit changes only white space, comments, docs, and attributes that affect only warnings and the
//! optimiser: then it has no impact.

use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, SyntaxKind, SyntaxToken};

use super::edit_context::EditContext;
use crate::checks::derive_expansion::OF_THE_COMPILER;
use crate::syntax::positions::{text_size, tokens_at};
use crate::syntax::{Rest, is_builtin};
use semdex_engine::files::File;
use semdex_model::{OutlineItem, Span, SymbolKind};

/// Longer ranges are compared like any other change.
const MAX_BYTES: usize = 64 * 1024;

/// Attributes that cannot cause or prevent an error.
const INERT: [&str; 7] = ["allow", "deny", "deprecated", "doc", "expect", "must_use", "warn"];
/// The same for functions.
const INERT_OF_FUNCTIONS: [&str; 2] = ["cold", "inline"];

impl EditContext {
    /// Whether each text has the same meaning as before.
    pub(crate) fn is_layout(&self) -> bool {
        let mut both = self.olds.iter().zip(&self.news);
        both.all(|(old, new)| old.text == new.text || self.says_the_same(old, new).unwrap_or(false))
    }

    fn says_the_same(&self, old: &File, new: &File) -> Option<bool> {
        if old.path != new.path || !old.outline().errors.is_empty() || !new.outline().errors.is_empty() {
            return Some(false);
        }
        let around = |gaps: Vec<Span>| Some(Span::new(gaps.first()?.start, gaps.last()?.end));
        let before = around(self.maps.get(&*old.path)?.gaps())?;
        let after = around(self.backs.get(&*new.path)?.gaps())?;
        let (before, after) = (lines_around(&old.text, before), lines_around(&new.text, after));
        // The text before and after the change has to be tokenized as before.
        if !is_between(old, before.start) || !is_between(old, before.end) {
            return Some(false);
        }
        let (of_old, of_new) = (read(&old.text, before)?, read(&new.text, after)?);
        if same(&of_old, &of_new) {
            return Some(true);
        }
        let (of_old, of_new) = (without_inert(old, of_old), without_inert(new, of_new));
        Some(same(&of_old, &of_new))
    }
}

/// Whether an offset is at the end of a token or in white space.
fn is_between(file: &File, at: usize) -> bool {
    let nodes = &Rest::of(file.outline()).nodes;
    let node = nodes.partition_point(|it| it.end < at);
    let start = node.checked_sub(1).map_or(0, |it| nodes[it].end);
    let end = nodes.get(node).map_or(file.text.len(), |it| it.end);
    let tree = SourceFile::parse(&file.text[start..end], Edition::CURRENT).tree();
    let token = tokens_at(tree.syntax(), at - start).left_biased();
    token.is_none_or(|it| it.kind() == SyntaxKind::WHITESPACE || it.text_range().end() == text_size(at - start))
}

fn lines_around(text: &str, at: Span) -> Span {
    let start = text[..at.start].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |it| at.end + it + 1);
    Span::new(start, end)
}

/// A token that is neither white space nor a comment.
struct Word {
    kind: SyntaxKind,
    text: String,
    at: usize,
    /// Whether white space precedes it, if that matters.
    is_apart: bool,
}

fn same(old: &[Word], new: &[Word]) -> bool {
    let says = |it: &Word| (it.kind, it.text.clone(), it.is_apart);
    old.iter().map(says).eq(new.iter().map(says))
}

/// The tokens of some lines; `None` if the last one does not end there.
fn read(text: &str, lines: Span) -> Option<Vec<Word>> {
    let written = &text[lines.start..lines.end];
    if written.len() > MAX_BYTES || !written.is_empty() && !written.ends_with('\n') {
        return None;
    }
    let mut words = Vec::new();
    let mut is_apart = true;
    let mut last = SyntaxKind::WHITESPACE;
    for token in tokens(written) {
        last = token.kind();
        if last == SyntaxKind::WHITESPACE || last == SyntaxKind::COMMENT && !is_doc(token.text()) {
            is_apart = true;
            continue;
        }
        let at = lines.start + usize::from(token.text_range().start());
        let is_apart = std::mem::take(&mut is_apart) && last.is_punct();
        words.push(Word { kind: last, text: token.text().to_owned(), at, is_apart });
    }
    (last == SyntaxKind::WHITESPACE).then_some(words)
}

fn tokens(text: &str) -> impl Iterator<Item = SyntaxToken> {
    let tree = SourceFile::parse(text, Edition::CURRENT).tree();
    tree.syntax().descendants_with_tokens().filter_map(NodeOrToken::into_token)
}

/// Documentation is part of an item.
fn is_doc(comment: &str) -> bool {
    ["///", "//!", "/**", "/*!"].iter().any(|it| comment.starts_with(it))
}

/// Removes the docs and attributes of items that no macro reads and that cannot affect errors.
fn without_inert(file: &File, words: Vec<Word>) -> Vec<Word> {
    let mut left = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let owner = owner(file, word.at);
        if word.kind == SyntaxKind::COMMENT {
            if owner.is_none() || is_inner(&word.text) {
                left.push(word);
            }
            continue;
        }
        if word.kind != SyntaxKind::POUND || words.peek().is_none_or(|it| it.kind != SyntaxKind::L_BRACK) {
            left.push(word);
            continue;
        }
        let mut attribute = vec![word];
        let mut depth = 0;
        for word in words.by_ref() {
            depth += usize::from(word.kind == SyntaxKind::L_BRACK);
            let is_end = word.kind == SyntaxKind::R_BRACK && depth == 1;
            depth -= usize::from(word.kind == SyntaxKind::R_BRACK);
            attribute.push(word);
            if is_end {
                break;
            }
        }
        let is_inert = owner.is_some_and(|owner| {
            let is_function = matches!(owner.kind, SymbolKind::Function | SymbolKind::Method);
            let is_one = |name: &str| INERT.contains(&name) || is_function && INERT_OF_FUNCTIONS.contains(&name);
            let reads_files = attribute.iter().any(|it| it.kind == SyntaxKind::BANG);
            attribute.get(2).is_some_and(|it| is_one(&it.text)) && depth == 0 && !reads_files
        });
        if !is_inert {
            left.extend(attribute);
        }
    }
    left
}

fn is_inner(comment: &str) -> bool {
    comment.starts_with("//!") || comment.starts_with("/*!")
}

/// The item with this offset before its name, if no macro reads it or its containers.
fn owner(file: &File, at: usize) -> Option<&OutlineItem> {
    let chain = file.outline().enclosing(at);
    let owner = *chain.last()?;
    let is_before = at < owner.name_span.start && owner.kind != SymbolKind::Impl;
    let is_plain = |it: &&OutlineItem| has_plain_attributes(&file.text[it.span.start..it.name_span.start]);
    (is_before && chain.iter().all(is_plain)).then_some(owner)
}

/// Whether only the compiler reads the attributes of an item; `head` is the text before its name.
pub(crate) fn has_plain_attributes(head: &str) -> bool {
    let words: Vec<SyntaxToken> = tokens(head).filter(|it| !it.kind().is_trivia()).collect();
    let mut from = 0;
    while let Some(at) = words[from..].iter().position(|it| it.kind() == SyntaxKind::POUND) {
        let attribute = &words[from + at..];
        let text = |at: usize| attribute.get(at).map_or("", |it| it.text());
        let end = attribute.iter().position(|it| it.kind() == SyntaxKind::R_BRACK).unwrap_or(attribute.len());
        let is_plain = match (text(1), text(2), text(3)) {
            ("[", "derive", "(") => attribute[4..end.max(4)].iter().all(|it| {
                OF_THE_COMPILER.contains(&it.text()) || matches!(it.kind(), SyntaxKind::COMMA | SyntaxKind::R_PAREN)
            }),
            ("[", name, next) => next != ":" && is_builtin(name),
            _ => false,
        };
        if !is_plain {
            return false;
        }
        from += at + end.max(1);
    }
    true
}
