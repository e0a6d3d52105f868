//! Types and `impl` blocks in paths: without generics and lifetimes, unless two blocks would clash.

use std::rc::Rc;

use ra_ap_hir::{Crate, DisplayTarget, HirDisplay as _, Impl, Trait, Type};
use ra_ap_ide_db::defs::Definition;

use super::with_ordinal;
use crate::lang::rust::syntax;
use crate::lang::rust::view::Context;

/// What an `impl` block implements.
pub(super) enum ImplementedTrait {
    Known(Trait),
    /// As written: nobody knows it, or it is switched off.
    Written(String),
}

/// How much of a block is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arguments {
    None,
    OfTheTrait,
    All,
}

impl<'db> Context<'db> {
    /// `None` for an inherent block.
    pub(super) fn trait_of(&self, it: Impl) -> Option<ImplementedTrait> {
        if let Some(known) = it.trait_(self.db) {
            return Some(ImplementedTrait::Known(known));
        }
        // Blocks of the language's own crates and of dependencies are whole.
        if !it.module(self.db).krate(self.db).origin(self.db).is_local() {
            return None;
        }
        let source = self.sema.source(it)?;
        syntax::written_trait(&source.value).map(ImplementedTrait::Written)
    }

    /// What stands before the members of a block: `krate::m::Type`, or `<krate::m::Type as krate::m::Trait>`.
    pub(in crate::lang::rust) fn impl_path(&self, it: Impl) -> String {
        if let Some(known) = self.names.impls.borrow().get(&it) {
            return known.clone();
        }
        let path = match self.trait_of(it) {
            None => self.type_of(it),
            Some(of) => self.trait_impl_path(it, &of),
        };
        self.names.impls.borrow_mut().insert(it, path.clone());
        path
    }

    /// The path of the block itself.
    pub(super) fn impl_block_path(&self, it: Impl) -> String {
        if self.trait_of(it).is_some() {
            return self.impl_path(it);
        }
        let container = self.container_of(Definition::SelfType(it));
        let blocks = container.map(|it| self.inherent_impls(it)).unwrap_or_default();
        let path = format!("impl@{}", self.type_of(it));
        match blocks.iter().position(|other| *other == it) {
            Some(at) => with_ordinal(path, at + 1),
            None => {
                let rank = self.rank_among_loose(Definition::SelfType(it), &path, "");
                with_ordinal(path, blocks.len() + 1 + rank)
            }
        }
    }

    fn trait_impl_path(&self, it: Impl, of: &ImplementedTrait) -> String {
        let plain = self.impl_with(it, of, Arguments::None);
        let alike = self.impls_alike(it, of, &plain);
        if !alike.contains(&it) {
            let rank = self.rank_among_loose(Definition::SelfType(it), &plain, "");
            return with_ordinal(plain, alike.len() + 1 + rank);
        }
        let mut path = plain;
        let mut same: Vec<Impl> = alike.to_vec();
        for arguments in [Arguments::OfTheTrait, Arguments::All] {
            if same.len() < 2 {
                break;
            }
            path = self.impl_with(it, of, arguments);
            same.retain(|other| self.trait_of(*other).is_some_and(|of| self.impl_with(*other, &of, arguments) == path));
        }
        let ordinal = same.iter().position(|other| *other == it).unwrap_or_default() + 1;
        with_ordinal(path, ordinal)
    }

    pub(super) fn plain_trait_impl_path(&self, it: Impl, of: &ImplementedTrait) -> String {
        self.impl_with(it, of, Arguments::None)
    }

    /// Whether a path leads to an implementation by its trait and type.
    pub(super) fn is_listed_impl(&self, it: Impl) -> bool {
        let Some(of) = self.trait_of(it) else { return false };
        let plain = self.impl_with(it, &of, Arguments::None);
        self.impls_alike(it, &of, &plain).contains(&it)
    }

    /// The implementations that have one path without arguments.
    fn impls_alike(&self, it: Impl, of: &ImplementedTrait, plain: &str) -> Rc<Vec<Impl>> {
        if let Some(known) = self.names.alike.borrow().get(plain) {
            return known.clone();
        }
        let db = self.db;
        let ty = it.self_ty(db);
        let all = match of {
            ImplementedTrait::Known(of) if ty.as_adt().is_none() && ty.as_builtin().is_none() => {
                Impl::all_for_trait(db, *of)
            }
            _ => Impl::all_for_type(db, ty),
        };
        let same = |other: &Impl| {
            let other_of = self.trait_of(*other);
            let may_be = match (of, &other_of) {
                (ImplementedTrait::Known(of), Some(ImplementedTrait::Known(other))) => of == other,
                (ImplementedTrait::Written(of), Some(ImplementedTrait::Written(other))) => of == other,
                _ => false,
            };
            may_be && other_of.is_some_and(|of| self.impl_with(*other, &of, Arguments::None) == plain)
        };
        let alike = Rc::new(all.into_iter().filter(same).collect::<Vec<_>>());
        self.names.alike.borrow_mut().insert(plain.to_owned(), alike.clone());
        alike
    }

    /// The implementations of a trait, all or those for one type.
    pub(in crate::lang::rust) fn implementations(&self, of: Trait, ty: Option<Type<'db>>) -> Vec<Impl> {
        match ty {
            Some(ty) => {
                let all = Impl::all_for_type(self.db, ty).into_iter();
                all.filter(|it| it.trait_(self.db) == Some(of)).collect()
            }
            None => Impl::all_for_trait(self.db, of),
        }
    }

    fn impl_with(&self, it: Impl, of: &ImplementedTrait, arguments: Arguments) -> String {
        let krate = it.module(self.db).krate(self.db);
        let ty = match arguments {
            Arguments::All => self.type_with_arguments(it),
            Arguments::None | Arguments::OfTheTrait => self.type_of(it),
        };
        let of = match of {
            ImplementedTrait::Written(name) => name.clone(),
            ImplementedTrait::Known(of) => {
                let mut path = self.path_as_container(Definition::Trait(*of)).unwrap_or_default();
                if arguments != Arguments::None
                    && let Some(reference) = it.trait_ref(self.db)
                {
                    // The first is `Self`.
                    let listed: Vec<String> = (1..)
                        .map_while(|at| reference.get_type_argument(at))
                        .map(|it| self.type_path(&it, krate, true))
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

    /// The type of a block. What stands for itself before `::` is a path; other types are in angle brackets there.
    pub(in crate::lang::rust) fn type_of(&self, it: Impl) -> String {
        self.type_of_block(it, false)
    }

    pub(super) fn type_with_arguments(&self, it: Impl) -> String {
        self.type_of_block(it, true)
    }

    fn type_of_block(&self, it: Impl, in_full: bool) -> String {
        let db = self.db;
        let ty = it.self_ty(db);
        let written = || syntax::written_type(&self.sema.source(it)?.value);
        if ty.is_unknown()
            && let Some(written) = written()
        {
            return written;
        }
        let path = self.type_path(&ty, it.module(db).krate(db), in_full);
        let stands_alone = ty.as_adt().is_some() || ty.as_builtin().is_some() || it.trait_(db).is_some();
        if stands_alone { path } else { format!("<{path}>") }
    }

    /// A type without lifetimes, and without generics where it is not wanted in full.
    fn type_path(&self, ty: &Type<'db>, krate: Crate, in_full: bool) -> String {
        let part = |ty: &Type<'db>| self.type_path(ty, krate, in_full);
        if let Some((adt, arguments)) = ty.as_adt_with_args() {
            let path = self.path_as_container(Definition::Adt(adt)).unwrap_or_default();
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
            return format!("dyn {}", self.path_as_container(Definition::Trait(it)).unwrap_or_default());
        }
        if let Some(it) = ty.as_type_param(self.db) {
            return it.name(self.db).as_str().to_owned();
        }
        if let Some(it) = ty.as_slice() {
            return format!("[{}]", part(&it));
        }
        if ty.is_tuple() {
            let parts: Vec<String> = ty.tuple_fields(self.db).iter().map(part).collect();
            return format!("({})", parts.join(", "));
        }
        ty.display(self.db, self.display(krate)).to_string()
    }

    pub(in crate::lang::rust) fn display(&self, krate: Crate) -> DisplayTarget {
        krate.to_display_target(self.db)
    }
}
