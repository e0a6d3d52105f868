//! What is wrong with new content, by what the engines say of the state after it: its syntax, what it imports or names
//! that is not there, with the nearest that is, and what it passes to whom.

use std::time::{Duration, Instant};

use super::apply_change::Plan;
use super::ask::{Ask, ask, not_indexed};
use crate::contract::{Finding, FindingKind};
use crate::lang::files::File;
use crate::lang::view::View;
use crate::lang::{go, rust};
use crate::model::{Answer, Code, Diagnostic, FileEdit, LanguageId, Symbol, SymbolQuery};
use crate::text::diff::OffsetMap;
use crate::workspace::Workspace;

/// Syntax errors that are told; the first ones explain the others.
const MOST_SYNTAX: usize = 10;
/// Names whose nearest is looked for.
const MOST_ASKED: usize = 12;
const MOST_SUGGESTED: usize = 5;
/// Suggestions are worth no more.
const PATIENCE: Duration = Duration::from_secs(3);
/// A package that exports no more than this is told in full.
const FEW: usize = 4;
const LEAST_LIKENESS: f64 = 0.5;

/// What the diagnostics say that a change of one file brings.
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
        // What is wrong with the rest is what the edit breaks; only an import may be useless for what was written.
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

/// The name that a diagnostic speaks of: the import as it is written, else the whole path around its place.
fn named(diagnostic: &Diagnostic, file: &File, kind: FindingKind) -> String {
    let text = &*file.text;
    let place = diagnostic.place.span();
    if matches!(kind, FindingKind::UnknownImport | FindingKind::UnusedImport) {
        let imports = &file.outline().imports;
        let around = |it: &&crate::model::Import| it.span.contains(place.start) || it.line == diagnostic.place.line;
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

/// Adds the nearest that there is, as the engines know it.
pub(super) async fn suggest(workspace: &Workspace, asked: &Ask, plan: &Plan, findings: &mut [Finding]) {
    let until = Instant::now() + PATIENCE;
    let unknown = |it: &&mut Finding| matches!(it.kind, FindingKind::UnknownImport | FindingKind::UnknownSymbol);
    for finding in findings.iter_mut().filter(unknown).take(MOST_ASKED) {
        let Some(language) = workspace.language_of(&finding.file).filter(|_| Instant::now() < until) else { continue };
        let text = plan.edits.iter().find(|it| it.file == finding.file).and_then(|it| it.new.clone());
        let file = File::new(Some(language), finding.file.as_str(), text.unwrap_or_default());
        match language {
            it if it == go::LANGUAGE => of_go(workspace, asked, &file, finding).await,
            _ => of_rust(workspace, asked, finding).await,
        }
    }
}

async fn of_rust(workspace: &Workspace, asked: &Ask, finding: &mut Finding) {
    let path = finding.text.trim_start_matches("crate::").trim_start_matches("super::").trim_start_matches("self::");
    if path.is_empty() || path.contains(char::is_whitespace) {
        return;
    }
    let query = SymbolQuery { symbol: path.to_owned(), package: None, file: None };
    let needs = asked.needs(Some(rust::LANGUAGE), true);
    let found = ask(workspace, needs, None, |it| {
        let query = query.clone();
        async move {
            let Some(view) = it.view else { return Ok(Answer::lacking(Vec::new(), not_indexed(rust::LANGUAGE))) };
            match view.resolve(query).await {
                // It is there by another path than was written.
                Ok(symbol) => Ok(Answer::whole(vec![symbol.path])),
                Err(crate::lang::Stop::Failed(error)) => Ok(Answer::whole(error.help.suggestions)),
                Err(stale) => Err(stale),
            }
        }
    });
    if let Ok(reply) = found.await {
        finding.suggestions = reply.value.into_iter().take(MOST_SUGGESTED).collect();
    }
}

/// `auth.SignIn`, where the file imports `…/auth`: what that package exports.
async fn of_go(workspace: &Workspace, asked: &Ask, file: &File, finding: &mut Finding) {
    let import = match finding.kind {
        FindingKind::UnknownImport => None,
        _ => finding.text.split_once('.').and_then(|(local, name)| {
            let is_it = |it: &&crate::model::Import| match &it.alias {
                Some(alias) => alias == local,
                None => it.path.rsplit('/').next() == Some(local),
            };
            Some((file.outline().imports.iter().find(is_it)?.path.clone(), local.to_owned(), name.to_owned()))
        }),
    };
    let needs = asked.needs(Some(go::LANGUAGE), true);
    let package = match &import {
        Some((path, ..)) => path.clone(),
        None if finding.kind == FindingKind::UnknownImport => finding.text.clone(),
        None => return,
    };
    let found = ask(workspace, needs, None, |it| {
        let package = package.clone();
        async move {
            let Some(View::Go(view)) = it.view else {
                return Ok(Answer::lacking((Vec::new(), Vec::new()), not_indexed(go::LANGUAGE)));
            };
            match view.package(&package) {
                Ok(found) => Ok(Answer::whole((exported(&found.value.symbols), Vec::new()))),
                Err(crate::lang::Stop::Failed(error)) if error.code == Code::UnknownPackage => {
                    Ok(Answer::whole((Vec::new(), error.help.suggestions)))
                }
                Err(stop) => Err(stop),
            }
        }
    });
    let Ok(reply) = found.await else { return };
    let (names, packages) = reply.value;
    match import {
        Some((_, local, name)) if !names.is_empty() => {
            finding.detail = if names.len() <= FEW {
                let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
                format!("you used `{local}.{name}`, but package `{local}` only exports {}", names.join(", "))
            } else {
                format!("you used `{local}.{name}`, but package `{local}` exports no `{name}`")
            };
            finding.suggestions = nearest(&names, &name);
        }
        _ => finding.suggestions = packages.into_iter().take(MOST_SUGGESTED).collect(),
    }
}

fn exported(symbols: &[Symbol]) -> Vec<String> {
    let public = symbols.iter().filter(|it| it.public && !it.test);
    let mut names: Vec<String> = public.map(|it| it.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// What is alike, the likeliest first; all of a few.
fn nearest(names: &[String], asked: &str) -> Vec<String> {
    let likeness = |it: &str| strsim::jaro_winkler(&it.to_lowercase(), &asked.to_lowercase());
    let mut ranked: Vec<(f64, &String)> = names.iter().map(|it| (likeness(it), it)).collect();
    ranked.retain(|(likeness, _)| *likeness >= LEAST_LIKENESS || names.len() <= FEW);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.into_iter().take(MOST_SUGGESTED).map(|(_, it)| it.clone()).collect()
}
