//! `semdex verify`: the compiler, the linter or the tests, with an exit code for the result.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::client::Call;
use super::request_options::RequestOptions;
use semdex_contract::Name;

#[derive(Debug, Args)]
pub struct VerifyCode {
    /// The tool to run.
    kind: Kind,
    /// Only this package; may be repeated.
    #[arg(long = "package", value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Only this test, by its name or the last part of it; may be repeated.
    #[arg(long = "test", value_name = "TEST")]
    tests: Vec<String>,
    /// Only what this change can affect, by its token.
    #[arg(long)]
    change: Option<String>,
    /// Time limit in milliseconds. Default: 600000.
    #[arg(long)]
    timeout_ms: Option<u64>,
    #[command(flatten)]
    pub(super) common: RequestOptions,
}

/// The tool to run.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Kind {
    /// The compiler, on libraries, programs, tests and examples.
    Check,
    /// The linter: clippy, or `go vet`.
    Lint,
    /// The tests.
    Test,
}

impl Kind {
    /// As the contract defines it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Lint => "lint",
            Kind::Test => "test",
        }
    }
}

impl VerifyCode {
    pub(super) fn call(self) -> (Call, RequestOptions) {
        let listed = |it: Vec<String>| Some(it).filter(|it| !it.is_empty());
        let call = Call::of(Name::Verify)
            .with("kind", Some(self.kind.name()))
            .with("packages", listed(self.packages))
            .with("tests", listed(self.tests))
            .with("change", self.change)
            .with("timeout_ms", self.timeout_ms);
        (call, self.common)
    }
}

/// Whether the answer says that the tools failed.
pub(super) fn has_failed(text: &str, json: bool) -> bool {
    if json {
        let reply: Value = serde_json::from_str(text).unwrap_or_default();
        return reply["ok"] != true;
    }
    // The heading of the answer: `# check: ok (…)`.
    !text.lines().next().is_some_and(|it| it.contains(": ok ("))
}
