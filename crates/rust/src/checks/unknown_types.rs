//! The compiler's codes for types that it cannot infer. rust-analyzer finds the places.

use ra_ap_hir::{AsAssocItem as _, AssocItemContainer, Function, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use crate::finding::code::Code;

/// E0283 where a trait is required of the unknown type, and E0790 for a function of a trait without its type. If a
/// member of the type is needed first, that is E0282.
pub(crate) fn code_of_unknown(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Code {
    let function = match ast::Expr::cast(node.clone()) {
        Some(ast::Expr::MethodCallExpr(it)) => sema.resolve_method_call(&it),
        Some(ast::Expr::CallExpr(it)) => function_of(sema, it.expr()),
        Some(ast::Expr::PathExpr(it)) => function_of(sema, Some(it.into())),
        _ => None,
    };
    let Some(function) = function.filter(|_| !is_member_needed(node)) else { return Code::E0282 };
    let container = function.as_assoc_item(sema.db).map(|it| it.container(sema.db));
    match container {
        Some(AssocItemContainer::Trait(_)) if function.self_param(sema.db).is_none() => Code::E0790,
        Some(AssocItemContainer::Trait(it)) if it.type_or_const_param_count(sema.db, false) > 0 => Code::E0283,
        _ if has_bounds(sema, function) => Code::E0283,
        _ => Code::E0282,
    }
}

/// Whether a bound of the called function compares one of its parameters with another, as in `I::Item: PartialEq<J::Item>`.
/// The implementations of that trait determine the second one then. rustc counts those of the crates that are used,
/// rust-analyzer those of all crates, so that it may find several where rustc finds one.
pub(crate) fn is_compared(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> bool {
    let callee = match ast::Expr::cast(node.clone()) {
        Some(ast::Expr::CallExpr(it)) => it.expr(),
        it => it,
    };
    let Some(source) = function_of(sema, callee).and_then(|it| sema.source(it)) else { return false };
    let parameters = source.value.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let names: Vec<String> = parameters
        .filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => Some(it.name()?.text().to_string()),
            ast::TypeOrConstParam::Const(_) => None,
        })
        .collect();
    let mentioned = |it: &SyntaxNode| -> Vec<String> {
        let mentioned = it.descendants().filter_map(ast::NameRef::cast).map(|it| it.text().to_string());
        mentioned.filter(|it| names.contains(it)).collect()
    };
    let clauses = source.value.where_clause().into_iter().flat_map(|it| it.predicates());
    clauses.into_iter().any(|clause| {
        let of = clause.ty().map(|it| mentioned(it.syntax())).unwrap_or_default();
        let bounds = clause.type_bound_list().into_iter().flat_map(|it| it.bounds());
        let arguments = bounds.flat_map(|it| it.syntax().descendants().collect::<Vec<_>>());
        let arguments = arguments.filter(|it| ast::TypeArg::can_cast(it.kind()));
        !of.is_empty() && arguments.flat_map(|it| mentioned(&it)).any(|it| !of.contains(&it))
    })
}

fn function_of(sema: &Semantics<'_, RootDatabase>, callee: Option<ast::Expr>) -> Option<Function> {
    let Some(ast::Expr::PathExpr(it)) = callee else { return None };
    match sema.resolve_path(&it.path()?)? {
        PathResolution::Def(ModuleDef::Function(it)) => Some(it),
        _ => None,
    }
}

fn has_bounds(sema: &Semantics<'_, RootDatabase>, of: Function) -> bool {
    let Some(source) = sema.source(of) else { return false };
    let parameters = source.value.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let names: Vec<(String, bool)> = parameters
        .filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => {
                let bounds = it.type_bound_list().into_iter().flat_map(|it| it.bounds());
                let is_bound = bounds.into_iter().any(|it| it.question_mark_token().is_none());
                Some((it.name()?.text().to_string(), is_bound))
            }
            ast::TypeOrConstParam::Const(_) => None,
        })
        .collect();
    let clauses = source.value.where_clause().into_iter().flat_map(|it| it.predicates()).filter_map(|it| it.ty());
    let clauses: Vec<String> = clauses.map(|it| it.syntax().text().to_string()).collect();
    names.iter().any(|(name, is_bound)| *is_bound || clauses.contains(name))
}

/// Whether the value, or the variable that it initializes, is first used as a receiver.
fn is_member_needed(node: &SyntaxNode) -> bool {
    let Some(around) = node.parent() else { return false };
    if needs_member(node) {
        return true;
    }
    let variable = ast::LetStmt::cast(around.clone()).and_then(|it| match it.pat()? {
        ast::Pat::IdentPat(it) => it.name(),
        _ => None,
    });
    let Some(name) = variable else { return false };
    let later = around.parent().into_iter().flat_map(|it| it.descendants());
    let mut uses = later.filter_map(ast::PathExpr::cast).filter(|it| {
        let is_it = it.path().and_then(|it| it.as_single_name_ref()).is_some_and(|it| it.text() == name.text());
        is_it && it.syntax().text_range().start() >= around.text_range().end()
    });
    uses.next().is_some_and(|it| needs_member(it.syntax()))
}

fn needs_member(value: &SyntaxNode) -> bool {
    let Some(around) = value.parent().and_then(ast::Expr::cast) else { return false };
    let base = match around {
        ast::Expr::MethodCallExpr(it) => it.receiver(),
        ast::Expr::FieldExpr(it) => it.expr(),
        ast::Expr::IndexExpr(it) => it.base(),
        ast::Expr::AwaitExpr(it) => it.expr(),
        _ => None,
    };
    base.is_some_and(|it| it.syntax() == value)
}
