//! Declarations of one path of which no build compiles more than one: a `cfg` selects among them. What names one of them
//! names another one in another build, so a question about one is about all.

use std::rc::Rc;

use ra_ap_ide::{FileId, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::AstNode as _;
use ra_ap_syntax::ast::HasName as _;
use rustc_hash::FxHashSet;

use super::paths;
use super::paths::items::{definition_of, items_of};
use super::paths::members::members_of;
use crate::names::definitions::{self, ORDINAL, plain_name};
use crate::names::instances::representative;
use crate::syntax::positions::span;
use crate::view::Context;
use crate::view::memo::Item;

/// A definition with those of its path that other builds compile instead of it.
pub(crate) fn with_alternatives<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Definition<'db>> {
    std::iter::once(definition).chain(alternatives(cx, definition).iter().copied()).collect()
}

fn alternatives<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Rc<[Definition<'db>]> {
    let definition = representative(cx.db, definition);
    if let Some(known) = cx.names.alternatives.borrow().get(&definition) {
        return known.clone();
    }
    // A container may be asked for again while its own ones are looked up.
    cx.names.alternatives.borrow_mut().insert(definition, Rc::default());
    let found: Rc<[Definition<'db>]> = look_up(cx, definition).into();
    cx.names.alternatives.borrow_mut().insert(definition, found.clone());
    found
}

fn look_up<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Definition<'db>> {
    let Some(name) = definitions::name_in_path(cx.db, definition) else { return Vec::new() };
    let beside = declared_beside(cx, definition).into_iter().filter_map(|it| definition_of(&cx.sema, &it));
    let mut found: Vec<Definition<'db>> = beside.map(|it| representative(cx.db, it)).collect();
    // The members of a module or type that is declared more than once.
    let container = definitions::container_of(&cx.sema, definition);
    for other in container.map(|it| alternatives(cx, it)).iter().flat_map(|it| it.iter()) {
        let kind = definitions::kind_word(cx.db, definition);
        let members = members_of(cx, *other);
        let same = members.named(&name).iter().filter(|it| definitions::kind_word(cx.db, **it) == kind);
        found.extend(same.map(|it| representative(cx.db, *it)));
    }
    found.retain(|it| *it != definition);
    found
}

/// The alternatives in the same file, those that no build compiles among them.
pub(crate) fn declared_beside<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Vec<Item<'db>> {
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
    let Some(items) = repeated() else { return Vec::new() };
    let Some(own) = items.iter().find(|it| is_item_of(cx, it, definition)) else { return Vec::new() };
    let same = items
        .iter()
        .filter(|it| it.at() != own.at() && it.own.kind == own.own.kind && it.own.container == own.own.container);
    let (is_detached, path) = (paths::is_detached(cx, own), without_ordinals(&paths::path_of_item(cx, own)));
    let is_alternative = |it: &&Item<'db>| {
        (is_detached || paths::is_detached(cx, it)) && without_ordinals(&paths::path_of_item(cx, it)) == path
    };
    same.filter(is_alternative).cloned().collect()
}

fn is_item_of<'db>(cx: &Context<'db>, item: &Item<'db>, definition: Definition<'db>) -> bool {
    let at = match definition {
        // Its own place may be a file.
        Definition::Module(it) => {
            it.declaration_source(cx.db).and_then(|it| Some(it.value.name()?.syntax().text_range()))
        }
        _ => definition.try_to_nav(&cx.sema).map(|it| it.call_site.focus_or_full_range()),
    };
    at.is_some_and(|it| span(it).start == item.own.name_span.start)
}

/// The names that a file declares more than once.
fn repeated_names(cx: &Context<'_>, file: FileId) -> Option<Rc<FxHashSet<String>>> {
    if let Some(known) = cx.names.repeated.borrow().get(&file) {
        return Some(known.clone());
    }
    let text = cx.files.get(&cx.name_of(file)?)?;
    let (mut seen, mut repeated) = (FxHashSet::default(), FxHashSet::default());
    text.outline().walk(&mut |it| {
        let name = plain_name(&it.name);
        if !seen.insert(name) {
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
