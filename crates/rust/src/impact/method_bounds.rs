//! The generic parameters of a method and their bounds, compared with those of its trait.

use ra_ap_hir::{Function, GenericDef, Impl, Trait, Type, TypeParam};
use ra_ap_hir_def::GenericDefId;
use ra_ap_hir_def::hir::generics::GenericParams;
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, WalkEvent, ast};

use crate::checks::{bounds, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::view::Context;

/// Parameters of another kind: `impl Trait` for a named one, or a lifetime that is early bound (a bound names it, or the
/// result alone has it) for a late bound one.
pub(crate) fn other_kinds(
    cx: &Context<'_>,
    own: Function,
    declared: Function,
) -> Option<(Code, Option<SyntaxNode>, String)> {
    let (here, there) = (cx.sema.source(own)?.value, cx.sema.source(declared)?.value);
    let name = own.name(cx.db);
    let name = name.as_str();
    let named = |it: &ast::Fn| it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params()).count();
    if named(&here) != named(&there) {
        let message =
            format!("method `{name}` has an `impl Trait` where its trait has a type parameter, or vice versa");
        return Some((Code::E0643, here.param_list().map(|it| it.syntax().clone()), message));
    }
    let early_bound = |it: Function| {
        let id = GenericDefId::try_from(GenericDef::Function(it)).ok()?;
        Some(GenericParams::of(cx.db, id).len_lifetimes())
    };
    // The result of an `async fn` has all lifetimes.
    let are_comparable = !own.is_async(cx.db) && !declared.is_async(cx.db);
    let message = format!("the lifetime parameters of `{name}` do not match those of the trait's method");
    (are_comparable && early_bound(own) != early_bound(declared))
        .then(|| (Code::E0195, here.generic_param_list().map(|it| it.syntax().clone()), message))
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
    // The inner one of two is the first parameter.
    let arguments = arguments.flat_map(|it| {
        let left = it.syntax().preorder().filter_map(|it| match it {
            WalkEvent::Leave(node) => ast::ImplTraitType::cast(node),
            WalkEvent::Enter(_) => None,
        });
        left.collect::<Vec<_>>()
    });
    let arguments: Vec<ast::ImplTraitType> = arguments.collect();
    let are_alike = arguments.len() == unnamed.len();
    let arguments = arguments.iter().zip(&unnamed).filter(|_| are_alike);
    let in_arguments = arguments.filter_map(|(it, declared)| Some((declared.ty(cx.db), it.type_bound_list()?)));
    // The declared parameter is a type of the trait's crate, which sees neither the blanket implementations of this one
    // nor what the implementation gives for the trait's own parameters.
    let is_blanket = |it: Impl| it.self_ty(cx.db).as_type_param(cx.db).is_some();
    let is_certain = |it: &Trait| !Impl::all_for_trait(cx.db, *it).into_iter().any(is_blanket);
    let mut all = in_params.chain(in_clauses).chain(in_arguments);
    all.find_map(|(ty, list)| {
        let mut wanted = bounds::traits_in(&cx.sema, Some(list.clone()));
        wanted.retain(|it| bounds::lacks_bounds(cx.db, &ty, &[*it]).is_some());
        let lacks = wanted.into_iter().find(is_certain)?;
        let name = own.name(cx.db);
        let message = format!(
            "`{}` has stricter requirements than its trait: `{}` is not promised there",
            name.as_str(),
            lacks.name(cx.db).as_str()
        );
        Some(report::error(cx, cx.place(report::reported_range(cx, list.syntax()))?, Code::E0276, message))
    })
}
