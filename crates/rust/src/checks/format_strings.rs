//! Format strings that do not fit their arguments, which rust-analyzer does not report. They are parsed by the compiler's
//! own parser.

use ra_ap_hir::HirDisplay as _;
use ra_ap_ide::FileRange;
use ra_ap_rustc_parse_format::{Count, ParseMode, Parser, Piece, Position};
use ra_ap_syntax::ast::{self, HasName as _, IsString as _};
use ra_ap_syntax::{AstNode as _, AstToken as _, Edition, SyntaxKind, SyntaxNode, TextRange};

use super::report;
use crate::finding::RawDiagnostic;
use crate::finding::code::Code;
use crate::syntax::positions::text_size;
use crate::view::Context;

/// The formats of the traits in `std::fmt`.
const FORMATS: [&str; 9] = ["", "?", "e", "E", "o", "p", "b", "x", "X"];

pub(crate) fn format_strings(cx: &Context<'_>, node: &SyntaxNode, out: &mut Vec<RawDiagnostic>) {
    let Some(call) = ast::FormatArgsExpr::cast(node.clone()) else { return };
    let Some(template) = call.template() else { return };
    let literal = match &template {
        ast::Expr::Literal(it) => match it.kind() {
            ast::LiteralKind::String(it) => it,
            _ => return out.extend(no_string(cx, &template)),
        },
        ast::Expr::MacroExpr(it) => match concatenated(cx, it) {
            Some(it) => it,
            None => return,
        },
        _ => return out.extend(no_string(cx, &template)),
    };
    let arguments: Vec<ast::FormatArgsArg> = call.args().collect();
    let names: Vec<Option<String>> = arguments.iter().map(|it| it.name().map(|it| it.text().to_string())).collect();
    if let Some(first) = names.iter().position(Option::is_some)
        && let Some(late) = names[first..].iter().position(Option::is_none)
    {
        let message = "positional arguments cannot follow named arguments".to_owned();
        return out.push(report::raw_diagnostic(cx, arguments[first + late].syntax(), Code::Uncoded, message));
    }
    let Ok(text) = literal.value() else { return };
    let hashes =
        literal.is_raw().then(|| literal.text().trim_start_matches('r').bytes().take_while(|it| *it == b'#').count());
    let mut parser = Parser::new(&text, hashes, Some(literal.text().to_owned()), false, ParseMode::Format);
    let pieces: Vec<Piece<'_>> = parser.by_ref().collect();
    let is_source = parser.is_source_literal;
    let at = |span: std::ops::Range<usize>| within(cx, template.syntax(), span.start).filter(|_| is_source);
    if let Some(error) = parser.errors.first() {
        let message = format!("invalid format string: {}", error.description);
        return out.push(at_or_whole(cx, &template, at(error.span.clone()), message));
    }
    let mut used = vec![false; arguments.len()];
    let mut lacking = Vec::new();
    let mut asked = 0;
    let mut counts: Vec<usize> = Vec::new();
    let mut use_position = |index: usize| match used.get_mut(index) {
        Some(used) => *used = true,
        None => lacking.push(index),
    };
    let mut named: Vec<&str> = Vec::new();
    for piece in &pieces {
        let Piece::NextArgument(argument) = piece else { continue };
        match argument.position {
            Position::ArgumentIs(index) | Position::ArgumentImplicitlyIs(index) => use_position(index),
            Position::ArgumentNamed(name) => named.push(name),
        }
        asked += usize::from(matches!(argument.position, Position::ArgumentImplicitlyIs(_)));
        for count in [&argument.format.width, &argument.format.precision] {
            match count {
                Count::CountIsParam(index) | Count::CountIsStar(index) => {
                    use_position(*index);
                    counts.push(*index);
                }
                Count::CountIsName(name, _) => {
                    named.push(name);
                    counts.extend(names.iter().position(|it| it.as_deref() == Some(*name)));
                }
                Count::CountIs(_) | Count::CountImplied => {}
            }
        }
        if !FORMATS.contains(&argument.format.ty) {
            let message = format!("unknown format trait `{}`", argument.format.ty);
            let span = argument.format.ty_span.clone().and_then(at);
            out.push(at_or_whole(cx, &template, span, message));
        }
    }
    out.extend(counts.into_iter().filter_map(|it| no_number(cx, &arguments.get(it)?.expr()?)));
    for (used, name) in used.iter_mut().zip(&names) {
        *used |= name.as_deref().is_some_and(|it| named.contains(&it));
    }
    if let Some(first) = lacking.first() {
        let has = match arguments.len() {
            0 => "no arguments were given".to_owned(),
            1 => "there is 1 argument".to_owned(),
            many => format!("there are {many} arguments"),
        };
        let message = match asked > arguments.len() {
            true => format!("{asked} positional arguments in format string, but {has}"),
            false => format!("invalid reference to positional argument {first} ({has})"),
        };
        out.push(report::raw_diagnostic(cx, template.syntax(), Code::Uncoded, message));
    }
    for (argument, _) in arguments.iter().zip(&used).filter(|it| !it.1) {
        let what = if argument.name().is_some() { "named argument never used" } else { "argument never used" };
        out.push(report::raw_diagnostic(cx, argument.syntax(), Code::Uncoded, what.to_owned()));
    }
}

/// The text that `concat!` makes of literals.
fn concatenated(cx: &Context<'_>, template: &ast::MacroExpr) -> Option<ast::String> {
    let call = template.macro_call()?;
    let is_concat = call.path()?.segment()?.name_ref()?.text() == "concat";
    let tokens = || call.token_tree().into_iter().flat_map(|it| it.syntax().descendants_with_tokens());
    if !is_concat || tokens().any(|it| it.kind() == SyntaxKind::BANG) {
        return None;
    }
    let made = cx.sema.expand_macro_call(&call)?.value;
    match made.descendants().find_map(ast::Literal::cast)?.kind() {
        ast::LiteralKind::String(it) => Some(it),
        _ => None,
    }
}

/// A width or a precision that is no number.
fn no_number(cx: &Context<'_>, argument: &ast::Expr) -> Option<RawDiagnostic> {
    let ty = cx.sema.type_of_expr(argument)?.original;
    if ty.contains_unknown() || ty.is_never() || ty.as_builtin().is_some_and(|it| it.is_int() || it.is_uint()) {
        return None;
    }
    let krate = cx.sema.scope(argument.syntax())?.krate();
    let message = format!("expected `usize`, found `{}`", ty.display(cx.db, krate.to_display_target(cx.db)));
    Some(report::raw_diagnostic(cx, argument.syntax(), Code::E0308, message))
}

/// `panic!` takes any value before the edition 2021.
fn no_string(cx: &Context<'_>, template: &ast::Expr) -> Option<RawDiagnostic> {
    let edition = cx.sema.scope(template.syntax())?.krate().edition(cx.db);
    let message = "format argument must be a string literal".to_owned();
    let error = || report::raw_diagnostic(cx, template.syntax(), Code::Uncoded, message);
    (edition >= Edition::Edition2021).then(error)
}

fn at_or_whole(cx: &Context<'_>, template: &ast::Expr, at: Option<FileRange>, message: String) -> RawDiagnostic {
    match at {
        Some(at) => RawDiagnostic::new(at, Code::Uncoded, message),
        None => report::raw_diagnostic(cx, template.syntax(), Code::Uncoded, message),
    }
}

/// A place in a literal that a macro leaves as it is.
fn within(cx: &Context<'_>, literal: &SyntaxNode, offset: usize) -> Option<FileRange> {
    let whole = report::reported_range(cx, literal);
    let is_same = whole.range.len() == literal.text_range().len();
    let start = whole.range.start() + text_size(offset);
    (is_same && start < whole.range.end())
        .then(|| FileRange { file_id: whole.file_id, range: TextRange::at(start, text_size(1)) })
}
