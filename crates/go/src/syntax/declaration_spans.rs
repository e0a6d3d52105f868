//! A file as its top-level declarations, each with its words. The effect of an edit on a file, and on other files, is
//! computed from these.

use tree_sitter::Node;

use super::lexer::{Kind, is_keyword, tokens};
use super::parse::{Syntax, slice, span};
use semdex_model::Span;
use semdex_text::words::{WordHash, word_hash};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    Import,
    Function,
    Method,
    Type,
    /// Constants or variables.
    Value,
}

/// One top-level declaration, with everything in its parentheses.
#[derive(Debug)]
pub(crate) struct DeclarationSpan {
    pub kind: SpanKind,
    pub span: Span,
    /// The body of a function or method, from its opening brace to the end.
    pub body: Option<Span>,
    /// The names that it declares at the top level: not the fields and methods of a type.
    pub names: Box<[WordHash]>,
    /// The identifiers outside the body, each once.
    pub head_words: Box<[WordHash]>,
    pub body_words: Box<[WordHash]>,
}

impl DeclarationSpan {
    /// The part that code elsewhere may depend on.
    pub(crate) fn head(&self) -> Span {
        Span::new(self.span.start, self.body.map_or(self.span.end, |it| it.start))
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = WordHash> + '_ {
        self.head_words.iter().chain(&self.body_words).copied()
    }
}

/// The declarations of a text in order; `None` if the parser does not understand all of it.
pub(crate) fn units(text: &str) -> Option<Vec<DeclarationSpan>> {
    let syntax = Syntax::parse(text);
    if syntax.has_error() {
        return None;
    }
    let mut units = Vec::new();
    for root in syntax.roots() {
        let mut cursor = root.walk();
        for node in root.named_children(&mut cursor) {
            let kind = match node.kind() {
                "package_clause" | "comment" => continue,
                "import_declaration" => SpanKind::Import,
                "function_declaration" => SpanKind::Function,
                "method_declaration" => SpanKind::Method,
                "type_declaration" => SpanKind::Type,
                "const_declaration" | "var_declaration" => SpanKind::Value,
                _ => return None,
            };
            units.push(unit(text, kind, node));
        }
    }
    Some(units)
}

fn unit(text: &str, kind: SpanKind, node: Node) -> DeclarationSpan {
    let whole = span(node);
    let body = matches!(kind, SpanKind::Function | SpanKind::Method).then(|| node.child_by_field_name("body"));
    let body = body.flatten().map(|it| Span::new(it.start_byte(), whole.end));
    let head = Span::new(whole.start, body.map_or(whole.end, |it| it.start));
    let mut names = Vec::new();
    declared(text, node, &mut names);
    DeclarationSpan {
        kind,
        span: whole,
        body,
        names: distinct(names),
        head_words: words_in(text, head),
        body_words: body.map(|it| words_in(text, it)).unwrap_or_default(),
    }
}

/// The names of a declaration's specs.
fn declared(text: &str, node: Node, names: &mut Vec<WordHash>) {
    if matches!(node.kind(), "import_declaration") {
        return;
    }
    let mut cursor = node.walk();
    names.extend(node.children_by_field_name("name", &mut cursor).map(|it| word_hash(slice(text, it))));
    if matches!(node.kind(), "type_declaration" | "const_declaration" | "var_declaration" | "var_spec_list") {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).for_each(|it| declared(text, it, names));
    }
}

fn words_in(text: &str, span: Span) -> Box<[WordHash]> {
    words_touching(text.get(span.start..span.end).unwrap_or_default(), Span::new(0, span.end - span.start))
}

/// The identifiers of some code that overlap or touch a span.
pub(crate) fn words_touching(code: &str, stretch: Span) -> Box<[WordHash]> {
    let words = tokens(code).filter(|it| it.kind == Kind::Word && it.span.overlaps(stretch));
    let words = words.map(|it| &code[it.span.start..it.span.end]);
    distinct(words.filter(|it| !is_keyword(it)).map(word_hash).collect())
}

fn distinct(mut words: Vec<WordHash>) -> Box<[WordHash]> {
    words.sort_unstable();
    words.dedup();
    words.into_boxed_slice()
}

/// The spans of the old and the new text that an edit of a body can have affected; the rest is equal. Statements
/// without declarations do not change the meaning of a name outside themselves. A declaration may do so up to the end
/// of its block.
pub(crate) fn changed_statements(old: &str, new: &str) -> Option<(Span, Span)> {
    let (old_tree, new_tree) = (Syntax::parse(old), Syntax::parse(new));
    if old_tree.has_error() || new_tree.has_error() {
        return None;
    }
    let common = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let mut prefix = common(&mut old.bytes().zip(new.bytes()));
    let longest = old.len().min(new.len()) - prefix;
    let mut suffix = common(&mut old.bytes().rev().zip(new.bytes().rev()).take(longest));
    // Without a blank between the unchanged and the changed text, they may be one word or one statement.
    let is_blank = |text: &str, at: usize| text.as_bytes().get(at).is_none_or(u8::is_ascii_whitespace);
    let grows = |at: fn(usize, usize) -> usize, prefix: usize, suffix: usize| {
        [old, new].iter().any(|text| !is_blank(text, at(prefix, text.len() - suffix)))
    };
    if grows(|start, _| start, prefix, suffix) {
        prefix -= old.as_bytes()[..prefix].iter().rev().take_while(|it| !it.is_ascii_whitespace()).count();
    }
    if grows(|_, end| end.wrapping_sub(1), prefix, suffix) {
        suffix -= old.as_bytes()[old.len() - suffix..].iter().take_while(|it| !it.is_ascii_whitespace()).count();
    }
    let touched = |text: &str| Span::new(prefix, text.len() - suffix);
    let (old_block, new_block) = (block(&old_tree, touched(old))?, block(&new_tree, touched(new))?);
    let same_end = old.len() - old_block.span.end == new.len() - new_block.span.end;
    if old_block.span.start != new_block.span.start || !same_end {
        return None;
    }
    let (old_part, new_part) = (old_block.part(touched(old)), new_block.part(touched(new)));
    let start = old_part.span.start.min(new_part.span.start);
    let (old_tail, new_tail) = (old.len() - old_part.span.end, new.len() - new_part.span.end);
    let declares = old_part.declares || new_part.declares;
    let tail = if declares { old.len() - old_block.span.end } else { old_tail.min(new_tail) };
    Some((Span::new(start, old.len() - tail), Span::new(start, new.len() - tail)))
}

/// The innermost list of statements that encloses a span.
struct Block<'t> {
    span: Span,
    statements: Vec<Node<'t>>,
}

struct Part {
    span: Span,
    declares: bool,
}

fn block(syntax: &Syntax, touched: Span) -> Option<Block<'_>> {
    let mut node = syntax.roots().find(|it| span(*it).encloses(touched))?;
    let mut found = None;
    loop {
        // The list of a clause has no delimiters, the list of a block is in braces.
        let of_clause = node.kind() == "statement_list" && node.parent().is_some_and(|it| it.kind() != "block");
        if of_clause || node.kind() == "block" {
            let mut cursor = node.walk();
            let inner = node.named_children(&mut cursor).find(|it| it.kind() == "statement_list").unwrap_or(node);
            let mut cursor = inner.walk();
            let statements = inner.named_children(&mut cursor).filter(|it| it.kind() != "comment").collect();
            found = Some(Block { span: span(node), statements });
        }
        let mut cursor = node.walk();
        // Strictly inside: a change at a node's edge may belong to its neighbour.
        let inner =
            node.named_children(&mut cursor).find(|it| it.start_byte() < touched.start && touched.end < it.end_byte());
        match inner {
            Some(inner) => node = inner,
            None => return found,
        }
    }
}

impl Block<'_> {
    /// The statements that a span touches.
    fn part(&self, touched: Span) -> Part {
        let near = self.statements.iter().filter(|it| it.start_byte() < touched.end && touched.start < it.end_byte());
        let mut part = Part { span: touched, declares: false };
        for statement in near {
            part.span.start = part.span.start.min(statement.start_byte());
            part.span.end = part.span.end.max(statement.end_byte());
            // A label declares the statement after it.
            part.declares |= matches!(
                statement.kind(),
                "short_var_declaration" | "var_declaration" | "const_declaration" | "type_declaration"
            ) || statement.kind() == "labeled_statement";
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: Option<(&str, &str)>) {
        let whole = |body: &str| format!("package a\nfunc f() {{\n{body}\n}}\n");
        let (old, new) = (whole(old), whole(new));
        let shown = |it: &str| it.trim_end_matches(['}', '\n']).trim().to_owned();
        let expected = expected.map(|(a, b)| (shown(a), shown(b)));
        let found = changed_statements(&old, &new);
        let found = found.map(|(a, b)| (shown(&old[a.start..a.end]), shown(&new[b.start..b.end])));
        assert_eq!(found, expected, "{old} → {new}");
    }

    #[test]
    fn what_declares_nothing_touches_only_itself() {
        check("a()\nb()\nc()", "a()\nd(1)\nc()", Some(("b()", "d(1)")));
        check("a()\nc()", "a()\n_ = 0\nc()", Some(("", "_ = 0")));
        check("x := a()\ny(x)\nz()", "x := b()\ny(x)\nz()", Some(("x := a()\ny(x)\nz()", "x := b()\ny(x)\nz()")));
        check(
            "if t {\nx := a()\ny(x)\n}\nz()",
            "if t {\nx := b()\ny(x)\n}\nz()",
            Some(("x := a()\ny(x)", "x := b()\ny(x)")),
        );
        let switch = |ty: &str| format!("switch x := y.(type) {{\ncase {ty}:\nx.M()\n}}\nz()");
        let (a, b) = (switch("A"), switch("B"));
        check(&a, &b, Some((a.trim_end_matches("z()").trim(), b.trim_end_matches("z()").trim())));
        check(
            "if x := a(); x {\nx.M()\n}\nz()",
            "if x := b(); x {\nx.M()\n}\nz()",
            Some(("if x := a(); x {\nx.M()\n}", "if x := b(); x {\nx.M()\n}")),
        );
    }

    #[test]
    fn units_know_what_they_declare() {
        let text = "package a\n\nimport \"x\"\n\ntype (\n\tT struct{ F int }\n\tU = T\n)\n\nfunc (t *T) M(a U) { g(a) }\n\nvar b, c = 1, T{}\n";
        let units = units(text).unwrap();
        let spans: Vec<(SpanKind, usize, usize)> =
            units.iter().map(|it| (it.kind, it.names.len(), it.body_words.len())).collect();
        assert_eq!(
            spans,
            [(SpanKind::Import, 0, 0), (SpanKind::Type, 2, 0), (SpanKind::Method, 1, 2), (SpanKind::Value, 2, 0)]
        );
        assert!(units[1].names.contains(&word_hash("T")) && units[1].names.contains(&word_hash("U")));
        assert!(units[2].head_words.contains(&word_hash("U")) && !units[2].head_words.contains(&word_hash("g")));
        assert!(super::units("package a\nfunc {").is_none());
    }
}
