//! Operators of what has no type any more. Of the blocks that implement an operator for something unknown the compiler
//! takes the last for the one that is meant, whatever stands on the left, and wants on the right what that one takes.

use std::collections::BTreeSet;

use ra_ap_hir::{HasCrate as _, HirDisplay as _, Impl, PathResolution, Trait, Type};
use ra_ap_syntax::ast::{self, BinaryOp};
use ra_ap_syntax::{AstNode as _, SyntaxNode};

use super::Scene;
use super::reach::{Cause, Reach};
use crate::lang::rust::view::{Context, unless_at_fault};
use crate::model::{Diagnostic, SymbolKind};
use crate::text::words::words;

/// The traits of comparisons, the one that is asked first being the first.
const COMPARING: [&str; 2] = ["PartialEq", "PartialOrd"];

/// How far back it is looked where a value comes from.
const MAX_STEPS: usize = 6;

/// What the operator of a trait wants on its right.
struct Wanted<'db> {
    of: &'static str,
    block: Impl,
    right: Option<Type<'db>>,
}

impl<'db> Context<'db> {
    pub(super) fn mixed_operands(&self, reach: &Reach<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let gone: Vec<&Cause<'_>> = reach.causes.iter().filter(|it| it.goes()).collect();
        let names: BTreeSet<&str> = gone.iter().map(|it| it.name.as_str()).collect();
        let wanted: Vec<Wanted<'db>> = COMPARING
            .iter()
            .filter_map(|name| unless_at_fault(|| self.wanted_by(name, &gone, &names, scene)).flatten())
            .collect();
        let mut found = Vec::new();
        if wanted.iter().all(|it| it.right.is_none()) {
            return found;
        }
        for unit in &reach.units {
            let Some(at) = unit.after else { continue };
            for body in self.bodies_at(&unit.file, at) {
                let is_own = wanted.iter().all(|it| it.block.krate(self.db) == body.module(self.db).krate(self.db));
                let source = self.body_syntax(body).filter(|_| is_own);
                let told = unless_at_fault(|| source.map(|it| self.mixed_in(&it, &wanted, &names))).flatten();
                found.extend(told.into_iter().flatten());
            }
        }
        found
    }

    /// Of a trait, by its name, what the last of its blocks for something unknown takes; they all have to be written in
    /// one file, for types that are gone.
    fn wanted_by(
        &self,
        name: &'static str,
        gone: &[&Cause<'_>],
        names: &BTreeSet<&str>,
        scene: &Scene,
    ) -> Option<Wanted<'db>> {
        let places = gone.iter().flat_map(|it| &it.occurrences).filter(|it| {
            let around = it.file.outline().enclosing(it.at.start).pop();
            around.is_some_and(|it| it.kind == SymbolKind::Impl && it.name.starts_with(name))
        });
        let blocks = places.filter_map(|it| {
            let token = self.token(it.id, scene.moved(&it.file.path, it.at.start)?)?;
            self.sema.to_def(&token.parent_ancestors().find_map(ast::Impl::cast)?)
        });
        let named: Vec<(Impl, Trait)> = blocks.filter_map(|it| Some((it, it.trait_(self.db)?))).collect();
        let (first, of) = named.into_iter().find(|it| it.1.name(self.db).as_str() == name)?;
        let mut last: Option<(SyntaxNode, Impl)> = None;
        for block in Impl::all_in_crate(self.db, first.krate(self.db)) {
            if block.trait_(self.db) != Some(of) || !block.self_ty(self.db).is_unknown() {
                continue;
            }
            let source = self.sema.source(block)?;
            let is_explained =
                source.value.self_ty().is_some_and(|it| names.iter().any(|name| says(it.syntax(), name)));
            let node = source.value.syntax().clone();
            let is_beside = last.as_ref().is_none_or(|it| it.0.ancestors().last() == node.ancestors().last());
            if source.file_id.macro_file().is_some() || !is_explained || !is_beside {
                return None;
            }
            if last.as_ref().is_none_or(|it| it.0.text_range().start() < node.text_range().start()) {
                last = Some((node, block));
            }
        }
        let (_, block) = last?;
        let right = block.trait_ref(self.db)?.get_type_argument(1);
        let is_clear = |it: &Type<'db>| !it.contains_unknown() && it.generic_params(self.db).is_empty();
        Some(Wanted { of: name, block, right: right.filter(is_clear) })
    }

    fn mixed_in(&self, body: &SyntaxNode, wanted: &[Wanted<'db>], names: &BTreeSet<&str>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.in_expansions(body, &mut |node| {
            let of = ast::BinExpr::cast(node.clone());
            found.extend(of.and_then(|it| self.mixed(&it, wanted, names)));
        });
        found
    }

    fn mixed(&self, of: &ast::BinExpr, wanted: &[Wanted<'db>], names: &BTreeSet<&str>) -> Option<Diagnostic> {
        let traits: &[&str] = match of.op_kind()? {
            BinaryOp::CmpOp(ast::CmpOp::Eq { .. }) => &COMPARING[..1],
            BinaryOp::CmpOp(ast::CmpOp::Ord { .. }) => &COMPARING,
            _ => return None,
        };
        let wanted = wanted.iter().find(|it| traits.contains(&it.of))?.right.as_ref()?;
        let (left, right) = (of.lhs()?, of.rhs()?);
        if !self.comes_of(&left, names, MAX_STEPS) {
            return None;
        }
        let given = self.sema.type_of_expr(&right)?.original;
        let target = self.sema.scope(of.syntax())?.krate().to_display_target(self.db);
        let told = |it: &Type<'db>| it.display(self.db, target).to_string();
        let is_same_adt = wanted.as_adt().is_some() && wanted.as_adt() == given.as_adt();
        let is_number = |it: &Type<'db>| it.as_builtin().is_some_and(|it| it.is_int() || it.is_uint() || it.is_float());
        let is_of_both = |is: fn(&Type<'db>) -> bool| is(wanted) && is(&given);
        let may_fit = given.contains_unknown()
            || given.is_never()
            || is_same_adt
            || is_of_both(Type::is_reference)
            || is_number(wanted) && is_number(&given) && ast::Literal::can_cast(right.syntax().kind());
        let (wanted, given) = (told(wanted), told(&given));
        if may_fit || wanted == given {
            return None;
        }
        let message = format!("mismatched types: expected `{wanted}`, found `{given}`");
        self.placed(self.told_of(right.syntax(), "E0308", message))
    }

    /// Whether a value has no type for want of one of these: it is made by that, or told to be one. What is asked of such a
    /// value has none either.
    fn comes_of(&self, value: &ast::Expr, names: &BTreeSet<&str>, steps: usize) -> bool {
        let is_lost = |it: &ast::Type| {
            let is_named = names.iter().any(|name| says(it.syntax(), name));
            is_named && self.sema.resolve_type(it).is_none_or(|it| it.contains_unknown())
        };
        let comes = |it: Option<ast::Expr>| it.is_some_and(|it| self.comes_of(&it, names, steps - 1));
        if steps == 0 {
            return false;
        }
        match value {
            ast::Expr::ParenExpr(it) => comes(it.expr()),
            ast::Expr::RefExpr(it) => comes(it.expr()),
            ast::Expr::PrefixExpr(it) => comes(it.expr()),
            ast::Expr::TryExpr(it) => comes(it.expr()),
            ast::Expr::FieldExpr(it) => comes(it.expr()),
            ast::Expr::IndexExpr(it) => comes(it.base()),
            ast::Expr::MethodCallExpr(it) => {
                let result = self.sema.resolve_method_call(it).and_then(|it| self.sema.source(it)?.value.ret_type());
                result.and_then(|it| it.ty()).is_some_and(|it| is_lost(&it)) || comes(it.receiver())
            }
            ast::Expr::CallExpr(it) => match it.expr() {
                Some(ast::Expr::PathExpr(it)) => {
                    let is_named = names.iter().any(|name| says(it.syntax(), name));
                    is_named && it.path().is_some_and(|it| self.sema.resolve_path(&it).is_none())
                }
                _ => false,
            },
            ast::Expr::PathExpr(it) => match it.path().and_then(|it| self.sema.resolve_path(&it)) {
                Some(PathResolution::Local(local)) if local.is_self(self.db) => {
                    let block = value.syntax().ancestors().find_map(ast::Impl::cast).and_then(|it| it.self_ty());
                    block.is_some_and(|it| is_lost(&it))
                }
                Some(PathResolution::Local(local)) => {
                    let binding = local.primary_source(self.db).source.value.syntax().clone();
                    let around = binding.ancestors().find_map(|it| match ast::Param::cast(it.clone()) {
                        Some(it) => Some((it.ty(), None)),
                        None => ast::LetStmt::cast(it).map(|it| (it.ty(), it.initializer())),
                    });
                    let is_whole = binding
                        .parent()
                        .is_some_and(|it| ast::Param::can_cast(it.kind()) || ast::LetStmt::can_cast(it.kind()));
                    around.filter(|_| is_whole).is_some_and(|(ty, from)| match ty {
                        Some(it) => is_lost(&it),
                        None => comes(from),
                    })
                }
                _ => false,
            },
            _ => false,
        }
    }
}

fn says(node: &SyntaxNode, name: &str) -> bool {
    words(&node.text().to_string()).any(|it| it.1 == name)
}
