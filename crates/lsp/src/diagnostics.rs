//! A server's diagnostics. They are pulled if the server supports that. Otherwise they are pushed, and accepted only if
//! they belong to the current texts. An outdated answer is never used, and an empty answer that means "not yet"
//! neither.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::document_sync::are_of_same_names;
use super::queries::{AT_ONCE, Asked, ServerQueries};
use super::session::{Failure, Session};
use super::{fallback, index_probe, symbol_paths, wire};
use semdex_config::DiagnosticsFrom;
use semdex_engine::files::File;
use semdex_engine::{Result, blocking};
use semdex_model::{Answer, Coverage, Diagnostic, MissingCode, Span};

/// The most files that are checked for a query about the whole workspace.
const MOST_FILES: usize = 2000;
/// Pushed diagnostics are complete after this time without a further push. Without a version, which shows the text that
/// they belong to, the time is longer.
const QUIET: Duration = Duration::from_millis(400);
const LONG_QUIET: Duration = Duration::from_millis(1000);

/// A file and the server's diagnostics of it.
type OfFile = (Arc<File>, Asked<Vec<Value>>);

/// The time after which a server that reports to be idle is believed.
const IDLE: Duration = Duration::from_millis(60);

/// The diagnostics of these files, or of all files.
pub(crate) async fn of(queries: &ServerQueries, names: Vec<String>) -> Result<Answer<Vec<Diagnostic>>> {
    let mut coverage = Coverage::default();
    let session = &queries.session;
    let files: Vec<Arc<File>> = match names.as_slice() {
        [] if session.row.keys.on_request == Some(true) => {
            let detail = format!("{} files are checked where one is asked for by its name", session.row.title());
            let mut coverage = Coverage::default();
            coverage.note(session.missing(MissingCode::Unsupported, detail));
            return Ok(Answer { value: Vec::new(), coverage });
        }
        [] => queries.own_files(),
        names => names.iter().map(|it| queries.file(it)).collect::<Result<_>>()?,
    };
    if files.len() > MOST_FILES {
        let detail = format!("there are {} files; {MOST_FILES} were checked: ask for others by name", files.len());
        coverage.lacks(session.missing(MissingCode::TooMany, detail));
    }
    let files: Vec<Arc<File>> = files.into_iter().take(MOST_FILES).collect();
    let found = by_file(queries, &files, &mut coverage).await?;
    Ok(Answer { value: found.into_values().flatten().collect(), coverage })
}

/// The diagnostics of each file for which the server answered.
pub(crate) async fn by_file(
    queries: &ServerQueries,
    files: &[Arc<File>],
    coverage: &mut Coverage,
) -> Result<BTreeMap<String, Vec<Diagnostic>>> {
    let mut found = BTreeMap::new();
    if files.is_empty() {
        return Ok(found);
    }
    let session = &queries.session;
    if let Err(failure) = session.ready(queries.deadlines.ready).await {
        let missing = failure.missing(session);
        coverage.lacks(missing.clone());
        if fallback::is_called_for(&missing) {
            found = fallback::of(queries, files, coverage).await;
            queries.check()?;
        }
        return Ok(found);
    }
    match index_probe::has_indexed(queries, files).await? {
        Ok(true) => {}
        Ok(false) => {
            let detail = format!("{} does not know yet what these files declare: ask again", session.row.server());
            coverage.lacks(session.missing(MissingCode::Indexing, detail));
        }
        Err(failure) => {
            failure.note(session, coverage);
            return Ok(found);
        }
    }
    if source(session) == DiagnosticsFrom::None {
        let has_tool = |it: &Arc<File>| session.service.row_of(&it.path).is_some_and(|it| it.keys.fallback.is_some());
        if files.iter().all(has_tool) {
            found = fallback::of(queries, files, coverage).await;
            queries.check()?;
            return Ok(found);
        }
        let detail = format!("{} gives no diagnostics", session.row.server());
        coverage.lacks(session.missing(MissingCode::Unsupported, detail));
        return Ok(found);
    }
    let (all, asker) = (queries.files.clone(), session.clone());
    let (inputs, is_on_disk) = blocking(move || {
        let held = asker.documents().files().clone();
        Ok((asker.inputs_of(&all), are_of_same_names(&all, &held)))
    })
    .await?;
    let mut left = Vec::new();
    for file in files {
        match session.diagnostics_cache.of(inputs, &file.path) {
            Some(known) => drop(found.insert(file.path.to_string(), known.to_vec())),
            None => left.push(file),
        }
    }
    let asked = left.into_iter().map(|file| async move { Ok((file.clone(), raw(queries, file).await?)) });
    let answers: Vec<Result<OfFile>> =
        futures::stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE).collect().await;
    for answer in answers {
        let (file, items) = answer?;
        match items {
            Ok(items) => {
                let translated: Vec<Diagnostic> =
                    items.iter().filter_map(|it| diagnostic(queries, &file, it)).collect();
                // A server that has just started may not know everything yet. A dry run that creates or deletes files
                // does not change the disk, so the same texts have other diagnostics after it is applied.
                if is_on_disk && !session.is_young() {
                    session.diagnostics_cache.keep(inputs, file.path.clone(), &translated);
                }
                found.insert(file.path.to_string(), translated);
            }
            Err(failure) => failure.note(session, coverage),
        }
    }
    Ok(found)
}

/// How the server reports its diagnostics.
pub(crate) fn source(session: &Session) -> DiagnosticsFrom {
    let pulls = session.has("textDocument/diagnostic");
    match session.row.keys.diagnostics {
        Some(DiagnosticsFrom::Pull) | None if pulls => DiagnosticsFrom::Pull,
        Some(DiagnosticsFrom::None) => DiagnosticsFrom::None,
        _ => DiagnosticsFrom::Push,
    }
}

/// The server's diagnostics of a file as JSON.
pub(crate) async fn raw(queries: &ServerQueries, file: &File) -> Result<Asked<Vec<Value>>> {
    match source(&queries.session) {
        DiagnosticsFrom::Pull => pulled(queries, file).await,
        DiagnosticsFrom::Push => pushed(queries, file).await,
        DiagnosticsFrom::None => Ok(Ok(Vec::new())),
    }
}

async fn pulled(queries: &ServerQueries, file: &File) -> Result<Asked<Vec<Value>>> {
    let params = json!({"textDocument": {"uri": queries.session.root.uri(&file.path)}});
    let answer = queries.ask(&[&file.path], "textDocument/diagnostic", &params).await?;
    Ok(answer.and_then(|it| match it.get("items").and_then(Value::as_array) {
        Some(items) => Ok(items.clone()),
        // An "unchanged" report is useless: semdex has sent no previous result ID.
        None => Err(Failure::Refused("a report without items".to_owned())),
    }))
}

/// Waits for the pushed diagnostics of the file's current text.
async fn pushed(queries: &ServerQueries, file: &File) -> Result<Asked<Vec<Value>>> {
    let session = &queries.session;
    queries.check()?;
    let was_open = session.documents().version_of(&file.path).is_some();
    if let Err(failure) = session.open(&[&file.path], queries.deadlines).await {
        return Ok(Err(failure));
    }
    let version = {
        let mut documents = session.documents();
        // Asks the server to repeat diagnostics that it pushed before another change, or that are no longer valid.
        let is_old = session.pushed.of(&file.path).map_or(was_open, |it| it.at < documents.last_change());
        if is_old { documents.touch(&file.path) } else { documents.version_of(&file.path) }
    };
    if let Err(failure) = session.open(&[&file.path], queries.deadlines).await {
        return Ok(Err(failure));
    }
    // A push without a version belongs to the current text if it arrives after this time: the server has answered a
    // request since it was sent the text, so it has read the text.
    let mut read_at: Option<Instant> = None;
    let mut has_touched = false;
    let (quiet, unversioned) = match session.row.keys.quiet_ms.map(Duration::from_millis) {
        Some(quiet) => (quiet, quiet),
        None => (QUIET, LONG_QUIET),
    };
    loop {
        let news = session.pushed.news.notified();
        queries.check()?;
        let push = session.pushed.of(&file.path);
        let has_version = push.as_ref().is_some_and(|it| it.version.is_some()) || session.pushed.has_versions();
        if !has_version && read_at.is_none() {
            if let Err(failure) = queries.barrier(file).await? {
                return Ok(Err(failure));
            }
            read_at = Some(Instant::now());
            continue;
        }
        let mut until = queries.deadlines.answer;
        let is_new = push.as_ref().is_some_and(|push| match push.version {
            Some(pushed) => Some(pushed) >= version,
            None => read_at.is_some_and(|it| push.at >= it),
        });
        if let Some(push) = push.filter(|_| is_new) {
            let busy = {
                let documents = session.documents();
                session.pushed.is_busy(|file| documents.version_of(file).is_some())
            };
            let settled = match busy {
                Some((true, _)) => None,
                Some((false, at)) => Some(at.max(push.at) + IDLE),
                None if push.version.is_some() => Some(push.at + quiet),
                None => Some(push.at + unversioned),
            };
            if let Some(settled) = settled {
                if Instant::now() >= settled {
                    return Ok(Ok(push.items));
                }
                until = until.min(settled);
            }
        } else if let Some(read_at) = read_at.filter(|_| !has_touched) {
            // The server may have pushed before it answered. Then it pushes again.
            let again = read_at + quiet;
            if Instant::now() >= again {
                has_touched = true;
                session.documents().touch(&file.path);
                if let Err(failure) = session.open(&[&file.path], queries.deadlines).await {
                    return Ok(Err(failure));
                }
            } else {
                until = until.min(again);
            }
        }
        if tokio::time::timeout_at(until.into(), news).await.is_err() && Instant::now() >= queries.deadlines.answer {
            return Ok(Err(session.out_of_time()));
        }
    }
}

/// Converts a diagnostic to the model's type.
pub(crate) fn diagnostic(queries: &ServerQueries, file: &Arc<File>, item: &Value) -> Option<Diagnostic> {
    let code = wire::code(item);
    let ignored = queries.session.row.keys.ignored_codes.as_deref().unwrap_or_default();
    if code.as_ref().is_some_and(|it| ignored.contains(it)) {
        return None;
    }
    let span = wire::span(file, wire::range(item.get("range")?)?);
    let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned);
    let source = text("source").unwrap_or_else(|| queries.session.row.server().to_owned());
    let place = file.lines().place(&file.path, Span::new(span.start, span.end));
    // Some servers name modules by their whole paths.
    let root = format!("{}/", queries.session.root.directory().display());
    Some(Diagnostic {
        severity: wire::severity(item),
        code,
        message: without_remark(&text("message")?.replace(&root, "")),
        source,
        symbol: file.outline().enclosing(span.start).last().map(|it| symbol_paths::path(&file.path, it)),
        confirmed: None,
        build: None,
        place,
    })
}

/// A message without what clangd appends to it about its fixes. They are a field of their own, and the same error is
/// reported with and without the remark, so that it would be another one after a change.
fn without_remark(message: &str) -> String {
    const REMARKS: [&str; 2] = [" (fix available)", " (fixes available)"];
    let bare = |line: &str| REMARKS.iter().find_map(|it| line.strip_suffix(it)).unwrap_or(line).to_owned();
    message.split('\n').map(bare).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_nothing_about_its_fixes() {
        assert_eq!(
            without_remark("unknown type 'A' (fix available)\n\nA.h:1: note: here"),
            "unknown type 'A'\n\nA.h:1: note: here"
        );
        assert_eq!(without_remark("no fix available"), "no fix available");
    }
}
