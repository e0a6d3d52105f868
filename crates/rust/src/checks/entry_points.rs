//! Functions that the program or the test harness calls: `main`, and tests.

use ra_ap_ide::FileId;
use ra_ap_syntax::ast::{HasAttrs as _, HasGenericParams as _, HasName as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, ast};

use super::bounds;
use super::report::Add;
use crate::finding::code::Code;
use crate::syntax::is_builtin;
use crate::view::Context;

/// Whether a file is the root of a program that starts with its own `main`.
pub(crate) fn is_program(cx: &Context<'_>, id: FileId) -> bool {
    let Some(file) = cx.file(id) else { return false };
    let parts: Vec<&str> = file.path.split('/').collect();
    let is_by_name = match parts[..] {
        // The harness has a `main` of its own.
        [.., "tests" | "benches", _, "main.rs"] => false,
        _ => matches!(parts[..], [.., "main.rs" | "build.rs"] | [.., "src", "bin", _] | [.., "examples", _]),
    };
    let has_main = || {
        let attributes = cx.sema.parse_guess_edition(id).attrs();
        !attributes.filter(|it| it.kind().is_inner()).any(|it| it.simple_name().is_some_and(|it| it == "no_main"))
    };
    is_by_name && has_main() && cx.sema.file_to_module_def(id).is_some_and(|it| it.is_crate_root(cx.db))
}

/// A `main` that is `async`, has parameters, or a result that is no exit code. Attribute macros may change it before.
pub(super) fn unfit_main(cx: &Context<'_>, item: &ast::Fn, add: &mut Add<'_>) {
    let is_root = item.syntax().parent().is_some_and(|it| it.kind() == SyntaxKind::SOURCE_FILE);
    let is_as_written = item.attrs().all(|it| it.simple_name().is_some_and(|it| is_builtin(&it)));
    let Some(name) = item.name().filter(|it| it.text() == "main" && is_root && is_as_written) else { return };
    let file = cx.sema.hir_file_for(item.syntax()).file_id();
    if !file.is_some_and(|it| is_program(cx, it.file_id(cx.db))) {
        return;
    }
    if let Some(it) = item.generic_param_list() {
        add(it.syntax(), Code::E0131, "`main` function is not allowed to have generic parameters");
    } else if item.async_token().is_some() {
        add(name.syntax(), Code::E0752, "`main` function is not allowed to be `async`");
    } else if item.param_list().is_some_and(|it| it.params().next().is_some()) {
        add(name.syntax(), Code::E0580, "`main` function has wrong type: it takes no arguments");
    } else if let Some(it) = unfit_result(cx, item) {
        add(it.syntax(), Code::E0277, &format!("`main` has invalid return type `{}`", it.syntax().text()));
    }
}

/// A result that the standard library cannot make an exit code of.
pub(super) fn unfit_result(cx: &Context<'_>, item: &ast::Fn) -> Option<ast::Type> {
    let written = item.ret_type()?.ty()?;
    let wanted = bounds::trait_at(cx, item.syntax(), "::std::process::Termination")?;
    let ty = cx.sema.resolve_type(&written).filter(|it| !it.contains_unknown())?;
    let is_named = !written.syntax().descendants().any(|it| ast::ImplTraitType::can_cast(it.kind()));
    (is_named && !ty.impls_trait(cx.db, wanted, &[])).then_some(written)
}
