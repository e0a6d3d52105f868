//! Documentation as it was written, with the links between items as paths.

use std::collections::HashSet;

use ra_ap_hir::{DocLinkDef, HasAttrs, IsInnerDoc, Namespace, resolve_doc_path_on};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;

use super::examples::Fences;
use crate::names::definitions::module_definition;
use crate::resolve::paths;
use crate::view::Context;
use semdex_model::Symbol;

/// The docs of the text; if attributes add more (a file, a macro's output), the docs that the compiler reads.
pub(crate) fn docs_in_full<'db>(db: &'db RootDatabase, symbol: &Symbol, definition: Definition<'db>) -> Option<String> {
    let krate = definition.krate(db);
    // A block has no docs, and rust-analyzer would return the docs of its type.
    let is_block = matches!(definition, Definition::SelfType(_));
    let read = krate.filter(|_| !is_block).and_then(|it| definition.docs(db, None, paths::display(db, it)));
    let length = |text: &str| text.chars().filter(|it| !it.is_whitespace()).count();
    match (&symbol.docs, read) {
        (Some(written), Some(read)) if length(written) >= length(read.as_str()) => Some(written.clone()),
        (_, Some(read)) => Some(read.as_str().to_owned()),
        (written, None) => written.clone(),
    }
}

/// Docs in which each link to an item has the item's path as target.
pub(crate) fn with_paths<'db>(cx: &Context<'db>, definition: Definition<'db>, docs: &str) -> String {
    let labels: HashSet<&str> =
        docs.lines().filter_map(|line| Some(line.trim_start().strip_prefix('[')?.split_once("]:")?.0)).collect();
    let mut fences = Fences::default();
    let mut text = String::with_capacity(docs.len());
    for line in docs.split_inclusive('\n') {
        if fences.is_code(line) {
            text.push_str(line);
        } else {
            link_line(cx, definition, line, &labels, &mut text);
        }
    }
    text
}

fn link_line<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    line: &str,
    labels: &HashSet<&str>,
    out: &mut String,
) {
    let mut rest = line;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        if tail.starts_with('`') {
            let length = code_span(tail);
            out.push_str(tail.get(..length).unwrap_or(tail));
            rest = tail.get(length..).unwrap_or_default();
            continue;
        }
        let Some(inside) = bracketed(tail, '[', ']') else {
            out.push('[');
            rest = tail.get(1..).unwrap_or_default();
            continue;
        };
        let after = tail.get(inside.len() + 2..).unwrap_or_default();
        out.push_str(tail.get(..inside.len() + 2).unwrap_or_default());
        rest = link(cx, definition, inside, after, labels, out);
    }
    out.push_str(rest);
}

/// Writes the target of a link's text, and returns the text after it.
fn link<'db, 't>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    label: &str,
    after: &'t str,
    labels: &HashSet<&str>,
    out: &mut String,
) -> &'t str {
    if let Some(target) = bracketed(after, '(', ')') {
        let end = after.get(target.len() + 2..).unwrap_or_default();
        match path_linked(cx, definition, target) {
            Some(path) => *out += &format!("({path})"),
            None => *out += &format!("({target})"),
        }
        return end;
    }
    if let Some(target) = after.strip_prefix(": ").filter(|_| labels.contains(label)) {
        let word = target.split_whitespace().next().unwrap_or_default();
        let Some(path) = path_linked(cx, definition, word) else { return after };
        *out += &format!(": {path}");
        return target.trim_start().strip_prefix(word).unwrap_or_default();
    }
    if let Some(label) = bracketed(after, '[', ']').filter(|it| !it.is_empty()) {
        let Some(path) = path_linked(cx, definition, label).filter(|_| !labels.contains(label)) else {
            return after;
        };
        *out += &format!("({path})");
        return after.get(label.len() + 2..).unwrap_or_default();
    }
    let Some(path) = path_linked(cx, definition, label).filter(|_| !labels.contains(label)) else { return after };
    *out += &format!("({path})");
    after.strip_prefix("[]").unwrap_or(after)
}

fn path_linked<'db>(cx: &Context<'db>, definition: Definition<'db>, target: &str) -> Option<String> {
    let target = target.trim().trim_matches('`');
    let (target, fragment) = target.split_once('#').map_or((target, None), |(it, fragment)| (it, Some(fragment)));
    let (link, namespace) = link_of(target)?;
    let found = paths::path_of(cx, linked(cx.db, definition, &link, namespace)?)?;
    Some(fragment.map_or(found.clone(), |it| format!("{found}#{it}")))
}

fn linked<'db>(
    db: &'db RootDatabase,
    from: Definition<'db>,
    link: &str,
    namespace: Option<Namespace>,
) -> Option<Definition<'db>> {
    match from {
        Definition::Module(it) => linked_from(db, it, link, namespace),
        Definition::Crate(it) => linked_from(db, it, link, namespace),
        Definition::Function(it) => linked_from(db, it, link, namespace),
        Definition::Adt(it) => linked_from(db, it, link, namespace),
        Definition::EnumVariant(it) => linked_from(db, it, link, namespace),
        Definition::Const(it) => linked_from(db, it, link, namespace),
        Definition::Static(it) => linked_from(db, it, link, namespace),
        Definition::Trait(it) => linked_from(db, it, link, namespace),
        Definition::TypeAlias(it) => linked_from(db, it, link, namespace),
        Definition::Macro(it) => linked_from(db, it, link, namespace),
        Definition::Field(it) => linked_from(db, it, link, namespace),
        Definition::SelfType(it) => linked_from(db, it, link, namespace),
        _ => None,
    }
}

fn linked_from<'db>(
    db: &'db RootDatabase,
    it: impl HasAttrs + Copy,
    link: &str,
    ns: Option<Namespace>,
) -> Option<Definition<'db>> {
    // A module has inner and outer docs.
    let found =
        [IsInnerDoc::Yes, IsInnerDoc::No].into_iter().find_map(|inner| resolve_doc_path_on(db, it, link, ns, inner));
    Some(match found? {
        DocLinkDef::ModuleDef(it) => module_definition(it),
        DocLinkDef::Field(it) => Definition::Field(it),
        DocLinkDef::SelfType(it) => Definition::Trait(it),
    })
}

/// The content of the brackets that a text begins with.
fn bracketed(text: &str, open: char, close: char) -> Option<&str> {
    let inside = text.strip_prefix(open)?;
    let mut depth = 0_usize;
    for (at, character) in inside.char_indices() {
        if character == close && depth == 0 {
            return inside.get(..at);
        }
        depth += usize::from(character == open);
        depth -= usize::from(character == close);
    }
    None
}

/// The length of the code span that a text begins with; of the backticks alone if it is not closed.
fn code_span(text: &str) -> usize {
    let marks = text.len() - text.trim_start_matches('`').len();
    let mark = "`".repeat(marks);
    let inside = text.get(marks..).unwrap_or_default();
    inside.find(&mark).map_or(marks, |at| at + 2 * marks)
}

/// A link's path, and its namespace. `None` if it is not a path: an address, a sentence.
fn link_of(target: &str) -> Option<(String, Option<Namespace>)> {
    let (namespace, rest) = match target.split_once('@') {
        Some((
            "struct" | "enum" | "trait" | "union" | "type" | "mod" | "module" | "class" | "prim" | "primitive",
            rest,
        )) => (Some(Namespace::Types), rest),
        Some((
            "fn" | "function" | "method" | "const" | "constant" | "static" | "value" | "field" | "variant",
            rest,
        )) => (Some(Namespace::Values), rest),
        Some(("macro" | "derive", rest)) => (Some(Namespace::Macros), rest),
        _ => (None, target),
    };
    let (namespace, rest) = match (rest.strip_suffix("()"), rest.strip_suffix('!')) {
        (Some(rest), _) => (Some(Namespace::Values), rest),
        (None, Some(rest)) => (Some(Namespace::Macros), rest),
        (None, None) => (namespace, rest),
    };
    let path = rest.split('<').next().unwrap_or(rest).trim_end_matches("::");
    let is_path = !path.is_empty()
        && path.starts_with(|it: char| it.is_alphabetic() || it == '_' || it == ':')
        && path.chars().all(|it| it.is_alphanumeric() || it == '_' || it == ':')
        && !path.contains("://");
    is_path.then(|| (path.to_owned(), namespace))
}
