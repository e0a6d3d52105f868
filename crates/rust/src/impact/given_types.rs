//! Types that implementations give for associated types and that no longer meet the trait's bounds: `type Error =
//! Failure;` for a `Failure` that is no longer an error.

use std::collections::HashSet;

use ra_ap_hir::{Adt, AssocItem, HirDisplay as _, Impl, Trait};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, SyntaxToken, ast};

use super::affected::AffectedSet;
use super::edit_context::EditContext;
use super::findings::Findings;
use super::wellformed;
use crate::LANGUAGE;
use crate::checks::bounds::lacks_bounds;
use crate::checks::report::{self, Unmet};
use crate::finding::code::Code;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_model::{Role, Span, SymbolKind};

pub(crate) fn unfit_types(cx: &Context<'_>, affected: &AffectedSet<'_>, edit: &EditContext, out: &mut Findings<'_>) {
    let mut blocks: Vec<(String, Span)> = Vec::new();
    for changed_symbol in affected.changed_symbols.iter().filter(|it| !it.lost.is_empty()) {
        for it in changed_symbol.occurrences.iter().filter(|it| it.role == Role::Type) {
            let token = edit.moved(&it.file.path, it.at.start).and_then(|at| positions::token(&cx.sema, it.id, at));
            token.into_iter().for_each(|it| unfit_type(cx, &it, &changed_symbol.lost, out, &mut blocks));
        }
    }
    let mut unresolved: HashSet<Adt> = HashSet::new();
    for error in out.of(Code::E0405) {
        let token = cx.file_id(&error.place.file).and_then(|id| positions::token(&cx.sema, id, error.place.start));
        let block = token.and_then(|it| it.parent_ancestors().find_map(ast::Impl::cast));
        let lost = block.and_then(|it| cx.sema.to_def(&it)).filter(|it| it.trait_(cx.db).is_none());
        unresolved.extend(lost.and_then(|it| it.self_ty(cx.db).as_adt()));
    }
    for token in given_types(cx, &unresolved) {
        unfit_type(cx, &token, &[], out, &mut blocks);
    }
    // The compiler does not know such a type, and reports nothing else about its uses.
    out.forget(|it| {
        let is_there = |of: &(String, Span)| of.0 == it.place.file && of.1.contains(it.place.start);
        it.is(Code::E0277) && it.rule.is_of_bodies() && blocks.iter().any(is_there)
    });
}

/// The last tokens of what implementations give for associated types, where it is one of these types.
fn given_types(cx: &Context<'_>, types: &HashSet<Adt>) -> Vec<SyntaxToken> {
    let mut found = Vec::new();
    for file in cx.files.of(LANGUAGE).filter(|_| !types.is_empty()) {
        let mut aliases = Vec::new();
        file.outline().walk(&mut |it| {
            let members = it.children.iter().filter(|_| it.kind == SymbolKind::Impl);
            aliases.extend(members.filter(|it| it.kind == SymbolKind::Type).map(|it| it.name_span.start));
        });
        let Some(id) = cx.file_id(&file.path).filter(|_| !aliases.is_empty()) else { continue };
        for at in aliases {
            let name = positions::token(&cx.sema, id, at);
            let given = name.and_then(|it| it.parent_ancestors().find_map(ast::TypeAlias::cast)?.ty());
            let adt = given.as_ref().and_then(|it| cx.sema.resolve_type(it)?.as_adt());
            let last = given.and_then(|it| it.syntax().last_token());
            found.extend(last.filter(|_| adt.is_some_and(|it| types.contains(&it))));
        }
    }
    found
}

/// A name that is the complete value of an associated type. If the lost trait is not given, any trait counts.
fn unfit_type(
    cx: &Context<'_>,
    token: &SyntaxToken,
    lost: &[String],
    out: &mut Findings<'_>,
    blocks: &mut Vec<(String, Span)>,
) {
    let Some(alias) = token.parent_ancestors().find_map(ast::TypeAlias::cast) else { return };
    let Some(ty) = alias.ty().filter(|it| it.syntax().text_range().end() == token.text_range().end()) else {
        return;
    };
    let Some(block) = alias.syntax().ancestors().find_map(ast::Impl::cast) else { return };
    let given = cx.sema.resolve_type(&ty).filter(|it| it.type_arguments().next().is_none() && !it.contains_unknown());
    let of = cx.sema.to_def(&block).zip(alias.name());
    let is_unresolved = |it: &Trait| lost.is_empty() || lost.iter().any(|lost| it.name(cx.db).as_str() == lost);
    let mut wanted = of.map(|(of, name)| bounds_of(cx, of, name.text())).unwrap_or_default();
    wanted.retain(is_unresolved);
    let Some((given, lacks)) = given.and_then(|it| lacks_bounds(cx.db, &it, &wanted).map(|of| (it, of))) else {
        return;
    };
    let target = cx.sema.scope(alias.syntax()).map(|it| it.krate().to_display_target(cx.db));
    let (Some(place), Some(target)) = (cx.place(report::reported_range(cx, ty.syntax())), target) else { return };
    let (ty, of) = (given.display(cx.db, target).to_string(), lacks.name(cx.db).as_str().to_owned());
    blocks.push((place.file.clone(), span(block.syntax().text_range())));
    out.add(report::unmet(cx, place, Unmet { ty, of, is_other_type: false }));
}

/// The bounds of one of a trait's associated types.
fn bounds_of(cx: &Context<'_>, block: Impl, name: &str) -> Vec<Trait> {
    let items = block.trait_(cx.db).into_iter().flat_map(|it| it.items(cx.db));
    let declared = items.into_iter().find_map(|it| match it {
        AssocItem::TypeAlias(it) if it.name(cx.db).as_str() == name => Some(it),
        _ => None,
    });
    declared.map(|it| wellformed::bounds_of_alias(cx, it)).unwrap_or_default()
}
