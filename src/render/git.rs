//! The state of a repository, and a commit.

use super::{counted, line};
use crate::contract::{CommitReply, FileStatus, GitReply};

pub fn state(state: &GitReply) -> String {
    let branch = state.branch.as_deref().map_or_else(|| "detached HEAD".to_owned(), |it| format!("branch `{it}`"));
    let head = state.head.as_deref().map_or("before the first commit", |it| it.get(..12).unwrap_or(it));
    let mut text = format!("# {}, {branch}, {head}\n\n", counted(state.total, "dirty file"));
    if let Some(operation) = state.in_progress {
        line(&mut text, format_args!("**A {operation} is in progress.**\n"));
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
    if let Some(cursor) = &state.next_cursor {
        line(&mut text, format_args!("\nMore with cursor `{cursor}`"));
    }
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

pub fn commit(made: &CommitReply) -> String {
    let on = made.branch.as_ref().map_or_else(|| "detached HEAD".to_owned(), |it| format!("`{it}`"));
    let mut text = String::new();
    if let Some(before) = &made.before {
        line(
            &mut text,
            format_args!("Committed what was dirty before as `{}`: {}.\n", before.commit, before.files.join(", ")),
        );
    }
    line(&mut text, format_args!("Committed `{}` on {on}, {}:\n", made.commit, counted(made.files.len(), "file")));
    for file in &made.files {
        line(&mut text, format_args!("- {file}"));
    }
    for it in &made.left_out {
        line(&mut text, format_args!("- not {}: {}", it.file, it.reason));
    }
    if let Some(cursor) = &made.next_cursor {
        line(&mut text, format_args!("\nMore with cursor `{cursor}`"));
    }
    text.push('\n');
    for message in made.message.lines() {
        line(&mut text, format_args!("{}", format!("> {message}").trim_end()));
    }
    text
}
