//! Macros whose output is nested too deeply to be parsed: whether the code still has any.
//!
//! The parser only counts them, since it does not know which call it works for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ra_ap_hir::Semantics;
use ra_ap_ide::{FileId, RootDatabase};
use ra_ap_syntax::{AstNode as _, SyntaxKind, SyntaxNode, ast};

use crate::checks::derive_expansion::derive_expansions;
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
    is_reviewed: AtomicBool,
    /// Some are outside of the workspace, for example in dependencies: they stay.
    are_elsewhere: AtomicBool,
}

impl Refusals {
    /// For a new database.
    pub(crate) fn new() -> Refusals {
        let before = AtomicUsize::new(ra_ap_parser::refused());
        Refusals(Arc::new(State { before, ..State::default() }))
    }

    /// Whether the code may have one.
    pub(crate) fn are_possible(&self) -> bool {
        ra_ap_parser::refused() > self.0.before.load(Ordering::Relaxed)
    }

    /// After all files of the workspace were read: looks whether there still are any.
    pub(crate) fn review(&self, has_any: impl FnOnce() -> bool) {
        let is_first = !self.0.is_reviewed.swap(true, Ordering::Relaxed);
        let count = ra_ap_parser::refused();
        if !self.are_possible() || has_any() {
            return;
        }
        // Later ones come of changes, and these are all in the workspace.
        self.0.are_elsewhere.fetch_or(is_first, Ordering::Relaxed);
        if !self.0.are_elsewhere.load(Ordering::Relaxed) {
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
