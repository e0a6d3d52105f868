//! What the text of one Go file says by itself: declarations, skeleton, identifiers. No process, no other file.

mod alter;
mod comments;
mod declaration_spans;
mod declarations;
mod dependents;
mod depth;
mod group;
mod identifiers;
mod lexer;
mod parse;
mod roles;
mod skeleton;

pub(crate) use alter::alter;
pub(crate) use declaration_spans::{DeclarationSpan, SpanKind, changed_statements, units, words_touching};
pub(crate) use dependents::{declared_otherwise, dependent_words};
pub(crate) use depth::too_deep;
pub(crate) use group::group_docs;
pub(crate) use identifiers::{Occurrence, all_identifiers, occurrences};
pub(crate) use lexer::{Kind, imports_c, is_keyword, package_clause, tokens};

use tree_sitter::Node;

use comments::Comments;
use declarations::Reader;
use parse::Syntax;
use semdex_model::{Outline, Span};
use skeleton::Elision;

pub(crate) fn outline(text: &str) -> Outline {
    let syntax = Syntax::parse(text);
    let elisions: Vec<Elision> = syntax.roots().flat_map(|root| skeleton::elisions(text, root)).collect();
    let (skeleton, skeleton_lines) = skeleton::apply(text, &elisions);
    let reader = Reader { text, comments: Comments::of(text, syntax.roots()), elisions };
    let mut outline = Outline { skeleton, skeleton_lines, errors: syntax.errors(text), ..Outline::default() };
    for root in syntax.roots() {
        reader.read(root, &mut outline);
    }
    outline
}

fn span(node: Node) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

fn slice<'t>(text: &'t str, node: Node) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
