//! Converts rust-analyzer's definitions and outline items to symbols of the model.

use std::sync::{Arc, OnceLock};

use ra_ap_hir::{BuiltinType, Crate, HasVisibility as _, InFile, Module, ModuleSource, Visibility};
use ra_ap_ide::{FileId, FileRange, TryToNav as _};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};
use ra_ap_vfs::VfsPath;

use super::alternatives::{Reach, with_alternatives};
use super::paths::crates::origin_of;
use super::paths::items;
use super::{at, paths, walk};
use crate::LANGUAGE;
use crate::file_interface::file_interface;
use crate::index::FileSymbols;
use crate::index::search::Search;
use crate::names::Key;
use crate::resolve::paths::crates;
use crate::syntax::is_test_file_path;
use crate::syntax::positions::span;
use crate::view::Context;
use crate::view::memo::Item;
use semdex_engine::files::File;
use semdex_model::{Outline, OutlineItem, Place, Span, Symbol, SymbolKind};

/// A file of the workspace by its name, or another file by its absolute path.
pub(crate) fn find_file(cx: &Context<'_>, name: &str) -> Option<FileId> {
    if let Some(id) = cx.file_id(name) {
        return Some(id);
    }
    let path = VfsPath::new_real_path(name.to_owned());
    Crate::all(cx.db).into_iter().find_map(|krate| {
        let root = cx.db.file_source_root(krate.root_file(cx.db)).source_root_id(cx.db);
        cx.db.source_root(root).source_root(cx.db).file_for_path(&path).copied()
    })
}

/// How a call begins that takes in a file.
const INCLUDE: &str = "include!";

/// A definition as a symbol; `None` if it has no path or no position.
pub(crate) fn symbol_of<'db>(cx: &Context<'db>, definition: Definition<'db>) -> Option<Symbol> {
    let path = paths::path_of(cx, definition)?;
    if let Definition::Module(module) = definition {
        return module_symbol(cx, module, path);
    }
    if let Definition::Crate(krate) = definition {
        return module_symbol(cx, krate.root_module(cx.db), path);
    }
    if let Definition::BuiltinType(builtin) = definition {
        return builtin_symbol(cx, builtin, path);
    }
    let target = definition.try_to_nav(&cx.sema)?.call_site;
    let file = cx.file(target.file_id)?;
    let name_span = span(target.focus_or_full_range());
    let outline = file.outline().clone();
    let written = match definition {
        Definition::SelfType(_) => first_within(&outline, span(target.full_range), SymbolKind::Impl),
        // An unnamed field has the range of its type.
        Definition::Field(_) if target.focus_range.is_none() => {
            first_within(&outline, span(target.full_range), SymbolKind::Field)
        }
        _ => item_named_at(&outline, name_span.start),
    };
    if let Some(item) = written {
        return Some(symbol_from(cx, &file, item, path, definition));
    }
    // For an item with items in it, rust-analyzer has the place of the `include!` that takes in its file.
    let is_included = file.text.get(target.full_range.start().into()..).is_some_and(|it| it.starts_with(INCLUDE));
    let in_included = is_included.then(|| at::name_of(&cx.sema, definition)).flatten();
    let in_included = in_included.and_then(|(id, at)| Some((cx.file(id)?, span(at))));
    if let Some((file, at)) = &in_included
        && let Some(item) = item_named_at(file.outline(), at.start)
    {
        return Some(symbol_from(cx, file, item, path, definition));
    }
    let (file, name_span, whole) = match in_included {
        Some((file, at)) => (file, at, at),
        None => (file, name_span, span(target.full_range)),
    };
    // It has no written name: a macro generated it.
    let krate = definition.krate(cx.db)?;
    let name = definition.name(cx.db)?.as_str().to_owned();
    Some(Symbol {
        language: LANGUAGE,
        kind: walk::kind_of(cx, definition)?,
        name,
        signature: definition.label(cx.db, paths::display(cx.db, krate)),
        package: crates::crate_name(cx, krate),
        place: file.lines().place(&file.path, whole),
        name_at: file.lines().place(&file.path, name_span),
        declared_at: None,
        docs: definition.docs(cx.db, None, paths::display(cx.db, krate)).map(|it| it.as_str().to_owned()),
        external: !krate.origin(cx.db).is_local(),
        origin: origin_of(cx, krate, &file.path),
        public: matches!(definition.visibility(cx.db), Some(Visibility::Public)),
        test: is_test_file_path(&file.path),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
        path,
    })
}

/// The docs of a primitive type are in a module of std.
fn builtin_symbol(cx: &Context<'_>, builtin: BuiltinType, path: String) -> Option<Symbol> {
    let documented = walk::walk(cx, &format!("std::prim_{path}")).into_iter().chain(walk::walk(cx, "core"));
    let module = documented.into_iter().find_map(|it| match it {
        Definition::Module(it) => Some(it),
        _ => None,
    })?;
    let symbol = module_symbol(cx, module, path.clone())?;
    let signature = builtin.name().as_str().to_owned();
    Some(Symbol { kind: SymbolKind::Type, name: path, signature, public: true, ..symbol })
}

fn symbol_from<'db>(
    cx: &Context<'db>,
    file: &File,
    item: &OutlineItem,
    path: String,
    definition: Definition<'db>,
) -> Symbol {
    let krate = definition.krate(cx.db);
    Symbol {
        language: LANGUAGE,
        path,
        kind: item.kind,
        name: item.name.clone(),
        signature: item.signature.clone(),
        package: krate.map(|it| crates::crate_name(cx, it)).unwrap_or_default(),
        place: file.lines().place(&file.path, item.span),
        name_at: file.lines().place(&file.path, item.name_span),
        declared_at: None,
        docs: item.docs.clone(),
        external: krate.is_some_and(|it| !it.origin(cx.db).is_local()),
        origin: krate.and_then(|it| origin_of(cx, it, &file.path)),
        public: item.public,
        test: item.test || is_test_file_path(&file.path),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
    }
}

fn module_symbol(cx: &Context<'_>, module: Module, path: String) -> Option<Symbol> {
    let db = cx.db;
    let krate = module.krate(db);
    let source = module.definition_source(db);
    let file_id = source.file_id.original_file(db).file_id(db);
    let file = cx.file(file_id)?;
    let declared = module.declaration_source(db).and_then(|it| {
        let name = ast::HasName::name(&it.value)?;
        let place = |node: &SyntaxNode| {
            let node = InFile::new(it.file_id, node);
            // Of a file that `include!` takes in, not of the macro.
            let range = node.with_value(node.value.text_range()).original_node_file_range_rooted_opt(db);
            let range = range.unwrap_or_else(|| node.original_file_range_with_macro_call_input(db));
            cx.place(FileRange { file_id: range.file_id.file_id(db), range: range.range })
        };
        Some((place(it.value.syntax())?, place(name.syntax())?))
    });
    let own_file = matches!(source.value, ModuleSource::SourceFile(_));
    let name = match module.name(db) {
        Some(name) => name.as_str().to_owned(),
        None => crates::crate_name(cx, krate),
    };
    let inline = declared.as_ref().filter(|_| !own_file).and_then(|it| {
        // Perhaps a file that `include!` takes in.
        let file = cx.files.get(&it.1.file)?;
        let outline = file.outline().clone();
        let item = item_named_at(&outline, it.1.start)?;
        let place = file.lines().place(&file.path, item.span);
        Some((place, item.signature.clone(), item.docs.clone(), item.test))
    });
    let (place, signature, docs, test) = match inline {
        Some(it) => it,
        None => {
            let whole = || file.lines().place(&file.path, Span::new(0, file.text.len()));
            let place = if own_file { whole() } else { declared.as_ref().map(|it| it.0.clone())? };
            (place, format!("mod {name}"), file.outline().docs.clone(), is_test_file_path(&file.path))
        }
    };
    Some(Symbol {
        language: LANGUAGE,
        path,
        kind: SymbolKind::Module,
        signature,
        package: crates::crate_name(cx, krate),
        name_at: match &declared {
            Some((_, at)) => at.clone(),
            None => file.lines().place(&file.path, Span::new(0, 0)),
        },
        place,
        declared_at: declared.filter(|_| own_file).map(|it| it.0),
        docs,
        external: !krate.origin(db).is_local(),
        origin: origin_of(cx, krate, &file.path),
        public: matches!(module.visibility(db), Visibility::Public),
        test,
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
        name,
    })
}

/// The symbols of one file as a tree, with their definitions in the order of the tree, by the positions of their names.
pub(crate) fn symbols_in<'db>(cx: &Context<'db>, file: &Arc<File>) -> (Vec<Symbol>, Vec<(usize, Definition<'db>)>) {
    let mut definitions = Vec::new();
    let own = cx.file_id(&file.path).zip(cx.files.get(&file.path));
    let Some((id, file)) = own else { return (Vec::new(), definitions) };
    let items = file.outline().items.iter().map(|item| Item::top(file, id, item));
    let symbols = items.map(|item| tree(cx, &item, &mut definitions)).collect();
    (symbols, definitions)
}

fn tree<'db>(cx: &Context<'db>, item: &Item<'db>, definitions: &mut Vec<(usize, Definition<'db>)>) -> Symbol {
    let own = item.own;
    let definition = items::definition_of(&cx.sema, item);
    let path = paths::path_of_item(cx, item);
    let mut symbol = match definition {
        Some(Definition::Module(module)) => module_symbol(cx, module, path.clone())
            .unwrap_or_else(|| symbol_from(cx, item.file, own, path, Definition::Module(module))),
        Some(definition) => {
            if !matches!(definition, Definition::SelfType(_)) {
                definitions.push((own.name_span.start, definition));
            }
            symbol_from(cx, item.file, own, path, definition)
        }
        None => unresolved(cx, item.file, own, path),
    };
    symbol.children = own.children.iter().map(|child| tree(cx, &item.child(child), definitions)).collect();
    symbol
}

/// An item that is known only from its text.
pub(crate) fn unresolved(cx: &Context<'_>, file: &Arc<File>, item: &OutlineItem, path: String) -> Symbol {
    let package = cx
        .file_id(&file.path)
        .and_then(|id| cx.sema.first_crate(id))
        .map(|it| crates::crate_name(cx, it))
        .unwrap_or_default();
    Symbol {
        language: LANGUAGE,
        path,
        kind: item.kind,
        name: item.name.clone(),
        signature: item.signature.clone(),
        package,
        place: file.lines().place(&file.path, item.span),
        name_at: file.lines().place(&file.path, item.name_span),
        declared_at: None,
        docs: item.docs.clone(),
        external: false,
        origin: None,
        public: item.public,
        test: item.test || is_test_file_path(&file.path),
        usages: None,
        also: Vec::new(),
        children: Vec::new(),
    }
}

/// The path of the innermost symbol around an offset.
pub(crate) fn enclosing_path<'db>(cx: &Context<'db>, file: &File, id: FileId, offset: usize) -> Option<String> {
    let own = cx.files.get(&file.path).filter(|_| LANGUAGE.takes(&file.path))?;
    if let Some(known) = cx.index.enclosing(id, offset) {
        return Some(known);
    }
    let mut item: Option<Item<'db>> = None;
    let mut innermost = None;
    for around in own.outline().enclosing(offset) {
        let inside = match &item {
            Some(outer) => outer.child(around),
            None => Item::top(own, id, around),
        };
        if around.kind != SymbolKind::Impl {
            innermost = Some(inside.clone());
        }
        item = Some(inside);
    }
    Some(innermost.map_or_else(|| paths::file_as_container(cx, own, id), |it| paths::path_of_item(cx, &it)))
}

pub(crate) fn line(file: &File, place: &Place) -> String {
    file.lines().line_text(&file.text, place.line).to_owned()
}

/// Whether an offset is in test code.
pub(crate) fn is_test_at(file: &File, offset: usize) -> bool {
    is_test_file_path(&file.path) || file.outline().enclosing(offset).iter().any(|it| it.test)
}

fn item_named_at(outline: &Outline, offset: usize) -> Option<&OutlineItem> {
    let mut found = None;
    outline.walk(&mut |item| {
        if item.name_span.start == offset && item.kind != SymbolKind::Impl {
            found = Some(item);
        }
    });
    found
}

/// The outermost item of a kind whose name is in a range.
fn first_within(outline: &Outline, range: Span, kind: SymbolKind) -> Option<&OutlineItem> {
    let mut found = None;
    outline.walk(&mut |item| {
        if item.kind == kind && range.encloses(item.name_span) && found.is_none() {
            found = Some(item);
        }
    });
    found
}

/// Further files in which a file's symbols are.
fn files_elsewhere<'a>(symbols: &'a [Symbol], file: &str) -> Vec<&'a str> {
    fn walk<'a>(symbol: &'a Symbol, file: &str, found: &mut Vec<&'a str>) {
        if symbol.place.file != file {
            found.push(&symbol.place.file);
        }
        symbol.children.iter().for_each(|it| walk(it, file, found));
    }
    let mut found = Vec::new();
    symbols.iter().for_each(|it| walk(it, file, &mut found));
    found
}

/// The symbols of a workspace file: known, or computed now.
pub(crate) fn file_symbols<'db>(cx: &Context<'db>, file: &Arc<File>, id: FileId) -> Arc<FileSymbols> {
    if let Some(known) = cx.index.symbols(id) {
        return known;
    }
    let (symbols, definitions) = symbols_in(cx, file);
    let known = definitions.into_iter().filter(|it| Key::of(it.1).is_some());
    let (names_at, definitions): (Vec<usize>, Vec<Definition<'db>>) = known.unzip();
    let elsewhere = files_elsewhere(&symbols, &file.path).into_iter().filter_map(|it| cx.file_id(it)).collect();
    let seen = file_interface(cx.db, id);
    let declared = names_at.iter().zip(&definitions);
    let declared = declared.filter_map(|(at, it)| Some((seen.plain_at(*at)?.id, Key::of(*it)?)));
    cx.index.learn_declared(id, declared.collect());
    let groups: Vec<Vec<Definition<'db>>> =
        definitions.iter().map(|it| with_alternatives(cx, *it, Reach::Near)).collect();
    let known = Arc::new(FileSymbols {
        symbols,
        search: Search::of_groups(cx.db, groups.iter().map(|it| &**it)),
        definitions: definitions.into_iter().filter_map(Key::of).collect(),
        names_at,
        package: cx.sema.first_crate(id).map(|it| crates::crate_name(cx, it)),
        in_a_crate: cx.sema.file_to_module_def(id).is_some(),
        upstream: OnceLock::new(),
        elsewhere,
    });
    cx.index.learn_symbols(id, known.clone());
    known
}
