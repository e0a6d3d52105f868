//! `stats`: the errors and warnings that hooks and requests have seen since the start.

use super::query::RequestOptions;
use semdex_contract::{Counts, FileState, FileStats, StatsQuery, StatsReply, rfc3339};
use semdex_model::{Coverage, Result};
use semdex_workspace::Workspace;
use semdex_workspace::statistics::{History, Seen};

const MOST: usize = 1000;

pub(crate) async fn stats(workspace: &Workspace, request: StatsQuery, options: &RequestOptions) -> Result<StatsReply> {
    let revision = workspace.snapshot(options.needs(None, false)).await?.revision;
    let of = workspace.statistics().of(request.session.as_deref());
    let (since, edits) = of.as_ref().map_or((None, 0), |it| (Some(rfc3339(it.since)), it.edits));
    let files = of.map(|it| it.files).unwrap_or_default();
    let counts = files.values().map(History::last).fold(Counts::default(), added);
    let mut files: Vec<FileStats> = files.iter().map(|(file, history)| of_file(file, history)).collect();
    files.sort_by(|a, b| (b.errors, b.warnings, &a.file).cmp(&(a.errors, a.warnings, &b.file)));
    let files = options.page(files, MOST)?;
    let meta = workspace.meta(None, revision, Coverage::default());
    let next_cursor = files.next_cursor();
    Ok(StatsReply { session: request.session, since, edits, counts, files, next_cursor, meta: meta.into() })
}

fn added(counts: Counts, seen: Seen) -> Counts {
    Counts {
        error: counts.error + seen.errors,
        warning: counts.warning + seen.warnings,
        info: counts.info + seen.infos,
        hint: counts.hint + seen.hints,
    }
}

fn of_file(file: &str, history: &History) -> FileStats {
    let Seen { errors, warnings, .. } = history.last();
    let states = history.iter().map(|(revision, it)| FileState { revision, errors: it.errors, warnings: it.warnings });
    FileStats { file: file.to_owned(), errors, warnings, history: states.collect() }
}
