//! Types and `impl` blocks in paths: without generics and lifetimes, unless two blocks would clash.

use std::rc::Rc;

use ra_ap_hir::{Crate, DisplayTarget, HirDisplay as _, Impl, Trait, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;

use super::{detached, members};
use crate::names::definitions;
use crate::names::definitions::{ImplementedTrait, with_ordinal};
use crate::resolve::paths;
use crate::syntax;
use crate::view::Context;

/// How much of a block is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arguments {
    None,
    OfTheTrait,
    All,
}

/// The prefix of a block's members: `krate::m::Type`, or `<krate::m::Type as krate::m::Trait>`.
pub(crate) fn impl_path(cx: &Context<'_>, it: Impl) -> String {
    if let Some(known) = cx.names.impls.borrow().get(&it) {
        return known.clone();
    }
    let path = match definitions::trait_of(&cx.sema, it) {
        None => type_of(cx, it),
        Some(of) => trait_impl_path(cx, it, &of),
    };
    cx.names.impls.borrow_mut().insert(it, path.clone());
    path
}

/// The path of the block itself.
pub(crate) fn impl_block_path(cx: &Context<'_>, it: Impl) -> String {
    if definitions::trait_of(&cx.sema, it).is_some() {
        return impl_path(cx, it);
    }
    let container = definitions::container_of(&cx.sema, Definition::SelfType(it));
    let blocks = container.map(|it| members::inherent_impls(cx, it)).unwrap_or_default();
    let path = format!("impl@{}", type_of(cx, it));
    match blocks.iter().position(|other| *other == it) {
        Some(at) => with_ordinal(path, at + 1),
        None => {
            let rank = detached::rank_among_detached(cx, Definition::SelfType(it), &path, "");
            with_ordinal(path, blocks.len() + 1 + rank)
        }
    }
}

fn trait_impl_path(cx: &Context<'_>, it: Impl, of: &ImplementedTrait) -> String {
    let plain = impl_with(cx, it, of, Arguments::None);
    let alike = impls_alike(cx, it, of, &plain);
    if !alike.contains(&it) {
        let rank = detached::rank_among_detached(cx, Definition::SelfType(it), &plain, "");
        return with_ordinal(plain, alike.len() + 1 + rank);
    }
    let mut path = plain;
    let mut same: Vec<Impl> = alike.to_vec();
    for arguments in [Arguments::OfTheTrait, Arguments::All] {
        if same.len() < 2 {
            break;
        }
        path = impl_with(cx, it, of, arguments);
        same.retain(|other| {
            definitions::trait_of(&cx.sema, *other).is_some_and(|of| impl_with(cx, *other, &of, arguments) == path)
        });
    }
    let ordinal = same.iter().position(|other| *other == it).unwrap_or_default() + 1;
    with_ordinal(path, ordinal)
}

pub(crate) fn plain_trait_impl_path(cx: &Context<'_>, it: Impl, of: &ImplementedTrait) -> String {
    impl_with(cx, it, of, Arguments::None)
}

/// Whether a path leads to an implementation by its trait and type.
pub(crate) fn is_listed_impl(cx: &Context<'_>, it: Impl) -> bool {
    let Some(of) = definitions::trait_of(&cx.sema, it) else { return false };
    let plain = impl_with(cx, it, &of, Arguments::None);
    impls_alike(cx, it, &of, &plain).contains(&it)
}

/// The implementations that share a path without arguments.
fn impls_alike(cx: &Context<'_>, it: Impl, of: &ImplementedTrait, plain: &str) -> Rc<Vec<Impl>> {
    if let Some(known) = cx.names.alike.borrow().get(plain) {
        return known.clone();
    }
    let db = cx.db;
    let ty = it.self_ty(db);
    let all = match of {
        ImplementedTrait::FileSymbols(of) if ty.as_adt().is_none() && ty.as_builtin().is_none() => {
            Impl::all_for_trait(db, *of)
        }
        _ => Impl::all_for_type(db, ty),
    };
    let same = |other: &Impl| {
        let other_of = definitions::trait_of(&cx.sema, *other);
        let may_be = match (of, &other_of) {
            (ImplementedTrait::FileSymbols(of), Some(ImplementedTrait::FileSymbols(other))) => of == other,
            (ImplementedTrait::Written(of), Some(ImplementedTrait::Written(other))) => of == other,
            _ => false,
        };
        may_be && other_of.is_some_and(|of| impl_with(cx, *other, &of, Arguments::None) == plain)
    };
    let alike = Rc::new(all.into_iter().filter(same).collect::<Vec<_>>());
    cx.names.alike.borrow_mut().insert(plain.to_owned(), alike.clone());
    alike
}

/// The implementations of a trait, all or those for one type.
pub(crate) fn implementations<'db>(db: &'db RootDatabase, of: Trait, ty: Option<Type<'db>>) -> Vec<Impl> {
    match ty {
        Some(ty) => {
            let all = Impl::all_for_type(db, ty).into_iter();
            all.filter(|it| it.trait_(db) == Some(of)).collect()
        }
        None => Impl::all_for_trait(db, of),
    }
}

fn impl_with(cx: &Context<'_>, it: Impl, of: &ImplementedTrait, arguments: Arguments) -> String {
    let krate = it.module(cx.db).krate(cx.db);
    let ty = match arguments {
        Arguments::All => type_with_arguments(cx, it),
        Arguments::None | Arguments::OfTheTrait => type_of(cx, it),
    };
    let of = match of {
        ImplementedTrait::Written(name) => name.clone(),
        ImplementedTrait::FileSymbols(of) => {
            let mut path = paths::path_as_container(cx, Definition::Trait(*of)).unwrap_or_default();
            if arguments != Arguments::None
                && let Some(reference) = it.trait_ref(cx.db)
            {
                // The first argument is `Self`.
                let listed: Vec<String> = (1..)
                    .map_while(|at| reference.get_type_argument(at))
                    .map(|it| type_path(cx, &it, krate, true))
                    .collect();
                if !listed.is_empty() {
                    path = format!("{path}<{}>", listed.join(", "));
                }
            }
            path
        }
    };
    format!("<{ty} as {of}>")
}

/// The type of a block. Before `::` a path is written as it is; other types are in angle brackets.
pub(crate) fn type_of(cx: &Context<'_>, it: Impl) -> String {
    type_of_block(cx, it, false)
}

pub(crate) fn type_with_arguments(cx: &Context<'_>, it: Impl) -> String {
    type_of_block(cx, it, true)
}

fn type_of_block(cx: &Context<'_>, it: Impl, in_full: bool) -> String {
    let db = cx.db;
    let ty = it.self_ty(db);
    let written = || syntax::written_type(&cx.sema.source(it)?.value);
    if ty.is_unknown()
        && let Some(written) = written()
    {
        return written;
    }
    let path = type_path(cx, &ty, it.module(db).krate(db), in_full);
    let stands_alone = ty.as_adt().is_some() || ty.as_builtin().is_some() || it.trait_(db).is_some();
    if stands_alone { path } else { format!("<{path}>") }
}

/// A type without lifetimes, and without generics unless it is wanted in full.
fn type_path<'db>(cx: &Context<'db>, ty: &Type<'db>, krate: Crate, in_full: bool) -> String {
    let part = |ty: &Type<'db>| type_path(cx, ty, krate, in_full);
    if let Some((adt, arguments)) = ty.as_adt_with_args() {
        let path = paths::path_as_container(cx, Definition::Adt(adt)).unwrap_or_default();
        let arguments: Vec<String> = arguments.iter().flatten().filter(|_| in_full).map(part).collect();
        return if arguments.is_empty() { path } else { format!("{path}<{}>", arguments.join(", ")) };
    }
    if let Some((inner, mutability)) = ty.as_reference() {
        let sign = if mutability.is_mut() { "&mut " } else { "&" };
        return format!("{sign}{}", part(&inner));
    }
    if let Some((inner, mutability)) = ty.as_raw_ptr() {
        let sign = if mutability.is_mut() { "*mut" } else { "*const" };
        return format!("{sign} {}", part(&inner));
    }
    if let Some(it) = ty.as_builtin() {
        return it.name().as_str().to_owned();
    }
    if let Some(it) = ty.as_dyn_trait() {
        return format!("dyn {}", paths::path_as_container(cx, Definition::Trait(it)).unwrap_or_default());
    }
    if let Some(it) = ty.as_type_param(cx.db) {
        return it.name(cx.db).as_str().to_owned();
    }
    if let Some(it) = ty.as_slice() {
        return format!("[{}]", part(&it));
    }
    if ty.is_tuple() {
        let parts: Vec<String> = ty.tuple_fields(cx.db).iter().map(part).collect();
        return format!("({})", parts.join(", "));
    }
    ty.display(cx.db, display(cx.db, krate)).to_string()
}

pub(crate) fn display(db: &RootDatabase, krate: Crate) -> DisplayTarget {
    krate.to_display_target(db)
}
