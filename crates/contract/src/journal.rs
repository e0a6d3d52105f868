//! `undo` and `changes`: the journal of changes.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Part, foreign_cursor, text_cost};
use super::enums::{ChangeCause, OnConflict};
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;
use semdex_model::Result;

request! { body
    /// Which change to undo.
    #[schema(examples(json!({"change": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC"}), json!({"commit": "9d0f1c7"})))]
    pub struct UndoRequest {
        /// The token in the reply of the change. The token of an undo restores what it undid. Give either this or
        /// `commit`.
        pub change: Option<String>,
        /// A commit in the history of HEAD, by its hash or a prefix of it. Its effect is reverted as one change, and
        /// the result is committed.
        #[schema(examples("9d0f1c7"))]
        pub commit: Option<String>,
        /// With `change`: what happens if its files changed since. `merge` keeps the changes of others, `refuse`
        /// answers `hash_mismatch`.
        #[schema(default = "merge")]
        pub on_conflict: Option<OnConflict>,
        /// Return the same reply, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
        /// The name that the client gives itself, any text. The header `X-Session` says the same.
        pub session: Option<String>,
    }
}

request! { query
    /// Which changes.
    pub struct ChangesQuery {
        /// Only changes of this file. Default: of all files.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// Include the diff of each file.
        #[param(nullable = false, default = false)]
        pub diff: Option<bool>,
    }
}

/// The changes of the workspace, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::changes))]
pub struct ChangesReply {
    /// The newest first.
    pub changes: Vec<MadeChange>,
    /// The number of changes in the journal, on all pages.
    pub total: usize,
    /// Continues with older changes. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at which the journal was read.
    pub meta: Meta,
}

impl ChangesReply {
    /// `has_more`: whether there are older changes.
    pub fn new(changes: Vec<MadeChange>, total: usize, has_more: bool, meta: Meta) -> ChangesReply {
        let mut reply = ChangesReply { changes, total, next_cursor: None, meta };
        if has_more {
            reply.continue_after_last();
        }
        reply
    }

    /// A cursor names the last change of the page, so that new changes do not shift the list.
    fn continue_after_last(&mut self) {
        self.next_cursor = self.changes.last().map(|it| format!("{BEFORE}{}", it.change));
    }
}

const BEFORE: &str = "before-";

/// The change that a cursor continues after.
pub fn position_in_changes(cursor: &str) -> Result<String> {
    cursor.strip_prefix(BEFORE).map(str::to_owned).ok_or_else(|| foreign_cursor(cursor))
}

impl Answer for ChangesReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        let before = self.changes.len();
        let mut part = Part::after(0, before);
        budget.share(&mut [(&mut part, self.changes.iter().map(cost).collect(), 100)]);
        if part.count == before {
            return Some(Vec::new());
        }
        self.changes.truncate(part.count);
        self.continue_after_last();
        Some(vec![format!("{} of {before} changes", self.changes.len())])
    }
}

fn cost(change: &MadeChange) -> usize {
    let file = |it: &MadeFile| text_cost(&it.file) + it.diff.as_deref().map_or(0, text_cost) + 180;
    300 + change.client.as_deref().map_or(0, text_cost) + change.files.iter().map(file).sum::<usize>()
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MadeChange {
    /// The token for `undo`.
    pub change: String,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub at: String,
    /// The revision that it created.
    pub revision: u64,
    /// The call that made the change.
    pub cause: ChangeCause,
    /// The `User-Agent` of the client that made it.
    #[schema(required)]
    pub client: Option<String>,
    /// The changed files.
    pub files: Vec<MadeFile>,
    /// The change that this one undid.
    #[schema(required)]
    pub undoes: Option<String>,
    /// The change that undid this one. Null again if that change was undone itself.
    #[schema(required)]
    pub undone_by: Option<String>,
    /// The size of its impact, as computed when it was made. Absent for changes made by an older semdex.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub impact: Option<ImpactCounts>,
}

/// The lengths of the lists of an `impact`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImpactCounts {
    /// Symbols whose declaration changed.
    pub changed: usize,
    /// Places that no longer compiled.
    pub broken: usize,
    /// Places that still compiled but depend on what changed.
    pub affected: usize,
    /// Tests that reach what changed.
    pub tests: usize,
    /// Whether the impact was complete.
    pub complete: bool,
}

/// A file before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MadeFile {
    /// Relative to the workspace root.
    pub file: String,
    /// BLAKE3 of the new bytes, in hex. Null if the file was deleted.
    #[schema(required)]
    pub hash: Option<String>,
    /// BLAKE3 of the old bytes, in hex. Null if the file was new.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// The unified diff, if the request has `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<String>,
}
