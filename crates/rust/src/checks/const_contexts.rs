//! Calls in constants, statics and constant functions of what is not `const`, and of what is `const` only with an
//! unstable feature: functions, operators, `?`, `for` and dereferencing. rust-analyzer reports none of these.

use ra_ap_hir::{
    Adjust, AsAssocItem as _, AssocItemContainer, CallableKind, Crate, Function, HasCrate as _, Impl, ModuleDef,
    PathResolution, Trait, Type,
};
use ra_ap_syntax::ast::{HasArgList as _, HasGenericParams as _};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::{report, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// Macros of the standard library whose output calls functions that are not `const`.
const MACROS: [&str; 8] = ["assert_eq", "assert_ne", "dbg", "eprint", "eprintln", "format", "print", "println"];

/// What a call needs.
struct Needs {
    code: Code,
    /// How it is named in the message.
    what: String,
}

impl Needs {
    fn no_const(what: impl Into<String>) -> Needs {
        Needs { code: Code::E0015, what: what.into() }
    }
}

pub(crate) fn calls_in_constants(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(expression) = ast::Expr::cast(node.clone()) else { return };
    let check = match &expression {
        ast::Expr::CallExpr(_)
        | ast::Expr::MethodCallExpr(_)
        | ast::Expr::BinExpr(_)
        | ast::Expr::PrefixExpr(_)
        | ast::Expr::IndexExpr(_)
        | ast::Expr::TryExpr(_)
        | ast::Expr::ForExpr(_)
        | ast::Expr::MacroExpr(_) => constant_around(cx, node),
        _ => None,
    };
    let Some(place) = check.filter(|_| written::is_written(cx, node) && !written::may_be_changed(cx, node)) else {
        return;
    };
    let Some((at, needs)) = needed_by(cx, &expression) else { return };
    let Needs { code, what } = needs;
    let message = match code {
        Code::E0015 => format!("cannot call non-const {what} in {place}"),
        Code::E0658 => format!("cannot call {what} in {place}: it is const only with an unstable feature"),
        _ => format!("{what} is not yet stable as a const fn, and called in {place}"),
    };
    out.push(report::raw_diagnostic(cx, &at, code, message));
}

/// The kind of constant that contains a node.
pub(crate) fn constant_around(cx: &Context<'_>, node: &SyntaxNode) -> Option<&'static str> {
    let mut inner = node.clone();
    for outer in cx.sema.ancestors_with_macros(node.clone()).skip(1) {
        let is_repeat = |it: &ast::ArrayExpr| match it.kind() {
            ast::ArrayExprKind::Repeat { repeat, .. } => repeat.is_some_and(|it| *it.syntax() == inner),
            ast::ArrayExprKind::ElementList(_) => false,
        };
        let block = ast::BlockExpr::cast(outer.clone());
        if ast::ClosureExpr::can_cast(outer.kind()) || block.as_ref().is_some_and(|it| it.async_token().is_some()) {
            return None;
        } else if let Some(it) = ast::Fn::cast(outer.clone()) {
            return it.const_token().map(|_| "constant functions");
        } else if ast::Static::can_cast(outer.kind()) {
            return Some("statics");
        } else if ast::Const::can_cast(outer.kind())
            || ast::ConstArg::can_cast(outer.kind())
            || ast::Variant::can_cast(outer.kind())
            || block.is_some_and(|it| it.const_token().is_some())
            || ast::ArrayExpr::cast(outer.clone()).is_some_and(|it| is_repeat(&it))
        {
            return Some("constants");
        } else if ast::Item::can_cast(outer.kind()) && !ast::MacroCall::can_cast(outer.kind()) {
            return None;
        }
        inner = outer;
    }
    None
}

/// Where a call is reported, and what it needs.
fn needed_by(cx: &Context<'_>, expression: &ast::Expr) -> Option<(SyntaxNode, Needs)> {
    let whole = expression.syntax().clone();
    match expression {
        ast::Expr::CallExpr(call) => Some((whole, needed_by_call(cx, call)?)),
        ast::Expr::MethodCallExpr(call) => {
            let name = call.name_ref()?;
            let function = cx.sema.resolve_method_call(call)?;
            let receiver = call.receiver()?;
            let is_generic = is_parameter(cx, &receiver);
            match needed_by_function(cx, &whole, function, is_generic) {
                Some(needs) => Some((name.syntax().clone(), needs)),
                None => Some((receiver.syntax().clone(), needed_by_adjustment(cx, &receiver)?)),
            }
        }
        ast::Expr::BinExpr(it) => {
            let kind = it.op_kind()?;
            if matches!(kind, ast::BinaryOp::LogicOp(_) | ast::BinaryOp::Assignment { op: None }) {
                return None;
            }
            let (left, right) = (type_of(cx, it.lhs()?)?, type_of(cx, it.rhs()?)?);
            if is_primitive(&left) && is_primitive(&right) || is_pointer(&left) || is_pointer(&right) {
                return None;
            }
            let function = cx.sema.resolve_bin_expr(it)?;
            let is_generic = left.as_type_param(cx.db).is_some();
            let needs = needed_by_function(cx, &whole, function, is_generic)?;
            Some((whole, Needs { what: "operator".to_owned(), ..needs }))
        }
        ast::Expr::PrefixExpr(it) => {
            let operand = type_of(cx, it.expr()?)?;
            let is_builtin = match it.op_kind()? {
                ast::UnaryOp::Deref => operand.is_reference() || operand.is_raw_ptr() || is_box(cx, &operand),
                ast::UnaryOp::Not | ast::UnaryOp::Neg => is_primitive(&operand),
            };
            if is_builtin {
                return None;
            }
            let function = cx.sema.resolve_prefix_expr(it)?;
            let needs = needed_by_function(cx, &whole, function, operand.as_type_param(cx.db).is_some())?;
            Some((whole, Needs { what: "operator".to_owned(), ..needs }))
        }
        ast::Expr::IndexExpr(it) => {
            let (base, index) = (it.base()?, type_of(cx, it.index()?)?);
            let of = type_of(cx, base)?.strip_references();
            let is_sequence = of.is_array() || of.is_slice();
            if is_sequence && index.is_usize() || of.as_adt().is_none() && !is_sequence || is_box(cx, &of) {
                return None;
            }
            let function = cx.sema.resolve_index_expr(it)?;
            let needs = needed_by_function(cx, &whole, function, false)?;
            Some((whole, Needs { what: "operator".to_owned(), ..needs }))
        }
        ast::Expr::TryExpr(it) => {
            type_of(cx, it.expr()?)?;
            let function = cx.sema.resolve_try_expr(it)?;
            let needs = needed_by_function(cx, &whole, function, false)?;
            Some((whole, Needs { what: "`?`".to_owned(), ..needs }))
        }
        ast::Expr::ForExpr(it) => {
            let iterable = it.iterable()?;
            let ty = type_of(cx, iterable.clone())?;
            let of = into_iterator(cx, &whole)?;
            if !ty.impls_trait(cx.db, of, &[]) || iterator_is_const(cx, &whole) {
                return None;
            }
            Some((iterable.syntax().clone(), Needs::no_const("`for` loop")))
        }
        ast::Expr::MacroExpr(it) => {
            let call = it.macro_call()?;
            let of = cx.sema.resolve_macro_call(&call).filter(|it| written::is_of_std(cx, *it))?;
            let name = of.name(cx.db);
            let has_input = call.token_tree().is_some_and(|it| it.syntax().children_with_tokens().count() > 2);
            let is_it = MACROS.contains(&name.as_str()) || name.as_str() == "vec" && has_input;
            is_it.then(|| (whole, Needs::no_const(format!("functions of `{}!`", name.as_str()))))
        }
        _ => None,
    }
}

fn needed_by_call(cx: &Context<'_>, call: &ast::CallExpr) -> Option<Needs> {
    call.arg_list()?;
    let callee = call.expr()?;
    if let ast::Expr::PathExpr(it) = &callee
        && let Some(PathResolution::Def(def)) = it.path().and_then(|it| cx.sema.resolve_path(&it))
    {
        let ModuleDef::Function(function) = def else { return None };
        let of = it.path()?.qualifier().and_then(|it| cx.sema.resolve_path(&it));
        return needed_by_function(cx, call.syntax(), function, matches!(of, Some(PathResolution::TypeParam(_))));
    }
    let ty = type_of(cx, callee)?;
    match ty.as_callable(cx.db)?.kind() {
        CallableKind::Closure(_) => Some(Needs::no_const("closure")),
        CallableKind::FnImpl(_) if ty.as_type_param(cx.db).is_some() => Some(Needs::no_const("closure")),
        _ => None,
    }
}

/// What a call of a function needs. The type of a method may be a generic parameter.
fn needed_by_function(cx: &Context<'_>, at: &SyntaxNode, function: Function, is_generic: bool) -> Option<Needs> {
    let name = format!("`{}`", function.name(cx.db).as_str());
    let container = function.as_assoc_item(cx.db).map(|it| it.container(cx.db));
    let (implemented, block) = match container {
        Some(AssocItemContainer::Trait(it)) => (Some(it), None),
        Some(AssocItemContainer::Impl(it)) => (it.trait_(cx.db), Some(it)),
        None => (None, None),
    };
    let Some(implemented) = implemented else {
        let source = cx.sema.source(function)?;
        if !function.is_const(cx.db) {
            return (!written::may_be_changed(cx, source.value.syntax())).then(|| Needs::no_const(name));
        }
        if !is_unstable(cx, at, function.krate(cx.db), &source.value) {
            return None;
        }
        return Some(Needs {
            code: if is_conditional(&source.value) { Code::E0658 } else { Code::Uncoded },
            what: name,
        });
    };
    if written::enables(cx, at, "const_trait_impl") {
        return None;
    }
    let declared = cx.sema.source(implemented)?.value;
    if !is_const_trait(&declared) {
        return (!written::may_be_changed(cx, declared.syntax())).then(|| Needs::no_const(name));
    }
    if !is_unstable(cx, at, implemented.krate(cx.db), &declared) {
        return None;
    }
    let is_const = match block {
        Some(it) => is_const_block(cx, it),
        None => !is_generic,
    };
    Some(Needs { code: if is_const { Code::E0658 } else { Code::E0015 }, what: name })
}

/// Whether an item of the standard library is `const` only with a feature that is not enabled.
fn is_unstable(cx: &Context<'_>, at: &SyntaxNode, krate: Crate, item: &impl ast::HasAttrs) -> bool {
    let feature = written::feature_of(item, "rustc_const_unstable");
    krate.origin(cx.db).is_lang() && feature.is_some_and(|it| !written::enables(cx, at, &it))
}

/// Whether a function is `const` only if the functions of a bound are.
fn is_conditional(function: &ast::Fn) -> bool {
    let own = function.generic_param_list().map(|it| it.syntax().text().to_string());
    let clause = function.where_clause().map(|it| it.syntax().text().to_string());
    let block = function.syntax().ancestors().skip(1).find_map(ast::Impl::cast);
    let outer = block.and_then(|it| it.generic_param_list()).map(|it| it.syntax().text().to_string());
    [own, clause, outer].into_iter().flatten().any(|it| it.contains("[const]") || it.contains("~const"))
}

fn is_const_trait(declared: &ast::Trait) -> bool {
    let mut tokens = declared.syntax().children_with_tokens();
    tokens.any(|it| it.kind() == SyntaxKind::CONST_KW)
}

fn is_const_block(cx: &Context<'_>, block: Impl) -> bool {
    match cx.sema.source(block) {
        Some(it) => it.value.const_token().is_some(),
        // The standard library's own types may derive constant implementations.
        None => block.self_ty(cx.db).as_adt().is_some_and(|it| written::is_of_std(cx, it)),
    }
}

/// The overloaded dereferencing of a receiver.
fn needed_by_adjustment(cx: &Context<'_>, receiver: &ast::Expr) -> Option<Needs> {
    let adjustments = cx.sema.expr_adjustments(receiver)?;
    let through = adjustments.iter().find(|it| {
        matches!(it.kind, Adjust::Deref(Some(_))) && it.source.as_adt().is_some() && !is_box(cx, &it.source)
    })?;
    let adt = through.source.as_adt()?;
    let blocks = Impl::all_for_type(cx.db, adt.ty(cx.db)).into_iter();
    let mut blocks = blocks.filter(|it| it.trait_(cx.db).is_some_and(|it| it.name(cx.db).as_str() == "Deref"));
    let block = blocks.find(|it| it.self_ty(cx.db).as_adt() == Some(adt))?;
    (!is_const_block(cx, block)).then(|| Needs::no_const("dereferencing"))
}

fn type_of<'db>(cx: &Context<'db>, expression: ast::Expr) -> Option<Type<'db>> {
    let ty = cx.sema.type_of_expr(&expression)?.original;
    (!ty.contains_unknown() && !ty.is_never()).then_some(ty)
}

fn is_parameter(cx: &Context<'_>, receiver: &ast::Expr) -> bool {
    let ty = cx.sema.type_of_expr(receiver).map(|it| it.original);
    ty.is_some_and(|it| it.strip_references().as_type_param(cx.db).is_some())
}

/// Types whose operators are built in.
fn is_primitive(ty: &Type<'_>) -> bool {
    ty.as_builtin().is_some_and(|it| !it.is_str())
}

/// Pointers are compared by an operator that is built in, and refused by another rule of the compiler.
fn is_pointer(ty: &Type<'_>) -> bool {
    ty.is_raw_ptr() || ty.is_fn()
}

fn is_box(cx: &Context<'_>, ty: &Type<'_>) -> bool {
    ty.as_adt().is_some_and(|it| it.name(cx.db).as_str() == "Box" && written::is_of_std(cx, it))
}

fn into_iterator(cx: &Context<'_>, at: &SyntaxNode) -> Option<Trait> {
    of_core(cx, at, "::core::iter::IntoIterator")
}

fn of_core(cx: &Context<'_>, at: &SyntaxNode, path: &str) -> Option<Trait> {
    match cx.sema.scope(at)?.speculative_resolve(&ast::make::path_from_text(path))? {
        PathResolution::Def(ModuleDef::Trait(it)) => Some(it),
        _ => None,
    }
}

/// Whether loops may be constant: with a feature, or in a later version of the standard library.
fn iterator_is_const(cx: &Context<'_>, at: &SyntaxNode) -> bool {
    let Some(of) = of_core(cx, at, "::core::iter::Iterator").and_then(|it| cx.sema.source(it)) else { return true };
    let is_stable = is_const_trait(&of.value) && written::feature_of(&of.value, "rustc_const_unstable").is_none();
    is_stable || written::enables(cx, at, "const_for") || written::enables(cx, at, "const_trait_impl")
}
