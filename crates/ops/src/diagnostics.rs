//! `diagnostics`: the diagnostics of a file or of the workspace.

use std::collections::BTreeMap;

use super::compiler_confirmation::confirm;
use super::open::text_of;
use super::query::{RequestOptions, not_indexed, run_query};
use super::{fixes, unanalysed_files};
use semdex_contract::{Counts, DiagnosticsFormat, DiagnosticsQuery, DiagnosticsReply};
use semdex_model::{Answer, Coverage, Diagnostic, LanguageId, Meta, Result};
use semdex_workspace::Workspace;
use semdex_workspace::statistics::Seen;

const MOST: usize = 1000;

pub(crate) async fn diagnostics(
    workspace: &Workspace,
    request: DiagnosticsQuery,
    options: &RequestOptions,
) -> Result<DiagnosticsReply> {
    let severities = request.severities()?;
    let file = request.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let Collected { mut diagnostics, mut meta, .. } = find(workspace, &Vec::from_iter(file), options).await?;
    diagnostics.retain(|it| request.takes(&it.diagnostic.source));
    let counts = counts(&diagnostics);
    diagnostics.retain(|it| severities.contains(&it.diagnostic.severity));
    gravest_first(&mut diagnostics);
    let total = diagnostics.len();
    diagnostics.truncate(request.max.unwrap_or(total));
    let most = if request.format == Some(DiagnosticsFormat::Sarif) { total } else { MOST };
    let page = options.page(diagnostics, most)?;
    let is_sarif = request.format == Some(DiagnosticsFormat::Sarif);
    let mut offered = Vec::new();
    if request.fixes == Some(true) && !is_sarif {
        let listed: Vec<&Diagnostic> = page.items.iter().map(|it| &it.diagnostic).collect();
        let (of_each, coverage) = fixes::of(workspace, &listed, options).await;
        offered = of_each;
        meta.coverage.absorb(coverage);
    }
    let mut offered = offered.into_iter();
    let lines = page.items.iter().map(|it| it.text.clone()).collect();
    let items = page.map(|it| {
        let mut item = semdex_contract::Diagnostic::from(it.diagnostic);
        item.fixes = offered.next().unwrap_or_default();
        item
    });
    let fallback = meta.coverage.fallback.clone();
    Ok(DiagnosticsReply { next_cursor: items.next_cursor(), items, counts, total, lines, fallback, meta: meta.into() })
}

/// A diagnostic and the text of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OnLine {
    pub(super) diagnostic: Diagnostic,
    pub(super) text: String,
}

/// The diagnostics of all engines at one moment.
pub(super) struct Collected {
    pub(super) diagnostics: Vec<OnLine>,
    /// The number of queried files.
    pub(super) files: usize,
    pub(super) meta: Meta,
}

/// The diagnostics of these files, or of all files if none is named.
pub(super) async fn find(workspace: &Workspace, files: &[String], options: &RequestOptions) -> Result<Collected> {
    let first = workspace.snapshot(options.needs(None, false)).await?;
    for file in files {
        text_of(&first.files, file)?;
    }
    let mut meta = workspace.meta(None, first.revision, Default::default());
    let mut of_language: Vec<(LanguageId, Vec<String>)> = Vec::new();
    if files.is_empty() {
        of_language = workspace.status().languages.into_iter().map(|it| (it, Vec::new())).collect();
        unanalysed_files::lack_of_workspace(workspace, &first.files).into_iter().for_each(|it| meta.coverage.lacks(it));
    }
    for file in files {
        let Some(language) = workspace.language_of(file) else {
            meta.coverage.lacks(unanalysed_files::lack_of_file(file));
            continue;
        };
        match of_language.iter_mut().find(|it| it.0 == language) {
            Some((_, named)) => named.push(file.clone()),
            None => of_language.push((language, vec![file.clone()])),
        }
    }
    let mut diagnostics = Vec::new();
    let mut count = files.len();
    drop(first.view);
    for (language, named) in of_language {
        let reply = run_query(workspace, options.needs_all(language), None, |it| {
            let named = named.clone();
            async move {
                for file in &named {
                    text_of(&it.files, file)?;
                }
                let count = it.files.of(language).count();
                let answer = match it.view {
                    Some(view) => view.diagnostics(named, it.deadlines).await?,
                    None => Answer::lacking(Vec::new(), not_indexed(workspace, language)),
                };
                Ok(answer.map(|found| {
                    let with_text = |diagnostic: Diagnostic| {
                        let file = it.files.get(&diagnostic.place.file);
                        let text = file.map(|it| it.lines().line_text(&it.text, diagnostic.place.line));
                        OnLine { text: text.unwrap_or_default().to_owned(), diagnostic }
                    };
                    (found.into_iter().map(with_text).collect::<Vec<_>>(), count)
                }))
            }
        })
        .await?;
        let (found, of_this) = reply.value;
        diagnostics.extend(found);
        if files.is_empty() {
            count += of_this;
        }
        meta = joined(meta, reply.meta);
    }
    if files.is_empty() {
        // The answer is about all languages: a language without its server does not degrade the rest.
        meta.state = workspace.meta(None, meta.revision, Coverage::default()).state;
    }
    if meta.revision == first.revision {
        confirm(workspace, &mut diagnostics, files, (&first.files, first.revision), options).await;
    }
    note(workspace, files, &diagnostics, &meta);
    Ok(Collected { diagnostics, files: count, meta })
}

/// The later revision, and what either is missing.
fn joined(first: Meta, second: Meta) -> Meta {
    let mut coverage = first.coverage;
    coverage.absorb(second.coverage);
    Meta { coverage, ..second }
}

/// Updates the statistics, if the answer is complete.
fn note(workspace: &Workspace, files: &[String], found: &[OnLine], meta: &Meta) {
    if !meta.coverage.complete {
        return;
    }
    if files.is_empty() {
        let mut by_file: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
        for it in found {
            by_file.entry(&it.diagnostic.place.file).or_default().push(&it.diagnostic);
        }
        let seen = by_file.into_iter().map(|(file, of_file)| (file, Seen::of(of_file.into_iter()))).collect();
        workspace.statistics().note_all(meta.revision, &seen);
    }
    for file in files {
        workspace.statistics().note(meta.revision, file, seen_in(found, file));
    }
}

/// The counts of a file for the statistics.
pub(super) fn seen_in(found: &[OnLine], file: &str) -> Seen {
    Seen::of(found.iter().map(|it| &it.diagnostic).filter(|it| it.place.file == file))
}

pub(super) fn counts(found: &[OnLine]) -> Counts {
    Counts::of(found.iter().map(|it| it.diagnostic.severity))
}

pub(super) fn gravest_first(found: &mut [OnLine]) {
    found.sort_by(|a, b| {
        let (a, b) = (&a.diagnostic, &b.diagnostic);
        (a.severity, &a.place).cmp(&(b.severity, &b.place))
    });
}
