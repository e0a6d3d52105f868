//! What rust-analyzer does not compare with a bound: the parameters of a closure that a call takes (E0593), and the
//! associated types of a result (E0271). [`super::unmet_projections`] compares those of arguments.

use ra_ap_hir::{
    AssocItem, DisplayTarget, Function, GenericDef, HirDisplay as _, ModuleDef, PathResolution, Semantics, Trait, Type,
    TypeAlias,
};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::{
    HasArgList as _, HasGenericArgs as _, HasGenericParams as _, HasName as _, HasTypeBounds as _,
};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::bounds::bound_path;
use super::{bounds, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// A bound that requires an associated type to be a certain type.
struct Asked {
    alias: TypeAlias,
    ty: ast::Type,
}

pub(crate) fn unfit_closures(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some(call) = ast::MethodCallExpr::cast(node.clone()) {
        let of = call.arg_list().filter(has_closure).and_then(|_| cx.sema.resolve_method_call(&call));
        of.into_iter().for_each(|it| unfit_arguments(cx, it, call.arg_list(), out));
    } else if let Some(call) = ast::CallExpr::cast(node.clone()) {
        let Some(ast::Expr::PathExpr(path)) =
            call.expr().filter(|_| call.arg_list().is_some_and(|it| has_closure(&it)))
        else {
            return;
        };
        let meant = path.path().and_then(|it| cx.sema.resolve_path(&it));
        if let Some(PathResolution::Def(ModuleDef::Function(of))) = meant {
            unfit_arguments(cx, of, call.arg_list(), out);
        }
    }
}

fn has_closure(arguments: &ast::ArgList) -> bool {
    arguments.args().any(|it| matches!(it, ast::Expr::ClosureExpr(_)))
}

/// The body of a function that returns `impl Trait`.
pub(crate) fn unfit_result(cx: &Context<'_>, body: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let function = body.parent().and_then(ast::Fn::cast);
    let result = function.and_then(|it| it.ret_type()?.ty());
    let value = ast::BlockExpr::cast(body.clone()).and_then(|it| it.tail_expr());
    let Some((ast::Type::ImplTraitType(result), value)) = result.zip(value) else { return };
    let ty = cx.sema.type_of_expr(&value).map(|it| it.original);
    let ty = ty.filter(|it| !it.contains_unknown() && !it.is_never());
    let lacks =
        ty.and_then(|it| bounds::lacks_bounds(cx.db, &it, &bounds::traits_in(&cx.sema, result.type_bound_list())));
    if let Some(lacks) = lacks {
        let message = format!("the result does not implement `{}`", lacks.name(cx.db).as_str());
        out.push(report::raw_diagnostic(cx, result.syntax(), Code::E0277, message));
        return;
    }
    for asked in asked_by(&cx.sema, result.type_bound_list()) {
        if let Some(message) = unfit(&cx.sema, &value, &asked) {
            out.push(report::raw_diagnostic(cx, result.syntax(), Code::E0271, message));
            return;
        }
    }
}

fn unfit_arguments(cx: &Context<'_>, of: Function, arguments: Option<ast::ArgList>, out: &mut Vec<RawDiagnostic>) {
    if GenericDef::Function(of).type_or_const_params(cx.db).is_empty() {
        return;
    }
    let Some(source) = cx.sema.source(of).map(|it| it.value) else { return };
    let own = source.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let own: Vec<String> = own.filter_map(|it| Some(it.name()?.text().to_string())).collect();
    let parameters: Vec<ast::Param> = source.param_list().into_iter().flat_map(|it| it.params()).collect();
    let arguments: Vec<ast::Expr> = arguments.into_iter().flat_map(|it| it.args()).collect();
    // A path may lead to a method, whose receiver is then the first argument.
    if parameters.len() != arguments.len() {
        return;
    }
    for (parameter, argument) in parameters.iter().zip(&arguments) {
        let ast::Expr::ClosureExpr(closure) = argument else { continue };
        let bounds: Vec<ast::TypeBoundList> = match parameter.ty() {
            Some(ast::Type::ImplTraitType(it)) => it.type_bound_list().into_iter().collect(),
            Some(ast::Type::PathType(it)) => match it.path().and_then(|it| it.as_single_name_ref()) {
                Some(name) if own.iter().any(|it| name.text() == it.as_str()) => bounds_of(&source, name.text()),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let called = bounds.iter().flat_map(|it| it.bounds()).filter_map(bound_path).find_map(|it| it.segment());
        let Some(wanted) = called.and_then(|it| it.parenthesized_arg_list()) else { continue };
        let wanted = wanted.type_args().count();
        let found = closure.param_list().map_or(0, |it| it.params().count());
        if found != wanted {
            let message = format!("the closure is expected to take {wanted} arguments, but it takes {found}");
            out.push(report::raw_diagnostic(cx, argument.syntax(), Code::E0593, message));
        }
    }
}

fn asked_by(sema: &Semantics<'_, RootDatabase>, bounds: Option<ast::TypeBoundList>) -> Vec<Asked> {
    let mut asked = Vec::new();
    for path in bounds.into_iter().flat_map(|it| it.bounds()).filter_map(bound_path) {
        let given = path.segment().and_then(|it| it.generic_arg_list());
        let given = given.into_iter().flat_map(|it| it.generic_args()).filter_map(|it| match it {
            ast::GenericArg::AssocTypeArg(it) => Some((it.name_ref()?.text().to_string(), it.ty()?)),
            _ => None,
        });
        let given: Vec<_> = given.collect();
        if given.is_empty() {
            continue;
        }
        let Some(PathResolution::Def(ModuleDef::Trait(of))) = sema.resolve_path(&path) else { continue };
        asked
            .extend(given.into_iter().filter_map(|(name, ty)| Some(Asked { alias: type_in(sema.db, of, &name)?, ty })));
    }
    asked
}

/// An associated type of a trait or of its supertraits.
fn type_in(db: &RootDatabase, of: Trait, name: &str) -> Option<TypeAlias> {
    let is_plain = |it: &Trait| it.type_or_const_param_count(db, false) == 0;
    let items = of.all_supertraits(db).into_iter().filter(is_plain).flat_map(|it| it.items(db));
    items.into_iter().find_map(|it| match it {
        AssocItem::TypeAlias(it) if it.name(db).as_str() == name => Some(it),
        _ => None,
    })
}

/// The text of a type, if that distinguishes it from others.
fn plain_type<'db>(db: &'db RootDatabase, ty: &Type<'db>, target: DisplayTarget) -> Option<String> {
    let shown = without_lifetimes(&ty.display(db, target).to_string());
    let is_unclear = [" as ", "impl ", "dyn ", "fn(", "Fn", "{"].iter().any(|it| shown.contains(it));
    (!ty.contains_unknown() && !is_unclear).then_some(shown)
}

/// The mismatch of a value, if both its type and the required type are plain.
fn unfit<'db>(sema: &Semantics<'db, RootDatabase>, value: &ast::Expr, asked: &Asked) -> Option<String> {
    let target = sema.scope(value.syntax())?.krate().to_display_target(sema.db);
    let plain = |it: &Type<'db>| plain_type(sema.db, it, target);
    let wanted = plain(&sema.resolve_type(&asked.ty)?)?;
    let ty = sema.type_of_expr(value)?.original;
    if ty.contains_unknown() || ty.is_never() {
        return None;
    }
    let found = plain(&ty.normalize_trait_assoc_type(sema.db, &[], asked.alias)?)?;
    let name = asked.alias.name(sema.db);
    let of = plain(&ty).unwrap_or_else(|| "_".to_owned());
    (found != wanted)
        .then(|| format!("type mismatch resolving `<{of} as _>::{} == {wanted}`: it is `{found}`", name.as_str()))
}

/// The bounds of a type parameter, from its declaration and the `where` clause.
fn bounds_of(function: &ast::Fn, name: &str) -> Vec<ast::TypeBoundList> {
    let declared = function.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let declared = declared.filter_map(|it| match it {
        ast::TypeOrConstParam::Type(it) if it.name().is_some_and(|it| it.text() == name) => it.type_bound_list(),
        _ => None,
    });
    let clauses = function.where_clause().into_iter().flat_map(|it| it.predicates());
    let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == name));
    declared.chain(clauses.filter_map(|it| it.type_bound_list())).collect()
}

fn without_lifetimes(ty: &str) -> String {
    // rust-analyzer's name of a lifetime that inference leaves open.
    let named = ty.replace("<erased>", "'_");
    let mut rest = named.as_str();
    let mut plain = String::with_capacity(ty.len());
    while let Some((before, after)) = rest.split_once('\'') {
        plain.push_str(before);
        rest = after.trim_start_matches(|it: char| it.is_alphanumeric() || it == '_').trim_start_matches([' ', ',']);
    }
    plain + rest
}
