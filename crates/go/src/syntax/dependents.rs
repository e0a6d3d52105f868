//! Which names in a declaration's code may change their meaning if other names do.
//!
//! The scope determines the meaning of a plain identifier, the type before the dot determines a selected one, and the
//! type of the literal determines a key. A local variable has the type of its initialiser.

use std::collections::HashSet;

use tree_sitter::Node;

use super::lexer::{Kind, tokens};
use super::parse::{Syntax, slice};
use semdex_text::words::{WordHash, word_hash};

/// The words of a declaration's code that may change their meaning if one of `changed` does; `None` if the parser does
/// not understand the code.
pub(crate) fn dependent_words(code: &str, changed: &HashSet<WordHash>) -> Option<HashSet<WordHash>> {
    let syntax = Syntax::parse(code);
    if syntax.has_error() {
        return None;
    }
    let mut tainted = changed.clone();
    loop {
        let before = tainted.len();
        walk(&syntax, &mut |node| taint_declared(code, node, &mut tainted));
        if tainted.len() == before {
            break;
        }
    }
    let mut found: HashSet<WordHash> = words(code).filter(|it| changed.contains(it)).collect();
    walk(&syntax, &mut |node| match node.kind() {
        "selector_expression" if child_is(code, node, "operand", &tainted) => {
            found.extend(node.child_by_field_name("field").map(|it| word_hash(slice(code, it))));
        }
        "qualified_type" if child_is(code, node, "package", &tainted) => {
            found.extend(node.child_by_field_name("name").map(|it| word_hash(slice(code, it))));
        }
        // If the operand of the switch has no type, its content is not analysed.
        "type_switch_statement" if child_is(code, node, "value", &tainted) => found.extend(words(slice(code, node))),
        "composite_literal" if child_is(code, node, "type", &tainted) => found.extend(keys(code, node)),
        _ => {}
    });
    Some(found)
}

/// The names that a function's heads before and after declare with different words: its receiver, parameters, named
/// results and type parameters.
pub(crate) fn declared_otherwise(before: &str, after: &str) -> Option<HashSet<WordHash>> {
    let (before, after) = (head_names(before)?, head_names(after)?);
    let differs = |one: &[(String, Vec<WordHash>)], other: &[(String, Vec<WordHash>)]| -> Vec<WordHash> {
        let only = one.iter().filter(|it| !other.contains(it));
        only.flat_map(|it| it.1.iter().copied()).collect()
    };
    Some(differs(&before, &after).into_iter().chain(differs(&after, &before)).collect())
}

/// Each declaration in a function's head, with its names.
fn head_names(code: &str) -> Option<Vec<(String, Vec<WordHash>)>> {
    let syntax = Syntax::parse(code);
    let function = syntax.roots().next()?.named_child(0).filter(|it| it.child_by_field_name("body").is_some())?;
    let body = function.child_by_field_name("body")?.start_byte();
    let mut found = Vec::new();
    below(function, &mut |node| {
        let declares = matches!(
            node.kind(),
            "parameter_declaration" | "variadic_parameter_declaration" | "type_parameter_declaration"
        );
        if declares && node.end_byte() <= body {
            let mut cursor = node.walk();
            let names = node.children_by_field_name("name", &mut cursor).map(|it| word_hash(slice(code, it)));
            found.push((slice(code, node).to_owned(), names.collect()));
        }
    });
    Some(found)
}

/// Adds the names that are declared with a tainted name.
fn taint_declared(code: &str, node: Node, tainted: &mut HashSet<WordHash>) {
    let field = match node.kind() {
        "short_var_declaration" | "range_clause" | "receive_statement" => "left",
        "type_switch_statement" => "alias",
        "var_spec" | "type_spec" | "type_alias" | "const_spec" => "name",
        "parameter_declaration" | "variadic_parameter_declaration" | "type_parameter_declaration" => "name",
        _ => return,
    };
    // A constant may repeat the expression of an earlier one.
    let whole = match node.kind() {
        "const_spec" => node.parent().unwrap_or(node),
        _ => node,
    };
    if words(slice(code, whole)).any(|it| tainted.contains(&it)) {
        let mut cursor = node.walk();
        for declared in node.children_by_field_name(field, &mut cursor) {
            tainted.extend(words(slice(code, declared)));
        }
    }
}

fn child_is(code: &str, node: Node, field: &str, tainted: &HashSet<WordHash>) -> bool {
    let child = node.child_by_field_name(field);
    child.is_some_and(|it| words(slice(code, it)).any(|it| tainted.contains(&it)))
}

/// The keys in a literal and in its nested literals.
fn keys(code: &str, literal: Node) -> Vec<WordHash> {
    let mut keys = Vec::new();
    below(literal, &mut |node| {
        if node.kind() == "keyed_element"
            && let Some(key) = node.named_child(0)
        {
            keys.extend(words(slice(code, key)));
        }
    });
    keys
}

fn words(code: &str) -> impl Iterator<Item = WordHash> + '_ {
    tokens(code).filter(|it| it.kind == Kind::Word).map(|it| word_hash(&code[it.span.start..it.span.end]))
}

fn walk(syntax: &Syntax, visit: &mut dyn FnMut(Node)) {
    syntax.roots().for_each(|root| below(root, visit));
}

fn below(root: Node, visit: &mut dyn FnMut(Node)) {
    let mut cursor = root.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() || cursor.node() == root {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_flow_from_what_is_named() {
        for (code, expected) in [
            ("func g() { a.Use(F(), b.M()) }", "F"),
            ("func g() { F().M.N(c.K) }", "F M N"),
            ("func g() { x := F()\n y := x.A\n y.B(z.C) }", "F A B"),
            ("func g() { for _, x := range F() { x.A() }\n q.R() }", "F A"),
            ("func g() { switch x := F().(type) { case T: x.A(y) } }", "F x T A y"),
            ("func g() { switch x := q.(type) { case F: x.A() }\n q.R() }", "F A"),
            ("func g(x F) { x.A()\n q.R() }", "F A"),
            ("func g() { _ = []F{{K: 1}, {L: z.C}}\n _ = G{M: F{}} }", "F K L"),
            ("func g() { var h = func() int { return F() }\n h().A\n q.R() }", "F A"),
            ("var v = F()\n", "F"),
        ] {
            let changed = HashSet::from([word_hash("F")]);
            let found = dependent_words(code, &changed).unwrap();
            for word in "F A B C G K L M N R T h q x y z".split(' ') {
                let is_expected = expected.split(' ').any(|it| it == word);
                assert_eq!(found.contains(&word_hash(word)), is_expected, "{word} in {code}");
            }
        }
    }
}
