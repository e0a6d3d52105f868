//! `commit`: commits the files of changes, and other files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::commit_message::{Recorded, composer};
use super::query::RequestOptions;
use semdex_contract::{CommitBefore, CommitReply, CommitRequest, LeftOut};
use semdex_model::{Code, Coverage, Error, Result};
use semdex_workspace::Workspace;
use semdex_workspace::git::{self, Author, Before, Dirty, Order, Wanted};
use semdex_workspace::journal::Entry;

pub(crate) async fn commit(
    workspace: &Workspace,
    request: CommitRequest,
    options: &RequestOptions,
) -> Result<CommitReply> {
    let message = request.checked_message()?;
    let author = request.checked_author()?.map(|(name, mail)| Author { name, mail });
    let named = request.files.unwrap_or_default();
    let named = named.iter().map(|it| Named::of(workspace, it)).collect::<Result<Vec<Named>>>()?;
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let changes = entries(workspace, &request.changes.unwrap_or_default()).await?;
    let files = wanted(&changes, named);
    if files.is_empty() {
        workspace.git().check_ready(workspace.is_trusted()).await?;
        let detail = "there is nothing to commit: name `changes` or `files`";
        return Err(Error::new(Code::NothingToCommit, detail));
    }
    let summary = Recorded::of(&changes);
    let order = Order {
        files,
        message,
        compose: composer(workspace.languages().clone(), summary),
        author,
        co_author: workspace.co_author(),
        dirty: match request.dirty.unwrap_or(semdex_contract::Dirty::Leave) {
            semdex_contract::Dirty::Leave => Dirty::Leave,
            semdex_contract::Dirty::CommitFirst => Dirty::CommitFirst,
            semdex_contract::Dirty::Refuse => Dirty::Refuse,
        },
        on: None,
    };
    let made = workspace.git().commit(workspace.is_trusted(), order).await?;
    let before = made.before.map(|it| CommitBefore { commit: it.commit, files: it.files, message: it.message });
    Ok(CommitReply {
        commit: made.commit,
        files: made.files,
        message: made.message,
        branch: made.branch,
        left_out: made.left_out.into_iter().map(left_out).collect(),
        before,
        next_cursor: None,
        pages: Default::default(),
        meta: workspace.meta(None, snapshot.revision, Coverage::default()).into(),
    })
}

/// A file that the request names. For git, a symbolic link is a file of its own.
struct Named {
    file: String,
    /// The target of a symbolic link, if it is a file of the workspace.
    leads_to: Option<String>,
}

impl Named {
    fn of(workspace: &Workspace, name: &str) -> Result<Named> {
        match workspace.link(name)? {
            Some(file) => Ok(Named { file, leads_to: workspace.locate(name).ok() }),
            None => Ok(Named { file: workspace.locate(name)?, leads_to: None }),
        }
    }
}

/// The changes with these tokens, in the order in which they were made.
async fn entries(workspace: &Workspace, tokens: &[String]) -> Result<Vec<Entry>> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for token in tokens {
        // Tokens are printed in upper case, and accepted in any case.
        let entry = workspace.made(&token.trim().to_ascii_uppercase()).await?.ok_or_else(|| {
            let detail =
                format!("the journal has no change `{token}` of this workspace: `changes` lists those that there are");
            Error::new(Code::UnknownChange, detail)
        })?;
        entries.insert(entry.id.clone(), entry);
    }
    Ok(entries.into_values().collect())
}

/// Each file once, with its content before the first of the changes.
fn wanted(changes: &[Entry], named: Vec<Named>) -> Vec<Wanted> {
    let mut files: BTreeMap<String, Wanted> = BTreeMap::new();
    for entry in changes {
        for file in &entry.files {
            let wanted = files.entry(file.file.clone()).or_insert_with(|| Wanted {
                file: file.file.clone(),
                named: false,
                leads_to: None,
                before: Some(Before { text: file.old.clone(), changed_at: entry.made_at, outcomes: Vec::new() }),
            });
            if let Some(before) = &mut wanted.before {
                before.outcomes.push(file.new.as_ref().map(Arc::clone));
            }
        }
    }
    for Named { file, leads_to } in named {
        let wanted = Wanted { file: file.clone(), named: true, leads_to, before: None };
        files.entry(file).or_insert(wanted).named = true;
    }
    files.into_values().collect()
}

fn left_out(it: git::LeftOut) -> LeftOut {
    LeftOut { file: it.file, reason: it.reason }
}
