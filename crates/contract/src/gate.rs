//! `gate`: whether the workspace may pass, by how many errors and warnings it has.

use serde::Serialize;
use utoipa::ToSchema;

use super::diagnostics::Counts;
use super::examples;
use super::request::request;
use super::shared_types::Meta;

request! { query
    /// The thresholds; each comes before the one of `[gate]` in the configuration.
    pub struct GateQuery {
        /// More errors than these are too many. Default: `[gate] max_errors`, 0.
        #[param(nullable = false)]
        pub max_errors: Option<usize>,
        /// More warnings than these are too many. Default: `[gate] max_warnings`, 10.
        #[param(nullable = false)]
        pub max_warnings: Option<usize>,
        /// Whether too many errors block. Default: `[gate] block_on_error`, true.
        #[param(nullable = false)]
        pub block_on_error: Option<bool>,
        /// Whether too many warnings block. Default: `[gate] block_on_warning`, false.
        #[param(nullable = false)]
        pub block_on_warning: Option<bool>,
        /// Only what is new since the baseline counts; without a baseline, all.
        #[param(nullable = false, default = false)]
        pub new_only: Option<bool>,
    }
}

/// Whether it passes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::gate))]
pub struct GateReply {
    /// A threshold is exceeded that blocks.
    pub block: bool,
    /// 2 where it blocks, else 0.
    pub exit_code: u8,
    /// Why it blocks.
    #[schema(examples("3 errors, 0 allowed"))]
    pub reasons: Vec<String>,
    /// What is beyond a threshold and does not block.
    #[schema(examples("12 warnings, 10 allowed"))]
    pub notices: Vec<String>,
    /// What was counted.
    pub counts: Counts,
    /// Where it is not complete, there may be more than was counted.
    pub meta: Meta,
}
