//! `gate`: whether the numbers of errors and warnings are within the thresholds.

use serde::Serialize;
use utoipa::ToSchema;

use super::diagnostics::Counts;
use super::examples;
use super::request::request;
use super::shared_types::Meta;

request! { query
    /// The thresholds. Each takes precedence over `[gate]` in the configuration.
    pub struct GateQuery {
        /// The largest allowed number of errors. Default: `[gate] max_errors`, 0.
        #[param(nullable = false)]
        pub max_errors: Option<usize>,
        /// The largest allowed number of warnings. Default: `[gate] max_warnings`, 10.
        #[param(nullable = false)]
        pub max_warnings: Option<usize>,
        /// Whether too many errors block. Default: `[gate] block_on_error`, true.
        #[param(nullable = false)]
        pub block_on_error: Option<bool>,
        /// Whether too many warnings block. Default: `[gate] block_on_warning`, false.
        #[param(nullable = false)]
        pub block_on_warning: Option<bool>,
        /// Count only diagnostics that are new since the baseline. Without a baseline, all count.
        #[param(nullable = false, default = false)]
        pub new_only: Option<bool>,
    }
}

/// Whether the workspace passes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::gate))]
pub struct GateReply {
    /// Whether a blocking threshold is exceeded.
    pub block: bool,
    /// 2 if it blocks, otherwise 0.
    pub exit_code: u8,
    /// Why it blocks.
    #[schema(examples("3 errors, 0 allowed"))]
    pub reasons: Vec<String>,
    /// The exceeded thresholds that do not block.
    #[schema(examples("12 warnings, 10 allowed"))]
    pub notices: Vec<String>,
    /// The counted diagnostics.
    pub counts: Counts,
    /// If it is not complete, there may be more diagnostics.
    pub meta: Meta,
}
