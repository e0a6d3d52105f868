//! The initialize request, and the handling of notifications from the server.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::pushed_diagnostics::Push;
use super::readiness::Work;
use super::session::Session;
use semdex_engine::{Progress, unpoisoned};
use semdex_lsp_client::Hooks;
use semdex_model::State;

pub(crate) fn hooks(session: &Arc<Session>, work: &Arc<Work>) -> Hooks {
    let (weak, work) = (Arc::downgrade(session), work.clone());
    let settings = session.row.keys.settings.clone().unwrap_or(Value::Null);
    Hooks {
        configuration: Box::new(move |section| section_of(&settings, section)),
        notified: Box::new(move |method, params| {
            let Some(session) = weak.upgrade() else { return };
            match method {
                "$/progress" => {
                    let stage = work.progress(&params);
                    session.status.send_if_modified(|status| {
                        let is_loading = status.state == State::Indexing && stage.is_some();
                        if let Some(stage) = stage.filter(|_| is_loading) {
                            status.progress = Some(Progress { stage, done: 0, total: 0 });
                        }
                        is_loading
                    });
                }
                "textDocument/publishDiagnostics" => published(&session, &params),
                "textDocument/clangd.fileStatus" => {
                    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
                    if let Some(file) = session.root.file(text("uri")) {
                        session.pushed.note_busy(file, text("state") != "idle");
                    }
                }
                "client/registerCapability" | "client/unregisterCapability" => {
                    unpoisoned::lock(&session.capabilities).take(method, &params);
                }
                "workspace/applyEdit" => {
                    if let (Some(edits), Some(edit)) = (&mut *unpoisoned::lock(&session.commanded), params.get("edit"))
                    {
                        edits.push(edit.clone());
                    }
                }
                "window/logMessage" | "window/showMessage" | "language/status" => {
                    let message = params.get("message").and_then(Value::as_str).unwrap_or_default().trim_end();
                    tracing::trace!(target: "semdex::engine", server = session.row.server(), "{message}");
                    work.log(message);
                    work.log(params.get("type").and_then(Value::as_str).unwrap_or_default());
                }
                _ => {}
            }
        }),
    }
}

fn published(session: &Session, params: &Value) {
    let file = params.get("uri").and_then(Value::as_str).and_then(|it| session.root.file(it));
    let (Some(file), Some(items)) = (file, params.get("diagnostics").and_then(Value::as_array)) else { return };
    let version = params.get("version").and_then(Value::as_i64);
    session.pushed.take(file, Push { version, items: items.clone(), at: Instant::now() });
}

/// The settings of one section. `python.analysis` is a path in them.
fn section_of(settings: &Value, section: Option<&str>) -> Value {
    let parts = section.unwrap_or_default().split('.').filter(|it| !it.is_empty());
    parts.fold(settings.clone(), |value, part| value.get(part).cloned().unwrap_or(Value::Null))
}

pub(crate) fn initialize_params(session: &Session) -> Value {
    let folders: Vec<Value> = session
        .folders()
        .iter()
        .map(|it| json!({"uri": session.root.uri(it), "name": it.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("root")}))
        .collect();
    let kinds: Vec<u32> = (1..=26).collect();
    let dynamic = json!({"dynamicRegistration": true});
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "semdex", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": folders.first().map(|it| it["uri"].clone()),
        "rootPath": session.root.directory(),
        "workspaceFolders": folders,
        "initializationOptions": session.row.keys.init,
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": dynamic,
                "didChangeWatchedFiles": dynamic,
                "symbol": {"symbolKind": {"valueSet": kinds}},
                "applyEdit": true,
                "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
                "diagnostics": {"refreshSupport": true},
            },
            "window": {"workDoneProgress": true, "showMessage": {}},
            "textDocument": {
                "synchronization": {"dynamicRegistration": true, "didSave": true},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "definition": {"linkSupport": false},
                "references": dynamic,
                "implementation": {"linkSupport": false},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true, "symbolKind": {"valueSet": kinds}},
                "rename": {"prepareSupport": true},
                "formatting": dynamic,
                "codeAction": {
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor", "source", "source.organizeImports"]}},
                    "resolveSupport": {"properties": ["edit"]},
                    "dataSupport": true,
                },
                "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
                "publishDiagnostics": {"versionSupport": true, "relatedInformation": true, "codeDescriptionSupport": true, "tagSupport": {"valueSet": [1, 2]}},
            },
        },
    })
}
