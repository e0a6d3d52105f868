//! Where a path looks for a name: the module before it, the names that imports bring, and names that are not visible.

use ra_ap_hir::{
    Adt, AsAssocItem as _, HasVisibility as _, Module, ModuleDef, PathResolution, ScopeDef, Semantics, StructKind,
    Visibility,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, SyntaxToken, ast};

use crate::finding::code::Code;

/// The module in which a path, or an import, looks for a name.
pub(crate) fn module_before(sema: &Semantics<'_, RootDatabase>, written: SyntaxToken) -> Option<Module> {
    // The input of a macro is a path only in the expansion.
    let token = sema.descend_into_macros_exact(written).into_iter().next()?;
    let path = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?.parent_path();
    let tree = || path.syntax().parent().and_then(ast::UseTree::cast)?.parent_use_tree_list()?.parent_use_tree().path();
    match sema.resolve_path(&path.qualifier().or_else(tree)?)? {
        PathResolution::Def(ModuleDef::Module(it)) => Some(it),
        _ => None,
    }
}

/// Whether its path leads to an item of this name that is not visible.
pub(crate) fn is_there_unseen(sema: &Semantics<'_, RootDatabase>, name: &SyntaxToken) -> bool {
    let Some(module) = module_before(sema, name.clone()) else { return false };
    // An import does not bring in an item that is not visible to it.
    let is_own = |it: &ScopeDef| match it {
        ScopeDef::ModuleDef(it) => it.module(sema.db) == Some(module) || it.is_visible_from(sema.db, module),
        _ => false,
    };
    // Without a module to look from, private items count too.
    module.scope(sema.db, None).iter().any(|it| it.0.as_str() == name.text() && is_own(&it.1))
}

/// Whether its path leads to an item of this name that is not visible from the path's own module.
pub(crate) fn is_hidden_here(sema: &Semantics<'_, RootDatabase>, name: &SyntaxToken) -> bool {
    let Some(module) = module_before(sema, name.clone()) else { return false };
    let Some(from) = name.parent().and_then(|it| sema.scope(&it)).map(|it| it.module()) else { return false };
    let is_there = |from| module.scope(sema.db, from).iter().any(|it| it.0.as_str() == name.text());
    is_there(None) && !is_there(Some(from))
}

pub(crate) fn nodes_in(sema: &Semantics<'_, RootDatabase>, module: Module) -> impl Iterator<Item = SyntaxNode> + use<> {
    let source = sema.module_definition_node(module).value;
    let list = source.children().find(|it| ast::ItemList::can_cast(it.kind()));
    list.unwrap_or(source).children()
}

/// The names that a part of an import brings in; `None` for a glob.
pub(crate) fn brought_by(tree: &ast::UseTree) -> Option<Vec<String>> {
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

/// What a glob imports from. `{*}` imports from the path before the braces.
pub(crate) fn meant_by_glob<'db>(
    sema: &Semantics<'db, RootDatabase>,
    glob: &ast::UseTree,
) -> Option<PathResolution<'db>> {
    let before = || glob.parent_use_tree_list().and_then(|it| it.parent_use_tree().path());
    sema.resolve_path(&glob.path().or_else(before)?)
}

/// The code of the error if a definition is not visible.
pub(crate) fn hidden<'db>(
    sema: &Semantics<'db, RootDatabase>,
    token: &SyntaxToken,
    definition: Definition<'db>,
) -> Option<Code> {
    let from = sema.scope(&token.parent()?)?.module();
    let db = sema.db;
    let (seen, visibility) = match definition {
        Definition::Function(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Field(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Adt(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Const(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Static(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Trait(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::TypeAlias(it) => (it.is_visible_from(db, from), it.visibility(db)),
        Definition::Module(it) => (it.is_visible_from(db, from), it.visibility(db)),
        _ => return None,
    };
    if !seen {
        return Some(match definition {
            Definition::Field(_) => Code::E0616,
            Definition::Function(it) if it.as_assoc_item(db).is_some() => Code::E0624,
            _ => Code::E0603,
        });
    }
    let import = token.parent_ancestors().find_map(ast::Use::cast)?;
    let is_public = ast::HasVisibility::visibility(&import)
        .is_some_and(|it| it.syntax().text() == "pub" && visibility != Visibility::Public);
    // Tuple and unit structs are values too.
    let is_type = match definition {
        Definition::Function(_) | Definition::Const(_) | Definition::Static(_) => false,
        Definition::Adt(Adt::Struct(it)) => it.kind(db) == StructKind::Record,
        _ => true,
    };
    is_public.then_some(if is_type { Code::E0365 } else { Code::E0364 })
}
