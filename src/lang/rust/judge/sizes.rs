//! Texts without a reference. Where a value has no type because of an error, the compiler takes from `&value` as an
//! argument that it is a `str`, and then misses its size where it is a part of a pattern or is formatted.

use std::collections::BTreeSet;

use ra_ap_hir::Type;
use ra_ap_syntax::ast::{self, HasGenericParams as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::native::Told;
use crate::lang::rust::view::{Context, unless_at_fault};
use crate::model::{Diagnostic, SymbolKind};

/// After these a value has no type.
const ENDING: [&str; 7] = ["E0405", "E0412", "E0422", "E0425", "E0433", "E0531", "E0599"];

/// More bodies than this are not looked at.
const MAX_BODIES: usize = 50;

const MESSAGE: &str = "the size for values of type `str` cannot be known";

impl<'db> Context<'db> {
    /// In the bodies in which there are errors, or whose blocks have one in their heads.
    pub(super) fn unsized_texts(&self, new: &[Diagnostic]) -> Vec<Diagnostic> {
        let mut bodies: BTreeSet<(&str, usize)> = BTreeSet::new();
        let is_ending = |it: &&Diagnostic| it.code.as_deref().is_some_and(|it| ENDING.contains(&it));
        for error in new.iter().filter(is_ending) {
            let Some(file) = self.files.get(&error.place.file) else { continue };
            let around = file.outline().enclosing(error.place.start);
            let is_function = |kind| matches!(kind, SymbolKind::Function | SymbolKind::Method);
            let own = around.iter().find(|it| is_function(it.kind)).map(|it| it.name_span.start);
            let block = around.last().filter(|it| it.kind == SymbolKind::Impl);
            let members = block.into_iter().flat_map(|it| &it.children).filter(|it| is_function(it.kind));
            bodies.extend(members.map(|it| it.name_span.start).chain(own).map(|it| (&*file.path, it)));
        }
        let mut found = Vec::new();
        for (file, at) in bodies.into_iter().take(MAX_BODIES) {
            for body in self.bodies_at(file, at) {
                let told = unless_at_fault(|| self.body_syntax(body).map(|it| self.unsized_in(&it))).flatten();
                found.extend(told.into_iter().flatten().filter_map(|it| self.placed(it)));
            }
        }
        found
    }

    fn unsized_in(&self, body: &SyntaxNode) -> Vec<Told> {
        let of_text = |it: &ast::TupleStructPat| {
            let ty = self.sema.type_of_pat(&it.clone().into());
            let has_part = ty.is_some_and(|it| self.has_text_as_part(&it.original));
            has_part && self.is_of_value(it.syntax()) && self.binds_text(it.syntax())
        };
        let patterns = body.descendants().filter_map(ast::TupleStructPat::cast).filter(of_text);
        let mut nodes: Vec<SyntaxNode> = patterns.map(|it| it.syntax().clone()).collect();
        let mut bound = body.descendants().filter_map(ast::IdentPat::cast);
        if bound.any(|it| self.sema.type_of_binding_in_pat(&it).is_some_and(|it| is_text(&it))) {
            self.in_expansions(body, &mut |node| {
                let formatted = ast::FormatArgsArg::cast(node.clone()).and_then(|it| it.expr());
                let ty = formatted.and_then(|it| self.sema.type_of_expr(&it));
                nodes.extend(ty.filter(|it| is_text(&it.original)).map(|_| node.clone()));
            });
        }
        nodes.iter().map(|it| self.told_of(it, "E0277", MESSAGE.to_owned())).collect()
    }

    /// Whether a pattern is held against a value. To the compiler a reference to what has no type has none either.
    fn is_of_value(&self, pattern: &SyntaxNode) -> bool {
        let of = pattern.ancestors().find_map(|it| match ast::MatchExpr::cast(it.clone()) {
            Some(it) => Some(it.expr()),
            None => ast::LetStmt::cast(it.clone())
                .map(|it| it.initializer())
                .or_else(|| ast::LetExpr::cast(it).map(|it| it.expr())),
        });
        let ty = of.flatten().and_then(|it| self.sema.type_of_expr(&it));
        ty.is_some_and(|it| !it.original.is_reference())
    }

    /// Each arm of a `match` has a type of its own then.
    fn binds_text(&self, pattern: &SyntaxNode) -> bool {
        let mut bound = pattern.descendants().filter_map(ast::IdentPat::cast);
        bound.any(|it| self.sema.type_of_binding_in_pat(&it).is_some_and(|it| is_text(&it.strip_references())))
    }

    /// Whether a parameter of the type has to have a size, and is a text.
    fn has_text_as_part(&self, ty: &Type<'db>) -> bool {
        let Some(adt) = ty.as_adt().filter(|_| ty.type_arguments().any(|it| is_text(&it))) else { return false };
        let source = self.sema.source(adt).map(|it| it.value);
        let list = source.iter().filter_map(|it| it.generic_param_list()).map(|it| it.syntax().text().to_string());
        let bounds = source.iter().filter_map(|it| it.where_clause()).map(|it| it.syntax().text().to_string());
        source.is_some() && !list.chain(bounds).any(|it| it.contains("?Sized"))
    }
}

fn is_text(ty: &Type<'_>) -> bool {
    ty.as_builtin().is_some_and(|it| it.is_str())
}
