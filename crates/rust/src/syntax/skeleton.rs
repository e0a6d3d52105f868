//! The skeleton of a file: its text in which the contents of bodies are replaced by their size. Every replacement is on
//! one line and parses where the original did, so the skeleton is still Rust.

use ra_ap_syntax::ast::{self, HasArgList, HasAttrs};
use ra_ap_syntax::{AstNode, SyntaxKind, SyntaxNode, TextRange};

use super::RestOf;
use semdex_model::Span;

use super::attributes::Attributes;
use super::broken::{children, end_before, strays_of_function};
use super::source::Source;

/// Values up to this size are kept.
const LONGEST_VALUE: usize = 160;
const MOST_VALUE_LINES: usize = 5;
/// Macro calls among the items up to this number of lines are kept.
const MOST_MACRO_LINES: usize = 3;

/// The skeleton, and for each of its lines the corresponding line of the file. Also sets the ends of the nodes in the
/// skeleton.
pub(crate) fn skeleton(source: &Source, nodes: &mut [RestOf]) -> (String, Vec<usize>) {
    let mut cutter = Cutter { source, cuts: Vec::new() };
    cutter.items(source.tree.syntax());
    assemble(source, cutter.cuts, nodes)
}

struct Cut {
    span: Span,
    replacement: String,
}

struct Cutter<'s, 'a> {
    source: &'s Source<'a>,
    /// In the order of the text.
    cuts: Vec<Cut>,
}

impl Cutter<'_, '_> {
    fn items(&mut self, list: &SyntaxNode) {
        for item in children::<ast::Item>(list) {
            self.item(item);
        }
    }

    fn item(&mut self, item: ast::Item) {
        match item {
            ast::Item::Fn(item) => self.function(&item),
            ast::Item::Module(item) => self.module(&item),
            ast::Item::Impl(item) => {
                if let Some(members) = item.assoc_item_list() {
                    self.items(members.syntax());
                }
            }
            ast::Item::Trait(item) => {
                if let Some(members) = item.assoc_item_list() {
                    self.items(members.syntax());
                }
            }
            ast::Item::ExternBlock(item) => {
                if let Some(members) = item.extern_item_list() {
                    self.items(members.syntax());
                }
            }
            ast::Item::Const(item) => self.value(item.body()),
            ast::Item::Static(item) => self.value(item.body()),
            ast::Item::MacroRules(item) => {
                if let Some(rules) = item.token_tree() {
                    self.body(rules.syntax().text_range());
                }
            }
            ast::Item::MacroDef(item) => {
                if let Some(rules) = item.body() {
                    self.body(rules.syntax().text_range());
                }
            }
            ast::Item::MacroCall(item) => {
                if let Some(input) = item.token_tree()
                    && self.text(input.syntax().text_range()).lines().count() > MOST_MACRO_LINES
                {
                    self.body(input.syntax().text_range());
                }
            }
            ast::Item::AsmExpr(_)
            | ast::Item::Enum(_)
            | ast::Item::ExternCrate(_)
            | ast::Item::Struct(_)
            | ast::Item::TypeAlias(_)
            | ast::Item::Union(_)
            | ast::Item::Use(_) => {}
        }
    }

    fn function(&mut self, item: &ast::Fn) {
        let Some(body) = item.body().and_then(|body| body.stmt_list()) else { return };
        let strays = strays_of_function(self.source, item);
        let range = body.syntax().text_range();
        let end = end_before(body.syntax(), &strays);
        self.body(TextRange::new(range.start(), end.max(range.start())));
        for stray in strays {
            self.item(stray);
        }
    }

    fn module(&mut self, item: &ast::Module) {
        let Some(list) = item.item_list() else { return };
        if !Attributes::of(item).test_only {
            self.items(list.syntax());
            return;
        }
        let range = list.syntax().text_range();
        let lines = inner_lines(self.text(range));
        if lines > 0 {
            let amount = match tests_in(list.syntax()) {
                0 => plural(lines, "line"),
                tests => format!("{}, {}", plural(tests, "test"), plural(lines, "line")),
            };
            self.cut(range, format!("{{ /* {amount} */ }}"));
        }
    }

    /// The contents of brackets are replaced by their number of lines, unless they are shorter.
    fn body(&mut self, range: TextRange) {
        let text = self.text(range);
        let lines = inner_lines(text);
        let Some(open) = text.chars().next() else { return };
        if lines == 0 {
            return;
        }
        let close = closing(open);
        let replacement = format!("{open} /* {} */ {close}", plural(lines, "line"));
        // Closures and comments inside a body are removed with it, however short.
        let plain = lines == 1 && !text.contains('\n') && !["//", "/*", "|"].iter().any(|it| text.contains(it));
        if plain && text.len() <= replacement.len() {
            return;
        }
        self.cut(range, replacement);
    }

    fn value(&mut self, value: Option<ast::Expr>) {
        let Some(value) = value else { return };
        let range = value.syntax().text_range();
        if self.is_short(self.text(range)) {
            return;
        }
        // The rest around the innermost brackets may still be long, for example a chain of calls.
        match inside(&value) {
            Some((cut, replacement))
                if self.text(TextRange::new(range.start(), cut.start())).len()
                    + self.text(TextRange::new(cut.end(), range.end())).len()
                    <= LONGEST_VALUE =>
            {
                self.cut(cut, replacement);
            }
            _ => self.cut(range, "{ /* … */ }".to_owned()),
        }
    }

    fn is_short(&self, value: &str) -> bool {
        value.len() <= LONGEST_VALUE && value.lines().count() <= MOST_VALUE_LINES
    }

    fn text(&self, range: TextRange) -> &str {
        self.source.slice(self.source.span(range))
    }

    fn cut(&mut self, range: TextRange, replacement: String) {
        self.cuts.push(Cut { span: self.source.span(range), replacement });
    }
}

/// The part of a long value that can be removed while its form stays, and its replacement.
fn inside(value: &ast::Expr) -> Option<(TextRange, String)> {
    let bracketed = |node: &SyntaxNode| {
        let open = node.first_token()?;
        let open = open.text().chars().next()?;
        let blank = if open == '{' { " " } else { "" };
        Some((node.text_range(), format!("{open}{blank}/* … */{blank}{}", closing(open))))
    };
    match value {
        ast::Expr::RefExpr(it) => inside(&it.expr()?),
        ast::Expr::PrefixExpr(it) => inside(&it.expr()?),
        ast::Expr::CastExpr(it) => inside(&it.expr()?),
        ast::Expr::ArrayExpr(it) if it.attrs().next().is_none() => bracketed(it.syntax()),
        ast::Expr::TupleExpr(it) if it.attrs().next().is_none() => bracketed(it.syntax()),
        ast::Expr::BlockExpr(it) => bracketed(it.stmt_list()?.syntax()),
        ast::Expr::RecordExpr(it) => bracketed(it.record_expr_field_list()?.syntax()),
        ast::Expr::CallExpr(it) => bracketed(it.arg_list()?.syntax()),
        ast::Expr::MethodCallExpr(it) => bracketed(it.arg_list()?.syntax()),
        ast::Expr::MacroExpr(it) => bracketed(it.macro_call()?.token_tree()?.syntax()),
        ast::Expr::Literal(it) => {
            let token = it.token();
            let shortened = match token.kind() {
                SyntaxKind::STRING => "\"/* … */\"",
                // Byte strings are ASCII.
                SyntaxKind::BYTE_STRING => "b\"/* ... */\"",
                SyntaxKind::C_STRING => "c\"/* … */\"",
                _ => return None,
            };
            Some((token.text_range(), shortened.to_owned()))
        }
        _ => None,
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The number of lines between two brackets, without white space around them.
fn inner_lines(bracketed: &str) -> usize {
    let mut characters = bracketed.chars();
    let close = characters.next().map(closing);
    let inner = characters.as_str();
    let inner = close.and_then(|close| inner.strip_suffix(close)).unwrap_or(inner);
    inner.trim().lines().count()
}

fn tests_in(list: &SyntaxNode) -> usize {
    children::<ast::Item>(list)
        .map(|item| match item {
            ast::Item::Fn(item) => usize::from(Attributes::of(&item).test),
            ast::Item::Module(item) => item.item_list().map_or(0, |list| tests_in(list.syntax())),
            _ => 0,
        })
        .sum()
}

fn assemble(source: &Source, cuts: Vec<Cut>, nodes: &mut [RestOf]) -> (String, Vec<usize>) {
    let mut nodes = nodes.iter_mut().peekable();
    let mut skeleton = Skeleton { text: String::with_capacity(source.text.len() / 2), lines: Vec::new(), line: 1 };
    let mut at = source.start();
    for cut in cuts {
        // Broken code may nest parts that should follow each other: the outer one is already removed.
        if cut.span.start < at {
            continue;
        }
        while let Some(node) = nodes.next_if(|it| it.end <= cut.span.start) {
            node.skeleton_end = skeleton.text.len() + node.end - at;
        }
        skeleton.keep(source.slice(Span::new(at, cut.span.start)));
        skeleton.replace(source.slice(cut.span), &cut.replacement);
        at = cut.span.end;
    }
    for node in nodes {
        node.skeleton_end = skeleton.text.len() + node.end.saturating_sub(at);
    }
    skeleton.keep(source.slice(Span::new(at, source.text.len())));
    (skeleton.text, skeleton.lines)
}

struct Skeleton {
    text: String,
    lines: Vec<usize>,
    /// The line of the file, counted from 1.
    line: usize,
}

impl Skeleton {
    fn keep(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.begin_line();
            self.text.push_str(line);
            self.line += usize::from(line.ends_with('\n'));
        }
    }

    fn replace(&mut self, text: &str, replacement: &str) {
        self.begin_line();
        self.text.push_str(replacement);
        self.line += memchr::memchr_iter(b'\n', text.as_bytes()).count();
    }

    fn begin_line(&mut self) {
        if self.text.is_empty() || self.text.ends_with('\n') {
            self.lines.push(self.line);
        }
    }
}
