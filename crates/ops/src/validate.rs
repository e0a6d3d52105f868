//! Findings in written text, from the diagnostics of the engines after the change: syntax errors, unresolved imports
//! and names with similar names, and wrong arguments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply_change::Plan;
use super::query::{RequestOptions, WithMeta, not_indexed, run_query};
use semdex_contract::{Finding, FindingKind};
use semdex_engine::files::File;
use semdex_engine::{Suggested, Unknown};
use semdex_model::{Answer, Diagnostic, FileEdit, LanguageId};
use semdex_text::diff::OffsetMap;
use semdex_workspace::Workspace;

/// How many syntax errors are reported. Later ones are usually consequences of the first.
const MOST_SYNTAX: usize = 10;
/// For how many names suggestions are searched.
const MOST_ASKED: usize = 12;
const MOST_SUGGESTED: usize = 5;
/// The deadline for suggestions.
const PATIENCE: Duration = Duration::from_secs(3);

/// The findings in one changed file, from its new diagnostics.
pub(super) fn of(workspace: &Workspace, edit: &FileEdit, new: &[Diagnostic]) -> Vec<Finding> {
    let (Some(language), Some(text)) = (workspace.language_of(&edit.file), &edit.new) else { return Vec::new() };
    let file = File::new(Some(language), edit.file.as_str(), text.clone());
    let mut findings = Vec::new();
    let errors = &file.outline().errors;
    let old_errors = || edit.old.as_deref().map_or(0, |old| language.syntax.outline(old).errors.len());
    if !errors.is_empty() && errors.len() > old_errors() {
        findings.extend(errors.iter().take(MOST_SYNTAX).map(|error| {
            let line = file.lines().line(error.span.start.min(text.len()));
            Finding {
                kind: FindingKind::Syntax,
                file: edit.file.clone(),
                line,
                text: file.lines().line_text(text, line).trim().to_owned(),
                detail: error.message.clone(),
                suggestions: Vec::new(),
            }
        }));
    }
    let back = OffsetMap::new(text, edit.old.as_deref().unwrap_or_default());
    for diagnostic in new.iter().filter(|it| it.place.file == edit.file) {
        let Some(kind) = kind(language, diagnostic, &file) else { continue };
        // Errors in unchanged text are broken places, not findings. An exception is an import that became unused.
        if kind != FindingKind::UnusedImport && back.is_untouched(diagnostic.place.span()) {
            continue;
        }
        findings.push(Finding {
            kind,
            file: edit.file.clone(),
            line: diagnostic.place.line,
            text: named(diagnostic, &file, kind),
            detail: diagnostic.message.clone(),
            suggestions: Vec::new(),
        });
    }
    findings
}

fn kind(language: LanguageId, diagnostic: &Diagnostic, file: &File) -> Option<FindingKind> {
    let in_import = || file.outline().imports.iter().any(|it| it.span.contains(diagnostic.place.start));
    match FindingKind::from(language.syntax.finding(diagnostic.code.as_deref()?)?) {
        FindingKind::UnknownSymbol if in_import() => Some(FindingKind::UnknownImport),
        kind => Some(kind),
    }
}

/// The name that a diagnostic is about: the import as written, otherwise the whole path around its place.
fn named(diagnostic: &Diagnostic, file: &File, kind: FindingKind) -> String {
    let text = &*file.text;
    let place = diagnostic.place.span();
    if matches!(kind, FindingKind::UnknownImport | FindingKind::UnusedImport) {
        let imports = &file.outline().imports;
        let around = |it: &&semdex_model::Import| it.span.contains(place.start) || it.line == diagnostic.place.line;
        if let Some(import) = imports.iter().find(around) {
            return import.path.clone();
        }
    }
    let Some(there) = text.get(place.start..place.end) else { return String::new() };
    if kind == FindingKind::WrongArguments || there.contains(char::is_whitespace) {
        return there.lines().next().unwrap_or_default().to_owned();
    }
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | ':');
    let before = text[..place.start]
        .rfind(|it| !is_part(it))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    text[before..place.end].trim_start_matches(['.', ':']).to_owned()
}

/// Adds similar names from the engines.
pub(super) async fn suggest(workspace: &Workspace, options: &RequestOptions, plan: &Plan, findings: &mut [Finding]) {
    let until = Instant::now() + PATIENCE;
    let unknown = |it: &&mut Finding| matches!(it.kind, FindingKind::UnknownImport | FindingKind::UnknownSymbol);
    for finding in findings.iter_mut().filter(unknown).take(MOST_ASKED) {
        let Some(language) = workspace.language_of(&finding.file).filter(|_| Instant::now() < until) else { continue };
        let text = plan.edits.iter().find(|it| it.file == finding.file).and_then(|it| it.new.clone());
        let unknown = Unknown {
            file: Arc::new(workspace.file(&finding.file, text.unwrap_or_default())),
            name: finding.text.clone(),
            is_import: finding.kind == FindingKind::UnknownImport,
        };
        let found = run_query(workspace, options.needs(Some(language), true), None, |it| {
            let unknown = unknown.clone();
            async move {
                match it.view {
                    Some(view) => view.suggest(unknown, it.deadlines).await,
                    None => Ok(Answer::lacking(Suggested::default(), not_indexed(workspace, language))),
                }
            }
        });
        let Ok(WithMeta { value: Suggested { detail, suggestions }, .. }) = found.await else { continue };
        if let Some(detail) = detail {
            finding.detail = detail;
        }
        finding.suggestions = suggestions.into_iter().take(MOST_SUGGESTED).collect();
    }
}
