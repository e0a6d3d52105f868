//! Alternatives of a pattern that do not bind the same names.

use std::collections::BTreeSet;

use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast, ast::HasName as _};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn unequal_alternatives(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(pattern) = ast::OrPat::cast(node.clone()) else { return };
    let bound = |it: ast::Pat| Some((bound_by(cx, it.syntax())?, it));
    let Some(alternatives) = pattern.pats().map(bound).collect::<Option<Vec<_>>>() else { return };
    let all: BTreeSet<&String> = alternatives.iter().flat_map(|it| &it.0).collect();
    for (names, alternative) in &alternatives {
        if let Some(name) = all.iter().find(|it| !names.contains(**it)) {
            let message = format!("variable `{name}` is not bound in all patterns");
            out.push(report::raw_diagnostic(cx, alternative.syntax(), Code::E0408, message));
        }
    }
}

/// The names that a pattern binds; `None` if that is uncertain.
fn bound_by(cx: &Context<'_>, pattern: &SyntaxNode) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for node in pattern.descendants() {
        match node.kind() {
            SyntaxKind::MACRO_PAT | SyntaxKind::ATTR | SyntaxKind::BLOCK_EXPR => return None,
            SyntaxKind::IDENT_PAT => {
                let it = ast::IdentPat::cast(node)?;
                let name = it.name()?.text().to_string();
                let is_binding = it.pat().is_some() || it.ref_token().is_some() || it.mut_token().is_some();
                if is_binding || cx.sema.resolve_bind_pat_to_const(&it).is_none() {
                    // It may be a constant that is not known.
                    let is_plain = is_binding || name.trim_start_matches("r#").starts_with(is_of_variable);
                    names.insert(Some(name).filter(|_| is_plain)?);
                }
            }
            _ => {}
        }
    }
    Some(names)
}

fn is_of_variable(first: char) -> bool {
    first.is_lowercase() || first == '_'
}
