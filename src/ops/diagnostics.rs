//! `diagnostics`: what is wrong in a file or in the workspace.

use super::ask::{Ask, Reply, ask, not_indexed};
use super::open::text_of;
use crate::model::{Answer, Diagnostic, Meta, Missing, MissingCode, Result, Severity};
use crate::workspace::Workspace;

const MOST: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiagnosticsQuery {
    /// Absent: the whole workspace.
    pub file: Option<String>,
    /// The least severity that is reported; warnings where none is named.
    pub severity: Option<Severity>,
    pub max: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiagnosticList {
    pub items: Vec<Diagnostic>,
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    pub hints: usize,
    pub total: usize,
}

pub async fn diagnostics(
    workspace: &Workspace,
    query: &DiagnosticsQuery,
    asked: &Ask,
) -> Result<Reply<DiagnosticList>> {
    let file = query.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let first = workspace.snapshot(asked.needs(None, false)).await?;
    if let Some(file) = &file {
        text_of(&first.files, file)?;
    }
    let languages = match &file {
        Some(file) => workspace.language_of(file).into_iter().collect(),
        None => workspace.status().languages,
    };
    let mut found = Vec::new();
    let mut meta = workspace.meta(None, first.revision, Default::default());
    if let Some(name) = file.as_deref().filter(|_| languages.is_empty()) {
        let detail = "no engine analyses this kind of file, so nothing is known of it";
        meta.coverage.lacks(Missing::new(MissingCode::Unsupported, name, detail));
    }
    for language in languages {
        let reply = ask(workspace, asked.needs(Some(language), true), None, |it| {
            let file = file.clone();
            async move {
                if let Some(file) = &file {
                    text_of(&it.files, file)?;
                }
                match it.view {
                    Some(view) => view.diagnostics(file.into_iter().collect(), it.deadlines).await,
                    None => Ok(Answer::lacking(Vec::new(), not_indexed(language))),
                }
            }
        })
        .await?;
        found.extend(reply.value);
        meta = joined(meta, reply.meta);
    }
    Ok(Reply { value: list(found, query), meta })
}

/// The later revision, and what either lacks.
fn joined(first: Meta, second: Meta) -> Meta {
    let mut coverage = first.coverage;
    coverage.absorb(second.coverage);
    Meta { coverage, ..second }
}

fn list(mut found: Vec<Diagnostic>, query: &DiagnosticsQuery) -> DiagnosticList {
    let least = query.severity.unwrap_or(Severity::Warning);
    let count = |severity| found.iter().filter(|it| it.severity == severity).count();
    let mut list = DiagnosticList {
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        infos: count(Severity::Info),
        hints: count(Severity::Hint),
        ..DiagnosticList::default()
    };
    found.retain(|it| it.severity <= least);
    found.sort_by(|a, b| (a.severity, &a.place).cmp(&(b.severity, &b.place)));
    list.total = found.len();
    found.truncate(query.max.unwrap_or(MOST));
    list.items = found;
    list
}
