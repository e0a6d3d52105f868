//! Questions of a kind that a server has answered, and refuses now one after another by an internal error: something in it
//! is stuck, and it has to begin anew.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::lang::sound;

/// `InternalError`.
pub const INTERNAL: i64 = -32603;
/// So many questions in a row, each another one.
const STUCK_AFTER: usize = 3;

/// By the method.
#[derive(Default)]
pub struct Refusals(Mutex<BTreeMap<String, OfMethod>>);

#[derive(Default)]
struct OfMethod {
    has_answered: bool,
    refused: Vec<Value>,
}

impl Refusals {
    pub fn note_answer(&self, method: &str) {
        sound::lock(&self.0).insert(method.to_owned(), OfMethod { has_answered: true, refused: Vec::new() });
    }

    /// Whether that shows the server to be stuck. What it never answered it may not be able to.
    pub fn note(&self, method: &str, params: &Value) -> bool {
        let mut all = sound::lock(&self.0);
        let Some(it) = all.get_mut(method).filter(|it| it.has_answered) else { return false };
        if !it.refused.contains(params) {
            it.refused.push(params.clone());
        }
        it.refused.len() >= STUCK_AFTER
    }

    /// Another server is started.
    pub fn forget(&self) {
        sound::lock(&self.0).clear();
    }
}
