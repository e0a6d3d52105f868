//! Types `dyn Trait` that do not give each associated type of the trait.

use std::collections::BTreeSet;

use ra_ap_hir::{AssocItem, ModuleDef, PathResolution, Semantics, Trait};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::{HasGenericArgs as _, HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::bounds::bound_path;
use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn missing_types(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(ty) = ast::DynTraitType::cast(node.clone()) else { return };
    let bounds = ty.type_bound_list().into_iter().flat_map(|it| it.bounds());
    for path in bounds.filter_map(bound_path) {
        let Some(of) = trait_at(&cx.sema, &path) else { continue };
        if let Some(name) = missing_type(cx, &path, of) {
            let message =
                format!("the value of the associated type `{name}` of `{}` is missing", of.name(cx.db).as_str());
            out.push(report::raw_diagnostic(cx, path.syntax(), Code::E0191, message));
        }
    }
}

/// An associated type of a trait, or of its supertraits, that neither the path nor a supertrait bound gives.
fn missing_type(cx: &Context<'_>, path: &ast::Path, of: Trait) -> Option<String> {
    let segment = path.segment()?;
    // `Fn(u8)` gives the result.
    if segment.parenthesized_arg_list().is_some() || of.is_auto(cx.db) || of.dyn_compatibility(cx.db).is_some() {
        return None;
    }
    let mut given = given_by(path);
    let mut required = BTreeSet::new();
    for it in of.all_supertraits(cx.db) {
        let source = cx.sema.source(it)?.value;
        let own = source.type_bound_list().into_iter();
        let clauses = source.where_clause().into_iter().flat_map(|it| it.predicates());
        let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == "Self"));
        let lists = own.chain(clauses.filter_map(|it| it.type_bound_list()));
        for path in lists.flat_map(|it| it.bounds()).filter_map(bound_path) {
            // What an unknown supertrait gives and requires is unknown.
            trait_at(&cx.sema, &path)?;
            given.extend(given_by(&path));
        }
        for item in it.items(cx.db) {
            let AssocItem::TypeAlias(it) = item else { continue };
            let source = cx.sema.source(it)?.value;
            let is_for_sized = source.where_clause().is_some_and(|it| it.syntax().text().to_string().contains("Sized"));
            if !is_for_sized && source.generic_param_list().is_none() {
                required.insert(it.name(cx.db).as_str().to_owned());
            }
        }
    }
    required.into_iter().find(|it| !given.contains(it))
}

fn trait_at(sema: &Semantics<'_, RootDatabase>, path: &ast::Path) -> Option<Trait> {
    match sema.resolve_path(path)? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    }
}

/// The associated types that the path to a trait gives: `Iterator<Item = u8>`.
fn given_by(path: &ast::Path) -> BTreeSet<String> {
    let list = path.segment().and_then(|it| it.generic_arg_list());
    let arguments = list.into_iter().flat_map(|it| it.generic_args());
    let names = arguments.filter_map(|it| match it {
        ast::GenericArg::AssocTypeArg(it) => it.name_ref(),
        _ => None,
    });
    let sugar = path.segment().and_then(|it| it.parenthesized_arg_list()).map(|_| "Output".to_owned());
    names.map(|it| it.text().to_string()).chain(sugar).collect()
}
