//! Bounds as they are written, and whether a type meets them.

use ra_ap_hir::{ModuleDef, PathResolution, Semantics, Trait, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::{SyntaxNode, ast};

use crate::names::Key;
use crate::names::instances::{canonical, twins};
use crate::view::Context;

/// With their supertraits.
pub(crate) fn traits_in(sema: &Semantics<'_, RootDatabase>, bounds: Option<ast::TypeBoundList>) -> Vec<Trait> {
    let bounds = bounds.into_iter().flat_map(|it| it.bounds());
    let traits = bounds.filter_map(bound_path).filter_map(|it| match sema.resolve_path(&it)? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    });
    traits.flat_map(|it| it.all_supertraits(sema.db)).collect()
}

/// The first of these traits that a type does not implement. `Sized` is left to the compiler.
pub(crate) fn lacks_bounds<'db>(db: &'db RootDatabase, ty: &Type<'db>, wanted: &[Trait]) -> Option<Trait> {
    let is_plain =
        |it: &&Trait| it.type_or_const_param_count(db, false) == 0 && !it.name(db).as_str().ends_with("Sized");
    wanted.iter().filter(is_plain).find(|it| !implements(db, ty, **it, &[])).copied()
}

/// Whether a trait compares values, and a type does not implement it for itself.
pub(crate) fn lacks_comparison<'db>(cx: &Context<'db>, ty: &Type<'db>, of: Trait) -> bool {
    let is_one = matches!(of.name(cx.db).as_str(), "PartialEq" | "PartialOrd");
    let is_of_library = of.module(cx.db).krate(cx.db).origin(cx.db).is_lang();
    is_one && is_of_library && !implements(cx.db, ty, of, std::slice::from_ref(ty))
}

/// Whether a type implements a trait or one of its twins. Where several crates have the trait's file, the one that the
/// type's crate sees may be another than the one for which the bound was read.
pub(crate) fn implements<'db>(db: &'db RootDatabase, ty: &Type<'db>, of: Trait, arguments: &[Type<'db>]) -> bool {
    let is_by = |it: Key| matches!(it, Key::Trait(it) if ty.impls_trait(db, it, arguments));
    ty.impls_trait(db, of, arguments) || twins(db, canonical(db, Key::Trait(of))).into_iter().any(is_by)
}

/// The trait that an absolute path names for the crate of a node.
pub(crate) fn trait_at(cx: &Context<'_>, node: &SyntaxNode, path: &str) -> Option<Trait> {
    match cx.sema.scope(node)?.speculative_resolve(&ast::make::path_from_text(path))? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    }
}

/// The trait that a bound names.
pub(crate) fn bound_path(bound: ast::TypeBound) -> Option<ast::Path> {
    match bound.ty()? {
        ast::Type::PathType(it) => it.path(),
        _ => None,
    }
}
