//! Macros whose output is nested too deeply to be parsed: whether the code still has any.
//!
//! The parser only counts them, since it does not know which call it works for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use semdex_model::{Missing, MissingCode};

/// What is known of them since the database was created.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The parser's count when there was none.
    before: AtomicUsize,
    /// All files were read since the last change.
    is_reviewed: AtomicBool,
    was_reviewed: AtomicBool,
    /// Some are outside of the workspace, for example in dependencies: they stay.
    are_elsewhere: AtomicBool,
}

impl Refusals {
    /// For a new database.
    pub(crate) fn new() -> Refusals {
        let before = AtomicUsize::new(ra_ap_parser::refused());
        Refusals(Arc::new(State { before, ..State::default() }))
    }

    /// A text has changed.
    pub(crate) fn note_change(&self) {
        self.0.is_reviewed.store(false, Ordering::Relaxed);
    }

    /// What is missing from answers.
    pub(crate) fn missing(&self) -> Option<Missing> {
        const DETAIL: &str = "what some macros expand to is nested too deeply to be analysed: it is taken for an error";
        self.are_possible().then(|| match self.0.is_reviewed.load(Ordering::Relaxed) {
            true => Missing::new(MissingCode::Unsupported, "rust", DETAIL),
            // An answer with another code would be kept for as long as no text changes.
            false => Missing::being_read("rust", format!("{DETAIL}; whether they still do is being read")),
        })
    }

    fn are_possible(&self) -> bool {
        ra_ap_parser::refused() > self.0.before.load(Ordering::Relaxed)
    }

    /// After all files of the workspace were read: looks whether there still are any.
    pub(crate) fn review(&self, has_any: impl FnOnce() -> bool) {
        let is_first = !self.0.was_reviewed.swap(true, Ordering::Relaxed);
        let count = ra_ap_parser::refused();
        if self.are_possible() && !has_any() {
            // Later ones come of changes, and these are all in the workspace.
            self.0.are_elsewhere.fetch_or(is_first, Ordering::Relaxed);
            if !self.0.are_elsewhere.load(Ordering::Relaxed) {
                self.0.before.store(count, Ordering::Relaxed);
            }
        }
        self.0.is_reviewed.store(true, Ordering::Relaxed);
    }
}
