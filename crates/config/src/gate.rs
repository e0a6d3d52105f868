//! `[gate]`: how many errors and warnings a workspace may have.

use serde::{Deserialize, Serialize};

use super::defaults;

/// The thresholds in force in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The number of errors that are allowed.
    pub max_errors: usize,
    /// The number of warnings that are allowed.
    pub max_warnings: usize,
    /// Whether more errors block. Otherwise they are only reported.
    pub block_on_error: bool,
    /// Whether more warnings block. Otherwise they are only reported.
    pub block_on_warning: bool,
    /// Whether a hook stops an agent if a file that it edits has too many errors. Only the workspace's own file can
    /// turn this on, by `block_on_error = true`.
    pub stops_agents: bool,
    /// Which builds count, here and for `on_break: "reject"`.
    pub builds: CountedBuilds,
}

/// The builds whose errors count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedBuilds {
    /// The default build alone.
    #[default]
    Default,
    /// Further builds too.
    All,
}

impl CountedBuilds {
    /// Whether what is wrong in a build counts. `None`: the default build.
    pub fn counts(self, build: Option<&str>) -> bool {
        self == CountedBuilds::All || build.is_none()
    }
}

impl Gate {
    pub(super) fn new(workspace: &GateKeys, user: &GateKeys) -> Gate {
        Gate {
            max_errors: workspace.max_errors.or(user.max_errors).unwrap_or(defaults::MAX_ERRORS),
            max_warnings: workspace.max_warnings.or(user.max_warnings).unwrap_or(defaults::MAX_WARNINGS),
            block_on_error: workspace.block_on_error.or(user.block_on_error).unwrap_or(defaults::BLOCK_ON_ERROR),
            block_on_warning: workspace
                .block_on_warning
                .or(user.block_on_warning)
                .unwrap_or(defaults::BLOCK_ON_WARNING),
            stops_agents: workspace.block_on_error == Some(true),
            builds: workspace.builds.or(user.builds).unwrap_or_default(),
        }
    }
}

/// The keys of `[gate]` in a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GateKeys {
    max_errors: Option<usize>,
    max_warnings: Option<usize>,
    block_on_error: Option<bool>,
    block_on_warning: Option<bool>,
    builds: Option<CountedBuilds>,
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
            builds: CountedBuilds::Default,
        };
        assert_eq!(gate("", ""), defaults);
        assert_eq!(gate("", "builds = \"all\""), Gate { builds: CountedBuilds::All, ..defaults });
        assert_eq!(gate("builds = \"default\"", "builds = \"all\""), defaults);
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
