//! Names that patterns bind: not in each alternative, or by mistake.

use std::collections::BTreeSet;

use ra_ap_hir::Adt;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast, ast::HasName as _};

use super::{closed, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::positions;
use crate::view::Context;

pub(crate) fn names_in_patterns(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    unequal_alternatives(cx, node, out);
    out.extend(named_as_variant(cx, node));
}

fn unequal_alternatives(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
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
                    let is_plain = is_binding || is_variable(cx, &it);
                    names.insert(Some(name).filter(|_| is_plain)?);
                }
            }
            _ => {}
        }
    }
    Some(names)
}

/// Whether a name in a pattern is no constant that is not known.
fn is_variable(cx: &Context<'_>, pattern: &ast::IdentPat) -> bool {
    let Some(name) = pattern.name() else { return false };
    let text = name.text();
    let plain = text.trim_start_matches("r#");
    if plain.starts_with(|it: char| it.is_lowercase() || it == '_') {
        return true;
    }
    // In an expansion it is the name in the call that counts, if it is from there.
    let written = cx.sema.original_range_opt(name.syntax()).and_then(|at| {
        let token = positions::token(&cx.sema, at.file_id.file_id(cx.db), at.range.start().into())?;
        token.parent().filter(|_| token.text() == text)
    });
    written.is_some_and(|it| closed::is_sure(cx, plain, &it))
}

/// A new variable with the name of a variant of the type that it takes: the compiler denies it, since it takes any value.
fn named_as_variant(cx: &Context<'_>, node: &SyntaxNode) -> Option<RawDiagnostic> {
    let it = ast::IdentPat::cast(node.clone())?;
    if it.pat().is_some() || it.ref_token().is_some() || it.mut_token().is_some() {
        return None;
    }
    // Only a name in capitals can be one by mistake, which saves inference for the others.
    let name = it.name()?.text().to_string();
    if !name.starts_with(char::is_uppercase) || cx.sema.resolve_bind_pat_to_const(&it).is_some() {
        return None;
    }
    let ty = cx.sema.type_of_binding_in_pat(&it)?.strip_references();
    let Some(Adt::Enum(of)) = ty.as_adt() else { return None };
    let is_variant = of.variants(cx.db).into_iter().any(|it| it.name(cx.db).as_str() == name);
    let of = of.name(cx.db);
    (is_variant && is_variable(cx, &it)).then(|| {
        let message =
            format!("pattern binding `{name}` is named the same as one of the variants of the type `{}`", of.as_str());
        report::raw_diagnostic(cx, node, Code::E0170, message)
    })
}
