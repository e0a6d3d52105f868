//! Options that every command takes, and those that lists take.

use clap::Args;

use super::client::Call;
use super::target::Target;

/// The exit code of a command that failed.
pub(super) const FAILED: u8 = 1;

// Flattened into every command that sends a request. A doc comment here would replace the help of those commands.
#[derive(Debug, Args)]
pub struct RequestOptions {
    /// Print JSON instead of Markdown.
    #[arg(long)]
    pub(super) json: bool,
    /// Wait at most so many milliseconds for the index.
    #[arg(long)]
    wait_ms: Option<u64>,
    /// Answer only once the workspace has reached this revision, which an earlier answer named.
    #[arg(long)]
    min_revision: Option<u64>,
    /// Limit the answer to about so many tokens.
    #[arg(long)]
    max_tokens: Option<usize>,
    /// Continue from this cursor of the previous answer.
    #[arg(long)]
    cursor: Option<String>,
    /// Name of the client, any text. Its edits are merged with the changes of others that it has not seen.
    #[arg(long, value_name = "NAME")]
    pub(super) session: Option<String>,
}

/// The option of the commands that list something.
#[derive(Debug, Args)]
pub struct Limit {
    /// Return at most so many items.
    #[arg(long, value_name = "COUNT")]
    limit: Option<usize>,
}

impl Limit {
    pub(super) fn over(self, call: Call) -> Call {
        call.with("limit", self.limit)
    }
}

impl RequestOptions {
    pub(super) fn over(self, call: Call, target: &Target) -> Call {
        let workspace = target.server.roots.contains(&target.root).then(|| target.root.to_string_lossy().into_owned());
        let call = Call { session: self.session, ..call };
        call.with("workspace", workspace)
            .with("wait_ms", self.wait_ms)
            .with("min_revision", self.min_revision)
            .with("max_tokens", self.max_tokens)
            .with("cursor", self.cursor)
    }
}
