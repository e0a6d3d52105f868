//! Calls whose result has a type that nothing determines (E0282, E0283, E0284). rust-analyzer reports them where the
//! unknown type is a value's own; here it is only known through an associated type, as in `"5".parse().unwrap()`.

use either::Either;
use ra_ap_hir::{
    AsAssocItem as _, AssocItemContainer, DefWithBody, Function, GenericSubstitution, HirDisplay as _, ModuleDef,
    PathResolution,
};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{expansions, native, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;
use semdex_text::words::words;

pub(crate) fn unknown_results(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    // An unknown type may follow from another error.
    if !out.is_empty() || !body.expression_types(cx.db).any(|it| it.contains_unknown()) {
        return;
    }
    if let DefWithBody::Function(it) = body
        && !is_known(cx, it)
    {
        return;
    }
    let Some(source) = native::body_syntax(&cx.sema, body) else { return };
    let (mut first, mut is_clear): (Option<(SyntaxNode, Code)>, bool) = (None, true);
    expansions::in_body(&cx.sema, &source, &mut |node, _| {
        if !is_clear {
            return;
        }
        let found = undetermined(cx, node);
        is_clear = found.is_some() || is_explained(cx, node);
        // The result of an inner call is unknown first.
        let is_inner = |it: &(SyntaxNode, Code)| it.0.text_range().contains_range(node.text_range());
        if found.is_some() && first.as_ref().is_none_or(is_inner) {
            first = found;
        }
    });
    if let Some((call, code)) = first.filter(|_| is_clear) {
        let at = reported_for(&call).unwrap_or(call);
        let message = "type annotations needed: nothing determines the type of this result".to_owned();
        out.push(report::raw_diagnostic(cx, &at, code, message));
    }
}

/// The signature of a function has no unknown types.
fn is_known(cx: &Context<'_>, of: Function) -> bool {
    let parameters = of.assoc_fn_params(cx.db);
    !of.ret_type(cx.db).contains_unknown() && parameters.iter().all(|it| !it.ty().contains_unknown())
}

/// A call of a known function of which a generic parameter is unknown.
fn undetermined(cx: &Context<'_>, node: &SyntaxNode) -> Option<(SyntaxNode, Code)> {
    let (function, given) = match ast::Expr::cast(node.clone())? {
        ast::Expr::MethodCallExpr(it) => match cx.sema.resolve_method_call_fallback(&it)? {
            (Either::Left(function), given) => (function, given?),
            _ => return None,
        },
        ast::Expr::CallExpr(it) => {
            let ast::Expr::PathExpr(callee) = it.expr()? else { return None };
            match cx.sema.resolve_path_with_subst(&callee.path()?)? {
                (PathResolution::Def(ModuleDef::Function(function)), given) => (function, given?),
                _ => return None,
            }
        }
        _ => return None,
    };
    let unknown = unknown_parameters(cx, &given);
    if unknown.is_empty() || !is_known(cx, function) {
        return None;
    }
    Some((node.clone(), code_of(cx, node, function, &unknown)))
}

fn unknown_parameters(cx: &Context<'_>, given: &GenericSubstitution<'_>) -> Vec<String> {
    let types = given.types(cx.db).into_iter();
    types.filter(|it| it.1.is_unknown()).map(|it| it.0.as_str().to_owned()).collect()
}

/// E0282 if a member of the result is needed first; otherwise the bound or the associated type that is ambiguous.
fn code_of(cx: &Context<'_>, call: &SyntaxNode, function: Function, unknown: &[String]) -> Code {
    if is_member_needed(cx, call) {
        return Code::E0282;
    }
    let container = function.as_assoc_item(cx.db).map(|it| it.container(cx.db));
    if let Some(AssocItemContainer::Trait(it)) = container
        && it.type_or_const_param_count(cx.db, false) > 0
    {
        return Code::E0283;
    }
    if let Some(AssocItemContainer::Impl(it)) = container
        && it.trait_(cx.db).is_some_and(|it| it.type_or_const_param_count(cx.db, false) > 0)
    {
        return Code::E0283;
    }
    let target = function.module(cx.db).krate(cx.db).to_display_target(cx.db);
    let result = function.ret_type(cx.db).display(cx.db, target).to_string();
    let is_projected = words(&result).any(|it| unknown.iter().any(|name| name == it.1)) && result.contains("::");
    if is_projected { Code::E0284 } else { Code::E0283 }
}

/// Whether a value of unknown type that comes from the call is a receiver: of a method that is not found.
fn is_member_needed(cx: &Context<'_>, call: &SyntaxNode) -> bool {
    let is_needed = |it: ast::Expr| cx.sema.type_of_expr(&it).is_some_and(|it| it.original.is_unknown());
    let around = call.ancestors().find(|it| ast::StmtList::can_cast(it.kind()));
    let later = around.into_iter().flat_map(|it| it.descendants());
    let later = later.filter(|it| it.text_range().end() > call.text_range().end());
    later.filter_map(ast::Expr::cast).any(|it| match it {
        ast::Expr::MethodCallExpr(it) => it.receiver().is_some_and(is_needed),
        ast::Expr::FieldExpr(it) => it.expr().is_some_and(is_needed),
        _ => false,
    })
}

/// Whether the type of a node is known, or unknown because that of another is. What is not understood is not.
fn is_explained(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    if let Some(it) = ast::Type::cast(node.clone()) {
        // Parts of a type are visited too.
        let is_open = it.syntax().text().to_string().contains('_');
        let is_in_path = it.syntax().ancestors().skip(1).any(|it| ast::Type::can_cast(it.kind()));
        return is_open || is_in_path || cx.sema.resolve_type(&it).is_some_and(|it| !it.contains_unknown());
    }
    if let Some(it) = ast::MacroExpr::cast(node.clone()) {
        return it.macro_call().is_some_and(|it| cx.sema.resolve_macro_call(&it).is_some());
    }
    let Some(expression) = ast::Expr::cast(node.clone()) else { return true };
    let Some(ty) = cx.sema.type_of_expr(&expression).map(|it| it.original) else { return true };
    if !ty.contains_unknown() {
        return true;
    }
    let is_unknown = |it: Option<ast::Expr>| {
        let ty = it.and_then(|it| cx.sema.type_of_expr(&it));
        ty.is_some_and(|it| it.original.contains_unknown())
    };
    match &expression {
        ast::Expr::PathExpr(it) => match it.path().and_then(|it| cx.sema.resolve_path(&it)) {
            Some(PathResolution::Local(_)) => true,
            Some(PathResolution::Def(ModuleDef::Function(it))) => is_known(cx, it),
            Some(PathResolution::Def(ModuleDef::EnumVariant(_) | ModuleDef::Adt(_))) => true,
            _ => false,
        },
        ast::Expr::MethodCallExpr(it) => match cx.sema.resolve_method_call(it) {
            Some(function) => is_known(cx, function),
            None => is_unknown(it.receiver()),
        },
        ast::Expr::CallExpr(it) => is_unknown(it.expr()) || has_unknown_part(cx, node),
        ast::Expr::FieldExpr(it) => is_unknown(it.expr()),
        ast::Expr::ClosureExpr(_) | ast::Expr::BlockExpr(_) => true,
        _ => has_unknown_part(cx, node),
    }
}

/// Whether an expression directly below has an unknown type.
fn has_unknown_part(cx: &Context<'_>, node: &SyntaxNode) -> bool {
    let parts = node.descendants().skip(1).filter_map(ast::Expr::cast);
    let mut types = parts.filter_map(|it| cx.sema.type_of_expr(&it));
    types.any(|it| it.original.contains_unknown())
}

/// The variable that a call initializes, or the method's name.
fn reported_for(call: &SyntaxNode) -> Option<SyntaxNode> {
    let is_chain = |it: &SyntaxNode| ast::MethodCallExpr::can_cast(it.kind()) || ast::TryExpr::can_cast(it.kind());
    let around = call.ancestors().skip(1).find(|it| !is_chain(it))?;
    if let Some(it) = ast::LetStmt::cast(around) {
        return it.pat().filter(|_| it.ty().is_none()).map(|it| it.syntax().clone());
    }
    let name = ast::MethodCallExpr::cast(call.clone())?.name_ref()?;
    Some(name.syntax().clone())
}
