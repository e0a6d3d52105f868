//! The role of an identifier, as far as the syntax tree determines it.

use std::num::NonZeroU16;

use tree_sitter::Node;

use semdex_model::Role;

/// A node and its field in the parent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'tree> {
    pub node: Node<'tree>,
    /// Compared by name only if a role needs it.
    pub field: Option<NonZeroU16>,
}

impl Step<'_> {
    fn fills(&self, field: &str) -> bool {
        self.field.is_some()
            && self.node.language().field_name_for_id(self.field.map_or(0, NonZeroU16::get)) == Some(field)
    }
}

/// The role of a leaf, and whether it declares a name rather than refers to one. `path` leads from the root to the
/// leaf, both included.
pub(crate) fn role(path: &[Step]) -> (Role, bool) {
    let [.., parent, leaf] = path else { return (Role::Other, false) };
    let is_name = leaf.fills("name");
    match (parent.node.kind(), leaf.node.kind()) {
        ("import_spec", _) => (Role::Import, true),
        ("package_clause", _) => (Role::Other, true),
        ("type_spec" | "type_alias", "type_identifier") if is_name => (Role::Type, true),
        (_, "type_identifier") => (Role::Type, false),
        ("qualified_type", _) => (Role::Read, false),
        ("function_declaration" | "method_declaration" | "method_elem" | "field_declaration", _) if is_name => {
            (Role::Other, true)
        }
        (
            "parameter_declaration"
            | "variadic_parameter_declaration"
            | "type_parameter_declaration"
            | "const_spec"
            | "var_spec",
            "identifier",
        ) if is_name => (Role::Other, true),
        _ => of_expression(path),
    }
}

/// An expression that is called, written to or read: `f` and `b.f` have the role of the whole expression.
fn of_expression(path: &[Step]) -> (Role, bool) {
    let mut at = path.len() - 1;
    while let Some(parent) = at.checked_sub(1).and_then(|it| path.get(it)) {
        let step = &path[at];
        match parent.node.kind() {
            "parenthesized_expression" => at -= 1,
            "selector_expression" if step.fills("field") => at -= 1,
            "call_expression" if step.fills("function") => return (Role::Call, false),
            "inc_statement" | "dec_statement" => return (Role::Write, false),
            "expression_list" => return of_list(path, at - 1),
            "literal_element" => return of_element(path, at - 1),
            _ => return (Role::Read, false),
        }
    }
    (Role::Read, false)
}

/// The side of an assignment that a list of expressions is on.
fn of_list(path: &[Step], at: usize) -> (Role, bool) {
    let list = &path[at];
    let Some(statement) = at.checked_sub(1).and_then(|it| path.get(it)) else { return (Role::Read, false) };
    match statement.node.kind() {
        "short_var_declaration" if list.fills("left") => (Role::Write, true),
        "type_switch_statement" if list.fills("alias") => (Role::Write, true),
        "assignment_statement" if list.fills("left") => (Role::Write, false),
        "range_clause" | "receive_statement" if list.fills("left") => {
            let mut cursor = statement.node.walk();
            (Role::Write, statement.node.children(&mut cursor).any(|it| it.kind() == ":="))
        }
        _ => (Role::Read, false),
    }
}

/// The key of a composite literal writes a field, unless the literal is of a map, slice or array.
fn of_element(path: &[Step], at: usize) -> (Role, bool) {
    let [.., literal, keyed] = &path[..at] else { return (Role::Read, false) };
    let is_key = keyed.node.kind() == "keyed_element" && path[at].fills("key");
    if is_key && literal.node.kind() == "literal_value" && !is_collection(&path[..at - 1]) {
        (Role::Write, false)
    } else {
        (Role::Read, false)
    }
}

/// Whether the literal at the end of the path is a map, slice or array, by the type before it or before an enclosing
/// literal.
fn is_collection(path: &[Step]) -> bool {
    let mut levels = 0;
    for step in path.iter().rev() {
        match step.node.kind() {
            "literal_value" => levels += 1,
            "literal_element" | "keyed_element" => {}
            "composite_literal" => {
                let mut ty = step.node.child_by_field_name("type");
                for _ in 1..levels {
                    ty = ty.and_then(|it| match it.kind() {
                        "slice_type" | "array_type" | "implicit_length_array_type" => it.child_by_field_name("element"),
                        "map_type" => it.child_by_field_name("value"),
                        _ => None,
                    });
                }
                return ty.is_some_and(|it| {
                    matches!(it.kind(), "map_type" | "slice_type" | "array_type" | "implicit_length_array_type")
                });
            }
            _ => return false,
        }
    }
    false
}
