//! Traits that are no longer dyn compatible. The compiler reports each place that names one as a type. In bodies it
//! reports each place where such a type is an argument, a result, a field's value, or an argument of a generic.

use std::collections::BTreeSet;
use std::sync::Arc;

use ra_ap_hir::{AsAssocItem as _, ModuleDef, PathResolution, Semantics, Trait, Type};
use ra_ap_ide::{FileId, RootDatabase, TryToNav as _};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasArgList as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::{AffectedSet, Objects, is_outside_body};
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::Change;
use super::wellformed;
use crate::checks::{anchors, expansions, native, report};
use crate::finding::code::Code;
use crate::finding::{Finding, RawDiagnostic};
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::usages;
use crate::view::Context;
use semdex_model::Span;

/// The most traits that are followed from one that they require.
const MAX_TRAITS: usize = 64;

/// Where a trait, or one that requires it, is used as `dyn`, if it is dyn compatible.
pub(crate) fn note_objects(cx: &Context<'_>, of: Trait, has_other_types: bool, affected: &mut AffectedSet<'_>) {
    let (mut next, mut seen) = (vec![of], Vec::new());
    while let Some(of) = next.pop().filter(|_| seen.len() < MAX_TRAITS) {
        if !seen.contains(&of) {
            seen.push(of);
            next.extend(note_objects_of(cx, of, has_other_types, affected));
        }
    }
}

/// Returns the traits that require this one.
fn note_objects_of<'db>(
    cx: &Context<'db>,
    of: Trait,
    has_other_types: bool,
    affected: &mut AffectedSet<'_>,
) -> Vec<Trait> {
    let Some(target) = of.try_to_nav(&cx.sema).map(|it| it.call_site) else { return Vec::new() };
    let Some(name) = cx.name_of(target.file_id).filter(|it| cx.files.get(it).is_some()) else { return Vec::new() };
    let key = (Arc::from(name), span(target.focus_or_full_range()).start);
    if let Some(known) = affected.objects.get_mut(&key) {
        known.has_other_types |= has_other_types;
        return known.required_by.clone();
    }
    if of.dyn_compatibility(cx.db).is_some() {
        return Vec::new();
    }
    let Some(found) = usages::find(cx, &[Definition::Trait(of)]).pop() else { return Vec::new() };
    let required_by: Vec<Trait> = found.items.iter().filter_map(|it| requiring(&cx.sema, it, of)).collect();
    let mut objects = Objects { has_other_types, required_by: required_by.clone(), ..Objects::default() };
    for it in found.items.into_iter().filter(|it| is_object(&cx.sema, it)) {
        let token = positions::token(&cx.sema, it.id, it.at.start).and_then(|it| it.parent());
        // The compiler checks an alias where it is used.
        match token.and_then(|it| wellformed::through_alias(cx, &it)) {
            Some(uses) => objects.places.extend(uses),
            None => objects.places.push(it),
        }
    }
    let mut holders: BTreeSet<(FileId, usize)> = BTreeSet::new();
    for it in &objects.places {
        let holder = it.file.outline().enclosing(it.at.start).pop().filter(|holder| is_outside_body(holder, it));
        holders.extend(holder.map(|holder| (it.id, holder.name_span.start)));
        objects.bodies.extend(anchors::anchor_of(&cx.sema, it));
    }
    let holders: Vec<Definition<'db>> =
        holders.into_iter().filter_map(|(file, at)| at::definition_at(&cx.sema, file, at)).collect();
    for it in usages::find(cx, &holders).into_iter().flat_map(|it| it.items) {
        objects.bodies.extend(anchors::anchor_of(&cx.sema, &it));
    }
    affected.objects.insert(key, objects);
    required_by
}

/// The trait whose head requires another one at a place.
fn requiring(sema: &Semantics<'_, RootDatabase>, place: &Occurrence, of: Trait) -> Option<Trait> {
    let token = positions::token(sema, place.id, place.at.start)?;
    let bound = token.parent_ancestors().find_map(ast::TypeBoundList::cast)?;
    let around = sema.to_def(&ast::Trait::cast(bound.syntax().parent()?)?)?;
    (around != of && around.all_supertraits(sema.db).contains(&of)).then_some(around)
}

fn is_object(sema: &Semantics<'_, RootDatabase>, place: &Occurrence) -> bool {
    let token = positions::token(sema, place.id, place.at.start);
    token.is_some_and(|it| it.parent_ancestors().take(8).any(|it| ast::DynTraitType::can_cast(it.kind())))
}

pub(crate) fn dyn_incompatible(cx: &Context<'_>, change: &Change<'_, '_>, out: &mut Findings<'_>) {
    let found = uses_as_objects(cx, change.affected, change.edit);
    if !found.is_empty() {
        // The types of values computed from such objects are unknown.
        out.forget(|it| it.code.is_of_unknown_type());
    }
    found.into_iter().for_each(|it| out.add(it));
}

fn uses_as_objects(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext) -> Vec<Finding> {
    let mut found = Vec::new();
    for ((file, at), objects) in affected.objects.iter().filter(|it| !it.1.places.is_empty()) {
        // In the state before it had another id: it is looked up again.
        let at = edit.moved(file, *at).zip(cx.file_id(file));
        let Some(Definition::Trait(of)) = at.and_then(|(at, id)| at::definition_at(&cx.sema, id, at)) else {
            continue;
        };
        if of.dyn_compatibility(cx.db).is_none() {
            continue;
        }
        let message = format!("the trait `{}` is not dyn compatible", of.name(cx.db).as_str());
        for it in &objects.places {
            let name: &str = &it.file.path;
            if let Some((file, start)) = cx.files.get(name).zip(edit.moved(name, it.at.start)) {
                let at = Span::new(start, start + (it.at.end - it.at.start));
                found.push(report::error(cx, file.lines().place(name, at), Code::E0038, message.clone()));
            }
        }
        let bodies = objects.bodies.iter().filter_map(|(name, at)| Some((name, edit.moved(name, *at)?)));
        let bodies = bodies.flat_map(|(name, at)| anchors::bodies_at(cx, name, at));
        for body in bodies.filter_map(|it| native::body_syntax(&cx.sema, it)) {
            let mut out = Vec::new();
            expansions::in_expansions(&cx.sema, &body, &mut |node| {
                let uses = object_uses(&cx.sema, of, node).into_iter();
                out.extend(uses.map(|it| report::raw_diagnostic(cx, &it, Code::E0038, message.clone())));
            });
            found.extend(out.into_iter().filter_map(|it: RawDiagnostic| report::placed(cx, it)));
        }
    }
    found
}

/// The expressions with this trait object that the compiler rejects. It does not reject uses of the object itself.
fn object_uses(sema: &Semantics<'_, RootDatabase>, of: Trait, node: &SyntaxNode) -> Vec<SyntaxNode> {
    let holds = |it: &ast::Expr| {
        let types = sema.type_of_expr(it);
        let holds = types
            .is_some_and(|it| holds_object(sema.db, of, &it.original) || holds_object(sema.db, of, &it.adjusted()));
        holds && !names_static(sema, it)
    };
    let mut found: Vec<Option<ast::Expr>> = Vec::new();
    match ast::Expr::cast(node.clone()) {
        Some(ast::Expr::CallExpr(call)) => {
            found.extend(call.arg_list().into_iter().flat_map(|it| it.args()).map(Some));
            found.push(Some(call.into()));
        }
        Some(ast::Expr::MethodCallExpr(call)) => {
            found.extend(call.arg_list().into_iter().flat_map(|it| it.args()).map(Some));
            let own = sema.resolve_method_call(&call).and_then(|it| it.as_assoc_item(sema.db));
            if own.and_then(|it| it.container_trait(sema.db)) != Some(of) {
                found.push(call.receiver());
            }
            found.push(Some(call.into()));
        }
        Some(ast::Expr::IndexExpr(it)) => found.push(it.base()),
        Some(ast::Expr::PathExpr(it)) => {
            let resolved = it.path().and_then(|it| sema.resolve_path(&it));
            if matches!(resolved, Some(PathResolution::Def(ModuleDef::EnumVariant(_)))) {
                found.push(Some(it.into()));
            }
        }
        _ => found.push(ast::RecordExprField::cast(node.clone()).and_then(|it| it.expr())),
    }
    found.into_iter().flatten().filter(holds).map(|it| it.syntax().clone()).collect()
}

fn holds_object<'db>(db: &'db RootDatabase, of: Trait, ty: &Type<'db>) -> bool {
    let mut holds = false;
    ty.walk(db, |it| holds |= it.as_dyn_trait() == Some(of));
    holds
}

/// The compiler no longer knows the type of such a static.
fn names_static(sema: &Semantics<'_, RootDatabase>, expression: &ast::Expr) -> bool {
    expression
        .syntax()
        .descendants()
        .filter_map(ast::Path::cast)
        .any(|it| matches!(sema.resolve_path(&it), Some(PathResolution::Def(ModuleDef::Static(_)))))
}
