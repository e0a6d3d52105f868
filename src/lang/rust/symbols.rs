//! Symbols: a definition of rust-analyzer's, and the item of a file's outline, in our words.

use std::sync::Arc;

use ra_ap_hir::{Adt, BuiltinType, Crate, HasVisibility as _, InFile, Module, ModuleSource, Visibility};
use ra_ap_ide::{FileId, FileRange, TryToNav as _};
use ra_ap_ide_db::base_db::SourceDatabase as _;
use ra_ap_ide_db::defs::{Definition, NameClass};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxToken, ast};
use ra_ap_vfs::VfsPath;

use super::paths::{Item, as_assoc_item};
use super::syntax::is_test_file_path;
use super::view::{Context, span, tokens_at};
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::model::{Outline, OutlineItem, Place, Span, Symbol, SymbolKind};

impl<'db> Context<'db> {
    /// What a name in the text defines.
    pub(super) fn definition_at(&self, file: FileId, offset: usize) -> Option<Definition<'db>> {
        let tree = self.sema.parse_guess_edition(file);
        let token = name_token(&tree, offset)?;
        if let Some(field) = token.parent_ancestors().find_map(ast::TupleField::cast)
            && token.parent_ancestors().find_map(ast::Name::cast).is_none()
        {
            return self.sema.to_def(&field).map(Definition::Field);
        }
        let define = |token: SyntaxToken| {
            let name = ast::Name::cast(token.parent()?)?;
            NameClass::classify(&self.sema, &name)?.defined().filter(|it| self.is_declared_by(*it, &name))
        };
        if let Some(definition) = define(token.clone()) {
            return Some(definition);
        }
        self.sema.descend_into_macros_exact(token).into_iter().find_map(define)
    }

    /// rust-analyzer takes the `mod` line that is switched off for its twin that is not.
    fn is_declared_by(&self, definition: Definition<'db>, name: &ast::Name) -> bool {
        let Definition::Module(module) = definition else { return true };
        let declared = module.declaration_source(self.db).and_then(|it| ast::HasName::name(&it.value));
        declared.is_none_or(|it| it.syntax().text_range() == name.syntax().text_range())
    }

    /// A file of the workspace by its name, or one outside of it by its absolute path.
    pub(super) fn find_file(&self, name: &str) -> Option<FileId> {
        if let Some(id) = self.file_id(name) {
            return Some(id);
        }
        let path = VfsPath::new_real_path(name.to_owned());
        Crate::all(self.db).into_iter().find_map(|krate| {
            let root = self.db.file_source_root(krate.root_file(self.db)).source_root_id(self.db);
            self.db.source_root(root).source_root(self.db).file_for_path(&path).copied()
        })
    }

    /// A definition as a symbol; `None` for what has no path or no place.
    pub(super) fn symbol_of(&self, definition: Definition<'db>) -> Option<Symbol> {
        let path = self.path_of(definition)?;
        if let Definition::Module(module) = definition {
            return self.module_symbol(module, path);
        }
        if let Definition::Crate(krate) = definition {
            return self.module_symbol(krate.root_module(self.db), path);
        }
        if let Definition::BuiltinType(builtin) = definition {
            return self.builtin_symbol(builtin, path);
        }
        let target = definition.try_to_nav(&self.sema)?.call_site;
        let file = self.file(target.file_id)?;
        let name_span = span(target.focus_or_full_range());
        let outline = file.outline().clone();
        let written = match definition {
            Definition::SelfType(_) => first_within(&outline, span(target.full_range), SymbolKind::Impl),
            // The name of a field without one is its type.
            Definition::Field(_) if target.focus_range.is_none() => {
                first_within(&outline, span(target.full_range), SymbolKind::Field)
            }
            _ => item_named_at(&outline, name_span.start),
        };
        if let Some(item) = written {
            return Some(self.symbol_from(&file, item, path, definition));
        }
        // Nothing is written there: the work of a macro.
        let krate = definition.krate(self.db)?;
        let name = definition.name(self.db)?.as_str().to_owned();
        Some(Symbol {
            language: LANGUAGE,
            kind: kind_of(self, definition)?,
            name,
            signature: definition.label(self.db, self.display(krate)),
            package: self.crate_name(krate),
            place: file.lines().place(&file.path, span(target.full_range)),
            name_at: file.lines().place(&file.path, name_span),
            declared_at: None,
            docs: definition.docs(self.db, None, self.display(krate)).map(|it| it.as_str().to_owned()),
            external: !krate.origin(self.db).is_local(),
            public: matches!(definition.visibility(self.db), Some(Visibility::Public)),
            test: is_test_file_path(&file.path),
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
            path,
        })
    }

    /// A primitive type has its documentation in a module of std.
    fn builtin_symbol(&self, builtin: BuiltinType, path: String) -> Option<Symbol> {
        let documented = self.walk(&format!("std::prim_{path}")).into_iter().chain(self.walk("core"));
        let module = documented.into_iter().find_map(|it| match it {
            Definition::Module(it) => Some(it),
            _ => None,
        })?;
        let symbol = self.module_symbol(module, path.clone())?;
        let signature = builtin.name().as_str().to_owned();
        Some(Symbol { kind: SymbolKind::Type, name: path, signature, public: true, ..symbol })
    }

    pub(super) fn symbol_from(
        &self,
        file: &File,
        item: &OutlineItem,
        path: String,
        definition: Definition<'db>,
    ) -> Symbol {
        let krate = definition.krate(self.db);
        Symbol {
            language: LANGUAGE,
            path,
            kind: item.kind,
            name: item.name.clone(),
            signature: item.signature.clone(),
            package: krate.map(|it| self.crate_name(it)).unwrap_or_default(),
            place: file.lines().place(&file.path, item.span),
            name_at: file.lines().place(&file.path, item.name_span),
            declared_at: None,
            docs: item.docs.clone(),
            external: krate.is_some_and(|it| !it.origin(self.db).is_local()),
            public: item.public,
            test: item.test || is_test_file_path(&file.path),
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
        }
    }

    fn module_symbol(&self, module: Module, path: String) -> Option<Symbol> {
        let db = self.db;
        let krate = module.krate(db);
        let source = module.definition_source(db);
        let file_id = source.file_id.original_file(db).file_id(db);
        let file = self.file(file_id)?;
        let declared = module.declaration_source(db).and_then(|it| {
            let name = ast::HasName::name(&it.value)?;
            let place = |node| {
                let range = InFile::new(it.file_id, node).original_file_range_with_macro_call_input(db);
                self.place(FileRange { file_id: range.file_id.file_id(db), range: range.range })
            };
            Some((place(it.value.syntax())?, place(name.syntax())?))
        });
        let own_file = matches!(source.value, ModuleSource::SourceFile(_));
        let name = match module.name(db) {
            Some(name) => name.as_str().to_owned(),
            None => self.crate_name(krate),
        };
        let place = if own_file {
            file.lines().place(&file.path, Span::new(0, file.text.len()))
        } else {
            declared.as_ref().map(|it| it.0.clone())?
        };
        let inline = declared.as_ref().filter(|_| !own_file).and_then(|it| {
            let outline = file.outline().clone();
            item_named_at(&outline, it.1.start).map(|item| (item.signature.clone(), item.docs.clone(), item.test))
        });
        let (signature, docs, test) = match inline {
            Some(it) => it,
            None => (format!("mod {name}"), file.outline().docs.clone(), is_test_file_path(&file.path)),
        };
        Some(Symbol {
            language: LANGUAGE,
            path,
            kind: SymbolKind::Module,
            signature,
            package: self.crate_name(krate),
            name_at: match &declared {
                Some((_, at)) => at.clone(),
                None => file.lines().place(&file.path, Span::new(0, 0)),
            },
            place,
            declared_at: declared.filter(|_| own_file).map(|it| it.0),
            docs,
            external: !krate.origin(db).is_local(),
            public: matches!(module.visibility(db), Visibility::Public),
            test,
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
            name,
        })
    }

    /// The symbols of one file as a tree, with their definitions in the order of the tree, by where their names stand.
    pub(super) fn symbols_in(&self, file: &Arc<File>) -> (Vec<Symbol>, Vec<(usize, Definition<'db>)>) {
        let mut definitions = Vec::new();
        let own = self.file_id(&file.path).zip(self.files.get(&file.path));
        let Some((id, file)) = own else { return (Vec::new(), definitions) };
        let items = file.outline().items.iter().map(|item| Item::top(file, id, item));
        let symbols = items.map(|item| self.tree(&item, &mut definitions)).collect();
        (symbols, definitions)
    }

    fn tree(&self, item: &Item<'db>, definitions: &mut Vec<(usize, Definition<'db>)>) -> Symbol {
        let own = item.own;
        let definition = self.definition_of(item);
        let path = self.path_of_item(item);
        let mut symbol = match definition {
            Some(Definition::Module(module)) => self
                .module_symbol(module, path.clone())
                .unwrap_or_else(|| self.symbol_from(item.file, own, path, Definition::Module(module))),
            Some(definition) => {
                if !matches!(definition, Definition::SelfType(_)) {
                    definitions.push((own.name_span.start, definition));
                }
                self.symbol_from(item.file, own, path, definition)
            }
            None => self.unresolved(item.file, own, path),
        };
        symbol.children = own.children.iter().map(|child| self.tree(&item.child(child), definitions)).collect();
        symbol
    }

    /// An item that only the text shows.
    pub(super) fn unresolved(&self, file: &Arc<File>, item: &OutlineItem, path: String) -> Symbol {
        let package = self
            .file_id(&file.path)
            .and_then(|id| self.sema.first_crate(id))
            .map(|it| self.crate_name(it))
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
            public: item.public,
            test: item.test || is_test_file_path(&file.path),
            usages: None,
            also: Vec::new(),
            children: Vec::new(),
        }
    }

    /// The path of the innermost symbol around an offset.
    pub(super) fn enclosing_path(&self, file: &File, id: FileId, offset: usize) -> Option<String> {
        let own = self.files.get(&file.path)?;
        if let Some(known) = self.index.enclosing(id, offset) {
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
        Some(innermost.map_or_else(|| self.file_as_container(own, id), |it| self.path_of_item(&it)))
    }

    pub(super) fn line(&self, file: &File, place: &Place) -> String {
        file.lines().line_text(&file.text, place.line).to_owned()
    }
}

/// Whether an offset lies in test code.
pub(super) fn is_test_at(file: &File, offset: usize) -> bool {
    is_test_file_path(&file.path) || file.outline().enclosing(offset).iter().any(|it| it.test)
}

pub(super) fn item_named_at(outline: &Outline, offset: usize) -> Option<&OutlineItem> {
    let mut found = None;
    outline.walk(&mut |item| {
        if item.name_span.start == offset && item.kind != SymbolKind::Impl {
            found = Some(item);
        }
    });
    found
}

/// The outermost of a kind whose name stands in a range.
fn first_within(outline: &Outline, range: Span, kind: SymbolKind) -> Option<&OutlineItem> {
    let mut found = None;
    outline.walk(&mut |item| {
        if item.kind == kind && range.encloses(item.name_span) && found.is_none() {
            found = Some(item);
        }
    });
    found
}

fn name_token(tree: &ast::SourceFile, offset: usize) -> Option<SyntaxToken> {
    let tokens = tokens_at(tree.syntax(), offset);
    tokens.clone().find(|it| it.kind() == SyntaxKind::IDENT).or_else(|| tokens.last())
}

/// A definition's kind, told as the language servers' document symbols tell it.
pub(super) fn kind_of<'db>(context: &Context<'db>, definition: Definition<'db>) -> Option<SymbolKind> {
    Some(match definition {
        Definition::Module(_) | Definition::Crate(_) => SymbolKind::Module,
        Definition::Adt(Adt::Struct(_)) => SymbolKind::Struct,
        Definition::Adt(Adt::Enum(_)) => SymbolKind::Enum,
        Definition::Adt(Adt::Union(_)) => SymbolKind::Union,
        Definition::Trait(_) => SymbolKind::Trait,
        Definition::TypeAlias(_) | Definition::BuiltinType(_) => SymbolKind::Type,
        Definition::Function(it) => {
            let in_trait = as_assoc_item(definition, context.db)
                .is_some_and(|it| matches!(it.container(context.db), ra_ap_hir::AssocItemContainer::Trait(_)));
            if in_trait || it.has_self_param(context.db) { SymbolKind::Method } else { SymbolKind::Function }
        }
        Definition::Field(_) | Definition::TupleField(_) => SymbolKind::Field,
        Definition::EnumVariant(_) => SymbolKind::Variant,
        Definition::Const(_) => SymbolKind::Const,
        Definition::Static(_) => SymbolKind::Static,
        Definition::Local(_) => SymbolKind::Variable,
        Definition::Macro(_) => SymbolKind::Macro,
        Definition::SelfType(_) => SymbolKind::Impl,
        _ => return None,
    })
}
