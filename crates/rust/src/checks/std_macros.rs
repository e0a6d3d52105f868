//! Calls of the standard library's built-in macros with arguments that the compiler refuses, and rust-analyzer expands.

use ra_ap_hir::Adt;
use ra_ap_syntax::{AstNode as _, Edition, NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, ast};

use super::{report, written};
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::view::Context;

/// A token of a macro's input, or a part of it in delimiters.
type Part = NodeOrToken<SyntaxNode, SyntaxToken>;

pub(crate) fn refused_calls(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let found = match node.kind() {
        SyntaxKind::MACRO_CALL => ast::MacroCall::cast(node.clone()).and_then(|it| refused(cx, &it)),
        SyntaxKind::OFFSET_OF_EXPR => ast::OffsetOfExpr::cast(node.clone()).and_then(|it| unknown_field(cx, &it)),
        _ => None,
    };
    if let Some((at, code, message)) = found {
        out.push(report::raw_diagnostic(cx, &at, code, message));
    }
}

type Refused = (SyntaxNode, Code, String);
type Error = Option<(Code, String)>;

fn refused(cx: &Context<'_>, call: &ast::MacroCall) -> Option<Refused> {
    let name = call.path()?.segment()?.name_ref()?;
    let check: fn(&str, &[Part], Edition) -> Error = match name.text() {
        "file" | "line" | "column" | "module_path" => takes_nothing,
        "cfg" => no_predicate,
        "assert" => no_condition,
        _ => return None,
    };
    if !written::is_of_std(cx, cx.sema.resolve_macro_call(call)?) {
        return None;
    }
    let edition = cx.sema.scope(call.syntax())?.krate().edition(cx.db);
    let parts = parts_of(&call.token_tree()?);
    check(name.text(), &parts, edition).map(|(code, message)| (call.syntax().clone(), code, message))
}

/// The parts of a macro's input, without its delimiters.
fn parts_of(input: &ast::TokenTree) -> Vec<Part> {
    let ends = [input.left_delimiter_token(), input.right_delimiter_token()];
    let parts = input.syntax().children_with_tokens().filter(|it| match it {
        NodeOrToken::Token(it) => !it.kind().is_trivia() && !ends.contains(&Some(it.clone())),
        NodeOrToken::Node(_) => true,
    });
    parts.collect()
}

fn takes_nothing(name: &str, parts: &[Part], _: Edition) -> Error {
    (!parts.is_empty()).then(|| (Code::Uncoded, format!("{name}! takes no arguments")))
}

fn no_predicate(_: &str, parts: &[Part], _: Edition) -> Error {
    let Some(first) = parts.first() else {
        return Some((Code::Uncoded, "macro requires a cfg-pattern as an argument".to_owned()));
    };
    if first.kind().is_literal() {
        return Some((Code::E0539, "malformed `cfg` macro input".to_owned()));
    }
    let end = parts.iter().position(|it| it.kind() == SyntaxKind::COMMA)?;
    (end + 1 < parts.len()).then(|| (Code::Uncoded, "expected 1 cfg-pattern".to_owned()))
}

/// A condition ends with the input or with a comma; one in generic arguments is not the end.
fn no_condition(_: &str, parts: &[Part], edition: Edition) -> Error {
    if parts.is_empty() {
        return None;
    }
    let ends = parts.iter().enumerate().filter(|it| it.1.kind() == SyntaxKind::COMMA).map(|it| it.0);
    let input = parts[0].parent()?;
    let (from, start) = (input.text_range().start(), parts[0].text_range().start());
    let is_expression = |end: usize| {
        let text = input.text().slice(start - from..parts[end - 1].text_range().end() - from);
        let text = text.to_string();
        let parsed = ast::Expr::parse(&text, edition);
        let is_read = parsed.errors().is_empty();
        // What is left over makes a tree that is no expression.
        let root = parsed.to_syntax().syntax_node();
        is_read && ast::Expr::can_cast(root.kind()) && usize::from(root.text_range().len()) == text.len()
    };
    let mut ends = ends.chain([parts.len()]).filter(|it| *it > 0);
    (!ends.any(is_expression)).then(|| (Code::Uncoded, "expected an expression, then `,` or nothing".to_owned()))
}

/// A field in `offset_of!` that its type does not have.
fn unknown_field(cx: &Context<'_>, of: &ast::OffsetOfExpr) -> Option<Refused> {
    let ty = cx.sema.resolve_type(&of.ty()?)?;
    let adt = ty.as_adt()?;
    let name = of.fields().next()?;
    let fields = match adt {
        Adt::Struct(it) => it.fields(cx.db),
        Adt::Union(it) => it.fields(cx.db),
        Adt::Enum(_) => return None,
    };
    if fields.iter().any(|it| it.name(cx.db).as_str() == name.text().trim_start_matches("r#")) {
        return None;
    }
    let message = format!("no field `{}` on type `{}`", name.text(), adt.name(cx.db).as_str());
    Some((name.syntax().clone(), Code::E0609, message))
}
