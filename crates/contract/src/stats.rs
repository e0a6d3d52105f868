//! `stats`: what hooks and questions have seen of files since the start, file by file and session by session.

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Listing, left_out};
use super::diagnostics::Counts;
use super::examples;
use super::request::{Answer, request};
use super::shared_types::Meta;

request! { query
    /// Of what.
    pub struct StatsQuery {
        /// A session of an agent, by the `session_id` of its hooks. Absent: all since the start.
        #[param(nullable = false)]
        pub session: Option<String>,
    }
}

/// The statistics. They are kept in memory: the last 128 sessions, of each the last 2,000 files, of each file the last
/// 100 states.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::stats))]
pub struct StatsReply {
    /// Null where all is asked for.
    #[schema(required)]
    pub session: Option<String>,
    /// RFC 3339: the session's first hook, or the start; null for a session that nobody has heard of.
    #[schema(required, format = "date-time")]
    pub since: Option<String>,
    /// How many edits of files hooks have told of.
    pub edits: u64,
    /// The sum over the files, each as it was seen last.
    pub counts: Counts,
    /// Those with most errors first.
    #[schema(value_type = Vec<FileStats>)]
    pub files: Listing<FileStats>,
    /// Continues the files; null where nothing is left.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision at which it was asked.
    pub meta: Meta,
}

/// A file as it was seen last, and before.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileStats {
    /// Relative to the workspace root.
    pub file: String,
    /// As it was seen last.
    pub errors: usize,
    /// As it was seen last.
    pub warnings: usize,
    /// The oldest first; one for each revision at which it was looked at.
    pub history: Vec<FileState>,
}

/// A file at one revision.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FileState {
    /// At which it was looked at.
    pub revision: u64,
    /// Of the file alone.
    pub errors: usize,
    /// Of the file alone.
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
