//! Confirms or refutes the diagnostics of the engines with a background run of the compiler, and adds diagnostics that
//! only the compiler has.

use std::collections::BTreeSet;

use super::diagnostics::OnLine;
use super::query::RequestOptions;
use super::verify::{Located, name_symbols};
use semdex_engine::files::Files;
use semdex_model::{Diagnostic, Revision, Severity};
use semdex_workspace::Workspace;

/// Adds the results of the compiler for this revision, if there are any, to the diagnostics of these files (or of all
/// if none is named). An error that the compiler refutes becomes a hint.
pub(super) async fn confirm(
    workspace: &Workspace,
    found: &mut Vec<OnLine>,
    asked_about: &[String],
    (files, revision): (&Files, Revision),
    options: &RequestOptions,
) {
    let Some(confirmation) = workspace.confirmation(revision) else { return };
    let is_concerned = |file: &str| {
        let language = workspace.language_of(file);
        let is_asked = asked_about.is_empty() || asked_about.iter().any(|it| it == file);
        is_asked && language.is_some_and(|it| confirmation.languages.contains(&it))
    };
    let mut used = BTreeSet::new();
    // The compiler checks the default build.
    let checked = found.iter_mut().filter(|it| it.diagnostic.build.is_none());
    for OnLine { diagnostic, .. } in checked.filter(|it| is_concerned(&it.diagnostic.place.file)) {
        let same = confirmation.diagnostics.iter().position(|it| says_the_same(it, diagnostic));
        let is_vouched = confirmation.vouched.contains(&diagnostic.place.file);
        diagnostic.confirmed = match same {
            Some(_) => Some(true),
            None if is_vouched && diagnostic.severity <= Severity::Warning => Some(false),
            None => None,
        };
        used.extend(same);
        if diagnostic.confirmed == Some(false) && diagnostic.severity == Severity::Error {
            diagnostic.severity = Severity::Hint;
        }
    }
    let rest = confirmation.diagnostics.iter().enumerate();
    let rest = rest.filter(|(at, it)| !used.contains(at) && is_concerned(&it.place.file));
    let mut added: Vec<Diagnostic> = rest.map(|(_, it)| it.clone()).collect();
    let mut located: Vec<Located<'_>> = added.iter_mut().map(Located::from).collect();
    name_symbols(workspace, &mut located, options).await;
    for diagnostic in added {
        let file = files.get(&diagnostic.place.file);
        let text = file.map(|it| it.lines().line_text(&it.text, diagnostic.place.line).to_owned());
        found.push(OnLine { text: text.unwrap_or_default(), diagnostic });
    }
}

/// Whether a diagnostic of the compiler equals one of the engine: same severity and same line, and same code unless
/// both are errors.
fn says_the_same(compilers: &Diagnostic, engines: &Diagnostic) -> bool {
    let same_place = (&compilers.place.file, compilers.place.line) == (&engines.place.file, engines.place.line);
    let same_kind = compilers.severity == engines.severity;
    // An analyzer that several tools run may be the `code` of one diagnostic and the `source` of the second.
    let same_code = compilers.code == engines.code || compilers.code.as_deref() == Some(&*engines.source);
    same_place && same_kind && (compilers.severity == Severity::Error || same_code)
}
