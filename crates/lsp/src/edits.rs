//! Text edits of a server: rename, formatting, and import fixes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::queries::ServerQueries;
use super::relations::symbol_of;
use super::session::Failure;
use super::wire::{self, Range};
use super::{code_actions, unindexed, usages};
use semdex_engine::files::File;
use semdex_engine::{Result, Tidied, Wanted};
use semdex_model::{Answer, Code, Coverage, Error, FileEdit, Renaming, Rewrite, Span, SymbolQuery};

/// By file, the ranges to replace and their new texts.
type Parts = BTreeMap<String, BTreeSet<(Span, String)>>;

pub(crate) async fn rename(queries: &ServerQueries, query: &SymbolQuery, new_name: &str) -> Result<Answer<Renaming>> {
    let mut coverage = Coverage::default();
    let session = &queries.session;
    let found = queries.resolve(query, &mut coverage).await?;
    let symbol = symbol_of(queries, &found)?;
    let refused = |detail: String| Error::new(Code::RenameRefused, detail);
    if let Err(failure) = session.ready(queries.deadlines.ready).await {
        return Err(Error::new(Code::EngineUnavailable, failure.missing(session).detail).into());
    }
    if !session.has("textDocument/rename") {
        return Err(refused(format!("{} renames nothing: edit the places", session.row.server())).into());
    }
    let unread = unindexed::naming(queries, &found.item.name).await?;
    if let Some(missing) = unread.first() {
        return Err(refused(format!("`{}` would be renamed in part: {}", symbol.path, missing.detail)).into());
    }
    let used = usages::of(queries, &found, &mut coverage).await?;
    // The declaration in another file is renamed separately if the server treats it as another symbol.
    let apart = used.items.iter().filter_map(|it| {
        let (file, at) = (queries.files.get(&it.place.file)?, it.place.start);
        usages::is_counterpart(&found, file, at).then(|| (file.clone(), at))
    });
    let own = usages::declarations(queries, &found).into_iter().map(|at| (found.file.clone(), at));
    let declared: Vec<(Arc<File>, usize)> = own.chain(apart).collect();
    let naming = queries.files_naming(&found).await?;
    let naming = naming.iter().take(usages::MOST_OPENED).map(|it| &*it.path);
    let mut open: Vec<&str> = used.items.iter().map(|it| it.place.file.as_str()).chain(naming).collect();
    open.push(&found.file.path);
    open.sort_unstable();
    open.dedup();
    let mut parts = Parts::new();
    let mut moves = Vec::new();
    for (file, at) in declared {
        let name = Span::new(at, at + found.item.name.len());
        if is_renamed(&parts, &file.path, name) {
            continue;
        }
        let params = json!({
            "textDocument": {"uri": session.root.uri(&file.path)},
            "position": wire::position(&file, at),
            "newName": new_name,
        });
        let edit = match queries.ask(&open, "textDocument/rename", &params).await? {
            Ok(Value::Null) => {
                return Err(refused(format!("{} does not rename `{}`", session.row.server(), symbol.path)).into());
            }
            Ok(edit) => wire::workspace_edit(&edit),
            Err(Failure::Refused(message)) => return Err(refused(message).into()),
            Err(failure) => return Err(Error::new(Code::EngineUnavailable, failure.missing(session).detail).into()),
        };
        for (uri, edits) in edit.files {
            let Some(file) = session.root.file(&uri).and_then(|it| queries.files.get(&it).cloned()) else {
                let detail = format!("`{}` is also named in {uri}, which is no text of the workspace", symbol.path);
                return Err(refused(detail).into());
            };
            let edits = edits.into_iter().map(|(range, text)| (wire::span(&file, range), text));
            parts.entry(file.path.to_string()).or_default().extend(edits);
        }
        moves.extend(edit.moves);
        // A server may refuse a rename by an edit with no places or wrong ones, for example of a Python name to a
        // keyword.
        if !is_renamed(&parts, &file.path, name) {
            let line = file.lines().line(at);
            let detail = format!(
                "{} does not rename `{}` to `{new_name}`: its edit leaves the declaration in {}:{line} as it is",
                session.row.server(),
                symbol.path,
                file.path
            );
            return Err(refused(detail).into());
        }
    }
    let included = unindexed::included(queries, &found).await?;
    if let Some(file) = included.iter().find(|it| !parts.contains_key(&*it.path)) {
        let missing = unindexed::of_no_language(&file.path, &found.item.name);
        return Err(refused(format!("`{}` would be renamed in part: {}", symbol.path, missing.detail)).into());
    }
    let mut rewrites = Vec::new();
    for (file, parts) in parts {
        let parts: Vec<(Span, String)> = parts.into_iter().collect();
        if parts.windows(2).any(|pair| pair[0].0.overlaps(pair[1].0)) {
            return Err(refused(format!("the edits of {} overlap in {file}", session.row.server())).into());
        }
        rewrites.push(Rewrite { file, parts });
    }
    let named = |uri: &String| session.root.file(uri);
    let moves = moves.iter().filter_map(|(from, to)| named(from).zip(named(to))).collect();
    Ok(Answer {
        value: Renaming { symbol, rewrites, moves, possible: used.possible, outside_builds: Vec::new() },
        coverage,
    })
}

fn is_renamed(parts: &Parts, file: &str, name: Span) -> bool {
    parts.get(file).is_some_and(|it| it.iter().any(|(span, _)| span.start <= name.end && name.start <= span.end))
}

/// Planned texts after the server's formatting and import fixes.
pub(crate) async fn tidy(queries: &ServerQueries, edits: &[FileEdit], wanted: Wanted) -> Result<Vec<Tidied>> {
    let session = &queries.session;
    let own = edits.iter().filter(|it| session.service.row_of(&it.file).is_some() && it.new.is_some());
    let mut tidied = Vec::new();
    for edit in own {
        let Some(planned) = edit.new.clone() else { continue };
        let note = |note: String| Tidied { file: edit.file.clone(), text: planned.clone(), note: Some(note) };
        let formats = session.row.keys.format.unwrap_or(true);
        if wanted.format && !wanted.imports && !formats {
            tidied.push(note(format!("{} does not format {}", session.row.server(), session.row.title())));
            continue;
        }
        if let Err(failure) = session.ready(queries.deadlines.ready).await {
            tidied.push(note(failure.missing(session).detail));
            continue;
        }
        let turn = session.gate.clone().write_owned();
        let Ok(_alone) = tokio::time::timeout_at(queries.deadlines.answer.into(), turn).await else {
            tidied.push(note(session.out_of_time().missing(session).detail));
            continue;
        };
        queries.check()?;
        let mut text = planned.clone();
        let mut notes = Vec::new();
        if wanted.imports {
            match code_actions::with_imports(queries, &edit.file, &text).await? {
                Ok(better) => text = better,
                Err(failure) => notes.push(failure.missing(session).detail),
            }
        }
        if wanted.format && formats && session.has("textDocument/formatting") {
            match formatted(queries, &edit.file, &text).await? {
                Ok(better) => text = better,
                Err(failure) => notes.push(failure.missing(session).detail),
            }
        } else if wanted.format {
            notes.push(format!("{} does not format {}", session.row.server(), session.row.title()));
        }
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        tidied.push(Tidied { file: edit.file.clone(), text, note });
    }
    Ok(tidied)
}

pub(crate) type Better<T> = Result<std::result::Result<T, Failure>>;

async fn formatted(queries: &ServerQueries, name: &str, text: &Arc<str>) -> Better<Arc<str>> {
    let file = queries.files.file(name, text.clone());
    let indent = file.language.map_or("    ", |it| it.indent);
    let options =
        json!({"tabSize": indent.len().max(1), "insertSpaces": !indent.contains('\t'), "insertFinalNewline": true});
    let params = json!({"textDocument": {"uri": queries.session.root.uri(name)}, "options": options});
    let answer = tried(queries, name, text, "textDocument/formatting", &params).await?;
    Ok(answer.map(|it| {
        let one = |it: &Value| Some((wire::range(it.get("range")?)?, it.get("newText")?.as_str()?.to_owned()));
        applied(&file, it.as_array().into_iter().flatten().filter_map(one).collect())
    }))
}

/// Sends a request about a planned text. The server has the text only during this request.
pub(crate) async fn tried(
    queries: &ServerQueries,
    name: &str,
    text: &Arc<str>,
    method: &str,
    params: &Value,
) -> Better<Value> {
    let _tried = queries.session.try_texts([(name.to_owned(), text.clone())].into());
    queries.ask(&[name], method, params).await
}

pub(crate) fn applied(file: &File, edits: Vec<(Range, String)>) -> Arc<str> {
    let mut parts: Vec<(Span, String)> =
        edits.into_iter().map(|(range, text)| (wire::span(file, range), text)).collect();
    parts.sort_by_key(|it| it.0);
    let mut text = String::with_capacity(file.text.len());
    let mut from = 0;
    for (span, new) in parts.into_iter() {
        if span.start < from {
            continue;
        }
        text.push_str(file.text.get(from..span.start).unwrap_or_default());
        text.push_str(&new);
        from = span.end;
    }
    text.push_str(file.text.get(from..).unwrap_or_default());
    text.into()
}
