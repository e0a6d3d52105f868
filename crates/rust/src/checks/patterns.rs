//! Matches with a missing variant. rust-analyzer does not check a match that has a number or a string as a pattern.

use std::collections::HashSet;

use ra_ap_hir::{
    Adt, AsAssocItem as _, EnumVariant, HasAttrs as _, HasCrate as _, InFile, ModuleDef, PathResolution, Semantics,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, AstPtr, SyntaxNode, SyntaxToken, ast};

use super::{places, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

pub(crate) fn missed_variants(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(found) = ast::MatchExpr::cast(node.clone()).and_then(|it| missed_in(cx, &it)) else { return };
    if !out.iter().any(|it| it.code == found.code && it.range.intersect(found.range).is_some()) {
        out.push(found);
    }
}

fn missed_in(cx: &Context<'_>, of: &ast::MatchExpr) -> Option<RawDiagnostic> {
    let scrutinee = of.expr()?;
    let ty = cx.sema.type_of_expr(&scrutinee)?.original.strip_references();
    let Some(Adt::Enum(of_enum)) = ty.as_adt() else { return None };
    // Other enums do not change.
    let (own, its) = (cx.sema.scope(scrutinee.syntax())?.krate(), of_enum.krate(cx.db));
    if !its.origin(cx.db).is_local() || its != own && of_enum.attrs(cx.db).is_non_exhaustive() {
        return None;
    }
    let mut named: HashSet<EnumVariant> = HashSet::new();
    for arm in of.match_arm_list()?.arms() {
        if arm.guard().is_none() || !is_catch_all(&arm.pat()?) {
            name_variants(&cx.sema, &arm.pat()?, &mut named)?;
        }
    }
    let missed: Vec<String> = of_enum
        .variants(cx.db)
        .into_iter()
        .filter(|it| !named.contains(it))
        .map(|it| format!("`{}::{}`", of_enum.name(cx.db).as_str(), it.name(cx.db).as_str()))
        .collect();
    if missed.is_empty() || named.is_empty() {
        return None;
    }
    let message = format!("non-exhaustive patterns: {} not covered", missed.join(", "));
    Some(report::raw_diagnostic(cx, scrutinee.syntax(), Code::E0004, message))
}

/// At the scrutinee, or at the `match` itself if a macro combines it from its own tokens and its input.
pub(crate) fn unmatched(cx: &Context<'_>, scrutinee: InFile<AstPtr<ast::Expr>>, message: String) -> RawDiagnostic {
    let node = scrutinee.value.to_node(&cx.sema.parse_or_expand(scrutinee.file_id));
    let whole = scrutinee.with_value(node.syntax().text_range());
    let is_mixed =
        whole.original_node_file_range_rooted_opt(cx.db).is_none() && places::where_written(cx, whole).is_none();
    let around = node.syntax().parent().and_then(ast::MatchExpr::cast).filter(|_| is_mixed);
    let keyword = around.and_then(|it| it.match_token()).map(|it| scrutinee.with_value(it.text_range()));
    RawDiagnostic::new(places::reported_at(cx, keyword.unwrap_or(whole)), Code::E0004, message)
}

/// The path of a constant in a pattern that names a function now.
pub(crate) fn function_as_pattern<'db>(
    db: &'db RootDatabase,
    token: &SyntaxToken,
    meant: Definition<'db>,
) -> Option<(Code, String)> {
    let Definition::Function(function) = meant else { return None };
    let path = token.parent_ancestors().find_map(ast::Path::cast)?;
    path.syntax().parent().filter(|it| ast::PathPat::can_cast(it.kind()))?;
    let code = if function.as_assoc_item(db).is_some() { Code::E0533 } else { Code::E0532 };
    let name = function.name(db);
    Some((code, format!("expected unit struct, unit variant or constant, found function `{}`", name.as_str())))
}

fn is_catch_all(pattern: &ast::Pat) -> bool {
    match pattern {
        ast::Pat::WildcardPat(_) => true,
        ast::Pat::IdentPat(it) => it.pat().is_none_or(|it| is_catch_all(&it)),
        ast::Pat::ParenPat(it) => it.pat().is_some_and(|it| is_catch_all(&it)),
        _ => false,
    }
}

/// The variants that a pattern names; `None` if it may match any.
fn name_variants(
    sema: &Semantics<'_, RootDatabase>,
    pattern: &ast::Pat,
    named: &mut HashSet<EnumVariant>,
) -> Option<()> {
    let path = match pattern {
        ast::Pat::OrPat(it) => return it.pats().try_for_each(|it| name_variants(sema, &it, named)),
        ast::Pat::ParenPat(it) => return name_variants(sema, &it.pat()?, named),
        ast::Pat::RefPat(it) => return name_variants(sema, &it.pat()?, named),
        ast::Pat::IdentPat(it) if it.pat().is_some() => return name_variants(sema, &it.pat()?, named),
        ast::Pat::IdentPat(it) => {
            let definition = sema.resolve_bind_pat_to_const(it)?;
            return match definition {
                ModuleDef::EnumVariant(it) => {
                    named.insert(it);
                    Some(())
                }
                _ => None,
            };
        }
        ast::Pat::PathPat(it) => it.path()?,
        ast::Pat::TupleStructPat(it) => it.path()?,
        ast::Pat::RecordPat(it) => it.path()?,
        _ => return None,
    };
    match sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::EnumVariant(it)) => {
            named.insert(it);
            Some(())
        }
        _ => None,
    }
}
