//! Who calls a symbol, and what it calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use ra_ap_hir::{Adt, StructKind, Variant};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::{self, HasArgList as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::index::names_now;
use super::named::Sense;
use super::symbols::is_test_at;
use super::view::Context;
use crate::lang::files::File;
use crate::lang::rust::LANGUAGE;
use crate::model::{Answer, CallSite, Calls, OutlineItem, Role, Span, Symbol, SymbolKind};

impl<'db> Context<'db> {
    /// The symbols whose code calls this one, or takes it as a value that may be called: other code before tests.
    pub(super) fn callers_of(&self, definition: Definition<'db>) -> Answer<Vec<Calls>> {
        let answer = self.found_of(definition);
        /// By what they are sorted: tests last, then file and place.
        type Callers = BTreeMap<(bool, Arc<str>, usize), (FileId, Arc<File>, Vec<Span>)>;
        let mut callers = Callers::new();
        for it in answer.value.items.iter().filter(|it| matches!(it.role, Role::Call | Role::Read)) {
            let around = caller_at(&it.file, it.at.start).map_or(usize::MAX, |item| item.name_span.start);
            let key = (is_test_at(&it.file, it.at.start), it.file.path.clone(), around);
            callers.entry(key).or_insert_with(|| (it.id, it.file.clone(), Vec::new())).2.push(it.at);
        }
        let calls = callers.into_iter().filter_map(|((_, _, around), (id, file, places))| {
            let caller = match around {
                // In no function's body: the module's own code.
                usize::MAX => Definition::Module(self.sema.file_to_module_def(id)?),
                offset => self.definition_at(id, offset)?,
            };
            Some(Calls { symbol: self.symbol_of(caller)?, calls: self.call_sites(&file, &places) })
        });
        let calls = calls.collect();
        answer.map(|_| calls)
    }

    /// What the text of a symbol calls: functions, methods and constructors, in the order of their first calls.
    pub(super) fn callees_of(&self, symbol: &Symbol, definition: Definition<'db>) -> Answer<Vec<Calls>> {
        let coverage = self.coverage(false);
        let nothing = Answer { value: Vec::new(), coverage: coverage.clone() };
        let file = self.find_file(&symbol.place.file);
        let Some((id, file)) = file.and_then(|id| Some((id, self.file(id)?))) else { return nothing };
        if matches!(definition, Definition::Module(_) | Definition::Crate(_)) || !LANGUAGE.takes(&file.path) {
            return nothing;
        }
        let mut callees: Vec<(Definition<'db>, Vec<Span>)> = Vec::new();
        for (at, sense, role) in names_now(self, id).within(symbol.place.start, symbol.place.end) {
            let Sense::Means(meaning) = sense else { continue };
            let called = meaning.definition.definition();
            if role != Role::Call || !self.is_callable(called) {
                continue;
            }
            let name = called.name(self.db).map_or(0, |it| it.as_str().len());
            let place = Span::new(at, at + name);
            match callees.iter_mut().find(|it| it.0 == called) {
                Some(known) => known.1.push(place),
                None => callees.push((called, vec![place])),
            }
        }
        let calls = callees.into_iter().filter_map(|(called, places)| {
            Some(Calls { symbol: self.symbol_of(called)?, calls: self.call_sites(&file, &places) })
        });
        Answer { value: calls.collect(), coverage }
    }

    fn is_callable(&self, definition: Definition<'db>) -> bool {
        let variant = match definition {
            Definition::Function(_) => return true,
            Definition::Adt(Adt::Struct(it)) => Variant::Struct(it),
            Definition::EnumVariant(it) => Variant::EnumVariant(it),
            _ => return false,
        };
        match variant {
            Variant::Struct(it) => it.kind(self.db) == StructKind::Tuple,
            Variant::EnumVariant(it) => it.kind(self.db) == StructKind::Tuple,
            Variant::Union(_) => false,
        }
    }

    fn call_sites(&self, file: &File, places: &[Span]) -> Vec<CallSite> {
        let site = |at: &Span| {
            let place = file.lines().place(&file.path, *at);
            CallSite { text: self.line(file, &place), test: is_test_at(file, at.start), place }
        };
        places.iter().map(site).collect()
    }
}

/// The function, or the constant whose value it is, around an offset.
fn caller_at(file: &File, offset: usize) -> Option<&OutlineItem> {
    let is_code = |it: &&OutlineItem| {
        matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Const | SymbolKind::Static)
    };
    file.outline().enclosing(offset).into_iter().rev().find(is_code)
}

/// The call of what a name means: what is called, which is a method's name or a path, and what with.
pub(super) fn call_by(name: &ast::NameRef) -> Option<(SyntaxNode, ast::ArgList)> {
    let around = name.syntax().parent()?;
    if let Some(call) = ast::MethodCallExpr::cast(around.clone()) {
        return Some((name.syntax().clone(), call.arg_list()?));
    }
    let path = ast::PathSegment::cast(around)?.parent_path();
    let callee = ast::PathExpr::cast(path.syntax().parent()?)?;
    let call = ast::CallExpr::cast(callee.syntax().parent()?)?;
    // It may as well be an argument.
    call.expr().filter(|it| it.syntax() == callee.syntax())?;
    Some((callee.syntax().clone(), call.arg_list()?))
}
