//! Declarations of one path of which no build compiles more than one: a `cfg` selects among them. What names one of them
//! names another one in another build, so a question about one is about all.

use std::rc::Rc;

use ra_ap_ide::{FileId, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::AstNode as _;
use ra_ap_syntax::ast::HasName as _;
use rustc_hash::FxHashSet;

use super::paths;
use super::paths::containers;
use super::paths::items::{definition_of, items_named, items_of};
use super::paths::members::members_of;
use crate::names::definitions::{self, ORDINAL, plain_name};
use crate::names::instances::representative;
use crate::syntax::positions::span;
use crate::view::Context;
use crate::view::memo::Item;

/// Where alternatives are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In the file of a definition, and in what is declared more than once.
    Near,
    /// Also in other files with `impl` blocks of a type: for a question about one symbol.
    All,
}

/// A definition with those of its path that other builds compile instead of it.
pub(crate) fn with_alternatives<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    reach: Reach,
) -> Vec<Definition<'db>> {
    let mut group: Vec<Definition<'db>> =
        std::iter::once(definition).chain(alternatives(cx, definition).iter().copied()).collect();
    if reach == Reach::All {
        for it in in_other_blocks(cx, definition).iter().filter_map(|it| compiled(cx, it)) {
            if !group.contains(&it) && it != representative(cx.db, definition) {
                group.push(it);
            }
        }
    }
    group
}

/// The declarations of the same path, those that no build compiles among them.
pub(crate) fn declared_elsewhere<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Item<'db>> {
    let mut items = declared_beside(cx, definition);
    items.extend(in_other_blocks(cx, definition));
    items
}

fn alternatives<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Rc<[Definition<'db>]> {
    let definition = representative(cx.db, definition);
    if let Some(known) = cx.names.alternatives.borrow().get(&definition) {
        return known.clone();
    }
    let found: Rc<[Definition<'db>]> = look_up(cx, definition).into();
    cx.names.alternatives.borrow_mut().insert(definition, found.clone());
    found
}

fn look_up<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Definition<'db>> {
    let Some(name) = definitions::name_in_path(cx.db, definition) else { return Vec::new() };
    let mut found: Vec<Definition<'db>> =
        declared_beside(cx, definition).iter().filter_map(|it| compiled(cx, it)).collect();
    // The members of a module or type that is declared more than once.
    let container = containers::container_of(&cx.sema, definition);
    for other in container.map(|it| alternatives(cx, it)).iter().flat_map(|it| it.iter()) {
        let kind = definitions::kind_word(cx.db, definition);
        let members = members_of(cx, *other);
        let same = members.named(&name).iter().filter(|it| definitions::kind_word(cx.db, **it) == kind);
        found.extend(same.map(|it| representative(cx.db, *it)));
    }
    found.retain(|it| *it != definition);
    found
}

/// The definition of an item in any build.
fn compiled<'db>(cx: &Context<'db>, item: &Item<'db>) -> Option<Definition<'db>> {
    definition_of(&cx.sema, item).map(|it| representative(cx.db, it))
}

/// The alternatives in the same file.
fn declared_beside<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Item<'db>> {
    let repeated = || -> Option<Vec<Item<'db>>> {
        let name = definitions::name_in_path(cx.db, definition)?;
        let module = match definition {
            Definition::Module(it) => it.parent(cx.db)?,
            _ => definition.module(cx.db)?,
        };
        let id = module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db);
        if !repeated_names(cx, id)?.contains(&name) {
            return None;
        }
        let file = cx.files.get(&cx.name_of(id)?)?;
        Some(items_of(file, id, &name))
    };
    let items = repeated().unwrap_or_default();
    let Some((own, same)) = split_off(cx, definition, &items) else { return Vec::new() };
    of_path(cx, own, same.filter(|it| it.own.container == own.own.container))
}

/// The alternatives of a member of an `impl` block in other files.
fn in_other_blocks<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Item<'db>> {
    let name =
        definitions::inherent_impl_of(&cx.sema, definition).and_then(|_| definitions::name_in_path(cx.db, definition));
    let Some(name) = name else { return Vec::new() };
    let items = items_named(cx, &name);
    let Some((own, same)) = split_off(cx, definition, &items) else { return Vec::new() };
    of_path(cx, own, same.filter(|it| it.id != own.id))
}

/// The item of a definition, and the other ones of its kind.
fn split_off<'i, 'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    items: &'i [Item<'db>],
) -> Option<(&'i Item<'db>, impl Iterator<Item = &'i Item<'db>>)> {
    if items.len() < 2 {
        return None;
    }
    let at = place_of(cx, definition)?;
    let own = items.iter().find(|it| it.at() == at)?;
    Some((own, items.iter().filter(move |it| it.at() != at && it.own.kind == own.own.kind)))
}

/// Those with the path of an item of which no build compiles both.
fn of_path<'i, 'db: 'i>(
    cx: &Context<'db>,
    own: &Item<'db>,
    items: impl Iterator<Item = &'i Item<'db>>,
) -> Vec<Item<'db>> {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return Vec::new();
    }
    let (is_detached, path) = (paths::is_detached(cx, own), without_ordinals(&paths::path_of_item(cx, own)));
    let is_alternative = |it: &&Item<'db>| {
        (is_detached || paths::is_detached(cx, it)) && without_ordinals(&paths::path_of_item(cx, it)) == path
    };
    items.filter(is_alternative).cloned().collect()
}

/// Where the name of a definition is declared.
fn place_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<(FileId, usize)> {
    if let Definition::Module(it) = definition {
        // Its own place may be a file.
        let source = it.declaration_source(cx.db)?;
        let file = source.file_id.file_id()?.file_id(cx.db);
        return Some((file, span(source.value.name()?.syntax().text_range()).start));
    }
    let target = definition.try_to_nav(&cx.sema)?.call_site;
    Some((target.file_id, span(target.focus_or_full_range()).start))
}

/// The names that a file declares more than once in one container.
fn repeated_names(cx: &Context<'_>, file: FileId) -> Option<Rc<FxHashSet<String>>> {
    if let Some(known) = cx.names.repeated.borrow().get(&file) {
        return Some(known.clone());
    }
    let text = cx.files.get(&cx.name_of(file)?)?;
    let (mut seen, mut repeated) = (FxHashSet::default(), FxHashSet::default());
    text.outline().walk(&mut |it| {
        let name = plain_name(&it.name);
        if !seen.insert((it.container.as_slice(), it.kind, name)) {
            repeated.insert(name.to_owned());
        }
    });
    let repeated = Rc::new(repeated);
    cx.names.repeated.borrow_mut().insert(file, repeated.clone());
    Some(repeated)
}

/// The path without the numbers that distinguish the alternatives of its parts.
fn without_ordinals(path: &str) -> String {
    let mut parts = path.split(ORDINAL);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|it| plain.push_str(it.trim_start_matches(|it: char| it.is_ascii_digit())));
    plain
}
