//! Messages from a server: answers to our requests, its own requests, and notifications.

use gen_lsp_types::{LspNotificationMethod, LspRequestMethod};
use serde_json::{Value, json};

use super::client::{Hooks, RequestError};

const METHOD_NOT_FOUND: i64 = -32601;

pub(crate) enum Incoming {
    Answer { id: i64, outcome: Result<Value, RequestError> },
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
}

/// Distinguishes the three kinds of message. `Err` describes a message that is none of them.
pub(crate) fn parse(body: &[u8]) -> Result<Incoming, String> {
    let message: Value = serde_json::from_slice(body).map_err(|error| format!("not JSON: {error}"))?;
    let Value::Object(mut message) = message else { return Err("a message that is not an object".to_owned()) };
    let id = message.remove("id").filter(|id| !id.is_null());
    let params = message.remove("params").unwrap_or(Value::Null);
    match (message.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(_), _) => Err("a method that is not a string".to_owned()),
        (None, Some(id)) => {
            let id = id.as_i64().ok_or("an answer to a request that was never made")?;
            let outcome = match message.remove("error") {
                Some(Value::Object(error)) => Err(RequestError::Refused {
                    code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                    message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
                }),
                _ => match message.remove("result") {
                    Some(result) => Ok(result),
                    None => Err(RequestError::Malformed("an answer with neither result nor error".to_owned())),
                },
            };
            Ok(Incoming::Answer { id, outcome })
        }
        (None, None) => Err("a message with neither method nor id".to_owned()),
    }
}

/// Answers a request of the server. Every request gets an answer: without one, some servers stop working.
pub(crate) fn answer(hooks: &Hooks, id: &Value, method: &str, params: &Value) -> Value {
    let result = match LspRequestMethod::from(method) {
        LspRequestMethod::WorkspaceConfiguration => {
            let items = params.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            items.iter().map(|item| (hooks.configuration)(item.get("section").and_then(Value::as_str))).collect()
        }
        // Only semdex's own writer changes files, never a server.
        LspRequestMethod::WorkspaceApplyEdit => {
            json!({"applied": false, "failureReason": "this client applies no edits"})
        }
        LspRequestMethod::WindowShowDocument => json!({"success": false}),
        LspRequestMethod::ClientRegisterCapability
        | LspRequestMethod::ClientUnregisterCapability
        | LspRequestMethod::WindowWorkDoneProgressCreate
        | LspRequestMethod::WindowShowMessageRequest
        | LspRequestMethod::WorkspaceWorkspaceFolders
        | LspRequestMethod::WorkspaceCodeLensRefresh
        | LspRequestMethod::WorkspaceSemanticTokensRefresh
        | LspRequestMethod::WorkspaceInlayHintRefresh
        | LspRequestMethod::WorkspaceInlineValueRefresh
        | LspRequestMethod::WorkspaceDiagnosticRefresh => Value::Null,
        _ => {
            let error = json!({"code": METHOD_NOT_FOUND, "message": format!("{method} is not known to this client")});
            return json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Whether a server's request also goes to the notification hook. These requests register capabilities, or contain the
/// edit of a command.
pub(crate) fn is_passed_on(method: &str) -> bool {
    use LspRequestMethod::{ClientRegisterCapability, ClientUnregisterCapability, WorkspaceApplyEdit};
    matches!(LspRequestMethod::from(method), ClientRegisterCapability | ClientUnregisterCapability | WorkspaceApplyEdit)
}

pub(crate) fn cancel(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "method": LspNotificationMethod::CancelRequest.as_str(), "params": {"id": id}})
}
