//! Struct update syntax: such a literal names all fields of the struct, so all have to be visible. rust-analyzer does
//! not check that.

use ra_ap_hir::HasVisibility as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::code::Code;
use super::finding::RawDiagnostic;
use super::report;
use crate::view::Context;

pub(super) fn unseen_in_updates(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    out.extend(ast::RecordExpr::cast(node.clone()).and_then(|it| unseen_in(cx, &it)));
}

fn unseen_in(cx: &Context<'_>, literal: &ast::RecordExpr) -> Option<RawDiagnostic> {
    let list = literal.record_expr_field_list()?;
    let rest = list.spread()?;
    let from = cx.sema.scope(literal.syntax())?.module();
    let given: Vec<String> = list.fields().filter_map(|it| Some(it.field_name()?.text().to_string())).collect();
    let fields = cx.sema.resolve_variant(literal.clone())?.fields(cx.db).into_iter();
    let mut names = fields.filter(|it| !it.is_visible_from(cx.db, from)).map(|it| it.name(cx.db));
    let unseen = names.find(|it| given.iter().all(|given| given != it.as_str()))?;
    let message = format!("field `{}` is private", unseen.as_str());
    Some(report::raw_diagnostic(cx, rest.syntax(), Code::E0451, message))
}
