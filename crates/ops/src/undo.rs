//! `undo`: undoes one change, and keeps what others changed since; or refuses it as a whole.

use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::base::{Retry, merged};
use super::query::RequestOptions;
use super::undo_commit::undo_commit;
use semdex_contract::{ChangeReport, OnBreak, OnConflict, UndoRequest};
use semdex_model::{Code, Error, FileEdit, Help, Landed, Result, Span, Strategy};
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
        (Some(change), None) => {
            let entry = made(workspace, &change).await?;
            let merges = request.on_conflict.unwrap_or(OnConflict::Merge) == OnConflict::Merge;
            take_back(workspace, &entry, dry_run, merges, options).await
        }
        (None, Some(_)) if request.on_conflict == Some(OnConflict::Merge) => Err(invalid(
            "`on_conflict: \"merge\"` is for a `change`; a `commit` is undone if its files did not change since",
        )),
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
    take_back(workspace, &entry, dry_run, false, options).await
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

/// Undoes a change. `merges`: whether the changes that others made to its files since are kept; otherwise it is refused
/// if there are any.
pub(super) async fn take_back(
    workspace: &Workspace,
    entry: &Entry,
    dry_run: bool,
    merges: bool,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let came_back = entry.files.iter().filter(|it| it.new.is_none());
    let gone = entry.files.iter().filter(|it| it.old.is_none());
    let undone = Undone {
        change: Some(entry.id.clone()),
        modes: came_back.filter_map(|it| Some((it.file.clone(), it.mode?))).collect(),
        made_directories: gone.map(|it| (it.file.clone(), it.made_directories)).collect(),
    };
    let files = entry.files.iter().map(|it| it.file.clone()).collect();
    let mode = Mode { undoes: Some(undone), files, ..Mode::new(Cause::Undo, dry_run, OnBreak::Report) };
    apply_change(workspace, options, mode, || plan(workspace, entry, merges, options)).await
}

/// Every file gets the content that it had before the change, and keeps what others changed since.
async fn plan(workspace: &Workspace, entry: &Entry, merges: bool, options: &RequestOptions) -> Result<Plan> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let mut moved = Vec::new();
    let mut edits = Vec::new();
    for file in &entry.files {
        let now = match snapshot.files.get(&file.file) {
            Some(known) => Some(known.text.clone()),
            None => workspace.read_if_there(&file.file)?.map(Arc::from),
        };
        if now == file.new {
            edits.push(FileEdit { file: file.file.clone(), old: now, new: file.old.clone() });
        } else {
            moved.push((file, now));
        }
    }
    if moved.is_empty() {
        return Ok(Plan::new(edits, Vec::new()));
    }
    if !merges || entry.undone_by.is_some() {
        return Err(moved_on(entry, &moved));
    }
    let mut landed = Vec::new();
    for (file, now) in &moved {
        // A file that was made or deleted, by the change or since, is as it should be or not.
        let (Some(now), Some(before), Some(after)) = (now, &file.old, &file.new) else {
            return Err(moved_on(entry, &moved));
        };
        let present = workspace.file(&file.file, now.clone());
        let both = merged(&present, after, before, Retry::None)?;
        let result = workspace.file(&file.file, both.text);
        let place = |span: &Span| result.lines().place(&result.path, *span);
        let around = both.landed.iter().copied().reduce(|a, b| Span::new(a.start.min(b.start), a.end.max(b.end)));
        landed.push(Landed {
            merged: true,
            kept: both.kept.iter().map(place).collect(),
            ..Landed::as_sent(Strategy::Whole, 100.0, place(&around.unwrap_or_default()))
        });
        edits.push(FileEdit { file: file.file.clone(), old: Some(now.clone()), new: Some(result.text.clone()) });
    }
    Ok(Plan::new(edits, landed))
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
