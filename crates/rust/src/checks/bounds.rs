//! Bounds as they are written, and whether a type meets them.

use ra_ap_hir::{ModuleDef, PathResolution, Semantics, Trait, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast;

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
    wanted.iter().filter(is_plain).find(|it| !ty.impls_trait(db, **it, &[])).copied()
}

/// The trait that a bound names.
pub(crate) fn bound_path(bound: ast::TypeBound) -> Option<ast::Path> {
    match bound.ty()? {
        ast::Type::PathType(it) => it.path(),
        _ => None,
    }
}
