//! `changes`: what was changed, when, by whom, and how to take it back.

use super::ask::{Ask, Reply};
use super::fit::{Budget, Fit, text_cost};
use crate::model::{Code, Coverage, Error, Missing, MissingCode, Result};
use crate::text::diff::unified;
use crate::workspace::journal::{self, Entry};
use crate::workspace::{Cause, Workspace};

const DEFAULT_LIMIT: usize = 50;
/// With more, the reply would be too long for anyone to read.
const MOST: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangesQuery {
    /// Only changes of this file.
    pub file: Option<String>,
    /// Each file with its diff.
    pub diff: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    pub items: Vec<MadeChange>,
    pub total: usize,
    /// There are older ones.
    more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeChange {
    pub change: String,
    /// Milliseconds since 1970.
    pub made_at: i64,
    pub revision: u64,
    pub cause: Cause,
    pub client: Option<String>,
    pub undoes: Option<String>,
    pub undone_by: Option<String>,
    pub files: Vec<MadeFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFile {
    pub file: String,
    pub hash: Option<String>,
    pub old_hash: Option<String>,
    pub diff: Option<String>,
}

pub async fn changes(workspace: &Workspace, query: &ChangesQuery, asked: &Ask) -> Result<Reply<Changes>> {
    let file = query.file.as_deref().map(|it| workspace.locate(it)).transpose()?;
    let snapshot = workspace.snapshot(asked.needs(None, false)).await?;
    let limit = asked.limit.unwrap_or(DEFAULT_LIMIT).min(MOST);
    let query_of = journal::Query {
        file,
        before: asked.cursor.as_deref().map(position).transpose()?,
        // One more tells whether there are more.
        limit: limit.saturating_add(1),
        contents: query.diff,
        ..journal::Query::default()
    };
    let found = workspace.changes(query_of).await?;
    let diff = query.diff;
    let made = tokio::task::spawn_blocking(move || found.entries.iter().map(|it| made(it, diff)).collect::<Vec<_>>());
    let mut items = made.await.map_err(|_| Error::new(Code::Internal, "the diffs could not be made"))?;
    let more = items.len() > limit;
    items.truncate(limit);
    let mut coverage = Coverage::default();
    if let Some(lost) = found.lost {
        coverage.lacks(Missing::new(MissingCode::WorkspaceBroken, "journal", lost));
    }
    let meta = workspace.meta(None, snapshot.revision, coverage);
    Ok(Reply { value: Changes { items, total: found.total, more }, meta })
}

/// A cursor is the last change that was given, so that new ones do not shift the list.
fn position(cursor: &str) -> Result<String> {
    cursor.strip_prefix("before-").map(str::to_owned).ok_or_else(|| {
        let detail =
            format!("`cursor` is `{cursor}`, which no reply of this kind gave: take `next_cursor` of the reply before");
        Error::new(Code::InvalidRequest, detail)
    })
}

fn made(entry: &Entry, diff: bool) -> MadeChange {
    let files = entry.files.iter().map(|it| MadeFile {
        file: it.file.clone(),
        hash: it.new_hash.clone(),
        old_hash: it.old_hash.clone(),
        diff: diff.then(|| unified(it.old.as_deref(), it.new.as_deref(), &it.file)),
    });
    MadeChange {
        change: entry.id.clone(),
        made_at: entry.made_at,
        revision: entry.revision,
        cause: entry.cause,
        client: entry.client.clone(),
        undoes: entry.undoes.clone(),
        undone_by: entry.undone_by.clone(),
        files: files.collect(),
    }
}

impl Changes {
    pub fn next_cursor(&self) -> Option<String> {
        self.items.last().filter(|_| self.more).map(|it| format!("before-{}", it.change))
    }
}

impl Fit for Changes {
    fn fit(&mut self, mut budget: Budget) -> Vec<String> {
        let before = self.items.len();
        let mut part = super::fit::Part::after(0, before);
        budget.share(&mut [(&mut part, self.items.iter().map(cost).collect(), 100)]);
        self.items.truncate(part.count);
        let cut = self.items.len() < before;
        self.more |= cut;
        if cut { vec![format!("{} of {before} changes", self.items.len())] } else { Vec::new() }
    }
}

fn cost(change: &MadeChange) -> usize {
    let file = |it: &MadeFile| text_cost(&it.file) + it.diff.as_deref().map_or(0, text_cost) + 180;
    220 + change.client.as_deref().map_or(0, text_cost) + change.files.iter().map(file).sum::<usize>()
}
