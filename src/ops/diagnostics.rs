//! `diagnostics`: what is wrong in a file or in the workspace.

use super::ask::{Ask, ask, not_indexed};
use super::open::text_of;
use crate::contract::{Counts, DiagnosticsQuery, DiagnosticsReply, list};
use crate::model::{Answer, Diagnostic, Meta, Missing, MissingCode, Result, Severity};
use crate::workspace::Workspace;

const MOST: usize = 1000;

pub async fn diagnostics(workspace: &Workspace, request: DiagnosticsQuery, asked: &Ask) -> Result<DiagnosticsReply> {
    let file = request.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
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
    reply(found, &request, asked, meta)
}

/// The later revision, and what either lacks.
fn joined(first: Meta, second: Meta) -> Meta {
    let mut coverage = first.coverage;
    coverage.absorb(second.coverage);
    Meta { coverage, ..second }
}

/// The gravest first.
fn reply(mut found: Vec<Diagnostic>, request: &DiagnosticsQuery, asked: &Ask, meta: Meta) -> Result<DiagnosticsReply> {
    let least = request.severity.map_or(Severity::Warning, Severity::from);
    let count = |severity| found.iter().filter(|it| it.severity == severity).count();
    let counts = Counts {
        error: count(Severity::Error),
        warning: count(Severity::Warning),
        info: count(Severity::Info),
        hint: count(Severity::Hint),
    };
    found.retain(|it| it.severity <= least);
    found.sort_by(|a, b| (a.severity, &a.place).cmp(&(b.severity, &b.place)));
    let total = found.len();
    found.truncate(request.max.unwrap_or(total));
    let items = asked.page(list(found), MOST)?;
    Ok(DiagnosticsReply { next_cursor: items.next_cursor(), items, counts, total, meta: meta.into() })
}
