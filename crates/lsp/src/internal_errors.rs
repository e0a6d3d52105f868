//! Questions of a kind that a server has answered, and refuses now one after another by an internal error: something in it
//! is stuck, and it has to begin anew.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use semdex_engine::unpoisoned;

/// `InternalError`.
pub(crate) const INTERNAL: i64 = -32603;
/// So many questions in a row, each another one: one or two may be more than the server can do, where it is well otherwise.
const STUCK_AFTER: usize = 3;

/// By each method that was answered, what was refused since.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<String, Vec<Value>>>);

impl Refusals {
    pub(crate) fn note_answer(&self, method: &str) {
        let mut all = unpoisoned::lock(&self.0);
        match all.get_mut(method) {
            Some(refused) => refused.clear(),
            None => drop(all.insert(method.to_owned(), Vec::new())),
        }
    }

    /// Whether that shows the server to be stuck. What it never answered it may not be able to.
    pub(crate) fn note_refusal(&self, method: &str, params: &Value) -> bool {
        let mut all = unpoisoned::lock(&self.0);
        let Some(refused) = all.get_mut(method) else { return false };
        if !refused.contains(params) {
            refused.push(params.clone());
        }
        refused.len() >= STUCK_AFTER
    }

    /// Another server is started.
    pub(crate) fn forget(&self) {
        unpoisoned::lock(&self.0).clear();
    }
}
