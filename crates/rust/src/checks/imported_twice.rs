//! Names that a scope has twice because of an import: of two imports, or of an import and an item.

use std::collections::BTreeMap;

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, TextRange, ast};

use crate::finding::code::Code;
use crate::syntax::attributes::cfg_condition;
use crate::view::Context;

/// A name that is defined again.
pub(crate) struct DefinedAgain {
    pub(crate) name: String,
    pub(crate) code: Code,
    /// The import or the name of the item, of both in the order of the text.
    pub(crate) first: TextRange,
    pub(crate) second: TextRange,
}

/// Types, values and macros.
type Spaces = [bool; 3];

struct Defined {
    at: TextRange,
    is_import: bool,
    spaces: Spaces,
}

/// The names of a file that are defined again, in each module and block with imports.
pub(crate) fn imported_twice(cx: &Context<'_>, id: FileId) -> Vec<DefinedAgain> {
    let tree = cx.sema.parse_guess_edition(id);
    let imports = tree.syntax().descendants().filter_map(ast::Use::cast);
    let mut scopes: Vec<SyntaxNode> = imports.filter_map(|it| it.syntax().parent()).collect();
    scopes.dedup();
    let mut seen: Vec<SyntaxNode> = Vec::new();
    let mut found = Vec::new();
    for scope in scopes {
        if !seen.contains(&scope) {
            in_scope(cx, id, &scope, &mut found);
            seen.push(scope);
        }
    }
    found
}

fn in_scope(cx: &Context<'_>, id: FileId, scope: &SyntaxNode, found: &mut Vec<DefinedAgain>) {
    let Some(krate) = cx.sema.file_to_module_def(id).map(|it| it.krate(cx.db)) else { return };
    let is_off = |it: &ast::Item| {
        let mut conditions = it.attrs().filter_map(|it| cfg_condition(&it));
        conditions.any(|it| krate.cfg(cx.db).check(&it) == Some(false))
    };
    let mut known: BTreeMap<String, Vec<Defined>> = BTreeMap::new();
    for item in scope.children().filter_map(ast::Item::cast).filter(|it| !is_off(it)) {
        let defined: Vec<(String, Defined)> = match &item {
            ast::Item::Use(it) => it.use_tree().map(|it| leaves(&cx.sema, &it)).unwrap_or_default(),
            _ => declared(&item).into_iter().collect(),
        };
        for (name, it) in defined {
            let same = known.entry(name.clone()).or_default();
            let clashes = |before: &&Defined| {
                (before.is_import || it.is_import) && before.spaces.iter().zip(it.spaces).any(|both| *both.0 && both.1)
            };
            if let Some(before) = same.iter().find(clashes) {
                let code = if before.is_import && it.is_import { Code::E0252 } else { Code::E0255 };
                found.push(DefinedAgain { name, code, first: before.at, second: it.at });
            }
            same.push(it);
        }
    }
}

/// The names that an import gives, except names of globs and what is imported as `_`.
fn leaves(sema: &Semantics<'_, RootDatabase>, tree: &ast::UseTree) -> Vec<(String, Defined)> {
    if let Some(list) = tree.use_tree_list() {
        return list.use_trees().flat_map(|it| leaves(sema, &it)).collect();
    }
    let leaf = || {
        let path = tree.path().filter(|_| tree.star_token().is_none())?;
        let last = path.segment()?.name_ref()?;
        let name = match tree.rename() {
            Some(it) => it.name()?.text().to_string(),
            None if last.text() == "self" => {
                let around = tree.syntax().ancestors().skip(1).find_map(ast::UseTree::cast)?;
                around.path()?.segment()?.name_ref()?.text().to_string()
            }
            None => last.text().to_string(),
        };
        let meant = sema.resolve_path_per_ns(&path)?;
        // `self` in braces imports a module alone.
        let is_module = last.text() == "self";
        let spaces =
            [meant.type_ns.is_some(), meant.value_ns.is_some() && !is_module, meant.macro_ns.is_some() && !is_module];
        Some((name, Defined { at: tree.syntax().text_range(), is_import: true, spaces }))
    };
    leaf().into_iter().collect()
}

/// The name that an item declares.
fn declared(item: &ast::Item) -> Option<(String, Defined)> {
    let (name, spaces) = match item {
        ast::Item::Struct(it) => {
            let has_value = !matches!(it.kind(), ast::StructKind::Record(_));
            (it.name()?, [true, has_value, false])
        }
        ast::Item::Enum(it) => (it.name()?, [true, false, false]),
        ast::Item::Union(it) => (it.name()?, [true, false, false]),
        ast::Item::Trait(it) => (it.name()?, [true, false, false]),
        ast::Item::TypeAlias(it) => (it.name()?, [true, false, false]),
        ast::Item::Module(it) => (it.name()?, [true, false, false]),
        ast::Item::Fn(it) => (it.name()?, [false, true, false]),
        ast::Item::Const(it) => (it.name()?, [false, true, false]),
        ast::Item::Static(it) => (it.name()?, [false, true, false]),
        _ => return None,
    };
    let at = name.syntax().text_range();
    Some((name.text().to_string(), Defined { at, is_import: false, spaces }))
}
