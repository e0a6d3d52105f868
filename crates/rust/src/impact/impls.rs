//! Compares an implementation with its trait, as far as rust-analyzer leaves that to the compiler.
//!
//! Types are compared by what they mean. Where one is unknown, both fitted before the change: a part of a signature that
//! is written differently on the two sides is an error only if the change touched it on one side.

use ra_ap_hir::{
    AsAssocItem as _, AssocItem, AssocItemContainer, Const, Function, GenericDef, HasSource as _, HirDisplay as _,
    Impl, Semantics, Trait, Type, TypeAlias,
};
use ra_ap_ide::{RootDatabase, TryToNav as _};
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::{Shape, Shapes};
use super::generics::given;
use super::method_bounds;
use super::rule_input::TraitImpl;
use super::wellformed;
use super::written_types::{GivenTypes, written};
use crate::checks::report::Unmet;
use crate::checks::{bounds, report};
use crate::finding::code::Code;
use crate::finding::{Finding, Subject};
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_model::Place;

pub(crate) fn shape_at(sema: &Semantics<'_, RootDatabase>, function: Function) -> Option<Shape> {
    Some(shape(&sema.source(function)?.value))
}

fn shape(function: &ast::Fn) -> Shape {
    let list = function.param_list();
    let params = list.iter().flat_map(|it| it.params());
    let params: Vec<String> = params.map(|it| it.ty().map(|it| written(it.syntax())).unwrap_or_default()).collect();
    let own = function.generic_param_list();
    let generics = own.iter().flat_map(|it| it.type_or_const_params()).count();
    let unnamed =
        list.iter().flat_map(|it| it.syntax().descendants()).filter(|it| ast::ImplTraitType::can_cast(it.kind()));
    let unnamed = unnamed.count();
    Shape {
        receiver: list.and_then(|it| it.self_param()).map(|it| receiver(&it)),
        generics: generics + unnamed,
        params,
        result: function.ret_type().and_then(|it| it.ty()).map(|it| written(it.syntax())).unwrap_or_default(),
        is_async: function.async_token().is_some(),
        is_unsafe: function.unsafe_token().is_some(),
    }
}

/// `mut` is part of the binding, not of the type.
fn receiver(it: &ast::SelfParam) -> String {
    match it.ty() {
        Some(ty) => written(ty.syntax()),
        None => match (it.amp_token().is_some(), it.mut_token().is_some()) {
            (true, true) => "&mut self".to_owned(),
            (true, false) => "&self".to_owned(),
            (false, _) => "self".to_owned(),
        },
    }
}

pub(crate) fn unfit_impl_items(cx: &Context<'_>, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
    for own in it.block.items(cx.db) {
        let same = it.of.items(cx.db).into_iter().find(|it| is_same(*it, own, cx.db));
        match (own, same) {
            (AssocItem::Function(own), Some(AssocItem::Function(declared))) => {
                found.extend(
                    misfit(cx, own, declared, it.shapes).or_else(|| method_bounds::stricter(cx, own, declared)),
                );
            }
            (AssocItem::Const(own), Some(AssocItem::Const(declared))) => {
                found.extend(unfit_constant(cx, own, declared));
            }
            (AssocItem::TypeAlias(own), Some(AssocItem::TypeAlias(declared))) => {
                found.extend(unfit_alias(cx, own, declared));
            }
            (_, Some(_)) => {}
            (own, None) => found.extend(redundant(cx, own, it.of)),
        }
    }
}

pub(crate) fn unfit_impl_head(cx: &Context<'_>, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
    found.extend(header(cx, it.block).and_then(|at| unfit_header(cx, at, it.block, it.of)));
}

pub(crate) fn missing_items(cx: &Context<'_>, it: &TraitImpl<'_>, found: &mut Vec<Finding>) {
    let TraitImpl { block, of, .. } = *it;
    let own = block.items(cx.db);
    let is_missing = |it: &AssocItem| {
        let required = match it {
            AssocItem::Function(it) => !it.has_body(cx.db),
            AssocItem::Const(it) => it.value(cx.db).is_none(),
            AssocItem::TypeAlias(it) => it.source(cx.db).is_some_and(|it| it.value.ty().is_none()),
        };
        required && !own.iter().any(|own| is_same(*it, *own, cx.db))
    };
    let missing: Vec<String> = of
        .items(cx.db)
        .into_iter()
        .filter(is_missing)
        .filter_map(|it| it.name(cx.db))
        .map(|it| format!("`{}`", it.as_str()))
        .collect();
    let Some(place) = header(cx, block).filter(|_| !missing.is_empty()) else { return };
    let message = format!("not all trait items implemented, missing: {}", missing.join(", "));
    found.push(report::error(cx, place, Code::E0046, message));
}

fn header(cx: &Context<'_>, block: Impl) -> Option<Place> {
    let header = cx.sema.source(block)?.value.trait_()?;
    cx.place(report::reported_range(cx, header.syntax()))
}

fn redundant(cx: &Context<'_>, own: AssocItem, of: Trait) -> Option<Finding> {
    let (code, what) = match own {
        AssocItem::Function(_) => (Code::E0407, "method"),
        AssocItem::TypeAlias(_) => (Code::E0437, "type"),
        AssocItem::Const(_) => (Code::E0438, "const"),
    };
    let name = match own {
        AssocItem::Function(it) => cx.sema.source(it)?.value.name(),
        AssocItem::TypeAlias(it) => cx.sema.source(it)?.value.name(),
        AssocItem::Const(it) => cx.sema.source(it)?.value.name(),
    };
    let place = cx.place(report::reported_range(cx, name?.syntax()))?;
    let (name, of) = (own.name(cx.db)?, of.name(cx.db));
    Some(report::error(
        cx,
        place,
        code,
        format!("{what} `{}` is not a member of trait `{}`", name.as_str(), of.as_str()),
    ))
}

fn misfit(cx: &Context<'_>, own: Function, declared: Function, shapes: &Shapes) -> Option<Finding> {
    let before = |it: Function| {
        let target = it.try_to_nav(&cx.sema)?.call_site;
        let file = cx.name_of(target.file_id)?;
        shapes.get(&(file.into(), span(target.focus_or_full_range()).start)).cloned()
    };
    let (own_before, declared_before) = (before(own), before(declared));
    let source = cx.sema.source(own)?;
    let (here, there) = (shape(&source.value), shape_at(&cx.sema, declared)?);
    let (own_before, declared_before) =
        (own_before.unwrap_or_else(|| here.clone()), declared_before.unwrap_or_else(|| there.clone()));
    let at = |node: Option<&SyntaxNode>| {
        let name = source.value.name()?;
        cx.place(report::reported_range(cx, node.unwrap_or_else(|| name.syntax())))
    };
    let name = own.name(cx.db);
    let name = name.as_str();
    let list = source.value.param_list();
    let list_node = list.as_ref().map(|it| it.syntax().clone());
    let other_kinds = method_bounds::other_kinds(cx, own, declared);
    let (code, node, message) = match (&here.receiver, &there.receiver) {
        (Some(_), None) => {
            (Code::E0185, list_node, format!("method `{name}` has a `self` in the impl, but not in the trait"))
        }
        (None, Some(_)) => {
            (Code::E0186, list_node, format!("method `{name}` has a `self` in the trait, but not in the impl"))
        }
        _ if here.generics != there.generics => {
            let message = format!("`{name}` has {} type parameters, the trait's has {}", here.generics, there.generics);
            (Code::E0049, None, message)
        }
        _ if here.params.len() != there.params.len() => {
            let (own, declared) = (here.params.len(), there.params.len());
            (Code::E0050, list_node, format!("`{name}` has {own} parameters, but the trait's has {declared}"))
        }
        _ if let Some(other) = other_kinds => other,
        _ if here.is_async != there.is_async
            && (own_before.is_async, declared_before.is_async) != (here.is_async, there.is_async) =>
        {
            let (own, declared) = (kind(here.is_async), kind(there.is_async));
            (Code::E0053, None, format!("`{name}` is {own}, but the trait's is {declared}"))
        }
        _ if here.is_unsafe != there.is_unsafe
            && (own_before.is_unsafe, declared_before.is_unsafe) != (here.is_unsafe, there.is_unsafe) =>
        {
            let safety = |it: bool| if it { "unsafe" } else { "safe" };
            let (own, declared) = (safety(here.is_unsafe), safety(there.is_unsafe));
            (Code::E0053, None, format!("`{name}` is {own}, but the trait's is {declared}"))
        }
        _ => {
            let params = list.iter().flat_map(|it| it.params()).map(|it| it.syntax().clone());
            let receiver = list.as_ref().and_then(|it| it.self_param()).map(|it| it.syntax().clone());
            let result = source.value.ret_type().map(|it| it.syntax().clone());
            let nodes = std::iter::once(receiver).chain(params.map(Some)).chain([result]);
            let part = |shape: &Shape, index: usize| match index {
                0 => shape.receiver.clone().unwrap_or_default(),
                _ => shape.params.get(index - 1).unwrap_or(&shape.result).clone(),
            };
            // An implementation may name the type of a trait's `impl Trait`.
            let is_open = |index: usize| index > here.params.len() && there.result.starts_with("impl ");
            let block = source.value.syntax().ancestors().find_map(ast::Impl::cast);
            let types = block.map(|it| GivenTypes::of(&it)).unwrap_or_default();
            let is_same = |a: &str, b: &str| a == b || types.spelled_out(a) == types.spelled_out(b);
            let touched = |index: usize| {
                if is_open(index) || is_same(&part(&here, index), &part(&there, index)) {
                    return false;
                }
                // Where a type is unknown, an error is certain only if the change touched it.
                let is_touched = || {
                    part(&here, index) != part(&own_before, index)
                        || part(&there, index) != part(&declared_before, index)
                };
                fits(cx, own, declared, index).map_or_else(is_touched, |it| !it)
            };
            let (index, node) = nodes.enumerate().find(|(index, _)| touched(*index))?;
            let (own, declared) = (part(&here, index), part(&there, index));
            let message =
                format!("`{name}` has an incompatible type for its trait: expected `{declared}`, found `{own}`");
            (Code::E0053, node, message)
        }
    };
    Some(report::error(cx, at(node.as_ref())?, code, message))
}

/// Whether a part of a signature (the receiver, a parameter, or the result) has the type that the trait gives it. `None`
/// if one of the types is unknown. Lifetimes are not compared.
fn fits(cx: &Context<'_>, own: Function, declared: Function, index: usize) -> Option<bool> {
    let db = cx.db;
    let AssocItemContainer::Impl(block) = own.as_assoc_item(db)?.container(db) else { return None };
    let of = block.trait_ref(db)?;
    let here = GenericDef::Function(own);
    let of_trait = GenericDef::Trait(of.trait_()).params(db).len();
    let given = (0..=of_trait).filter_map(|it| of.get_type_argument(it)).map(|it| it.try_rebase_into_owner(db, here));
    let own_params = here.type_or_const_params(db).into_iter().filter_map(|it| it.split(db).right());
    let given: Vec<Type<'_>> = given.chain(own_params.map(|it| Some(it.ty(db)))).collect::<Option<_>>()?;
    let part = |function: Function| {
        let params = function.assoc_fn_params(db);
        let at = if function.has_self_param(db) { Some(index) } else { index.checked_sub(1) };
        match at.and_then(|it| params.get(it)) {
            Some(it) => Some(it.ty().clone()),
            // What an `async fn` returns is another type each time.
            None => (!function.is_async(db)).then(|| function.ret_type(db)),
        }
    };
    let (own, declared) = (part(own)?, part(declared)?.instantiate(&given));
    if own.contains_unknown() || declared.contains_unknown() {
        return None;
    }
    Some(own.could_unify_with(db, &declared))
}

/// An implementation that does not meet the requirements of its trait.
fn unfit_header(cx: &Context<'_>, place: Place, block: Impl, of: Trait) -> Option<Finding> {
    let name = of.name(cx.db);
    let name = name.as_str();
    let (is_unsafe, wants_unsafe) = (block.is_unsafe(cx.db), of.is_unsafe(cx.db));
    if wants_unsafe && !is_unsafe {
        return Some(report::error(
            cx,
            place,
            Code::E0200,
            format!("the trait `{name}` requires an `unsafe impl` declaration"),
        ));
    }
    if is_unsafe && !wants_unsafe {
        return Some(report::error(cx, place, Code::E0199, format!("implementing the trait `{name}` is not unsafe")));
    }
    let source = cx.sema.source(block)?.value;
    let Some(ast::Type::PathType(header)) = source.trait_() else { return None };
    let given = given(&header.path()?.segment()?).types.len();
    let wanted = of.type_or_const_param_count(cx.db, true)..=of.type_or_const_param_count(cx.db, false);
    if !wanted.contains(&given) {
        let message = format!("the trait `{name}` takes {}, but {given} given", wanted.end());
        return Some(report::error(cx, place, Code::E0107, message));
    }
    let ty = block.self_ty(cx.db);
    let wanted = of.direct_supertraits(cx.db);
    if ty.contains_unknown() {
        return None;
    }
    // A trait of the standard library that is compared with itself, as `Ord`, needs such traits.
    let is_of_itself = given == 0 && of.module(cx.db).krate(cx.db).origin(cx.db).is_lang();
    let compared = wanted.iter().filter(|_| is_of_itself).find(|it| bounds::lacks_comparison(cx, &ty, **it)).copied();
    let lacks = bounds::lacks_bounds(cx.db, &ty, &wanted).or(compared);
    let target = block.module(cx.db).krate(cx.db).to_display_target(cx.db);
    let shown = ty.display(cx.db, target).to_string();
    let unmet = match lacks {
        Some(of) => Unmet { ty: shown, of: of.name(cx.db).as_str().to_owned(), is_other_type: false },
        None => wellformed::unmet_supertrait(cx, of, &ty, &shown)?,
    };
    let mut error = report::unmet(cx, place, unmet);
    error.message = format!("{}, which `{name}` needs", error.message);
    Some(error)
}

fn unfit_constant<'db>(cx: &Context<'db>, own: Const, declared: Const) -> Option<Finding> {
    let (source, wanted) = (cx.sema.source(own)?.value.ty()?, cx.sema.source(declared)?.value.ty()?);
    let (here, there) = (cx.sema.resolve_type(&source)?, cx.sema.resolve_type(&wanted)?);
    let is_plain = |it: &Type<'db>| it.as_builtin().is_some();
    if !is_plain(&here) || !is_plain(&there) || here == there {
        return None;
    }
    let name = own.name(cx.db)?;
    let message =
        format!("the type of `{}` does not fit its trait: expected `{}`", name.as_str(), wanted.syntax().text());
    Some(report::error(cx, cx.place(report::reported_range(cx, source.syntax()))?, Code::E0326, message))
}

fn unfit_alias(cx: &Context<'_>, own: TypeAlias, declared: TypeAlias) -> Option<Finding> {
    let (here, there) = (cx.sema.source(own)?.value, cx.sema.source(declared)?.value);
    let count =
        |it: &ast::TypeAlias| it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params()).count();
    let (has, wants) = (count(&here), count(&there));
    if has != wants {
        let name = here.name()?;
        let message = format!("`{}` has {has} type parameters, the trait's has {wants}", name.text());
        return Some(report::error(cx, cx.place(report::reported_range(cx, name.syntax()))?, Code::E0049, message));
    }
    let ty = here.ty()?;
    let given = cx.sema.resolve_type(&ty).filter(|it| !it.contains_unknown())?;
    let lacks = bounds::lacks_bounds(cx.db, &given, &wellformed::bounds_of_alias(cx, declared))?;
    let message = format!("the trait bound `{}: {}` is not satisfied", ty.syntax().text(), lacks.name(cx.db).as_str());
    let bound = Subject::of_bound(ty.syntax().text().to_string(), lacks.name(cx.db).as_str());
    Some(report::error(cx, cx.place(report::reported_range(cx, ty.syntax()))?, Code::E0277, message).about(bound))
}

fn kind(is_async: bool) -> &'static str {
    if is_async { "`async`" } else { "not `async`" }
}

fn is_same(a: AssocItem, b: AssocItem, db: &RootDatabase) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b) && a.name(db) == b.name(db)
}
