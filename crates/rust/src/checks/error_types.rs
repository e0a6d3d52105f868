//! Expressions that have no type because of an error. The compiler reports nothing about their uses; rust-analyzer
//! continues with a guess.

use ra_ap_hir::{Adt, Function, ModuleDef, PathResolution, Semantics, Type};
use ra_ap_ide::{FileId, RootDatabase, TextRange, TextSize};
use ra_ap_syntax::ast::{HasGenericParams as _, HasLoopBody as _};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use super::origins::{Origin, origins};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::positions;
use semdex_text::words::words;

/// After these errors an expression has no type.
const ENDING: [Code; 12] = [
    Code::E0034,
    Code::E0369,
    Code::E0424,
    Code::E0425,
    Code::E0433,
    Code::E0434,
    Code::E0435,
    Code::E0599,
    Code::E0600,
    Code::E0609,
    Code::E0614,
    Code::E0615,
];
/// These errors are not reported for an expression without a type.
const FOLLOWING: [Code; 23] = [
    Code::E0061,
    Code::E0277,
    Code::E0282,
    Code::E0283,
    Code::E0284,
    Code::E0790,
    Code::E0308,
    Code::E0368,
    Code::E0369,
    Code::E0599,
    Code::E0600,
    Code::E0054,
    Code::E0604,
    Code::E0605,
    Code::E0606,
    Code::E0607,
    Code::E0608,
    Code::E0609,
    Code::E0614,
    Code::E0615,
    Code::E0616,
    Code::E0618,
    Code::E0624,
];

/// Bindings in the order of the text: the scope of each, and whether it has no type.
type Bindings = Vec<(String, TextRange, bool)>;

enum Typed {
    Type,
    /// The name is unresolved.
    Nothing,
}

/// Removes errors about locals that have no type.
pub(crate) fn without_error_types(sema: &Semantics<'_, RootDatabase>, body: &SyntaxNode, raw: &mut Vec<RawDiagnostic>) {
    let Some(file) = sema.hir_file_for(body).file_id().map(|it| it.file_id(sema.db)) else { return };
    if raw.is_empty() {
        return;
    }
    let is_ending = |it: &&RawDiagnostic| it.file == file && ENDING.contains(&it.code);
    let ends: Vec<TextRange> = raw.iter().filter(is_ending).map(|it| it.range).collect();
    let is_of_unknown = || {
        let block = body.ancestors().find_map(ast::Impl::cast).and_then(|it| sema.to_def(&it));
        block.is_some_and(|it| it.self_ty(sema.db).contains_unknown())
    };
    let mut error_typed = Bindings::new();
    if is_of_unknown() {
        error_typed.push(("self".to_owned(), body.text_range(), true));
    }
    // A value computed from an unknown one, or from such a `self`, still has a type, which may be a wrong one.
    let mut doubtful = error_typed.clone();
    mark_bindings(sema, body, &mut error_typed, |it, so_far| is_untyped(sema, it, &ends, so_far));
    mark_bindings(sema, body, &mut doubtful, |it, so_far| {
        is_untyped(sema, it, &ends, so_far) || comes_of_unknown(sema, it)
    });
    let is_any = !ends.is_empty() || error_typed.iter().any(|it| it.2 && it.0 != "self");
    let is_kept = |code: Code| !FOLLOWING.contains(&code) || !is_any && code == Code::E0308;
    raw.retain(|it| {
        let is_of_two = matches!(it.code, Code::E0308 | Code::E0368 | Code::E0369 | Code::E0600);
        let error_typed = if is_of_two { &error_typed } else { &doubtful };
        is_kept(it.code) || !speaks_of(sema, body, file, it, &ends, error_typed)
    });
}

/// Adds the bindings of a body.
fn mark_bindings(
    sema: &Semantics<'_, RootDatabase>,
    body: &SyntaxNode,
    error_typed: &mut Bindings,
    has_none: impl Fn(&ast::Expr, &Bindings) -> bool,
) {
    for binding in body.descendants() {
        let Some((names, from, scope)) = bound_by(&binding) else { continue };
        let has_no_type = from.is_some_and(|it| has_none(&it, error_typed));
        for name in names.syntax().descendants().filter_map(ast::Name::cast) {
            // Constants and variants look the same.
            if !name.text().starts_with(char::is_uppercase) {
                let has_none = match typed_by_pattern(sema, &name, &names) {
                    Some(Typed::Type) => false,
                    Some(Typed::Nothing) => true,
                    None => has_no_type,
                };
                error_typed.push((name.text().to_string(), scope, has_none));
            }
        }
    }
}

fn speaks_of(
    sema: &Semantics<'_, RootDatabase>,
    body: &SyntaxNode,
    file: FileId,
    raw: &RawDiagnostic,
    ends: &[TextRange],
    error_typed: &Bindings,
) -> bool {
    if raw.file != file || !body.text_range().contains_range(raw.range) {
        return false;
    }
    let first = positions::tokens_at(body, raw.range.start().into()).right_biased().filter(|_| is_of_cast(raw.code));
    // The input of a macro is only tokens, and a cast begins with its operand.
    let of_macro = first.filter(|it| it.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())));
    if of_macro.is_some_and(|it| names_none(it.text(), it.text_range().start(), error_typed)) {
        return true;
    }
    let element = body.covering_element(raw.range);
    let node = element.as_node().cloned().or_else(|| element.parent());
    // An error does not follow from itself.
    let others: Vec<TextRange> = ends.iter().copied().filter(|it| *it != raw.range).collect();
    let is = |it: Option<ast::Expr>| it.is_some_and(|it| is_untyped(sema, &it, &others, error_typed));
    if raw.code == Code::E0308 && node.clone().is_some_and(|it| is_next_to_untyped(sema, &it, ends, error_typed)) {
        return true;
    }
    // The token of a method or field represents its receiver, and arguments depend on that too.
    let around = node.into_iter().flat_map(|it| it.ancestors()).take_while(|it| !ast::Stmt::can_cast(it.kind()));
    // A member is looked up in its receiver, whatever the context is.
    let is_of_member = matches!(
        raw.code,
        Code::E0061 | Code::E0599 | Code::E0609 | Code::E0614 | Code::E0615 | Code::E0616 | Code::E0624
    );
    let around = around.filter_map(ast::Expr::cast).take(if is_of_member { 1 } else { usize::MAX });
    around.enumerate().any(|(depth, it)| match it {
        ast::Expr::MethodCallExpr(it) => is(it.receiver()),
        ast::Expr::BinExpr(it) if !is_logic(&it) => is(it.lhs()) || is(it.rhs()),
        ast::Expr::CastExpr(it) if depth == 0 => is(it.expr()),
        it => depth == 0 && is(Some(it)),
    })
}

/// Whether it is the value of a branch next to one that has no type.
fn is_next_to_untyped(
    sema: &Semantics<'_, RootDatabase>,
    node: &SyntaxNode,
    ends: &[TextRange],
    error_typed: &Bindings,
) -> bool {
    let own = node.text_range();
    let same = |it: &SyntaxNode| it.text_range() == own;
    let is_value = |it: &SyntaxNode| {
        ast::StmtList::cast(it.clone())
            .is_none_or(|it| it.tail_expr().is_some_and(|it| it.syntax().text_range().contains_range(own)))
    };
    let ends_here = |it: &SyntaxNode| {
        let kind = it.kind();
        let is_part = ast::BlockExpr::can_cast(kind) || ast::StmtList::can_cast(kind) || ast::MatchArm::can_cast(kind);
        is_part || ast::MatchArmList::can_cast(kind) || ast::IfExpr::can_cast(kind) || ast::MatchExpr::can_cast(kind)
    };
    let around = node.ancestors().skip_while(same).take_while(|it| ends_here(it) && is_value(it));
    around.filter_map(ast::Expr::cast).any(|it| match &it {
        ast::Expr::MatchExpr(of) => {
            let arms = of.match_arm_list().into_iter().flat_map(|it| it.arms());
            arms.filter_map(|it| it.expr()).any(|it| is_untyped(sema, &it, ends, error_typed))
        }
        ast::Expr::IfExpr(_) => is_untyped(sema, &it, ends, error_typed),
        _ => false,
    })
}

/// Whether the innermost path of a pattern determines the types of its parts; the path of a generic type does not.
fn typed_by_pattern(sema: &Semantics<'_, RootDatabase>, name: &ast::Name, pattern: &ast::Pat) -> Option<Typed> {
    let within =
        name.syntax().ancestors().take_while(|it| pattern.syntax().text_range().contains_range(it.text_range()));
    within.into_iter().find_map(|it| {
        let path = match ast::TupleStructPat::cast(it.clone()) {
            Some(it) => it.path()?,
            None => ast::RecordPat::cast(it)?.path()?,
        };
        let adt = match sema.resolve_path(&path) {
            Some(PathResolution::Def(ModuleDef::EnumVariant(it))) => Adt::Enum(it.parent_enum(sema.db)),
            Some(PathResolution::Def(ModuleDef::Adt(it))) => it,
            Some(_) => return None,
            None => return Some(Typed::Nothing),
        };
        let is_plain = sema.source(adt).is_some_and(|it| it.value.generic_param_list().is_none());
        is_plain.then_some(Typed::Type)
    })
}

/// Whether the value of an expression comes from one that lost its type in this way.
fn is_untyped(sema: &Semantics<'_, RootDatabase>, of: &ast::Expr, ends: &[TextRange], error_typed: &Bindings) -> bool {
    let member = match of {
        ast::Expr::FieldExpr(it) => it.name_ref(),
        ast::Expr::MethodCallExpr(it) => it.name_ref(),
        _ => None,
    };
    let ranges = [Some(of.syntax().text_range()), member.map(|it| it.syntax().text_range())];
    if ranges.into_iter().flatten().any(|it| ends.contains(&it)) {
        return true;
    }
    match of {
        ast::Expr::RecordExpr(it) => it.path().is_some_and(|it| sema.resolve_path(&it).is_none()),
        ast::Expr::PathExpr(it) => {
            local(it).is_some_and(|name| names_none(&name, it.syntax().text_range().start(), error_typed))
        }
        _ => origins(of).iter().any(|(origin, it)| {
            is_untyped(sema, it, ends, error_typed) && (*origin != Origin::Argument || depends_on_arguments(sema, of))
        }),
    }
}

/// Whether the type of a call's result may depend on the type of an argument.
fn depends_on_arguments(sema: &Semantics<'_, RootDatabase>, call: &ast::Expr) -> bool {
    match call {
        ast::Expr::MethodCallExpr(it) => sema.resolve_method_call(it).is_some_and(|it| is_result_typed(sema, it)),
        ast::Expr::CallExpr(it) => {
            let Some(ast::Expr::PathExpr(callee)) = it.expr() else { return false };
            let meant = callee.path().and_then(|it| sema.resolve_path(&it));
            let is_kept =
                matches!(meant, Some(PathResolution::Def(ModuleDef::Function(it))) if is_result_typed(sema, it));
            is_named_as_type(&callee) || is_kept
        }
        _ => false,
    }
}

/// Whether a value is computed from one without a type, though rust-analyzer finds a type for it that would fit.
fn comes_of_unknown(sema: &Semantics<'_, RootDatabase>, of: &ast::Expr) -> bool {
    let made_of = |it: &ast::Expr| origins(it).into_iter().find(|it| it.0 == Origin::Receiver).map(|it| it.1);
    let ty = |it: ast::Expr| sema.type_of_expr(&it).map(|it| it.original);
    std::iter::successors(Some(of.clone()), made_of).filter_map(ty).any(|it| it.strip_references().is_unknown())
}

/// Whether the arguments of a call determine the type of its result.
fn is_result_typed(sema: &Semantics<'_, RootDatabase>, of: Function) -> bool {
    let Some(source) = sema.source(of) else { return false };
    let generics = source.value.generic_param_list().into_iter().flat_map(|it| it.type_or_const_params());
    let names: Vec<String> = generics.filter_map(|it| Some(it.name()?.text().to_string())).collect();
    let result = source.value.ret_type().map(|it| it.syntax().text().to_string()).unwrap_or_default();
    words(&result).any(|it| names.iter().any(|name| name == it.1))
}

/// Whether a type is unknown, contains an unknown type or dereferences to one.
pub(crate) fn leads_to_unknown<'db>(db: &'db RootDatabase, ty: &Type<'db>) -> bool {
    let inner = ty.strip_references();
    ty.autoderef(db).any(|it| it.contains_unknown()) || inner.fields(db).iter().any(|it| it.1.contains_unknown())
}

/// The pattern that a statement, an arm, a loop or a closure binds, its value, and its scope.
fn bound_by(node: &SyntaxNode) -> Option<(ast::Pat, Option<ast::Expr>, TextRange)> {
    let within = |from: TextSize, scope: Option<SyntaxNode>| {
        scope.map(|it| TextRange::new(from, it.text_range().end().max(from)))
    };
    let end = node.text_range().end();
    if let Some(it) = ast::LetStmt::cast(node.clone()) {
        let from = it.initializer().filter(|_| it.ty().is_none());
        return Some((it.pat()?, from, within(end, node.parent())?));
    }
    if let Some(it) = ast::LetExpr::cast(node.clone()) {
        let whole = |it: &SyntaxNode| ast::IfExpr::can_cast(it.kind()) || ast::WhileExpr::can_cast(it.kind());
        let around = node.ancestors().find(whole)?;
        let scope = match ast::IfExpr::cast(around.clone()) {
            Some(it) => it.then_branch()?.syntax().clone(),
            None => around,
        };
        return Some((it.pat()?, it.expr(), within(end, Some(scope))?));
    }
    if let Some(it) = ast::MatchArm::cast(node.clone()) {
        let of = node.ancestors().find_map(ast::MatchExpr::cast)?;
        return Some((it.pat()?, of.expr(), node.text_range()));
    }
    if let Some(it) = ast::ForExpr::cast(node.clone()) {
        return Some((it.pat()?, it.iterable(), it.loop_body()?.syntax().text_range()));
    }
    let parameter = ast::Param::cast(node.clone())?;
    let closure = node.ancestors().nth(2).and_then(ast::ClosureExpr::cast)?;
    // The closure is called for each element of an unknown type.
    let call = closure.syntax().ancestors().nth(2).and_then(ast::MethodCallExpr::cast);
    let from = call.and_then(|it| it.receiver()).filter(|_| parameter.ty().is_none());
    Some((parameter.pat()?, from, closure.syntax().text_range()))
}

fn names_none(name: &str, at: TextSize, error_typed: &Bindings) -> bool {
    error_typed.iter().rfind(|(of, scope, _)| of == name && scope.contains(at)).is_some_and(|it| it.2)
}

fn local(path: &ast::PathExpr) -> Option<String> {
    Some(path.path()?.as_single_name_ref()?.text().to_string())
}

fn is_logic(of: &ast::BinExpr) -> bool {
    matches!(of.op_kind(), Some(ast::BinaryOp::LogicOp(_)))
}

fn is_named_as_type(path: &ast::PathExpr) -> bool {
    let name = path.path().and_then(|it| it.segment()?.name_ref());
    name.is_some_and(|it| it.text().starts_with(char::is_uppercase))
}

fn is_of_cast(code: Code) -> bool {
    matches!(code, Code::E0054 | Code::E0604 | Code::E0605 | Code::E0606 | Code::E0607)
}
