//! What the text of a file says by itself, for the languages that have a grammar of tree-sitter: declarations, imports,
//! a skeleton, and which words of it are code.

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

/// What takes longer than this to parse is taken for text.
const PATIENCE: Duration = Duration::from_secs(5);
/// Brackets that are nested more deeply are not parsed at all: the stacks of the parser's tables are as deep.
const DEEPEST_BRACKETS: usize = 2000;
/// Nor is a deeper tree walked: operators and calls nest without brackets, and to find the parent of a node takes as many
/// steps as it is deep.
const DEEPEST: usize = 10_000;

/// How a language is written.
#[derive(Debug)]
pub(crate) struct Grammar {
    parsing: fn() -> Parsing,
    rules: &'static [Rule],
    bodies: Bodies,
    /// Where its text has errors by this grammar, it may be written in that one.
    other: Option<&'static Grammar>,
    /// Whether what its parser does not understand is an error: not where macros may stand for anything.
    has_errors: bool,
}

/// How a body is collapsed.
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

    /// The tree of a text, and the grammar that it is written in. Nothing of what is nested too deeply.
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
