//! Every identifier of a file: its place, its role, and its enclosing declaration.

use std::collections::HashMap;
use std::sync::Arc;

use tree_sitter::Node;

use super::comments::Comments;
use super::lexer::{Kind, is_keyword, tokens};
use super::outline::Reader;
use super::parse::{Syntax, span};
use super::roles::{Step, role};
use semdex_model::{Outline, Role, Span};

/// One occurrence of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub span: Span,
    pub role: Role,
    /// It declares a new name here (a parameter, a field, a local variable, the declaration itself), so it does not
    /// refer to a symbol declared elsewhere.
    pub declares: bool,
    /// The path of the enclosing top-level declaration after the package: `["Context", "JSON"]`.
    pub enclosing: Option<Arc<[String]>>,
}

/// The occurrences of a name in code; comments and strings are excluded.
pub(crate) fn occurrences(text: &str, name: &str) -> Vec<Occurrence> {
    if name.is_empty() || memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_none() {
        return Vec::new();
    }
    identifiers(text, Some(name))
}

/// Every identifier of the code, in the order of the text.
pub(crate) fn all_identifiers(text: &str) -> Vec<Occurrence> {
    identifiers(text, None)
}

fn identifiers(text: &str, name: Option<&str>) -> Vec<Occurrence> {
    let syntax = Syntax::parse(text);
    let wanted = |span: Span| name.is_none_or(|name| text.get(span.start..span.end) == Some(name));
    let mut found: Vec<_> = syntax.roots().flat_map(|root| leaves(root, &wanted)).collect();
    if syntax.has_error() {
        // The parser may have skipped some identifiers; the lexer finds all.
        let known: HashMap<usize, (Role, bool)> =
            found.iter().map(|&(span, role, declares)| (span.start, (role, declares))).collect();
        let words = tokens(text).filter(|it| it.kind == Kind::Word && wanted(it.span));
        found = words
            .filter(|it| !is_keyword(&text[it.span.start..it.span.end]))
            .map(|it| {
                let (role, declares) = known.get(&it.span.start).copied().unwrap_or((Role::Other, false));
                (it.span, role, declares)
            })
            .collect();
    }
    if found.is_empty() {
        return Vec::new();
    }
    let scopes = Scopes::of(text, &syntax);
    let occurrence = |(span, role, declares): (Span, Role, bool)| Occurrence {
        span,
        role,
        declares,
        enclosing: scopes.around(span.start),
    };
    found.into_iter().map(occurrence).collect()
}

fn leaves(root: Node, wanted: &dyn Fn(Span) -> bool) -> Vec<(Span, Role, bool)> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    let mut path = vec![Step { node: root, field: None }];
    loop {
        let node = cursor.node();
        let leaf = node.is_named() && node.child_count() == 0;
        if leaf && matches!(node.kind(), "identifier" | "type_identifier" | "field_identifier" | "package_identifier") {
            let span = span(node);
            if span.start < span.end && wanted(span) {
                let (role, declares) = role(&path);
                found.push((span, role, declares));
            }
        }
        if cursor.goto_first_child() {
            path.push(Step { node: cursor.node(), field: cursor.field_id() });
            continue;
        }
        loop {
            path.pop();
            if cursor.goto_next_sibling() {
                path.push(Step { node: cursor.node(), field: cursor.field_id() });
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// The top-level declarations of a file by their spans.
#[derive(Debug)]
struct Scopes {
    scopes: Vec<(Span, Arc<[String]>)>,
}

impl Scopes {
    fn of(text: &str, syntax: &Syntax) -> Scopes {
        let reader = Reader { text, comments: Comments::of(text, syntax.roots()), elisions: Vec::new() };
        let mut outline = Outline::default();
        for root in syntax.roots() {
            reader.read(root, &mut outline);
        }
        let path = |it: &semdex_model::OutlineItem| it.container.iter().chain([&it.name]).cloned().collect();
        let mut scopes: Vec<(Span, Arc<[String]>)> = outline.items.iter().map(|it| (it.span, path(it))).collect();
        // For several names in one spec, the first one is used.
        scopes.dedup_by_key(|it| it.0);
        Scopes { scopes }
    }

    fn around(&self, offset: usize) -> Option<Arc<[String]>> {
        let next = self.scopes.partition_point(|(span, _)| span.start <= offset);
        let (span, path) = self.scopes.get(next.checked_sub(1)?)?;
        span.contains(offset).then(|| path.clone())
    }
}
