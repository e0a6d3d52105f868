//! Whether all possible declarations of a module are known: only then is a name that is not among them unresolved for
//! the compiler too.

use ra_ap_hir::{Adt, InFile, Module, ModuleDef, ModuleSource, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasAttrs as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::derive_expansion::OF_THE_COMPILER;
use super::lookup::{brought_by, meant_by_glob, nodes_in};
use super::written;
use crate::names::instances;
use crate::syntax::declaration::declared_name;
use crate::syntax::is_read_by_tools;
use crate::view::Context;
use semdex_text::words::has_word;

/// The most levels of macros in macros that are followed.
const MAX_MACROS: usize = 3;

/// Whether the file of a module does not exist, or is not read. The compiler reports the declaration alone, and nothing
/// of what names the module's items.
pub(crate) fn is_without_file(cx: &Context<'_>, module: Module) -> bool {
    let declaration = module.declaration_source(cx.db).filter(|it| it.value.item_list().is_none());
    declaration.is_some() && matches!(module.definition_source(cx.db).value, ModuleSource::Module(_))
}

/// What may declare a name, as far as it was checked.
pub(crate) struct Closed<'c, 'db> {
    cx: &'c Context<'db>,
    name: &'c str,
    seen: Vec<Module>,
}

impl<'c, 'db> Closed<'c, 'db> {
    pub(crate) fn new(cx: &'c Context<'db>, name: &'c str) -> Closed<'c, 'db> {
        Closed { cx, name, seen: Vec::new() }
    }

    /// Whether no unknown declaration of the name can exist in a module, or in one that it imports by a glob.
    pub(crate) fn module(&mut self, module: Module) -> bool {
        if self.seen.contains(&module) {
            return true;
        }
        self.seen.push(module);
        if is_without_file(self.cx, module) {
            return false;
        }
        let file = module.definition_source_file_id(self.cx.db).file_id();
        let file = file.map(|it| it.file_id(self.cx.db)).and_then(|it| self.cx.name_of(it));
        if file.is_none_or(|it| self.cx.files.get(&it).is_none()) {
            // Dependencies may be built with other settings; the standard library is fixed.
            return module.krate(self.cx.db).is_builtin(self.cx.db);
        }
        nodes_in(&self.cx.sema, module).all(|it| self.node(&it, module, MAX_MACROS))
    }

    /// The same for the blocks of code around a node.
    pub(crate) fn blocks(&mut self, within: &SyntaxNode, module: Module) -> bool {
        let lists = within.ancestors().filter(|it| ast::StmtList::can_cast(it.kind()));
        let nodes = lists.flat_map(|it| it.children());
        nodes.into_iter().all(|it| match ast::MacroCall::cast(it.clone()).or_else(|| called(&it)) {
            Some(call) => self.cx.sema.resolve_macro_call(&call).is_some(),
            None => !ast::Item::can_cast(it.kind()) || self.node(&it, module, MAX_MACROS),
        })
    }

    fn node(&mut self, node: &SyntaxNode, module: Module, depth: usize) -> bool {
        let Some(item) = ast::Item::cast(node.clone()) else { return true };
        // What an attribute macro makes of an item takes its place.
        if let Some(made) = self.cx.sema.expand_attr_macro(&item) {
            let items = made.value.value.children();
            return depth > 0 && made.err.is_none() && items.into_iter().all(|it| self.node(&it, module, depth - 1));
        }
        let is_compiled = written::is_compiled(self.cx, module.krate(self.cx.db), node);
        if is_compiled == Some(false) {
            return true;
        }
        if is_compiled.is_none() && self.may_bring(&item) || !self.has_known_attributes(&item) {
            return false;
        }
        match item {
            ast::Item::Use(it) => it.use_tree().is_none_or(|it| self.import(&it, module)),
            ast::Item::ExternCrate(_) | ast::Item::ExternBlock(_) => {
                is_compiled.is_some() && !is_conditional_within(node) || !self.says(node)
            }
            ast::Item::MacroCall(call) => self.call(&call, module, depth),
            _ => true,
        }
    }

    /// Whether an item may bring in the name when `cfg` enables it.
    fn may_bring(&self, item: &ast::Item) -> bool {
        match item {
            ast::Item::Impl(_) | ast::Item::MacroDef(_) | ast::Item::MacroRules(_) | ast::Item::AsmExpr(_) => false,
            ast::Item::Use(it) => {
                let names = it.use_tree().and_then(|it| brought_by(&it));
                names.is_none_or(|it| it.iter().any(|it| it == self.name))
            }
            it => declared_name(it).is_none_or(|it| it.text().trim_start_matches("r#") == self.name),
        }
    }

    /// Whether no attribute is a macro that transforms its item, and the expansion of each derive is known.
    pub(crate) fn has_known_attributes(&self, item: &ast::Item) -> bool {
        let sema = &self.cx.sema;
        let is_derived = |it: &ast::Attr| it.simple_name().is_some_and(|it| it == "derive");
        let known = |attribute: ast::Attr| {
            let text = attribute.syntax().text().to_string();
            let written = text.trim_start_matches(['#', '!', '[', ' ']);
            if !is_derived(&attribute) {
                // The helper attributes of derives are not macros.
                let is_helper = matches!(item, ast::Item::Enum(_) | ast::Item::Struct(_) | ast::Item::Union(_))
                    && item.attrs().any(|it| is_derived(&it));
                let is_macro = || sema.is_attr_macro_call(InFile::new(sema.hir_file_for(item.syntax()), item));
                return is_read_by_tools(written) || is_helper && !is_macro();
            }
            let list = text.split_once('(').map_or("", |it| it.1).trim_end_matches([')', ']', ' ']);
            let is_plain = list.split(',').map(str::trim).all(|it| it.is_empty() || OF_THE_COMPILER.contains(&it));
            let made = || attribute.meta().and_then(|it| sema.expand_derive_macro(&it));
            is_plain || made().is_some_and(|it| it.iter().all(|it| it.as_ref().is_some_and(|it| it.err.is_none())))
        };
        item.attrs().all(known)
    }

    fn import(&mut self, tree: &ast::UseTree, module: Module) -> bool {
        let leaves = tree.syntax().descendants().filter_map(ast::UseTree::cast);
        let leaves: Vec<ast::UseTree> = leaves.filter(|it| it.use_tree_list().is_none()).collect();
        leaves.iter().all(|leaf| {
            if leaf.star_token().is_none() {
                let is_it = brought_by(leaf).is_none_or(|it| it.iter().any(|it| it == self.name));
                return !is_it;
            }
            match meant_by_glob(&self.cx.sema, leaf) {
                Some(PathResolution::Def(ModuleDef::Module(it))) => it == module || self.module(it),
                Some(PathResolution::Def(ModuleDef::Adt(Adt::Enum(_)))) => true,
                _ => false,
            }
        })
    }

    fn call(&mut self, call: &ast::MacroCall, module: Module, depth: usize) -> bool {
        let made = self.cx.sema.expand_allowed_builtins(call).filter(|it| depth > 0 && it.err.is_none());
        made.is_some_and(|it| it.value.children().all(|it| self.node(&it, module, depth - 1)))
    }

    fn says(&self, node: &SyntaxNode) -> bool {
        has_word(&node.text().to_string(), self.name)
    }
}

/// Whether a name that leads nowhere at a place in a file leads nowhere for the compiler too.
pub(crate) fn is_sure(cx: &Context<'_>, name: &str, within: &SyntaxNode) -> bool {
    let Some(own) = module_of(&cx.sema, within) else { return false };
    let mut closed = Closed::new(cx, name);
    // Anything may be imported if not all declarations are known.
    cx.environment.lacks().is_empty() && closed.module(own) && closed.blocks(within, own)
}

/// The same for a name after `::`: that of a crate, and in the edition 2015 one of the own crate's root.
pub(crate) fn is_sure_of_crates(cx: &Context<'_>, name: &str, within: &SyntaxNode) -> bool {
    let root = module_of(&cx.sema, within).map(|it| it.krate(cx.db).root_module(cx.db));
    cx.environment.lacks().is_empty() && root.is_some_and(|it| Closed::new(cx, name).module(it))
}

fn is_conditional_within(node: &SyntaxNode) -> bool {
    node.descendants().filter_map(ast::Attr::cast).any(|it| it.syntax().text().to_string().contains("cfg"))
}

/// The macro that a statement calls.
fn called(statement: &SyntaxNode) -> Option<ast::MacroCall> {
    let expression = match ast::ExprStmt::cast(statement.clone()) {
        Some(it) => it.expr()?.syntax().clone(),
        None => statement.clone(),
    };
    ast::MacroExpr::cast(expression)?.macro_call()
}

/// The module whose text contains a node, if it belongs to exactly one crate.
pub(crate) fn module_of(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Option<Module> {
    match node.ancestors().find_map(ast::Module::cast) {
        Some(it) => sema.to_def(&it),
        None => {
            let file = sema.hir_file_for(node).file_id()?.file_id(sema.db);
            let modules: Vec<Module> = sema.file_to_module_defs(file).collect();
            let is_read_for = |it: &&Module| instances::is_pinned(it.krate(sema.db));
            let pinned = modules.iter().any(|it| is_read_for(&it));
            let mut modules = modules.iter().filter(|it| !pinned || is_read_for(it)).copied();
            modules.next().filter(|first| modules.all(|it| it == *first))
        }
    }
}
