//! Constants in patterns whose type does not derive `PartialEq`: the compiler compares them part by part.

use ra_ap_hir::{Adt, HasCrate as _, ModuleDef, PathResolution, Type};
use ra_ap_syntax::ast::HasAttrs as _;
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// The most levels of types in types that are followed.
const MOST_LEVELS: usize = 8;

pub(crate) fn constants_in_patterns(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let meant = match ast::Pat::cast(node.clone()) {
        Some(ast::Pat::IdentPat(it)) if it.pat().is_none() => cx.sema.resolve_bind_pat_to_const(&it),
        Some(ast::Pat::PathPat(it)) => match it.path().and_then(|it| cx.sema.resolve_path(&it)) {
            Some(PathResolution::Def(it)) => Some(it),
            _ => None,
        },
        _ => None,
    };
    let Some(ModuleDef::Const(constant)) = meant else { return };
    if let Some(adt) = unstructured(cx, &constant.ty(cx.db), MOST_LEVELS) {
        let message = format!("constant of non-structural type `{}` in a pattern", adt.name(cx.db).as_str());
        out.push(report::raw_diagnostic(cx, node, Code::Uncoded, message));
    }
}

/// The type in each value of a type that does not derive `PartialEq`. A value of an enum may be without the others.
fn unstructured(cx: &Context<'_>, ty: &Type<'_>, levels: usize) -> Option<Adt> {
    let levels = levels.checked_sub(1)?;
    let ty = ty.strip_references();
    if let Some((of, count)) = ty.as_array(cx.db) {
        return (count > 0).then(|| unstructured(cx, &of, levels))?;
    }
    let Some(adt) = ty.as_adt() else {
        return ty.tuple_fields(cx.db).iter().find_map(|it| unstructured(cx, it, levels));
    };
    // The standard library's types may implement the mark by themselves.
    if adt.krate(cx.db).origin(cx.db).is_lang() {
        return None;
    }
    let source = cx.sema.source(adt)?.value;
    let may_derive = source.attrs().any(|it| {
        let text = it.syntax().text().to_string();
        text.contains("PartialEq")
            || it.simple_name().is_none_or(|it| !crate::syntax::is_builtin(&it) && it != "derive")
    });
    if !may_derive {
        return Some(adt);
    }
    match adt {
        Adt::Struct(_) => ty.fields(cx.db).iter().find_map(|it| unstructured(cx, &it.1, levels)),
        _ => None,
    }
}
