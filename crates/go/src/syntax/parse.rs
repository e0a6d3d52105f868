//! Parses text to syntax trees. A file that the parser understands is one tree. Otherwise every declaration is parsed
//! by itself, so that an error stays local.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Range, Tree};

use super::depth::too_deep;
use super::lexer::{Kind, tokens};
use semdex_model::{Span, SyntaxError};

/// The maximum number of reported syntax errors; later ones mostly follow from the first.
const MAX_ERRORS: usize = 50;

/// Megabytes of valid text take a second. Only large text that is not Go takes longer than this.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The trees of a file in the order of the text, each for a span of its own. Empty if the parser gave up.
#[derive(Debug, Default)]
pub(crate) struct Syntax {
    trees: Vec<Tree>,
}

impl Syntax {
    pub(crate) fn parse(text: &str) -> Syntax {
        if too_deep(text).is_some() {
            return Syntax::default();
        }
        Syntax { trees: trees(text, Instant::now() + TIMEOUT).unwrap_or_default() }
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        self.trees.iter().map(Tree::root_node)
    }

    pub(crate) fn has_error(&self) -> bool {
        self.trees.is_empty() || self.roots().any(|it| it.has_error())
    }

    /// The outermost places that the parser did not understand.
    pub(crate) fn errors(&self, text: &str) -> Vec<SyntaxError> {
        let mut errors = Vec::new();
        if self.trees.is_empty() {
            let message = match too_deep(text) {
                Some(_) => "nested too deeply: the file is not analysed",
                None => "too large and broken to be parsed",
            };
            let message = message.to_owned();
            errors.push(SyntaxError { message, span: Span::new(0, text.len()) });
        }
        for root in self.roots() {
            errors_below(text, root, &mut errors);
        }
        errors
    }
}

fn trees(text: &str, deadline: Instant) -> Option<Vec<Tree>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    let mut whole = Syntax { trees: vec![parse_until(&mut parser, text, deadline)?] };
    if !whole.has_error() {
        return Some(whole.trees);
    }
    let masked = without_special_calls(text, &whole.errors(text));
    if let Some(masked) = &masked {
        let second = Syntax { trees: vec![parse_until(&mut parser, masked, deadline)?] };
        if second.errors(text).len() < whole.errors(text).len() {
            whole = second;
        }
        if !whole.has_error() {
            return Some(whole.trees);
        }
    }
    let mut pieces = Syntax::default();
    for range in declarations(text) {
        parser.set_included_ranges(&[range]).ok()?;
        pieces.trees.push(parse_until(&mut parser, masked.as_deref().unwrap_or(text), deadline)?);
    }
    let worth = |it: &Syntax| (it.roots().map(|it| count(it)).sum::<usize>(), usize::MAX - it.errors(text).len());
    Some(if worth(&pieces) >= worth(&whole) { pieces.trees } else { whole.trees })
}

/// The range of a node.
pub(crate) fn span(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The text of a node.
pub(crate) fn slice<'t>(text: &'t str, node: Node) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn parse_until(parser: &mut Parser, text: &str, deadline: Instant) -> Option<Tree> {
    let mut watch = |_: &ParseState| match Instant::now() < deadline {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// The number of parsed declarations.
fn count(node: Node) -> usize {
    let mut cursor = node.walk();
    let counts = node.named_children(&mut cursor).map(|it| match it.kind() {
        // Nested errors are not searched.
        "ERROR" if !node.is_error() => count(it),
        kind => usize::from(kind.ends_with("_declaration") || kind == "package_clause"),
    });
    counts.sum()
}

/// The range of each declaration with the comment above it. A declaration begins with its keyword at the start of a
/// line, as gofmt formats it. The first range begins at the start of the text.
fn declarations(text: &str) -> Vec<Range> {
    let (mut starts, mut comment, mut line_start) = (vec![(0, 0)], None, true);
    let mut row = 0;
    for token in tokens(text) {
        let piece = &text[token.span.start..token.span.end];
        let breaks = memchr::memchr_iter(b'\n', piece.as_bytes()).count();
        match token.kind {
            Kind::Space if breaks > 1 => comment = None,
            Kind::Space => {}
            Kind::Comment if line_start => comment = comment.or(Some((token.span.start, row))),
            Kind::Word if line_start && matches!(piece, "package" | "import" | "func" | "type" | "const" | "var") => {
                starts.push(comment.take().unwrap_or((token.span.start, row)));
            }
            _ => comment = None,
        }
        row += breaks;
        line_start = token.kind == Kind::Space && piece.ends_with('\n');
    }
    let ends: Vec<(usize, usize)> = starts.iter().skip(1).copied().chain([(text.len(), row)]).collect();
    let point = |row: usize| Point { row, column: 0 };
    let stretch = |((start, first), (end, last)): ((usize, usize), (usize, usize))| Range {
        start_byte: start,
        end_byte: end,
        start_point: point(first),
        end_point: point(last),
    };
    starts.into_iter().zip(ends).map(stretch).filter(|it| it.start_byte < it.end_byte).collect()
}

/// The grammar lets `new` and `make` take types only, though `new(1 + x)` is valid since Go 1.26 and `make` may be any
/// function's name. In lines with errors they are replaced by other words of the same length, so that no offset
/// changes.
fn without_special_calls(text: &str, errors: &[SyntaxError]) -> Option<String> {
    let line_of = |at: usize| text.get(..at).map_or(0, |it| memchr::memchr_iter(b'\n', it.as_bytes()).count());
    let lines: Vec<usize> = errors.iter().map(|it| line_of(it.span.start)).collect();
    let (mut masked, mut line) = (String::with_capacity(text.len()), 0);
    for token in tokens(text) {
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

fn errors_below(text: &str, root: Node, errors: &mut Vec<SyntaxError>) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let wrong = node.is_error() || node.is_missing();
        if wrong && errors.len() < MAX_ERRORS {
            errors.push(SyntaxError { message: complaint(text, node), span: place(text, node) });
        }
        if !wrong && node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The place of an error within the text; for a missing token, after the preceding text.
fn place(text: &str, node: Node) -> Span {
    let span = span(node);
    if !node.is_missing() {
        return Span::new(span.start, span.start + slice(text, node).trim_end().len());
    }
    let at = text.get(..span.start).map_or(span.start, |it| it.trim_end().len());
    Span::new(at, at)
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
