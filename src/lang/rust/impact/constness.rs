//! Functions that are `const` no more, where a constant calls them (E0015).

use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::Scene;
use super::reach::Cause;
use crate::lang::rust::view::Context;
use crate::model::{Diagnostic, OutlineItem, Role};
use crate::text::words::words;

impl<'db> Context<'db> {
    pub(super) fn calls_in_constants(&self, cause: &Cause<'_>, scene: &Scene) -> Vec<Diagnostic> {
        let items = cause.delta.as_ref().and_then(|it| it.1.before.zip(it.1.after));
        if items.is_none_or(|(before, after)| !is_constant(before) || is_constant(after)) {
            return Vec::new();
        }
        let places = cause.occurrences.iter().filter(|it| !matches!(it.role, Role::Import | Role::Doc));
        let judged = places.filter_map(|it| {
            let token = self.token(it.id, scene.moved(&it.file.path, it.at.start)?)?;
            let call = token.parent_ancestors().take(6).find_map(|it| match ast::Expr::cast(it)? {
                ast::Expr::CallExpr(it) => Some(it.syntax().clone()),
                ast::Expr::MethodCallExpr(it) => Some(it.name_ref()?.syntax().clone()),
                _ => None,
            })?;
            let what = constant_around(&call)?;
            let place = self.place(self.told_range(&call))?;
            Some(self.error(place, "E0015", format!("cannot call non-const `{}` in {what}", cause.path)))
        });
        judged.collect()
    }
}

fn is_constant(item: &OutlineItem) -> bool {
    words(&item.signature).map(|it| it.1).take_while(|it| *it != "fn").any(|it| it == "const")
}

/// What is evaluated by the compiler, if a node stands in that.
fn constant_around(node: &SyntaxNode) -> Option<&'static str> {
    let mut inner = node.clone();
    for outer in node.ancestors().skip(1) {
        let is_repeat = |it: &ast::ArrayExpr| match it.kind() {
            ast::ArrayExprKind::Repeat { repeat, .. } => repeat.is_some_and(|it| *it.syntax() == inner),
            ast::ArrayExprKind::ElementList(_) => false,
        };
        if ast::ClosureExpr::can_cast(outer.kind()) {
            return None;
        } else if let Some(it) = ast::Fn::cast(outer.clone()) {
            return it.const_token().map(|_| "constant functions");
        } else if ast::Static::can_cast(outer.kind()) {
            return Some("statics");
        } else if ast::Const::can_cast(outer.kind())
            || ast::ConstArg::can_cast(outer.kind())
            || ast::Variant::can_cast(outer.kind())
            || ast::BlockExpr::cast(outer.clone()).is_some_and(|it| it.const_token().is_some())
            || ast::ArrayExpr::cast(outer.clone()).is_some_and(|it| is_repeat(&it))
        {
            return Some("constants");
        }
        inner = outer;
    }
    None
}
