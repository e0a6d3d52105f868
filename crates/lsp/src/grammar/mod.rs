//! What can be computed from a text alone, for languages with a tree-sitter grammar: declarations, imports, a skeleton,
//! and which words are code.

mod alter;
mod code;
#[cfg(test)]
mod fuzz;
mod imports;
mod outline;
mod rules;
mod skeleton;
mod syntax;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use tree_sitter::{Language as Parsing, Node, ParseOptions, ParseState, Parser, Tree};

pub(crate) use code::Code;
use rules::Rule;
pub(crate) use syntax::LspSyntax;

use semdex_model::Span;

/// A text that takes longer to parse is treated as plain text.
const PATIENCE: Duration = Duration::from_secs(5);
/// A text with more deeply nested brackets is not parsed, since the parser's stack would grow as deep.
const DEEPEST_BRACKETS: usize = 2000;
/// A deeper tree is not walked. Operators and calls nest without brackets, and finding a node's parent takes as many
/// steps as the node is deep.
const DEEPEST: usize = 10_000;

/// The syntax of a language.
#[derive(Debug)]
pub(crate) struct Grammar {
    parsing: fn() -> Parsing,
    rules: &'static [Rule],
    bodies: Bodies,
    /// A similar grammar that is tried if the text has errors in this one.
    other: Option<&'static Grammar>,
    /// Whether syntax errors are reported. Not in languages whose macros may expand to any syntax.
    has_errors: bool,
}

/// How a function body is collapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bodies {
    Braces,
    Python,
    Shell,
    Ruby,
}

impl Grammar {
    pub(crate) fn of(language: &str) -> Option<&'static Grammar> {
        rules::of(language)
    }

    /// The syntax tree of a text, and the grammar that parsed it. `None` if it is nested too deeply.
    fn parse(&'static self, text: &str) -> Option<(Tree, &'static Grammar)> {
        if has_deep_brackets(text) {
            return None;
        }
        let tree = self.parse_alone(text)?;
        let other = self.other.filter(|_| tree.root_node().has_error());
        if let Some((second, other)) = other.and_then(|it| Some((it.parse_alone(text)?, it)))
            && count_errors(second.root_node()) < count_errors(tree.root_node())
        {
            return Some((second, other));
        }
        Some((tree, self))
    }

    fn parse_alone(&self, text: &str) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(&(self.parsing)()).ok()?;
        let deadline = Instant::now() + PATIENCE;
        let mut late = |_: &ParseState| match Instant::now() > deadline {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        };
        let bytes = text.as_bytes();
        let options = ParseOptions::new().progress_callback(&mut late);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        tree.filter(|it| text.len() <= DEEPEST || !is_deep(it))
    }
}

fn is_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0_usize;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > DEEPEST {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

fn has_deep_brackets(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|it| {
        match it {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST_BRACKETS
    })
}

fn count_errors(node: Node<'_>) -> usize {
    let mut count = 0;
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.is_error() || node.is_missing() {
            count += 1;
        } else if node.has_error() {
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
    }
    count
}

fn span_of(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

fn text_of<'t>(text: &'t str, node: Node<'_>) -> &'t str {
    text.get(node.start_byte()..node.end_byte()).unwrap_or_default()
}
