//! `undo`: undoes one change exactly, or not at all.

use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::query::RequestOptions;
use super::undo_commit::undo_commit;
use semdex_contract::{ChangeReport, OnBreak, UndoRequest};
use semdex_model::{Code, Error, FileEdit, Help, Result};
use semdex_text::diff::unified;
use semdex_workspace::journal::{Entry, EntryFile};
use semdex_workspace::{Cause, Undone, Workspace};

pub(crate) async fn undo(
    workspace: &Workspace,
    request: UndoRequest,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let dry_run = request.dry_run.unwrap_or_default();
    match (request.change, request.commit) {
        (Some(change), None) => undo_change(workspace, &change, dry_run, options).await,
        (None, Some(commit)) => undo_commit(workspace, &commit, dry_run, options).await,
        (Some(_), Some(_)) => Err(invalid("give `change` or `commit`, not both")),
        (None, None) => Err(invalid("missing field `change`: say which change, or which `commit`")),
    }
}

fn invalid(detail: &str) -> Error {
    Error::new(Code::InvalidRequest, detail)
}

pub(super) async fn undo_change(
    workspace: &Workspace,
    change: &str,
    dry_run: bool,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let entry = made(workspace, change).await?;
    take_back(workspace, &entry, dry_run, options).await
}

pub(super) async fn made(workspace: &Workspace, change: &str) -> Result<Entry> {
    // Tokens are printed in upper case, and accepted in any case.
    let token = change.trim().to_ascii_uppercase();
    workspace.made(&token).await?.ok_or_else(|| {
        let detail = format!(
            "the journal has no change `{change}` of this workspace: `changes` lists those that can be taken back",
        );
        Error::new(Code::UnknownChange, detail)
    })
}

pub(super) async fn take_back(
    workspace: &Workspace,
    entry: &Entry,
    dry_run: bool,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let came_back = entry.files.iter().filter(|it| it.new.is_none());
    let gone = entry.files.iter().filter(|it| it.old.is_none());
    let undone = Undone {
        change: Some(entry.id.clone()),
        modes: came_back.filter_map(|it| Some((it.file.clone(), it.mode?))).collect(),
        made_directories: gone.map(|it| (it.file.clone(), it.made_directories)).collect(),
    };
    let mode = Mode { undoes: Some(undone), ..Mode::new(Cause::Undo, dry_run, OnBreak::Report) };
    apply_change(workspace, options, mode, || plan(workspace, entry, options)).await
}

/// Every file must have the content that the change left.
async fn plan(workspace: &Workspace, entry: &Entry, options: &RequestOptions) -> Result<Plan> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let mut moved = Vec::new();
    let mut edits = Vec::new();
    for file in &entry.files {
        let now = match snapshot.files.get(&file.file) {
            Some(known) => Some(known.text.clone()),
            None => workspace.read_if_there(&file.file)?.map(Arc::from),
        };
        if now != file.new {
            moved.push((file, now));
        }
        edits.push(FileEdit { file: file.file.clone(), old: file.new.clone(), new: file.old.clone() });
    }
    if moved.is_empty() { Ok(Plan::new(edits, Vec::new())) } else { Err(moved_on(entry, &moved)) }
}

/// The error for files that others changed since, with a diff from the content that the change left.
fn moved_on(entry: &Entry, moved: &[(&EntryFile, Option<Arc<str>>)]) -> Error {
    let names: Vec<String> = moved.iter().map(|(file, _)| format!("`{}`", file.file)).collect();
    let (what, is) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    let why = match &entry.undone_by {
        Some(by) => format!("it was taken back already, by `{by}`; to have it again, undo that"),
        None => format!(
            "look at `diff`, and change {is} by an edit, or take back first what came later (`changes` lists it by `file`)"
        ),
    };
    let detail =
        format!("nothing was changed: {} {what} not what the change `{}` left: {why}", names.join(", "), entry.id);
    let diff = moved.iter().map(|(file, now)| unified(file.new.as_deref(), now.as_deref(), &file.file)).collect();
    let first = moved.first();
    let actual_hash =
        first.and_then(|(_, now)| now.as_ref()).map(|it| blake3::hash(it.as_bytes()).to_hex().to_string());
    let file = first.map(|(file, _)| file.file.clone());
    Error::new(Code::HashMismatch, detail).with_help(Help { actual_hash, file, diff: Some(diff), ..Help::default() })
}
