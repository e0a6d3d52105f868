//! Constants that cannot be evaluated, or are not the length that they are used for.

use std::ops::RangeInclusive;

use ra_ap_hir::{
    Adt, AsAssocItem as _, Const, ConstEvalError, HasCrate as _, HirDisplay as _, ModuleDef, PathResolution, Semantics,
    Static,
};
use ra_ap_ide::RootDatabase;
use ra_ap_ide_db::defs::Definition;
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::recursive_types::Contents;
use super::{expansions, report};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::{Context, unless_at_fault};

/// The most levels of constants that name constants.
const MAX_CONSTANTS: usize = 8;

/// What rust-analyzer does not evaluate with certainty: the environment, and layouts.
const UNCERTAIN: [&str; 5] = ["env!", "include", "size_of", "align_of", "transmute"];

/// An integer type that cannot hold the computed value.
pub(crate) fn overflow(cx: &Context<'_>, of: Const) -> Option<RawDiagnostic> {
    let range = range_of(&shown_type(cx.db, of)?)?;
    let body = cx.sema.source(of)?.value.body()?;
    match evaluate(&cx.sema, &body, &range, MAX_CONSTANTS) {
        Err(Some(operation)) => Some(report::raw_diagnostic(
            cx,
            body.syntax(),
            Code::E0080,
            format!("attempt to {operation} with overflow"),
        )),
        Ok(_) | Err(None) => None,
    }
}

/// A constant whose evaluation fails: it panics, or reads beyond the end of an array. The compiler evaluates all
/// constants except constants of traits and implementations.
pub(crate) fn failed_constant(cx: &Context<'_>, of: Const, is_whole: bool) -> Option<RawDiagnostic> {
    let body = cx.sema.source(of)?.value.body()?;
    let is_free = of.as_assoc_item(cx.db).is_none();
    is_free.then(|| failed(cx, &body, is_whole, || of.eval(cx.db).err())).flatten()
}

/// The same for a static.
pub(crate) fn failed_static(cx: &Context<'_>, of: Static, is_whole: bool) -> Option<RawDiagnostic> {
    let body = cx.sema.source(of)?.value.body()?;
    failed(cx, &body, is_whole, || of.eval(cx.db).err())
}

fn failed<'db>(
    cx: &Context<'db>,
    body: &ast::Expr,
    is_whole: bool,
    evaluated: impl FnOnce() -> Option<ConstEvalError<'db>>,
) -> Option<RawDiagnostic> {
    if let Some((at, length, index)) = beyond_end(cx, body) {
        let message = format!("index out of bounds: the length is {length} but the index is {index}");
        return Some(report::raw_diagnostic(cx, &at, Code::E0080, message));
    }
    if let Some(at) = failed_assertion(cx, body) {
        let message = format!("evaluation panicked: `{}`", at.text());
        return Some(report::raw_diagnostic(cx, &at, Code::E0080, message));
    }
    // Only such code can panic.
    let mut kinds = Vec::new();
    expansions::in_expansions(&cx.sema, body.syntax(), &mut |it| {
        kinds.push(it.kind());
    });
    let may_panic = |it: &SyntaxKind| {
        matches!(
            it,
            SyntaxKind::CALL_EXPR | SyntaxKind::METHOD_CALL_EXPR | SyntaxKind::BIN_EXPR | SyntaxKind::MACRO_EXPR
        )
    };
    let text = body.syntax().text().to_string();
    if !is_whole || !kinds.iter().any(may_panic) || UNCERTAIN.iter().any(|it| text.contains(it)) {
        return None;
    }
    // rust-analyzer may panic on code that depends on code with errors.
    let Ok(Some(ConstEvalError::MirEvalError(error))) = unless_at_fault(evaluated) else { return None };
    // Limits of rust-analyzer are panics too, and it takes some operations of the standard library for overflows.
    let is_of_code =
        |it: &&str| !["Stack overflow", "Memory allocation", "Overflow in"].iter().any(|of| it.starts_with(of));
    let said = error.is_panic().filter(is_of_code)?;
    let message = format!("evaluation panicked: {}", said.trim_matches('"'));
    Some(report::raw_diagnostic(cx, &panics_at(body), Code::E0080, message))
}

/// An assertion that does not hold, or a panic under a condition that holds, which is evaluated in any case.
fn failed_assertion(cx: &Context<'_>, of: &ast::Expr) -> Option<SyntaxNode> {
    match of {
        ast::Expr::MacroExpr(it) => {
            let call = it.macro_call()?;
            let name = call.path()?.segment()?.name_ref()?.text().to_string();
            if name == "panic" {
                return Some(call.syntax().clone());
            }
            let expansion = cx.sema.expand_macro_call(&call).filter(|_| name == "assert")?;
            let ast::Expr::PrefixExpr(negated) =
                expansion.value.descendants().find_map(ast::IfExpr::cast)?.condition()?
            else {
                return None;
            };
            let is_negation = matches!(negated.op_kind(), Some(ast::UnaryOp::Not));
            let holds = holds(cx, &negated.expr().filter(|_| is_negation)?, MAX_CONSTANTS)?;
            (!holds).then(|| call.syntax().clone())
        }
        ast::Expr::IfExpr(it) => {
            let branch = match holds(cx, &it.condition()?, MAX_CONSTANTS)? {
                true => it.then_branch(),
                false => match it.else_branch()? {
                    ast::ElseBranch::Block(it) => Some(it),
                    ast::ElseBranch::IfExpr(it) => return failed_assertion(cx, &it.into()),
                },
            };
            failed_assertion(cx, &branch?.into())
        }
        ast::Expr::BlockExpr(it) => {
            let list = it.stmt_list()?;
            let of_statement = |it: ast::Stmt| match it {
                ast::Stmt::ExprStmt(it) => it.expr(),
                _ => None,
            };
            let parts = list.statements().filter_map(of_statement).chain(list.tail_expr());
            // An expression that may leave the block is not followed.
            let mut parts = parts.take_while(|it| {
                let leaves = |it: SyntaxNode| {
                    matches!(it.kind(), SyntaxKind::RETURN_EXPR | SyntaxKind::BREAK_EXPR | SyntaxKind::LOOP_EXPR)
                };
                !it.syntax().descendants().any(leaves)
            });
            parts.find_map(|it| failed_assertion(cx, &it))
        }
        _ => None,
    }
}

/// Whether a condition of constants holds, if that can be decided.
fn holds(cx: &Context<'_>, of: &ast::Expr, depth: usize) -> Option<bool> {
    match of {
        ast::Expr::ParenExpr(it) => holds(cx, &it.expr()?, depth),
        ast::Expr::PrefixExpr(it) if matches!(it.op_kind(), Some(ast::UnaryOp::Not)) => {
            holds(cx, &it.expr()?, depth).map(|it| !it)
        }
        ast::Expr::BinExpr(it) => {
            let (left, right) = (it.lhs()?, it.rhs()?);
            match it.op_kind()? {
                ast::BinaryOp::LogicOp(ast::LogicOp::And) => {
                    Some(holds(cx, &left, depth)? && holds(cx, &right, depth)?)
                }
                ast::BinaryOp::LogicOp(ast::LogicOp::Or) => Some(holds(cx, &left, depth)? || holds(cx, &right, depth)?),
                ast::BinaryOp::CmpOp(of) => {
                    let range = range_of_expression(&cx.sema, &left)?;
                    let value = |it: &ast::Expr| evaluate(&cx.sema, it, &range, depth).ok();
                    let (left, right) = (value(&left)?, value(&right)?);
                    Some(match of {
                        ast::CmpOp::Eq { negated } => (left == right) != negated,
                        ast::CmpOp::Ord { ordering: ast::Ordering::Less, strict: true } => left < right,
                        ast::CmpOp::Ord { ordering: ast::Ordering::Less, strict: false } => left <= right,
                        ast::CmpOp::Ord { ordering: ast::Ordering::Greater, strict: true } => left > right,
                        ast::CmpOp::Ord { ordering: ast::Ordering::Greater, strict: false } => left >= right,
                    })
                }
                _ => None,
            }
        }
        ast::Expr::PathExpr(it) if depth > 0 => {
            let Some(PathResolution::Def(ModuleDef::Const(named))) = it.path().and_then(|it| cx.sema.resolve_path(&it))
            else {
                return None;
            };
            named
                .ty(cx.db)
                .is_bool()
                .then(|| cx.sema.source(named)?.value.body())
                .flatten()
                .and_then(|it| holds(cx, &it, depth - 1))
        }
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::Bool(it) => Some(it),
            _ => None,
        },
        _ => None,
    }
}

fn range_of_expression(sema: &Semantics<'_, RootDatabase>, of: &ast::Expr) -> Option<RangeInclusive<i128>> {
    let ty = sema.type_of_expr(of)?.original;
    ty.as_builtin()?;
    let target = sema.scope(of.syntax())?.krate().to_display_target(sema.db);
    range_of(&ty.display(sema.db, target).to_string())
}

/// The size or the alignment of a type: `size_of::<T>()`.
fn size_by(sema: &Semantics<'_, RootDatabase>, call: &ast::CallExpr) -> Option<i128> {
    let ast::Expr::PathExpr(callee) = call.expr()? else { return None };
    let path = callee.path()?;
    let Some(PathResolution::Def(ModuleDef::Function(of))) = sema.resolve_path(&path) else { return None };
    let module = of.module(sema.db);
    let is_of_std =
        module.krate(sema.db).is_builtin(sema.db) && module.name(sema.db).is_some_and(|it| it.as_str() == "mem");
    // The function's own type, then its argument.
    let mut types = Vec::new();
    sema.type_of_expr(&callee.into()).filter(|_| is_of_std)?.original.walk(sema.db, |it| types.push(it));
    let ty = types.get(1).filter(|it| !it.contains_unknown())?;
    // rust-analyzer does not know all attributes by which the standard library decides layouts.
    let is_of_std = |it: &Adt| !matches!(it, Adt::Enum(_)) && it.krate(sema.db).is_builtin(sema.db);
    if Contents::default().of_type(sema.db, ty.clone()).iter().any(is_of_std) {
        return None;
    }
    let layout = ty.layout(sema.db).ok()?;
    Some(i128::from(match of.name(sema.db).as_str() {
        "size_of" => layout.size(),
        "align_of" => layout.align(),
        _ => return None,
    }))
}

/// The part of a constant's body that panics, as far as the text shows it.
fn panics_at(body: &ast::Expr) -> SyntaxNode {
    let whole = body.syntax().clone();
    if !ast::BlockExpr::can_cast(whole.kind()) {
        return whole;
    }
    let panics = |it: &ast::MacroCall| {
        let name = it.path().and_then(|it| it.segment()?.name_ref()).map(|it| it.text().to_string());
        name.is_some_and(|it| {
            it.contains("assert") || matches!(&*it, "panic" | "todo" | "unimplemented" | "unreachable")
        })
    };
    let mut calls = whole.descendants().filter_map(ast::MacroCall::cast).filter(panics);
    let first = calls.next().filter(|_| calls.next().is_none());
    first.map_or(whole, |it| it.syntax().clone())
}

/// The first index of an array that is beyond its end, in an expression that is evaluated in any case: with the length
/// of the array.
fn beyond_end(cx: &Context<'_>, of: &ast::Expr) -> Option<(SyntaxNode, usize, i128)> {
    if let ast::Expr::IndexExpr(it) = of {
        let (base, index) = (it.base()?, it.index()?);
        let length = cx.sema.type_of_expr(&base)?.adjusted().strip_references().as_array(cx.db).map(|it| it.1);
        let value = evaluate(&cx.sema, &index, &range_of("usize")?, MAX_CONSTANTS).ok();
        if let Some((length, index)) = length.zip(value)
            && usize::try_from(index).is_ok_and(|it| it >= length)
        {
            return Some((it.syntax().clone(), length, index));
        }
    }
    let is_evaluated = match of {
        ast::Expr::BinExpr(it) => !matches!(it.op_kind(), Some(ast::BinaryOp::LogicOp(_))),
        ast::Expr::IndexExpr(_)
        | ast::Expr::ParenExpr(_)
        | ast::Expr::RefExpr(_)
        | ast::Expr::CastExpr(_)
        | ast::Expr::TupleExpr(_)
        | ast::Expr::ArrayExpr(_)
        | ast::Expr::FieldExpr(_)
        | ast::Expr::PrefixExpr(_) => true,
        _ => false,
    };
    let parts = of.syntax().children().filter_map(ast::Expr::cast).filter(|_| is_evaluated);
    parts.into_iter().find_map(|it| beyond_end(cx, &it))
}

/// The value of an expression of numbers, constants and operators; otherwise the error if it overflows, or nothing if
/// that cannot be decided.
fn evaluate(
    sema: &Semantics<'_, RootDatabase>,
    of: &ast::Expr,
    range: &RangeInclusive<i128>,
    depth: usize,
) -> Result<i128, Option<&'static str>> {
    use ast::ArithOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Sub};
    match of {
        ast::Expr::ParenExpr(it) => evaluate(sema, &it.expr().ok_or(None)?, range, depth),
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::IntNumber(it) => {
                it.value().ok().and_then(|it| i128::try_from(it).ok()).filter(|it| range.contains(it)).ok_or(None)
            }
            _ => Err(None),
        },
        ast::Expr::PathExpr(it) if depth > 0 => {
            let named = it.path().and_then(|it| sema.resolve_path(&it));
            let Some(PathResolution::Def(ModuleDef::Const(named))) = named else { return Err(None) };
            let range = shown_type(sema.db, named).and_then(|it| range_of(&it)).ok_or(None)?;
            let body = sema.source(named).and_then(|it| it.value.body()).ok_or(None)?;
            // An overflow of that constant is reported there.
            evaluate(sema, &body, &range, depth - 1).map_err(|_| None)
        }
        ast::Expr::CallExpr(it) => size_by(sema, it).filter(|it| range.contains(it)).ok_or(None),
        ast::Expr::MethodCallExpr(it) => {
            let receiver = it.receiver().filter(|_| it.name_ref().is_some_and(|it| it.text() == "len")).ok_or(None)?;
            let array = sema.type_of_expr(&receiver).ok_or(None)?.original.strip_references().as_array(sema.db);
            array.and_then(|it| i128::try_from(it.1).ok()).ok_or(None)
        }
        ast::Expr::CastExpr(it) => {
            let inner = it.expr().ok_or(None)?;
            let own = range_of_expression(sema, &inner).ok_or(None)?;
            // What does not fit is truncated.
            evaluate(sema, &inner, &own, depth).ok().filter(|it| range.contains(it)).ok_or(None)
        }
        ast::Expr::BinExpr(it) => {
            let Some(ast::BinaryOp::ArithOp(operator)) = it.op_kind() else { return Err(None) };
            let left = evaluate(sema, &it.lhs().ok_or(None)?, range, depth)?;
            let right = evaluate(sema, &it.rhs().ok_or(None)?, range, depth)?;
            let (value, name) = match operator {
                Add => (left.checked_add(right), "add"),
                Sub => (left.checked_sub(right), "subtract"),
                Mul => (left.checked_mul(right), "multiply"),
                Div => (left.checked_div(right), "divide"),
                Rem => (left.checked_rem(right), "calculate the remainder"),
                BitAnd => (Some(left & right), ""),
                BitOr => (Some(left | right), ""),
                BitXor => (Some(left ^ right), ""),
                ast::ArithOp::Shl | ast::ArithOp::Shr => {
                    // A shift by as many bits as the type has, or more.
                    let bits = (range.end() - range.start() + 1).ilog2();
                    let by = u32::try_from(right).ok().filter(|it| *it < bits).ok_or(Some("shift"))?;
                    (Some(if operator == ast::ArithOp::Shl { left << by } else { left >> by }), "shift")
                }
            };
            match value.filter(|it| range.contains(it)) {
                // Bits that are shifted out are lost.
                None if name == "shift" => Err(None),
                value => value.ok_or(Some(name)),
            }
        }
        _ => Err(None),
    }
}

fn shown_type(db: &RootDatabase, of: Const) -> Option<String> {
    let ty = of.ty(db);
    ty.as_builtin()?;
    Some(ty.display(db, of.module(db).krate(db).to_display_target(db)).to_string())
}

/// The error of a name that is used as the length of an array.
pub(crate) fn length<'db>(
    sema: &Semantics<'db, RootDatabase>,
    token: &SyntaxToken,
    meant: Definition<'db>,
) -> Option<(Code, String)> {
    let path = token.parent_ancestors().find_map(ast::PathExpr::cast)?;
    // The name may be a part of the length: `N + 1`.
    let is_part = |it: &SyntaxNode| ast::BinExpr::can_cast(it.kind()) || ast::ParenExpr::can_cast(it.kind());
    let around = path.syntax().ancestors().skip(1).take_while(is_part).last();
    let whole = around.unwrap_or_else(|| path.syntax().clone());
    let parent = whole.parent()?;
    let is_length = match ast::ArrayExpr::cast(parent.clone()) {
        Some(array) => {
            let last = array.exprs().last().is_some_and(|it| *it.syntax() == whole);
            array.semicolon_token().is_some() && last
        }
        None => {
            ast::ConstArg::can_cast(parent.kind())
                && parent.parent().is_some_and(|it| ast::ArrayType::can_cast(it.kind()))
        }
    };
    let ty = match meant {
        _ if !is_length => return None,
        Definition::Const(it) => it.ty(sema.db),
        Definition::Static(it) => it.ty(sema.db),
        Definition::Function(it) => it.fn_ptr_type(sema.db),
        _ => return None,
    };
    let target = sema.scope(path.syntax())?.krate().to_display_target(sema.db);
    let found = ty.display(sema.db, target).to_string();
    if found == "usize" || ty.contains_unknown() {
        return None;
    }
    let operation = path.syntax().parent().and_then(ast::BinExpr::cast).and_then(|it| it.op_token());
    Some(match operation.filter(|_| matches!(meant, Definition::Function(_))) {
        Some(it) => (Code::E0369, format!("`{}` cannot be applied to `{found}`", it.text())),
        None => (Code::E0308, format!("mismatched types: expected `usize`, found `{found}`")),
    })
}

/// The range of an integer type; `usize` as on a 64-bit machine.
fn range_of(ty: &str) -> Option<RangeInclusive<i128>> {
    let bits = match ty.get(1..)? {
        "size" => 64,
        digits => digits.parse().ok().filter(|it| matches!(it, 8 | 16 | 32 | 64))?,
    };
    match ty.as_bytes().first()? {
        b'u' => Some(0..=(1 << bits) - 1),
        b'i' => Some(-(1 << (bits - 1))..=(1 << (bits - 1)) - 1),
        _ => None,
    }
}
