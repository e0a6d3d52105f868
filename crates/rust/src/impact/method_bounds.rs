//! The generic parameters of a method and their bounds, compared with those of its trait.

use ra_ap_hir::{Function, GenericDef, Type, TypeParam};
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use crate::checks::{bounds, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::view::Context;

/// Parameters of another kind: `impl Trait` for a named one, or a lifetime that a call names (early bound) for one that
/// each call has anew.
pub(crate) fn other_kinds(own: &ast::Fn, declared: &ast::Fn) -> Option<(Code, Option<SyntaxNode>, String)> {
    let name = own.name()?;
    let name = name.text();
    let named = |it: &ast::Fn| it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params()).count();
    if named(own) != named(declared) {
        let message =
            format!("method `{name}` has an `impl Trait` where its trait has a type parameter, or vice versa");
        return Some((Code::E0643, own.param_list().map(|it| it.syntax().clone()), message));
    }
    let (here, there) = (early_bound(own)?, early_bound(declared)?);
    let message = format!("the lifetime parameters of `{name}` do not match those of the trait's method");
    (here != there).then(|| (Code::E0195, own.generic_param_list().map(|it| it.syntax().clone()), message))
}

/// The number of lifetimes that a bound names, or that no parameter has but the result. `None` for an `async fn`, whose
/// result has all of them.
fn early_bound(function: &ast::Fn) -> Option<usize> {
    if function.async_token().is_some() {
        return None;
    }
    let generics = function.generic_param_list();
    let names = |node: &SyntaxNode, name: &str| {
        let mut tokens = node.descendants_with_tokens().filter_map(|it| it.into_token());
        tokens.any(|it| it.kind() == SyntaxKind::LIFETIME_IDENT && it.text() == name)
    };
    let params = generics.iter().flat_map(|it| it.generic_params());
    let of_types: Vec<SyntaxNode> = params
        .filter(|it| !matches!(it, ast::GenericParam::LifetimeParam(_)))
        .map(|it| it.syntax().clone())
        .chain(function.where_clause().map(|it| it.syntax().clone()))
        .collect();
    let is_early = |it: &ast::LifetimeParam| {
        let Some(name) = it.lifetime().map(|it| it.text().to_string()) else { return false };
        let is_in = |it: Option<SyntaxNode>| it.is_some_and(|it| names(&it, &name));
        it.type_bound_list().is_some_and(|it| it.bounds().next().is_some())
            || of_types.iter().any(|it| names(it, &name))
            || is_in(function.ret_type().map(|it| it.syntax().clone()))
                && !is_in(function.param_list().map(|it| it.syntax().clone()))
    };
    Some(generics.iter().flat_map(|it| it.lifetime_params()).filter(is_early).count())
}

/// A bound of a method that its trait does not promise.
pub(crate) fn stricter(cx: &Context<'_>, own: Function, declared: Function) -> Option<Finding> {
    let source = cx.sema.source(own)?.value;
    let types = |of: Function, is_implicit: bool| -> Vec<TypeParam> {
        let all = GenericDef::Function(of).type_or_const_params(cx.db).into_iter();
        let types = all.filter_map(|it| it.split(cx.db).right());
        types.filter(|it| it.is_implicit(cx.db) == is_implicit).collect()
    };
    let (named, unnamed) = (types(declared, false), types(declared, true));
    let params = source.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let params: Vec<ast::TypeParam> = params
        .filter_map(|it| match it {
            ast::TypeOrConstParam::Type(it) => Some(it),
            ast::TypeOrConstParam::Const(_) => None,
        })
        .collect();
    let declared_type = |name: &str| -> Option<Type<'_>> {
        let at = params.iter().position(|it| it.name().is_some_and(|it| it.text() == name))?;
        named.get(at).map(|it| it.ty(cx.db))
    };
    let in_params = params.iter().filter_map(|it| Some((declared_type(it.name()?.text())?, it.type_bound_list()?)));
    let clauses = source.where_clause().into_iter().flat_map(|it| it.predicates());
    let in_clauses = clauses.filter_map(|it| match it.ty()? {
        ast::Type::PathType(path) if it.for_binder().is_none() => {
            let name = path.path()?.as_single_name_ref()?;
            Some((declared_type(name.text())?, it.type_bound_list()?))
        }
        _ => None,
    });
    let arguments = source.param_list().into_iter().flat_map(|it| it.params()).filter_map(|it| it.ty());
    let arguments = arguments.flat_map(|it| it.syntax().descendants().filter_map(ast::ImplTraitType::cast));
    let in_arguments =
        arguments.zip(&unnamed).filter_map(|(it, declared)| Some((declared.ty(cx.db), it.type_bound_list()?)));
    let mut all = in_params.chain(in_clauses).chain(in_arguments);
    all.find_map(|(ty, list)| {
        let lacks = bounds::lacks_bounds(cx.db, &ty, &bounds::traits_in(&cx.sema, Some(list.clone())))?;
        let name = own.name(cx.db);
        let message = format!(
            "`{}` has stricter requirements than its trait: `{}` is not promised there",
            name.as_str(),
            lacks.name(cx.db).as_str()
        );
        Some(report::error(cx, cx.place(report::reported_range(cx, list.syntax()))?, Code::E0276, message))
    })
}
