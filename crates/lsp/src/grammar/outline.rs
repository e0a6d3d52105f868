//! Extracts the declarations of a file from its syntax tree.

use tree_sitter::Node;

use super::rules::{Name, Rule};
use super::{Bodies, Grammar, imports, skeleton, span_of, text_of};
use semdex_model::{Outline, OutlineItem, Span, SymbolKind, SyntaxError};

/// The most syntax errors that are reported.
const MOST_ERRORS: usize = 50;
/// More deeply nested declarations are not listed.
const DEEPEST: usize = 60;

pub(crate) fn of(grammar: &'static Grammar, text: &str) -> Option<Outline> {
    let (tree, grammar) = grammar.parse(text)?;
    let root = tree.root_node();
    let mut walk = Walk { grammar, text, bodies: Vec::new() };
    let mut items = Vec::new();
    walk.children(root, &Place::default(), &mut items);
    let docs = module_docs(grammar, text, root);
    let (skeleton, skeleton_lines) = skeleton::collapse(grammar.bodies, text, &mut walk.bodies);
    let errors = if grammar.has_errors { errors(root) } else { Vec::new() };
    let imports = imports::of(text, root);
    Some(Outline { docs, imports, items, skeleton, skeleton_lines, errors, ..Outline::default() })
}

struct Walk<'t> {
    grammar: &'static Grammar,
    text: &'t str,
    /// The bodies of the outermost functions, which are collapsed.
    bodies: Vec<Span>,
}

/// The position of a node in the tree of declarations.
#[derive(Debug, Clone, Default)]
struct Place {
    container: Vec<String>,
    in_class: bool,
    in_function: bool,
    depth: usize,
    /// The outermost node that only wraps the next declaration: `export`, decorators, a template.
    wrapper: Option<(usize, usize)>,
}

impl<'t> Walk<'t> {
    fn children(&mut self, node: Node<'_>, place: &Place, items: &mut Vec<OutlineItem>) {
        if place.depth > DEEPEST {
            return;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child, place, items);
        }
    }

    fn visit(&mut self, node: Node<'_>, place: &Place, items: &mut Vec<OutlineItem>) {
        let kind = node.kind();
        let rule = self.grammar.rules.iter().find(|it| it.node == kind);
        if let Some(rule) = rule.filter(|it| !(it.outside && place.in_function)) {
            if self.declare(rule, node, place, items) {
                return;
            }
        } else if rule.is_some() {
            return;
        }
        let is_wrapper = matches!(
            kind,
            "export_statement"
                | "decorated_definition"
                | "ambient_declaration"
                | "template_declaration"
                | "lexical_declaration"
                | "variable_declaration"
                | "expression_statement"
                | "declaration_list"
        );
        // Expressions contain no declarations that other code can name, except inside a class body.
        let is_closed =
            kind.ends_with("_expression") || matches!(kind, "arguments" | "argument_list" | "call" | "object");
        if is_closed {
            return;
        }
        let mut inner = Place { depth: place.depth + 1, ..place.clone() };
        inner.wrapper = match place.wrapper {
            Some(wrapper) if is_wrapper => Some(wrapper),
            _ if is_wrapper && node.named_child_count() <= 3 && kind != "declaration_list" => {
                Some((node.start_byte(), node.end_byte()))
            }
            _ => None,
        };
        self.children(node, &inner, items);
    }

    /// Adds the declarations of a node. Returns whether there were any.
    fn declare(&mut self, rule: &Rule, node: Node<'_>, place: &Place, items: &mut Vec<OutlineItem>) -> bool {
        let names = self.names(rule, node);
        if names.is_empty() {
            return false;
        }
        let several = names.len() > 1;
        for named in names {
            if let Some(item) = self.item(rule, node, named, place, several) {
                items.push(item);
            }
        }
        // `typedef struct { … } T;` and `struct S { … } s;` also declare the members in the braces.
        if rule.name == Name::Declarator
            && let Some(inner) = node.child_by_field_name("type")
            && inner.child_by_field_name("body").is_some()
        {
            let is_nameless = inner.child_by_field_name("name").is_none();
            match items.last_mut().filter(|_| is_nameless) {
                Some(last) => {
                    let mut container = last.container.clone();
                    container.push(last.name.clone());
                    let inside = Place { container, in_class: true, depth: place.depth + 1, ..Place::default() };
                    let mut children = Vec::new();
                    self.children(inner, &inside, &mut children);
                    last.children = children;
                }
                None => self.visit(inner, place, items),
            }
        }
        true
    }

    fn item(
        &mut self,
        rule: &Rule,
        node: Node<'_>,
        (name_node, kind): (Node<'_>, SymbolKind),
        place: &Place,
        several: bool,
    ) -> Option<OutlineItem> {
        let written = text_of(self.text, name_node);
        // The `$` is not part of the name.
        let is_variable = name_node.kind() == "variable_name";
        let written = if is_variable { written.trim_start_matches('$') } else { written };
        let mut parts: Vec<String> = written.split("::").map(|it| it.trim().to_owned()).collect();
        let name = parts.pop().filter(|it| !it.is_empty() && !it.contains(['\n', '(', '[', '{']))?;
        let mut container = place.container.clone();
        let is_member = !parts.is_empty();
        container.extend(parts);
        let value = rule.body.and_then(|it| node.child_by_field_name(it));
        let is_declarator = node.kind() == "variable_declarator";
        let function_value = value.filter(|it| {
            is_declarator && matches!(it.kind(), "arrow_function" | "function_expression" | "generator_function")
        });
        let class_value = value.filter(|it| is_declarator && it.kind() == "class");
        if is_declarator && rule.body.is_some() && place.in_function && function_value.is_none() {
            return None;
        }
        let kind = match kind {
            SymbolKind::Function if place.in_class || is_member => SymbolKind::Method,
            SymbolKind::Variable if function_value.is_some() => SymbolKind::Function,
            SymbolKind::Variable if class_value.is_some() => SymbolKind::Struct,
            SymbolKind::Variable if place.in_class => SymbolKind::Field,
            SymbolKind::Variable if is_constant(&name) => SymbolKind::Const,
            SymbolKind::Const if self.grammar.bodies == Bodies::Ruby && !name.starts_with(char::is_uppercase) => {
                return None;
            }
            other => other,
        };
        let body_node = match (function_value, class_value) {
            (Some(function), _) => function.child_by_field_name("body"),
            (None, Some(class)) => class.child_by_field_name("body"),
            (None, None) if is_declarator => None,
            _ => value,
        };
        let is_function = matches!(kind, SymbolKind::Function | SymbolKind::Method);
        let whole = statement_of(node).or(place.wrapper.filter(|_| !several));
        let (start, end) = whole.unwrap_or((node.start_byte(), node.end_byte()));
        let (start, comments) = self.with_comments(node, start);
        // What is one of several has no semicolon of its own.
        let is_one_of_several = kind == SymbolKind::Variant || (is_declarator && whole.is_none());
        let span = Span::new(start, if is_one_of_several { end } else { self.with_semicolon(end) });
        let body = body_node.map(|it| self.inside(it));
        let signature_end = body_node.map_or(node.end_byte(), |it| it.start_byte());
        let signature = self.signature(node, signature_end);
        let docs = self.docstring(body_node).or(comments);
        let mut children = Vec::new();
        if let Some(body) = body_node {
            let mut inner = container.clone();
            inner.push(name.clone());
            if is_function && !place.in_function && body.kind() != "expression" {
                self.bodies.push(span_of(body));
            }
            let inside = Place {
                container: inner,
                in_class: !is_function && !matches!(kind, SymbolKind::Module),
                in_function: is_function || place.in_function,
                depth: place.depth + 1,
                wrapper: None,
            };
            if kind == SymbolKind::Enum {
                self.variants(body, &inside, &mut children);
            }
            self.children(body, &inside, &mut children);
        }
        let public = !name.starts_with('_') && !name.starts_with('#') && !is_private(&signature);
        let test = is_function && (name.starts_with("test_") || name == "test");
        Some(OutlineItem {
            kind,
            container,
            signature,
            docs,
            span,
            name_span: self.last_part(name_node, &name),
            body,
            public,
            test,
            children,
            name,
        })
    }

    /// The members of TypeScript enums are bare names.
    fn variants(&self, body: Node<'_>, inside: &Place, items: &mut Vec<OutlineItem>) {
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor).filter(|it| it.kind() == "property_identifier") {
            let name = text_of(self.text, child).to_owned();
            let (start, docs) = self.with_comments(child, child.start_byte());
            items.push(OutlineItem {
                kind: SymbolKind::Variant,
                signature: name.clone(),
                container: inside.container.clone(),
                docs,
                span: Span::new(start, child.end_byte()),
                name_span: span_of(child),
                body: None,
                public: true,
                test: false,
                children: Vec::new(),
                name,
            });
        }
    }

    /// The name nodes of a declaration, each with its kind.
    fn names<'n>(&self, rule: &Rule, node: Node<'n>) -> Vec<(Node<'n>, SymbolKind)> {
        match rule.name {
            Name::Field(field) => {
                let is_name = |it: &Node<'_>| {
                    it.kind().contains("identifier")
                        || matches!(it.kind(), "name" | "word" | "constant" | "variable_name" | "type" | "setter")
                        || it.kind() == "string" && node.kind() == "module"
                };
                let named = node.child_by_field_name(field).filter(is_name);
                named.map(|it| (it, rule.kind)).into_iter().collect()
            }
            Name::Child(kind) => {
                let mut cursor = node.walk();
                node.named_children(&mut cursor)
                    .find(|it| it.kind() == kind)
                    .map(|it| (it, rule.kind))
                    .into_iter()
                    .collect()
            }
            Name::Each(kind, field) => {
                let mut cursor = node.walk();
                let each = node.named_children(&mut cursor).filter(|it| it.kind() == kind);
                each.filter_map(|it| Some((it.child_by_field_name(field)?, rule.kind))).collect()
            }
            Name::Declarator => {
                let mut cursor = node.walk();
                let each: Vec<Node<'n>> = node.children_by_field_name("declarator", &mut cursor).collect();
                each.into_iter().filter_map(|it| declared(it, rule.kind)).collect()
            }
        }
    }

    /// The start of the comments and decorators directly above, and the text of the comments.
    fn with_comments(&self, node: Node<'_>, start: usize) -> (usize, Option<String>) {
        let mut top = node;
        while let Some(parent) = top.parent().filter(|it| it.start_byte() >= start) {
            top = parent;
        }
        let mut first = start;
        let mut lines = Vec::new();
        let mut row = top.start_position().row;
        let mut before = top.prev_sibling();
        loop {
            // In a class of TypeScript, the decorators of a method are its siblings.
            while let Some(decorator) = before.filter(|it| it.kind() == "decorator") {
                (first, row, before) =
                    (decorator.start_byte(), decorator.start_position().row, decorator.prev_sibling());
            }
            let is_above = |it: &Node<'_>| it.kind().contains("comment") && it.end_position().row + 1 >= row;
            let Some(comment) = before.filter(is_above) else { break };
            let alone = comment.prev_sibling().is_none_or(|it| it.end_position().row < comment.start_position().row);
            if comment.end_position().row == row || !alone {
                break;
            }
            lines.push(plain_comment(text_of(self.text, comment)));
            (first, row, before) = (comment.start_byte(), comment.start_position().row, comment.prev_sibling());
        }
        lines.reverse();
        let docs = lines.join("\n").trim().to_owned();
        (first, Some(docs).filter(|it| !it.is_empty() && !it.starts_with('!')))
    }

    fn with_semicolon(&self, end: usize) -> usize {
        if self.text.get(end..).is_some_and(|it| it.starts_with(';')) { end + 1 } else { end }
    }

    /// The range between the braces, or the whole block if there are none.
    fn inside(&self, body: Node<'_>) -> Span {
        let span = span_of(body);
        match text_of(self.text, body) {
            it if it.starts_with('{') && it.ends_with('}') && it.len() > 1 => Span::new(span.start + 1, span.end - 1),
            _ => span,
        }
    }

    fn signature(&self, node: Node<'_>, end: usize) -> String {
        let written = self.text.get(node.start_byte()..end.max(node.start_byte())).unwrap_or_default();
        let joined = on_one_line(written);
        let joined = joined.trim_end_matches([' ', ':', '{', ';']).trim_end_matches("=>").trim_end();
        let cut: String = joined.chars().take(400).collect();
        cut
    }

    fn docstring(&self, body: Option<Node<'_>>) -> Option<String> {
        if self.grammar.bodies != Bodies::Python {
            return None;
        }
        docstring(self.text, body?)
    }

    fn last_part(&self, node: Node<'_>, name: &str) -> Span {
        let span = span_of(node);
        Span::new(span.end - name.len().min(span.end - span.start), span.end)
    }
}

/// The range of the statement that a declarator is a part of, where its head (`public int`, `const`) is outside of all
/// that only wraps the declarator.
fn statement_of(declarator: Node<'_>) -> Option<(usize, usize)> {
    if !matches!(declarator.kind(), "variable_declarator" | "property_element" | "const_element") {
        return None;
    }
    let is_statement = |it: &Node<'_>| {
        matches!(
            it.kind(),
            "field_declaration" | "event_field_declaration" | "property_declaration" | "const_declaration"
        )
    };
    let parent = declarator.parent()?;
    let statement = Some(parent).filter(is_statement).or_else(|| parent.parent().filter(is_statement))?;
    Some((statement.start_byte(), statement.end_byte()))
}

pub(super) fn docstring(text: &str, body: Node<'_>) -> Option<String> {
    let string = docstring_node(body)?;
    let written = text_of(text, string).trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f']);
    let quoted = ["\"\"\"", "'''", "\"", "'"].iter().find_map(|it| written.strip_prefix(it)?.strip_suffix(it))?;
    let lines: Vec<&str> = quoted.trim().lines().map(str::trim).collect();
    Some(lines.join("\n"))
}

fn docstring_node(body: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = body.walk();
    let first = body.named_children(&mut cursor).find(|it| it.kind() != "comment")?;
    let string = match first.kind() {
        "expression_statement" => first.named_child(0)?,
        _ => first,
    };
    (string.kind() == "string").then_some(string)
}

fn module_docs(grammar: &Grammar, text: &str, root: Node<'_>) -> Option<String> {
    if grammar.bodies == Bodies::Python {
        return docstring(text, root);
    }
    let first = root.named_child(0).filter(|it| it.kind().contains("comment"))?;
    let next = first.next_named_sibling();
    // A comment directly above a declaration belongs to the declaration.
    let is_apart = next.is_none_or(|it| it.start_position().row > first.end_position().row + 1);
    let docs = plain_comment(text_of(text, first));
    Some(docs).filter(|it| is_apart && !it.is_empty() && !it.starts_with('!'))
}

/// The name at the end of a declarator, and whether it names a function.
fn declared(declarator: Node<'_>, kind: SymbolKind) -> Option<(Node<'_>, SymbolKind)> {
    let mut node = declarator;
    let mut is_function = false;
    for _ in 0..40 {
        match node.kind() {
            "function_declarator" => {
                let inner = node.child_by_field_name("declarator")?;
                // `int (*f)(void)` is a pointer.
                is_function = inner.kind() != "parenthesized_declarator";
                node = misread_name(node, inner).unwrap_or(inner);
            }
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "operator_cast"
            | "template_function" => {
                let kind = match kind {
                    SymbolKind::Variable if is_function => SymbolKind::Function,
                    SymbolKind::Field if is_function => SymbolKind::Method,
                    other => other,
                };
                return Some((node, kind));
            }
            _ => node = node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        }
    }
    None
}

/// A head without its layout: `f(a, b)` also where each parameter has a line of its own.
fn on_one_line(written: &str) -> String {
    let mut joined = String::new();
    for line in written.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.starts_with([')', ']']) {
            joined.truncate(joined.trim_end_matches(',').len());
        } else if !joined.is_empty() && !joined.ends_with(['(', '[']) && !line.is_empty() {
            joined.push(' ');
        }
        joined += &line;
    }
    joined
}

/// The name of a function whose type has a macro before it: `API type_t name(void)`. The parser reads the macro as the
/// type, the type as the name, and the name as an error before the parameters.
fn misread_name<'n>(declarator: Node<'n>, inner: Node<'n>) -> Option<Node<'n>> {
    let parameters = declarator.child_by_field_name("parameters")?;
    let error = parameters.prev_sibling().filter(|it| it.is_error() && it.named_child_count() == 1)?;
    let name = error.named_child(0)?;
    (inner.kind() == "identifier" && name.kind() == "identifier" && error.prev_sibling() == Some(inner)).then_some(name)
}

fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

fn is_private(signature: &str) -> bool {
    signature.split(' ').take(4).any(|it| matches!(it, "private" | "protected"))
}

/// The text of a comment without its markers.
fn plain_comment(comment: &str) -> String {
    let inner = comment.strip_prefix("/*").and_then(|it| it.strip_suffix("*/")).unwrap_or(comment);
    let line = |it: &str| {
        let it = it.trim().trim_start_matches(['/', '#', '*']).trim_end_matches("*/");
        it.strip_prefix(' ').unwrap_or(it).trim_end().to_owned()
    };
    let lines: Vec<String> = inner.lines().map(line).collect();
    lines.join("\n").trim().to_owned()
}

/// The first bracket without a partner. What follows it, often the rest of the file, cannot be parsed.
fn unclosed(error: Node<'_>) -> Option<Node<'_>> {
    let (mut open, mut pending): (Vec<Node<'_>>, Vec<Node<'_>>) = (Vec::new(), vec![error]);
    while let Some(node) = pending.pop() {
        match node.kind() {
            "(" | "[" | "{" => open.push(node),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
                pending.extend(children.into_iter().rev());
            }
        }
    }
    open.first().copied()
}

fn errors(root: Node<'_>) -> Vec<SyntaxError> {
    let mut errors = Vec::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        if node.is_missing() {
            errors.push(SyntaxError { message: format!("`{}` is missing", node.kind()), span: span_of(node) });
        } else if node.is_error() {
            let error = unclosed(node).map(|it| (format!("`{}` is not closed", it.kind()), it));
            let (message, node) = error.unwrap_or_else(|| ("this cannot be parsed".to_owned(), node));
            errors.push(SyntaxError { message, span: span_of(node) });
        } else if node.has_error() {
            let mut cursor = node.walk();
            pending.extend(node.children(&mut cursor));
        }
    }
    errors.sort_by_key(|it| it.span.start);
    errors
}
