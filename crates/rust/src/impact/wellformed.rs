//! Arguments of types and traits that do not meet a parameter's bound: `Wrap<Plain>`, if `Wrap` now requires `T: Mark`
//! and `Plain` does not implement `Mark`. Each place with such an argument is an error of its own.

use ra_ap_hir::{
    Adt, AsAssocItem as _, AssocItem, Crate, GenericDef, HirDisplay as _, ModuleDef, PathResolution, Semantics, Trait,
    Type,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_ide_db::famous_defs::FamousDefs;
use ra_ap_syntax::ast::{HasGenericArgs as _, HasGenericParams as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::AffectedSet;
use crate::checks::bounds;
use crate::checks::bounds::bound_path;
use crate::checks::report::Unmet;
use crate::index::search::Occurrence;
use crate::names::instances;
use crate::syntax::positions;
use crate::usages;
use crate::view::Context;
use semdex_model::Role;

/// A bound that a definition has on one of its parameters.
struct Asked {
    of: Trait,
    /// The arguments of the trait itself: `From<B>`.
    given: Vec<ast::Type>,
    /// Its associated types: `Iterator<Item = B>`.
    bindings: Vec<(String, ast::Type)>,
}

/// The parameters of a definition as written, with their bounds.
pub(crate) struct Parameters {
    names: Vec<String>,
    asked: Vec<Vec<Asked>>,
    unsized_ones: Vec<bool>,
}

pub(crate) fn parameters_of(sema: &Semantics<'_, RootDatabase>, of: GenericDef) -> Option<Parameters> {
    let node: ast::AnyHasGenericParams = match of {
        GenericDef::Adt(it) => ast::AnyHasGenericParams::cast(sema.source(it)?.value.syntax().clone())?,
        GenericDef::Trait(it) => ast::AnyHasGenericParams::cast(sema.source(it)?.value.syntax().clone())?,
        _ => return None,
    };
    let krate = match of {
        GenericDef::Adt(it) => it.module(sema.db).krate(sema.db),
        GenericDef::Trait(it) => it.module(sema.db).krate(sema.db),
        _ => return None,
    };
    let list = node.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let mut found = Parameters { names: Vec::new(), asked: Vec::new(), unsized_ones: Vec::new() };
    for parameter in list {
        let name = parameter.name().map(|it| it.text().to_string()).unwrap_or_default();
        let clauses = node.where_clause().into_iter().flat_map(|it| it.predicates());
        let clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == name.as_str()));
        let own = match &parameter {
            ast::TypeOrConstParam::Type(it) => it.type_bound_list(),
            ast::TypeOrConstParam::Const(_) => None,
        };
        let lists = own.into_iter().chain(clauses.filter_map(|it| it.type_bound_list()));
        let bounds: Vec<ast::TypeBound> = lists.flat_map(|it| it.bounds()).collect();
        let is_sized = !bounds.iter().any(is_relaxed);
        found.unsized_ones.push(!is_sized || matches!(parameter, ast::TypeOrConstParam::Const(_)));
        found.asked.push(bounds.into_iter().filter_map(|it| asked_of(sema, it, krate)).collect());
        found.names.push(name);
    }
    Some(found)
}

fn asked_of(sema: &Semantics<'_, RootDatabase>, bound: ast::TypeBound, krate: Crate) -> Option<Asked> {
    let path = Some(bound).filter(|it| !is_relaxed(it)).and_then(bound_path)?;
    let PathResolution::Def(ModuleDef::Trait(of)) = sema.resolve_path(&path)? else { return None };
    let arguments = path.segment()?.generic_arg_list().into_iter().flat_map(|it| it.generic_args());
    let (mut given, mut bindings) = (Vec::new(), Vec::new());
    for it in arguments {
        match it {
            ast::GenericArg::TypeArg(it) => given.extend(it.ty()),
            // One with arguments of its own is not normalized.
            ast::GenericArg::AssocTypeArg(it) if it.generic_arg_list().is_none() => {
                bindings.extend(it.name_ref().map(|it| it.text().to_string()).zip(it.ty()));
            }
            _ => {}
        }
    }
    Some(Asked { of: instances::trait_in(sema.db, of, krate), given, bindings })
}

/// What a trait requires of the types that implement it, and a type does not meet.
pub(crate) fn unmet_supertrait<'db>(
    sema: &Semantics<'db, RootDatabase>,
    of: Trait,
    ty: &Type<'db>,
    shown: &str,
) -> Option<Unmet> {
    let source = sema.source(of)?.value;
    let krate = of.module(sema.db).krate(sema.db);
    let asked = source.type_bound_list()?.bounds().filter_map(|it| asked_of(sema, it, krate)).collect();
    let own = source.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let mut names = vec!["Self".to_owned()];
    names.extend(own.filter_map(|it| Some(it.name()?.text().to_string())));
    // Bounds with the trait's own parameters are left to the compiler.
    let mut types = vec![Some(ty.clone())];
    types.resize(names.len(), None);
    let parameters = Parameters { names, asked: vec![asked], unsized_ones: vec![true] };
    unmet_by(sema, &parameters, &types, |_| shown.to_owned())
}

/// The first argument that does not meet a bound.
pub(crate) fn unmet_bound<'db>(
    sema: &Semantics<'db, RootDatabase>,
    parameters: &Parameters,
    given: &[Option<ast::Type>],
) -> Option<Unmet> {
    let types: Vec<Option<Type<'db>>> =
        given.iter().map(|it| sema.resolve_type(it.as_ref()?).filter(|it| !it.contains_unknown())).collect();
    let written = |at: usize| given.get(at)?.as_ref().map(|it| it.syntax().text().to_string());
    unmet_by(sema, parameters, &types, |at| written(at).unwrap_or_default())
}

/// The same for a constructed value, for which the compiler infers the arguments.
pub(crate) fn unmet_in_value<'db>(
    sema: &Semantics<'db, RootDatabase>,
    of: Adt,
    parameters: &Parameters,
    path: &ast::Path,
) -> Option<Unmet> {
    let around = path.syntax().ancestors().skip(1).take(3).filter_map(ast::Expr::cast);
    let made = around.filter_map(|it| sema.type_of_expr(&it)).map(|it| it.original);
    let ty = made.filter(|it| it.as_adt() == Some(of)).last()?;
    unmet_in(sema, parameters, &ty, path.syntax())
}

/// The same for the result of a call, anywhere in its type.
pub(crate) fn unmet_in_result(
    sema: &Semantics<'_, RootDatabase>,
    of: Adt,
    parameters: &Parameters,
    call: &ast::Expr,
) -> Option<Unmet> {
    let mut found = None;
    sema.type_of_expr(call)?.original.walk(sema.db, |it| {
        if found.is_none() && it.as_adt() == Some(of) {
            found = unmet_in(sema, parameters, &it, call.syntax());
        }
    });
    found
}

fn unmet_in<'db>(
    sema: &Semantics<'db, RootDatabase>,
    parameters: &Parameters,
    ty: &Type<'db>,
    place: &SyntaxNode,
) -> Option<Unmet> {
    let types: Vec<Option<Type<'db>>> =
        ty.type_arguments().map(|it| Some(it).filter(|it| !it.contains_unknown())).collect();
    // Constants are arguments too, but not types.
    if types.len() != parameters.names.len() {
        return None;
    }
    let target = sema.scope(place)?.krate().to_display_target(sema.db);
    let shown = |at: usize| types.get(at)?.as_ref().map(|it| it.display(sema.db, target).to_string());
    unmet_by(sema, parameters, &types, |at| shown(at).unwrap_or_default())
}

fn unmet_by<'db>(
    sema: &Semantics<'db, RootDatabase>,
    parameters: &Parameters,
    types: &[Option<Type<'db>>],
    shown: impl Fn(usize) -> String,
) -> Option<Unmet> {
    for (index, ty) in types.iter().enumerate() {
        let Some(ty) = ty else { continue };
        let lacks = |what: &str| Unmet { ty: shown(index), of: what.to_owned(), is_other_type: false };
        if parameters.unsized_ones.get(index) == Some(&false) && has_no_size(sema, ty) {
            return Some(lacks("Sized"));
        }
        for asked in parameters.asked.get(index).into_iter().flatten() {
            let name = asked.of.name(sema.db);
            let arguments: Option<Vec<Type<'db>>> = asked
                .given
                .iter()
                .map(|it| argument(sema, it, parameters, types)?.try_rebase_into(sema.db, ty))
                .collect();
            let Some(arguments) = arguments else { continue };
            let missing = match arguments.is_empty() {
                true => bounds::lacks_bounds(sema.db, ty, &asked.of.all_supertraits(sema.db)),
                false => {
                    let is_whole = arguments.len() == asked.of.type_or_const_param_count(sema.db, false);
                    Some(asked.of).filter(|of| is_whole && !bounds::implements(sema.db, ty, *of, &arguments))
                }
            };
            if missing.is_some() {
                return Some(lacks(name.as_str()));
            }
            for (of, expected) in &asked.bindings {
                let is_other = || {
                    let expected = argument(sema, expected, parameters, types)?.try_rebase_into(sema.db, ty)?;
                    let mut items = asked.of.all_supertraits(sema.db).into_iter().flat_map(|it| it.items(sema.db));
                    let alias = items.find_map(|it| match it {
                        AssocItem::TypeAlias(it) if it.name(sema.db).as_str() == of => Some(it),
                        _ => None,
                    })?;
                    let own = alias.as_assoc_item(sema.db)?.container_trait(sema.db)? == asked.of;
                    let arguments: &[Type<'db>] = if own { &arguments } else { &[] };
                    let actual = ty.normalize_trait_assoc_type(sema.db, arguments, alias)?;
                    // Lifetimes are not compared.
                    let is_clear = |it: &Type<'db>| !it.contains_unknown() && !it.contains_reference(sema.db);
                    Some(is_clear(&actual) && is_clear(&expected) && actual != expected)
                };
                if is_other() == Some(true) {
                    let of = format!("{}<{of} = {}>", name.as_str(), expected.syntax().text());
                    return Some(Unmet { is_other_type: true, ..lacks(&of) });
                }
            }
        }
    }
    None
}

/// The type of a bound's argument, with these types in place of the parameters.
fn argument<'db>(
    sema: &Semantics<'db, RootDatabase>,
    it: &ast::Type,
    parameters: &Parameters,
    types: &[Option<Type<'db>>],
) -> Option<Type<'db>> {
    let text = it.syntax().text().to_string();
    if let Some(at) = parameters.names.iter().position(|it| *it == text) {
        return types.get(at)?.clone();
    }
    let names = it.syntax().descendants().filter_map(ast::NameRef::cast);
    let is_closed = !names.into_iter().any(|it| parameters.names.iter().any(|name| it.text() == name.as_str()));
    sema.resolve_type(it).filter(|it| is_closed && !it.contains_unknown())
}

/// For a place in an alias, the places that name the alias: the compiler checks an alias where it is used.
pub(crate) fn through_alias(cx: &Context<'_>, place: &SyntaxNode) -> Option<Vec<Occurrence>> {
    let alias = place.ancestors().find_map(ast::TypeAlias::cast)?;
    let is_free = alias.syntax().parent().is_some_and(|it| !ast::AssocItemList::can_cast(it.kind()));
    let of = cx.sema.to_def(&alias).filter(|_| is_free)?;
    let found = usages::find(cx, &[Definition::TypeAlias(of)]).into_iter().flat_map(|it| it.items);
    Some(found.filter(|it| it.role == Role::Type).collect())
}

/// Blocks within bodies that implement a trait: nothing outside the body knows them.
pub(crate) fn note_inner_blocks(cx: &Context<'_>, of: Trait, affected: &mut AffectedSet<'_>) {
    for it in usages::find(cx, &[Definition::Trait(of)]).into_iter().flat_map(|it| it.items) {
        let Some(token) = positions::token(&cx.sema, it.id, it.at.start) else { continue };
        let block = token.parent_ancestors().find_map(ast::Impl::cast);
        let Some(block) = block.filter(|it| it.syntax().ancestors().any(|it| ast::BlockExpr::can_cast(it.kind())))
        else {
            continue;
        };
        let header = block.trait_().map(|it| it.syntax().text_range());
        let own = block.self_ty().map(|it| usize::from(it.syntax().text_range().start()));
        if header.is_some_and(|it| it.contains_range(token.text_range())) {
            affected.blocks.extend(own.map(|at| (it.file.path.clone(), at)));
        }
    }
}

/// Whether a bound makes a parameter `?Sized`, including the standard library's own notation.
fn is_relaxed(bound: &ast::TypeBound) -> bool {
    let is_weaker = |it: &ast::Type| matches!(it.syntax().text().to_string().as_str(), "PointeeSized" | "MetaSized");
    bound.question_mark_token().is_some() || bound.ty().as_ref().is_some_and(is_weaker)
}

/// Strings, slices and trait objects without a reference, and parameters that may be one.
fn has_no_size(sema: &Semantics<'_, RootDatabase>, ty: &Type<'_>) -> bool {
    let may_be_one = || {
        let parameter = ty.as_type_param(sema.db)?;
        let sized = FamousDefs(sema, parameter.module(sema.db).krate(sema.db)).core_marker_Sized()?;
        Some(!bounds::implements(sema.db, ty, sized, &[]))
    };
    ty.as_builtin().is_some_and(|it| it.is_str())
        || ty.as_slice().is_some()
        || ty.as_dyn_trait().is_some()
        || may_be_one() == Some(true)
}
