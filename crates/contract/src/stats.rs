//! `stats`: the errors and warnings that hooks and requests have seen since the start, by file and by session.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, left_out};
use super::diagnostics::Counts;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;

request! { query
    /// Which statistics to return.
    pub struct StatsQuery {
        /// The session of an agent, by the `session_id` of its hooks. Default: everything since the start.
        #[param(nullable = false)]
        pub session: Option<String>,
    }
}

/// The statistics. They are kept in memory: the last 128 sessions, 2,000 files of each session, and 100 states of each
/// file.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::stats))]
pub struct StatsReply {
    /// The session. Null if the request names none.
    #[schema(required)]
    pub session: Option<String>,
    /// The time of the first hook of the session, or of the start, as RFC 3339. Null for an unknown session.
    #[schema(required, format = "date-time")]
    pub since: Option<String>,
    /// The number of edits that hooks reported.
    pub edits: u64,
    /// The sum over the last states of all files.
    pub counts: Counts,
    /// The files with the most errors first.
    #[schema(value_type = Vec<FileStats>)]
    pub files: Listing<FileStats>,
    /// Continues the files. Null if nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at the time of the request.
    pub meta: Meta,
}

/// The last state of a file and its history.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileStats {
    /// Relative to the workspace root.
    pub file: String,
    /// The number in the last state.
    pub errors: usize,
    /// The number in the last state.
    pub warnings: usize,
    /// The states, the oldest first, one for each revision at which the file was analysed.
    pub history: Vec<FileState>,
}

/// A file at one revision.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileState {
    /// The revision at which the file was analysed.
    pub revision: u64,
    /// The number in this file.
    pub errors: usize,
    /// The number in this file.
    pub warnings: usize,
}

impl Answer for StatsReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        budget.spend(160);
        let form = budget.form();
        self.files
            .cut(&mut budget, |it| it.file.len() + form.or(40 + 8 * it.history.len(), 60 + 48 * it.history.len()));
        self.next_cursor = self.files.next_cursor();
        Some(left_out(&[("files", self.files.part)]))
    }
}
