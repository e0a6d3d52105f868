//! Paths in the output of macros that lead nowhere. rust-analyzer reports single names of values, members of types and
//! macros; what code that is written in a file names is found by the index of names.

use ra_ap_hir::{Adt, ModuleDef, PathResolution};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::closed::Closed;
use super::{report, unresolved, written};
use crate::finding::RawDiagnostic;
use crate::view::Context;

/// Reports a path whose last name is the first that means nothing, where all declarations that it may mean are known.
pub(crate) fn unresolved_in_output(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(path) = ast::Path::cast(node.clone()).filter(|_| cx.sema.hir_file_for(node).is_macro()) else { return };
    let Some(name) = path.segment().and_then(|it| it.name_ref()) else { return };
    let Some(around) = path.top_path().syntax().parent().map(|it| it.kind()) else { return };
    let is_value = path.parent_path().is_none() && path.qualifier().is_none() && around == SyntaxKind::PATH_EXPR;
    let is_of_others = matches!(around, SyntaxKind::USE_TREE | SyntaxKind::MACRO_CALL | SyntaxKind::VISIBILITY)
        || ast::Meta::can_cast(around);
    if is_value || is_of_others || cx.sema.resolve_path(&path).is_some() {
        return;
    }
    let Some(token) = name.ident_token() else { return };
    let text = token.text().trim_start_matches("r#");
    let mut closed = Closed::new(cx, text);
    let is_record = matches!(around, SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT);
    let mut is_of_enum = false;
    let is_sure = match path.qualifier() {
        Some(qualifier) => match cx.sema.resolve_path(&qualifier) {
            Some(PathResolution::Def(ModuleDef::Module(it))) => closed.module(it),
            // Only a variant can stand there.
            Some(PathResolution::Def(ModuleDef::Adt(Adt::Enum(_)))) if is_record => {
                is_of_enum = true;
                true
            }
            _ => false,
        },
        None => is_unknown_name(cx, node, closed),
    };
    let Some((code, what)) = is_sure.then(|| unresolved::unresolved_kind(&token)).flatten() else { return };
    if written::is_left_out(cx, node) {
        return;
    }
    let code = if is_of_enum { code } else { unresolved::of_module(code, around) };
    let code = unresolved::unless_unseen(&cx.sema, &token, code);
    out.push(report::raw_diagnostic(cx, name.syntax(), code, unresolved::message(&token, what)));
}

/// Whether neither the module nor a block around a name, or around the calls that write it, may declare it.
fn is_unknown_name(cx: &Context<'_>, name: &SyntaxNode, mut closed: Closed<'_, '_>) -> bool {
    let Some(module) = cx.sema.scope(name).map(|it| it.module().nearest_non_block_module(cx.db)) else { return false };
    let around = cx.sema.ancestors_with_macros(name.clone());
    let mut around = around.filter(|it| it == name || ast::MacroCall::can_cast(it.kind()));
    cx.environment.lacks().is_empty() && closed.module(module) && around.all(|it| closed.blocks(&it, module))
}
