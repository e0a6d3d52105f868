//! What the parameters of a function determine: names in its body, and in the arguments of its calls.

use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::ast::{HasArgList as _, HasName as _};
use ra_ap_syntax::{AstNode as _, Direction, Edition, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::{FileInterface, PlainItem, has_plain_attributes};
use crate::syntax::positions::span;
use semdex_model::Span;
use semdex_text::words::occurrences;

/// Whether the body of a function, if it has one, names no parameter that was added, removed or has a different type.
pub(crate) fn is_body_unconcerned(before: &FileInterface, after: &FileInterface, item: &PlainItem) -> bool {
    let read = |of: &FileInterface, item: &PlainItem| {
        let (function, parameters) = parameters(of.text(item.at))?;
        Some((parameters, function.body().map(|it| it.to_string()).unwrap_or_default()))
    };
    let both = read(before, item).zip(after.plain_of(item).and_then(|it| read(after, it)));
    let Some(((mut old, body), (mut new, _))) = both else { return false };
    let kept = old.clone();
    old.retain(|it| !new.iter().any(|other| is_same(it, other)));
    new.retain(|it| !kept.iter().any(|other| is_same(it, other)));
    let patterns = old.iter().chain(&new).flat_map(|it| it.syntax().descendants()).filter_map(ast::IdentPat::cast);
    let mut names = patterns.filter_map(|it| it.name());
    names.all(|it| occurrences(&body, it.text().trim_start_matches("r#")).next().is_none())
}

/// The ranges of a function's text, before a change and after it, in which its parameters differ.
pub(crate) fn parameters_apart(before: &str, after: &str) -> Option<(Span, Span)> {
    let (old, new) = (parameters(before)?, parameters(after)?);
    let first = old.1.iter().zip(&new.1).take_while(|(a, b)| is_same(a, b)).count();
    let ends = old.1[first..].iter().rev().zip(new.1[first..].iter().rev());
    let last = ends.take_while(|(a, b)| is_same(a, b)).count();
    let apart = |(function, all): &(ast::Fn, Vec<ast::Param>)| {
        let list = span(function.param_list()?.syntax().text_range());
        let at = |it: &ast::Param| span(it.syntax().text_range());
        let start = all[..first].last().map_or(list.start, |it| at(it).end);
        let end = all[all.len() - last..].first().map_or(list.end, |it| at(it).start);
        Some(Span::new(start, end))
    };
    Some((apart(&old)?, apart(&new)?))
}

fn is_same(a: &ast::Param, b: &ast::Param) -> bool {
    a.syntax().text() == b.syntax().text()
}

/// Parses a text with a single function; returns it with its parameters except the receiver.
fn parameters(text: &str) -> Option<(ast::Fn, Vec<ast::Param>)> {
    let file = ast::SourceFile::parse(text, Edition::CURRENT).tree();
    let function = file.syntax().descendants().find_map(ast::Fn::cast)?;
    let parameters = function.param_list()?.params().collect();
    Some((function, parameters))
}

/// Whether arguments declare nothing and call no macro, so that their expected types determine no names in them except
/// trait functions.
pub(crate) fn is_plain(arguments: &ast::ArgList) -> bool {
    use ast::Expr::{
        ArrayExpr, AwaitExpr, BinExpr, CallExpr, CastExpr, FieldExpr, IndexExpr, Literal, MethodCallExpr, ParenExpr,
        PathExpr, PrefixExpr, RangeExpr, RecordExpr, RefExpr, TryExpr, TupleExpr,
    };
    let is_known = |it: ast::Expr| {
        matches!(
            it,
            ArrayExpr(_)
                | AwaitExpr(_)
                | BinExpr(_)
                | CallExpr(_)
                | CastExpr(_)
                | FieldExpr(_)
                | IndexExpr(_)
                | Literal(_)
                | MethodCallExpr(_)
                | ParenExpr(_)
                | PathExpr(_)
                | PrefixExpr(_)
                | RangeExpr(_)
                | RecordExpr(_)
                | RefExpr(_)
                | TryExpr(_)
                | TupleExpr(_)
        )
    };
    let mut below = arguments.syntax().descendants();
    below.all(|it| !ast::InferType::can_cast(it.kind()) && ast::Expr::cast(it).is_none_or(is_known))
}

/// The arguments of the call whose callee is this name.
pub(crate) fn arguments(token: &SyntaxToken) -> Option<ast::ArgList> {
    Some(call_by(&ast::NameRef::cast(token.parent()?)?)?.1)
}

/// Whether these arguments name no outer variable whose type is inferred from its uses.
pub(crate) fn is_closed(arguments: &ast::ArgList) -> bool {
    let mut named = arguments.syntax().descendants_with_tokens().filter_map(|it| it.into_token()).filter(may_be_local);
    let Some(item) =
        arguments.syntax().ancestors().find(|it| ast::Item::can_cast(it.kind()) || ast::Variant::can_cast(it.kind()))
    else {
        return false;
    };
    item.ancestors().all(|it| has_plain_attributes(&it))
        && named.all(|token| {
            let text = token.text().trim_start_matches("r#");
            token.kind() == SyntaxKind::IDENT && is_typed(text, &item)
        })
}

/// Whether a token may name a local variable, or contain such names.
pub(crate) fn may_be_local(token: &SyntaxToken) -> bool {
    let is_in_macro = || token.parent_ancestors().any(|it| ast::TokenTree::can_cast(it.kind()));
    match token.kind() {
        SyntaxKind::IDENT => {}
        SyntaxKind::STRING => return token.text().contains('{') && is_in_macro(),
        _ => return false,
    }
    if is_in_macro() {
        return true;
    }
    let Some(name) = token.parent().filter(|it| ast::NameRef::can_cast(it.kind())) else { return false };
    let Some(around) = name.parent() else { return true };
    match ast::PathSegment::cast(around.clone()).map(|it| it.parent_path()) {
        Some(path) => {
            path.as_single_name_ref().is_some()
                && path.syntax().parent().is_some_and(|it| !ast::Type::can_cast(it.kind()))
        }
        None => ast::RecordExprField::cast(around).is_some_and(|it| it.expr().is_none()),
    }
}

/// Whether a name refers to variables of an item that all have an explicit full type, or to a constant.
fn is_typed(name: &str, item: &SyntaxNode) -> bool {
    let is_it = |it: &SyntaxToken| it.kind() == SyntaxKind::IDENT && it.text().trim_start_matches("r#") == name;
    let mut is_known = name.starts_with(char::is_uppercase);
    for token in item.descendants_with_tokens().filter_map(|it| it.into_token()).filter(is_it) {
        // A macro may declare it.
        if token.parent_ancestors().any(|it| ast::TokenTree::can_cast(it.kind())) {
            return false;
        }
        let pattern = token.parent().and_then(|it| it.parent()).and_then(ast::IdentPat::cast);
        let Some(pattern) = pattern else { continue };
        if !is_declared_in_full(&pattern) {
            return false;
        }
        is_known = true;
    }
    is_known
}

/// Whether the declaration of a variable has an explicit full type.
pub(crate) fn is_declared_in_full(pattern: &ast::IdentPat) -> bool {
    let is_full = |ty: Option<ast::Type>| {
        let is_open = |it: &SyntaxNode| ast::InferType::can_cast(it.kind()) || ast::MacroType::can_cast(it.kind());
        ty.is_some_and(|ty| !ty.syntax().descendants().any(|it| is_open(&it)))
    };
    let around = pattern.syntax().ancestors().find(|it| !ast::Pat::can_cast(it.kind()) && !is_in_pattern(it));
    around.is_some_and(|it| match ast::Param::cast(it.clone()) {
        Some(parameter) => is_full(parameter.ty()),
        None => ast::LetStmt::cast(it).is_some_and(|it| is_full(it.ty())),
    })
}

fn is_in_pattern(node: &SyntaxNode) -> bool {
    use SyntaxKind::{RECORD_PAT_FIELD, RECORD_PAT_FIELD_LIST};
    matches!(node.kind(), RECORD_PAT_FIELD | RECORD_PAT_FIELD_LIST)
}

/// Whether a macro's expansion calls this without arguments, and does not pass it to another macro before.
pub(crate) fn is_plain_call(token: &SyntaxToken) -> bool {
    let opens = after(token).filter(|it| it.kind() == SyntaxKind::L_PAREN);
    let is_called = opens.and_then(|it| after(&it)).is_some_and(|it| it.kind() == SyntaxKind::R_PAREN);
    is_called && !is_declared(token) && !is_handed_on(token)
}

/// Whether a macro's expansion declares another function of this name.
pub(crate) fn is_declared_by_macro(token: &SyntaxToken) -> bool {
    let is_in_macro = || token.parent_ancestors().any(|it| ast::MacroRules::can_cast(it.kind()));
    is_declared(token) && is_in_macro() && !is_handed_on(token)
}

fn is_declared(token: &SyntaxToken) -> bool {
    before(token).is_some_and(|it| it.kind() == SyntaxKind::FN_KW)
}

/// Whether a name in an expansion is passed to another macro.
fn is_handed_on(token: &SyntaxToken) -> bool {
    let trees = token.parent_ancestors().filter_map(ast::TokenTree::cast);
    let mut opening = trees.filter_map(|it| it.left_delimiter_token());
    opening.any(|it| before(&it).is_some_and(|it| it.kind() == SyntaxKind::BANG))
}

fn before(token: &SyntaxToken) -> Option<SyntaxToken> {
    skip_trivia_token(token.prev_token()?, Direction::Prev)
}

fn after(token: &SyntaxToken) -> Option<SyntaxToken> {
    skip_trivia_token(token.next_token()?, Direction::Next)
}

/// The call with this name as callee: the callee, which is a method's name or a path, and the arguments.
pub(crate) fn call_by(name: &ast::NameRef) -> Option<(SyntaxNode, ast::ArgList)> {
    let around = name.syntax().parent()?;
    if let Some(call) = ast::MethodCallExpr::cast(around.clone()) {
        return Some((name.syntax().clone(), call.arg_list()?));
    }
    let path = ast::PathSegment::cast(around)?.parent_path();
    let callee = ast::PathExpr::cast(path.syntax().parent()?)?;
    let call = ast::CallExpr::cast(callee.syntax().parent()?)?;
    // The name may also be an argument.
    call.expr().filter(|it| it.syntax() == callee.syntax())?;
    Some((callee.syntax().clone(), call.arg_list()?))
}
