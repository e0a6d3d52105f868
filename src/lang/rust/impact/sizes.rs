//! Texts without a reference. Where a value has no type because of an error, the compiler takes from `&value` as an
//! argument that it is a `str`, and then misses its size where it is a part of a pattern or is formatted.

use std::collections::BTreeSet;

use ra_ap_hir::{Local, PathResolution, Type};
use ra_ap_syntax::ast::{self, HasGenericParams as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::native::Told;
use super::reach::Reach;
use crate::lang::rust::view::{Context, unless_at_fault};
use crate::model::{Diagnostic, SymbolKind};

/// After these a value has no type.
const ENDING: [&str; 7] = ["E0405", "E0412", "E0422", "E0425", "E0433", "E0531", "E0599"];

/// More bodies than this are not looked at.
const MAX_BODIES: usize = 50;

const MESSAGE: &str = "the size for values of type `str` cannot be known";

impl<'db> Context<'db> {
    /// In the bodies in which there are errors, or whose blocks have one in their heads, and in those that name what is
    /// not known for an error elsewhere.
    pub(super) fn unsized_texts(&self, reach: &Reach<'_>, new: &[Diagnostic]) -> Vec<Diagnostic> {
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
        if new.iter().any(|it| matches!(it.code.as_deref(), Some("E0412" | "E0432"))) {
            bodies.extend(reach.units.iter().filter_map(|it| Some((&*it.file, it.after?))));
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
        nodes.extend(self.formatted_parts(body));
        nodes.iter().map(|it| self.told_of(it, "E0277", MESSAGE.to_owned())).collect()
    }

    /// Of branches of which one has an error in its type, the compiler knows no type at all, and what a pattern takes out
    /// of it is what is wanted where it is used first. Told where it is formatted.
    fn formatted_parts(&self, body: &SyntaxNode) -> Vec<SyntaxNode> {
        let mut found = Vec::new();
        for binding in body.descendants().filter_map(ast::LetStmt::cast).filter(|it| it.ty().is_none()) {
            let Some(ast::Pat::TuplePat(parts)) = binding.pat() else { continue };
            if !binding.initializer().is_some_and(|it| self.has_lost_branch(&it)) {
                continue;
            }
            let names = parts.fields().filter_map(|it| match it {
                ast::Pat::IdentPat(it) if it.pat().is_none() && it.ref_token().is_none() => self.sema.to_def(&it),
                _ => None,
            });
            let uses: Vec<Vec<SyntaxNode>> = names.map(|it| self.uses_of(it, body)).collect();
            // Where the type has to be known, the compiler gives up.
            if uses.iter().filter_map(|it| it.first()).any(|it| !takes_all_types(it)) {
                continue;
            }
            let texts = uses.into_iter().filter(|it| it.first().is_some_and(|it| self.is_given_as_text(it)));
            found.extend(texts.filter_map(|it| it.into_iter().find(|it| ast::FormatArgsArg::can_cast(it.kind()))));
        }
        found
    }

    /// What a local is a part of where it is named, in the order of the text.
    fn uses_of(&self, local: Local, body: &SyntaxNode) -> Vec<SyntaxNode> {
        let mut uses = Vec::new();
        self.in_expansions(body, &mut |node| {
            let path = ast::PathExpr::cast(node.clone()).and_then(|it| it.path());
            if path.and_then(|it| self.sema.resolve_path(&it)) == Some(PathResolution::Local(local)) {
                uses.extend(node.parent());
            }
        });
        uses
    }

    fn has_lost_branch(&self, of: &ast::Expr) -> bool {
        let is = |it: Option<ast::Expr>| it.is_some_and(|it| self.has_lost_branch(&it));
        match of {
            ast::Expr::BlockExpr(it) => is(it.tail_expr()),
            ast::Expr::IfExpr(it) => {
                let other = it.else_branch().is_some_and(|it| match it {
                    ast::ElseBranch::Block(it) => is(Some(it.into())),
                    ast::ElseBranch::IfExpr(it) => is(Some(it.into())),
                });
                other || is(it.then_branch().map(Into::into))
            }
            ast::Expr::MatchExpr(it) => it.match_arm_list().is_some_and(|it| it.arms().any(|it| is(it.expr()))),
            ast::Expr::TupleExpr(it) => it.fields().any(|it| self.comes_of_unknown(&it)),
            _ => false,
        }
    }

    /// Whether a reference is an argument that has to be a text.
    fn is_given_as_text(&self, reference: &SyntaxNode) -> bool {
        let list = || reference.parent().and_then(ast::ArgList::cast);
        let Some(list) = ast::RefExpr::can_cast(reference.kind()).then(list).flatten() else { return false };
        let Some(at) = list.args().position(|it| it.syntax() == reference) else { return false };
        let call = list.syntax().parent().and_then(ast::CallExpr::cast).and_then(|it| it.expr());
        let callee = call.and_then(|it| self.sema.type_of_expr(&it)).and_then(|it| it.original.as_callable(self.db));
        let wanted = callee.and_then(|it| it.params().get(at).map(|it| it.ty().clone()));
        wanted.and_then(|it| it.as_reference()).is_some_and(|it| is_text(&it.0))
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

fn takes_all_types(around: &SyntaxNode) -> bool {
    let kind = around.kind();
    let is_given = ast::RefExpr::can_cast(kind) || ast::ArgList::can_cast(kind) || ast::FormatArgsArg::can_cast(kind);
    is_given || ast::RecordExprField::can_cast(kind) || ast::TupleExpr::can_cast(kind)
}
