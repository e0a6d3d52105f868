//! A crate or module as its users see it.

use ra_ap_hir::{Adt, Module, ModuleDef, ScopeDef, Visibility};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;

use super::docs;
use crate::LANGUAGE;
use crate::names::definitions;
use crate::names::definitions::{assoc_definition, is_named_first, module_definition, plain_name};
use crate::names::instances;
use crate::resolve::paths::crates::{origin_of, version_of};
use crate::resolve::paths::{containers, members};
use crate::resolve::{paths, suggestions, symbols, walk, well_formed};
use crate::view::Context;
use semdex_engine::Result;
use semdex_model::{Answer, Package, Symbol};

pub(crate) fn package_named(cx: &Context<'_>, name: &str) -> Result<Answer<Package>> {
    well_formed(name)?;
    let found = walk::walk(cx, name).into_iter().find_map(|definition| match definition {
        Definition::Module(module) => Some(module),
        Definition::Crate(krate) => Some(krate.root_module(cx.db)),
        _ => None,
    });
    match found {
        Some(module) => Ok(Answer { value: package(cx, module), coverage: cx.coverage(false) }),
        None => Err(suggestions::unknown_package(cx, name).into()),
    }
}

fn package(cx: &Context<'_>, module: Module) -> Package {
    let db = cx.db;
    let krate = module.krate(db);
    let external = !krate.origin(db).is_local();
    let root_file = cx.file(module.definition_source_file_id(db).original_file(db).file_id(db));
    let root = root_file.as_ref().map(|it| it.path.to_string()).unwrap_or_default();
    let directory = |path: &str| path.rsplit_once('/').map_or(String::new(), |(it, _)| it.to_owned());
    let files = if external {
        Vec::new()
    } else {
        let own = |name: &str| {
            let id = cx.file_id(name)?;
            cx.sema.file_to_module_defs(id).find(|it| it.krate(db) == krate && is_within(cx.db, *it, module))
        };
        cx.files.of(LANGUAGE).filter(|it| own(&it.path).is_some()).map(|it| it.path.to_string()).collect()
    };
    let symbol = symbols::symbol_of(cx, Definition::Module(module));
    let docs = symbol.and_then(|it| docs::docs_in_full(cx.db, &it, Definition::Module(module)));
    Package {
        name: paths::module_path(cx, module),
        version: version_of(cx, krate),
        docs: docs.map(|it| docs::with_paths(cx, Definition::Module(module), &it)),
        root: directory(&root),
        files,
        symbols: exported(cx, module, &paths::module_path(cx, module)),
        external,
        origin: origin_of(cx, krate, &root),
    }
}

fn is_within(db: &RootDatabase, module: Module, ancestor: Module) -> bool {
    module.path_to_root(db).contains(&ancestor)
}

/// What the module exports, re-exports included, each with the path that users write.
fn exported(cx: &Context<'_>, module: Module, path: &str) -> Vec<Symbol> {
    let db = cx.db;
    let Some(outside) = instances::default_crates(db).into_iter().find(|it| *it != module.krate(db)) else {
        return Vec::new();
    };
    let scope = module.scope(db, Some(outside.root_module(db)));
    let mut symbols: Vec<Symbol> = Vec::new();
    for (name, definition) in &scope {
        let ScopeDef::ModuleDef(item) = definition else { continue };
        if matches!(item, ModuleDef::BuiltinType(_)) {
            continue;
        }
        let definition = module_definition(*item);
        let Some(mut symbol) = symbols::symbol_of(cx, definition) else { continue };
        let is_at_home = containers::container_of(&cx.sema, definition) == Some(Definition::Module(module));
        if !is_at_home {
            let yields = |it: &ScopeDef<'_>| {
                is_named_first(definition) && matches!(it, ScopeDef::ModuleDef(ModuleDef::Macro(_)))
            };
            let is_shared = scope.iter().filter(|it| it.0 == *name && !yields(&it.1)).count() > 1;
            let kind =
                if is_shared { format!("{}@", definitions::kind_word(cx.db, definition)) } else { String::new() };
            symbol.path = format!("{kind}{path}::{}", plain_name(name.as_str()));
        }
        symbol.children = offered_by(cx, definition, &symbol.path, is_at_home);
        symbols.push(in_short(symbol));
    }
    symbols.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.path.cmp(&b.path)));
    symbols.dedup_by(|a, b| a.path == b.path && a.kind == b.kind);
    symbols
}

/// For a type its variants and what its own blocks export; for a trait its items; for a module what it exports in turn.
fn offered_by<'db>(cx: &Context<'db>, definition: Definition<'db>, path: &str, is_at_home: bool) -> Vec<Symbol> {
    let db = cx.db;
    let mut members: Vec<Definition<'db>> = match definition {
        // The language's own crates are described module by module.
        Definition::Module(it) if is_at_home && !it.krate(db).origin(db).is_lang() => {
            return exported(cx, it, path);
        }
        Definition::Adt(Adt::Enum(it)) => it.variants(db).into_iter().map(Definition::EnumVariant).collect(),
        Definition::Trait(_) => members::members_of(cx, definition).all().map(|it| it.1).collect(),
        _ => Vec::new(),
    };
    let public = |it: &Definition<'db>| it.visibility(db) == Some(Visibility::Public);
    if matches!(definition, Definition::Adt(_)) {
        let own = members::inherent_impls(cx, definition).into_iter().flat_map(|it| it.items(db));
        members.extend(own.map(assoc_definition).filter(public));
    }
    let mut symbols: Vec<Symbol> =
        members.into_iter().filter_map(|it| symbols::symbol_of(cx, it)).map(in_short).collect();
    symbols.sort_by(|a, b| a.place.cmp(&b.place));
    symbols
}

/// With the first line of its docs.
fn in_short(symbol: Symbol) -> Symbol {
    let docs = symbol.docs.as_deref().and_then(|it| it.lines().next()).map(str::to_owned);
    Symbol { docs, ..symbol }
}
