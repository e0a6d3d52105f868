//! Omitted lifetimes that cannot be inferred (E0106), in the types of fields and aliases and in the result of a
//! function. A function's result needs none if its receiver is a reference or its parameters have exactly one lifetime.

use ra_ap_hir::{GenericDef, ModuleDef, PathResolution, Semantics};
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasGenericArgs as _;
use ra_ap_syntax::{AstNode, SyntaxNode, TextRange, ast};

use super::delta::Delta;
use crate::checks::report;
use crate::finding::Finding;
use crate::finding::code::Code;
use crate::resolve::at;
use crate::syntax::positions;
use crate::syntax::positions::span;
use crate::view::Context;
use semdex_engine::files::File;
use semdex_model::ChangeKind;

/// The errors in the heads that an edit wrote.
pub(crate) fn elided_lifetimes(cx: &Context<'_>, file: &File, deltas: &[&Delta<'_>]) -> Vec<Finding> {
    let Some(id) = cx.file_id(&file.path) else { return Vec::new() };
    let is_written = |kind| matches!(kind, ChangeKind::Added | ChangeKind::Signature | ChangeKind::Type);
    let written = deltas.iter().filter(|it| is_written(it.kind));
    let mut found = Vec::new();
    for item in written.filter_map(|it| it.after) {
        // Items that `cfg` switches off have no definition.
        let is_compiled = at::definition_at(&cx.sema, id, item.name_span.start).is_some();
        let token = positions::token(&cx.sema, id, item.name_span.start).filter(|_| is_compiled);
        let Some(node) = token.and_then(|it| it.parent_ancestors().nth(1)) else { continue };
        found.extend(elided_in(&cx.sema, &node).into_iter().map(|range| {
            let place = file.lines().place(&file.path, span(range));
            report::error(cx, place, Code::E0106, "missing lifetime specifier".to_owned())
        }));
    }
    found
}

pub(super) fn elided_in(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode) -> Vec<TextRange> {
    if let Some(function) = ast::Fn::cast(node.clone()) {
        let returned = function.ret_type().and_then(|it| it.ty());
        let elided: Vec<TextRange> = returned
            .into_iter()
            .flat_map(|it| left_out(it.syntax()).into_iter().chain(hidden_in(sema, it.syntax())).collect::<Vec<_>>())
            .collect();
        return if elided.is_empty() || determines_lifetimes(sema, &function) { Vec::new() } else { elided };
    }
    let ty = match node {
        it if ast::RecordField::can_cast(it.kind()) => ast::RecordField::cast(it.clone()).and_then(|it| it.ty()),
        it if ast::TupleField::can_cast(it.kind()) => ast::TupleField::cast(it.clone()).and_then(|it| it.ty()),
        it if ast::Struct::can_cast(it.kind()) => {
            let fields = it
                .descendants()
                .filter(|it| ast::RecordField::can_cast(it.kind()) || ast::TupleField::can_cast(it.kind()));
            return fields.flat_map(|it| elided_in(sema, &it)).collect();
        }
        it if ast::TypeAlias::can_cast(it.kind()) => ast::TypeAlias::cast(it.clone()).and_then(|it| it.ty()),
        _ => None,
    };
    ty.into_iter().flat_map(|it| left_out(it.syntax())).collect()
}

/// Whether a function's parameters determine the lifetimes that its result omits, or cannot be analysed.
fn determines_lifetimes(sema: &Semantics<'_, RootDatabase>, function: &ast::Fn) -> bool {
    let Some(list) = function.param_list() else { return true };
    if let Some(receiver) = list.self_param() {
        let is_reference = |it: ast::Type| it.syntax().descendants().any(|it| ast::RefType::can_cast(it.kind()));
        if receiver.amp_token().is_some() || receiver.ty().is_some_and(is_reference) {
            return true;
        }
    }
    let mut lifetimes = 0;
    for ty in list.params().filter_map(|it| it.ty()) {
        for node in outside_functions(ty.syntax()) {
            if ast::Lifetime::can_cast(node.kind())
                || ast::RefType::cast(node.clone()).is_some_and(|it| it.lifetime().is_none())
            {
                lifetimes += 1;
            } else if let Some(it) = ast::PathType::cast(node.clone()) {
                let Some(hidden) = hidden_lifetimes(sema, &it) else { return true };
                lifetimes += hidden;
            }
        }
    }
    lifetimes == 1
}

/// The lifetime parameters of a type that is named without lifetimes; `None` if the type is unknown.
fn hidden_lifetimes(sema: &Semantics<'_, RootDatabase>, ty: &ast::PathType) -> Option<usize> {
    let path = ty.path()?;
    let list = path.segment().and_then(|it| it.generic_arg_list());
    if list.is_some_and(|it| it.lifetime_args().next().is_some()) {
        return Some(0);
    }
    let of = match sema.resolve_path(&path)? {
        PathResolution::Def(ModuleDef::Adt(it)) => GenericDef::Adt(it),
        PathResolution::Def(ModuleDef::TypeAlias(it)) => GenericDef::TypeAlias(it),
        _ => return Some(0),
    };
    Some(of.lifetime_params(sema.db).len())
}

/// The types in a type that are named without their lifetimes.
fn hidden_in(sema: &Semantics<'_, RootDatabase>, ty: &SyntaxNode) -> Vec<TextRange> {
    let paths = outside_functions(ty).into_iter().filter_map(ast::PathType::cast);
    let hidden = paths.filter(|it| hidden_lifetimes(sema, it).is_some_and(|it| it > 0));
    hidden.map(|it| it.syntax().text_range()).collect()
}

/// The nodes of a type, except function types in it, which have lifetimes of their own.
fn outside_functions(ty: &SyntaxNode) -> Vec<SyntaxNode> {
    let mut found = vec![ty.clone()];
    let mut next = 0;
    while let Some(node) = found.get(next).cloned() {
        let of_function = |it: &SyntaxNode| {
            let is_list = ast::ParenthesizedArgList::can_cast(it.kind()) || ast::ParamList::can_cast(it.kind());
            is_list || ast::RetType::can_cast(it.kind())
        };
        found.extend(node.children().filter(|it| !of_function(it)));
        next += 1;
    }
    found
}

fn left_out(ty: &SyntaxNode) -> Vec<TextRange> {
    let reference = |node: &SyntaxNode| {
        let it = ast::RefType::cast(node.clone()).filter(|it| it.lifetime().is_none())?;
        Some(it.amp_token()?.text_range())
    };
    let nameless = |node: &SyntaxNode| {
        let it = ast::Lifetime::cast(node.clone()).filter(|it| it.text() == "'_")?;
        Some(it.syntax().text_range())
    };
    outside_functions(ty).iter().filter_map(|it| reference(it).or_else(|| nameless(it))).collect()
}
