//! Places that fail only through another one: names by an import, or by a glob, that is broken itself. They have to be
//! edited as well, so all of them are reported, with a mark.

use std::cell::RefCell;
use std::collections::HashMap;

use ra_ap_hir::{HasVisibility as _, Module, ModuleDef, PathResolution, ScopeDef};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, ast};

use super::cascades::{LostImports, is_lost};
use super::finding::Finding;
use crate::lang::rust::view::Context;

/// An import that means nothing any more, or may not name what it names.
struct BrokenImport {
    within: Module,
    /// What it would bring into scope; `None` is a glob.
    names: Option<Vec<String>>,
    /// Those among them that it gives another name: the import alone has to be edited.
    aliases: Vec<String>,
}

impl BrokenImport {
    fn brings(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|it| it.iter().any(|it| it == name))
    }
}

impl BrokenImports {
    pub(super) fn is_alias(&self, name: &str) -> bool {
        self.all.iter().any(|it| it.aliases.iter().any(|it| it == name))
    }
}

/// All broken imports of a change.
#[derive(Default)]
pub(super) struct BrokenImports {
    all: Vec<BrokenImport>,
    /// The modules of which a module imports all, worked out once.
    globs: RefCell<HashMap<Module, Vec<Module>>>,
}

impl<'db> Context<'db> {
    pub(super) fn note_broken_import(&self, error: &Finding, imports: &mut BrokenImports) {
        let Some(within) = self.module_around(error) else { return };
        let Some(tree) = self.use_tree_of(error) else { return };
        let renamed = tree.syntax().descendants().filter_map(ast::Rename::cast).filter_map(|it| it.name());
        let aliases = renamed.map(|it| it.text().to_string()).collect();
        imports.all.push(BrokenImport { within, names: brought_by(&tree), aliases });
    }

    /// The part of an import in which an error stands.
    pub(super) fn use_tree_of(&self, error: &Finding) -> Option<ast::UseTree> {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start))?;
        token.parent_ancestors().find_map(ast::UseTree::cast)
    }

    /// Whether a name would be there if no import was broken.
    pub(super) fn follows(&self, error: &Finding, name: &str, imports: &BrokenImports, lost: &LostImports) -> bool {
        if self.is_bare(error) && is_lost(lost, error, name) {
            return true;
        }
        let Some(own) = self.module_around(error).filter(|_| !imports.all.is_empty()) else { return false };
        self.is_bare(error) && self.comes_to(own, own, name, imports) || self.leads_through_broken(error, own, imports)
    }

    /// Whether the path to what is missed leads through a module that is to import it, and does not.
    pub(super) fn is_handed_on(&self, error: &Finding, imports: &BrokenImports) -> bool {
        let own = self.module_around(error).filter(|_| !imports.all.is_empty());
        own.is_some_and(|own| self.leads_through_broken(error, own, imports))
    }

    fn leads_through_broken(&self, error: &Finding, own: Module, imports: &BrokenImports) -> bool {
        let Some(way) = self.way_to(error).filter(|it| *it != own) else { return false };
        let name = self.text_of(error).unwrap_or_default();
        self.comes_to(way, own, name, imports)
    }

    /// Whether a broken import of this module, or of one that it imports by a glob, would bring the name. What the
    /// module around the error imports by name is known more exactly, by the scopes of its imports.
    fn comes_to(&self, module: Module, own: Module, name: &str, imports: &BrokenImports) -> bool {
        let (mut seen, mut next) = (Vec::new(), vec![module]);
        while let Some(module) = next.pop() {
            let is_it = |it: &&BrokenImport| it.within == module && it.brings(name);
            if imports.all.iter().filter(is_it).any(|it| module != own || it.names.is_none()) {
                return true;
            }
            if !seen.contains(&module) {
                seen.push(module);
                next.extend(self.globbed(module, imports));
            }
        }
        false
    }

    fn globbed(&self, module: Module, imports: &BrokenImports) -> Vec<Module> {
        if let Some(known) = imports.globs.borrow().get(&module) {
            return known.clone();
        }
        let trees = self.nodes_in(module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
        let globs = trees.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
        let modules = globs.filter_map(|it| match self.sema.resolve_path(&it)? {
            PathResolution::Def(ModuleDef::Module(it)) => Some(it),
            _ => None,
        });
        let modules: Vec<Module> = modules.collect();
        imports.globs.borrow_mut().insert(module, modules.clone());
        modules
    }

    /// The module that the path to what is missed leads through.
    fn way_to(&self, error: &Finding) -> Option<Module> {
        self.module_before(self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start))?)
    }

    /// The module in which a path, or an import, looks for a name.
    fn module_before(&self, written: SyntaxToken) -> Option<Module> {
        // The input of a macro is a path only where it is put.
        let token = self.sema.descend_into_macros_exact(written).into_iter().next()?;
        let path = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?.parent_path();
        let tree =
            || path.syntax().parent().and_then(ast::UseTree::cast)?.parent_use_tree_list()?.parent_use_tree().path();
        match self.sema.resolve_path(&path.qualifier().or_else(tree)?)? {
            PathResolution::Def(ModuleDef::Module(it)) => Some(it),
            _ => None,
        }
    }

    /// Whether something of this name is where its path looks for it, and may not be seen.
    pub(super) fn is_there_unseen(&self, name: &SyntaxToken) -> bool {
        let Some(module) = self.module_before(name.clone()) else { return false };
        // What an import may not see it does not bring either.
        let is_own = |it: &ScopeDef| match it {
            ScopeDef::ModuleDef(it) => it.module(self.db) == Some(module) || it.is_visible_from(self.db, module),
            _ => false,
        };
        // With no place to look from, what is private counts too.
        module.scope(self.db, None).iter().any(|it| it.0.as_str() == name.text() && is_own(&it.1))
    }

    /// The module in whose text an error stands, whatever macros make of it.
    pub(super) fn module_around(&self, error: &Finding) -> Option<Module> {
        let id = self.file_id(&error.place.file)?;
        let inline = self.token(id, error.place.start)?.parent_ancestors().find_map(ast::Module::cast);
        match inline {
            Some(it) => self.sema.to_def(&it),
            None => self.sema.file_to_module_def(id),
        }
    }

    pub(super) fn nodes_in(&self, module: Module) -> impl Iterator<Item = SyntaxNode> + use<> {
        let source = self.sema.module_definition_node(module).value;
        let list = source.children().find(|it| ast::ItemList::can_cast(it.kind()));
        list.unwrap_or(source).children()
    }
}

/// The names that a part of an import brings in; `None` where a glob does.
pub(super) fn brought_by(tree: &ast::UseTree) -> Option<Vec<String>> {
    if let Some(list) = tree.use_tree_list() {
        let parts: Option<Vec<Vec<String>>> = list.use_trees().map(|it| brought_by(&it)).collect();
        return parts.map(|it| it.concat());
    }
    let name = match tree.rename() {
        Some(it) => it.name().map(|it| it.text().to_string()),
        None => tree.path().and_then(|it| it.segment()?.name_ref()).map(|it| it.text().to_string()),
    };
    tree.star_token().is_none().then(|| name.into_iter().collect())
}
