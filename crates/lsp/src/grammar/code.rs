//! Classifies the words of a text: code or not, and their role in the code.

use tree_sitter::{Node, Tree};

use super::{Grammar, text_of};
use semdex_model::{Role, Span};

/// The syntax tree of one text.
pub(crate) struct Code {
    tree: Option<Tree>,
}

/// A word that names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub span: Span,
    pub role: Role,
}

impl Code {
    /// Without a grammar, every word counts as code.
    pub(crate) fn new(grammar: Option<&'static Grammar>, text: &str) -> Code {
        Code { tree: grammar.and_then(|it| it.parse(text)).map(|it| it.0) }
    }

    /// The role of a word in the code. `None` in a comment or a string.
    pub(crate) fn word(&self, span: Span) -> Option<Word> {
        let Some(tree) = &self.tree else { return Some(Word { span, role: Role::Other }) };
        let node = tree.root_node().descendant_for_byte_range(span.start, span.end)?;
        let is_name = (is_name(node) || node.is_error()) && !is_parameter_of_macro(node);
        // `$name` is a different name from `name`.
        let is_whole = node.byte_range() == (span.start..span.end) || node.is_error() || node.kind() == "simple_symbol";
        (is_name && is_whole).then(|| Word { span, role: role(node) })
    }

    /// The names in the code, in the order of the text.
    pub(crate) fn names<'t>(&self, text: &'t str) -> Vec<(usize, &'t str)> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let mut names = Vec::new();
        let mut pending: Vec<Node<'_>> = vec![tree.root_node()];
        while let Some(node) = pending.pop() {
            if node.child_count() == 0 {
                if is_name(node) {
                    // `$name` refers to the declaration of `name`.
                    let written = text_of(text, node);
                    let name = written.trim_start_matches('$');
                    names.push((node.start_byte() + written.len() - name.len(), name));
                }
                continue;
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            pending.extend(children.into_iter().rev());
        }
        names
    }

    /// Whether the preprocessor may exclude this offset. An include guard excludes nothing.
    pub(crate) fn is_conditional(&self, text: &str, at: usize) -> bool {
        let Some(tree) = &self.tree else { return false };
        let mut around = tree.root_node().descendant_for_byte_range(at, at);
        while let Some(node) = around {
            if node.kind().starts_with("preproc_if") && !is_guard(node, text) {
                return true;
            }
            around = node.parent();
        }
        false
    }

    /// A range of the text without comments, with one space for each gap.
    pub(crate) fn without_comments(&self, text: &str, stretch: Span) -> String {
        self.written(text, stretch, |_| false)
    }

    /// The same, but with comments for a compiler or checker: `# type: int`, `/** @type {number} */`.
    pub(crate) fn significant_text(&self, text: &str, stretch: Span) -> String {
        self.written(text, stretch, |it| it.contains("type:") || it.contains('@'))
    }

    fn written(&self, text: &str, stretch: Span, keeps: impl Fn(&str) -> bool) -> String {
        let Some(tree) = &self.tree else { return text.get(stretch.start..stretch.end).unwrap_or_default().to_owned() };
        let mut written = String::new();
        let mut end = stretch.start;
        let mut pending: Vec<Node<'_>> =
            tree.root_node().descendant_for_byte_range(stretch.start, stretch.end).into_iter().collect();
        while let Some(node) = pending.pop() {
            let is_outside = node.end_byte() <= stretch.start || node.start_byte() >= stretch.end;
            let is_comment = node.kind().contains("comment");
            if is_outside || (is_comment && !keeps(text_of(text, node))) {
                continue;
            }
            if node.child_count() == 0 || is_comment {
                if node.start_byte() > end && !written.is_empty() {
                    written.push(' ');
                }
                written.push_str(text_of(text, node));
                end = node.end_byte();
                continue;
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            pending.extend(children.into_iter().rev());
        }
        written
    }

    /// The names of the called functions in a range.
    pub(crate) fn calls(&self, stretch: Span) -> Vec<Span> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let mut calls = Vec::new();
        let mut pending: Vec<Node<'_>> =
            tree.root_node().descendant_for_byte_range(stretch.start, stretch.end).into_iter().collect();
        while let Some(node) = pending.pop() {
            if node.end_byte() <= stretch.start || node.start_byte() >= stretch.end {
                continue;
            }
            if let Some(called) = called(node).filter(|it| it.start_byte() >= stretch.start) {
                let name = last_name(called);
                calls.push(Span::new(name.start_byte(), name.end_byte()));
            }
            let mut cursor = node.walk();
            pending.extend(node.named_children(&mut cursor));
        }
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

fn is_name(node: Node<'_>) -> bool {
    node.kind().contains("identifier")
        || matches!(node.kind(), "name" | "word" | "constant" | "variable_name" | "command_name" | "simple_symbol")
}

/// Whether the node is an include guard: `#ifndef NAME` above `#define NAME`.
fn is_guard(node: Node<'_>, text: &str) -> bool {
    let mut cursor = node.walk();
    let second = node.named_children(&mut cursor).filter(|it| it.kind() != "comment").nth(1);
    let defined = second.filter(|it| it.kind() == "preproc_def").and_then(|it| it.child_by_field_name("name"));
    let is_same = |(asked, defined)| text_of(text, asked) == text_of(text, defined);
    text_of(text, node).starts_with("#ifndef") && node.child_by_field_name("name").zip(defined).is_some_and(is_same)
}

fn is_parameter_of_macro(node: Node<'_>) -> bool {
    node.parent().is_some_and(|it| it.kind() == "preproc_params")
}

/// The callee, if the node is a call.
fn called(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "call_expression" | "invocation_expression" | "function_call_expression" => {
            node.child_by_field_name("function")
        }
        "call" => node.child_by_field_name("function").or_else(|| node.child_by_field_name("method")),
        "new_expression" => node.child_by_field_name("constructor"),
        "method_invocation" | "member_call_expression" | "scoped_call_expression" => node.child_by_field_name("name"),
        "object_creation_expression" => node.child_by_field_name("type"),
        "command" => node.child_by_field_name("name"),
        _ => None,
    }
}

/// The component of a JSX element: `Shop` in `<Shop name="a" />`.
fn rendered(node: Node<'_>) -> Option<Node<'_>> {
    let is_element = matches!(node.kind(), "jsx_opening_element" | "jsx_self_closing_element");
    is_element.then(|| node.child_by_field_name("name")).flatten()
}

/// The last name in `a.b.c`.
fn last_name(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    for _ in 0..50 {
        let inner = ["attribute", "property", "field", "name"].iter().find_map(|it| node.child_by_field_name(it));
        // Bash wraps the word.
        match inner.or_else(|| node.named_child(0).filter(|_| node.kind() == "command_name")) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

fn role(node: Node<'_>) -> Role {
    let mut inner = node;
    let mut outer = node.parent();
    for _ in 0..12 {
        let Some(parent) = outer else { break };
        let kind = parent.kind();
        if kind.contains("import")
            || kind.contains("use_declaration")
            || kind.contains("using_directive")
            || kind == "export_specifier"
            || kind == "preproc_include"
        {
            return Role::Import;
        }
        if let Some(function) = called(parent).or_else(|| rendered(parent))
            && last_name(function) == node
        {
            return Role::Call;
        }
        let is_type = matches!(
            kind,
            "type" | "type_annotation" | "type_arguments" | "generic_type" | "superclass" | "base_class_clause"
        ) || kind.contains("heritage")
            || kind.contains("extends_")
            || kind.contains("implements_")
            || (kind.ends_with("class_definition") && inner.kind() == "argument_list");
        if is_type || node.kind() == "type_identifier" {
            return Role::Type;
        }
        if matches!(kind, "assignment" | "assignment_expression" | "augmented_assignment" | "update_expression")
            && parent.child_by_field_name("left").or_else(|| parent.child_by_field_name("argument")) == Some(inner)
        {
            return Role::Write;
        }
        if kind.ends_with("statement") || kind.ends_with("block") || kind.ends_with("body") {
            break;
        }
        (inner, outer) = (parent, parent.parent());
    }
    Role::Read
}
