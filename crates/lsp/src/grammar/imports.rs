//! The imports of a file in each language.

use tree_sitter::Node;

use super::{span_of, text_of};
use semdex_model::Import;

pub(crate) fn of(text: &str, root: Node<'_>) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        let before = imports.len();
        take(text, node, &mut imports);
        if imports.len() == before && may_hold(node) {
            let mut cursor = node.walk();
            let mut children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            children.reverse();
            pending.extend(children);
        }
    }
    imports.sort_by_key(|it| it.span.start);
    imports
}

/// Imports are at the top level, or in a condition or namespace there.
fn may_hold(node: Node<'_>) -> bool {
    let kind = node.kind();
    matches!(
        kind,
        "module"
            | "program"
            | "translation_unit"
            | "compilation_unit"
            | "if_statement"
            | "try_statement"
            | "block"
            | "except_clause"
            | "else_clause"
            | "expression_statement"
            | "namespace_use_declaration"
    ) || kind.starts_with("preproc_if")
        || kind.starts_with("preproc_el")
}

fn take(text: &str, node: Node<'_>, imports: &mut Vec<Import>) {
    let mut add = |path: String, alias: Option<String>, at: Node<'_>| {
        let path = path.trim().to_owned();
        if !path.is_empty() {
            imports.push(Import { path, alias, span: span_of(at), line: at.start_position().row + 1 });
        }
    };
    let mut cursor = node.walk();
    match node.kind() {
        "import_statement" if node.child_by_field_name("source").is_none() => {
            for name in node.children_by_field_name("name", &mut cursor) {
                let (path, alias) = aliased(text, name);
                add(path, alias, node);
            }
        }
        "import_from_statement" | "future_import_statement" => {
            let module = node.child_by_field_name("module_name").map_or("__future__", |it| text_of(text, it));
            let dot = if module.ends_with('.') { "" } else { "." };
            let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
            if names.is_empty() {
                add(format!("{module}{dot}*"), None, node);
            }
            for name in names {
                let (path, alias) = aliased(text, name);
                add(format!("{module}{dot}{path}"), alias, node);
            }
        }
        "import_statement" | "export_statement" => {
            if let Some(source) = node.child_by_field_name("source") {
                add(text_of(text, source).trim_matches(['"', '\'', '`']).to_owned(), None, node);
            }
        }
        "preproc_include" => {
            if let Some(path) = node.child_by_field_name("path") {
                add(text_of(text, path).trim_matches(['"', '<', '>']).to_owned(), None, node);
            }
        }
        "import_declaration" | "using_directive" => {
            let written = text_of(text, node).trim_end_matches(';');
            let words = written.trim_start_matches("import ").trim_start_matches("using ");
            add(words.trim_start_matches("static ").to_owned(), None, node);
        }
        "namespace_use_clause" => add(text_of(text, node).to_owned(), None, node),
        "call" => {
            let is_require = node.child_by_field_name("method").map(|it| text_of(text, it));
            let path = node.child_by_field_name("arguments").map(|it| text_of(text, it)).unwrap_or_default();
            if matches!(is_require, Some("require" | "require_relative")) {
                add(path.trim_matches(['(', ')', '"', '\'']).to_owned(), None, node);
            }
        }
        "command" => {
            let name = node.child_by_field_name("name").map(|it| text_of(text, it));
            let path = node.child_by_field_name("argument").map(|it| text_of(text, it)).unwrap_or_default();
            if matches!(name, Some("source" | ".")) {
                add(path.trim_matches(['"', '\'']).to_owned(), None, node);
            }
        }
        _ => {}
    }
}

fn aliased(text: &str, name: Node<'_>) -> (String, Option<String>) {
    match (name.child_by_field_name("name"), name.child_by_field_name("alias")) {
        (Some(path), Some(alias)) => (text_of(text, path).to_owned(), Some(text_of(text, alias).to_owned())),
        _ => (text_of(text, name).to_owned(), None),
    }
}
