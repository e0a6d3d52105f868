//! The items of the workspace's files by name, and their definitions.

use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Impl, PathResolution, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};
use rustc_hash::FxHashSet;

use crate::LANGUAGE;
use crate::names::definitions;
use crate::names::definitions::{module_definition, plain_name};
use crate::resolve::at;
use crate::resolve::paths::containers;
use crate::syntax::positions::{text_size, tokens_at};
use crate::view::Context;
use crate::view::memo::Item;
use semdex_engine::files::File;
use semdex_model::{OutlineItem, SymbolKind};
use semdex_text::words::{word_hash, words};

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

pub(crate) fn items_of<'db>(file: &'db Arc<File>, id: FileId, name: &str) -> Vec<Item<'db>> {
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

pub(crate) fn definition_of<'db>(sema: &Semantics<'db, RootDatabase>, item: &Item<'db>) -> Option<Definition<'db>> {
    let own = item.own;
    match own.kind {
        SymbolKind::Impl => impl_at(sema, item.id, own.name_span.start).map(Definition::SelfType),
        _ => at::definition_in_any_build(sema, item.id, own.name_span.start),
    }
}

pub(crate) fn impl_at(sema: &Semantics<'_, RootDatabase>, file: FileId, offset: usize) -> Option<Impl> {
    let written = impl_syntax_at(sema, file, offset)?;
    if let Some(block) = sema.to_def(&written) {
        return Some(block);
    }
    // What is compiled is a copy: in a file that `include!` takes in, and in the output of an attribute.
    let copies = sema.descend_into_macros_exact(written.self_ty()?.syntax().first_token()?);
    copies.into_iter().find_map(|token| {
        let of_type =
            |it: &ast::Impl| it.self_ty().is_some_and(|ty| ty.syntax().text_range().contains_range(token.text_range()));
        sema.to_def(&token.parent_ancestors().filter_map(ast::Impl::cast).find(of_type)?)
    })
}

pub(crate) fn impl_syntax_of<'db>(sema: &Semantics<'db, RootDatabase>, item: &Item<'db>) -> Option<ast::Impl> {
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

pub(crate) fn definition_of_type<'db>(sema: &Semantics<'db, RootDatabase>, ty: &ast::Type) -> Option<Definition<'db>> {
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

/// The definition that would contain a detached item, if it is not detached itself.
pub(crate) fn container_definition<'db>(
    sema: &Semantics<'db, RootDatabase>,
    item: &Item<'db>,
) -> Option<Definition<'db>> {
    let Some(parent) = item.parent() else {
        return sema.file_to_module_def(item.id).map(Definition::Module);
    };
    match definition_of(sema, &parent) {
        Some(Definition::SelfType(it)) if definitions::trait_of(sema, it).is_some() => Some(Definition::SelfType(it)),
        Some(Definition::SelfType(it)) => containers::container_of(sema, Definition::SelfType(it)),
        Some(it) => Some(it),
        None => {
            let syntax = impl_syntax_of(sema, &parent).filter(|it| it.trait_().is_none())?;
            definition_of_type(sema, &syntax.self_ty()?)
        }
    }
}

/// The `mod` line of a file, if it is not compiled.
pub(crate) fn declaration_of<'db>(cx: &Context<'db>, file: &str) -> Option<Item<'db>> {
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
