//! What every verb takes.

use clap::Args;

use super::client::Call;
use super::here::Here;

/// What a verb that did not go well has the process end with.
pub(super) const FAILED: u8 = 1;

// Said with any verb that asks the server something. Documentation here would become that of each verb.
#[derive(Debug, Args)]
pub struct Common {
    /// JSON instead of Markdown.
    #[arg(long)]
    pub(super) json: bool,
    /// How many milliseconds to wait for the index.
    #[arg(long)]
    wait_ms: Option<u64>,
    #[arg(long)]
    min_revision: Option<u64>,
    /// About how many tokens the answer may have.
    #[arg(long)]
    max_tokens: Option<usize>,
    /// How many items at most.
    #[arg(long)]
    limit: Option<usize>,
    /// Where the last answer told to go on.
    #[arg(long)]
    cursor: Option<String>,
}

impl Common {
    pub(super) fn over(self, call: Call, here: &Here) -> Call {
        let workspace = here.server.roots.contains(&here.root).then(|| here.root.to_string_lossy().into_owned());
        call.with("workspace", workspace)
            .with("wait_ms", self.wait_ms)
            .with("min_revision", self.min_revision)
            .with("max_tokens", self.max_tokens)
            .with("limit", self.limit)
            .with("cursor", self.cursor)
    }
}
