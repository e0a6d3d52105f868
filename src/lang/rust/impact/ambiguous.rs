//! Types of a trait that means nothing any more, in the heads of an implementation's functions. Where the block has
//! parameters of its own the compiler looks what other trait may be meant, and misses it.

use ra_ap_syntax::ast::{self, HasGenericParams as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::Scene;
use super::reach::Reach;
use crate::lang::rust::view::Context;
use crate::model::Diagnostic;

impl<'db> Context<'db> {
    pub(super) fn ambiguous_types(&self, reach: &Reach<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for it in reach.causes.iter().filter(|it| it.is_itself).flat_map(|it| &it.occurrences) {
            let start = scene.moved(&it.file.path, it.at.start);
            let Some(token) = start.and_then(|start| self.token(it.id, start)) else { continue };
            // The innermost item, so that it is named in the head.
            let around = token.parent_ancestors().find_map(ast::Item::cast);
            let Some(ast::Item::Impl(block)) = around.filter(has_parameters) else { continue };
            let Some(ast::Type::PathType(of)) = block.trait_() else { continue };
            let is_of_it = of.syntax().text_range().contains_range(token.text_range());
            if is_of_it && of.path().is_some_and(|it| self.sema.resolve_path(&it).is_none()) {
                let items = block.assoc_item_list().into_iter().flat_map(|it| it.assoc_items());
                found.extend(items.flat_map(|it| self.ambiguous_in(&it)));
            }
        }
        found
    }

    fn ambiguous_in(&self, item: &ast::AssocItem) -> Vec<Diagnostic> {
        let ast::AssocItem::Fn(function) = item else { return Vec::new() };
        let parameters = function.param_list().into_iter().flat_map(|it| it.params()).filter_map(|it| it.ty());
        let types = parameters.chain(function.ret_type().and_then(|it| it.ty()));
        let nodes = types.flat_map(|it| it.syntax().descendants().collect::<Vec<_>>());
        let of_self = nodes.filter(is_of_self).filter_map(|it| self.place(self.told_range(&it)));
        of_self.map(|at| self.error(at, "E0223", "ambiguous associated type".to_owned())).collect()
    }
}

fn has_parameters(item: &ast::Item) -> bool {
    let list = ast::AnyHasGenericParams::cast(item.syntax().clone()).and_then(|it| it.generic_param_list());
    list.is_some_and(|it| it.generic_params().next().is_some())
}

/// Whether a type is `Self::Name`.
fn is_of_self(node: &SyntaxNode) -> bool {
    let path = ast::PathType::cast(node.clone()).and_then(|it| it.path());
    let qualifier = path.and_then(|it| it.qualifier()).filter(|it| it.qualifier().is_none());
    qualifier.is_some_and(|it| it.syntax().text() == "Self")
}
