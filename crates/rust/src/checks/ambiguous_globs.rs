//! Names that two globs of a module bring in with different meanings, and that nothing else in the module declares.
//! rust-analyzer takes one of them.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ra_ap_base_db::Crate as CrateId;
use ra_ap_hir::{Adt, Module, ModuleDef, PathResolution, ScopeDef, StructKind};
use ra_ap_ide::FileId;
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};
use rustc_hash::FxHashSet;

use super::lookup::{brought_by, meant_by_glob, nodes_in};
use super::{report, written};
use crate::LANGUAGE;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::names::definitions::plain_name;
use crate::names::instances;
use crate::syntax::declaration::declared_name;
use crate::syntax::positions::tokens_at;
use crate::view::Context;
use crate::view::memo::{Ambiguous, Clash};
use semdex_engine::files::File;
use semdex_model::SymbolKind;

/// The most levels of macros in macros that are followed.
const MAX_MACROS: usize = 3;
/// The most places that are looked at for one name.
const MAX_PLACES: usize = 1_000;

/// For a path of a body or of an item's head: E0659.
pub(crate) fn ambiguous_path(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(path) = ast::Path::cast(node.clone()) else { return };
    if let Some(name) = ambiguous_name(cx, &path).filter(|_| !written::is_left_out(cx, node)) {
        let message = format!("`{}` is ambiguous: two globs bring in different items of this name", name.text());
        out.push(report::raw_diagnostic(cx, name.syntax(), Code::E0659, message));
    }
}

fn ambiguous_name(cx: &Context<'_>, path: &ast::Path) -> Option<ast::NameRef> {
    let around = path.syntax().parent()?;
    let is_type = match around.kind() {
        SyntaxKind::PATH_EXPR | SyntaxKind::PATH_PAT | SyntaxKind::TUPLE_STRUCT_PAT => false,
        SyntaxKind::PATH | SyntaxKind::PATH_TYPE | SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT => true,
        _ => return None,
    };
    let segment = path.segment()?;
    let name =
        segment.name_ref().filter(|_| segment.type_anchor().is_none() && segment.coloncolon_token().is_none())?;
    let text = plain_name(name.text());
    let module = match path.qualifier() {
        Some(it) if may_have_globs(cx, &it) => match cx.sema.resolve_path(&it)? {
            PathResolution::Def(ModuleDef::Module(it)) => it,
            _ => return None,
        },
        Some(_) => return None,
        None => {
            let file = cx.sema.hir_file_for(path.syntax()).original_file(cx.db).file_id(cx.db);
            let is_known = of_file(cx, file).values().any(|it| it.contains_key(text));
            cx.sema.scope(path.syntax()).filter(|_| is_known)?.module().nearest_non_block_module(cx.db)
        }
    };
    let file = module.definition_source_file_id(cx.db).file_id()?.file_id(cx.db);
    let of_file = of_file(cx, file);
    let clashes = of_file.get(&module)?.get(text)?;
    let PathResolution::Def(meant) = cx.sema.resolve_path(path)? else { return None };
    let is_ambiguous = clashes.iter().any(|it| it.is_type == is_type && it.both.contains(&meant));
    let is_nearer = || path.qualifier().is_none() && is_imported_nearer(cx, path.syntax(), text);
    (is_ambiguous && !is_nearer()).then_some(name)
}

/// Whether a block around a node has an import that may bring in the name.
fn is_imported_nearer(cx: &Context<'_>, node: &SyntaxNode, name: &str) -> bool {
    let blocks = cx.sema.ancestors_with_macros(node.clone()).filter(|it| ast::StmtList::can_cast(it.kind()));
    let imports = blocks.flat_map(|it| it.children().filter_map(ast::Use::cast).collect::<Vec<_>>());
    let mut trees = imports.filter_map(|it| it.use_tree());
    trees.any(|it| brought_by(&it).is_none_or(|it| it.iter().any(|it| plain_name(it) == name)))
}

/// Whether a path may name a module with several globs, by its last name.
fn may_have_globs(cx: &Context<'_>, path: &ast::Path) -> bool {
    let Some(name) = path.segment().and_then(|it| it.name_ref()) else { return false };
    cx.names.glob_modules.get_or_init(|| glob_modules(cx)).contains(plain_name(name.text()))
}

/// The names of modules in files with several globs, and what paths call the roots of crates among them.
fn glob_modules(cx: &Context<'_>) -> FxHashSet<String> {
    let mut names = FxHashSet::default();
    for file in cx.files.of(LANGUAGE).filter(|it| has_globs(&it.text)) {
        names.extend(["crate", "self", "super"].map(str::to_owned));
        file.outline().walk(&mut |item| {
            if item.kind == SymbolKind::Module {
                names.insert(item.name.clone());
            }
        });
        let modules = cx.file_id(&file.path).into_iter().flat_map(|it| cx.sema.file_to_module_defs(it));
        names.extend(modules.filter_map(|it| match it.name(cx.db) {
            Some(it) => Some(it.as_str().to_owned()),
            None => Some(it.krate(cx.db).display_name(cx.db)?.crate_name().to_string()),
        }));
    }
    names
}

fn has_globs(text: &str) -> bool {
    ["*;", "*}", "*,"].iter().flat_map(|it| text.matches(it)).nth(1).is_some()
}

/// The places of a name that an edit may make ambiguous by declaring it again: in modules with several globs, and behind
/// the path of a module.
pub(crate) fn places_of<'f>(cx: &Context<'f>, name: &str) -> Vec<(&'f Arc<File>, FileId, usize)> {
    if cx.names.glob_modules.get_or_init(|| glob_modules(cx)).is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in cx.files.of(LANGUAGE) {
        let Some(id) = cx.file_id(&file.path) else { continue };
        let has_globs = has_globs(&file.text);
        let places = file.words().offsets(&file.text, name).filter(|at| {
            let before = file.text[..*at].trim_end();
            let is_own = || !before.ends_with('.') && is_among_globs(cx, id, *at);
            before.ends_with("::") || has_globs && is_own()
        });
        found.extend(places.map(|at| (file, id, at)).take(MAX_PLACES.saturating_sub(found.len())));
    }
    found
}

/// Whether the module around an offset has several globs.
fn is_among_globs(cx: &Context<'_>, id: FileId, at: usize) -> bool {
    let tree = cx.sema.parse_guess_edition(id);
    let Some(token) = tokens_at(tree.syntax(), at).right_biased() else { return false };
    let items = token.parent_ancestors().find(|it| ast::ItemList::can_cast(it.kind()));
    has_several_globs(items.as_ref().unwrap_or(tree.syntax()).children())
}

fn has_several_globs(items: impl Iterator<Item = SyntaxNode>) -> bool {
    let trees =
        items.filter_map(ast::Use::cast).flat_map(|it| it.syntax().descendants()).filter_map(ast::UseTree::cast);
    trees.filter(|it| it.star_token().is_some()).nth(1).is_some()
}

/// The ambiguous names of the modules in a file.
fn of_file(cx: &Context<'_>, file: FileId) -> Rc<HashMap<Module, Ambiguous>> {
    if let Some(known) = cx.names.ambiguous.borrow().get(&file) {
        return known.clone();
    }
    let mut found = HashMap::new();
    for krate in instances::owners(cx.db, file).iter().filter(|_| cx.name_of(file).is_some()) {
        cx.in_instance(file, *krate, |cx| {
            let tree = cx.sema.parse_guess_edition(file);
            let inner = tree.syntax().descendants().filter_map(ast::Module::cast).filter_map(|it| cx.sema.to_def(&it));
            let modules: Vec<Module> = cx.sema.file_to_module_defs(file).chain(inner).collect();
            for module in modules.into_iter().filter(|it| CrateId::from(it.krate(cx.db)) == *krate) {
                found.insert(module, of_module(cx, module));
            }
        });
    }
    let found = Rc::new(found);
    cx.names.ambiguous.borrow_mut().insert(file, found.clone());
    found
}

fn of_module(cx: &Context<'_>, module: Module) -> Ambiguous {
    if !has_several_globs(nodes_in(&cx.sema, module)) {
        return Ambiguous::new();
    }
    // What is not read may declare any name.
    let Some(declared) = Declared::of(cx, module).filter(|it| it.globs.len() > 1) else { return Ambiguous::new() };
    let mut first: HashMap<(String, bool), ModuleDef> = HashMap::new();
    let mut ambiguous = Ambiguous::new();
    for (name, meant) in declared.globs.iter().flat_map(|it| brought_in(cx, *it, module)) {
        for is_type in spaces(cx, meant) {
            let before = *first.entry((name.clone(), is_type)).or_insert(meant);
            if before != meant {
                let clashes = ambiguous.entry(name.clone()).or_default();
                clashes.push(Clash { is_type, both: [before, meant] });
            }
        }
    }
    ambiguous.retain(|name, _| !declared.names.iter().any(|it| plain_name(it) == name));
    ambiguous
}

/// The items that a glob brings in.
fn brought_in(cx: &Context<'_>, glob: ModuleDef, into: Module) -> Vec<(String, ModuleDef)> {
    match glob {
        ModuleDef::Module(it) => {
            let scope = it.scope(cx.db, Some(into)).into_iter();
            let items = scope.filter_map(|(name, meant)| match meant {
                ScopeDef::ModuleDef(it) => Some((name.as_str().to_owned(), it)),
                _ => None,
            });
            items.collect()
        }
        ModuleDef::Adt(Adt::Enum(it)) => {
            let variants = it.variants(cx.db).into_iter();
            variants.map(|it| (it.name(cx.db).as_str().to_owned(), ModuleDef::EnumVariant(it))).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether it is a type, a value, or both. Macros are not compared.
fn spaces(cx: &Context<'_>, meant: ModuleDef) -> Vec<bool> {
    match meant {
        ModuleDef::Function(_) | ModuleDef::Const(_) | ModuleDef::Static(_) => vec![false],
        ModuleDef::EnumVariant(_) => vec![true, false],
        ModuleDef::Adt(Adt::Struct(it)) if it.kind(cx.db) != StructKind::Record => vec![true, false],
        ModuleDef::Macro(_) => Vec::new(),
        _ => vec![true],
    }
}

/// What the text of a module declares.
#[derive(Default)]
struct Declared {
    globs: Vec<ModuleDef>,
    /// Names of items and imports.
    names: Vec<String>,
}

impl Declared {
    /// `None` if a part of the module is not read.
    fn of(cx: &Context<'_>, module: Module) -> Option<Declared> {
        let mut declared = Declared::default();
        nodes_in(&cx.sema, module).all(|it| declared.node(cx, &it, module, MAX_MACROS)).then_some(declared)
    }

    fn node(&mut self, cx: &Context<'_>, node: &SyntaxNode, module: Module, depth: usize) -> bool {
        let Some(item) = ast::Item::cast(node.clone()) else { return true };
        match written::is_compiled(cx, module.krate(cx.db), node) {
            Some(true) => {}
            Some(false) => return true,
            None => return false,
        }
        if let Some(made) = cx.sema.expand_attr_macro(&item) {
            let items = made.value.value.children().collect::<Vec<_>>();
            return depth > 0 && made.err.is_none() && items.iter().all(|it| self.node(cx, it, module, depth - 1));
        }
        match &item {
            ast::Item::Use(it) => it.use_tree().is_none_or(|it| self.import(cx, &it)),
            ast::Item::ExternCrate(it) => {
                let name = it.rename().and_then(|it| it.name());
                self.names.extend(name.map(|it| plain_name(it.text()).to_owned()));
                true
            }
            ast::Item::MacroCall(it) => {
                let made = cx.sema.expand_allowed_builtins(it).filter(|it| depth > 0 && it.err.is_none());
                made.is_some_and(|it| it.value.children().all(|it| self.node(cx, &it, module, depth - 1)))
            }
            _ => {
                self.names.extend(declared_name(&item).map(|it| plain_name(it.text()).to_owned()));
                true
            }
        }
    }

    fn import(&mut self, cx: &Context<'_>, tree: &ast::UseTree) -> bool {
        let mut leaves = tree.syntax().descendants().filter_map(ast::UseTree::cast);
        leaves.all(|leaf| {
            if leaf.use_tree_list().is_some() {
                return true;
            }
            if leaf.star_token().is_none() {
                self.names.extend(brought_by(&leaf).into_iter().flatten());
                return true;
            }
            match meant_by_glob(&cx.sema, &leaf) {
                Some(PathResolution::Def(it)) => {
                    self.globs.push(it);
                    true
                }
                _ => false,
            }
        })
    }
}
