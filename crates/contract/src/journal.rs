//! `undo` and `changes`: the journal.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Part, foreign_cursor, text_cost};
use super::enums::ChangeCause;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;
use semdex_model::Result;

request! { body
    /// Which change to take back.
    #[schema(examples(json!({"change": "01JD8M2Q6Z5V9K3T7W1X4Y0ABC"}), json!({"commit": "9d0f1c7"})))]
    pub struct UndoRequest {
        /// The token that the change was answered with; that of an undo brings back what it took. Either this or
        /// `commit`.
        pub change: Option<String>,
        /// A commit of HEAD's history, by its hash or the beginning of it: what it did is taken back as one change, and
        /// that is committed.
        #[schema(examples("9d0f1c7"))]
        pub commit: Option<String>,
        /// Answer the same, but change nothing.
        #[schema(default = false)]
        pub dry_run: Option<bool>,
    }
}

request! { query
    /// Which changes.
    pub struct ChangesQuery {
        /// Only changes of this file. Default: of all.
        #[param(nullable = false)]
        pub file: Option<String>,
        /// Each file with its diff.
        #[param(nullable = false, default = false)]
        pub diff: Option<bool>,
    }
}

/// The changes that were made, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::changes))]
pub struct ChangesReply {
    /// The newest first.
    pub changes: Vec<MadeChange>,
    /// However many the journal has, of all pages.
    pub total: usize,
    /// Continues with older changes; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at which the journal was read.
    pub meta: Meta,
}

impl ChangesReply {
    /// `has_more`: there are older ones.
    pub fn new(changes: Vec<MadeChange>, total: usize, has_more: bool, meta: Meta) -> ChangesReply {
        let mut reply = ChangesReply { changes, total, next_cursor: None, meta };
        if has_more {
            reply.continue_after_last();
        }
        reply
    }

    /// A cursor is the last change that was given, so that new ones do not shift the list.
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
    /// The token that takes it back.
    pub change: String,
    /// RFC 3339.
    #[schema(format = "date-time")]
    pub at: String,
    /// The one that it made.
    pub revision: u64,
    /// Which call made it.
    pub cause: ChangeCause,
    /// Who asked for it, as it calls itself: its `User-Agent`.
    #[schema(required)]
    pub client: Option<String>,
    /// Each file that it changed.
    pub files: Vec<MadeFile>,
    /// The change that this one took back.
    #[schema(required)]
    pub undoes: Option<String>,
    /// The change by which this one is taken back; null again when that one is taken back itself.
    #[schema(required)]
    pub undone_by: Option<String>,
    /// How much it reached, as it was judged when it was made. Absent of changes that an older semdex made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub impact: Option<ImpactCounts>,
}

/// The lengths of the lists of an `impact`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ImpactCounts {
    /// Symbols with another declaration.
    pub changed: usize,
    /// Places that did not compile any more.
    pub broken: usize,
    /// Places that still compiled, and depend on what changed.
    pub affected: usize,
    /// Tests that reach what changed.
    pub tests: usize,
    /// Nothing of it was unknown.
    pub complete: bool,
}

/// A file before and after a change.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MadeFile {
    /// Relative to the workspace root.
    pub file: String,
    /// BLAKE3 of the bytes, in hex; null where the file is gone.
    #[schema(required)]
    pub hash: Option<String>,
    /// Null where there was no file.
    #[schema(required)]
    pub old_hash: Option<String>,
    /// Unified; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub diff: Option<String>,
}
