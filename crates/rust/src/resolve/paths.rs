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
//!
//! Types and `impl` blocks have no generics and no lifetimes in paths, unless two blocks would have the same path.
//!
//! The items of files by name, and the paths of detached items, which are known only from the text: code that `cfg`
//! switches off, files in no crate, duplicate declarations. Detached items are members of nothing, so a path leads to
//! them only by their name.

pub(crate) mod containers;
pub(crate) mod crates;
pub(crate) mod items;
pub(crate) mod members;

use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Crate, DisplayTarget, HirDisplay as _, Impl, Module, Trait, Type};
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::base_db::all_crates;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast;

use self::items::{
    container_definition, declaration_of, definition_of, definition_of_type, impl_syntax_of, items_named, items_of,
};
use super::walk;
use crate::names::definitions::{ImplementedTrait, plain_name, with_ordinal};
use crate::names::instances::{canonical, representative};
use crate::names::{Key, definitions};
use crate::syntax;
use crate::syntax::positions::span;
use crate::view::Context;
use crate::view::memo::Item;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, SymbolKind};

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
    let path = match Key::of(definition).map(|it| canonical(cx.db, it)) {
        Some(key) => cached_path(cx, key, || work_out_path_of(cx, key.definition())).map(|it| it.to_string()),
        None => work_out_path_of(cx, definition),
    };
    cx.names.paths.borrow_mut().insert(definition, path.clone());
    path
}

fn work_out_path_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    if let Definition::SelfType(it) = definition {
        return Some(impl_block_path(cx, it));
    }
    let Some(Standing { container, name, is_shared, ordinal }) = standing_of(cx, definition) else {
        return path_as_container(cx, definition);
    };
    let kind = if is_shared { format!("{}@", definitions::kind_word(cx.db, definition)) } else { String::new() };
    Some(with_ordinal(format!("{kind}{container}::{name}"), ordinal))
}

/// The prefix of the paths of its members, before `::`.
pub(crate) fn path_as_container<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<String> {
    let definition = representative(cx.db, definition);
    match definition {
        Definition::Crate(krate) => Some(crates::crate_name(cx, krate)),
        Definition::Module(module) if module.is_crate_root(cx.db) => Some(crates::crate_name(cx, module.krate(cx.db))),
        Definition::BuiltinType(it) => Some(it.name().as_str().to_owned()),
        Definition::SelfType(it) => Some(impl_path(cx, it)),
        _ => {
            let Standing { container, name, is_shared, ordinal } = standing_of(cx, definition)?;
            // A type or module with the same name has the plain path.
            let has_body = matches!(definition, Definition::Function(_) | Definition::Const(_) | Definition::Static(_));
            let kind = if is_shared && has_body {
                format!("{}@", definitions::kind_word(cx.db, definition))
            } else {
                String::new()
            };
            Some(with_ordinal(format!("{container}::{kind}{name}"), ordinal))
        }
    }
}

pub(crate) fn module_path(cx: &Context<'_>, module: Module) -> String {
    path_as_container(cx, Definition::Module(module)).unwrap_or_default()
}

fn standing_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<Standing> {
    // What only a later crate has is no peer of the first crate's items.
    let within = representative(cx.db, containers::container_of(&cx.sema, definition)?);
    let name = definitions::name_in_path(cx.db, definition)?;
    let members = members::members_of(cx, within);
    let peers = members.named(&name);
    let mut container = path_as_container(cx, within)?;
    if !peers.contains(&definition) {
        let ordinal = peers.len() + 1 + rank_among_detached(cx, definition, &container, &name);
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
        container = type_with_arguments(cx, own);
        alike.retain(|it| {
            definitions::inherent_impl_of(&cx.sema, *it)
                .is_some_and(|other| type_with_arguments(cx, other) == container)
        });
    }
    let ordinal = alike.iter().position(|it| *it == definition).unwrap_or_default() + 1;
    Some(Standing { container, name, is_shared, ordinal })
}

/// The path of a definition: known, or computed now.
fn cached_path(cx: &Context<'_>, key: Key, work_out: impl FnOnce() -> Option<String>) -> Option<Arc<str>> {
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

/// The prefix of an inherent block's path.
const INHERENT: &str = "impl@";

/// Whether no crate is known yet, or none exists. Then a path starts with its file's name, and no other file is read
/// for it: the first answer after the start must not wait for all texts.
fn is_unloaded(db: &RootDatabase) -> bool {
    all_crates(db).is_empty()
}

/// The path of any item; of a detached one by the items around it.
pub(crate) fn path_of_item<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    if let Some(known) = cx.index.symbols(item.id)
        && let Some(symbol) = known.symbol_of(item.own)
    {
        return symbol.path.clone();
    }
    match definition_of(&cx.sema, item).and_then(|it| path_of(cx, it)) {
        Some(path) => path,
        None => detached_path(cx, item, true),
    }
}

/// The prefix of the paths of its members, before `::`.
fn item_as_container<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    match definition_of(&cx.sema, item) {
        Some(Definition::SelfType(it)) => impl_path(cx, it),
        Some(it) => path_as_container(cx, it).unwrap_or_default(),
        None => detached_path(cx, item, false),
    }
}

fn detached_path<'db>(cx: &Context<'db>, item: &Item<'db>, as_symbol: bool) -> String {
    let own = item.own;
    if own.kind == SymbolKind::Impl {
        let path = block_path(cx, item);
        if let Some(ty) = path.strip_prefix(INHERENT).filter(|_| !as_symbol) {
            return ty.to_owned();
        }
        let ordinal = 1 + listed_blocks(cx, &path) + rank(cx, item, &own.name, &path);
        return with_ordinal(path, ordinal);
    }
    let name = plain_name(&own.name);
    let container = container_path(cx, item);
    let listed = container_definition(&cx.sema, item).map_or(0, |it| reached(cx, it, name));
    let ordinal = 1 + listed + rank(cx, item, name, &container);
    with_ordinal(format!("{container}::{name}"), ordinal)
}

/// The number of items that a member's path leads to. In a module without such a member, an import with that name
/// counts.
fn reached<'db>(cx: &Context<'db>, container: Definition<'db>, name: &str) -> usize {
    let members = members::members_of(cx, container).named(name).len();
    match container {
        Definition::Module(module) if members == 0 => {
            usize::from(module.scope(cx.db, None).iter().any(|(it, _)| it.as_str() == name))
        }
        _ => members,
    }
}

/// The path before an item's name; for a block its path without the number.
fn container_path<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    if item.own.kind == SymbolKind::Impl {
        return block_path(cx, item);
    }
    match (container_definition(&cx.sema, item), item.parent()) {
        (Some(it), _) => path_as_container(cx, it).unwrap_or_default(),
        (None, Some(parent)) => item_as_container(cx, &parent),
        (None, None) => file_as_container(cx, item.file, item.id),
    }
}

/// The number of detached items with this path that precede an item.
fn rank<'db>(cx: &Context<'db>, item: &Item<'db>, name: &str, container: &str) -> usize {
    // The rank of an item needs the paths of others, which may contain each other.
    if !cx.names.ranking.borrow_mut().insert(item.at()) {
        return 0;
    }
    let before = |other: &&Item<'db>| {
        let is_block = |it: &Item<'db>| it.own.kind == SymbolKind::Impl;
        // The blocks of a type may be anywhere.
        is_block(other) == is_block(item)
            && (other.own.container == item.own.container || is_block(item))
            && is_detached(cx, other)
            && container_path(cx, other) == container
    };
    let of_file;
    let named = if is_unloaded(cx.db) {
        of_file = items_of(item.file, item.id, name);
        &of_file
    } else {
        &*items_named(cx, name)
    };
    let rank = named.iter().take_while(|it| it.at() != item.at()).filter(before).count();
    cx.names.ranking.borrow_mut().remove(&item.at());
    rank
}

/// The same for a definition that is not a member of its container.
fn rank_among_detached<'db>(cx: &Context<'db>, definition: Definition<'db>, container: &str, name: &str) -> usize {
    let Some(target) = definition.try_to_nav(&cx.sema).map(|it| it.call_site) else { return 0 };
    let at = span(target.focus_or_full_range()).start;
    let is_it = |it: &Item<'db>| match definition {
        Definition::SelfType(_) => definition_of(&cx.sema, it) == Some(definition),
        _ => it.at() == (target.file_id, at),
    };
    let name = match definition {
        Definition::SelfType(it) => cx.sema.source(it).map(|it| syntax::written_block(&it.value)).unwrap_or_default(),
        _ => name.to_owned(),
    };
    let items = items_named(cx, &name);
    items.iter().find(|it| is_it(it)).map_or(0, |it| rank(cx, it, &name, container))
}

/// Whether the path of an item has a number because another build has it, or none.
pub(crate) fn is_detached<'db>(cx: &Context<'db>, item: &Item<'db>) -> bool {
    let Some(definition) = definition_of(&cx.sema, item) else { return true };
    match definition {
        Definition::SelfType(it) if definitions::trait_of(&cx.sema, it).is_none() => {
            containers::container_of(&cx.sema, definition)
                .is_none_or(|container| !members::inherent_impls(cx, container).contains(&it))
        }
        Definition::SelfType(it) => !is_listed_impl(cx, it),
        _ => {
            let Some(container) = containers::container_of(&cx.sema, definition) else { return false };
            let container = representative(cx.db, container);
            let Some(name) = definitions::name_in_path(cx.db, definition) else { return false };
            !members::members_of(cx, container).named(&name).contains(&definition)
        }
    }
}

/// The number of compiled blocks with this path, ignoring numbers.
fn listed_blocks(cx: &Context<'_>, path: &str) -> usize {
    match path.strip_prefix(INHERENT) {
        Some(ty) => {
            walk::walk(cx, ty).into_iter().map(|it| members::inherent_impls(cx, it).len()).max().unwrap_or_default()
        }
        None => walk::walk(cx, path).len(),
    }
}

/// A block's path without the number; for a block that is not compiled, as far as its names can be followed.
fn block_path<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    if let Some(Definition::SelfType(it)) = definition_of(&cx.sema, item) {
        return match definitions::trait_of(&cx.sema, it) {
            Some(of) => plain_trait_impl_path(cx, it, &of),
            None => format!("{INHERENT}{}", type_of(cx, it)),
        };
    }
    let Some(syntax) = impl_syntax_of(&cx.sema, item) else { return String::new() };
    let ty = syntax.self_ty().map(|it| written_type(cx, &it, item)).unwrap_or_default();
    match syntax.trait_() {
        Some(of) => format!("<{ty} as {}>", written_type(cx, &of, item)),
        None => format!("{INHERENT}{ty}"),
    }
}

/// A type or trait as a block names it: a detached one is next to the block.
fn written_type<'db>(cx: &Context<'db>, ty: &ast::Type, block: &Item<'db>) -> String {
    let name = syntax::type_name(ty);
    let beside = match block.around.last() {
        Some(around) => &around.children,
        None => &block.file.outline().items,
    };
    let is_it = |it: &&OutlineItem| is_type_or_trait(it) && it.name == name;
    let own = beside.iter().filter(is_it).map(|it| match block.parent() {
        Some(parent) => parent.child(it),
        None => Item::top(block.file, block.id, it),
    });
    let detached = own.into_iter().find(|it| definition_of(&cx.sema, it).is_none());
    let path = match definition_of_type(&cx.sema, ty) {
        Some(it) => path_as_container(cx, it),
        None => detached.map(|it| detached_path(cx, &it, false)),
    };
    path.unwrap_or(name)
}

/// A file's module; for a file in no crate the `mod` line that would include it, or its own name.
pub(crate) fn file_as_container<'db>(cx: &Context<'db>, file: &'db Arc<File>, id: FileId) -> String {
    if let Some(module) = cx.sema.file_to_module_def(id) {
        return module_path(cx, module);
    }
    let name: &str = &file.path;
    if is_unloaded(cx.db) {
        return name.to_owned();
    }
    if let Some(known) = cx.names.files.borrow().get(name) {
        return known.clone();
    }
    // Two files may declare each other: then the file's name is used.
    cx.names.files.borrow_mut().insert(name.to_owned(), name.to_owned());
    let declared = declaration_of(cx, name).map(|it| detached_path(cx, &it, false));
    let path = declared.unwrap_or_else(|| name.to_owned());
    cx.names.files.borrow_mut().insert(name.to_owned(), path.clone());
    path
}

fn is_type_or_trait(item: &OutlineItem) -> bool {
    matches!(
        item.kind,
        SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Type
    )
}

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
fn impl_block_path(cx: &Context<'_>, it: Impl) -> String {
    if definitions::trait_of(&cx.sema, it).is_some() {
        return impl_path(cx, it);
    }
    let container = containers::container_of(&cx.sema, Definition::SelfType(it));
    let blocks = container.map(|it| members::inherent_impls(cx, it)).unwrap_or_default();
    let path = format!("impl@{}", type_of(cx, it));
    match blocks.iter().position(|other| *other == it) {
        Some(at) => with_ordinal(path, at + 1),
        None => {
            let rank = rank_among_detached(cx, Definition::SelfType(it), &path, "");
            with_ordinal(path, blocks.len() + 1 + rank)
        }
    }
}

fn trait_impl_path(cx: &Context<'_>, it: Impl, of: &ImplementedTrait) -> String {
    let plain = impl_with(cx, it, of, Arguments::None);
    let alike = impls_alike(cx, it, of, &plain);
    if !alike.contains(&it) {
        let rank = rank_among_detached(cx, Definition::SelfType(it), &plain, "");
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

fn plain_trait_impl_path(cx: &Context<'_>, it: Impl, of: &ImplementedTrait) -> String {
    impl_with(cx, it, of, Arguments::None)
}

/// Whether a path leads to an implementation by its trait and type.
fn is_listed_impl(cx: &Context<'_>, it: Impl) -> bool {
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
            let mut path = path_as_container(cx, Definition::Trait(*of)).unwrap_or_default();
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

fn type_with_arguments(cx: &Context<'_>, it: Impl) -> String {
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
        let path = path_as_container(cx, Definition::Adt(adt)).unwrap_or_default();
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
        return format!("dyn {}", path_as_container(cx, Definition::Trait(it)).unwrap_or_default());
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
