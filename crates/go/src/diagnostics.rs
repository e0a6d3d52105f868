//! Diagnostics from gopls, by a request for each file; what gopls pushes is not used.

use std::collections::HashMap;

use gen_lsp_types::{Code, DiagnosticSeverity};

use super::answer_cache::Checked;
use super::cgo::{self, Doubts};
use super::queries::GoplsQueries;
use super::{lsp_conversion, unlisted_occurrences};
use semdex_engine::files::File;
use semdex_model::{Answer, Coverage, Diagnostic, Missing, MissingCode, Severity};

/// The diagnostics of these files, in their order. The coverage names files without an answer.
pub(crate) async fn of(queries: &GoplsQueries<'_>, files: &[String]) -> Answer<Vec<Diagnostic>> {
    let mut coverage = Coverage::default();
    let mut checked = queries.check_all(files.to_vec()).await;
    let (mut diagnostics, mut doubts) = (Vec::new(), Doubts::default());
    for path in files {
        let (Some(file), Some(checked)) = (queries.files.get(path), checked.remove(path)) else { continue };
        match checked {
            Ok(Checked::Known(found)) => {
                let mut found: Vec<Diagnostic> = found.iter().map(|it| translate(queries, file, it)).collect();
                doubts.remove_uncertain(queries, file, &mut found);
                diagnostics.extend(found);
            }
            Ok(Checked::Unknown(message)) => coverage.lacks(outside_the_build(queries, path, &message)),
            Err(failure) => failure.note(&mut coverage),
        }
    }
    doubts.report(&mut coverage);
    diagnostics.sort();
    diagnostics.dedup();
    Answer { value: diagnostics, coverage }
}

/// Explains why gopls does not know a file.
pub(crate) fn outside_the_build(queries: &GoplsQueries<'_>, file: &str, message: &str) -> Missing {
    if file.starts_with('/') {
        return Missing::new(MissingCode::Unsupported, file, format!("gopls did not answer: {message}"));
    }
    let asks = |it: &File| it.outline().imports.iter().any(|it| it.path == cgo::PSEUDO);
    let needs_cgo = queries.layout.needs_cgo(file) || queries.files.get(file).is_some_and(|it| asks(it));
    if needs_cgo && !queries.session.trusted {
        let detail = format!("{file} needs cgo, which runs only where the workspace is trusted");
        return Missing::new(MissingCode::Untrusted, file, detail);
    }
    if !queries.layout.is_active(file) {
        return unlisted_occurrences::left_out(file);
    }
    if let Some((manifest, error)) = queries.session.manifest_errors().into_iter().next() {
        return Missing::new(MissingCode::WorkspaceBroken, manifest, error);
    }
    Missing::new(MissingCode::NotInAPackage, file, format!("{file} is in no package of a module: {message}"))
}

pub(super) fn translate(queries: &GoplsQueries<'_>, file: &File, found: &gen_lsp_types::Diagnostic) -> Diagnostic {
    let place = lsp_conversion::place(file, found.range);
    Diagnostic {
        severity: match found.severity {
            Some(DiagnosticSeverity::Error) => Severity::Error,
            Some(DiagnosticSeverity::Warning) => Severity::Warning,
            Some(DiagnosticSeverity::Information) => Severity::Info,
            Some(DiagnosticSeverity::Hint) => Severity::Hint,
            // The protocol leaves the default to the client.
            _ => Severity::Error,
        },
        code: found.code.as_ref().map(|code| match code {
            Code::Int(number) => number.to_string(),
            Code::String(text) => text.clone(),
        }),
        message: lsp_conversion::message(found).to_owned(),
        source: found.source.clone().unwrap_or_else(|| "gopls".to_owned()),
        symbol: queries.layout.symbol_around(&file.path, place.start),
        confirmed: None,
        build: None,
        place,
    }
}

/// The diagnostics of many files, by file; failures go into the coverage.
pub(crate) async fn by_file(
    queries: &GoplsQueries<'_>,
    paths: Vec<String>,
    coverage: &mut Coverage,
) -> HashMap<String, Vec<Diagnostic>> {
    let (mut found, mut doubts) = (HashMap::new(), Doubts::default());
    for (path, checked) in queries.check_all(paths).await {
        let Some(file) = queries.files.get(&path) else { continue };
        match checked {
            Ok(Checked::Known(diagnostics)) => {
                let mut diagnostics = diagnostics.iter().map(|it| translate(queries, file, it)).collect();
                doubts.remove_uncertain(queries, file, &mut diagnostics);
                found.insert(path, diagnostics);
            }
            Ok(Checked::Unknown(message)) => coverage.lacks(outside_the_build(queries, &path, &message)),
            Err(failure) => failure.note(coverage),
        }
    }
    doubts.report(coverage);
    found
}
