//! A server's capabilities: its initialize result and its later registrations.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    fixed: Value,
    /// Later registrations by their ID: the method and its options.
    registered: BTreeMap<String, (String, Value)>,
}

impl Capabilities {
    pub(crate) fn new(fixed: Value) -> Capabilities {
        Capabilities { fixed, registered: BTreeMap::new() }
    }

    /// Handles `client/registerCapability` and `client/unregisterCapability`.
    pub(crate) fn take(&mut self, method: &str, params: &Value) {
        let text = |it: &Value, name: &str| it.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = |name: &str| params.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        match method {
            "client/registerCapability" => {
                for it in list("registrations") {
                    let options = it.get("registerOptions").cloned().unwrap_or_default();
                    self.registered.insert(text(&it, "id"), (text(&it, "method"), options));
                }
            }
            "client/unregisterCapability" => {
                // The misspelling is the protocol's.
                for it in list("unregisterations") {
                    self.registered.remove(&text(&it, "id"));
                }
            }
            _ => {}
        }
    }

    /// Whether the server implements a method.
    pub(crate) fn has(&self, method: &str) -> bool {
        let fixed = match method {
            "textDocument/references" => self.said("referencesProvider"),
            "textDocument/definition" => self.said("definitionProvider"),
            "textDocument/hover" => self.said("hoverProvider"),
            "textDocument/documentSymbol" => self.said("documentSymbolProvider"),
            "textDocument/implementation" => self.said("implementationProvider"),
            "textDocument/rename" => self.said("renameProvider"),
            "textDocument/codeAction" => self.said("codeActionProvider"),
            "textDocument/formatting" => self.said("documentFormattingProvider"),
            "textDocument/diagnostic" => self.said("diagnosticProvider"),
            "workspace/symbol" => self.said("workspaceSymbolProvider"),
            "codeAction/resolve" => {
                self.fixed.pointer("/codeActionProvider/resolveProvider") == Some(&Value::Bool(true))
            }
            "workspace/executeCommand" => self.said("executeCommandProvider"),
            _ => false,
        };
        fixed || self.registered.values().any(|it| it.0 == method)
    }

    /// Whether the server wants `textDocument/didSave`.
    pub(crate) fn wants_saves(&self) -> bool {
        let save = self.fixed.pointer("/textDocumentSync/save");
        save.is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)))
            || self.registered.values().any(|it| it.0 == "textDocument/didSave")
    }

    fn said(&self, name: &str) -> bool {
        self.fixed.get(name).is_some_and(|it| !matches!(it, Value::Null | Value::Bool(false)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_registered_later_counts_until_it_is_taken_back() {
        let mut capabilities =
            Capabilities::new(json!({"hoverProvider": true, "renameProvider": false, "definitionProvider": {}}));
        let has = |it: &Capabilities| {
            ["hover", "rename", "definition", "diagnostic"].map(|name| it.has(&format!("textDocument/{name}")))
        };
        assert_eq!(has(&capabilities), [true, false, true, false]);
        let params =
            json!({"registrations": [{"id": "1", "method": "textDocument/diagnostic", "registerOptions": {}}]});
        capabilities.take("client/registerCapability", &params);
        assert_eq!(has(&capabilities), [true, false, true, true]);
        capabilities.take("client/unregisterCapability", &json!({"unregisterations": [{"id": "1"}]}));
        assert_eq!(has(&capabilities), [true, false, true, false]);
    }
}
