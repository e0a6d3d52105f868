//! Which of rust-analyzer's errors the compiler reports for certain. Its inference sometimes fails where the compiler's
//! does not, and a false error is worse than a missing one.

use std::collections::{BTreeMap, BTreeSet};

use ra_ap_hir::{InFile, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::{Diagnostic, FileId, RootDatabase};
use ra_ap_syntax::ast::HasName as _;
use ra_ap_syntax::{AstNode as _, NodeOrToken, SyntaxKind, SyntaxNode, ast};

use crate::ENGINE;
use crate::checks::closed::is_without_file;
use crate::checks::unresolved_paths::as_code;
use crate::checks::{anchors, errors, native, report, unresolved};
use crate::finding::code::Code;
use crate::finding::{Finding, RuleId};
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::Span;

/// The lines with errors of those bodies of a file that were checked, by the position of each body.
pub(crate) type LinesWithErrors = BTreeMap<usize, BTreeSet<usize>>;

pub(crate) fn is_sure(
    cx: &Context<'_>,
    file: &File,
    id: FileId,
    error: &Diagnostic,
    known: &mut LinesWithErrors,
) -> bool {
    let at = span(error.range.range);
    match error.code.as_str() {
        // The compiler reports the errors of the parser too.
        "syntax-error" => {
            let file = cx.sema.hir_file_for(cx.sema.parse_guess_edition(id).syntax());
            !native::is_of_fragment(cx, &error.message, InFile::new(file, error.range.range))
        }
        "E0583" => !is_of_unread_file(cx, file, error),
        "E0432" => !leads_through_module_without_file(cx, id, error),
        // What may declare the macro is known, or the body has been checked.
        "unresolved-macro-call" => {
            cx.environment.lacks().is_empty() && is_call_as_written(cx, id, error)
                || is_repeated(cx, file, id, at, known)
        }
        "E0282" => is_undetermined(&cx.sema, id, at) && is_repeated(cx, file, id, at, known),
        _ => !error.message.contains("{unknown}") && is_repeated(cx, file, id, at, known),
    }
}

/// Whether an error that the rules find is one of the compiler. rust-analyzer's inference sometimes fails in code that
/// macros make.
pub(crate) fn is_sure_of(cx: &Context<'_>, id: FileId, error: &Finding) -> bool {
    // A crate with `#![feature]` is for another compiler.
    if error.code == Code::E0554 {
        return false;
    }
    let at = Span::new(error.place.start, error.place.end);
    if error.code.is_of_unknown_type() {
        return is_undetermined(&cx.sema, id, at) || error.code == Code::E0790 && is_without_self(&cx.sema, id, at);
    }
    let is_as_written = || positions::token(&cx.sema, id, at.start).is_some_and(|it| as_code(cx, id, &it).is_some());
    error.rule != RuleId::RustAnalyzer || is_as_written()
}

/// Whether the macro of an error is named there, neither by another macro nor in its input, and no `cfg` switches the call
/// off: rust-analyzer overlooks those in bodies.
fn is_call_as_written(cx: &Context<'_>, id: FileId, error: &Diagnostic) -> bool {
    let Some(name) = positions::token(&cx.sema, id, span(error.range.range).start) else { return false };
    let call = name.parent_ancestors().find_map(ast::MacroCall::cast);
    let is_made = call.as_ref().is_some_and(|call| {
        let is_input = call.syntax().ancestors().skip(1).any(|it| ast::MacroCall::can_cast(it.kind()));
        let path = call.path().map(|it| it.syntax().text().to_string());
        is_input || path.is_some_and(|it| !error.message.ends_with(&format!(" `{it}!`")))
    });
    !is_made && !unresolved::is_left_out(&cx.sema, id, &name)
}

/// Whether an unresolved module has a file that exists and was not read.
fn is_of_unread_file(cx: &Context<'_>, file: &File, error: &Diagnostic) -> bool {
    let directory = file.path.rsplit_once('/').map_or("", |it| it.0);
    let candidates = error.message.rsplit_once(": ").map_or("", |it| it.1);
    candidates.split(", ").map(|it| it.trim_start_matches("or ")).any(|candidate| {
        let is_it = |path: &str| path.starts_with(directory) && path.ends_with(&format!("/{candidate}"));
        cx.environment.unread.iter().filter_map(|it| it.scope.as_deref()).any(is_it)
    })
}

/// Whether an import leads through a module whose file is missing.
fn leads_through_module_without_file(cx: &Context<'_>, id: FileId, error: &Diagnostic) -> bool {
    let tree = cx.sema.parse_guess_edition(id);
    let node = match tree.syntax().covering_element(error.range.range) {
        NodeOrToken::Node(it) => it,
        NodeOrToken::Token(it) => it.parent().unwrap_or_else(|| tree.syntax().clone()),
    };
    let around = node.ancestors().filter_map(ast::UseTree::cast).filter_map(|it| it.path());
    let mut paths = node.descendants().filter_map(ast::Path::cast).chain(around);
    paths.any(|it| match cx.sema.resolve_path(&it) {
        Some(PathResolution::Def(ModuleDef::Module(it))) => is_without_file(cx, it),
        _ => false,
    })
}

/// Whether the body around an error still has one on these lines after errors that follow from an unknown type are left
/// out (`checks/native.rs`). Outside bodies nothing is inferred.
fn is_repeated(cx: &Context<'_>, file: &File, id: FileId, at: Span, known: &mut LinesWithErrors) -> bool {
    let Some(anchor) = anchors::anchor(&cx.sema, file, id, at.start) else { return true };
    let lines = known.entry(anchor).or_insert_with(|| errors::lines_with_errors(cx, file, id, anchor));
    lines.range(file.lines().line(at.start)..=file.lines().line(at.end)).next().is_some()
}

/// What is reported in place of doubtful errors: the unresolved paths around them, which rust-analyzer does not report
/// itself.
pub(crate) fn instead_of(
    cx: &Context<'_>,
    file: &File,
    id: FileId,
    doubtful: &[Diagnostic],
) -> Vec<semdex_model::Diagnostic> {
    let anchors = doubtful.iter().filter_map(|it| anchors::anchor(&cx.sema, file, id, span(it.range.range).start));
    let anchors: BTreeSet<usize> = anchors.collect();
    let bodies = anchors.into_iter().flat_map(|it| anchors::bodies_at(cx, &file.path, it));
    let bodies = bodies.filter_map(|it| native::body_syntax(&cx.sema, it)).filter(|it| is_of_file(&cx.sema, it, id));
    let paths = bodies.flat_map(|it| it.descendants().filter_map(ast::Path::cast).collect::<Vec<_>>());
    let heads = paths.filter(|it| it.qualifier().is_none() && it.parent_path().is_some());
    let is_off =
        |it: &ast::Path| it.syntax().first_token().is_some_and(|it| unresolved::is_left_out(&cx.sema, id, &it));
    let lost = heads.filter(|it| cx.sema.resolve_path(it).is_none() && !is_off(it));
    let error = |it: ast::Path| {
        let name = it.segment()?.name_ref()?;
        let place = file.lines().place(&file.path, span(name.syntax().text_range()));
        let message = format!("cannot find type or module `{}` in this scope", name.text());
        Some(report::error_of(cx, ENGINE, place, Code::E0433, message).into())
    };
    lost.filter_map(error).collect()
}

/// Whether a node is in the file itself, not in a macro expansion.
fn is_of_file(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode, id: FileId) -> bool {
    sema.hir_file_for(node).file_id().is_some_and(|it| it.file_id(sema.db) == id)
}

/// Whether a path leads to a function of a trait whose parameters and result do not depend on its type.
fn is_without_self(sema: &Semantics<'_, RootDatabase>, id: FileId, at: Span) -> bool {
    let token = positions::token(sema, id, at.start);
    let path = token.and_then(|it| it.parent_ancestors().find_map(ast::PathExpr::cast)).and_then(|it| it.path());
    let Some(PathResolution::Def(ModuleDef::Function(of))) = path.and_then(|it| sema.resolve_path(&it)) else {
        return false;
    };
    let Some(source) = sema.source(of) else { return false };
    let parts = [
        source.value.param_list().map(|it| it.syntax().clone()),
        source.value.ret_type().map(|it| it.syntax().clone()),
    ];
    !parts.into_iter().flatten().any(|it| it.text().to_string().contains("Self"))
}

/// Whether nothing determines the type: the value is dropped, or bound to an unused name, and all that it is made of is
/// known.
fn is_undetermined(sema: &Semantics<'_, RootDatabase>, id: FileId, at: Span) -> bool {
    let Some(token) = positions::token(sema, id, at.start) else { return false };
    let Some(statement) = token.parent_ancestors().find(|it| ast::Stmt::can_cast(it.kind())) else { return false };
    let is_unclear = |it: SyntaxNode| match it.kind() {
        SyntaxKind::CLOSURE_EXPR | SyntaxKind::MACRO_CALL | SyntaxKind::AWAIT_EXPR => true,
        SyntaxKind::FIELD_EXPR | SyntaxKind::PATH_EXPR => {
            let path = ast::PathExpr::cast(it.clone()).and_then(|it| it.path());
            let is_item = path.is_some_and(|it| !matches!(sema.resolve_path(&it), Some(PathResolution::Local(_))));
            let ty = ast::Expr::cast(it).filter(|_| !is_item).and_then(|it| sema.type_of_expr(&it));
            ty.is_some_and(|it| it.original.contains_unknown())
        }
        _ => false,
    };
    if statement.descendants().any(is_unclear) {
        return false;
    }
    let Some(binding) = ast::LetStmt::cast(statement.clone()) else {
        return ast::ExprStmt::can_cast(statement.kind());
    };
    let name = match binding.pat().filter(|_| binding.ty().is_none()) {
        Some(ast::Pat::IdentPat(it)) => it.name(),
        Some(ast::Pat::WildcardPat(_)) => return true,
        _ => None,
    };
    let Some(name) = name else { return false };
    let body = statement.ancestors().filter_map(ast::Fn::cast).next();
    let words = body.into_iter().flat_map(|it| it.syntax().descendants_with_tokens());
    let named = words.filter_map(NodeOrToken::into_token).filter(|it| it.text() == name.text());
    named.count() == 1
}
