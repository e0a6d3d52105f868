//! What derive and attribute macros make of a type: it goes where what it was made of goes. And what stands in the
//! attributes that such macros read: it is code, in the functions that they make.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::{Adt, DefWithBody, Function};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{self, HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode, SyntaxNode};

use super::EditContext;
use super::affected_set::ChangedSymbol;
use super::derives::type_of;
use super::finding::RawDiagnostic;
use super::unresolved::is_type;
use crate::lang::rust::delta::Delta;
use crate::lang::rust::view::Context;
use crate::model::{ChangeKind, OutlineItem, Role};
use crate::text::words::{occurrences, word_hash};

pub(super) const OF_THE_COMPILER: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// What is made of one type that is more than this is not followed.
const MAX_MADE: usize = 300;

impl<'db> Context<'db> {
    /// What macros make of a type, but for what they implement of traits.
    pub(super) fn made_of(&self, file: FileId, item: &OutlineItem) -> Vec<Definition<'db>> {
        let token = self.token(file, item.name_span.start);
        // The type itself may be what an attribute makes of it: the one that is written is asked for.
        let Some(adt) = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast)) else { return Vec::new() };
        let by_attributes = self.sema.expand_attr_macro(&adt.clone().into()).map(|it| it.value.value);
        let mut found = Vec::new();
        for expansion in self.made_by_derives(&adt).into_iter().chain(by_attributes) {
            self.named_in(&expansion, &mut found);
        }
        if found.len() > MAX_MADE { Vec::new() } else { found }
    }

    /// What derive macros make, but for those of the compiler.
    pub(super) fn made_by_derives(&self, adt: &ast::Adt) -> Vec<SyntaxNode> {
        let metas = adt.attrs().filter_map(|it| it.meta());
        let made = metas.filter_map(|it| self.sema.expand_derive_macro(&it)).flatten().flatten();
        made.map(|it| it.value).collect()
    }

    fn named_in(&self, node: &SyntaxNode, found: &mut Vec<Definition<'db>>) {
        for item in node.children() {
            if let Some(block) = ast::Impl::cast(item.clone()) {
                let members = block.assoc_item_list().filter(|_| block.trait_().is_none());
                members.into_iter().for_each(|it| self.named_in(it.syntax(), found));
            } else if let Some(module) = ast::Module::cast(item.clone()) {
                module.item_list().into_iter().for_each(|it| self.named_in(it.syntax(), found));
            } else if let Some(it) = ast::Fn::cast(item.clone()) {
                found.extend(self.sema.to_def(&it).map(Definition::Function));
            } else if let Some(it) = ast::Const::cast(item.clone()) {
                found.extend(self.sema.to_def(&it).map(Definition::Const));
            } else if let Some(it) = ast::Static::cast(item.clone()) {
                found.extend(self.sema.to_def(&it).map(Definition::Static));
            } else if let Some(it) = ast::Trait::cast(item.clone()) {
                found.extend(self.sema.to_def(&it).map(Definition::Trait));
            } else if let Some(it) = ast::Adt::cast(item.clone()) {
                found.extend(self.sema.to_def(&it).map(Definition::Adt));
                let variants = item.descendants().filter_map(ast::Variant::cast);
                found.extend(variants.filter_map(|it| self.sema.to_def(&it)).map(Definition::EnumVariant));
            }
        }
    }

    /// The attribute of a type, or of a part of it, that an offset stands in, with the type.
    pub(super) fn attribute_at(&self, file: FileId, offset: usize) -> Option<(ast::Attr, ast::Adt)> {
        let token = self.token(file, offset)?;
        let attribute = token.parent_ancestors().find_map(ast::Attr::cast)?;
        let adt = attribute.syntax().ancestors().find_map(ast::Adt::cast)?;
        // The first one stands for all.
        Some((adt.attrs().next().unwrap_or(attribute), adt))
    }

    /// Whether what is anchored there is what derive macros make.
    pub(super) fn is_of_made(&self, file: &str, offset: usize) -> bool {
        self.files.get(file).is_some_and(|it| it.text.as_bytes().get(offset) == Some(&b'#'))
    }

    /// The anchors of what derive macros make of types that change, that hold what changes, or whose attributes name it.
    pub(super) fn made_anew(
        &self,
        scene: &EditContext,
        deltas: &[(usize, Delta<'_>)],
        causes: &[ChangedSymbol<'_>],
    ) -> BTreeSet<(Arc<str>, usize)> {
        let mut places: BTreeSet<(FileId, usize)> = BTreeSet::new();
        for (index, delta) in deltas.iter().filter(|it| it.1.kind != ChangeKind::Body) {
            let file = &scene.olds[*index];
            let of = delta.before.or(delta.after).and_then(|it| type_of(file.outline(), it));
            places.extend(self.file_id(&file.path).zip(of.map(|it| it.name_span.start)));
        }
        for cause in causes {
            for it in cause.occurrences.iter().filter(|it| it.role == Role::Type) {
                let around = it.file.outline().enclosing(it.at.start);
                let own = around.into_iter().find(|it| is_type(it.kind));
                places.extend(own.map(|own| (it.id, own.name_span.start)));
            }
            if cause.is_itself {
                let module = cause.path.rsplit("::").nth(1);
                for name in [Some(cause.name.as_str()), module].into_iter().flatten() {
                    self.told_in_attributes(name, &mut places);
                }
            }
        }
        let mut found = BTreeSet::new();
        for (id, at) in places {
            let token = self.token(id, at);
            let Some(adt) = token.and_then(|it| it.parent_ancestors().find_map(ast::Adt::cast)) else { continue };
            let Some(anchor) = made_anchor(&adt) else { continue };
            // Of what was not understood before nothing can be said.
            let is_understood = match self.index.errors(id).filter(|it| it.made.contains(&anchor)) {
                Some(known) => !known.bodies.contains_key(&anchor),
                None => self.derived_bodies(&adt).into_iter().all(|it| self.errors_in(it, true).is_empty()),
            };
            found.extend(self.name_of(id).filter(|_| is_understood).map(|it| (Arc::from(it), anchor)));
        }
        found
    }

    /// The types in whose attributes a text ends with this name: `default = "path::name"`.
    pub(super) fn told_in_attributes(&self, name: &str, places: &mut BTreeSet<(FileId, usize)>) {
        let files = self.index.postings().files(word_hash(name)).to_vec();
        for (id, file) in files.into_iter().filter_map(|id| Some((id, self.file(id)?))) {
            let ends = |at: &usize| file.text.get(at + name.len()..).is_some_and(|it| it.starts_with('"'));
            for at in occurrences(&file.text, name).filter(ends) {
                let adt = self.attribute_at(id, at).and_then(|it| it.1.name());
                places.extend(adt.map(|it| (id, it.syntax().text_range().start().into())));
            }
        }
    }

    /// Whether all that is known of a place is which derive macro made it.
    pub(super) fn is_at_derive(&self, told: &RawDiagnostic) -> bool {
        let attribute = self.token(told.file, told.range.start().into());
        let attribute = attribute.and_then(|it| it.parent_ancestors().find_map(ast::Attr::cast));
        attribute.is_some_and(|it| it.simple_name().is_some_and(|it| it == "derive"))
    }

    pub(super) fn derives_more(&self, adt: Adt) -> bool {
        self.sema.source(adt).is_some_and(|it| derives_more(&it.value))
    }

    /// The bodies that derive macros make of a type.
    pub(super) fn derived_bodies(&self, adt: &ast::Adt) -> Vec<DefWithBody> {
        let made = self.made_by_derives(adt).into_iter();
        let functions = made.flat_map(|it| it.descendants().collect::<Vec<_>>()).filter_map(ast::Fn::cast);
        let functions: Vec<Function> = functions.filter_map(|it| self.sema.to_def(&it)).collect();
        functions.into_iter().map(DefWithBody::from).collect()
    }
}

/// What stands for what derive macros make of a type, if others than the compiler's do.
pub(super) fn made_anchor(adt: &ast::Adt) -> Option<usize> {
    let first = adt.attrs().next().filter(|_| derives_more(adt))?;
    Some(first.syntax().text_range().start().into())
}

fn derives_more(adt: &ast::Adt) -> bool {
    let derives = adt.attrs().filter(|it| it.simple_name().is_some_and(|it| it == "derive"));
    derives.into_iter().any(|it| {
        let text = it.syntax().text().to_string();
        let list = text.split_once('(').map_or("", |it| it.1).trim_end_matches([')', ']']);
        list.split(',').any(|it| !it.trim().is_empty() && !OF_THE_COMPILER.contains(&it.trim()))
    })
}
