//! What derive and attribute macros make of a type: it goes where what it was made of goes. And what stands in the
//! attributes that such macros read: it is code, in the functions that they make.

use ra_ap_hir::{DefWithBody, Function};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{self, HasAttrs as _};
use ra_ap_syntax::{AstNode, SyntaxNode};

use crate::lang::rust::view::Context;
use crate::model::OutlineItem;

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
        Some((attribute, adt))
    }

    /// The bodies that derive macros make of a type.
    pub(super) fn derived_bodies(&self, adt: &ast::Adt) -> Vec<DefWithBody> {
        let made = self.made_by_derives(adt).into_iter();
        let functions = made.flat_map(|it| it.descendants().collect::<Vec<_>>()).filter_map(ast::Fn::cast);
        let functions: Vec<Function> = functions.filter_map(|it| self.sema.to_def(&it)).collect();
        functions.into_iter().map(DefWithBody::from).collect()
    }
}
