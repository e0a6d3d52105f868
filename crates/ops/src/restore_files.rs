//! Undoes several changes as far as possible, and keeps what others wrote in between.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::apply_change::{Mode, Plan, apply_change};
use super::client::Client;
use super::query::RequestOptions;
use super::undo::{made, take_back};
use semdex_contract::{Common, OnBreak};
use semdex_model::{Code, FileEdit, Result};
use semdex_text::merge::merge;
use semdex_workspace::journal::Entry;
use semdex_workspace::{Cause, Undone, Workspace};

/// Restores the files of these changes, given in their order, and undoes each change in the journal. If others changed
/// a file since, their lines stay and the lines of the changes are reverted; on a conflict the file stays as it is.
/// Returns the files that were not restored.
pub async fn restore_files(workspace: &Workspace, changes: &[String], client: Option<String>) -> Result<Vec<String>> {
    let options = RequestOptions::new(&Common::default(), Client { name: client, ..Client::default() })?;
    for (at, change) in changes.iter().enumerate().rev() {
        let entry = made(workspace, change).await?;
        if entry.undone_by.is_some() {
            continue;
        }
        match Box::pin(take_back(workspace, &entry, false, false, &options)).await {
            Ok(_) => {}
            Err(error) if error.code == Code::HashMismatch => {
                return Box::pin(partly(workspace, changes.get(..=at).unwrap_or_default(), &options)).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}

/// The content of a file before the first change and after the last.
#[derive(Default)]
struct Span {
    before: Option<Arc<str>>,
    after: Option<Arc<str>>,
}

async fn partly(workspace: &Workspace, changes: &[String], options: &RequestOptions) -> Result<Vec<String>> {
    let mut entries: Vec<Entry> = Vec::new();
    for change in changes {
        entries.extend(Some(made(workspace, change).await?).filter(|it| it.undone_by.is_none()));
    }
    let mut spans: BTreeMap<String, Span> = BTreeMap::new();
    let mut undone = Undone::default();
    for entry in &entries {
        undone.change = Some(entry.id.clone());
        for file in &entry.files {
            let first = || Span { before: file.old.clone(), after: None };
            spans.entry(file.file.clone()).or_insert_with(first).after.clone_from(&file.new);
            if let Some(mode) = file.mode.filter(|_| file.new.is_none()) {
                undone.modes.entry(file.file.clone()).or_insert(mode);
            }
            if file.old.is_none() {
                undone.made_directories.entry(file.file.clone()).or_insert(file.made_directories);
            }
        }
    }
    let left = Mutex::new(Vec::new());
    let mode = Mode { undoes: Some(undone), ..Mode::new(Cause::Undo, false, OnBreak::Report) };
    apply_change(workspace, options, mode, || async {
        let (plan, stays) = plan(workspace, &spans, options).await?;
        *left.lock().unwrap_or_else(PoisonError::into_inner) = stays;
        Ok(plan)
    })
    .await?;
    Ok(left.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The plan to restore files, and the files that cannot be restored.
async fn plan(
    workspace: &Workspace,
    spans: &BTreeMap<String, Span>,
    options: &RequestOptions,
) -> Result<(Plan, Vec<String>)> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let (mut edits, mut stays) = (Vec::new(), Vec::new());
    for (file, span) in spans {
        let now = match snapshot.files.get(file) {
            Some(known) => Some(known.text.clone()),
            None => workspace.read_if_there(file)?.map(Arc::from),
        };
        let new = if now == span.after {
            span.before.clone()
        } else if now == span.before {
            continue;
        } else if let (Some(now), Some(before), Some(after)) = (&now, &span.before, &span.after)
            && let Ok(merged) = merge(after, before, now)
        {
            Some(merged.text.into())
        } else {
            stays.push(file.clone());
            continue;
        };
        edits.push(FileEdit { file: file.clone(), old: now, new });
    }
    Ok((Plan::new(edits, Vec::new()), stays))
}
