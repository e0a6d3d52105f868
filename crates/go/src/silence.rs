//! What it says that a finding is gone: nothing, where what found it could not run. Analyzers pass over a package
//! with errors, and the type checker is not heard in a file that does not parse.

use std::collections::HashMap;

use super::layout::Layout;
use super::names::is_test_file;
use semdex_model::{ChangeImpact, Diagnostic, Severity};

/// How gopls signs what its parser finds.
const PARSER: &str = "syntax";

/// One state of the files, and what was found there.
#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    pub layout: &'a Layout,
    pub found: &'a HashMap<String, Vec<Diagnostic>>,
}

impl State<'_> {
    fn has(&self, file: &str, what: impl Fn(&Diagnostic) -> bool) -> bool {
        self.found.get(file).is_some_and(|found| found.iter().any(what))
    }

    /// Whether a file's package, or one that it imports, has errors. Those of its tests do not touch the rest.
    fn is_broken(&self, file: &str) -> bool {
        let is_error = |it: &Diagnostic| it.severity == Severity::Error;
        let meaning = self.layout.meaning_of(file);
        meaning.iter().filter(|it| is_test_file(file) || !is_test_file(it)).any(|it| self.has(it, is_error))
    }

    /// Whether something of this kind would not be found in this file, were it there.
    fn is_silent(&self, diagnostic: &Diagnostic) -> bool {
        let file = &diagnostic.place.file;
        match diagnostic.severity {
            Severity::Error => diagnostic.source != PARSER && self.has(file, |it| it.source == PARSER),
            _ => self.is_broken(file),
        }
    }
}

/// Takes from what is fixed that which is merely not looked for any more, and from what is new that which was not
/// looked for before, unless it stands on a line that the edit wrote.
pub(crate) fn discount(
    [before, after]: [State; 2],
    change_impact: &mut ChangeImpact,
    is_written: impl Fn(&Diagnostic) -> bool,
) {
    // What was found in spite of errors can be found in spite of errors.
    let is_silenced = |it: &Diagnostic| after.is_silent(it) && !before.is_silent(it);
    let is_heard = |it: &Diagnostic| before.is_silent(it) && !after.is_silent(it);
    change_impact.fixed.retain(|it| !is_silenced(it));
    change_impact.new.retain(|it| it.severity == Severity::Error || !is_heard(it) || is_written(it));
}
