//! What a change reaches by way of macros of the workspace: their definitions are no more than tokens, so it is looked
//! at what their calls make.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::{Definition, NameRefClass};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected_set::ChangedSymbol;
use crate::lang::rust::paths::as_assoc_item;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::Context;
use crate::text::words::words;

/// Macros in macros are followed so deep.
pub(super) const MAX_MACROS: usize = 3;

impl<'db> Context<'db> {
    /// Each node of a body, and of what macros make in it.
    pub(super) fn in_expansions(&self, body: &SyntaxNode, visit: &mut dyn FnMut(&SyntaxNode)) {
        self.in_expansions_to(body, MAX_MACROS, visit);
    }

    /// Each node of a body, and where it is wanted of what macros make in it, with a mark on these.
    pub(super) fn in_body(&self, body: &SyntaxNode, expands: bool, visit: &mut dyn FnMut(&SyntaxNode, bool)) {
        for node in body.descendants() {
            match ast::MacroCall::cast(node.clone()).filter(|_| expands) {
                Some(call) => {
                    if let Some(expansion) = self.sema.expand_macro_call(&call) {
                        self.in_expansions_to(&expansion.value, MAX_MACROS - 1, &mut |it| visit(it, true));
                    }
                }
                None => visit(&node, false),
            }
        }
    }

    fn in_expansions_to(&self, node: &SyntaxNode, depth: usize, visit: &mut dyn FnMut(&SyntaxNode)) {
        for inner in node.descendants() {
            match ast::MacroCall::cast(inner.clone()) {
                Some(call) if depth > 0 => {
                    if let Some(expansion) = self.sema.expand_macro_call(&call) {
                        self.in_expansions_to(&expansion.value, depth - 1, visit);
                    }
                }
                Some(_) => {}
                None => visit(&inner),
            }
        }
    }

    /// The bodies that macros may lead to these places: that around them, or those around the calls of the macro in
    /// whose definition they stand.
    pub(super) fn follow_macros(
        &self,
        cause: &ChangedSymbol<'_>,
        places: &[Occurrence],
        depth: usize,
        units: &mut BTreeSet<(Arc<str>, usize)>,
    ) {
        let mut macros: Vec<Definition<'db>> = Vec::new();
        for it in places {
            if let Some(anchor) = self.anchor_of(it) {
                units.insert(anchor);
                continue;
            }
            macros.extend(self.macro_around(it.id, it.at.start).filter(|it| !macros.contains(it)));
        }
        if macros.is_empty() || depth == 0 {
            return;
        }
        for found in self.find(&macros) {
            // The calls of one file are alike: the first tells whether the name in the macro is this one.
            for calls in found.items.chunk_by(|a, b| a.id == b.id).filter(|it| self.makes(&it[0], cause)) {
                for it in calls {
                    units.extend(self.anchor_of(it));
                }
            }
            let inner: Vec<Occurrence> = found.in_macros().collect();
            self.follow_macros(cause, &inner, depth - 1, units);
        }
    }

    /// The calls of each macro in whose definition one of these places is.
    pub(super) fn calls_around(&self, places: &[Occurrence]) -> Vec<Vec<Occurrence>> {
        let mut macros: Vec<Definition<'db>> = Vec::new();
        for it in places {
            macros.extend(self.macro_around(it.id, it.at.start).filter(|it| !macros.contains(it)));
        }
        self.find(&macros).into_iter().map(|it| it.items).collect()
    }

    /// The macro in whose definition an offset stands.
    pub(super) fn macro_around(&self, file: FileId, offset: usize) -> Option<Definition<'db>> {
        let definition = self.token(file, offset)?.parent_ancestors().find_map(ast::Macro::cast)?;
        self.sema.to_def(&definition).map(Definition::Macro)
    }

    /// The call that names a macro.
    pub(super) fn call_at(&self, file: FileId, offset: usize) -> Option<ast::MacroCall> {
        self.token(file, offset)?.parent_ancestors().find_map(ast::MacroCall::cast)
    }

    /// Whether a call of a macro makes something that names what changes, or may.
    fn makes(&self, call: &Occurrence, cause: &ChangedSymbol<'_>) -> bool {
        match self.call_at(call.id, call.at.start) {
            Some(call) => self.expansion_names(&call, cause, MAX_MACROS),
            None => true,
        }
    }

    fn expansion_names(&self, call: &ast::MacroCall, cause: &ChangedSymbol<'_>, depth: usize) -> bool {
        let Some(expansion) = self.sema.expand_macro_call(call).filter(|_| depth > 0) else { return true };
        expansion.value.descendants().any(|node| {
            if let Some(inner) = ast::MacroCall::cast(node.clone()) {
                // What stands in the definition of another one is followed from there.
                let is_same = called(&inner).is_some_and(|it| Some(it) == called(call));
                let holds_it = || words(&inner.syntax().text().to_string()).any(|it| it.1 == cause.name);
                return (is_same || holds_it()) && self.expansion_names(&inner, cause, depth - 1);
            }
            let Some(name) = ast::NameRef::cast(node).filter(|it| it.text() == cause.name) else { return false };
            match NameRefClass::classify(&self.sema, &name) {
                // What implements a trait's member is meant where that is.
                Some(NameRefClass::Definition(it, _)) if self.implements(it) => true,
                Some(NameRefClass::Definition(it, _)) => self.path_of(it).is_none_or(|it| it == cause.path),
                _ => true,
            }
        })
    }

    fn implements(&self, definition: Definition<'db>) -> bool {
        as_assoc_item(definition, self.db).is_some_and(|it| it.implemented_trait(self.db).is_some())
    }
}

fn called(call: &ast::MacroCall) -> Option<String> {
    Some(call.path()?.segment()?.name_ref()?.text().to_string())
}
