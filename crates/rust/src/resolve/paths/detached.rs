//! The items of files by name, and the paths of detached items, which are known only from the text: code that `cfg`
//! switches off, files in no crate, duplicate declarations. Detached items are members of nothing, so a path leads to
//! them only by their name.

use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Impl, PathResolution, Semantics};
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::base_db::all_crates;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};
use rustc_hash::FxHashSet;

use super::{members, type_paths};
use crate::names::definitions;
use crate::names::definitions::{module_definition, plain_name, with_ordinal};
use crate::resolve::{at, paths, walk};
use crate::syntax::positions::{span, text_size, tokens_at};
use crate::view::Context;
use crate::view::memo::Item;
use crate::{LANGUAGE, syntax};
use semdex_engine::files::File;
use semdex_model::{OutlineItem, SymbolKind};
use semdex_text::words::{word_hash, words};

/// The prefix of an inherent block's path.
const INHERENT: &str = "impl@";

/// The declarations with a name in the workspace's files, in the order of the files. For `impl` blocks: `Type`, or
/// `Trait for Type`.
pub(crate) fn items_named<'db>(cx: &Context<'db>, name: &str) -> Rc<Vec<Item<'db>>> {
    if let Some(known) = cx.names.items.borrow().get(name) {
        return known.clone();
    }
    let mut found = Vec::new();
    for (file, id) in files_with(cx, name) {
        found.extend(items_of(file, id, name));
    }
    let found = Rc::new(found);
    cx.names.items.borrow_mut().insert(name.to_owned(), found.clone());
    found
}

/// The files that contain an item's name; all files if the name is not a word, like `0` of a tuple's field. Deleted
/// files are excluded although the postings still have them: a shadow database that was created since has no source
/// root for them.
pub(crate) fn files_with<'db>(cx: &Context<'db>, name: &str) -> Vec<(&'db Arc<File>, FileId)> {
    let postings = cx.index.postings();
    let mut words_of_name = words(name).map(|it| it.1).filter(|it| !it.starts_with(|it: char| it.is_ascii_digit()));
    let word = words_of_name.next();
    let holders: FxHashSet<FileId> =
        word.map(|it| postings.files(word_hash(it)).iter().copied().collect()).unwrap_or_default();
    let files = cx.files.of(LANGUAGE).filter_map(|it| Some((it, cx.file_id(&it.path)?)));
    let may_hold = |file: &File, id: FileId| match word {
        Some(_) if postings.knows(id, file) => holders.contains(&id),
        Some(word) => file.words().offsets(&file.text, word).next().is_some(),
        None => true,
    };
    files.filter(|(file, id)| may_hold(file, *id)).collect()
}

/// Whether no crate is known yet, or none exists. Then a path starts with its file's name, and no other file is read
/// for it: the first answer after the start must not wait for all texts.
fn is_unloaded(db: &RootDatabase) -> bool {
    all_crates(db).is_empty()
}

pub(crate) fn definition_of<'db>(sema: &Semantics<'db, RootDatabase>, item: &Item<'db>) -> Option<Definition<'db>> {
    let own = item.own;
    match own.kind {
        SymbolKind::Impl => impl_at(sema, item.id, own.name_span.start).map(Definition::SelfType),
        _ => at::definition_at(sema, item.id, own.name_span.start),
    }
}

pub(crate) fn impl_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<Impl> {
    sema.to_def(&impl_syntax_at(sema, file, offset)?)
}

fn impl_syntax_of<'db>(sema: &Semantics<'db, RootDatabase>, item: &Item<'db>) -> Option<ast::Impl> {
    if item.own.kind != SymbolKind::Impl {
        return None;
    }
    impl_syntax_at(sema, item.id, item.own.name_span.start)
}

fn impl_syntax_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<ast::Impl> {
    let tree = sema.parse_guess_edition(file);
    let token = tokens_at(tree.syntax(), offset).right_biased()?;
    let is_named_here =
        |it: &ast::Impl| it.self_ty().is_some_and(|ty| ty.syntax().text_range().start() == text_size(offset));
    token.parent_ancestors().filter_map(ast::Impl::cast).find(is_named_here)
}

/// The path of any item; of a detached one by the items around it.
pub(crate) fn path_of_item<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    if let Some(known) = cx.index.symbols(item.id)
        && let Some(symbol) = known.symbol_of(item.own)
    {
        return symbol.path.clone();
    }
    match definition_of(&cx.sema, item).and_then(|it| paths::path_of(cx, it)) {
        Some(path) => path,
        None => detached_path(cx, item, true),
    }
}

/// The prefix of the paths of its members, before `::`.
fn item_as_container<'db>(cx: &Context<'db>, item: &Item<'db>) -> String {
    match definition_of(&cx.sema, item) {
        Some(Definition::SelfType(it)) => type_paths::impl_path(cx, it),
        Some(it) => paths::path_as_container(cx, it).unwrap_or_default(),
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
        (Some(it), _) => paths::path_as_container(cx, it).unwrap_or_default(),
        (None, Some(parent)) => item_as_container(cx, &parent),
        (None, None) => file_as_container(cx, item.file, item.id),
    }
}

/// The definition that would contain a detached item, if it is not detached itself.
fn container_definition<'db>(sema: &Semantics<'db, RootDatabase>, item: &Item<'db>) -> Option<Definition<'db>> {
    let Some(parent) = item.parent() else {
        return sema.file_to_module_def(item.id).map(Definition::Module);
    };
    match definition_of(sema, &parent) {
        Some(Definition::SelfType(it)) if definitions::trait_of(sema, it).is_some() => Some(Definition::SelfType(it)),
        Some(Definition::SelfType(it)) => definitions::container_of(sema, Definition::SelfType(it)),
        Some(it) => Some(it),
        None => {
            let syntax = impl_syntax_of(sema, &parent).filter(|it| it.trait_().is_none())?;
            definition_of_type(sema, &syntax.self_ty()?)
        }
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
pub(crate) fn rank_among_detached<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    container: &str,
    name: &str,
) -> usize {
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

fn is_detached<'db>(cx: &Context<'db>, item: &Item<'db>) -> bool {
    let Some(definition) = definition_of(&cx.sema, item) else { return true };
    match definition {
        Definition::SelfType(it) if definitions::trait_of(&cx.sema, it).is_none() => {
            definitions::container_of(&cx.sema, definition)
                .is_none_or(|container| !members::inherent_impls(cx, container).contains(&it))
        }
        Definition::SelfType(it) => !type_paths::is_listed_impl(cx, it),
        _ => {
            let Some(container) = definitions::container_of(&cx.sema, definition) else { return false };
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
            Some(of) => type_paths::plain_trait_impl_path(cx, it, &of),
            None => format!("{INHERENT}{}", type_paths::type_of(cx, it)),
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
        Some(it) => paths::path_as_container(cx, it),
        None => detached.map(|it| detached_path(cx, &it, false)),
    };
    path.unwrap_or(name)
}

fn definition_of_type<'db>(sema: &Semantics<'db, RootDatabase>, ty: &ast::Type) -> Option<Definition<'db>> {
    match ty {
        ast::Type::PathType(it) => definition_of_path(sema, ty.syntax(), &it.path()?),
        _ => None,
    }
}

pub(crate) fn definition_of_path<'db>(
    sema: &Semantics<'db, RootDatabase>,
    at: &SyntaxNode,
    path: &ast::Path,
) -> Option<Definition<'db>> {
    match sema.scope(at)?.speculative_resolve(path)? {
        PathResolution::Def(it) => Some(module_definition(it)),
        PathResolution::SelfType(it) => it.self_ty(sema.db).as_adt().map(Definition::Adt),
        _ => None,
    }
}

/// A file's module; for a file in no crate the `mod` line that would include it, or its own name.
pub(crate) fn file_as_container<'db>(cx: &Context<'db>, file: &'db Arc<File>, id: FileId) -> String {
    if let Some(module) = cx.sema.file_to_module_def(id) {
        return paths::module_path(cx, module);
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

/// The `mod` line of a file, if it is not compiled.
fn declaration_of<'db>(cx: &Context<'db>, file: &str) -> Option<Item<'db>> {
    let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = name.strip_suffix(".rs")?;
    let (above, module) = match stem {
        "mod" => directory.rsplit_once('/').unwrap_or(("", directory)),
        _ => (directory, stem),
    };
    let declares = |it: &&Item<'db>| {
        let (from, from_name) = it.file.path.rsplit_once('/').unwrap_or(("", &it.file.path));
        let is_beside = from == above || it.file.path.strip_suffix(".rs") == Some(above);
        let is_root = matches!(from_name, "mod.rs" | "lib.rs" | "main.rs") || from != above;
        is_beside && (is_root || stem != "mod") && it.around.is_empty() && declared_path(it).is_none()
    };
    let is_line = |it: &&Item<'db>| is_mod_line(it.own);
    let named = items_named(cx, module);
    let by_name = named.iter().filter(is_line).filter(declares).find(|it| definition_of(&cx.sema, it).is_none());
    by_name.cloned().or_else(|| declared_by_attribute(cx, file))
}

/// `#[path = "…"] mod name;`
fn declared_by_attribute<'db>(cx: &Context<'db>, file: &str) -> Option<Item<'db>> {
    let name = file.rsplit('/').next()?;
    for other in cx.files.of(LANGUAGE) {
        let text = other.text.as_bytes();
        let may_name_it =
            memchr::memmem::find(text, b"path").is_some() && memchr::memmem::find(text, name.as_bytes()).is_some();
        let Some(id) = cx.file_id(&other.path).filter(|_| may_name_it) else { continue };
        let directory = other.path.rsplit_once('/').map_or("", |it| it.0);
        let lines = other.outline().items.iter().map(|it| Item::top(other, id, it));
        let is_it = |it: &Item<'db>| {
            declared_path(it).is_some_and(|path| joined(directory, path) == file)
                && definition_of(&cx.sema, it).is_none()
        };
        if let Some(found) = lines.into_iter().find(is_it) {
            return Some(found);
        }
    }
    None
}

fn items_of<'db>(file: &'db Arc<File>, id: FileId, name: &str) -> Vec<Item<'db>> {
    let mut found = Vec::new();
    for item in &file.outline().items {
        collect(&Item::top(file, id, item), name, &mut found);
    }
    found
}

fn collect<'db>(item: &Item<'db>, name: &str, found: &mut Vec<Item<'db>>) {
    for child in &item.own.children {
        if plain_name(&child.name) == name || !child.children.is_empty() {
            collect(&item.child(child), name, found);
        }
    }
    if plain_name(&item.own.name) == name {
        found.push(item.clone());
    }
}

fn is_type_or_trait(item: &OutlineItem) -> bool {
    matches!(
        item.kind,
        SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Type
    )
}

fn is_mod_line(item: &OutlineItem) -> bool {
    item.kind == SymbolKind::Module && item.body.is_none()
}

/// The file that an attribute of a `mod` line names.
fn declared_path<'db>(item: &Item<'db>) -> Option<&'db str> {
    let own = Some(item.own).filter(|it| is_mod_line(it))?;
    let head = item.file.text.get(own.span.start..own.name_span.start)?;
    let (_, after) = head.split_once("path")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|it| it.0)
}

fn joined(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
