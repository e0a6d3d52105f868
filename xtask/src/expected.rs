//! Expected values that are checked in. The tests that compare them also write them, if an environment variable asks
//! for it: `UPDATE_EXPECT`, which is the variable of the crate expect-test, or `SEMDEX_TRUTH`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::ValueEnum;

/// The features that the tests of the root package are built with, here as in the Makefile: nothing is built twice.
const FEATURES: &str = "bedrock,otel";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Truth {
    Record,
    Check,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    Truth(Truth),
    /// All of the unit tests, `Docs` included.
    UnitTests,
    Docs,
    Openapi,
    Snapshots,
}

impl Recording {
    /// Each expected value is in one of them.
    pub(crate) const ALL: [Recording; 4] =
        [Recording::Truth(Truth::Record), Recording::UnitTests, Recording::Openapi, Recording::Snapshots];

    fn variable(self) -> (&'static str, &'static str) {
        match self {
            Recording::Truth(Truth::Record) => ("SEMDEX_TRUTH", "record"),
            Recording::Truth(Truth::Check) => ("SEMDEX_TRUTH", "check"),
            Recording::UnitTests | Recording::Docs | Recording::Openapi | Recording::Snapshots => {
                ("UPDATE_EXPECT", "1")
            }
        }
    }

    /// The arguments of cargo.
    fn arguments(self) -> Vec<&'static str> {
        let of_the_engine = ["test", "--locked", "-p", "semdex-rust", "--lib"];
        let of_the_program = ["test", "--locked", "--features", FEATURES, "--test", "it"];
        match self {
            Recording::Truth(_) => [&of_the_engine[..], &["tests"]].concat(),
            Recording::UnitTests => vec!["test", "--locked", "--workspace", "--features", FEATURES, "--lib"],
            Recording::Docs => [&of_the_engine[..], &["the_documented_rules"]].concat(),
            Recording::Openapi => [&of_the_program[..], &["openapi"]].concat(),
            Recording::Snapshots => [&of_the_program[..], &["snapshots"]].concat(),
        }
    }

    /// The command as a reader would type it.
    fn shown(self) -> String {
        let (name, value) = self.variable();
        format!("{name}={value} cargo {}", self.arguments().join(" "))
    }
}

/// Runs the commands one after another, each printed before it starts, and stops at the first that fails.
pub(crate) fn run(root: &Path, recordings: &[Recording]) -> io::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    for recording in recordings {
        writeln!(io::stderr(), "+ {}", recording.shown())?;
        let (name, value) = recording.variable();
        let status = Command::new(&cargo).args(recording.arguments()).env(name, value).current_dir(root).status()?;
        if !status.success() {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_shown_as_it_is_typed() {
        let shown = Recording::ALL.map(Recording::shown);
        assert_eq!(
            shown,
            [
                "SEMDEX_TRUTH=record cargo test --locked -p semdex-rust --lib tests",
                "UPDATE_EXPECT=1 cargo test --locked --workspace --features bedrock,otel --lib",
                "UPDATE_EXPECT=1 cargo test --locked --features bedrock,otel --test it openapi",
                "UPDATE_EXPECT=1 cargo test --locked --features bedrock,otel --test it snapshots",
            ]
        );
        let docs = "UPDATE_EXPECT=1 cargo test --locked -p semdex-rust --lib the_documented_rules";
        assert_eq!(Recording::Docs.shown(), docs);
        assert!(Recording::Truth(Truth::Check).shown().starts_with("SEMDEX_TRUTH=check "));
    }
}
