//! The text of a file without bodies and long values, as valid Go.

use tree_sitter::Node;

use super::lexer::{ELIDED, closing_brace};
use super::parse::{slice, span};
use semdex_model::Span;

/// A span of the text with a shorter replacement. The replacement contains no line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elision {
    pub span: Span,
    pub text: String,
}

/// The maximum length of a one-line body that is kept.
const SHORT_BODY: usize = 80;
/// The limits of a value that is kept.
const LONG_LINES: usize = 4;
const LONG_BYTES: usize = 240;
/// The length of the kept prefix of a long string.
const STRING_HEAD: usize = 60;
/// The maximum depth at which values are searched, because of the stack. Deeper ones are kept.
const MAX_DEPTH: usize = 200;

/// The elisions of a file's skeleton, in the order of the text.
pub(crate) fn elisions(text: &str, root: Node) -> Vec<Elision> {
    let mut cutter = Cutter { text, elisions: Vec::new() };
    cutter.declarations(root, 0);
    cutter.elisions
}

/// Applies the elisions. For each line of the result, also returns its original line, counted from 1.
pub(crate) fn apply(text: &str, elisions: &[Elision]) -> (String, Vec<usize>) {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let skeleton = splice(text, Span::new(start, text.len()), elisions);
    let (mut lines, mut line, mut at) = (Vec::new(), 1, 0);
    if !skeleton.is_empty() {
        lines.push(1);
    }
    for elision in elisions.iter().map(|it| it.span).chain([Span::new(text.len(), text.len())]) {
        for _ in memchr::memchr_iter(b'\n', text.get(at..elision.start).unwrap_or_default().as_bytes()) {
            line += 1;
            lines.push(line);
        }
        line += memchr::memchr_iter(b'\n', text.get(elision.start..elision.end).unwrap_or_default().as_bytes()).count();
        at = elision.end;
    }
    if skeleton.ends_with('\n') {
        lines.pop();
    }
    (skeleton, lines)
}

/// A span of the text with the elisions inside it applied.
pub(crate) fn splice(text: &str, stretch: Span, elisions: &[Elision]) -> String {
    let mut result = String::with_capacity(stretch.end.saturating_sub(stretch.start));
    let mut at = stretch.start;
    let from = elisions.partition_point(|it| it.span.start < stretch.start);
    for elision in elisions.iter().skip(from).take_while(|it| it.span.end <= stretch.end) {
        result.push_str(text.get(at..elision.span.start).unwrap_or_default());
        result.push_str(&elision.text);
        at = elision.span.end;
    }
    result.push_str(text.get(at..stretch.end).unwrap_or_default());
    result
}

struct Cutter<'t> {
    text: &'t str,
    elisions: Vec<Elision>,
}

impl Cutter<'_> {
    fn declarations(&mut self, parent: Node, depth: usize) {
        let mut cursor = parent.walk();
        for node in parent.named_children(&mut cursor) {
            match node.kind() {
                "function_declaration" | "method_declaration" => self.body_of(node),
                "const_declaration" | "var_declaration" | "var_spec_list" | "const_spec" | "var_spec" | "ERROR"
                    if depth < MAX_DEPTH =>
                {
                    self.declarations(node, depth + 1);
                }
                "expression_list" => self.value(node, 0),
                _ => {}
            }
        }
    }

    fn body_of(&mut self, function: Node) {
        let Some(body) = function.child_by_field_name("body") else { return };
        let text = slice(self.text, body);
        // The parser may report a wrong end for a body that it did not understand.
        if body.has_error() && closing_brace(&self.text[body.start_byte()..]) != Some(text.len()) {
            return;
        }
        let Some(inner) = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else { return };
        if text.contains('\n') || text.len() > SHORT_BODY {
            let replacement = match inner.trim().lines().count() {
                0 => "{}".to_owned(),
                1 => "{ /* 1 line */ }".to_owned(),
                lines => format!("{{ /* {lines} lines */ }}"),
            };
            self.elisions.push(Elision { span: span(body), text: replacement });
        }
    }

    /// Elides the bodies of function literals, then values that are still too long, from the inside out.
    fn value(&mut self, node: Node, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let before = self.elisions.len();
        match node.kind() {
            "func_literal" => self.body_of(node),
            "binary_expression" => {
                let first = self.operands(node, depth);
                if self.is_long(span(node), before) {
                    self.cut(before, Span::new(first.end_byte(), node.end_byte()), format!(" {ELIDED}"));
                }
            }
            "interpreted_string_literal" | "raw_string_literal" => {
                if self.is_long(span(node), before)
                    && let Some(head) = string_head(slice(self.text, node))
                {
                    self.cut(before, span(node), format!("{head} {ELIDED}"));
                }
            }
            "literal_value" | "argument_list" => {
                self.children(node, depth);
                let text = slice(self.text, node);
                if self.is_long(span(node), before) && text.ends_with(['}', ')']) {
                    let replacement =
                        if text.starts_with('{') { format!("{{ {ELIDED} }}") } else { format!("({ELIDED})") };
                    self.cut(before, span(node), replacement);
                }
            }
            _ => self.children(node, depth),
        }
    }

    fn children(&mut self, node: Node, depth: usize) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.value(child, depth + 1);
        }
    }

    /// `a + b + c` is a left-leaning tree as deep as its length: descend in a loop, then process the operands in order.
    fn operands<'tree>(&mut self, node: Node<'tree>, depth: usize) -> Node<'tree> {
        let mut rights = Vec::new();
        let mut first = node;
        while first.kind() == "binary_expression"
            && let Some(left) = first.child_by_field_name("left")
        {
            rights.extend(first.child_by_field_name("right"));
            first = left;
        }
        self.value(first, depth + 1);
        for right in rights.into_iter().rev() {
            self.value(right, depth + 1);
        }
        first
    }

    /// Whether a span is still too long with the elisions since `before`.
    fn is_long(&self, stretch: Span, before: usize) -> bool {
        let text = splice(self.text, stretch, self.elisions.get(before..).unwrap_or_default());
        text.len() > LONG_BYTES || memchr::memchr_iter(b'\n', text.as_bytes()).count() >= LONG_LINES
    }

    /// Adds one elision and removes those since `before` inside it.
    fn cut(&mut self, before: usize, stretch: Span, text: String) {
        let at = before.min(self.elisions.len());
        let inner = self.elisions.split_off(at);
        self.elisions.extend(inner.into_iter().filter(|it| !stretch.encloses(it.span)));
        self.elisions.push(Elision { span: stretch, text });
    }
}

/// The beginning of a string literal as a valid literal.
fn string_head(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('`') {
        let raw = raw.strip_suffix('`')?;
        let line = raw.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
        let head: String = line.chars().take(STRING_HEAD).collect();
        return Some(format!("`{}`", head.trim_end()));
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut end = 0;
    while end < STRING_HEAD
        && let Some(rest) = inner.get(end..)
        && let Some(first) = rest.chars().next()
    {
        // An escape sequence is not split.
        let len = match rest.as_bytes() {
            [b'\\', b'x' | b'0'..=b'7', ..] => 4,
            [b'\\', b'u', ..] => 6,
            [b'\\', b'U', ..] => 10,
            [b'\\', ..] => 2,
            _ => first.len_utf8(),
        };
        end += len;
    }
    Some(format!("\"{}\"", inner.get(..end)?))
}
