//! `changes`: the changes of the journal.

use super::query::RequestOptions;
use semdex_contract::{
    ChangeCause, ChangesQuery, ChangesReply, ImpactCounts, MadeChange, MadeFile, position_in_changes, rfc3339,
};
use semdex_model::{Code, Coverage, Error, Missing, MissingCode, Result};
use semdex_text::diff::unified;
use semdex_workspace::journal::{self, Entry};
use semdex_workspace::{Cause, Workspace};

const DEFAULT_LIMIT: usize = 50;
/// More changes would make the reply too long.
const MOST: usize = 1000;

pub(crate) async fn changes(
    workspace: &Workspace,
    request: ChangesQuery,
    options: &RequestOptions,
) -> Result<ChangesReply> {
    let file = request.file.map(|it| workspace.locate(&it)).transpose()?;
    let diff = request.diff.unwrap_or_default();
    let snapshot = workspace.snapshot(options.needs(None, false)).await?;
    let limit = options.limit.unwrap_or(DEFAULT_LIMIT).min(MOST);
    let query_of = journal::Query {
        file,
        before: options.cursor.as_deref().map(position_in_changes).transpose()?,
        // One more than needed, to know whether there are more.
        limit: limit.saturating_add(1),
        contents: diff,
        ..journal::Query::default()
    };
    let found = workspace.changes(query_of).await?;
    let made = tokio::task::spawn_blocking(move || found.entries.iter().map(|it| made(it, diff)).collect::<Vec<_>>());
    let mut items = made.await.map_err(|_| Error::new(Code::Internal, "the diffs could not be made"))?;
    let more = items.len() > limit;
    items.truncate(limit);
    let mut coverage = Coverage::default();
    if let Some(lost) = found.lost {
        coverage.lacks(Missing::new(MissingCode::WorkspaceBroken, "journal", lost));
    }
    let meta = workspace.meta(None, snapshot.revision, coverage);
    Ok(ChangesReply::new(items, found.total, more, meta.into()))
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
        at: rfc3339(entry.made_at),
        revision: entry.revision,
        cause: change_cause(entry.cause),
        client: entry.client.clone(),
        undoes: entry.undoes.clone(),
        undone_by: entry.undone_by.clone(),
        files: files.collect(),
        impact: entry.reached.map(|it| ImpactCounts {
            changed: it.changed,
            broken: it.broken,
            affected: it.affected,
            tests: it.tests,
            complete: it.is_complete,
        }),
    }
}

pub(crate) fn change_cause(cause: Cause) -> ChangeCause {
    match cause {
        Cause::Edit => ChangeCause::Edit,
        Cause::Write => ChangeCause::Write,
        Cause::Rename => ChangeCause::Rename,
        Cause::Undo => ChangeCause::Undo,
        Cause::Overlay => ChangeCause::Overlay,
        Cause::Outside => ChangeCause::Outside,
    }
}
