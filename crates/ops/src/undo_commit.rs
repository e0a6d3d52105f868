//! `undo` of a commit: reverts it as an ordinary change, and commits the result.

use std::sync::Arc;

use super::apply_change::{Mode, Plan, apply_change};
use super::commit_message::revert;
use super::query::RequestOptions;
use super::undo::undo_change;
use semdex_contract::{ChangeReport, OnBreak};
use semdex_model::{Code, Error, FileEdit, Help, Result};
use semdex_text::diff::unified;
use semdex_workspace::git::{Altered, Dirty, Held, Order, Part, Reverse, Wanted};
use semdex_workspace::{Cause, Undone, Workspace};

pub(crate) async fn undo_commit(
    workspace: &Workspace,
    commit: &str,
    dry_run: bool,
    options: &RequestOptions,
) -> Result<ChangeReport> {
    let git = workspace.git();
    let trusted = workspace.is_trusted();
    // Obstacles to the commit are detected before anything is changed.
    git.check_ready(trusted).await?;
    let reverse = git.reverse(trusted, commit.trim().to_owned()).await?;
    let came_back = reverse.files.iter().filter_map(|it| Some((it.file.clone(), it.mode?)));
    let gone = reverse.files.iter().filter(|it| it.text.is_none());
    let undone = Undone {
        change: None,
        modes: came_back.collect(),
        made_directories: gone.map(|it| (it.file.clone(), it.made_directories)).collect(),
    };
    let mode = Mode { undoes: Some(undone), ..Mode::new(Cause::Undo, dry_run, OnBreak::Report) };
    let mut report = apply_change(workspace, options, mode, || plan(workspace, &reverse, options)).await?;
    let Some(change) = report.change.clone().filter(|_| report.applied) else { return Ok(report) };
    match git.commit(trusted, order(workspace, &reverse)).await {
        Ok(made) => {
            report.commit = Some(made.commit);
            Ok(report)
        }
        Err(error) => Err(taken_back(workspace, &change, error, options).await),
    }
}

/// Every file must have the content that the commit left.
async fn plan(workspace: &Workspace, reverse: &Reverse, options: &RequestOptions) -> Result<Plan> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let mut edits = Vec::new();
    let mut expected = Vec::new();
    for file in &reverse.files {
        let now: Option<Arc<str>> = match snapshot.files.get(&file.file) {
            Some(known) => Some(known.text.clone()),
            None => workspace.read_if_there(&file.file)?.map(Arc::from),
        };
        expected.push(Held { file: file.file.clone(), text: now.clone(), object: file.left.clone() });
        edits.push(FileEdit { file: file.file.clone(), old: now, new: file.text.clone() });
    }
    let Some(moved) = workspace.git().mismatch(workspace.is_trusted(), expected).await? else {
        return Ok(Plan::new(edits, Vec::new()));
    };
    let edit = edits.iter().find(|it| it.file == moved);
    let now = edit.and_then(|it| it.old.clone());
    let help = Help {
        actual_hash: now.as_ref().map(|it| blake3::hash(it.as_bytes()).to_hex().to_string()),
        diff: edit.map(|it| unified(it.new.as_deref(), it.old.as_deref(), &it.file)),
        file: Some(moved.clone()),
        ..Help::default()
    };
    let detail = format!("nothing was changed: `{moved}` changed since {}", reverse.commit);
    Err(Error::new(Code::HashMismatch, detail).with_help(help))
}

fn order(workspace: &Workspace, reverse: &Reverse) -> Order {
    let wanted = |file: &str| Wanted { file: file.to_owned(), named: false, leads_to: None, before: None };
    let files = reverse.files.iter().map(|it| wanted(&it.file));
    let (subject, commit) = (reverse.subject.clone(), reverse.commit.clone());
    Order {
        files: files.collect(),
        message: None,
        compose: Arc::new(move |_: Part, _: &[Altered], subjects: &[String]| revert(&subject, &commit, subjects)),
        author: None,
        co_author: workspace.co_author(),
        dirty: Dirty::Leave,
        on: Some(reverse.head.clone()),
    }
}

/// Undoes the change if it could not be committed.
async fn taken_back(workspace: &Workspace, change: &str, mut error: Error, options: &RequestOptions) -> Error {
    let back = undo_change(workspace, change, false, options).await;
    error.detail = match back {
        Ok(_) => format!("nothing was changed: {}", error.detail),
        Err(also) => format!(
            "the files were changed by `{change}`, which could not be committed ({}), nor taken back ({})",
            error.detail, also.detail
        ),
    };
    error
}
