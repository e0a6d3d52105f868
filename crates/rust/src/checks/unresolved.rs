//! Unresolved names: the code and the message that the compiler reports for each.

use ra_ap_cfg::CfgExpr;
use ra_ap_hir::{Crate, InFile, Semantics};
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::algo::skip_trivia_token;
use ra_ap_syntax::{AstNode as _, Direction, SyntaxKind, SyntaxToken, ast};

use super::lookup;
use crate::finding::code::Code;
use crate::names::instances;
use crate::syntax::attributes::{attributes_of, cfg_condition};

/// The code and the kind of item that is expected at a path; `None` for members.
pub(crate) fn unresolved_kind(token: &SyntaxToken) -> Option<(Code, &'static str)> {
    if token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind())) {
        let attribute = token.parent_ancestors().find_map(ast::Attr::cast).and_then(|it| it.simple_name());
        return match attribute.is_some_and(|it| it == "derive") {
            true => Some((Code::Uncoded, "derive macro")),
            false => unresolved_in_macro(token),
        };
    }
    let segment = token.parent_ancestors().take(3).find_map(ast::PathSegment::cast)?;
    let path = segment.parent_path();
    if path.syntax().ancestors().any(|it| ast::UseTree::can_cast(it.kind())) {
        return Some((Code::E0432, "import"));
    }
    if path.parent_path().is_some() {
        return Some((Code::E0433, "type or module"));
    }
    // A member of a type, not of a module.
    let is_member = path
        .qualifier()
        .and_then(|it| it.segment()?.name_ref())
        .is_some_and(|it| it.text().starts_with(char::is_uppercase));
    let around = path.syntax().parent()?;
    Some(match around.kind() {
        SyntaxKind::PATH_TYPE => {
            let within = around.parent();
            let block = within.clone().and_then(ast::Impl::cast);
            let is_header = block.and_then(|it| it.trait_()).is_some_and(|it| *it.syntax() == around);
            match is_header || within.is_some_and(|it| it.kind() == SyntaxKind::TYPE_BOUND) {
                true => (Code::E0405, "trait"),
                false if is_member => (Code::E0220, "associated type"),
                false => (Code::E0412, "type"),
            }
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT | SyntaxKind::TUPLE_STRUCT_PAT | SyntaxKind::PATH_PAT
            if is_member =>
        {
            (Code::E0599, "variant or associated item")
        }
        SyntaxKind::RECORD_EXPR | SyntaxKind::RECORD_PAT => (Code::E0422, "struct or variant"),
        SyntaxKind::TUPLE_STRUCT_PAT => (Code::E0531, "tuple struct or variant"),
        SyntaxKind::MACRO_CALL if path.qualifier().is_some() => (Code::E0433, "macro"),
        SyntaxKind::MACRO_CALL => (Code::Uncoded, "macro"),
        SyntaxKind::PATH_EXPR if is_member => (Code::E0599, "function or associated item"),
        SyntaxKind::PATH_EXPR => (Code::E0425, "value"),
        SyntaxKind::PATH_PAT => (Code::E0531, "unit struct, variant or constant"),
        _ => return None,
    })
}

/// The code for a path that is missing in a module: a module may have the name of a type. `around` is the kind of the
/// node around the whole path.
pub(crate) fn of_module(code: Code, around: SyntaxKind) -> Code {
    match (code, around) {
        (Code::E0599, SyntaxKind::PATH_EXPR) => Code::E0425,
        (Code::E0599, SyntaxKind::TUPLE_STRUCT_PAT | SyntaxKind::PATH_PAT) => Code::E0531,
        (Code::E0599, _) => Code::E0422,
        (Code::E0220, _) => Code::E0412,
        (code, _) => code,
    }
}

/// The same for a token in the input of a macro, by its use in the expansion.
pub(crate) fn unresolved_kind_as_made(
    sema: &Semantics<'_, RootDatabase>,
    token: &SyntaxToken,
) -> Option<(Code, &'static str)> {
    made_of_input(sema, token).and_then(|it| unresolved_kind(&it)).or_else(|| unresolved_kind(token))
}

/// The expansion of a token from a macro's input.
pub(crate) fn made_of_input(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken) -> Option<SyntaxToken> {
    let is_input = token.parent().is_some_and(|it| ast::TokenTree::can_cast(it.kind()));
    is_input.then(|| sema.descend_into_macros_exact(token.clone()).into_iter().next()).flatten()
}

/// The same in the input of a macro, which is only tokens.
fn unresolved_in_macro(token: &SyntaxToken) -> Option<(Code, &'static str)> {
    let step = |it: &SyntaxToken, forth: bool| match forth {
        true => it.next_token().and_then(|it| skip_trivia_token(it, Direction::Next)),
        false => it.prev_token().and_then(|it| skip_trivia_token(it, Direction::Prev)),
    };
    let is = |it: &Option<SyntaxToken>, text: &str| it.as_ref().is_some_and(|it| it.text() == text);
    let (before, after) = (step(token, false), step(token, true));
    if is(&before, ".") {
        return None;
    }
    if is(&after, ":") && is(&after.as_ref().and_then(|it| step(it, true)), ":") {
        return Some((Code::E0433, "type or module"));
    }
    let colon = before.filter(|it| it.text() == ":").and_then(|it| step(&it, false)).filter(|it| it.text() == ":");
    let is_member = colon.and_then(|it| step(&it, false)).is_some_and(|it| it.text().starts_with(char::is_uppercase));
    match is_member {
        true => None,
        false => Some((Code::E0425, "value")),
    }
}

/// Whether no macro replaces the token.
pub(crate) fn is_as_written(sema: &Semantics<'_, RootDatabase>, id: FileId, token: &SyntaxToken) -> bool {
    let root = sema.hir_file_for(sema.parse_guess_edition(id).syntax());
    token.parent_ancestors().all(|it| {
        let is_input = ast::TokenTree::can_cast(it.kind()) || ast::MacroCall::can_cast(it.kind());
        let item = ast::Item::cast(it);
        !is_input && item.is_none_or(|it| !sema.is_attr_macro_call(InFile::new(root, &it)))
    })
}

/// Whether a `cfg` switches off the code around a token, in each crate that includes the file, or in the pinned one.
pub(crate) fn is_left_out(sema: &Semantics<'_, RootDatabase>, id: FileId, token: &SyntaxToken) -> bool {
    // Attributes precede everything else in a node: the many statements of a body are not looked at.
    let attributes = token.parent_ancestors().flat_map(|it| attributes_of(&it));
    let conditions: Vec<CfgExpr> = attributes.filter_map(|it| cfg_condition(&it)).collect();
    let crates = || sema.file_to_module_defs(id).map(|it| it.krate(sema.db));
    let is_off = |it: Crate| conditions.iter().any(|condition| it.cfg(sema.db).check(condition) == Some(false));
    !conditions.is_empty() && crates().filter(|it| !instances::is_pinned_away(*it)).all(is_off)
}

/// An item that exists and is not visible has a code of its own.
pub(crate) fn unless_unseen(sema: &Semantics<'_, RootDatabase>, token: &SyntaxToken, code: Code) -> Code {
    let is_hidden =
        matches!(code, Code::E0405 | Code::E0412 | Code::E0422 | Code::E0425 | Code::E0432 | Code::E0433 | Code::E0531)
            && lookup::is_there_unseen(sema, token);
    if is_hidden { Code::E0603 } else { code }
}

pub(crate) fn message(token: &SyntaxToken, what: &str) -> String {
    let name = token.text().trim_start_matches("r#");
    let path = path_of(token);
    match path.as_ref().and_then(ast::Path::qualifier) {
        Some(qualifier) => format!("cannot find {what} `{name}` in `{}`", qualifier.syntax().text()),
        None if path.is_some_and(|it| is_global(&it)) => format!("cannot find {what} `::{name}`"),
        None => format!("cannot find {what} `{name}` in this scope"),
    }
}

/// Whether a path of one segment begins with `::`.
pub(crate) fn is_global(path: &ast::Path) -> bool {
    path.segment().is_some_and(|it| it.coloncolon_token().is_some())
}

/// The path whose last segment a token is.
pub(crate) fn path_of(token: &SyntaxToken) -> Option<ast::Path> {
    Some(token.parent_ancestors().take(2).find_map(ast::PathSegment::cast)?.parent_path())
}
