//! Comments: which of them document a declaration, and their text without comment marks.

use tree_sitter::Node;

use super::lexer::ELIDED;
use super::parse::{Syntax, slice, span};
use semdex_model::Span;
use semdex_text::lines::LineIndex;

/// The comments of a file outside function bodies, in the order of the text.
#[derive(Debug)]
pub(crate) struct Comments<'t> {
    text: &'t str,
    lines: LineIndex,
    spans: Vec<Span>,
}

impl<'t> Comments<'t> {
    pub(crate) fn of<'tree>(text: &'t str, roots: impl Iterator<Item = Node<'tree>>) -> Comments<'t> {
        let mut spans = Vec::new();
        for root in roots {
            collect(text, root, &mut spans);
        }
        Comments { text, lines: LineIndex::new(text), spans }
    }

    /// The comment group that ends on the line directly above `offset`, with nothing between, each comment first on its
    /// line.
    pub(crate) fn above(&self, offset: usize) -> Option<Span> {
        let mut next = self.spans.partition_point(|span| span.start < offset);
        let mut below = offset;
        let mut group: Option<Span> = None;
        while let Some(&span) = next.checked_sub(1).and_then(|at| self.spans.get(at)) {
            let between = self.text.get(span.end..below).unwrap_or("?");
            let adjacent = memchr::memchr_iter(b'\n', between.as_bytes()).count() < 2 && between.trim().is_empty();
            if !adjacent || !self.first_on_its_line(span) {
                break;
            }
            group = Some(Span::new(span.start, group.map_or(span.end, |it| it.end)));
            below = span.start;
            next -= 1;
        }
        group
    }

    /// The comment after a declaration on the same line, with nothing between.
    pub(crate) fn behind(&self, end: usize) -> Option<Span> {
        let span = *self.spans.get(self.spans.partition_point(|span| span.start < end))?;
        let between = self.text.get(end..span.start)?;
        let rest = self.text.get(span.end..)?;
        let alone = rest.lines().next().is_none_or(|it| it.trim().is_empty());
        let between = between.replace(ELIDED, "");
        (alone && between.trim_matches([' ', '\t', ',', ';']).is_empty()).then_some(span)
    }

    /// The text of the comments in a span.
    pub(crate) fn docs(&self, group: Span) -> Option<String> {
        let from = self.spans.partition_point(|span| span.start < group.start);
        let within = self.spans.iter().skip(from).take_while(|span| span.end <= group.end);
        said(within.filter_map(|span| self.text.get(span.start..span.end)))
    }

    fn first_on_its_line(&self, span: Span) -> bool {
        let start = self.lines.line_span(self.lines.line(span.start)).map_or(0, |it| it.start);
        self.text.get(start..span.start).is_some_and(|it| it.trim_matches([' ', '\t', '\u{feff}']).is_empty())
    }
}

fn collect(text: &str, root: Node, spans: &mut Vec<Span>) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "comment" && slice(text, node) != ELIDED {
            spans.push(span(node));
        }
        if node.kind() != "block" && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The text of a comment group as in `go doc`: without marks and directives, outer blank lines dropped, inner ones
/// reduced to one.
pub(crate) fn said<'t>(comments: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut lines: Vec<&str> = Vec::new();
    for comment in comments {
        if let Some(line) = comment.strip_prefix("//") {
            if !is_directive(line) {
                lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end());
            }
        } else {
            let inner = comment.strip_prefix("/*").unwrap_or(comment);
            lines.extend(inner.strip_suffix("*/").unwrap_or(inner).lines().map(str::trim_end));
        }
    }
    let mut text = String::new();
    let mut blank = false;
    for line in lines {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        text.push_str(line);
    }
    (!text.is_empty()).then_some(text)
}

/// `//go:embed`, `//line file:1`, `//export name`: for a tool, not for a reader.
fn is_directive(line: &str) -> bool {
    if ["line ", "extern ", "export "].iter().any(|it| line.starts_with(it)) {
        return true;
    }
    let Some((tool, rest)) = line.split_once(':') else { return false };
    let named = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    !tool.is_empty() && tool.chars().all(named) && rest.starts_with(named)
}

/// The docs of the group, `const ( … )`, that a member at this offset belongs to.
pub(crate) fn group_docs(text: &str, offset: usize) -> Option<String> {
    let syntax = Syntax::parse(text);
    let node = syntax.roots().find_map(|root| declaration_around(root, offset))?;
    let comments = Comments::of(text, syntax.roots());
    comments.docs(comments.above(node.start_byte())?)
}

fn declaration_around(root: Node, offset: usize) -> Option<Node> {
    let mut cursor = root.walk();
    let mut children = root.named_children(&mut cursor);
    let found = children.find(|it| span(*it).contains(offset))?;
    let is_group = || {
        let mut cursor = found.walk();
        found.children(&mut cursor).any(|it| it.kind() == "(" || it.kind() == "var_spec_list")
    };
    let grouped = matches!(found.kind(), "type_declaration" | "const_declaration" | "var_declaration") && is_group();
    grouped.then_some(found)
}
