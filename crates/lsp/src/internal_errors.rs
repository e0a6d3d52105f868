//! Detects a server that is stuck: it answered requests of a method before, and now refuses them by internal errors. It
//! has to be restarted.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use semdex_engine::unpoisoned;

/// `InternalError`.
pub(crate) const INTERNAL: i64 = -32603;
/// The number of different requests in a row that must fail. One or two failures may be requests that exceed the
/// abilities of a healthy server.
const STUCK_AFTER: usize = 3;

/// By each method that was answered, the parameters of requests that were refused since.
#[derive(Default)]
pub(crate) struct InternalErrors(Mutex<BTreeMap<String, Vec<Value>>>);

impl InternalErrors {
    pub(crate) fn note_answer(&self, method: &str) {
        let mut all = unpoisoned::lock(&self.0);
        match all.get_mut(method) {
            Some(refused) => refused.clear(),
            None => drop(all.insert(method.to_owned(), Vec::new())),
        }
    }

    /// Records a refusal. Returns whether the server is stuck. A method that was never answered may be beyond the
    /// server's abilities.
    pub(crate) fn note_refusal(&self, method: &str, params: &Value) -> bool {
        let mut all = unpoisoned::lock(&self.0);
        let Some(refused) = all.get_mut(method) else { return false };
        if !refused.contains(params) {
            refused.push(params.clone());
        }
        refused.len() >= STUCK_AFTER
    }

    /// A new server was started.
    pub(crate) fn forget(&self) {
        unpoisoned::lock(&self.0).clear();
    }
}
