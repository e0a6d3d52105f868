//! Macros whose output is nested too deeply to be parsed: whether the code still has any.
//!
//! The parser only counts them, since it does not know which call it works for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxNode, ast};

use crate::syntax::nesting;

/// The most calls of a file, and of the output of its macros, that are looked at. In a file with more there may be one.
const MOST_CALLS: usize = 10_000;
/// The most levels of calls in the output of calls.
const MOST_LEVELS: usize = 64;

/// What is known of them since the database was created.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The parser's count when there was none.
    before: AtomicUsize,
    /// They were found in the files of the workspace. Elsewhere they are not looked for.
    are_found: AtomicBool,
}

impl Refusals {
    /// For a new database.
    pub(crate) fn new() -> Refusals {
        Refusals(Arc::new(State {
            before: AtomicUsize::new(ra_ap_parser::refused()),
            are_found: AtomicBool::new(false),
        }))
    }

    /// Whether the code may have one.
    pub(crate) fn are_possible(&self) -> bool {
        ra_ap_parser::refused() > self.0.before.load(Ordering::Relaxed)
    }

    /// Looks whether the files still have those that were found in them.
    pub(crate) fn review(&self, has_any: impl FnOnce() -> bool) {
        if !self.are_possible() {
            return;
        }
        let count = ra_ap_parser::refused();
        if has_any() {
            self.0.are_found.store(true, Ordering::Relaxed);
        } else if self.0.are_found.swap(false, Ordering::Relaxed) {
            self.0.before.store(count, Ordering::Relaxed);
        }
    }
}

/// Whether a file has a macro call whose output, or that of a call in it, was refused.
pub(crate) fn is_in(sema: &Semantics<'_, RootDatabase>, file: FileId) -> bool {
    let mut left = MOST_CALLS;
    is_within(sema, sema.parse_guess_edition(file).syntax(), MOST_LEVELS, &mut left)
}

fn is_within(sema: &Semantics<'_, RootDatabase>, node: &SyntaxNode, levels: usize, left: &mut usize) -> bool {
    node.descendants().filter_map(ast::MacroCall::cast).any(|call| {
        let (Some(levels), Some(rest)) = (levels.checked_sub(1), left.checked_sub(1)) else { return true };
        *left = rest;
        let Some(id) = sema.to_def(&call) else { return false };
        let is_refused = id.parse_macro_expansion_error(sema.db).is_some_and(|it| {
            let refusal = it.value.iter().any(|it| nesting::is_refusal(&it.to_string()));
            refusal || it.err.is_some_and(|it| nesting::is_refusal(&it.render_to_string(sema.db).message))
        });
        is_refused || sema.expand_macro_call(&call).is_some_and(|it| is_within(sema, &it.value, levels, left))
    })
}
