//! The text of a declaration after a hypothetical change.

use tree_sitter::Node;

use super::{Bodies, Grammar, span_of, text_of};
use semdex_model::{Alteration, Span};

/// The name of an added parameter or type, which must be unique.
const ADDED: &str = "semdex_added";

/// The range to replace and its new text. `None` if the change does not apply to the declaration.
pub(crate) fn alter(
    grammar: &'static Grammar,
    text: &str,
    item: Span,
    name: Span,
    change: Alteration,
    has_types: bool,
) -> Option<(Span, String)> {
    let old = text.get(name.start..name.end)?;
    match change {
        Alteration::Remove => Some((item, removed(grammar, text, item))),
        Alteration::Rename => Some((name, format!("{old}_renamed"))),
        Alteration::Signature => {
            let (tree, grammar) = grammar.parse(text)?;
            let node = tree.root_node().descendant_for_byte_range(name.start, name.end)?;
            signature(grammar, text, node, has_types)
        }
        Alteration::Visibility => hidden(text, item, name),
    }
}

/// A block that would become empty needs a placeholder statement.
fn removed(grammar: &'static Grammar, text: &str, item: Span) -> String {
    let line = text.get(..item.start).map_or("", |it| it.rsplit('\n').next().unwrap_or_default());
    let is_nested = !line.is_empty() && line.chars().all(char::is_whitespace);
    if grammar.bodies == Bodies::Python && is_nested { "pass".to_owned() } else { String::new() }
}

/// Adds a parameter, or changes a type.
fn signature(grammar: &'static Grammar, text: &str, name: Node<'_>, has_types: bool) -> Option<(Span, String)> {
    let mut node = name;
    for _ in 0..6 {
        node = node.parent()?;
        let function = node.child_by_field_name("value").filter(|it| it.child_by_field_name("parameters").is_some());
        let holder = function.unwrap_or(node);
        if let Some(list) = holder.child_by_field_name("parameters") {
            return parameter(grammar, text, list, has_types);
        }
        if let Some(ty) = node.child_by_field_name("type") {
            return other_type(ty).filter(|_| has_types);
        }
        if node.kind().ends_with("_definition") || node.kind().ends_with("_declaration") {
            return None;
        }
    }
    None
}

fn parameter(grammar: &'static Grammar, text: &str, list: Node<'_>, has_types: bool) -> Option<(Span, String)> {
    let mut cursor = list.walk();
    let all: Vec<Node<'_>> = list.named_children(&mut cursor).filter(|it| it.kind() != "comment").collect();
    // `void f(void)` has no parameters.
    let is_void = all.len() == 1 && all.first().is_some_and(|it| text_of(text, *it) == "void");
    let own = all.first().filter(|it| matches!(text_of(text, **it), "self" | "cls"));
    let added = match (list.kind(), grammar.bodies) {
        ("parameters", Bodies::Python) | ("method_parameters", _) => ADDED.to_owned(),
        ("formal_parameters", _) if !has_types => ADDED.to_owned(),
        ("formal_parameters", _) if list.parent().is_some_and(is_of_script) => format!("{ADDED}: symbol"),
        ("formal_parameters", _) => format!("int {ADDED}"),
        ("parameter_list", _) => format!("int {ADDED}"),
        _ => return None,
    };
    if is_void {
        return all.first().map(|it| (span_of(*it), added));
    }
    let others = all.len() - usize::from(own.is_some());
    let at = own.map_or(list.start_byte() + 1, Node::end_byte);
    let (before, after) = (if own.is_some() { ", " } else { "" }, if own.is_none() && others > 0 { ", " } else { "" });
    Some((Span::new(at, at), format!("{before}{added}{after}")))
}

/// Whether the parameters are TypeScript's. Java and C# have the same node kind.
fn is_of_script(function: Node<'_>) -> bool {
    matches!(
        function.kind(),
        "function_declaration"
            | "generator_function_declaration"
            | "function_signature"
            | "method_definition"
            | "method_signature"
            | "abstract_method_signature"
            | "arrow_function"
            | "function_expression"
    )
}

/// Another type after a colon. A type before the name may also belong to other names.
fn other_type(ty: Node<'_>) -> Option<(Span, String)> {
    match ty.kind() {
        "type_annotation" => Some((span_of(ty), ": symbol".to_owned())),
        "type" => Some((span_of(ty), "type[NotImplementedError]".to_owned())),
        _ => None,
    }
}

/// Without the keyword that makes it visible.
fn hidden(text: &str, item: Span, name: Span) -> Option<(Span, String)> {
    let head = text.get(item.start..name.start)?;
    for (word, instead) in [("export default ", ""), ("export ", ""), ("public ", "private ")] {
        // Not in a preceding comment or annotation.
        if let Some(at) = head.rfind(word).filter(|at| head[..*at].ends_with(['\n', ' ', '\t']) || *at == 0) {
            let start = item.start + at;
            return Some((Span::new(start, start + word.len()), instead.to_owned()));
        }
    }
    None
}
