//! `git`: the uncommitted files.

use super::query::RequestOptions;
use semdex_contract::{DirtyFile, FileStatus, GitQuery, GitReply};
use semdex_model::{Coverage, Missing, MissingCode, Result};
use semdex_workspace::Workspace;
use semdex_workspace::git::{self, Kind};

/// The page size.
const MOST: usize = 1000;

pub(crate) async fn git(workspace: &Workspace, _request: GitQuery, options: &RequestOptions) -> Result<GitReply> {
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let state = workspace.git().state(workspace.is_trusted()).await?;
    let mut coverage = Coverage::default();
    if state.filters_are_off {
        let detail = "the filters of git's configuration do not run here, so a file that one applies to may be listed \
                      though it is not dirty: trust the workspace with `semdex trust`";
        coverage.note(Missing::new(MissingCode::Untrusted, "git", detail));
    }
    let total = state.dirty.len();
    let dirty = options.page(state.dirty.into_iter().map(dirty_file).collect(), MOST)?;
    Ok(GitReply {
        branch: state.branch,
        head: state.head,
        in_progress: state.operation,
        next_cursor: dirty.next_cursor(),
        dirty,
        total,
        meta: workspace.meta(None, snapshot.revision, coverage).into(),
    })
}

fn dirty_file(file: git::DirtyFile) -> DirtyFile {
    let git::DirtyFile { file, kind, staged, unstaged, from, is_submodule } = file;
    let status = match kind {
        Kind::Modified => FileStatus::Modified,
        Kind::Added => FileStatus::Added,
        Kind::Deleted => FileStatus::Deleted,
        Kind::Renamed => FileStatus::Renamed,
        Kind::Copied => FileStatus::Copied,
        Kind::TypeChanged => FileStatus::TypeChanged,
        Kind::Unmerged => FileStatus::Unmerged,
        Kind::Untracked => FileStatus::Untracked,
    };
    DirtyFile { file, status, staged, unstaged, from, submodule: is_submodule }
}
