//! The repository's own commands: `cargo xtask tidy` checks what Cargo, rustc and clippy do not, and all other commands record
//! expected values that are checked in.

mod expected;
mod tidy;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use expected::{Recording, Truth};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks of the repository, and records of expected values")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the rules that Cargo, rustc and clippy do not check; print each violation with its file and line
    Tidy,
    /// Write openapi.yaml
    Openapi,
    /// Ask the Rust compiler for its diagnostics of the test cases (four minutes)
    Truth {
        /// `record` writes the recorded diagnostics, `check` compares with them
        #[arg(value_enum, default_value_t = Truth::Record)]
        mode: Truth,
    },
    /// Write the expected texts of all unit tests (`expect!`) and what `docs` writes
    Expect,
    /// Write the generated tables of docs/
    Docs,
    /// Write tests/fixtures/snapshots
    Snapshots,
    /// Record all expected values: truth, expect, openapi and snapshots
    Bless,
}

fn main() -> ExitCode {
    let root = root();
    let done = match Arguments::parse().task {
        Task::Tidy => report(&root),
        Task::Openapi => expected::run(&root, &[Recording::Openapi]),
        Task::Truth { mode } => expected::run(&root, &[Recording::Truth(mode)]),
        Task::Expect => expected::run(&root, &[Recording::UnitTests]),
        Task::Docs => expected::run(&root, &[Recording::Docs]),
        Task::Snapshots => expected::run(&root, &[Recording::Snapshots]),
        Task::Bless => expected::run(&root, &Recording::ALL),
    };
    done.unwrap_or_else(|error| {
        // Standard error may be closed too, and then nobody reads it.
        let _ = writeln!(io::stderr(), "{error}");
        ExitCode::FAILURE
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn report(root: &Path) -> io::Result<ExitCode> {
    let complaints = tidy::check(root)?;
    let mut out = io::stdout().lock();
    for complaint in &complaints {
        writeln!(out, "{complaint}")?;
    }
    if complaints.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{} violations", complaints.len())?;
    Ok(ExitCode::FAILURE)
}
