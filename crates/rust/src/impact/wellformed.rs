//! Arguments of types and traits that do not meet a parameter's bound: `Wrap<Plain>`, if `Wrap` now requires `T: Mark`
//! and `Plain` does not implement `Mark`. Each place with such an argument is an error of its own.

use ra_ap_hir::{
    Adt, AsAssocItem as _, AssocItem, Crate, GenericDef, HirDisplay as _, ModuleDef, PathResolution, Semantics, Trait,
    Type, TypeAlias,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_ide_db::famous_defs::FamousDefs;
use ra_ap_syntax::ast::{HasGenericArgs as _, HasGenericParams as _, HasName as _, HasTypeBounds as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::affected::AffectedSet;
use crate::checks::bounds;
use crate::checks::bounds::bound_path;
use crate::checks::report::Unmet;
use crate::index::search::Occurrence;
use crate::names::instances;
use crate::syntax::attributes::is_conditional;
use crate::syntax::declaration::free_alias_around;
use crate::syntax::positions::{self, span};
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
#[derive(Default)]
pub(crate) struct Parameters {
    names: Vec<String>,
    asked: Vec<Vec<Asked>>,
    /// The bounds on associated types of a parameter: `where T::Item: Debug`.
    projected: Vec<Projected>,
    unsized_ones: Vec<bool>,
}

/// Bounds on an associated type.
struct Projected {
    /// The index of the parameter.
    of: usize,
    /// The trait that is written: `<T as Iterator>::Item`.
    by: Option<Trait>,
    name: String,
    asked: Vec<Asked>,
}

impl Parameters {
    /// Adds the bounds that a `where` clause has on associated types.
    fn add_projected(&mut self, cx: &Context<'_>, clauses: Option<ast::WhereClause>, krate: Crate) {
        for clause in clauses.into_iter().flat_map(|it| it.predicates()) {
            let (Some(ast::Type::PathType(ty)), Some(bounds)) = (clause.ty(), clause.type_bound_list()) else {
                continue;
            };
            let Some((of, by, name)) = ty.path().and_then(|it| projection(&cx.sema, &it)) else { continue };
            let Some(of) = self.names.iter().position(|it| *it == of) else { continue };
            let asked = bounds.bounds().filter_map(|it| asked_of(cx, it, krate)).collect();
            self.projected.push(Projected { of, by, name, asked });
        }
    }
}

/// The parts of `T::Item` or `<T as Iterator>::Item`: the type as written, the trait and the name.
fn projection(sema: &Semantics<'_, RootDatabase>, path: &ast::Path) -> Option<(String, Option<Trait>, String)> {
    let name = path.segment()?.name_ref()?.text().to_string();
    let qualifier = path.qualifier()?;
    let segment = qualifier.segment()?;
    if let Some(anchor) = segment.type_anchor() {
        let of = segment.qualifying_trait()?.path()?;
        let PathResolution::Def(ModuleDef::Trait(by)) = sema.resolve_path(&of)? else { return None };
        return Some((anchor.ty()?.syntax().text().to_string(), Some(by), name));
    }
    Some((qualifier.as_single_name_ref()?.text().to_string(), None, name))
}

pub(crate) fn parameters_of(cx: &Context<'_>, of: GenericDef) -> Option<Parameters> {
    let sema = &cx.sema;
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
    let mut found = Parameters::default();
    for parameter in list {
        // The number of parameters depends on the build.
        if is_conditional(parameter.syntax()) {
            return None;
        }
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
        found.asked.push(bounds.into_iter().filter_map(|it| asked_of(cx, it, krate)).collect());
        found.names.push(name);
    }
    found.add_projected(cx, node.where_clause(), krate);
    Some(found)
}

fn asked_of(cx: &Context<'_>, bound: ast::TypeBound, krate: Crate) -> Option<Asked> {
    let path = Some(bound).filter(|it| !is_relaxed(it)).and_then(bound_path)?;
    let of = trait_named(cx, &path, krate)?;
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
    Some(Asked { of, given, bindings })
}

/// The trait that a path means in one of the crates that include its file: they may depend on different versions of it.
fn trait_named(cx: &Context<'_>, path: &ast::Path, krate: Crate) -> Option<Trait> {
    let meant = |cx: &Context<'_>, path: &ast::Path| match cx.sema.resolve_path(path)? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    };
    let file = cx.sema.hir_file_for(path.syntax()).file_id().map(|it| it.file_id(cx.db));
    let Some(file) = file.filter(|it| instances::owners(cx.db, *it).len() > 1) else { return meant(cx, path) };
    let range = path.syntax().text_range();
    cx.in_instance(file, krate.base(), |cx| {
        let token = positions::token(&cx.sema, file, span(range).start)?;
        let mut paths = token.parent_ancestors().filter_map(ast::Path::cast);
        meant(cx, &paths.find(|it| it.syntax().text_range() == range)?)
    })
}

/// What a trait requires of the types that implement it, and a type does not meet.
pub(crate) fn unmet_supertrait<'db>(cx: &Context<'db>, of: Trait, ty: &Type<'db>, shown: &str) -> Option<Unmet> {
    let sema = &cx.sema;
    let source = sema.source(of)?.value;
    let krate = of.module(sema.db).krate(sema.db);
    let asked = source.type_bound_list().into_iter().flat_map(|it| it.bounds());
    let asked = asked.filter_map(|it| asked_of(cx, it, krate)).collect();
    let own = source.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let mut names = vec!["Self".to_owned()];
    names.extend(own.filter_map(|it| Some(it.name()?.text().to_string())));
    // Bounds with the trait's own parameters are left to the compiler.
    let mut types = vec![Some(ty.clone())];
    types.resize(names.len(), None);
    let mut parameters = Parameters { names, asked: vec![asked], unsized_ones: vec![true], ..Parameters::default() };
    parameters.add_projected(cx, source.where_clause(), krate);
    // Bounds on its own associated types are those of the types that an implementation gives.
    let is_own = |it: &Projected| {
        of.items(sema.db).into_iter().any(|item| item.name(sema.db).is_some_and(|name| name.as_str() == it.name))
    };
    parameters.projected.retain(|it| !is_own(it));
    unmet_by(sema, &parameters, &types, |_| shown.to_owned())
}

/// The bounds of an associated type: its own, and those that the `where` clause of its trait has on it.
pub(crate) fn bounds_of_alias(cx: &Context<'_>, declared: TypeAlias) -> Vec<Trait> {
    let Some(alias) = cx.sema.source(declared).map(|it| it.value) else { return Vec::new() };
    let of = alias.syntax().ancestors().find_map(ast::Trait::cast);
    let clauses = of.and_then(|it| it.where_clause()).into_iter().flat_map(|it| it.predicates());
    let path = alias.name().map(|it| format!("Self::{}", it.text())).unwrap_or_default();
    let mut clauses = clauses.filter(|it| it.ty().is_some_and(|it| it.syntax().text() == path.as_str()));
    let lists = alias.type_bound_list().into_iter().chain(clauses.find_map(|it| it.type_bound_list()));
    let krate = declared.module(cx.db).krate(cx.db);
    let paths = lists.flat_map(|it| it.bounds().filter_map(bound_path).collect::<Vec<_>>());
    let traits = paths.filter_map(|it| trait_named(cx, &it, krate));
    traits.flat_map(|it| it.all_supertraits(cx.db)).collect()
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

/// The same for a type or a value that is named by an alias, with the arguments that it has there.
pub(crate) fn unmet_by_alias(
    sema: &Semantics<'_, RootDatabase>,
    of: Adt,
    parameters: &Parameters,
    alias: &ast::PathSegment,
) -> Option<Unmet> {
    let path = alias.parent_path();
    match path.syntax().parent().and_then(ast::PathType::cast) {
        Some(ty) => {
            let place = ty.syntax().clone();
            unmet_within(sema, of, parameters, &sema.resolve_type(&ast::Type::PathType(ty))?, &place)
        }
        None => unmet_in_value(sema, of, parameters, &path.top_path()),
    }
}

/// The same for the result of a call, anywhere in its type.
pub(crate) fn unmet_in_result(
    sema: &Semantics<'_, RootDatabase>,
    of: Adt,
    parameters: &Parameters,
    call: &ast::Expr,
) -> Option<Unmet> {
    unmet_within(sema, of, parameters, &sema.type_of_expr(call)?.original, call.syntax())
}

fn unmet_within<'db>(
    sema: &Semantics<'db, RootDatabase>,
    of: Adt,
    parameters: &Parameters,
    ty: &Type<'db>,
    place: &SyntaxNode,
) -> Option<Unmet> {
    let mut found = None;
    ty.walk(sema.db, |it| {
        if found.is_none() && it.as_adt() == Some(of) {
            found = unmet_in(sema, parameters, &it, place);
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
        if parameters.unsized_ones.get(index) == Some(&false) && has_no_size(sema, ty) {
            return Some(Unmet { ty: shown(index), of: "Sized".to_owned(), is_other_type: false });
        }
        let of = |ty: &Type<'db>, asked: &[Asked], shown: &dyn Fn() -> String| {
            asked.iter().find_map(|it| unmet_one(sema, (ty, it), (parameters, types), shown))
        };
        let own = parameters.asked.get(index).map_or(&[][..], |it| it);
        let mut unmet = of(ty, own, &|| shown(index));
        for it in parameters.projected.iter().filter(|it| it.of == index) {
            let by: Vec<Trait> = own.iter().map(|it| it.of).chain(it.by).collect();
            let actual = || associated_type(sema, ty, &by, &it.name).filter(|it| !it.contains_unknown());
            let name = || format!("{}::{}", shown(index), it.name);
            unmet = unmet.or_else(|| of(&actual()?, &it.asked, &name));
        }
        if unmet.is_some() {
            return unmet;
        }
    }
    None
}

/// What a type has as the associated type of one of these traits without parameters.
fn associated_type<'db>(
    sema: &Semantics<'db, RootDatabase>,
    ty: &Type<'db>,
    by: &[Trait],
    name: &str,
) -> Option<Type<'db>> {
    let alias = by.iter().find_map(|it| alias_named(sema, *it, name))?;
    let of = alias.as_assoc_item(sema.db)?.container_trait(sema.db)?;
    let is_plain = of.type_or_const_param_count(sema.db, false) == 0;
    is_plain.then(|| ty.normalize_trait_assoc_type(sema.db, &[], alias)).flatten()
}

fn alias_named(sema: &Semantics<'_, RootDatabase>, of: Trait, name: &str) -> Option<TypeAlias> {
    let mut items = of.all_supertraits(sema.db).into_iter().flat_map(|it| it.items(sema.db));
    items.find_map(|it| match it {
        AssocItem::TypeAlias(it) if it.name(sema.db).as_str() == name => Some(it),
        _ => None,
    })
}

/// What a type does not meet of a bound.
fn unmet_one<'db>(
    sema: &Semantics<'db, RootDatabase>,
    (ty, asked): (&Type<'db>, &Asked),
    (parameters, types): (&Parameters, &[Option<Type<'db>>]),
    shown: &dyn Fn() -> String,
) -> Option<Unmet> {
    let lacks = |what: &str| Unmet { ty: shown(), of: what.to_owned(), is_other_type: false };
    let name = asked.of.name(sema.db);
    let arguments: Option<Vec<Type<'db>>> =
        asked.given.iter().map(|it| argument(sema, it, parameters, types)?.try_rebase_into(sema.db, ty)).collect();
    let arguments = arguments?;
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
    asked.bindings.iter().find_map(|(of, expected)| {
        let alias = alias_named(sema, asked.of, of)?;
        let own = alias.as_assoc_item(sema.db)?.container_trait(sema.db)? == asked.of;
        let given: &[Type<'db>] = if own { &arguments } else { &[] };
        let actual = ty.normalize_trait_assoc_type(sema.db, given, alias)?;
        let shown = expected.syntax().text().to_string();
        let expected = argument(sema, expected, parameters, types)?.try_rebase_into(sema.db, ty)?;
        // Lifetimes are not compared.
        let is_clear = |it: &Type<'db>| !it.contains_unknown() && !it.contains_reference(sema.db);
        let is_other = is_clear(&actual) && is_clear(&expected) && actual != expected;
        is_other.then(|| Unmet { is_other_type: true, ..lacks(&format!("{}<{of} = {shown}>", name.as_str())) })
    })
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

/// For a place in an alias, the places that name the alias, or one that is made of it: the compiler checks an alias
/// where it is used.
pub(crate) fn through_alias(cx: &Context<'_>, place: &SyntaxNode) -> Option<Vec<Occurrence>> {
    let mut aliases = vec![alias_around(cx, place)?];
    let mut uses = Vec::new();
    let mut at = 0;
    while let Some(&of) = aliases.get(at) {
        at += 1;
        let found = usages::find(cx, &[Definition::TypeAlias(of)]).into_iter().flat_map(|it| it.items);
        for it in found.filter(|it| it.role == Role::Type) {
            let node = positions::token(&cx.sema, it.id, it.at.start).and_then(|it| it.parent());
            match node.and_then(|it| alias_around(cx, &it)) {
                Some(outer) if aliases.contains(&outer) => {}
                Some(outer) => aliases.push(outer),
                None => uses.push(it),
            }
        }
    }
    Some(uses)
}

fn alias_around(cx: &Context<'_>, place: &SyntaxNode) -> Option<TypeAlias> {
    cx.sema.to_def(&free_alias_around(place)?)
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
