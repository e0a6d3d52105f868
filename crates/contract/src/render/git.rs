//! The replies of `git` and `commit`.

use super::lists::more;
use super::markdown::{counted, line, one, quoted};
use crate::{CommitReply, FileStatus, GitReply};

pub(crate) fn state(state: &GitReply) -> String {
    let branch = state.branch.as_deref().map_or_else(|| "detached HEAD".to_owned(), |it| format!("branch `{it}`"));
    let head = state.head.as_deref().map_or("before the first commit", |it| it.get(..12).unwrap_or(it));
    let mut text = one(format_args!("# {}, {branch}, {head}", counted(state.total, "dirty file")));
    text.push('\n');
    if let Some(operation) = state.in_progress {
        line(&mut text, format_args!("**A {operation} is in progress.**"));
        text.push('\n');
    }
    for it in &state.dirty.items {
        let staged = match (it.staged, it.unstaged) {
            (true, true) => ", partly staged",
            (true, false) => ", staged",
            _ => "",
        };
        let from = it.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let submodule = if it.submodule { ", a submodule" } else { "" };
        line(&mut text, format_args!("- {}: {}{from}{staged}{submodule}", it.file, word(it.status)));
    }
    more(&mut text, state.next_cursor.as_deref());
    text
}

fn word(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Modified => "modified",
        FileStatus::Added => "added",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "renamed",
        FileStatus::Copied => "copied",
        FileStatus::TypeChanged => "type changed",
        FileStatus::Unmerged => "unmerged",
        FileStatus::Untracked => "untracked",
    }
}

pub(crate) fn commit(made: &CommitReply) -> String {
    let on = made.branch.as_ref().map_or_else(|| "detached HEAD".to_owned(), |it| format!("`{it}`"));
    let mut text = String::new();
    if let Some(before) = &made.before {
        line(
            &mut text,
            format_args!("Committed what was dirty before as `{}`: {}.", before.commit, before.files.join(", ")),
        );
        text.push('\n');
    }
    line(&mut text, format_args!("Committed `{}` on {on}, {}:", made.commit, counted(made.files.len(), "file")));
    text.push('\n');
    for file in &made.files {
        line(&mut text, format_args!("- {file}"));
    }
    for it in &made.left_out {
        line(&mut text, format_args!("- not {}: {}", it.file, it.reason));
    }
    more(&mut text, made.next_cursor.as_deref());
    text.push('\n');
    quoted(&mut text, made.message.lines());
    text
}
