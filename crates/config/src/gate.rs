//! `[gate]`: how many errors and warnings a workspace may have.

use serde::Deserialize;

/// The thresholds that count in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// So many errors are allowed.
    pub max_errors: usize,
    /// So many warnings are allowed.
    pub max_warnings: usize,
    /// More errors block; else they are only reported.
    pub block_on_error: bool,
    /// More warnings block; else they are only reported.
    pub block_on_warning: bool,
    /// Whether an agent is stopped where a file that it edits has too many errors: only where the workspace's own file
    /// says `block_on_error = true`.
    pub stops_agents: bool,
}

const MAX_WARNINGS: usize = 10;

impl Gate {
    pub(super) fn new(workspace: &GateKeys, user: &GateKeys) -> Gate {
        Gate {
            max_errors: workspace.max_errors.or(user.max_errors).unwrap_or(0),
            max_warnings: workspace.max_warnings.or(user.max_warnings).unwrap_or(MAX_WARNINGS),
            block_on_error: workspace.block_on_error.or(user.block_on_error).unwrap_or(true),
            block_on_warning: workspace.block_on_warning.or(user.block_on_warning).unwrap_or(false),
            stops_agents: workspace.block_on_error == Some(true),
        }
    }
}

/// As a file says it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GateKeys {
    max_errors: Option<usize>,
    max_warnings: Option<usize>,
    block_on_error: Option<bool>,
    block_on_warning: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_counts_before_the_user_before_the_defaults() {
        let keys = |text: &str| toml::from_str::<GateKeys>(text).unwrap();
        let gate = |own: &str, user: &str| Gate::new(&keys(own), &keys(user));
        let defaults = Gate {
            max_errors: 0,
            max_warnings: 10,
            block_on_error: true,
            block_on_warning: false,
            stops_agents: false,
        };
        assert_eq!(gate("", ""), defaults);
        let user = "max_errors = 3\nblock_on_error = true\nblock_on_warning = true";
        assert_eq!(gate("", user), Gate { max_errors: 3, block_on_warning: true, ..defaults });
        assert_eq!(
            gate("max_errors = 1\nblock_on_error = true", user),
            Gate { max_errors: 1, block_on_warning: true, stops_agents: true, ..defaults }
        );
        assert_eq!(
            gate("block_on_error = false", user),
            Gate { max_errors: 3, block_on_error: false, block_on_warning: true, ..defaults }
        );
        assert!(toml::from_str::<GateKeys>("max_error = 1").is_err());
    }
}
