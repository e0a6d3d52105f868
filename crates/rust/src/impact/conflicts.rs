//! Two implementations of a trait for the same types (E0119). Bounds do not keep two parameters apart; a type in the
//! place of a parameter has to meet its bounds.

use std::collections::HashMap;

use either::Either;
use ra_ap_hir::{Adt, Crate, GenericDef, GenericParam, Impl, Trait, Type, TypeParam};
use ra_ap_hir_ty::method_resolution::TraitImpls;
use ra_ap_ide::TryToNav as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasGenericParams as _;
use ra_ap_syntax::{AstNode as _, ast};

use super::unresolved_names::derived;
use crate::checks::{places, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_model::{Place, SymbolKind};

/// The conflicts of an implementation with others of its crate and of the trait's.
pub(crate) fn conflicting(cx: &Context<'_>, of: Impl) -> Option<Finding> {
    let db = cx.db;
    let implemented = of.trait_(db).filter(|_| !of.is_negative(db))?;
    let krate = of.module(db).krate(db);
    let declared_in = implemented.module(db).krate(db);
    let mut others = in_crate(cx, of, implemented, krate);
    if declared_in != krate {
        others.extend(in_crate(cx, of, implemented, declared_in));
    }
    let mut others = others.into_iter().filter(|it| *it != of && !it.is_negative(db));
    let other = others.find(|it| overlap(cx, of, *it))?;
    let message = format!("conflicting implementations of trait `{}`", implemented.name(db).as_str());
    if other.module(db).krate(db) != krate {
        return Some(report::error(cx, place_of(cx, of)?, Code::E0119, message));
    }
    // The compiler reports the later one, and a derive after what is written.
    let (own, others) = (place_of(cx, of)?, place_of(cx, other)?);
    let (own_is_derived, other_is_derived) = (is_derived(cx, of), is_derived(cx, other));
    let is_later = |a: &Place, b: &Place| a.file != b.file || a.start >= b.start;
    let at = match (own_is_derived, other_is_derived) {
        (false, true) => others,
        (true, false) => own,
        _ if is_later(&own, &others) => own,
        _ => others,
    };
    Some(report::error(cx, at, Code::E0119, message))
}

/// The implementations of a trait in a crate whose types may be that of another one.
fn in_crate(cx: &Context<'_>, of: Impl, implemented: Trait, krate: Crate) -> Vec<Impl> {
    let own = of.self_ty(cx.db);
    let (is_for_all, own) = (own.as_type_param(cx.db).is_some(), own.as_adt());
    let mut found = Vec::new();
    TraitImpls::for_crate(cx.db, krate.base()).for_trait(implemented.into(), |of_one_type| {
        let blocks: Vec<Impl> = match of_one_type {
            Either::Left(it) => it.iter().copied().map(Impl::from).collect(),
            Either::Right(it) => it.iter().copied().map(Impl::from).collect(),
        };
        let ty = blocks.first().map(|it| it.self_ty(cx.db));
        if ty.is_some_and(|it| is_for_all || it.as_type_param(cx.db).is_some() || it.as_adt() == own) {
            found.extend(blocks);
        }
    });
    found
}

/// Whether a derive of the compiler makes it.
fn is_derived(cx: &Context<'_>, of: Impl) -> bool {
    cx.sema.source(of).is_none()
}

/// The same for what a type derives.
pub(crate) fn conflicting_derives(cx: &Context<'_>, of: Adt) -> Vec<Finding> {
    let blocks = Impl::all_for_type(cx.db, of.ty(cx.db)).into_iter();
    blocks.filter(|it| is_derived(cx, *it)).filter_map(|it| conflicting(cx, it)).collect()
}

/// The head of an implementation, or the name in the attribute that derives it.
fn place_of(cx: &Context<'_>, of: Impl) -> Option<Place> {
    if let Some(source) = cx.sema.source(of) {
        let keyword = source.value.impl_token()?;
        let at = source.with_value(keyword.text_range());
        return cx.place(places::reported_at(cx, at));
    }
    let adt = of.self_ty(cx.db).as_adt()?;
    let target = Definition::Adt(adt).try_to_nav(&cx.sema)?.call_site;
    let file = cx.file(target.file_id)?;
    let outline = file.outline().clone();
    let chain = outline.enclosing(span(target.focus_or_full_range()).start);
    let is_type = |kind| matches!(kind, SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union);
    let item = chain.iter().rev().find(|it| is_type(it.kind))?;
    let implemented = of.trait_(cx.db)?.name(cx.db);
    let at = derived(item, &file, implemented.as_str())?;
    Some(file.lines().place(&file.path, at))
}

/// Whether two implementations certainly apply to a common type.
fn overlap(cx: &Context<'_>, a: Impl, b: Impl) -> bool {
    let both = a.trait_ref(cx.db).zip(b.trait_ref(cx.db));
    let is_written_alike =
        || a.module(cx.db) == b.module(cx.db) && plain_head(cx, a).is_some_and(|it| Some(it) == plain_head(cx, b));
    is_written_alike()
        || both.is_some_and(|(left, right)| {
            let of = GenericDef::Trait(left.trait_());
            let mut given = Given::default();
            // The first argument is the type itself. One without a type is a lifetime.
            let mut arguments =
                (0..=of.params(cx.db).len()).map(|it| (left.get_type_argument(it), right.get_type_argument(it)));
            !has_constants(cx, of)
                && arguments.all(|both| match both {
                    (Some(a), Some(b)) => meet(cx, &a, &b, &mut given),
                    (None, None) => true,
                    _ => false,
                })
                && given.meets_bounds_of(cx, [a, b])
        })
}

/// The trait and the type of an implementation without parameters, as they are written.
fn plain_head(cx: &Context<'_>, of: Impl) -> Option<(String, String)> {
    let block = cx.sema.source(of)?.value;
    let head = (block.trait_()?.syntax().text().to_string(), block.self_ty()?.syntax().text().to_string());
    block.generic_param_list().is_none().then_some(head)
}

/// Constants in the place of parameters are not compared.
fn has_constants(cx: &Context<'_>, of: GenericDef) -> bool {
    of.params(cx.db).iter().any(|it| matches!(it, GenericParam::ConstParam(_)))
}

/// What takes the place of the parameters of two implementations in a common instance.
#[derive(Default)]
struct Given<'db> {
    types: HashMap<TypeParam, Type<'db>>,
    alike: Vec<(TypeParam, TypeParam)>,
}

impl<'db> Given<'db> {
    /// Whether a type without parameters can take the place of a parameter.
    fn takes(&mut self, parameter: TypeParam, ty: &Type<'db>) -> bool {
        self.types.entry(parameter).or_insert_with(|| ty.clone()) == ty
    }

    /// Whether the types that are given certainly meet the bounds of both implementations.
    fn meets_bounds_of(mut self, cx: &Context<'db>, blocks: [Impl; 2]) -> bool {
        for _ in 0..=self.alike.len() {
            for (left, right) in self.alike.clone() {
                let fits = match (self.types.get(&left).cloned(), self.types.get(&right).cloned()) {
                    (Some(it), _) => self.takes(right, &it),
                    (None, Some(it)) => self.takes(left, &it),
                    (None, None) => true,
                };
                if !fits {
                    return false;
                }
            }
        }
        self.types.is_empty()
            || blocks.iter().all(|it| has_plain_bounds(cx, *it))
                && self.types.iter().all(|(parameter, ty)| meets_bounds(cx, *parameter, ty))
    }
}

/// Whether a type is sized and implements the traits that a parameter requires.
fn meets_bounds(cx: &Context<'_>, parameter: TypeParam, ty: &Type<'_>) -> bool {
    let is_unsized = ty.is_str() || ty.is_slice() || ty.as_dyn_trait().is_some();
    let is_met = |it: Trait| it.type_or_const_param_count(cx.db, false) == 0 && ty.impls_trait(cx.db, it, &[]);
    !is_unsized && parameter.trait_bounds(cx.db).into_iter().all(is_met)
}

/// Whether an implementation requires only traits of its parameters, and no associated types.
fn has_plain_bounds(cx: &Context<'_>, of: Impl) -> bool {
    let Some(block) = cx.sema.source(of).map(|it| it.value) else { return true };
    let parameters = block.generic_param_list().map(|it| it.syntax().text().to_string()).unwrap_or_default();
    let clauses = block.where_clause().into_iter().flat_map(|it| it.predicates());
    let is_plain = |it: ast::WherePred| {
        let of_parameter = match it.ty() {
            Some(ast::Type::PathType(it)) => it.path().is_some_and(|it| it.as_single_name_ref().is_some()),
            Some(_) => false,
            None => true,
        };
        of_parameter && !it.syntax().text().contains_char('=')
    };
    !parameters.contains('=') && clauses.into_iter().all(is_plain)
}

/// Whether a type has no parameters.
fn is_closed(ty: &Type<'_>) -> bool {
    if let Some((inner, _)) = ty.as_reference() {
        return is_closed(&inner);
    }
    match ty.as_adt() {
        Some(_) => ty.type_arguments().all(|it| is_closed(&it)),
        None => ty.as_builtin().is_some(),
    }
}

/// Whether two types certainly have a common instance, if the types that are given meet the bounds.
fn meet<'db>(cx: &Context<'db>, a: &Type<'db>, b: &Type<'db>, given: &mut Given<'db>) -> bool {
    if a.contains_unknown() || b.contains_unknown() {
        return false;
    }
    match (a.as_type_param(cx.db), b.as_type_param(cx.db)) {
        (Some(a), Some(b)) => {
            given.alike.push((a, b));
            return true;
        }
        (Some(parameter), None) => return is_closed(b) && given.takes(parameter, b),
        (None, Some(parameter)) => return is_closed(a) && given.takes(parameter, a),
        (None, None) => {}
    }
    if let (Some((a, is_mut)), Some((b, is_other_mut))) = (a.as_reference(), b.as_reference()) {
        return is_mut == is_other_mut && meet(cx, &a, &b, given);
    }
    match (a.as_adt(), b.as_adt()) {
        (Some(own), Some(other)) if own == other => {
            let (a, b): (Vec<_>, Vec<_>) = (a.type_arguments().collect(), b.type_arguments().collect());
            !has_constants(cx, GenericDef::Adt(own))
                && a.len() == b.len()
                && a.iter().zip(&b).all(|(a, b)| meet(cx, a, b, given))
        }
        (None, None) => a.as_builtin().is_some() && a.as_builtin() == b.as_builtin(),
        _ => false,
    }
}
