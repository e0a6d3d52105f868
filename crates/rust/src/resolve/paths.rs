//! The path that names a definition, as the contract has it: crate, modules, and for members the type or trait.
//!
//! A path is asked again as it was printed, so no two things may print the same one. Where they would, these tell
//! them apart, in this order:
//!
//! 1. `fn@krate::name`: what kind it is, before the path, as in rustdoc's links; before the one segment where what
//!    follows lies in the body of a function that shares its name with a type or module (`krate::fn@name::Inner`).
//!    A type, trait or module has the plain path where only a macro shares it: that one is `macro@krate::name`.
//! 2. `krate::Type<u8>::f`, `<krate::Type as From<A>>::from`: the arguments, where blocks of one type clash.
//! 3. `krate::name~2`: the second of that path, counted in the order of the code; what `cfg` switches off comes after
//!    what is compiled.
//!
//! An `impl` block is `impl@krate::Type` or `<krate::Type as krate::Trait>`. What no crate includes has its file in
//! the crate's place: `src/orphan.rs::name`.

pub(crate) mod crates;
pub(crate) mod definitions;
pub(crate) mod detached;
pub(crate) mod members;
pub(crate) mod memo;
pub(crate) mod text;
pub(crate) mod type_paths;

use std::sync::Arc;

use ra_ap_hir::Module;
use ra_ap_ide_db::defs::Definition;

pub(crate) use self::memo::{CrateNames, Item};
use crate::index::names::Key;
use crate::view::Context;
pub(crate) use crates::TARGETS;
pub(crate) use definitions::{as_assoc_item, assoc_definition, in_trait, module_definition};

/// A definition among those that have its container and name.
struct Standing {
    container: String,
    name: String,
    /// Something of another kind has the same path.
    is_shared: bool,
    /// From 1.
    ordinal: usize,
}

/// `None` for what has no path: locals, generic parameters, labels.
pub(crate) fn path_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    if let Some(known) = cx.names.paths.borrow().get(&definition) {
        return known.clone();
    }
    let path = match Key::of(definition) {
        Some(key) => cached_path(cx, key, || work_out_path_of(cx, definition)).map(|it| it.to_string()),
        None => work_out_path_of(cx, definition),
    };
    cx.names.paths.borrow_mut().insert(definition, path.clone());
    path
}

fn work_out_path_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    if let Definition::SelfType(it) = definition {
        return Some(type_paths::impl_block_path(cx, it));
    }
    let Some(Standing { container, name, is_shared, ordinal }) = standing_of(cx, definition) else {
        return path_as_container(cx, definition);
    };
    let kind = if is_shared { format!("{}@", definitions::kind_word(cx.db, definition)) } else { String::new() };
    Some(text::with_ordinal(format!("{kind}{container}::{name}"), ordinal))
}

/// What stands before `::` in the paths of its members.
pub(crate) fn path_as_container<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    match definition {
        Definition::Crate(krate) => Some(crates::crate_name(cx, krate)),
        Definition::Module(module) if module.is_crate_root(cx.db) => Some(crates::crate_name(cx, module.krate(cx.db))),
        Definition::BuiltinType(it) => Some(it.name().as_str().to_owned()),
        Definition::SelfType(it) => Some(type_paths::impl_path(cx, it)),
        _ => {
            let Standing { container, name, is_shared, ordinal } = standing_of(cx, definition)?;
            // A type or a module has the plain name.
            let has_body = matches!(definition, Definition::Function(_) | Definition::Const(_) | Definition::Static(_));
            let kind = if is_shared && has_body {
                format!("{}@", definitions::kind_word(cx.db, definition))
            } else {
                String::new()
            };
            Some(text::with_ordinal(format!("{container}::{kind}{name}"), ordinal))
        }
    }
}

pub(crate) fn module_path(cx: &Context<'_>, module: Module) -> String {
    path_as_container(cx, Definition::Module(module)).unwrap_or_default()
}

fn standing_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<Standing> {
    let within = definitions::container_of(&cx.sema, definition)?;
    let name = definitions::name_in_path(cx.db, definition)?;
    let members = members::members_of(cx, within);
    let peers = members.named(&name);
    let mut container = path_as_container(cx, within)?;
    if !peers.contains(&definition) {
        let ordinal = peers.len() + 1 + detached::rank_among_detached(cx, definition, &container, &name);
        return Some(Standing { container, name, is_shared: false, ordinal });
    }
    let kind = definitions::kind_word(cx.db, definition);
    let yields = |it: &Definition<'db>| text::is_named_first(definition) && matches!(it, Definition::Macro(_));
    let is_shared = peers.iter().any(|it| definitions::kind_word(cx.db, *it) != kind && !yields(it));
    let mut alike: Vec<Definition<'db>> =
        peers.iter().copied().filter(|it| definitions::kind_word(cx.db, *it) == kind).collect();
    if alike.len() > 1
        && let Some(own) = definitions::inherent_impl_of(&cx.sema, definition)
    {
        container = type_paths::type_with_arguments(cx, own);
        alike.retain(|it| {
            definitions::inherent_impl_of(&cx.sema, *it)
                .is_some_and(|other| type_paths::type_with_arguments(cx, other) == container)
        });
    }
    let ordinal = alike.iter().position(|it| *it == definition).unwrap_or_default() + 1;
    Some(Standing { container, name, is_shared, ordinal })
}

/// The path of a definition: known, or worked out now.
pub(crate) fn cached_path(cx: &Context<'_>, key: Key, work_out: impl FnOnce() -> Option<String>) -> Option<Arc<str>> {
    if let Some(path) = cx.index.path(key) {
        return Some(path);
    }
    let path: Arc<str> = work_out()?.into();
    if let Some(module) = key.definition().module(cx.db) {
        let file = module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db);
        cx.index.learn_path(key, file, path.clone());
    }
    Some(path)
}

/// As `path_of`, without a copy of what is known.
pub(crate) fn shared_path(cx: &Context<'_>, key: Key) -> Option<Arc<str>> {
    cx.index.path(key).or_else(|| path_of(cx, key.definition()).map(Arc::from))
}
