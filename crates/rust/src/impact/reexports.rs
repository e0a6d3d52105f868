//! The names that the imports of an edited file bring in before a change, and not after it, by the same name and with
//! the same visibility.

use std::cell::OnceCell;
use std::collections::HashSet;

use ra_ap_hir::{Adt, Module, ModuleDef, PathResolution, ScopeDef};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SourceFile, SyntaxNode, ast};

use super::edit_context::EditContext;
use crate::names::instances;
use crate::view::Context;

/// The most names from a glob that are searched for.
const MAX_BROUGHT: usize = 512;

/// One leaf of an import, by its properties.
#[derive(Debug, Clone, Default)]
struct Import {
    /// The inline modules around it.
    within: Vec<String>,
    condition: String,
    visibility: String,
    path: String,
    /// The imported name or alias; `None` for a glob.
    name: Option<String>,
}

enum Written {
    Use(ast::UseTree),
    ExternCrate(ast::ExternCrate),
}

impl Import {
    /// Whether code that finds an item through `other` finds it through this import too.
    fn covers(&self, other: &Import) -> bool {
        self.within == other.within
            && self.path == other.path
            && self.name == other.name
            && (self.condition.is_empty() || self.condition == other.condition)
            && (self.visibility == "pub" || self.visibility == other.visibility)
    }
}

/// What an import brought in, with the files that may find it through the import. `None`: any file.
pub(crate) type NoMoreImported<'db> = (Definition<'db>, Option<HashSet<FileId>>);

/// What the old text's imports bring in and no import of the new text brings in in the same way.
pub(crate) fn no_more_imported<'db>(cx: &Context<'db>, edit: &EditContext) -> Vec<NoMoreImported<'db>> {
    let mut gone: Vec<NoMoreImported<'db>> = Vec::new();
    for (index, (old, new)) in edit.olds.iter().zip(&edit.news).enumerate() {
        let is_read = !edit.scope_changes[index].is_empty() && !old.is_too_deep() && !new.is_too_deep();
        let Some(id) = cx.file_id(&old.path).filter(|_| is_read) else { continue };
        let after = SourceFile::parse(&new.text, Edition::CURRENT).tree();
        let kept = imports_of(after.syntax());
        let below = OnceCell::new();
        for (import, written) in imports_of(cx.sema.parse_guess_edition(id).syntax()) {
            if kept.iter().any(|it| it.0.covers(&import)) {
                continue;
            }
            // A private import is for its module and the modules below.
            let is_private = import.visibility.is_empty() && matches!(written, Written::Use(_));
            let files = is_private.then(|| below.get_or_init(|| files_below(cx, id)));
            for it in brought(cx, &import, &written) {
                match gone.iter_mut().find(|known| known.0 == it) {
                    Some(known) => match (&mut known.1, files) {
                        (Some(known), Some(files)) => known.extend(files),
                        (known, _) => *known = None,
                    },
                    None => gone.push((it, files.cloned())),
                }
            }
        }
    }
    gone
}

/// A file and those of the modules below its own, in all crates and builds.
fn files_below(cx: &Context<'_>, id: FileId) -> HashSet<FileId> {
    let mut files = HashSet::from([id]);
    let mut add_all = |cx: &Context<'_>| {
        let mut left: Vec<Module> = cx.sema.file_to_module_defs(id).collect();
        while let Some(module) = left.pop() {
            let source = module.definition_source_file_id(cx.db).file_id();
            files.extend(source.map(|it| it.file_id(cx.db)));
            left.extend(module.children(cx.db));
        }
    };
    add_all(cx);
    for &krate in instances::further_owners(cx.db, id).iter() {
        cx.in_instance(id, krate, &mut add_all);
    }
    files
}

fn imports_of(file: &SyntaxNode) -> Vec<(Import, Written)> {
    let mut found = Vec::new();
    collect(file, &[], &mut found);
    found
}

/// The imports of a module and of its inline modules, without imports in bodies.
fn collect(items: &SyntaxNode, within: &[String], found: &mut Vec<(Import, Written)>) {
    for node in items.children() {
        if let Some(module) = ast::Module::cast(node.clone()) {
            if let Some(list) = module.item_list() {
                let name = ast::HasName::name(&module).map(|it| it.text().to_string());
                let within: Vec<String> = within.iter().cloned().chain(name).collect();
                collect(list.syntax(), &within, found);
            }
        } else if let Some(import) = ast::Use::cast(node.clone()) {
            let head = head(&import, within);
            for tree in import.syntax().descendants().filter_map(ast::UseTree::cast) {
                if tree.use_tree_list().is_none() {
                    found.push((of_tree(&tree, &head), Written::Use(tree)));
                }
            }
        } else if let Some(of) = ast::ExternCrate::cast(node) {
            let path = of.name_ref().map(|it| it.text().to_string()).unwrap_or_default();
            let name = of.rename().map(|it| written(it.syntax())).or_else(|| Some(path.clone()));
            found.push((Import { path, name, ..head(&of, within) }, Written::ExternCrate(of)));
        }
    }
}

/// The properties of an import apart from its target.
fn head(import: &(impl ast::HasAttrs + ast::HasVisibility), within: &[String]) -> Import {
    let attributes = import.attrs().map(|it| written(it.syntax()));
    let condition: Vec<String> = attributes.filter(|it| it.starts_with("#[cfg")).collect();
    let visibility = import.visibility().map(|it| written(it.syntax())).unwrap_or_default();
    Import { within: within.to_vec(), condition: condition.concat(), visibility, ..Import::default() }
}

fn of_tree(tree: &ast::UseTree, head: &Import) -> Import {
    let around = tree.syntax().ancestors().filter_map(ast::UseTree::cast);
    let mut path: Vec<String> = around.filter_map(|it| Some(written(it.path()?.syntax()))).collect();
    path.reverse();
    if path.len() > 1 && path.last().is_some_and(|it| it == "self") {
        path.pop();
    }
    let path = path.join("::");
    let name = match tree.rename() {
        _ if tree.star_token().is_some() => None,
        Some(it) => Some(written(it.syntax())),
        None => Some(format!("as{}", path.rsplit("::").next().unwrap_or_default())),
    };
    Import { path, name, ..head.clone() }
}

/// The text of a node without white space and comments.
fn written(node: &SyntaxNode) -> String {
    let tokens = node.descendants_with_tokens().filter_map(NodeOrToken::into_token);
    tokens.filter(|it| !it.kind().is_trivia()).map(|it| it.text().to_owned()).collect()
}

/// The targets of a part of an import. Modules, and what a glob brings in, are named too often to be searched for if
/// the import is private.
fn brought<'db>(cx: &Context<'db>, import: &Import, written: &Written) -> Vec<Definition<'db>> {
    let is_handed_on = !import.visibility.is_empty();
    let tree = match written {
        Written::Use(tree) => tree,
        Written::ExternCrate(it) => return cx.sema.to_def(it).map(Definition::ExternCrateDecl).into_iter().collect(),
    };
    let mut found = match import.name {
        None if is_handed_on => brought_by_glob(cx, tree).unwrap_or_default(),
        None => Vec::new(),
        Some(_) => brought_by_name(cx, tree),
    };
    found.retain(|it| match it {
        Definition::Module(it) => is_handed_on && !it.is_crate_root(cx.db),
        _ => true,
    });
    found
}

fn brought_by_name<'db>(cx: &Context<'db>, tree: &ast::UseTree) -> Vec<Definition<'db>> {
    let Some(meant) = tree.path().and_then(|it| cx.sema.resolve_path_per_ns(&it)) else { return Vec::new() };
    let all = [meant.type_ns, meant.value_ns, meant.macro_ns].into_iter().flatten();
    all.filter(|it| matches!(it, PathResolution::Def(_))).map(Definition::from).collect()
}

fn brought_by_glob<'db>(cx: &Context<'db>, tree: &ast::UseTree) -> Option<Vec<Definition<'db>>> {
    let path = tree.path().or_else(|| tree.parent_use_tree_list()?.parent_use_tree().path())?;
    let own: Module = cx.sema.scope(tree.syntax())?.module();
    Some(match cx.sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::Module(of)) => {
            let seen = of.scope(cx.db, Some(own)).into_iter().filter_map(|it| match it.1 {
                ScopeDef::ModuleDef(it) => Some(Definition::from(it)),
                _ => None,
            });
            seen.take(MAX_BROUGHT).collect()
        }
        PathResolution::Def(ModuleDef::Adt(Adt::Enum(of))) => {
            of.variants(cx.db).into_iter().map(Definition::EnumVariant).collect()
        }
        _ => Vec::new(),
    })
}
