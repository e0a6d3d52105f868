//! Which imports of a text are unused, and which unresolved names exactly one import would fix. In case of doubt an
//! import or a name is left alone: nothing here may be wrong.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ra_ap_hir::{ModPath, Module, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_ide_db::helpers::mod_path_to_ast;
use ra_ap_ide_db::imports::import_assets::{ImportAssets, ImportPathConfig};
use ra_ap_ide_db::imports::insert_use::{
    ImportGranularity, ImportScope, ImportScopeKind, InsertUseConfig, PrefixKind, insert_use_with_editor,
};
use ra_ap_syntax::ast::make::path_from_text;
use ra_ap_syntax::ast::{HasAttrs as _, HasName as _, HasVisibility as _};
use ra_ap_syntax::syntax_editor::SyntaxEditor;
use ra_ap_syntax::{AstNode as _, Edition, SyntaxKind, SyntaxNode, TextRange, ast};

use crate::finding::file_errors::UnusedImports;
use crate::resolve::symbols;
use crate::syntax::nesting::too_deep;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::{Diagnostic, Severity};
use semdex_text::words::WordTable;

/// The most macro expansions that are checked; with more, no import is reported as unused.
const MOST_EXPANSIONS: usize = 4000;

const PATHS: ImportPathConfig =
    ImportPathConfig { prefer_no_std: false, prefer_prelude: false, prefer_absolute: false };

const INSERT: InsertUseConfig = InsertUseConfig {
    granularity: ImportGranularity::Module,
    enforce_granularity: false,
    prefix_kind: PrefixKind::ByCrate,
    group: true,
    skip_glob_imports: true,
};

/// The unused imports of a file.
pub(crate) fn unused_imports(cx: &Context<'_>, file: &File) -> UnusedImports {
    let Some(id) = cx.file_id(&file.path) else { return UnusedImports::default() };
    let mut unused = UnusedImports::default();
    let found = unused_leaves(cx, file, id, &mut unused).into_iter().map(|it| {
        let at = span(it.syntax().text_range());
        Diagnostic {
            place: file.lines().place(&file.path, at),
            severity: Severity::Warning,
            code: Some("unused_imports".to_owned()),
            message: format!("unused import: `{}`", written(&it)),
            source: "rust-analyzer".to_owned(),
            symbol: symbols::enclosing_path(cx, file, id, at.start),
            confirmed: None,
            build: None,
        }
    });
    unused.found = found.collect();
    unused
}

pub(crate) fn without_unused(cx: &Context<'_>, name: &str) -> Option<Arc<str>> {
    let (file, id) = (cx.files.get(name)?, cx.file_id(name)?);
    let unused = unused_leaves(cx, file, id, &mut UnusedImports::default());
    let root = unused.first()?.syntax().ancestors().last()?;
    let (editor, _) = SyntaxEditor::new(root);
    for leaf in &unused {
        editor.delete(leaf.syntax());
    }
    for leaf in &unused {
        leaf.clone().remove_recursive(&editor);
    }
    Some(as_written(file, &editor.finish().new_root().to_string()))
}

pub(crate) fn with_missing(cx: &Context<'_>, name: &str) -> Option<Arc<str>> {
    let (file, id) = (cx.files.get(name)?, cx.file_id(name)?);
    let tree = cx.sema.parse_guess_edition(id);
    let mut wanted: BTreeSet<(Reverse<usize>, ModPath)> = BTreeSet::new();
    for node in tree.syntax().descendants() {
        let Some(path) = missing_import(&cx.sema, &node) else { continue };
        let Some(scope) = ImportScope::find_insert_use_container(&node, &cx.sema) else { continue };
        wanted.insert((Reverse(span(scope.as_syntax_node().text_range()).start), path));
    }
    if wanted.is_empty() {
        return None;
    }
    // The assist adds one import at a time. It starts at the end, so that earlier scopes keep their positions.
    let mut text = tree.syntax().text().to_string();
    for (Reverse(at), path) in wanted {
        text = inserted(&text, at, &path)?;
    }
    Some(as_written(file, &text))
}

/// The only import that would resolve a name or method.
fn missing_import(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Option<ModPath> {
    let assets = if let Some(path) = ast::Path::cast(node.clone()) {
        let is_import = path.syntax().ancestors().any(|it| ast::Use::can_cast(it.kind()));
        let is_known = || sema.resolve_path(&path).is_some();
        if path.qualifier().is_some() || is_import || !may_be_imported(&path) || is_known() {
            return None;
        }
        ImportAssets::for_exact_path(&path, sema)?
    } else {
        let call = ast::MethodCallExpr::cast(node.clone())?;
        if sema.resolve_method_call(&call).is_some() {
            return None;
        }
        ImportAssets::for_method_call(&call, sema)?
    };
    let found = assets.search_for_imports(sema, PATHS, PrefixKind::ByCrate);
    let mut paths: Vec<ModPath> = found.map(|it| it.import_path).collect();
    paths.sort();
    paths.dedup();
    <[ModPath; 1]>::try_from(paths).ok().map(|[path]| path)
}

fn unused_leaves(cx: &Context<'_>, file: &File, id: FileId, decided: &mut UnusedImports) -> Vec<ast::UseTree> {
    // An author who allows unused imports knows of them.
    if ["allow(unused", "expect(unused"].iter().any(|it| file.text.contains(it)) || !file.outline().errors.is_empty() {
        return Vec::new();
    }
    let tree = cx.sema.parse_guess_edition(id);
    let words = file.words();
    let leaves = leaves(tree.syntax());
    decided.names.extend(leaves.iter().map(|it| it.name.clone()));
    let mut candidates: Vec<Leaf> = leaves
        .into_iter()
        .filter(|it| !it.is_named_in(&file.text, words))
        .filter_map(|it| names_of(&cx.sema, it))
        .inspect(|it| decided.names.extend(it.methods.iter().cloned()))
        .filter(|it| !it.methods_are_named_in(&file.text, words))
        .collect();
    decided.by_macros = !candidates.is_empty();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Some(expanded) = words_of_expansions(&cx.sema, tree.syntax()) else { return Vec::new() };
    candidates.retain(|it| !it.names().any(|name| expanded.contains(name)));
    candidates.retain(|it| !is_named_below(cx, it, id));
    candidates.into_iter().map(|it| it.tree).collect()
}

/// The names that an import may bring in; `None` if its target is unknown.
fn names_of(sema: &Semantics<'_, RootDatabase>, mut leaf: Leaf) -> Option<Leaf> {
    let path = path_of(&leaf.tree);
    let path = path_from_text(path.strip_suffix("::self").unwrap_or(&path));
    // Resolving it at its position would infer the whole body around it.
    match sema.scope(leaf.tree.syntax())?.speculative_resolve(&path)? {
        PathResolution::Def(ModuleDef::Trait(it)) => {
            let items = it.items(sema.db).into_iter();
            leaf.methods = items.filter_map(|it| Some(it.name(sema.db)?.as_str().to_owned())).collect();
            Some(leaf)
        }
        _ if leaf.name == "_" => None,
        _ => Some(leaf),
    }
}

/// Whether a module in another file, below the import's own, may name it.
fn is_named_below(cx: &Context<'_>, leaf: &Leaf, own: FileId) -> bool {
    let Some(module) = cx.sema.scope(leaf.tree.syntax()).map(|it| it.module()) else { return true };
    let mut below: Vec<Module> = module.children(cx.db).collect();
    while let Some(module) = below.pop() {
        below.extend(module.children(cx.db));
        let id = module.definition_source_file_id(cx.db).original_file(cx.db).file_id(cx.db);
        let Some(file) = cx.file(id).filter(|_| id != own) else { continue };
        let words = file.words();
        if leaf.names().any(|name| words.offsets(&file.text, name).next().is_some()) {
            return true;
        }
    }
    false
}

/// All words in macro expansions; `None` if a macro cannot be expanded.
fn words_of_expansions(sema: &Semantics<'_, RootDatabase>, root: &SyntaxNode) -> Option<HashSet<String>> {
    let mut words = HashSet::new();
    let mut waiting = vec![root.clone()];
    let mut expansions = 0;
    while let Some(node) = waiting.pop() {
        expansions += 1;
        if expansions > MOST_EXPANSIONS {
            return None;
        }
        if &node != root {
            let tokens = node.descendants_with_tokens().filter_map(|it| it.into_token());
            words.extend(tokens.filter(|it| it.kind() == SyntaxKind::IDENT).map(|it| it.text().to_owned()));
        }
        for below in node.descendants() {
            waiting.extend(expansions_of(sema, below)?);
        }
    }
    Some(words)
}

/// A text with an additional import, in the scope that begins at an offset.
fn inserted(text: &str, at: usize, path: &ModPath) -> Option<String> {
    if too_deep(text).is_some() {
        return None;
    }
    let tree = ast::SourceFile::parse(text, Edition::CURRENT).tree();
    let kind = tree.syntax().descendants().filter(|it| span(it.text_range()).start == at).find_map(|it| {
        let in_module = ast::ItemList::cast(it.clone()).map(ImportScopeKind::Module);
        let in_block = || ast::StmtList::cast(it.clone()).map(ImportScopeKind::Block);
        in_module.or_else(in_block).or_else(|| ast::SourceFile::cast(it).map(ImportScopeKind::File))
    })?;
    let scope = ImportScope { kind, required_cfgs: Vec::new() };
    let (editor, _) = SyntaxEditor::new(tree.syntax().clone());
    insert_use_with_editor(&scope, mod_path_to_ast(path, Edition::CURRENT), &INSERT, &editor);
    Some(editor.finish().new_root().to_string())
}

/// The expansions of a call, an attribute or a derive; `None` if unknown.
fn expansions_of(sema: &Semantics<'_, RootDatabase>, node: SyntaxNode) -> Option<Vec<SyntaxNode>> {
    if let Some(call) = ast::MacroCall::cast(node.clone()) {
        let expanded = sema.expand(sema.to_def(&call)?);
        return expanded.err.is_none().then(|| vec![expanded.value]);
    }
    let mut found = Vec::new();
    if let Some(item) = ast::Item::cast(node.clone())
        && let Some(expanded) = sema.expand_attr_macro(&item)
    {
        if expanded.err.is_some() {
            return None;
        }
        found.push(expanded.value.value);
    }
    if let Some(meta) = ast::Meta::cast(node)
        && let Some(derives) = sema.expand_derive_macro(&meta)
    {
        for derive in derives {
            let derive = derive?;
            if derive.err.is_some() {
                return None;
            }
            found.push(derive.value);
        }
    }
    Some(found)
}

/// One import: a leaf of a `use` tree.
struct Leaf {
    tree: ast::UseTree,
    /// Its name in the file; `_` if it has none.
    name: String,
    /// For a trait: the methods that it brings into scope.
    methods: Vec<String>,
    /// Where it can be named.
    scope: TextRange,
}

impl Leaf {
    fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).filter(|it| *it != "_").chain(self.methods.iter().map(String::as_str))
    }

    /// Whether its name occurs in its scope, except in itself and after a dot.
    fn is_named_in(&self, text: &str, words: &WordTable) -> bool {
        self.name != "_" && self.places(text, words, &self.name).any(|at| !follows_dot(text, at))
    }

    fn methods_are_named_in(&self, text: &str, words: &WordTable) -> bool {
        self.methods.iter().any(|it| self.places(text, words, it).next().is_some())
    }

    fn places<'a>(&'a self, text: &'a str, words: &'a WordTable, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let (own, scope) = (span(self.tree.syntax().text_range()), span(self.scope));
        words
            .offsets(text, name)
            .filter(move |&at| (scope.start..scope.end).contains(&at) && !(own.start..own.end).contains(&at))
    }
}

fn follows_dot(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end();
    before.ends_with('.') && !before.ends_with("..")
}

/// The imports of a file that concern nobody else: private, of one name each, and without attributes.
fn leaves(root: &SyntaxNode) -> Vec<Leaf> {
    let uses = root.descendants().filter_map(ast::Use::cast);
    let private = uses.filter(|it| it.visibility().is_none() && it.attrs().next().is_none());
    let of_use = |it: ast::Use| {
        let scope = it.syntax().parent().map(|it| it.text_range());
        let trees = it.syntax().descendants().filter_map(ast::UseTree::cast);
        let ends = trees.filter(|it| it.use_tree_list().is_none() && it.star_token().is_none());
        ends.filter_map(|tree| leaf(tree, scope?)).collect::<Vec<_>>()
    };
    private.flat_map(of_use).collect()
}

fn leaf(tree: ast::UseTree, scope: TextRange) -> Option<Leaf> {
    let path = tree.path()?;
    let name = match tree.rename() {
        Some(rename) => rename.name().map_or("_".to_owned(), |it| it.text().to_string()),
        None => {
            let segment = path.segment()?;
            let named = match segment.self_token() {
                // `use a::b::{self}`
                Some(_) => tree.syntax().ancestors().skip(1).find_map(ast::UseTree::cast)?.path()?.segment()?,
                None => segment,
            };
            named.name_ref()?.text().to_string()
        }
    };
    (!name.starts_with("r#")).then(|| Leaf { tree, name, methods: Vec::new(), scope })
}

/// An import as one path, with its alias.
fn written(tree: &ast::UseTree) -> String {
    path_of(tree) + &tree.rename().map(|it| format!(" {}", it.syntax().text())).unwrap_or_default()
}

fn path_of(tree: &ast::UseTree) -> String {
    let mut parts: Vec<String> = tree
        .syntax()
        .ancestors()
        .map_while(|it| (!ast::Use::can_cast(it.kind())).then_some(it))
        .filter_map(ast::UseTree::cast)
        .filter_map(|it| Some(it.path()?.syntax().text().to_string()))
        .collect();
    parts.reverse();
    parts.join("::")
}

/// A type, a module before `::`, a macro, or a called function: not a misspelt variable.
fn may_be_imported(path: &ast::Path) -> bool {
    let Some(name) = path.segment().and_then(|it| it.name_ref()) else { return false };
    let Some(parent) = path.syntax().parent() else { return false };
    let is_called = || {
        let of_path = ast::PathExpr::cast(parent.clone());
        of_path.and_then(|it| it.syntax().parent()).is_some_and(|it| ast::CallExpr::can_cast(it.kind()))
    };
    let is_attribute =
        path.syntax().ancestors().any(|it| ast::Attr::can_cast(it.kind()) || ast::Visibility::can_cast(it.kind()));
    let capital = name.text().starts_with(char::is_uppercase);
    !is_attribute
        && (capital || ast::Path::can_cast(parent.kind()) || ast::MacroCall::can_cast(parent.kind()) || is_called())
}

/// rust-analyzer's text with the file's byte order mark.
fn as_written(file: &File, text: &str) -> Arc<str> {
    match file.text.starts_with('\u{feff}') {
        true => Arc::from(format!("\u{feff}{}", text.get(3..).unwrap_or(text))),
        false => Arc::from(text),
    }
}
