//! Parameters, results and variables whose size is not known (E0277).

use ra_ap_hir::{Adt, DefWithBody, HirDisplay as _, Type};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::{bounds, report, written};
use crate::finding::code::Code;
use crate::finding::{RawDiagnostic, Subject};
use crate::view::Context;

/// The parameters and the result of a function with a body.
pub(crate) fn unsized_signature(cx: &Context<'_>, body: DefWithBody, out: &mut Vec<RawDiagnostic>) {
    let DefWithBody::Function(function) = body else { return };
    let source = cx.sema.source(function).filter(|it| it.value.body().is_some());
    let Some(source) = source.filter(|it| !written::enables(cx, it.value.syntax(), "unsized_fn_params")) else {
        return;
    };
    let parameters = source.value.param_list().into_iter().flat_map(|it| it.params()).filter_map(|it| it.ty());
    for given in parameters {
        if let Some(ty) = cx.sema.resolve_type(&given).filter(|ty| is_unsized(cx, given.syntax(), ty)) {
            out.push(unsized_value(cx, given.syntax(), &ty));
        }
    }
    if let Some(result) = source.value.ret_type().and_then(|it| it.ty())
        && let Some(ty) = cx.sema.resolve_type(&result).filter(|ty| is_unsized(cx, result.syntax(), ty))
        && ty.as_dyn_trait().is_none()
    {
        out.push(unsized_value(cx, result.syntax(), &ty));
    }
}

/// The variables of a body.
pub(crate) fn unsized_variables(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(pattern) = ast::IdentPat::cast(node.clone()).filter(|it| it.ref_token().is_none()) else { return };
    if cx.sema.resolve_bind_pat_to_const(&pattern).is_some() || !written::is_written(cx, node) {
        return;
    }
    if let Some(ty) = cx.sema.type_of_binding_in_pat(&pattern).filter(|ty| is_unsized(cx, node, ty)) {
        out.push(unsized_value(cx, node, &ty));
    }
}

fn unsized_value(cx: &Context<'_>, at: &SyntaxNode, ty: &Type<'_>) -> RawDiagnostic {
    let shown = match cx.sema.scope(at) {
        Some(it) => ty.display(cx.db, it.krate().to_display_target(cx.db)).to_string(),
        None => at.text().to_string(),
    };
    let message = format!("the size of values of type `{shown}` cannot be known at compilation time");
    report::raw_diagnostic(cx, at, Code::E0277, message).about(Subject::of_bound(shown, "Sized"))
}

/// Strings, slices and `dyn Trait`, and structs that end with one of them.
pub(super) fn is_unsized(cx: &Context<'_>, at: &SyntaxNode, ty: &Type<'_>) -> bool {
    if ty.is_str() || ty.is_slice() || ty.as_dyn_trait().is_some() {
        return !ty.contains_unknown();
    }
    let is_struct = matches!(ty.as_adt(), Some(Adt::Struct(_))) && !ty.contains_unknown();
    is_struct
        && has_unsized_end(cx, ty, 0)
        && bounds::trait_at(cx, at, "::core::marker::Sized").is_some_and(|it| !ty.impls_trait(cx.db, it, &[]))
}

fn has_unsized_end(cx: &Context<'_>, ty: &Type<'_>, depth: usize) -> bool {
    let Some((_, last)) = ty.fields(cx.db).pop().filter(|_| depth < 4) else { return false };
    let is_plain = last.is_str() || last.is_slice() || last.as_dyn_trait().is_some();
    is_plain || has_unsized_end(cx, &last, depth + 1)
}
