//! What contains a definition in its path.

use ra_ap_hir::HasCrate as _;
use ra_ap_hir::{Adt, AssocItemContainer, Impl, Module, Semantics, Variant};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNodePtr, ast};

use crate::names::definitions::{as_assoc_item, is_exported, syntax_of, trait_of};
use crate::names::instances::in_crate_of;

/// The container of a definition in its path: a crate's root has none, and an implementation of a trait is named only
/// by its type and trait.
pub(crate) fn container_of<'db>(
    sema: &Semantics<'db, RootDatabase>,
    definition: Definition<'db>,
) -> Option<Definition<'db>> {
    let db = sema.db;
    match definition {
        Definition::Module(it) => module_or_body(sema, definition, it.parent(db)?),
        Definition::Field(it) => Some(match it.parent_def(db) {
            Variant::Struct(it) => Definition::Adt(Adt::Struct(it)),
            Variant::Union(it) => Definition::Adt(Adt::Union(it)),
            Variant::EnumVariant(it) => Definition::EnumVariant(it),
        }),
        Definition::EnumVariant(it) => Some(Definition::Adt(Adt::Enum(it.parent_enum(db)))),
        Definition::Macro(it) if is_exported(sema.db, it) => Some(Definition::Module(it.krate(db).root_module(db))),
        Definition::SelfType(it) if trait_of(sema, it).is_none() => Some(inherent_container(sema.db, it)),
        Definition::Function(_)
        | Definition::Const(_)
        | Definition::TypeAlias(_)
        | Definition::Static(_)
        | Definition::Adt(_)
        | Definition::Trait(_)
        | Definition::Macro(_) => match as_assoc_item(definition, db).map(|it| it.container(db)) {
            Some(AssocItemContainer::Trait(it)) => Some(Definition::Trait(it)),
            Some(AssocItemContainer::Impl(it)) if trait_of(sema, it).is_none() => Some(inherent_container(sema.db, it)),
            Some(AssocItemContainer::Impl(it)) => Some(Definition::SelfType(it)),
            None => module_or_body(sema, definition, definition.module(db)?),
        },
        _ => None,
    }
}

/// The container of the members of all inherent blocks of one type.
fn inherent_container<'db>(db: &'db RootDatabase, it: Impl) -> Definition<'db> {
    let ty = it.self_ty(db);
    match (ty.as_adt(), ty.as_builtin()) {
        (Some(adt), _) => Definition::Adt(adt),
        (None, Some(builtin)) => Definition::BuiltinType(builtin),
        (None, None) => Definition::SelfType(it),
    }
}

/// A module, or for an item in a body the function, constant or static with that body.
fn module_or_body<'db>(
    sema: &Semantics<'db, RootDatabase>,
    definition: Definition<'db>,
    module: Module,
) -> Option<Definition<'db>> {
    if module.nearest_non_block_module(sema.db) == module {
        return Some(Definition::Module(module));
    }
    in_crate_of(sema, module, |sema| {
        let node = syntax_of(sema, definition)?;
        let around = sema.ancestors_with_macros_file(node).skip(1).filter(|it| ast::Item::can_cast(it.value.kind()));
        let body = around.into_iter().find_map(|it| {
            // The tree that contains a macro's output may not have been requested yet.
            let node = sema.to_node_syntax(it.map(|it| SyntaxNodePtr::new(&it)));
            body_owner(sema, &ast::Item::cast(node)?)
        });
        body.or_else(|| Some(Definition::Module(module.nearest_non_block_module(sema.db))))
    })
}

fn body_owner<'db>(sema: &Semantics<'db, RootDatabase>, item: &ast::Item) -> Option<Definition<'db>> {
    match item {
        ast::Item::Fn(it) => sema.to_def(it).map(Definition::Function),
        ast::Item::Const(it) => sema.to_def(it).map(Definition::Const),
        ast::Item::Static(it) => sema.to_def(it).map(Definition::Static),
        _ => None,
    }
}
