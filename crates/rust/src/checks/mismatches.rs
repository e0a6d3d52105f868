//! The compiler's codes for some errors that rust-analyzer does not distinguish.

use ra_ap_hir::{InFile, Semantics, Trait, UnresolvedMethodCall};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::{AstNode as _, SyntaxNodePtr, ast};

use crate::finding::code::Code;

/// A `return` without the value that it needs, or an `if` without the `else` that would have it.
pub(crate) fn code_of_missing_value(sema: &Semantics<'_, RootDatabase>, node: &InFile<SyntaxNodePtr>) -> Option<Code> {
    match ast::Expr::cast(node.value.to_node(&sema.parse_or_expand(node.file_id)))? {
        ast::Expr::ReturnExpr(it) => it.expr().is_none().then_some(Code::E0069),
        ast::Expr::IfExpr(it) => it.else_branch().is_none().then_some(Code::E0317),
        _ => None,
    }
}

/// Whether several traits in scope have the method.
pub(crate) fn is_ambiguous<'db>(sema: &Semantics<'db, RootDatabase>, call: &UnresolvedMethodCall<'db>) -> bool {
    let receiver = call.receiver.strip_references();
    let has_it =
        |it: &Trait| it.type_or_const_param_count(sema.db, false) == 0 && receiver.impls_trait(sema.db, *it, &[]);
    traits_with_method(sema, call).iter().filter(|it| has_it(it)).count() > 1
}

/// The traits in scope that have the method, for whatever type.
pub(crate) fn traits_with_method<'db>(
    sema: &Semantics<'db, RootDatabase>,
    call: &UnresolvedMethodCall<'db>,
) -> Vec<Trait> {
    let node = call.expr.value.to_node(&sema.parse_or_expand(call.expr.file_id));
    let Some(scope) = sema.scope(node.syntax()) else { return Vec::new() };
    let has_it = |it: &Trait| it.function(sema.db, call.name.clone()).is_some_and(|it| it.has_self_param(sema.db));
    scope.visible_traits().0.iter().map(|it| Trait::from(*it)).filter(has_it).collect()
}
