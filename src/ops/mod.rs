//! One file per verb: what is asked, composed from the workspace's answers, in the words of `model`.

pub mod changes;
pub mod read;

use std::time::Duration;

use crate::model::Meta;

/// What every request may say besides its question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    pub min_revision: Option<u64>,
    /// How long the answer may wait for what it needs; absent: the verb's own default.
    pub wait: Option<Duration>,
    pub max_tokens: Option<usize>,
    pub cursor: Option<String>,
    pub limit: Option<usize>,
}

/// An answer and what it says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<T> {
    pub value: T,
    pub meta: Meta,
}

/// A stretch of a long list: counted in full, continued by the cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing<T> {
    pub total: usize,
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
}
