//! Two implementations of a trait for the same types (E0119). Bounds do not keep implementations apart, but a concrete
//! type may not have the bound of a parameter in its place: such a pair is not decided here.

use ra_ap_hir::{Adt, GenericDef, GenericParam, Impl, Type};
use ra_ap_ide::TryToNav as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::AstNode as _;
use ra_ap_syntax::ast::HasGenericParams as _;

use super::unresolved_names::derived;
use crate::checks::{places, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_model::{Place, SymbolKind};

/// The conflicts of an implementation with others of its crate.
pub(crate) fn conflicting(cx: &Context<'_>, of: Impl) -> Option<Finding> {
    let db = cx.db;
    let implemented = of.trait_(db).filter(|_| !of.is_negative(db))?;
    let krate = of.module(db).krate(db);
    let others = Impl::all_for_trait(db, implemented).into_iter();
    let mut others = others.filter(|it| *it != of && it.module(db).krate(db) == krate && !it.is_negative(db));
    let other = others.find(|it| overlap(cx, of, *it))?;
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
    let message = format!("conflicting implementations of trait `{}`", implemented.name(db).as_str());
    Some(report::error(cx, at, Code::E0119, message))
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
        || both.is_some_and(|(a, b)| {
            let of = GenericDef::Trait(a.trait_());
            // The first argument is the type itself. One without a type is a lifetime.
            let mut arguments =
                (0..=of.params(cx.db).len()).map(|it| (a.get_type_argument(it), b.get_type_argument(it)));
            !has_constants(cx, of)
                && arguments.all(|both| match both {
                    (Some(a), Some(b)) => meet(cx, &a, &b),
                    (None, None) => true,
                    _ => false,
                })
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

/// Whether two types certainly have a common instance.
fn meet(cx: &Context<'_>, a: &Type<'_>, b: &Type<'_>) -> bool {
    if a.contains_unknown() || b.contains_unknown() {
        return false;
    }
    match (a.as_type_param(cx.db).is_some(), b.as_type_param(cx.db).is_some()) {
        (true, true) => return true,
        (false, false) => {}
        _ => return false,
    }
    if let (Some((a, is_mut)), Some((b, is_other_mut))) = (a.as_reference(), b.as_reference()) {
        return is_mut == is_other_mut && meet(cx, &a, &b);
    }
    match (a.as_adt(), b.as_adt()) {
        (Some(own), Some(other)) if own == other => {
            let (a, b): (Vec<_>, Vec<_>) = (a.type_arguments().collect(), b.type_arguments().collect());
            !has_constants(cx, GenericDef::Adt(own))
                && a.len() == b.len()
                && a.iter().zip(&b).all(|(a, b)| meet(cx, a, b))
        }
        (None, None) => a.as_builtin().is_some() && a.as_builtin() == b.as_builtin(),
        _ => false,
    }
}
