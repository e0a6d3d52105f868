//! Macro calls whose output is nested too deeply to be parsed.

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use super::derive_expansion::derive_expansions;
use crate::syntax::nesting;

/// The most calls of a file, and of the output of its macros, that are looked at. In a file with more there may be one.
const MOST_CALLS: usize = 10_000;
/// The most levels of calls in the output of calls.
const MOST_LEVELS: usize = 64;

/// Whether a file has a macro call whose output, or that of a call in it, was refused.
pub(crate) fn are_in(sema: &Semantics<'_, RootDatabase>, file: FileId) -> bool {
    let mut left = MOST_CALLS;
    is_within(sema, sema.parse_guess_edition(file).syntax(), MOST_LEVELS, &mut left)
}

fn is_within(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode, levels: usize, left: &mut usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return true };
    node.descendants().any(|it| {
        let made: Vec<SyntaxNode> = if let Some(call) = ast::MacroCall::cast(it.clone()) {
            let error = sema.to_def(&call).and_then(|it| it.parse_macro_expansion_error(sema.db));
            let says = |it: &str| nesting::is_refusal(it);
            if error.is_some_and(|it| {
                let rendered = it.err.map(|it| it.render_to_string(sema.db).message);
                rendered.is_some_and(|it| says(&it)) || it.value.iter().any(|it| says(&it.to_string()))
            }) {
                return true;
            }
            sema.expand_macro_call(&call).map(|it| it.value).into_iter().collect()
        } else if let Some(item) = ast::Item::cast(it) {
            let adt = ast::Adt::cast(item.syntax().clone());
            let derived = adt.map(|it| derive_expansions(sema, &it)).unwrap_or_default();
            sema.expand_attr_macro(&item).map(|it| it.value.value).into_iter().chain(derived).collect()
        } else {
            return false;
        };
        made.iter().any(|it| {
            let Some(rest) = left.checked_sub(1) else { return true };
            *left = rest;
            // What was refused is one error.
            it.children().any(|it| it.kind() == SyntaxKind::ERROR) || is_within(sema, it, levels, left)
        })
    })
}
