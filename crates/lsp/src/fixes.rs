//! Quick fixes of a server for its diagnostics, if they only change texts of the workspace.

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Value, json};

use super::code_actions::title;
use super::queries::{AT_ONCE, Asked, ServerQueries};
use super::session::Failure;
use super::{diagnostics, wire};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_engine::fix::{Fix, Parts, files_of};
use semdex_model::{Answer, Coverage, Diagnostic, MissingCode, Place};

/// The most actions that are examined for one diagnostic.
const MOST_ACTIONS: usize = 20;

/// The fixes for the diagnostics at exactly these places.
pub(crate) async fn of(queries: &ServerQueries, places: &[Place]) -> Result<Answer<Vec<Fix>>> {
    let session = &queries.session;
    let mut coverage = Coverage::default();
    if let Err(failure) = session.ready(queries.deadlines.ready).await {
        return Ok(Answer::lacking(Vec::new(), failure.missing(session)));
    }
    if !session.has("textDocument/codeAction") {
        coverage.note(session.missing(MissingCode::Unsupported, format!("{} offers no fixes", session.row.server())));
        return Ok(Answer { value: Vec::new(), coverage });
    }
    let mut asked = Vec::new();
    for name in files_of(places) {
        let file = queries.file(name)?;
        match diagnostics::raw(queries, &file).await? {
            Ok(all) => asked.extend(all.into_iter().filter_map(|raw| {
                let diagnostic = diagnostics::diagnostic(queries, &file, &raw)?;
                let file = file.clone();
                places.contains(&diagnostic.place).then(|| against(queries, file, raw, diagnostic))
            })),
            Err(failure) => failure.note(session, &mut coverage),
        }
    }
    let offers: Vec<Result<Asked<Vec<Fix>>>> = futures::stream::iter(asked).buffered(AT_ONCE).collect().await;
    let mut fixes = Vec::new();
    for offered in offers {
        match offered? {
            Ok(offered) => fixes.extend(offered),
            Err(failure) => failure.note(session, &mut coverage),
        }
    }
    Ok(Answer { value: fixes, coverage })
}

async fn against(
    queries: &ServerQueries,
    file: Arc<File>,
    raw: Value,
    diagnostic: Diagnostic,
) -> Result<Asked<Vec<Fix>>> {
    let params = json!({
        "textDocument": {"uri": queries.session.root.uri(&file.path)},
        "range": raw.get("range"),
        "context": {"diagnostics": [raw], "only": ["quickfix"], "triggerKind": 1},
    });
    let actions = match queries.ask(&[&file.path], "textDocument/codeAction", &params).await? {
        Ok(Value::Array(actions)) => actions,
        Ok(_) => Vec::new(),
        Err(failure) => return Ok(Err(failure)),
    };
    let mut fixes = Vec::new();
    for action in actions.iter().filter(|it| is_offer(it, &raw)).take(MOST_ACTIONS) {
        let edit = match edit_of(queries, &file, action).await? {
            Ok(edit) => edit,
            Err(failure) => return Ok(Err(failure)),
        };
        let Some(changed) = edit.and_then(|it| changed(queries, &it)) else { continue };
        fixes.extend(Fix::new(&queries.files, diagnostic.clone(), title(action), changed));
    }
    Ok(Ok(fixes))
}

/// Whether an action can be applied and belongs to this diagnostic. An action that only has a command is excluded,
/// since the server runs the command and its effect is unknown before.
fn is_offer(action: &Value, raw: &Value) -> bool {
    let is_command = action.get("command").is_some_and(Value::is_string);
    let kind = action.get("kind").and_then(Value::as_str);
    let is_quick = kind.is_none_or(|it| it == "quickfix" || it.starts_with("quickfix."));
    let against = action.get("diagnostics").and_then(Value::as_array).filter(|it| !it.is_empty());
    let is_meant = against.is_none_or(|all| all.iter().any(|it| it.get("range") == raw.get("range")));
    !is_command && is_quick && is_meant && action.get("disabled").is_none_or(Value::is_null)
}

/// The edit of an action, which may have to be resolved first.
async fn edit_of(queries: &ServerQueries, file: &File, action: &Value) -> Result<Asked<Option<Value>>> {
    let edit = |it: &Value| it.get("edit").filter(|it| it.is_object()).cloned();
    if edit(action).is_some() || !queries.session.has("codeAction/resolve") {
        return Ok(Ok(edit(action)));
    }
    Ok(match queries.ask(&[&file.path], "codeAction/resolve", action).await? {
        Ok(resolved) => Ok(edit(&resolved)),
        // The server offered the action, but cannot resolve it.
        Err(Failure::Refused(_)) => Ok(None),
        Err(failure) => Err(failure),
    })
}

/// `None` if the edit changes more than texts of the workspace, or is not understood completely.
fn changed(queries: &ServerQueries, edit: &Value) -> Option<Vec<Parts>> {
    let of_file = |(uri, edits): wire::DocumentEdits| {
        let name = queries.session.root.file(&uri)?;
        let file = queries.files.get(&name)?;
        let parts = edits.into_iter().map(|(range, text)| (wire::span(file, range), text)).collect();
        Some((name, parts))
    };
    let edit = wire::workspace_edit(edit);
    if !edit.is_texts_alone {
        return None;
    }
    edit.files.into_iter().map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_done_against_it_is_offered() {
        let raw = json!({"range": {"start": 1}});
        let offered = |it: Value| is_offer(&it, &raw);
        assert!(offered(json!({"title": "a", "edit": {}})));
        assert!(offered(json!({"title": "a", "kind": "quickfix.x", "command": {"command": "c"}})));
        assert!(!offered(json!({"title": "a", "command": "c"})));
        assert!(!offered(json!({"title": "a", "kind": "refactor.inline"})));
        assert!(!offered(json!({"title": "a", "disabled": {"reason": "no"}})));
        assert!(offered(json!({"title": "a", "diagnostics": [raw.clone()]})));
        assert!(!offered(json!({"title": "a", "diagnostics": [{"range": {"start": 2}}]})));
    }
}
