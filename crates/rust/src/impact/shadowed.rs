//! Calls that a new member of a type takes from a trait, or from what the type dereferences to: it has the same name, and
//! the compiler finds it first.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ra_ap_hir::{Adt, AssocItemContainer, Trait};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, Edition, SourceFile, ast};

use super::delta::Delta;
use super::edit_context::EditContext;
use crate::LANGUAGE;
use crate::checks::{anchors, bounds};
use crate::index::file_names::StoredResolution;
use crate::names::definitions::as_assoc_item;
use crate::names::instances::blocks_of_trait;
use crate::resolve::paths::items::definition_of_path;
use crate::syntax::positions::tokens_at;
use crate::usages::names_now;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::OutlineItem;

/// Adds the bodies with such calls, in the state before.
pub(crate) fn add_bodies(
    cx: &Context<'_>,
    edit: &EditContext,
    deltas: &[(usize, Delta<'_>)],
    bodies_by_ref: &mut BTreeSet<(Arc<str>, usize)>,
) {
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let of_file = deltas.iter().filter(|it| it.0 == index && it.1.brings_name()).filter_map(|it| it.1.after);
        let mut members = of_file.filter(|it| !it.container.is_empty()).peekable();
        if members.peek().is_none() {
            continue;
        }
        let tree = SourceFile::parse(&new.text, Edition::CURRENT).tree();
        for item in members {
            let Some(adt) = block_of(&tree, item).and_then(|it| adt_of(cx, old, &it)) else { continue };
            let mut types = Types { cx, adt, by_trait: HashMap::new() };
            for file in cx.files.of(LANGUAGE) {
                bodies_by_ref.extend(types.bodies_with_calls(file, &item.name).map(|it| (file.path.clone(), it)));
            }
        }
    }
}

/// The type that the block around an item names, if the item is a member of an inherent implementation.
fn block_of(tree: &SourceFile, item: &OutlineItem) -> Option<ast::Path> {
    let token = tokens_at(tree.syntax(), item.name_span.start).right_biased()?;
    let member = token.parent_ancestors().find_map(ast::AssocItem::cast)?;
    let block = member.syntax().parent().and_then(|it| it.parent()).and_then(ast::Impl::cast)?;
    match block.self_ty().filter(|_| block.trait_().is_none())? {
        ast::Type::PathType(it) => it.path(),
        _ => None,
    }
}

fn adt_of(cx: &Context<'_>, old: &File, path: &ast::Path) -> Option<Adt> {
    let tree = cx.sema.parse_guess_edition(cx.file_id(&old.path)?);
    match definition_of_path(&cx.sema, tree.syntax(), path)? {
        Definition::Adt(it) => Some(it),
        _ => None,
    }
}

/// What is known of the type that gets a member.
struct Types<'a, 'db> {
    cx: &'a Context<'db>,
    adt: Adt,
    by_trait: HashMap<Trait, bool>,
}

impl Types<'_, '_> {
    /// The bodies of a file that call what has this name and may mean the new member then.
    fn bodies_with_calls<'f>(&'f mut self, file: &'f File, name: &'f str) -> impl Iterator<Item = usize> + 'f {
        let (cx, id) = (self.cx, self.cx.file_id(&file.path));
        let names = OnceCell::new();
        let places = id.into_iter().flat_map(|id| file.words().offsets(&file.text, name).map(move |at| (id, at)));
        places.filter_map(move |(id, at)| {
            let before = file.text[..at].trim_end();
            let is_called = before.ends_with('.');
            if !is_called && !before.ends_with("::") {
                return None;
            }
            let mut meanings = names.get_or_init(|| names_now(cx, id)).at(at).filter_map(|it| match it.0 {
                StoredResolution::Means(it) => Some(it.original.definition()),
                StoredResolution::Unresolved(_) => None,
            });
            let is_taken = meanings.any(|it| self.may_be_taken(it, is_called));
            anchors::anchor(&cx.sema, file, id, at).filter(|_| is_taken)
        })
    }

    /// Whether the name of this definition may mean the new member.
    fn may_be_taken(&mut self, named: Definition<'_>, is_called: bool) -> bool {
        let db = self.cx.db;
        let Some(item) = as_assoc_item(named, db) else { return false };
        match item.container(db) {
            AssocItemContainer::Trait(of) => {
                let (cx, adt) = (self.cx, self.adt);
                *self.by_trait.entry(of).or_insert_with(|| implements(cx, adt, of))
            }
            // Another type's, which this one may dereference to.
            AssocItemContainer::Impl(it) => {
                is_called && it.self_ty(db).as_adt() != Some(self.adt) && self.adt.ty(db).autoderef(db).nth(1).is_some()
            }
        }
    }
}

/// Whether a type, or a reference to it, implements a trait.
fn implements(cx: &Context<'_>, adt: Adt, of: Trait) -> bool {
    let has_block = || {
        let mut blocks = blocks_of_trait(cx.db, of).into_iter();
        blocks.any(|it| it.self_ty(cx.db).strip_references().as_adt() == Some(adt))
    };
    bounds::implements(cx.db, &adt.ty(cx.db), of, &[]) || has_block()
}
