//! What follows from a name that means nothing any more: the compiler tells that where the name is imported, or where
//! its type is named, and is silent about the rest.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::{Adt, Module, ModuleDef, PathResolution};
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::ast::{HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::bounds::bound_path;
use super::reach::has_body;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, span};
use crate::model::{Diagnostic, Span, SymbolKind};
use crate::text::words::words;

/// Attributes that stay what they are.
const INERT: &[&str] = &[
    "allow",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "inline",
    "macro_use",
    "must_use",
    "no_mangle",
    "non_exhaustive",
    "path",
    "repr",
    "target_feature",
    "track_caller",
    "warn",
];

/// An import that is an error.
pub(super) struct Refused {
    within: Module,
    /// What it would bring in; none where that is all there is.
    names: Option<Vec<String>>,
    /// Compared with that of others: which comes first.
    order: Vec<usize>,
    is_early: bool,
}

/// A block of which the trait, or the type, means nothing.
pub(super) struct Unheaded {
    file: String,
    span: Span,
    of_trait: bool,
}

/// The names that broken imports would have brought in, and where.
pub(super) type LostImports = HashMap<Arc<str>, Vec<(String, Span)>>;

pub(super) fn is_lost(lost: &LostImports, error: &Diagnostic, name: &str) -> bool {
    let names = lost.get(error.place.file.as_str());
    names.into_iter().flatten().any(|(lost, within)| lost == name && within.contains(error.place.start))
}

pub(super) fn is_of_a_body(error: &Diagnostic) -> bool {
    matches!(error.code.as_deref(), Some("E0277" | "E0282" | "E0308" | "E0369" | "E0599"))
}

impl<'db> Context<'db> {
    /// Whether a member of `Self` is missed, that a trait would have.
    pub(super) fn is_of_self(&self, error: &Diagnostic) -> bool {
        let before = || self.files.get(&error.place.file)?.text.get(..error.place.start);
        error.code.as_deref() == Some("E0412") && before().is_some_and(|it| it.ends_with("Self::"))
    }

    /// What a broken import would have brought in: the name itself, or members of what it names.
    pub(super) fn note_lost<'a>(
        &self,
        import: &Diagnostic,
        name: &str,
        members: impl Iterator<Item = &'a str>,
        lost: &mut LostImports,
    ) {
        let Some(file) = self.files.get(&import.place.file) else { return };
        let around = file.outline().enclosing(import.place.start);
        let scope = around.iter().rfind(|it| it.kind == SymbolKind::Module || has_body(it.kind));
        let within = scope.map_or(Span::new(0, file.text.len()), |it| it.span);
        let leads_on = file.text.get(import.place.end..).is_some_and(|it| it.trim_start().starts_with("::"));
        let mut names: Vec<&str> = if leads_on { members.collect() } else { vec![name] };
        names.retain(|it| !self.is_globbed_variant(import, it));
        lost.entry(file.path.clone()).or_default().extend(names.into_iter().map(|it| (it.to_owned(), within)));
    }

    pub(super) fn module_around(&self, error: &Diagnostic) -> Option<Module> {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start))?;
        Some(self.sema.scope(&token.parent()?)?.module())
    }

    /// The block of which the trait, or the type, means nothing: of its bodies the compiler says nothing more.
    pub(super) fn block_headed_by(&self, error: &Diagnostic) -> Option<Unheaded> {
        let file = self.files.get(&error.place.file)?;
        let of_trait = match error.code.as_deref() {
            Some("E0404" | "E0405") => true,
            Some("E0433") if self.leads_to_header(error) => true,
            Some("E0412") if self.is_headed(error) => false,
            _ => return None,
        };
        let block = file.outline().enclosing(error.place.start).pop().filter(|it| it.kind == SymbolKind::Impl)?;
        Some(Unheaded { file: error.place.file.clone(), span: block.span, of_trait })
    }

    /// Whether an error is within such a block, or misses what the block would give its type: where a trait means nothing
    /// the compiler comes to its end before it asks for that.
    pub(super) fn is_of_unheaded(&self, of: &Unheaded, error: &Diagnostic) -> bool {
        if of.file == error.place.file && of.span.contains(error.place.start) {
            return true;
        }
        let Some(file) = self.files.get(&of.file).filter(|_| of.of_trait) else { return false };
        let chain = file.outline().enclosing(of.span.start);
        let Some(block) = chain.last().filter(|it| it.span == of.span) else { return false };
        match error.code.as_deref() {
            Some("E0277") => {
                let lacks = error.message.split('`').nth(1).and_then(|it| it.rsplit(": ").next()).unwrap_or_default();
                let of = block.name.split(" for ").next().and_then(|it| it.rsplit("::").next()).unwrap_or_default();
                !lacks.is_empty() && lacks == of
            }
            Some("E0599") => {
                let text = self.text_of(error).unwrap_or_default();
                let member = text.rsplit("::").next().unwrap_or_default();
                block.children.iter().any(|it| it.name == member)
            }
            _ => false,
        }
    }

    /// Whether what is missed is the type that a block is of.
    fn is_headed(&self, error: &Diagnostic) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let Some(ast::Type::PathType(of)) = block.and_then(|it| it.self_ty()) else { return false };
        of.path().and_then(|it| it.segment()?.name_ref()?.ident_token()) == token
    }

    /// Whether what is missed is a module on the way to the trait that a block implements.
    fn leads_to_header(&self, error: &Diagnostic) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let block = token.as_ref().and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let Some(ast::Type::PathType(of)) = block.and_then(|it| it.trait_()) else { return false };
        let mut way = std::iter::successors(of.path().and_then(|it| it.qualifier()), |it| it.qualifier());
        way.any(|it| it.segment().and_then(|it| it.name_ref()?.ident_token()) == token)
    }

    /// An import that means nothing any more.
    pub(super) fn refused_import(&self, error: &Diagnostic) -> Option<Refused> {
        let within = self.module_around(error)?;
        let is_early = self.way_to(error).is_none_or(|it| self.is_known_early(it));
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start))?;
        let names = leaves(&token.parent_ancestors().find_map(ast::UseTree::cast)?);
        Some(Refused { within, names, order: self.order_of(error, within), is_early })
    }

    /// The module that the path to what is missed leads through.
    fn way_to(&self, error: &Diagnostic) -> Option<Module> {
        let written = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start))?;
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

    /// Whether the path to what is missed leads through another module, that is to import it and does not. The
    /// compiler goes on as if it had, as soon as it has told of that import.
    pub(super) fn leads_through(&self, error: &Diagnostic, refused: &[Refused], is_import: bool) -> bool {
        let Some(own) = self.module_around(error).filter(|_| !refused.is_empty()) else { return false };
        let is_other = |it: &Module| *it != own && it.krate(self.db) == own.krate(self.db);
        let Some(way) = self.way_to(error).filter(is_other) else { return false };
        let is_told_first = |it: &Refused| !is_import || it.is_early || it.order < self.order_of(error, own);
        let name = self.text_of(error).unwrap_or_default();
        let is_brought = |it: &Refused| it.names.as_ref().is_none_or(|it| it.iter().any(|it| it == name));
        refused.iter().any(|it| it.within == way && is_brought(it) && is_told_first(it))
    }

    /// Whether a module brings in by a glob, or by one behind that, what another is to import and does not.
    pub(super) fn is_brought_by_glob(&self, error: &Diagnostic, refused: &[Refused]) -> bool {
        let Some(own) = self.module_around(error).filter(|_| !refused.is_empty() && self.is_bare(error)) else {
            return false;
        };
        let (mut seen, mut next) = (Vec::new(), vec![own]);
        while let Some(module) = next.pop() {
            if module != own && refused.iter().any(|it| it.within == module) {
                return true;
            }
            if !seen.contains(&module) {
                seen.push(module);
                next.extend(self.globbed(module));
            }
        }
        false
    }

    /// The modules of which a module imports all.
    fn globbed(&self, module: Module) -> Vec<Module> {
        let imports = self.nodes_in(module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
        let globs = imports.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
        let modules = globs.filter_map(|it| match self.sema.resolve_path(&it)? {
            PathResolution::Def(ModuleDef::Module(it)) => Some(it),
            _ => None,
        });
        modules.collect()
    }

    /// Whether a variant of that name is brought in by a glob beside an import: then it is what the name means.
    fn is_globbed_variant(&self, import: &Diagnostic, name: &str) -> bool {
        let Some(module) = self.module_around(import) else { return false };
        let trees = self.nodes_in(module).filter_map(ast::Use::cast).filter_map(|it| it.use_tree());
        let globs = trees.filter(|it| it.star_token().is_some()).filter_map(|it| it.path());
        globs.into_iter().any(|it| match self.sema.resolve_path(&it) {
            Some(PathResolution::Def(ModuleDef::Adt(Adt::Enum(it)))) => {
                it.variants(self.db).iter().any(|it| it.name(self.db).as_str() == name)
            }
            _ => false,
        })
    }

    /// Where something stands in the whole crate, each module being where it is declared.
    fn order_of(&self, error: &Diagnostic, within: Module) -> Vec<usize> {
        let declared = |it: Module| Some(span(it.declaration_source(self.db)?.value.syntax().text_range()).start);
        let around = std::iter::successors(Some(within), |it| it.parent(self.db)).filter_map(declared);
        let mut order: Vec<usize> = around.collect();
        order.reverse();
        order.push(error.place.start);
        order
    }

    /// Whether the compiler knows what there is in a module before it expands macros.
    fn is_known_early(&self, module: Module) -> bool {
        self.nodes_in(module).all(|item| {
            let mut attributes = item.children().filter_map(ast::Attr::cast).filter_map(|it| it.simple_name());
            !ast::MacroCall::can_cast(item.kind()) && attributes.all(|it| INERT.contains(&it.as_str()))
        })
    }

    fn nodes_in(&self, module: Module) -> impl Iterator<Item = SyntaxNode> + use<> {
        let source = self.sema.module_definition_node(module).value;
        let list = source.children().find(|it| ast::ItemList::can_cast(it.kind()));
        list.unwrap_or(source).children()
    }

    /// Whether an error is that of an import, told once more where the name is used.
    pub(super) fn follows_from(&self, lost: &LostImports, error: &Diagnostic) -> bool {
        let is_of_name = match error.code.as_deref() {
            Some("E0425" | "E0412" | "E0433" | "E0405" | "E0404" | "E0422" | "E0531") => true,
            None => error.message.starts_with("cannot find macro"),
            _ => false,
        };
        if !is_of_name {
            return false;
        }
        let text = self.text_of(error).unwrap_or_default();
        let first = text.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap_or_default();
        (is_lost(lost, error, first) || self.is_lost_in_definition(lost, error, first)) && self.is_bare(error)
    }

    /// Whether a name stands in the definition of a macro, and would have been imported wherever that is called.
    fn is_lost_in_definition(&self, lost: &LostImports, error: &Diagnostic, name: &str) -> bool {
        let names = || lost.values().flatten().any(|it| it.0 == name);
        let id = self.file_id(&error.place.file).filter(|_| names());
        let Some(definition) = id.and_then(|id| self.macro_around(id, error.place.start)) else { return false };
        let is_lost_there = |it: &Occurrence| {
            let names = lost.get(&it.file.path).into_iter().flatten();
            names.into_iter().any(|(lost, within)| lost == name && within.contains(it.at.start))
        };
        self.find(&[definition]).into_iter().all(|it| !it.items.is_empty() && it.items.iter().all(is_lost_there))
    }

    /// Whether an error is there because a type is not known any more: that is told where the type is named, or was
    /// imported.
    pub(super) fn follows_from_unknown(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Diagnostic) -> bool {
        let message = &error.message;
        match error.code.as_deref() {
            Some("E0282") => true,
            Some("E0277" | "E0599") if self.is_of_unbound(error) => true,
            Some("E0599") if message.ends_with("for type `()`") => true,
            Some("E0277") if message.starts_with("the trait bound `(): ") => true,
            // Where an import is lost, the name does not mean another one from a prelude.
            Some("E0107") => self.names_lost(&HashSet::new(), lost, error),
            Some("E0277" | "E0308" | "E0369") => self.names_lost(gone, lost, error),
            Some("E0599") => {
                message.starts_with("no ") && self.names_lost(gone, lost, error) && !self.is_of_known_type(error)
            }
            _ => false,
        }
    }

    /// Whether what is missed is a variant, or the like, of a type that there is.
    fn is_of_known_type(&self, error: &Diagnostic) -> bool {
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        let paths = token.into_iter().flat_map(|it| it.parent_ancestors()).map_while(|it| match it.kind() {
            SyntaxKind::NAME_REF | SyntaxKind::PATH_SEGMENT => Some(None),
            _ => ast::Path::cast(it).map(Some),
        });
        let qualifier = paths.flatten().find_map(|it| it.qualifier());
        let meant = qualifier.and_then(|it| self.sema.resolve_path(&it));
        matches!(meant, Some(PathResolution::Def(ModuleDef::Adt(_))))
    }

    /// Whether an error speaks of a type parameter that is bound by something that means nothing: it may have any method.
    fn is_of_unbound(&self, error: &Diagnostic) -> bool {
        let told = error.message.split("for type `").nth(1).or_else(|| error.message.split("trait bound `").nth(1));
        let name = told.unwrap_or_default().trim_start_matches(['&', ' ']).trim_start_matches("mut ");
        let Some(name) = name.split(['`', ':']).next().filter(|it| it.chars().all(char::is_alphanumeric)) else {
            return false;
        };
        let token = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start));
        token.is_some_and(|it| self.is_unbound(&it, name))
    }

    /// Whether a name is that of a type parameter that is bound so.
    pub(super) fn is_unbound(&self, token: &SyntaxToken, name: &str) -> bool {
        let around = token.parent_ancestors().filter_map(ast::AnyHasGenericParams::cast);
        around.into_iter().any(|it| {
            let own = it.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
            let own = own.filter(|it| it.name().is_some_and(|it| it.text() == name)).filter_map(|it| match it {
                ast::TypeOrConstParam::Type(it) => it.type_bound_list(),
                ast::TypeOrConstParam::Const(_) => None,
            });
            let clauses = it.where_clause().into_iter().flat_map(|it| it.predicates());
            let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == name));
            let lists = own.chain(clauses.filter_map(|it| it.type_bound_list()));
            let mut paths = lists.flat_map(|it| it.bounds()).filter_map(bound_path);
            paths.any(|it| self.sema.resolve_path(&it).is_none())
        })
    }

    /// Whether a line of an error names what is gone.
    pub(super) fn names_lost(&self, gone: &HashSet<&str>, lost: &LostImports, error: &Diagnostic) -> bool {
        let Some(file) = self.files.get(&error.place.file) else { return false };
        let mut lines = (error.place.line..=error.place.end_line).map(|it| file.lines().line_text(&file.text, it));
        lines.any(|line| words(line).any(|(_, word)| gone.contains(word) || is_lost(lost, error, word)))
    }

    pub(super) fn text_of(&self, error: &Diagnostic) -> Option<&'db str> {
        self.files.get(&error.place.file)?.text.get(error.place.start..error.place.end)
    }

    /// Whether a name stands there without what contains it.
    pub(super) fn is_bare(&self, error: &Diagnostic) -> bool {
        let Some(token) = self.file_id(&error.place.file).and_then(|id| self.token(id, error.place.start)) else {
            return false;
        };
        // The input of a macro is no more than tokens.
        if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
            let before = token.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev));
            return before.is_none_or(|it| it.text() != ":");
        }
        let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast);
        segment.is_some_and(|it| it.parent_path().qualifier().is_none())
    }
}

/// The names that a part of an import brings in.
fn leaves(tree: &ast::UseTree) -> Option<Vec<String>> {
    if let Some(list) = tree.use_tree_list() {
        let parts: Option<Vec<Vec<String>>> = list.use_trees().map(|it| leaves(&it)).collect();
        return parts.map(|it| it.concat());
    }
    let name = match tree.rename() {
        Some(it) => it.name().map(|it| it.text().to_string()),
        None => tree.path().and_then(|it| it.segment()?.name_ref()).map(|it| it.text().to_string()),
    };
    tree.star_token().is_none().then(|| name.into_iter().collect())
}
