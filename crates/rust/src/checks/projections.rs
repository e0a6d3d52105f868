//! Bounds on associated types: an iterator of certain items (E0271). rust-analyzer does not report an argument or
//! result with other items.

use either::Either;
use ra_ap_hir::{
    AsAssocItem as _, AssocItem, DisplayTarget, Function, GenericDef, HirDisplay as _, ModuleDef, PathResolution,
    Semantics, Trait, Type, TypeAlias,
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
use semdex_text::words::words;

/// The arguments for the generics of a call, by their names.
type Generics<'db> = Vec<(String, Type<'db>)>;

/// A bound that requires an associated type to be a certain type.
struct Asked {
    alias: TypeAlias,
    ty: ast::Type,
}

pub(crate) fn unfit_projections(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if let Some(call) = ast::MethodCallExpr::cast(node.clone()) {
        if let Some((Either::Left(of), generics)) = cx.sema.resolve_method_call_fallback(&call) {
            let generics = generics.map(|it| it.types(cx.db)).unwrap_or_default();
            let mut generics = named(generics);
            generics.extend(types_of_self(&cx.sema, of, call.receiver()));
            unfit_arguments(cx, of, &generics, call.arg_list(), out);
        }
    } else if let Some(call) = ast::CallExpr::cast(node.clone()) {
        let Some(ast::Expr::PathExpr(path)) = call.expr() else { return };
        let meant = path.path().and_then(|it| cx.sema.resolve_path_with_subst(&it));
        if let Some((PathResolution::Def(ModuleDef::Function(of)), generics)) = meant {
            let generics = generics.map(|it| it.types(cx.db)).unwrap_or_default();
            unfit_arguments(cx, of, &named(generics), call.arg_list(), out);
        }
    }
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
        if let Some(message) = unfit(&cx.sema, &value, &asked, &[], &[]) {
            out.push(report::raw_diagnostic(cx, result.syntax(), Code::E0271, message));
            return;
        }
    }
}

/// For a method of a trait: the associated types of its receiver, as they are written there.
fn types_of_self<'db>(
    sema: &Semantics<'db, RootDatabase>,
    method: Function,
    receiver: Option<ast::Expr>,
) -> Generics<'db> {
    let of = method.as_assoc_item(sema.db).and_then(|it| it.container_trait(sema.db));
    let of = of.filter(|it| it.type_or_const_param_count(sema.db, false) == 0);
    let own = receiver.and_then(|it| sema.type_of_expr(&it)).map(|it| it.original);
    let Some((of, own)) = of.zip(own) else { return Generics::new() };
    let types = of.items(sema.db).into_iter().filter_map(|it| match it {
        AssocItem::TypeAlias(it) => Some((it, own.normalize_trait_assoc_type(sema.db, &[], it)?)),
        _ => None,
    });
    types.map(|(it, ty)| (format!("Self::{}", it.name(sema.db).as_str()), ty)).collect()
}

/// Whether arguments determine the items of an iterator too.
fn is_of_iterators(db: &RootDatabase, of: Function) -> bool {
    let container = of.as_assoc_item(db).and_then(|it| it.container_trait(db));
    container.is_some_and(|it| it.name(db).as_str() == "Iterator")
}

/// The arguments of a call of a workspace function, or of an iterator's method.
fn unfit_arguments<'db>(
    cx: &Context<'db>,
    of: Function,
    generics: &Generics<'db>,
    arguments: Option<ast::ArgList>,
    out: &mut Vec<RawDiagnostic>,
) {
    let is_own = of.module(cx.db).krate(cx.db).origin(cx.db).is_local();
    if !is_own && !is_of_iterators(cx.db, of) || GenericDef::Function(of).type_or_const_params(cx.db).is_empty() {
        return;
    }
    let Some(source) = cx.sema.source(of).map(|it| it.value) else { return };
    let own = source.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let own: Vec<String> = own.filter_map(|it| Some(it.name()?.text().to_string())).collect();
    let parameters = source.param_list().into_iter().flat_map(|it| it.params());
    // A path may lead to a method, whose receiver is then the first argument.
    let arguments: Vec<ast::Expr> = arguments.into_iter().flat_map(|it| it.args()).collect();
    let parameters: Vec<ast::Param> = parameters.collect();
    if parameters.len() != arguments.len() {
        return;
    }
    for (parameter, argument) in parameters.iter().zip(&arguments) {
        let bounds: Vec<ast::TypeBoundList> = match parameter.ty() {
            Some(ast::Type::ImplTraitType(it)) => it.type_bound_list().into_iter().collect(),
            Some(ast::Type::PathType(it)) => match it.path().and_then(|it| it.as_single_name_ref()) {
                Some(name) if own.iter().any(|it| name.text() == it.as_str()) => bounds_of(&source, name.text()),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let asked: Vec<Asked> = bounds.iter().flat_map(|it| asked_by(&cx.sema, Some(it.clone()))).collect();
        let message = asked.iter().find_map(|asked| unfit(&cx.sema, argument, asked, generics, &own));
        out.extend(message.map(|it| report::raw_diagnostic(cx, argument.syntax(), Code::E0271, it)));
        let called = bounds.iter().flat_map(|it| it.bounds()).filter_map(bound_path).find_map(|it| it.segment());
        out.extend(called.and_then(|it| unfit_call(cx, &it, argument, &own)));
    }
}

/// Checks an argument that is callable: a closure with other parameters, or a function with another result.
fn unfit_call(
    cx: &Context<'_>,
    asked: &ast::PathSegment,
    argument: &ast::Expr,
    own: &[String],
) -> Option<RawDiagnostic> {
    let wanted = asked.parenthesized_arg_list()?.type_args().count();
    if let ast::Expr::ClosureExpr(closure) = argument {
        let found = closure.param_list().map_or(0, |it| it.params().count());
        let message = format!("the closure is expected to take {wanted} arguments, but it takes {found}");
        return (found != wanted).then(|| report::raw_diagnostic(cx, argument.syntax(), Code::E0593, message));
    }
    let ast::Expr::PathExpr(path) = argument else { return None };
    let Some(PathResolution::Def(ModuleDef::Function(of))) = cx.sema.resolve_path(&path.path()?) else {
        return None;
    };
    let result = asked.ret_type().and_then(|it| it.ty());
    let written = result.as_ref().map(|it| it.syntax().text().to_string()).unwrap_or_default();
    if words(&written).any(|it| it.1 == "Self" || own.iter().any(|own| own == it.1)) {
        return None;
    }
    let target = cx.sema.scope(argument.syntax())?.krate().to_display_target(cx.db);
    let wanted = match result {
        Some(it) => plain_type(cx.db, &cx.sema.resolve_type(&it)?, target)?,
        None => "()".to_owned(),
    };
    let found = plain_type(cx.db, &of.ret_type(cx.db), target).filter(|_| !of.is_async(cx.db))?;
    let message = format!("expected a function that returns `{wanted}`, but it returns `{found}`");
    (found != wanted).then(|| report::raw_diagnostic(cx, argument.syntax(), Code::E0271, message))
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
fn unfit<'db>(
    sema: &Semantics<'db, RootDatabase>,
    value: &ast::Expr,
    asked: &Asked,
    generics: &[(String, Type<'db>)],
    own: &[String],
) -> Option<String> {
    let target = sema.scope(value.syntax())?.krate().to_display_target(sema.db);
    let plain = |it: &Type<'db>| plain_type(sema.db, it, target);
    let written = asked.ty.syntax().text().to_string();
    let wanted = match generics.iter().rfind(|it| it.0 == written) {
        Some((_, it)) => plain(it)?,
        None => {
            let names_generic =
                |it: &str| it == "Self" || own.iter().chain(generics.iter().map(|it| &it.0)).any(|of| of == it);
            if words(&written).any(|it| names_generic(it.1)) {
                return None;
            }
            plain(&sema.resolve_type(&asked.ty)?)?
        }
    };
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

fn named<'db>(generics: Vec<(ra_ap_hir::Symbol, Type<'db>)>) -> Generics<'db> {
    generics.into_iter().map(|(name, ty)| (name.as_str().to_owned(), ty)).collect()
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
    let mut rest = ty;
    let mut plain = String::with_capacity(ty.len());
    while let Some((before, after)) = rest.split_once('\'') {
        plain.push_str(before);
        rest = after.trim_start_matches(|it: char| it.is_alphanumeric() || it == '_').trim_start_matches([' ', ',']);
    }
    plain + rest
}
