//! Types and traits whose generics change, where they are named with arguments: there may be too few or too many, or
//! one that does not meet its bounds now. In bodies rust-analyzer counts the arguments of types itself.

use either::Either;
use ra_ap_hir::{GenericDef, TypeOrConstParam};
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::ast::HasGenericArgs as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::affected::{ChangedSymbol, is_outside_body};
use super::edit_context::EditContext;
use super::findings::Findings;
use super::rule_input::NamedPlace;
use super::{macros, wellformed};
use crate::checks::{expansions, report};
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::index::search::Occurrence;
use crate::resolve::at;
use crate::syntax::positions;
use crate::usages;
use crate::view::Context;
use semdex_model::{ChangeKind, Place, SymbolKind};

/// The generic arguments of a name.
pub(crate) struct Given {
    pub(crate) lifetimes: usize,
    /// `None` is a constant.
    pub(crate) types: Vec<Option<ast::Type>>,
}

pub(crate) fn given(segment: &ast::PathSegment) -> Given {
    let mut given = Given { lifetimes: 0, types: Vec::new() };
    for it in segment.generic_arg_list().into_iter().flat_map(|it| it.generic_args()) {
        match it {
            ast::GenericArg::LifetimeArg(_) => given.lifetimes += 1,
            ast::GenericArg::TypeArg(it) => given.types.push(it.ty()),
            ast::GenericArg::ConstArg(_) => given.types.push(None),
            ast::GenericArg::AssocTypeArg(_) => {}
        }
    }
    given
}

impl ChangedSymbol<'_> {
    /// Whether its generics, or their bounds, may differ from before.
    pub(crate) fn has_other_generics(&self) -> bool {
        let delta = self.delta.as_ref().map(|it| &it.1).filter(|it| it.kind == ChangeKind::Signature);
        delta.and_then(|it| it.before.zip(it.after)).is_some_and(|(before, after)| {
            let is_generic = matches!(
                after.kind,
                SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Union | SymbolKind::Trait | SymbolKind::Type
            );
            let has_generics = before.signature.contains('<') || after.signature.contains('<');
            is_generic && has_generics && before.signature != after.signature
        })
    }
}

pub(crate) fn unfit_generics(cx: &Context<'_>, at: &NamedPlace<'_, '_>, out: &mut Findings<'_>) {
    let NamedPlace { occurrence: it, token, .. } = at;
    let is_head = it.file.outline().enclosing(it.at.start).last().is_none_or(|item| is_outside_body(item, it));
    let Some(error) = unfit_generic(cx, token, is_head) else { return };
    if !is_of_bound(&error) {
        out.add(error);
        return;
    }
    unfit_results(cx, token).into_iter().for_each(|it| out.add(it));
    match token.parent().and_then(|it| wellformed::through_alias(cx, &it)) {
        Some(uses) => at_uses(cx, token, &error, &uses).into_iter().for_each(|it| out.add(it)),
        None => out.add(error),
    }
}

/// Whether an argument does not meet a bound, which the compiler does not check in an alias.
fn is_of_bound(error: &Finding) -> bool {
    matches!(error.code, Code::E0271 | Code::E0277)
}

/// The same in the heads of items that macros write.
pub(crate) fn unfit_in_macros(
    cx: &Context<'_>,
    changed_symbol: &ChangedSymbol<'_>,
    edit: &EditContext,
    out: &mut Findings<'_>,
) {
    for it in changed_symbol.calls.iter().flatten() {
        let now = edit.moved(&it.file.path, it.at.start);
        for output in now.map(|at| macros::outputs_at(&cx.sema, it.id, at)).unwrap_or_default() {
            expansions::in_expansions(&cx.sema, &output, &mut |node| {
                let name = ast::NameRef::cast(node.clone()).filter(|it| it.text() == changed_symbol.name);
                let is_in_body = || node.ancestors().any(|it| ast::BlockExpr::can_cast(it.kind()));
                let name = name.filter(|_| !is_in_body());
                let Some(token) = name.and_then(|it| it.ident_token()) else { return };
                let Some(error) = unfit_generic(cx, &token, true) else { return };
                match wellformed::through_alias(cx, node).filter(|_| is_of_bound(&error)) {
                    Some(uses) => at_uses(cx, &token, &error, &uses).into_iter().for_each(|it| out.add(it)),
                    None => out.add(error),
                }
            });
        }
    }
}

/// The wrong calls of a function that returns such a type with its own parameters. The parameter has a bound there, and
/// the argument at a call meets it or not.
fn unfit_results(cx: &Context<'_>, token: &SyntaxToken) -> Vec<Finding> {
    let result = token.parent_ancestors().find_map(ast::RetType::cast);
    let function = result.and_then(|it| ast::Fn::cast(it.syntax().parent()?)).and_then(|it| cx.sema.to_def(&it));
    let of = at::definition_of_token(&cx.sema, token);
    let (Some(function), Some(Definition::Adt(of))) = (function, of) else { return Vec::new() };
    let Some(parameters) = wellformed::parameters_of(cx, GenericDef::Adt(of)) else { return Vec::new() };
    let calls = usages::find(cx, &[Definition::Function(function)]).into_iter().flat_map(|it| it.items);
    let found = calls.filter_map(|it| {
        let token = positions::token(&cx.sema, it.id, it.at.start)?;
        let call = token.parent_ancestors().take(4).find_map(call_of)?;
        let lacks = wellformed::unmet_in_result(&cx.sema, of, &parameters, &call)?;
        Some(report::unmet(cx, place_of(cx, &it)?, lacks))
    });
    found.collect()
}

/// The call whose callee is a name or the path around it.
fn call_of(node: SyntaxNode) -> Option<ast::Expr> {
    match ast::Expr::cast(node)? {
        ast::Expr::PathExpr(it) => {
            let call = it.syntax().parent().and_then(ast::CallExpr::cast)?;
            (call.expr()?.syntax() == it.syntax()).then_some(ast::Expr::CallExpr(call))
        }
        it @ ast::Expr::MethodCallExpr(_) => Some(it),
        _ => None,
    }
}

fn place_of(cx: &Context<'_>, it: &Occurrence) -> Option<Place> {
    cx.files.get(&it.file.path).map(|file| file.lines().place(&file.path, it.at))
}

/// The error of a type that an alias names, at the uses of the alias. What the alias takes as a parameter has its bounds
/// there.
fn at_uses(cx: &Context<'_>, named: &SyntaxToken, error: &Finding, uses: &[Occurrence]) -> Vec<Finding> {
    let of = match at::definition_of_token(&cx.sema, named) {
        Some(Definition::Adt(it)) => wellformed::parameters_of(cx, GenericDef::Adt(it)).map(|of| (it, of)),
        _ => None,
    };
    let error_at = |it: &Occurrence| {
        let place = place_of(cx, it)?;
        let Some((of, parameters)) = &of else {
            return Some(report::error(cx, place, error.code, error.message.clone()).about(error.subject.clone()));
        };
        let token = positions::token(&cx.sema, it.id, it.at.start)?;
        let copies = cx.sema.descend_into_macros_exact(token).into_iter();
        let mut segments = copies.filter_map(|it| it.parent_ancestors().find_map(ast::PathSegment::cast));
        let lacks = segments.find_map(|it| wellformed::unmet_by_alias(&cx.sema, *of, parameters, &it))?;
        Some(report::unmet(cx, place, lacks))
    };
    uses.iter().filter_map(error_at).collect()
}

pub(crate) fn unfit_generic(cx: &Context<'_>, token: &SyntaxToken, is_head: bool) -> Option<Finding> {
    let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?;
    // `Fn(u8) -> u8`
    if segment.parenthesized_arg_list().is_some() {
        return None;
    }
    let path = segment.parent_path();
    let Some(ty) = path.syntax().parent().and_then(ast::PathType::cast) else {
        let Definition::Adt(of) = at::definition_of_token(&cx.sema, token)? else { return None };
        let lacks = wellformed::parameters_of(cx, GenericDef::Adt(of))
            .and_then(|it| wellformed::unmet_in_value(&cx.sema, of, &it, &path))?;
        return Some(report::unmet(cx, cx.place(report::reported_range(cx, segment.syntax()))?, lacks));
    };
    let (of, name) = match at::definition_of_token(&cx.sema, token)? {
        Definition::Adt(it) => (GenericDef::Adt(it), it.name(cx.db)),
        Definition::Trait(it) => (GenericDef::Trait(it), it.name(cx.db)),
        Definition::TypeAlias(it) => (GenericDef::TypeAlias(it), it.name(cx.db)),
        _ => return None,
    };
    let name = name.as_str();
    let place = || cx.place(report::reported_range(cx, segment.syntax()));
    let given = given(&segment);
    let parameters = of.type_or_const_params(cx.db);
    let is_implicit = |it: &TypeOrConstParam| it.as_type_param(cx.db).is_some_and(|it| it.is_implicit(cx.db));
    let parameters: Vec<_> = parameters.into_iter().filter(|it| !is_implicit(it)).collect();
    let target = cx.sema.scope(ty.syntax())?.krate().to_display_target(cx.db);
    let has_default = |it: &TypeOrConstParam| match it.split(cx.db) {
        Either::Left(it) => it.default(cx.db, target).is_some(),
        Either::Right(it) => it.default(cx.db).is_some(),
    };
    let required = parameters.iter().filter(|it| !has_default(it)).count();
    let lifetimes = of.lifetime_params(cx.db).len();
    if is_head && !(required..=parameters.len()).contains(&given.types.len()) {
        let message = format!("`{name}` takes {} generic arguments, but {} given", parameters.len(), given.types.len());
        return Some(report::error(cx, place()?, Code::E0107, message));
    }
    if is_head && given.lifetimes != lifetimes {
        if given.lifetimes > 0 {
            let message = format!("`{name}` takes {lifetimes} lifetimes, but {} given", given.lifetimes);
            return Some(report::error(cx, place()?, Code::E0107, message));
        }
        let mut around = ty.syntax().ancestors();
        // Functions and their types, constants and statics may omit them.
        let code = around.find_map(|it| match it.kind() {
            SyntaxKind::PARAM_LIST | SyntaxKind::PARENTHESIZED_ARG_LIST | SyntaxKind::RET_TYPE => Some(None),
            SyntaxKind::RECORD_FIELD | SyntaxKind::TUPLE_FIELD | SyntaxKind::TYPE_ALIAS => Some(Some(Code::E0106)),
            SyntaxKind::IMPL => Some(Some(Code::E0726)),
            SyntaxKind::FN | SyntaxKind::STATIC | SyntaxKind::CONST => Some(None),
            _ => None,
        });
        if let Some(code) = code.flatten() {
            return Some(report::error(cx, place()?, code, format!("missing lifetime specifier of `{name}`")));
        }
    }
    // The arguments of a `dyn` type are checked where it is used.
    if ty.syntax().ancestors().skip(1).take(3).any(|it| ast::DynTraitType::can_cast(it.kind())) {
        return None;
    }
    let lacks =
        wellformed::parameters_of(cx, of).and_then(|it| wellformed::unmet_bound(&cx.sema, &it, &given.types))?;
    Some(report::unmet(cx, place()?, lacks))
}
