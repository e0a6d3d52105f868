//! Lifetimes that nothing around them declares (E0261), in a whole item: in its head, its body and the items inside.
//! rust-analyzer reports none of them. Those of a function around an item have an error of their own (E0401).

use ra_ap_hir::InFile;
use ra_ap_syntax::ast::HasGenericParams as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The undeclared lifetimes of an item, and of what attribute macros make of it or of the items inside. A module
/// declares none, and the items in it are judged by themselves.
pub(crate) fn undeclared_lifetimes(cx: &Context<'_>, item: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if ast::Module::can_cast(item.kind()) {
        return;
    }
    let mut declared = Vec::new();
    let around: Vec<SyntaxNode> = cx.sema.ancestors_with_macros(item.clone()).skip(1).collect();
    for it in around.into_iter().rev() {
        enter(&it, &mut declared);
    }
    visit(cx, item, &mut declared, out);
}

fn visit(cx: &Context<'_>, node: &SyntaxNode, declared: &mut Vec<String>, out: &mut Vec<RawDiagnostic>) {
    if let Some(it) = ast::Lifetime::cast(node.clone()) {
        return judge(cx, &it, declared, out);
    }
    if ast::Attr::can_cast(node.kind()) || ast::TokenTree::can_cast(node.kind()) {
        return;
    }
    if let Some(item) = ast::Item::cast(node.clone())
        && node.descendants().any(|it| ast::Lifetime::can_cast(it.kind()))
        && let Some(made) = cx.sema.expand_attr_macro(&item)
    {
        let made = made.value.value;
        return made.children().for_each(|it| visit(cx, &it, declared, out));
    }
    let before = declared.len();
    enter(node, declared);
    node.children().for_each(|it| visit(cx, &it, declared, out));
    declared.truncate(before);
}

/// Adds what a node declares for what is inside of it.
fn enter(node: &SyntaxNode, declared: &mut Vec<String>) {
    let binders = node.children().filter_map(ast::ForBinder::cast).filter_map(|it| it.generic_param_list());
    let own = ast::AnyHasGenericParams::cast(node.clone()).and_then(|it| it.generic_param_list());
    for list in own.into_iter().chain(binders) {
        declared.extend(list.lifetime_params().filter_map(|it| Some(it.lifetime()?.text().to_string())));
    }
}

fn judge(cx: &Context<'_>, lifetime: &ast::Lifetime, declared: &[String], out: &mut Vec<RawDiagnostic>) {
    let node = lifetime.syntax();
    let is_other = node.parent().is_some_and(|it| {
        use SyntaxKind::{BREAK_EXPR, CONTINUE_EXPR, LABEL, LIFETIME_PARAM};
        matches!(it.kind(), LABEL | BREAK_EXPR | CONTINUE_EXPR | LIFETIME_PARAM)
    });
    let name = lifetime.text().to_string();
    if is_other || matches!(&*name, "'static" | "'_") || declared.contains(&name) {
        return;
    }
    // What a macro writes by itself may have a meaning of its own.
    let stands = InFile::new(cx.sema.hir_file_for(node), node.text_range()).original_node_file_range_opt(cx.db);
    if stands.is_some_and(|(_, context)| context.is_root()) {
        let message = format!("use of undeclared lifetime name `{name}`");
        out.push(report::raw_diagnostic(cx, node, Code::E0261, message));
    }
}
