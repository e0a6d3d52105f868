//! Imports that the compiler refuses by their form, or since what they re-export is less visible than they are.

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasVisibility as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{lookup, report, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// For an item that imports something.
pub(crate) fn unfit_import(cx: &Context<'_>, item: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if written::is_left_out(cx, item) {
        return;
    }
    let mut add =
        |at: &SyntaxNode, code: Code, message: String| out.push(report::raw_diagnostic(cx, at, code, message));
    if let Some(it) = ast::ExternCrate::cast(item.clone()) {
        let name = it.name_ref().map(|it| it.text().to_string()).filter(|it| it != "self");
        let is_unknown = || cx.sema.to_def(&it).is_some_and(|it| it.resolved_crate(cx.db).is_none());
        if let Some(name) = name.filter(|_| cx.environment.lacks().is_empty() && is_unknown()) {
            add(item, Code::E0463, format!("can't find crate for `{name}`"));
        }
    }
    let Some(import) = ast::Use::cast(item.clone()) else { return };
    let is_public = import.visibility().is_some_and(|it| it.syntax().text() == "pub");
    for leaf in item.descendants().filter_map(ast::UseTree::cast).filter(|it| it.use_tree_list().is_none()) {
        let Some(path) = leaf.path() else { continue };
        let is_self = path.segment().is_some_and(|it| it.self_token().is_some());
        let around = leaf.parent_use_tree_list();
        let of_list = around.as_ref().and_then(|it| it.parent_use_tree().path());
        if is_self && path.qualifier().is_some() && around.is_none() {
            add(leaf.syntax(), Code::E0429, "`self` imports are only allowed within a { } list".to_owned());
        } else if is_self && path.qualifier().is_none() && around.is_some() && of_list.is_none() {
            add(leaf.syntax(), Code::Uncoded, "imports need to be explicitly named".to_owned());
        } else if is_public && leaf.star_token().is_none() {
            let meant = if is_self { of_list } else { Some(path) };
            if let Some((meant, code)) = meant.and_then(|it| Some((it.clone(), hidden_outside(&cx.sema, &it)?))) {
                let message = format!("`{}` is not visible enough to be re-exported", meant.syntax().text());
                add(leaf.syntax(), code, message);
            }
        }
    }
}

/// The code of the error if nothing that a path means may be re-exported.
fn hidden_outside(sema: &Semantics<'_, RootDatabase>, path: &ast::Path) -> Option<Code> {
    let token = path.segment()?.name_ref()?.ident_token()?;
    let meant = sema.resolve_path_per_ns(path)?;
    if meant.macro_ns.is_some() {
        return None;
    }
    let mut found = None;
    for definition in [meant.type_ns, meant.value_ns].into_iter().flatten().map(Definition::from) {
        let code = lookup::hidden(sema, &token, definition)?;
        found = found.or(matches!(code, Code::E0364 | Code::E0365).then_some(code));
    }
    found
}
