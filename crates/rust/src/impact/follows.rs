//! Places that fail only because of another place: names from a broken import or glob. They have to be edited as well,
//! so all of them are reported, with a mark.

use ra_ap_hir::{Module, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, ast};

use super::broken_imports::{BrokenImport, BrokenImports, UnresolvedImports};
use super::cascades;
use super::cascades::is_unresolved;
use crate::checks::lookup::{brought_by, module_before, nodes_in};
use crate::finding::Finding;
use crate::syntax::positions;
use crate::view::Context;

/// `keeps_aliases`: the symbol that the import gives an alias still exists, under a new name.
pub(crate) fn note_broken_import(cx: &Context<'_>, error: &Finding, keeps_aliases: bool, imports: &mut BrokenImports) {
    let Some(within) = module_around(cx, error) else { return };
    let Some(tree) = use_tree_of(cx, error) else { return };
    let renamed = tree.syntax().descendants().filter(|_| keeps_aliases).filter_map(ast::Rename::cast);
    let renamed = renamed.filter_map(|it| it.name());
    let aliases = renamed.map(|it| it.text().to_string()).collect();
    imports.all.push(BrokenImport { within, names: brought_by(&tree), aliases });
}

/// The part of an import that contains an error.
pub(crate) fn use_tree_of(cx: &Context<'_>, error: &Finding) -> Option<ast::UseTree> {
    let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start))?;
    token.parent_ancestors().find_map(ast::UseTree::cast)
}

/// Whether a name would be resolved if no import was broken.
pub(crate) fn follows(
    cx: &Context<'_>,
    error: &Finding,
    name: &str,
    imports: &BrokenImports,
    lost: &UnresolvedImports,
) -> bool {
    if cascades::is_bare(cx, error) && is_unresolved(lost, error, name) {
        return true;
    }
    let Some(own) = module_around(cx, error).filter(|_| !imports.all.is_empty()) else { return false };
    cascades::is_bare(cx, error) && comes_to(&cx.sema, own, own, name, imports)
        || leads_through_broken(cx, error, own, imports)
}

/// Whether the path to the unresolved name contains a module whose import of it is broken.
pub(crate) fn is_handed_on(cx: &Context<'_>, error: &Finding, imports: &BrokenImports) -> bool {
    let own = module_around(cx, error).filter(|_| !imports.all.is_empty());
    own.is_some_and(|own| leads_through_broken(cx, error, own, imports))
}

fn leads_through_broken(cx: &Context<'_>, error: &Finding, own: Module, imports: &BrokenImports) -> bool {
    let Some(way) = way_to(cx, error).filter(|it| *it != own) else { return false };
    let name = cascades::text_of(cx, error).unwrap_or_default();
    comes_to(&cx.sema, way, own, name, imports)
}

/// Whether a broken import of this module, or of one that it imports by a glob, would bring in the name. For the module
/// around the error, the scopes of its imports are more precise.
fn comes_to(
    sema: &Semantics<'_, RootDatabase>,
    module: Module,
    own: Module,
    name: &str,
    imports: &BrokenImports,
) -> bool {
    let (mut seen, mut next) = (Vec::new(), vec![module]);
    while let Some(module) = next.pop() {
        let is_it = |it: &&BrokenImport| it.within == module && it.brings(name);
        if imports.all.iter().filter(is_it).any(|it| module != own || it.names.is_none()) {
            return true;
        }
        if !seen.contains(&module) {
            seen.push(module);
            next.extend(globbed(sema, module, imports));
        }
    }
    false
}

fn globbed(sema: &Semantics<'_, RootDatabase>, module: Module, imports: &BrokenImports) -> Vec<Module> {
    if let Some(known) = imports.globs.borrow().get(&module) {
        return known.clone();
    }
    let trees = nodes_in(sema, module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
    let globs = trees.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
    let modules = globs.filter_map(|it| match sema.resolve_path(&it)? {
        PathResolution::Def(ModuleDef::Module(it)) => Some(it),
        _ => None,
    });
    let modules: Vec<Module> = modules.collect();
    imports.globs.borrow_mut().insert(module, modules.clone());
    modules
}

/// The module that precedes the unresolved name in its path.
fn way_to(cx: &Context<'_>, error: &Finding) -> Option<Module> {
    module_before(
        &cx.sema,
        cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start))?,
    )
}

/// The module whose text contains an error, regardless of macros.
pub(crate) fn module_around(cx: &Context<'_>, error: &Finding) -> Option<Module> {
    let id = cx.file_id(&error.place.file)?;
    let inline = positions::token(&cx.sema, id, error.place.start)?.parent_ancestors().find_map(ast::Module::cast);
    match inline {
        Some(it) => cx.sema.to_def(&it),
        None => cx.sema.file_to_module_def(id),
    }
}
