//! The members of a definition in paths, by name, in the order of the code.

use std::rc::Rc;

use ra_ap_hir::{Adt, Crate, Impl, Module, ScopeDef, Semantics, Type};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::{Definition, NameClass};
use ra_ap_syntax::{AstNode as _, SyntaxNode, WalkEvent, ast};

use crate::names::definitions;
use crate::names::definitions::{assoc_definition, module_definition, plain_name};
use crate::names::instances::in_crate_of;
use crate::resolve::paths;
use crate::syntax::declaration::declared_name;
use crate::view::Context;
use crate::view::memo::Members;

/// The members that a definition itself declares: no re-exports, and for a type none of a trait's.
pub(crate) fn members_of<'db>(cx: &Context<'db>, container: Definition<'db>) -> Rc<Members<'db>> {
    if let Some(known) = cx.names.members.borrow().get(&container) {
        return known.clone();
    }
    let mut members = Members::default();
    for definition in declared_in(cx, container) {
        let Some(name) = definitions::name_in_path(cx.db, definition) else { continue };
        let same = members.by_name.entry(name).or_default();
        if !same.contains(&definition) {
            same.push(definition);
        }
    }
    let members = Rc::new(members);
    cx.names.members.borrow_mut().insert(container, members.clone());
    members
}

fn declared_in<'db>(cx: &Context<'db>, container: Definition<'db>) -> Vec<Definition<'db>> {
    let db = cx.db;
    match container {
        Definition::Crate(it) => declared_in_module(cx.db, it.root_module(db)),
        Definition::Module(it) => declared_in_module(cx.db, it),
        Definition::Adt(adt) => {
            let mut found: Vec<Definition<'db>> = match adt {
                Adt::Struct(it) => it.fields(db).into_iter().map(Definition::Field).collect(),
                Adt::Union(it) => it.fields(db).into_iter().map(Definition::Field).collect(),
                Adt::Enum(it) => it.variants(db).into_iter().map(Definition::EnumVariant).collect(),
            };
            found.extend(items_of(cx.db, inherent_impls(cx, container)));
            found
        }
        Definition::EnumVariant(it) => it.fields(db).into_iter().map(Definition::Field).collect(),
        Definition::Trait(it) => it.items(db).into_iter().map(assoc_definition).collect(),
        Definition::SelfType(it) if definitions::trait_of(&cx.sema, it).is_some() => items_of(cx.db, vec![it]),
        Definition::SelfType(_) | Definition::BuiltinType(_) => items_of(cx.db, inherent_impls(cx, container)),
        Definition::Function(_) | Definition::Const(_) | Definition::Static(_) => declared_in_body(&cx.sema, container),
        _ => Vec::new(),
    }
}

fn items_of<'db>(db: &'db RootDatabase, impls: Vec<Impl>) -> Vec<Definition<'db>> {
    impls.into_iter().flat_map(|it| it.items(db)).map(assoc_definition).collect()
}

fn declared_in_module<'db>(db: &'db RootDatabase, module: Module) -> Vec<Definition<'db>> {
    let exported = |it: &Definition<'db>| matches!(it, Definition::Macro(it) if definitions::is_exported(db, *it));
    let own = |it: &Definition<'db>| it.module(db) == Some(module) && !exported(it);
    let is_root = module.is_crate_root(db);
    let declared = module.declarations(db).into_iter().map(module_definition);
    let mut found: Vec<Definition<'db>> = declared.filter(|it| own(it) || is_root && exported(it)).collect();
    found.extend(module.legacy_macros(db).into_iter().map(Definition::Macro).filter(own));
    found
}

/// All inherent blocks of a type, by the definition that contains its members.
pub(crate) fn inherent_impls<'db>(cx: &Context<'db>, container: Definition<'db>) -> Vec<Impl> {
    let db = cx.db;
    let inherent = |it: &Impl| definitions::trait_of(&cx.sema, *it).is_none();
    match container {
        Definition::Adt(adt) => Impl::all_for_type(db, adt.ty(db)).into_iter().filter(inherent).collect(),
        // Crates above `core` add to the primitive types too.
        Definition::BuiltinType(builtin) => {
            impls_of_the_language(cx.db).into_iter().filter(|it| it.self_ty(db).as_builtin() == Some(builtin)).collect()
        }
        Definition::SelfType(own) if definitions::trait_of(&cx.sema, own).is_none() => {
            let path = paths::type_of(cx, own);
            let krate = own.module(db).krate(db);
            let all = if krate.origin(db).is_lang() {
                impls_of_the_language(cx.db)
            } else {
                Impl::all_in_crate(db, krate).into_iter().filter(inherent).collect()
            };
            let same = |it: &Impl| it.self_ty(db).as_adt().is_none() && paths::type_of(cx, *it) == path;
            all.into_iter().filter(same).collect()
        }
        _ => Vec::new(),
    }
}

/// The inherent blocks of types that belong to no crate.
pub(crate) fn impls_of_the_language(db: &RootDatabase) -> Vec<Impl> {
    let crates = Crate::all(db).into_iter().filter(|it| it.origin(db).is_lang());
    let inherent = |it: &Impl| it.trait_(db).is_none() && it.self_ty(db).as_adt().is_none();
    crates.flat_map(|it| Impl::all_in_crate(db, it)).filter(inherent).collect()
}

fn declared_in_body<'db>(sema: &Semantics<'db, RootDatabase>, owner: Definition<'db>) -> Vec<Definition<'db>> {
    let Some(module) = owner.module(sema.db) else { return Vec::new() };
    in_crate_of(sema, module, |sema| {
        let Some(node) = definitions::syntax_of(sema, owner) else { return Vec::new() };
        let mut found = Vec::new();
        items_below(sema, &node.value, &mut found);
        found
    })
}

/// The items of a body and of its macro calls, without the items inside them.
fn items_below<'db>(sema: &Semantics<'db, RootDatabase>, body: &SyntaxNode, found: &mut Vec<Definition<'db>>) {
    let mut walk = body.preorder();
    while let Some(event) = walk.next() {
        let WalkEvent::Enter(node) = event else { continue };
        if node == *body {
            continue;
        }
        if let Some(call) = ast::MacroCall::cast(node.clone()) {
            if makes_items(&call)
                && let Some(made) = sema.expand_macro_call(&call)
            {
                items_below(sema, &made.value, found);
            }
            walk.skip_subtree();
        } else if let Some(item) = ast::Item::cast(node) {
            found.extend(declared_by(sema, &item));
            walk.skip_subtree();
        }
    }
}

fn declared_by<'db>(sema: &Semantics<'db, RootDatabase>, item: &ast::Item) -> Option<Definition<'db>> {
    if let ast::Item::Const(it) = item {
        return sema.to_def(it).map(Definition::Const);
    }
    NameClass::classify(sema, &declared_name(item)?)?.defined()
}

/// Everything with this name below a definition, including re-exports and the members of trait implementations.
pub(crate) fn reachable<'db>(cx: &Context<'db>, from: Definition<'db>, name: &str) -> Vec<Definition<'db>> {
    let mut found = members_of(cx, from).named(name).to_vec();
    match from {
        Definition::Crate(it) => in_scope(cx.db, it.root_module(cx.db), name, &mut found),
        Definition::Module(it) => in_scope(cx.db, it, name, &mut found),
        Definition::TypeAlias(it) => {
            let ty = it.ty(cx.db);
            let meant = ty.as_adt().map(Definition::Adt).or_else(|| ty.as_builtin().map(Definition::BuiltinType));
            return meant.map(|it| reachable(cx, it, name)).unwrap_or_default();
        }
        Definition::Adt(it) if found.is_empty() => found = given_by_traits(cx.db, it.ty(cx.db), name),
        Definition::BuiltinType(it) if found.is_empty() => found = given_by_traits(cx.db, it.ty(cx.db), name),
        _ => {}
    }
    found
}

fn in_scope<'db>(db: &'db RootDatabase, module: Module, name: &str, found: &mut Vec<Definition<'db>>) {
    let named = module.scope(db, None).into_iter().filter(|(it, _)| plain_name(it.as_str()) == name);
    for (_, it) in named {
        let ScopeDef::ModuleDef(it) = it else { continue };
        let definition = module_definition(it);
        if !found.contains(&definition) {
            found.push(definition);
        }
    }
}

fn given_by_traits<'db>(db: &'db RootDatabase, ty: Type<'db>, name: &str) -> Vec<Definition<'db>> {
    let is_it = |it: &Definition<'db>| definitions::name_in_path(db, *it).is_some_and(|it| it == name);
    let impls: Vec<Impl> = Impl::all_for_type(db, ty).into_iter().filter(|it| it.trait_(db).is_some()).collect();
    let items = impls.iter().flat_map(|it| it.items(db)).map(assoc_definition);
    let mut found: Vec<Definition<'db>> = items.filter(is_it).collect();
    if found.is_empty() {
        // The items that an implementation inherits from the trait.
        let traits = impls.iter().filter_map(|it| it.trait_(db));
        for item in traits.flat_map(|it| it.items(db)).map(assoc_definition).filter(is_it) {
            if !found.contains(&item) {
                found.push(item);
            }
        }
    }
    found
}

/// Only a macro call in statement position can declare items.
fn makes_items(call: &ast::MacroCall) -> bool {
    let Some(parent) = call.syntax().parent() else { return true };
    match ast::MacroExpr::cast(parent.clone()) {
        Some(it) => it.syntax().parent().is_some_and(|it| {
            ast::ExprStmt::can_cast(it.kind())
                || ast::StmtList::can_cast(it.kind())
                || ast::MacroStmts::can_cast(it.kind())
        }),
        None => !ast::Pat::can_cast(parent.kind()) && !ast::Type::can_cast(parent.kind()),
    }
}
