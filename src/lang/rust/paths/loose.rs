//! The items of files by name, and the paths of those that only the text shows: what `cfg` switches off, what stands
//! in a file of no crate, what is declared twice. They are called loose: no member of anything, so that a path leads
//! to them only by their name.

use std::rc::Rc;
use std::sync::Arc;

use ra_ap_hir::{Impl, PathResolution};
use ra_ap_ide::{FileId, TryToNav as _};
use ra_ap_ide_db::base_db::all_crates;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};
use rustc_hash::FxHashSet;

use super::definitions::module_definition;
use super::{plain_name, with_ordinal};
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::lang::rust::syntax;
use crate::lang::rust::view::{Context, span, text_size, tokens_at};
use crate::model::{OutlineItem, SymbolKind};
use crate::text::words::{word_hash, words};

/// Stands before the path of an inherent block.
const INHERENT: &str = "impl@";

/// An item of a file of the workspace, with the items around it.
#[derive(Clone)]
pub(in crate::lang::rust) struct Item<'db> {
    pub(in crate::lang::rust) file: &'db Arc<File>,
    pub(in crate::lang::rust) id: FileId,
    pub(in crate::lang::rust) own: &'db OutlineItem,
    /// The items that it stands in, the outermost first.
    around: Vec<&'db OutlineItem>,
}

impl<'db> Item<'db> {
    pub(in crate::lang::rust) fn top(file: &'db Arc<File>, id: FileId, own: &'db OutlineItem) -> Item<'db> {
        Item { file, id, own, around: Vec::new() }
    }

    /// An item of a file's outline, wherever it stands.
    pub(in crate::lang::rust) fn of(file: &'db Arc<File>, id: FileId, own: &'db OutlineItem) -> Item<'db> {
        let mut around = file.outline().enclosing(own.name_span.start);
        let at = around.iter().position(|it| std::ptr::eq(*it, own));
        around.truncate(at.unwrap_or_default());
        Item { file, id, own, around }
    }

    pub(in crate::lang::rust) fn child(&self, own: &'db OutlineItem) -> Item<'db> {
        let mut around = self.around.clone();
        around.push(self.own);
        Item { own, around, ..*self }
    }

    /// What the item stands in, as its file's outline has it.
    pub(in crate::lang::rust) fn parent_item(&self) -> Option<&'db OutlineItem> {
        self.around.last().copied()
    }

    fn parent(&self) -> Option<Item<'db>> {
        let (own, around) = self.around.split_last()?;
        Some(Item { own, around: around.to_vec(), ..*self })
    }

    /// Where an item of that name can be told from others: file and name.
    fn at(&self) -> (FileId, usize) {
        (self.id, self.own.name_span.start)
    }
}

impl<'db> Context<'db> {
    /// What the workspace's files declare under a name, in the order of the files. For `impl` blocks: `Type`, or
    /// `Trait for Type`.
    pub(in crate::lang::rust) fn items_named(&self, name: &str) -> Rc<Vec<Item<'db>>> {
        if let Some(known) = self.names.items.borrow().get(name) {
            return known.clone();
        }
        let mut found = Vec::new();
        for (file, id) in self.files_with(name) {
            found.extend(items_of(file, id, name));
        }
        let found = Rc::new(found);
        self.names.items.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    /// The files that hold an item's name; all of them where the name is no word of the text, as that of a tuple's field.
    fn files_with(&self, name: &str) -> Vec<(&'db Arc<File>, FileId)> {
        let postings = self.index.postings();
        let mut words_of_name = words(name).map(|it| it.1).filter(|it| !it.starts_with(|it: char| it.is_ascii_digit()));
        let word = words_of_name.next();
        let holders: FxHashSet<FileId> =
            word.map(|it| postings.files(word_hash(it)).iter().copied().collect()).unwrap_or_default();
        let files = self.files.of(LANGUAGE).filter_map(|it| Some((it, self.file_id(&it.path)?)));
        let may_hold = |file: &File, id: FileId| match word {
            Some(_) if postings.knows(id, file) => holders.contains(&id),
            Some(word) => file.words().offsets(&file.text, word).next().is_some(),
            None => true,
        };
        files.filter(|(file, id)| may_hold(file, *id)).collect()
    }

    /// Whether no crate is known yet, or there is none. Then a path starts with its file's name, and no other file
    /// is read for it: the first answer after the start is not to wait for the text of all.
    fn is_unloaded(&self) -> bool {
        all_crates(self.db).is_empty()
    }

    pub(in crate::lang::rust) fn definition_of(&self, item: &Item<'db>) -> Option<Definition<'db>> {
        let own = item.own;
        match own.kind {
            SymbolKind::Impl => self.impl_at(item.id, own.name_span.start).map(Definition::SelfType),
            _ => self.definition_at(item.id, own.name_span.start),
        }
    }

    pub(in crate::lang::rust) fn impl_at(&self, file: FileId, offset: usize) -> Option<Impl> {
        self.sema.to_def(&self.impl_syntax_at(file, offset)?)
    }

    fn impl_syntax_of(&self, item: &Item<'db>) -> Option<ast::Impl> {
        if item.own.kind != SymbolKind::Impl {
            return None;
        }
        self.impl_syntax_at(item.id, item.own.name_span.start)
    }

    fn impl_syntax_at(&self, file: FileId, offset: usize) -> Option<ast::Impl> {
        let tree = self.sema.parse_guess_edition(file);
        let token = tokens_at(tree.syntax(), offset).right_biased()?;
        let is_named_here =
            |it: &ast::Impl| it.self_ty().is_some_and(|ty| ty.syntax().text_range().start() == text_size(offset));
        token.parent_ancestors().filter_map(ast::Impl::cast).find(is_named_here)
    }

    /// Any item's path; of a loose one by what stands around it.
    pub(in crate::lang::rust) fn path_of_item(&self, item: &Item<'db>) -> String {
        if let Some(known) = self.index.symbols(item.id)
            && let Some(symbol) = known.symbol_of(item.own)
        {
            return symbol.path.clone();
        }
        match self.definition_of(item).and_then(|it| self.path_of(it)) {
            Some(path) => path,
            None => self.loose_path(item, true),
        }
    }

    /// What stands before `::` in the paths of its members.
    fn item_as_container(&self, item: &Item<'db>) -> String {
        match self.definition_of(item) {
            Some(Definition::SelfType(it)) => self.impl_path(it),
            Some(it) => self.path_as_container(it).unwrap_or_default(),
            None => self.loose_path(item, false),
        }
    }

    fn loose_path(&self, item: &Item<'db>, as_symbol: bool) -> String {
        let own = item.own;
        if own.kind == SymbolKind::Impl {
            let path = self.block_path(item);
            if let Some(ty) = path.strip_prefix(INHERENT).filter(|_| !as_symbol) {
                return ty.to_owned();
            }
            let ordinal = 1 + self.listed_blocks(&path) + self.rank(item, &own.name, &path);
            return with_ordinal(path, ordinal);
        }
        let name = plain_name(&own.name);
        let container = self.container_path(item);
        let listed = self.container_definition(item).map_or(0, |it| self.reached(it, name));
        let ordinal = 1 + listed + self.rank(item, name, &container);
        with_ordinal(format!("{container}::{name}"), ordinal)
    }

    /// How many things the path of a member leads to: what a module imports takes its own name's place there.
    fn reached(&self, container: Definition<'db>, name: &str) -> usize {
        let members = self.members_of(container).named(name).len();
        match container {
            Definition::Module(module) if members == 0 => {
                usize::from(module.scope(self.db, None).iter().any(|(it, _)| it.as_str() == name))
            }
            _ => members,
        }
    }

    /// What an item's path has before its name; of a block its path but for the number.
    fn container_path(&self, item: &Item<'db>) -> String {
        if item.own.kind == SymbolKind::Impl {
            return self.block_path(item);
        }
        match (self.container_definition(item), item.parent()) {
            (Some(it), _) => self.path_as_container(it).unwrap_or_default(),
            (None, Some(parent)) => self.item_as_container(&parent),
            (None, None) => self.file_as_container(item.file, item.id),
        }
    }

    /// The definition that a loose item would be a member of, if that one is none itself.
    fn container_definition(&self, item: &Item<'db>) -> Option<Definition<'db>> {
        let Some(parent) = item.parent() else {
            return self.sema.file_to_module_def(item.id).map(Definition::Module);
        };
        match self.definition_of(&parent) {
            Some(Definition::SelfType(it)) if self.trait_of(it).is_some() => Some(Definition::SelfType(it)),
            Some(Definition::SelfType(it)) => self.container_of(Definition::SelfType(it)),
            Some(it) => Some(it),
            None => {
                let syntax = self.impl_syntax_of(&parent).filter(|it| it.trait_().is_none())?;
                self.meant_by_type(&syntax.self_ty()?)
            }
        }
    }

    /// How many loose ones of this path come before an item.
    fn rank(&self, item: &Item<'db>, name: &str, container: &str) -> usize {
        // To know one item's path the paths of others are asked for, and these may stand in each other.
        if !self.names.ranking.borrow_mut().insert(item.at()) {
            return 0;
        }
        let before = |other: &&Item<'db>| {
            let is_block = |it: &Item<'db>| it.own.kind == SymbolKind::Impl;
            // Blocks of one type may stand anywhere.
            is_block(other) == is_block(item)
                && (other.own.container == item.own.container || is_block(item))
                && self.is_loose(other)
                && self.container_path(other) == container
        };
        let of_file;
        let named = if self.is_unloaded() {
            of_file = items_of(item.file, item.id, name);
            &of_file
        } else {
            &*self.items_named(name)
        };
        let rank = named.iter().take_while(|it| it.at() != item.at()).filter(before).count();
        self.names.ranking.borrow_mut().remove(&item.at());
        rank
    }

    /// The same for a definition that is no member of what it stands in.
    pub(super) fn rank_among_loose(&self, definition: Definition<'db>, container: &str, name: &str) -> usize {
        let Some(target) = definition.try_to_nav(&self.sema).map(|it| it.call_site) else { return 0 };
        let at = span(target.focus_or_full_range()).start;
        let is_it = |it: &Item<'db>| match definition {
            Definition::SelfType(_) => self.definition_of(it) == Some(definition),
            _ => it.at() == (target.file_id, at),
        };
        let name = match definition {
            Definition::SelfType(it) => {
                self.sema.source(it).map(|it| syntax::written_block(&it.value)).unwrap_or_default()
            }
            _ => name.to_owned(),
        };
        let items = self.items_named(&name);
        items.iter().find(|it| is_it(it)).map_or(0, |it| self.rank(it, &name, container))
    }

    fn is_loose(&self, item: &Item<'db>) -> bool {
        let Some(definition) = self.definition_of(item) else { return true };
        match definition {
            Definition::SelfType(it) if self.trait_of(it).is_none() => {
                self.container_of(definition).is_none_or(|container| !self.inherent_impls(container).contains(&it))
            }
            Definition::SelfType(it) => !self.is_listed_impl(it),
            _ => {
                let Some(container) = self.container_of(definition) else { return false };
                let Some(name) = self.name_in_path(definition) else { return false };
                !self.members_of(container).named(&name).contains(&definition)
            }
        }
    }

    /// How many blocks that are compiled have a path but for its number.
    fn listed_blocks(&self, path: &str) -> usize {
        match path.strip_prefix(INHERENT) {
            Some(ty) => self.walk(ty).into_iter().map(|it| self.inherent_impls(it).len()).max().unwrap_or_default(),
            None => self.walk(path).len(),
        }
    }

    /// A block's path but for its number; of one that is not compiled, as far as its names can be followed.
    fn block_path(&self, item: &Item<'db>) -> String {
        if let Some(Definition::SelfType(it)) = self.definition_of(item) {
            return match self.trait_of(it) {
                Some(of) => self.plain_trait_impl_path(it, &of),
                None => format!("{INHERENT}{}", self.type_of(it)),
            };
        }
        let Some(syntax) = self.impl_syntax_of(item) else { return String::new() };
        let ty = syntax.self_ty().map(|it| self.written_type(&it, item)).unwrap_or_default();
        match syntax.trait_() {
            Some(of) => format!("<{ty} as {}>", self.written_type(&of, item)),
            None => format!("{INHERENT}{ty}"),
        }
    }

    /// A type or trait as a block names it: one that is not compiled either stands beside it.
    fn written_type(&self, ty: &ast::Type, block: &Item<'db>) -> String {
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
        let loose = own.into_iter().find(|it| self.definition_of(it).is_none());
        let path = match self.meant_by_type(ty) {
            Some(it) => self.path_as_container(it),
            None => loose.map(|it| self.loose_path(&it, false)),
        };
        path.unwrap_or(name)
    }

    fn meant_by_type(&self, ty: &ast::Type) -> Option<Definition<'db>> {
        match ty {
            ast::Type::PathType(it) => self.meant_by_path(ty.syntax(), &it.path()?),
            _ => None,
        }
    }

    pub(in crate::lang::rust) fn meant_by_path(&self, at: &SyntaxNode, path: &ast::Path) -> Option<Definition<'db>> {
        match self.sema.scope(at)?.speculative_resolve(path)? {
            PathResolution::Def(it) => Some(module_definition(it)),
            PathResolution::SelfType(it) => it.self_ty(self.db).as_adt().map(Definition::Adt),
            _ => None,
        }
    }

    /// A file's module; for one of no crate the `mod` line that would include it, or its own name.
    pub(in crate::lang::rust) fn file_as_container(&self, file: &'db Arc<File>, id: FileId) -> String {
        if let Some(module) = self.sema.file_to_module_def(id) {
            return self.module_path(module);
        }
        let name: &str = &file.path;
        if self.is_unloaded() {
            return name.to_owned();
        }
        if let Some(known) = self.names.files.borrow().get(name) {
            return known.clone();
        }
        // Two files may declare each other: then it is its name.
        self.names.files.borrow_mut().insert(name.to_owned(), name.to_owned());
        let declared = self.declaration_of(name).map(|it| self.loose_path(&it, false));
        let path = declared.unwrap_or_else(|| name.to_owned());
        self.names.files.borrow_mut().insert(name.to_owned(), path.clone());
        path
    }

    /// The `mod` line of a file, if nothing compiles it.
    fn declaration_of(&self, file: &str) -> Option<Item<'db>> {
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
        let named = self.items_named(module);
        let by_name = named.iter().filter(is_line).filter(declares).find(|it| self.definition_of(it).is_none());
        by_name.cloned().or_else(|| self.declared_by_attribute(file))
    }

    /// `#[path = "…"] mod name;`
    fn declared_by_attribute(&self, file: &str) -> Option<Item<'db>> {
        let name = file.rsplit('/').next()?;
        for other in self.files.of(LANGUAGE) {
            let text = other.text.as_bytes();
            let may_name_it =
                memchr::memmem::find(text, b"path").is_some() && memchr::memmem::find(text, name.as_bytes()).is_some();
            let Some(id) = self.file_id(&other.path).filter(|_| may_name_it) else { continue };
            let directory = other.path.rsplit_once('/').map_or("", |it| it.0);
            let lines = other.outline().items.iter().map(|it| Item::top(other, id, it));
            let is_it = |it: &Item<'db>| {
                declared_path(it).is_some_and(|path| joined(directory, path) == file)
                    && self.definition_of(it).is_none()
            };
            if let Some(found) = lines.into_iter().find(is_it) {
                return Some(found);
            }
        }
        None
    }
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
