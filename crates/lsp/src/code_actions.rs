//! Code actions of a server: its import fixes and its quick fixes. Their edits are planned and checked like any other
//! change. The server itself writes nothing.

use std::sync::Arc;

use serde_json::{Value, json};

use super::edits::{Better, applied, tried};
use super::queries::{Asked, ServerQueries};
use super::session::Failure;
use super::{diagnostics, wire};
use semdex_engine::files::{File, Files};
use semdex_engine::{Result, unpoisoned};
use semdex_model::{FindingKind, MissingCode, Span};

/// The most unresolved names whose import is added.
const MOST_IMPORTED: usize = 10;

/// The text with missing imports added where exactly one fits, and with its imports sorted and unused ones removed.
pub(crate) async fn with_imports(queries: &ServerQueries, name: &str, text: &Arc<str>) -> Better<Arc<str>> {
    let session = &queries.session;
    if !session.has("textDocument/codeAction") {
        let detail = format!("{} does not put imports right", session.row.server());
        return Ok(Err(Failure::Lacking(session.missing(MissingCode::Unsupported, detail))));
    }
    let text = match imported(queries, name, text).await? {
        Ok(text) => text,
        Err(failure) => return Ok(Err(failure)),
    };
    let file = queries.files.file(name, text.clone());
    let context = json!({"diagnostics": [], "only": ["source.organizeImports"], "triggerKind": 1});
    let actions = match offered(queries, &file, Span::new(0, file.text.len()), &context).await? {
        Ok(actions) => actions,
        Err(failure) => return Ok(Err(failure)),
    };
    for action in actions {
        if let Some(better) = carried_out(queries, &file, &action).await? {
            return Ok(Ok(better));
        }
    }
    Ok(Ok(text))
}

/// The text with an import for each unresolved name for which the server offers exactly one.
async fn imported(queries: &ServerQueries, name: &str, text: &Arc<str>) -> Better<Arc<str>> {
    let mut text = text.clone();
    let mut tried_names: Vec<String> = Vec::new();
    for _ in 0..MOST_IMPORTED {
        let file = Arc::new(queries.files.file(name, text.clone()));
        let reported = match of_text(queries, &file).await? {
            Ok(reported) => reported,
            Err(failure) => return Ok(Err(failure)),
        };
        let is_unknown = |it: &&Value| {
            let code = wire::code(it);
            let kind = code.and_then(|code| file.language.and_then(|it| it.syntax.finding(&code)));
            kind == Some(FindingKind::UnknownSymbol) && !tried_names.contains(&key(it))
        };
        let Some(unknown) = reported.iter().find(is_unknown) else { break };
        tried_names.push(key(unknown));
        let Some(range) = unknown.get("range").and_then(wire::range) else { continue };
        let context = json!({"diagnostics": [unknown], "only": ["quickfix"], "triggerKind": 1});
        let actions = match offered(queries, &file, wire::span(&file, range), &context).await? {
            Ok(actions) => actions,
            Err(failure) => return Ok(Err(failure)),
        };
        let is_import = |it: &&Value| title(it).to_lowercase().contains("import");
        let fitting: Vec<&Value> = actions.iter().filter(is_import).collect();
        if let [only] = fitting.as_slice()
            && let Some(better) = carried_out(queries, &file, only).await?
        {
            text = better;
        }
    }
    Ok(Ok(text))
}

fn key(diagnostic: &Value) -> String {
    diagnostic.get("message").map(Value::to_string).unwrap_or_default()
}

pub(crate) fn title(action: &Value) -> &str {
    action.get("title").and_then(Value::as_str).unwrap_or_default()
}

/// The server's diagnostics of a planned text.
pub(crate) async fn of_text(queries: &ServerQueries, file: &Arc<File>) -> Result<Asked<Vec<Value>>> {
    let mut files = Files::clone(&queries.files);
    files.insert(file.clone());
    let planned = ServerQueries { files: Arc::new(files), ..queries.clone() };
    let _tried = queries.session.try_texts([(file.path.to_string(), file.text.clone())].into());
    diagnostics::raw(&planned, file).await
}

/// The actions that a server offers for a range of a planned text.
pub(crate) async fn offered(queries: &ServerQueries, file: &File, span: Span, context: &Value) -> Better<Vec<Value>> {
    let params = json!({
        "textDocument": {"uri": queries.session.root.uri(&file.path)},
        "range": wire::lsp_range(file, span),
        "context": context,
    });
    let answer = tried(queries, &file.path, &file.text, "textDocument/codeAction", &params).await?;
    Ok(answer.map(|it| it.as_array().cloned().unwrap_or_default()))
}

/// The text after an action. `None` if the action changes other files or nothing.
pub(crate) async fn carried_out(queries: &ServerQueries, file: &File, action: &Value) -> Result<Option<Arc<str>>> {
    let edits = edits_of(queries, file, action).await?;
    let own = |it: &wire::DocumentEdits| queries.session.root.file(&it.0).as_deref() == Some(&*file.path);
    let (own, others): (Vec<_>, Vec<_>) = edits.into_iter().partition(own);
    if !others.is_empty() {
        return Ok(None);
    }
    let parts: Vec<_> = own.into_iter().flat_map(|it| it.1).collect();
    Ok((!parts.is_empty()).then(|| applied(file, parts)))
}

/// The edits of an action by document: the action contains them, its resolved form contains them, or its command
/// requests them.
pub(crate) async fn edits_of(queries: &ServerQueries, file: &File, action: &Value) -> Result<Vec<wire::DocumentEdits>> {
    let session = &queries.session;
    let (name, text) = (&*file.path, &file.text);
    let mut whole = action.clone();
    let is_command = action.get("command").is_some_and(Value::is_string);
    if action.get("edit").is_none()
        && !is_command
        && session.has("codeAction/resolve")
        && let Ok(resolved) = tried(queries, name, text, "codeAction/resolve", action).await?
    {
        whole = resolved;
    }
    if let Some(edit) = whole.get("edit") {
        return Ok(wire::workspace_edit(edit).files);
    }
    let command = if is_command { Some(&whole) } else { whole.get("command") };
    let Some(command) = command.filter(|_| session.has("workspace/executeCommand")) else { return Ok(Vec::new()) };
    let params = json!({"command": command.get("command"), "arguments": command.get("arguments")});
    *unpoisoned::lock(&session.commanded) = Some(Vec::new());
    let answer = tried(queries, name, text, "workspace/executeCommand", &params).await;
    let made = unpoisoned::lock(&session.commanded).take().unwrap_or_default();
    // The command fails because semdex does not apply its edits. That is expected.
    let _ = answer?;
    Ok(made.iter().flat_map(|it| wire::workspace_edit(it).files).collect())
}
