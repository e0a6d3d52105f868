//! Traits that can be objects no more: the compiler tells so wherever one is named as a type, and in bodies wherever
//! such a type is an argument, a result, a field's value, or what something generic is made for.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::{AsAssocItem as _, ModuleDef, PathResolution, Trait, Type};
use ra_ap_ide::{FileId, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasArgList as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::EditContext;
use super::affected_set::{AffectedSet, is_outside_body};
use super::code::Code;
use super::finding::{Finding, Findings, RawDiagnostic};
use super::rules::Change;
use crate::lang::rust::usages::Occurrence;
use crate::lang::rust::view::{Context, span};
use crate::model::Span;

/// Where a trait is an object, in the state before.
#[derive(Default)]
pub(super) struct Objects {
    /// The places that name it as one.
    places: Vec<Occurrence>,
    /// The bodies that may hold such an object, by their anchors.
    bodies: BTreeSet<(Arc<str>, usize)>,
}

impl<'db> Context<'db> {
    /// Where a trait is used as an object, if it can be.
    pub(super) fn note_objects(&self, of: Trait, reach: &mut AffectedSet<'_>) {
        let Some(target) = of.try_to_nav(&self.sema).map(|it| it.call_site) else { return };
        let Some(name) = self.name_of(target.file_id).filter(|it| self.files.get(it).is_some()) else { return };
        let key = (Arc::from(name), span(target.focus_or_full_range()).start);
        if reach.objects.contains_key(&key) || of.dyn_compatibility(self.db).is_some() {
            return;
        }
        let Some(found) = self.find(&[Definition::Trait(of)]).pop() else { return };
        let mut objects = Objects::default();
        objects.places.extend(found.items.into_iter().filter(|it| self.is_object(it)));
        let mut holders: BTreeSet<(FileId, usize)> = BTreeSet::new();
        for it in &objects.places {
            let holder = it.file.outline().enclosing(it.at.start).pop().filter(|holder| is_outside_body(holder, it));
            holders.extend(holder.map(|holder| (it.id, holder.name_span.start)));
            objects.bodies.extend(self.anchor_of(it));
        }
        let holders: Vec<Definition<'db>> =
            holders.into_iter().filter_map(|(file, at)| self.definition_at(file, at)).collect();
        for it in self.find(&holders).into_iter().flat_map(|it| it.items) {
            objects.bodies.extend(self.anchor_of(&it));
        }
        reach.objects.insert(key, objects);
    }

    fn is_object(&self, place: &Occurrence) -> bool {
        let token = self.token(place.id, place.at.start);
        token.is_some_and(|it| it.parent_ancestors().take(8).any(|it| ast::DynTraitType::can_cast(it.kind())))
    }

    pub(super) fn lost_objects(&self, change: &Change<'_, '_>, out: &mut Findings<'_>) {
        let found = self.uses_as_objects(change.affected, change.scene);
        if !found.is_empty() {
            // What is made of such objects is not known.
            out.forget(|it| it.is(Code::E0282));
        }
        found.into_iter().for_each(|it| out.add(it));
    }

    fn uses_as_objects(&self, reach: &AffectedSet<'_>, scene: &EditContext) -> Vec<Finding> {
        let mut found = Vec::new();
        for ((file, at), objects) in reach.objects.iter().filter(|it| !it.1.places.is_empty()) {
            // The state before knew it by another name for itself: it is looked up again.
            let at = scene.moved(file, *at).zip(self.file_id(file));
            let Some(Definition::Trait(of)) = at.and_then(|(at, id)| self.definition_at(id, at)) else { continue };
            if of.dyn_compatibility(self.db).is_none() {
                continue;
            }
            let message = format!("the trait `{}` is not dyn compatible", of.name(self.db).as_str());
            for it in &objects.places {
                let name: &str = &it.file.path;
                if let Some((file, start)) = self.files.get(name).zip(scene.moved(name, it.at.start)) {
                    let at = Span::new(start, start + (it.at.end - it.at.start));
                    found.push(self.error(file.lines().place(name, at), Code::E0038, message.clone()));
                }
            }
            let bodies = objects.bodies.iter().filter_map(|(name, at)| Some((name, scene.moved(name, *at)?)));
            let bodies = bodies.flat_map(|(name, at)| self.bodies_at(name, at));
            for body in bodies.filter_map(|it| self.body_syntax(it)) {
                let mut told = Vec::new();
                self.in_expansions(&body, &mut |node| {
                    let uses = self.object_uses(of, node).into_iter();
                    told.extend(uses.map(|it| self.told_of(&it, Code::E0038, message.clone())));
                });
                found.extend(told.into_iter().filter_map(|it: RawDiagnostic| self.placed(it)));
            }
        }
        found
    }

    /// The expressions of this one that the compiler refuses. What is asked of an object itself it does not refuse.
    fn object_uses(&self, of: Trait, node: &SyntaxNode) -> Vec<SyntaxNode> {
        let holds = |it: &ast::Expr| {
            let types = self.sema.type_of_expr(it);
            let holds =
                types.is_some_and(|it| self.holds_object(of, &it.original) || self.holds_object(of, &it.adjusted()));
            holds && !self.names_static(it)
        };
        let mut found: Vec<Option<ast::Expr>> = Vec::new();
        match ast::Expr::cast(node.clone()) {
            Some(ast::Expr::CallExpr(call)) => {
                found.extend(call.arg_list().into_iter().flat_map(|it| it.args()).map(Some));
                found.push(Some(call.into()));
            }
            Some(ast::Expr::MethodCallExpr(call)) => {
                found.extend(call.arg_list().into_iter().flat_map(|it| it.args()).map(Some));
                let own = self.sema.resolve_method_call(&call).and_then(|it| it.as_assoc_item(self.db));
                if own.and_then(|it| it.container_trait(self.db)) != Some(of) {
                    found.push(call.receiver());
                }
                found.push(Some(call.into()));
            }
            Some(ast::Expr::IndexExpr(it)) => found.push(it.base()),
            Some(ast::Expr::PathExpr(it)) => {
                let resolved = it.path().and_then(|it| self.sema.resolve_path(&it));
                if matches!(resolved, Some(PathResolution::Def(ModuleDef::EnumVariant(_)))) {
                    found.push(Some(it.into()));
                }
            }
            _ => found.push(ast::RecordExprField::cast(node.clone()).and_then(|it| it.expr())),
        }
        found.into_iter().flatten().filter(holds).map(|it| it.syntax().clone()).collect()
    }

    fn holds_object(&self, of: Trait, ty: &Type<'db>) -> bool {
        let mut holds = false;
        ty.walk(self.db, |it| holds |= it.as_dyn_trait() == Some(of));
        holds
    }

    /// The type of such a static is not known to the compiler any more.
    fn names_static(&self, expression: &ast::Expr) -> bool {
        expression
            .syntax()
            .descendants()
            .filter_map(ast::Path::cast)
            .any(|it| matches!(self.sema.resolve_path(&it), Some(PathResolution::Def(ModuleDef::Static(_)))))
    }
}
