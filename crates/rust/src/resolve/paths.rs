//! The path that names a definition, as in the contract: crate, modules, and for members the type or trait.
//!
//! A printed path can be requested again, so no two items may have the same one. Clashes are resolved in this order:
//!
//! 1. `fn@krate::name`: the kind precedes the path, as in rustdoc's links. It precedes a single segment if the rest is
//!    in the body of a function that shares its name with a type or module (`krate::fn@name::Inner`). A type, trait or
//!    module has the plain path if only a macro shares it: the macro is `macro@krate::name`.
//! 2. `krate::Type<u8>::f`, `<krate::Type as From<A>>::from`: the arguments, if blocks of one type clash.
//! 3. `krate::name~2`: the second item with that path, in the order of the code; items that `cfg` switches off come
//!    after compiled ones.
//!
//! An `impl` block is `impl@krate::Type` or `<krate::Type as krate::Trait>`. For an item in no crate its file takes the
//! place of the crate: `src/orphan.rs::name`.

pub(crate) mod crates;
pub(crate) mod detached;
pub(crate) mod members;
pub(crate) mod type_paths;

use std::sync::Arc;

use ra_ap_hir::Module;
use ra_ap_ide_db::defs::Definition;

use crate::names::{Key, definitions};
use crate::view::Context;

/// The position of a definition among those with the same container and name.
struct Standing {
    container: String,
    name: String,
    /// An item of another kind has the same path.
    is_shared: bool,
    /// Counted from 1.
    ordinal: usize,
}

/// `None` for definitions without a path: locals, generic parameters, labels.
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
    Some(definitions::with_ordinal(format!("{kind}{container}::{name}"), ordinal))
}

/// The prefix of the paths of its members, before `::`.
pub(crate) fn path_as_container<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    match definition {
        Definition::Crate(krate) => Some(crates::crate_name(cx, krate)),
        Definition::Module(module) if module.is_crate_root(cx.db) => Some(crates::crate_name(cx, module.krate(cx.db))),
        Definition::BuiltinType(it) => Some(it.name().as_str().to_owned()),
        Definition::SelfType(it) => Some(type_paths::impl_path(cx, it)),
        _ => {
            let Standing { container, name, is_shared, ordinal } = standing_of(cx, definition)?;
            // A type or module with the same name has the plain path.
            let has_body = matches!(definition, Definition::Function(_) | Definition::Const(_) | Definition::Static(_));
            let kind = if is_shared && has_body {
                format!("{}@", definitions::kind_word(cx.db, definition))
            } else {
                String::new()
            };
            Some(definitions::with_ordinal(format!("{container}::{kind}{name}"), ordinal))
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
    let yields = |it: &Definition<'db>| definitions::is_named_first(definition) && matches!(it, Definition::Macro(_));
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

/// The path of a definition: known, or computed now.
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

/// Like `path_of`, without copying a known path.
pub(crate) fn shared_path(cx: &Context<'_>, key: Key) -> Option<Arc<str>> {
    cx.index.path(key).or_else(|| path_of(cx, key.definition()).map(Arc::from))
}
