//! Names of an outer item in an item within its body. An inner item cannot use the generic parameters and `Self` of an
//! outer one (E0401), nor its `self` (E0424, E0434) or its variables (E0434, E0435).

use ra_ap_hir::Semantics;
use ra_ap_ide::RootDatabase;
use ra_ap_syntax::ast::HasGenericParams as _;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::attributes::is_conditional;
use crate::view::Context;

/// The types and lifetimes of an outer item in an inner item. rust-analyzer reports values itself.
pub(crate) fn outer_parameters(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    if !is_inner(node) || node.ancestors().any(|it| is_conditional(&it)) {
        return;
    }
    let mut next = vec![node.clone()];
    while let Some(it) = next.pop() {
        // Items further inside are nodes of their own.
        next.extend(it.children().filter(|it| !is_inner(it) && !is_conditional(it)));
        let found = match it.kind() {
            SyntaxKind::PATH => ast::Path::cast(it).and_then(|it| outer_name_of_path(cx, &it)),
            SyntaxKind::LIFETIME => outer_lifetime(&it),
            _ => None,
        };
        if let Some((at, name)) = found {
            let what = if name == "Self" { "`Self`" } else { "generic parameters" };
            let message = format!("cannot use {what} from an outer item");
            out.push(report::raw_diagnostic(cx, &at, Code::E0401, message));
        }
    }
}

/// The code and the message for an unresolved value that an item around the innermost one has.
pub(crate) fn outer_value(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode, name: &str) -> Option<(Code, String)> {
    let around = || sema.ancestors_with_macros(node.clone());
    if is_declared_outside(around(), name) {
        return Some((Code::E0401, "cannot use generic parameters from an outer item".to_owned()));
    }
    // The kind of the innermost item decides.
    let mut inner: Option<SyntaxKind> = None;
    for it in around() {
        if ast::Module::can_cast(it.kind()) {
            break;
        }
        if !is_inner(&it) {
            if name == "self"
                && let Some(kind) = inner
                && let Some(function) = ast::Fn::cast(it.clone())
                && function.param_list().is_some_and(|it| it.self_param().is_some())
            {
                return Some(captured(kind));
            }
            continue;
        }
        let kind = *inner.get_or_insert(it.kind());
        let own = ast::Fn::cast(it.clone()).and_then(|it| it.param_list()?.self_param());
        if name == "self" {
            // A method further outside, itself within a body.
            if own.is_some() && kind != it.kind() {
                return Some(captured(kind));
            }
            continue;
        }
        if is_variable_around(&it, name) {
            return Some(captured(kind));
        }
    }
    (name == "self").then(|| (Code::E0424, "`self` is only available in methods with a `self` parameter".to_owned()))
}

/// Whether the code around an inner item binds a variable before it.
fn is_variable_around(item: &SyntaxNode, name: &str) -> bool {
    let binds = |it: &SyntaxNode| {
        let names = it.descendants().filter_map(ast::IdentPat::cast).filter_map(|it| ast::HasName::name(&it));
        names.into_iter().any(|it| it.text() == name)
    };
    let starts_before = |it: &SyntaxNode| it.text_range().end() <= item.text_range().start();
    for around in item.ancestors().skip(1) {
        // The patterns of statements, parameters, arms and loops.
        let is_bound = around.children().filter(starts_before).any(|it| match it.kind() {
            SyntaxKind::LET_STMT => ast::LetStmt::cast(it).and_then(|it| it.pat()).is_some_and(|it| binds(it.syntax())),
            SyntaxKind::PARAM_LIST => {
                let patterns =
                    ast::ParamList::cast(it).into_iter().flat_map(|it| it.params()).filter_map(|it| it.pat());
                patterns.into_iter().any(|it| binds(it.syntax()))
            }
            kind => ast::Pat::can_cast(kind) && binds(&it),
        });
        if is_bound {
            return true;
        }
        if is_inner(&around) || ast::Fn::can_cast(around.kind()) {
            return false;
        }
    }
    false
}

fn captured(by: SyntaxKind) -> (Code, String) {
    match by {
        SyntaxKind::CONST | SyntaxKind::STATIC => {
            (Code::E0435, "a constant cannot use a variable of the code around it".to_owned())
        }
        _ => (Code::E0434, "a function cannot use a variable of the code around it".to_owned()),
    }
}

/// Whether a node is an item among the statements of a body.
fn is_inner(node: &SyntaxNode) -> bool {
    ast::Item::can_cast(node.kind())
        && !ast::MacroCall::can_cast(node.kind())
        && node.parent().is_some_and(|it| ast::StmtList::can_cast(it.kind()))
}

/// The parameter of an outer item with which a path begins.
fn outer_name_of_path(cx: &Context<'_>, path: &ast::Path) -> Option<(SyntaxNode, String)> {
    let segment = path.segment().filter(|_| path.qualifier().is_none())?;
    let name = segment.name_ref()?;
    let text = name.text().trim_start_matches("r#").to_owned();
    let around = path.top_path().syntax().parent()?.kind();
    let is_type = match around {
        SyntaxKind::PATH_TYPE => true,
        SyntaxKind::PATH_EXPR
        | SyntaxKind::PATH_PAT
        | SyntaxKind::TUPLE_STRUCT_PAT
        | SyntaxKind::RECORD_EXPR
        | SyntaxKind::RECORD_PAT => text == "Self" || path.parent_path().is_some(),
        _ => false,
    };
    if !is_type || !is_parameter_of_outer(path.syntax(), &text) {
        return None;
    }
    // An item of that name may be declared in between.
    let is_free = text == "Self" || cx.sema.resolve_path(path).is_none();
    is_free.then(|| (name.syntax().clone(), text))
}

fn outer_lifetime(node: &SyntaxNode) -> Option<(SyntaxNode, String)> {
    let is_used = matches!(
        node.parent()?.kind(),
        SyntaxKind::LIFETIME_ARG
            | SyntaxKind::REF_TYPE
            | SyntaxKind::TYPE_BOUND
            | SyntaxKind::WHERE_PRED
            | SyntaxKind::SELF_PARAM
    );
    let name = node.text().to_string();
    (is_used && is_parameter_of_outer(node, &name)).then(|| (node.clone(), name))
}

/// Whether the nearest declaration of a generic parameter, or of `Self`, belongs to an item around the body with the
/// node's own item.
fn is_parameter_of_outer(node: &SyntaxNode, name: &str) -> bool {
    is_declared_outside(node.ancestors(), name)
}

fn is_declared_outside(around: impl Iterator<Item = SyntaxNode>, name: &str) -> bool {
    let mut is_crossed = false;
    for it in around {
        if ast::Module::can_cast(it.kind()) {
            return false;
        }
        if declares(&it, name) {
            return is_crossed;
        }
        is_crossed |= is_inner(&it);
    }
    false
}

fn declares(node: &SyntaxNode, name: &str) -> bool {
    if name == "Self" {
        return matches!(node.kind(), SyntaxKind::IMPL | SyntaxKind::TRAIT) || ast::Adt::can_cast(node.kind());
    }
    let own = ast::AnyHasGenericParams::cast(node.clone()).and_then(|it| it.generic_param_list());
    // Not of every node: a body has many statements.
    let has_binder = matches!(
        node.kind(),
        SyntaxKind::FOR_TYPE | SyntaxKind::TYPE_BOUND | SyntaxKind::WHERE_PRED | SyntaxKind::CLOSURE_EXPR
    );
    let binder = has_binder.then(|| node.children().find_map(ast::ForBinder::cast)).flatten();
    let binder = binder.and_then(|it| it.generic_param_list());
    let mut parameters = own.into_iter().chain(binder).flat_map(|it| it.generic_params());
    parameters.any(|it| match it {
        ast::GenericParam::LifetimeParam(it) => it.lifetime().is_some_and(|it| it.text() == name),
        ast::GenericParam::TypeParam(it) => ast::HasName::name(&it).is_some_and(|it| it.text() == name),
        ast::GenericParam::ConstParam(it) => ast::HasName::name(&it).is_some_and(|it| it.text() == name),
    })
}
