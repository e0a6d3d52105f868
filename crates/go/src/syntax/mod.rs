//! The syntax of one Go file: declarations, skeleton, identifiers. Uses no process and no other file.

mod comments;
mod declaration_spans;
mod dependents;
mod depth;
mod hypothetical_edit;
mod identifiers;
mod lexer;
mod outline;
mod parse;
mod roles;
mod skeleton;

pub(crate) use comments::group_docs;
pub(crate) use declaration_spans::{DeclarationSpan, SpanKind, changed_statements, units, words_touching};
pub(crate) use dependents::{declared_otherwise, dependent_words};
pub(crate) use depth::too_deep;
pub(crate) use hypothetical_edit::alter;
pub(crate) use identifiers::{Occurrence, all_identifiers, occurrences};
pub(crate) use lexer::{Kind, imports_c, is_keyword, package_clause, tokens};
pub(crate) use outline::outline;

#[cfg(test)]
mod tests;
