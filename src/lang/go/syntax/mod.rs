//! What the text of one Go file says by itself: declarations, skeleton, identifiers. No process, no other file.

mod comments;
mod declarations;
mod identifiers;
mod lexer;
mod roles;
mod skeleton;

pub use comments::leading_comments;
pub use identifiers::{Occurrence, all_identifiers, comment_occurrences, occurrences};
pub use lexer::is_keyword;

use tree_sitter::{Node, Parser, Tree};

use crate::model::{Outline, Span, SyntaxError};
use comments::Comments;
use declarations::Reader;

/// As many syntax errors as help; the rest are mostly echoes of the first.
const MAX_ERRORS: usize = 50;

pub fn outline(text: &str) -> Outline {
    let Some(tree) = parse(text) else { return Outline::default() };
    let root = tree.root_node();
    let elisions = skeleton::elisions(text, root);
    let (skeleton, skeleton_lines) = skeleton::apply(text, &elisions);
    let reader = Reader { text, comments: Comments::of(text, root), elisions };
    let mut outline = Outline { skeleton, skeleton_lines, errors: errors(text, root), ..Outline::default() };
    reader.read(root, &mut outline);
    outline
}

fn parse(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    let tree = parser.parse(text, None)?;
    if tree.root_node().has_error()
        && let Some(masked) = without_special_calls(text, tree.root_node())
        && let Some(second) = parser.parse(&masked, None)
        && errors(text, second.root_node()).len() < errors(text, tree.root_node()).len()
    {
        return Some(second);
    }
    Some(tree)
}

/// The grammar lets `new` and `make` take types only, though `new(1 + x)` is Go since 1.26 and `make` may be any
/// function's name. Where it failed, other words of the same length stand for them, so that no place moves.
fn without_special_calls(text: &str, root: Node) -> Option<String> {
    let failed: Vec<usize> = errors(text, root).iter().map(|it| it.span.start).collect();
    let line_of = |at: usize| text.get(..at).map_or(0, |it| memchr::memchr_iter(b'\n', it.as_bytes()).count());
    let lines: Vec<usize> = failed.into_iter().map(line_of).collect();
    let (mut masked, mut line) = (String::with_capacity(text.len()), 0);
    for token in lexer::tokens(text) {
        let word = &text[token.span.start..token.span.end];
        let called = text[token.span.end..].starts_with('(') && lines.contains(&line);
        masked.push_str(match word {
            "new" if called => "nEW",
            "make" if called => "mAKE",
            _ => word,
        });
        line += memchr::memchr_iter(b'\n', word.as_bytes()).count();
    }
    (masked != text).then_some(masked)
}

fn span(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

fn slice<'t>(text: &'t str, node: Node) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The outermost places where the parser lost its way.
fn errors(text: &str, root: Node) -> Vec<SyntaxError> {
    let mut errors = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong && errors.len() < MAX_ERRORS {
            errors.push(SyntaxError { message: complaint(text, node), span: span(node) });
        }
        if !wrong && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return errors;
            }
        }
    }
}

fn complaint(text: &str, node: Node) -> String {
    if node.is_missing() {
        return format!("missing `{}`", node.kind());
    }
    let line = slice(text, node).lines().next().unwrap_or_default().trim();
    let mut shown: String = line.chars().take(40).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    if shown.is_empty() { "unexpected end".to_owned() } else { format!("unexpected `{shown}`") }
}

#[cfg(test)]
mod tests;
