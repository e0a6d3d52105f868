//! What the tools of a language report about the workspace on the disk: the terms of `verify`.

use std::time::Duration;

use super::{Coverage, Diagnostic, LanguageId};

/// The tool that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerifyKind {
    /// The compiler.
    Check,
    /// The linter.
    Lint,
    /// The tests.
    Test,
}

impl VerifyKind {
    /// The word for it in requests and replies: `check`.
    pub fn name(self) -> &'static str {
        match self {
            VerifyKind::Check => "check",
            VerifyKind::Lint => "lint",
            VerifyKind::Test => "test",
        }
    }
}

/// What all tools said together.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// The tool that was requested.
    pub kind: VerifyKind,
    /// Each tool that ran has ended well, and all that was asked for has run.
    pub ok: bool,
    /// The deadline came before all tools ended; the rest was not run.
    pub timed_out: bool,
    /// In the order in which they ran.
    pub runs: Vec<ToolRun>,
    /// From the first start to the last end.
    pub duration: Duration,
    /// Errors and warnings of all tools, with their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The results of the tests. None where no test was run.
    pub tests: Option<TestReport>,
    /// The last lines that were printed.
    pub output: String,
    /// What was not run, and why.
    pub coverage: Coverage,
}

/// One program that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRun {
    /// Whose tool it is.
    pub language: LanguageId,
    /// Where, relative to the root; `""` is the root.
    pub directory: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Absent where it was ended, or could not be started.
    pub exit_code: Option<i32>,
    /// From its start to its end.
    pub duration: Duration,
}

/// How many tests ended in which way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestReport {
    /// Tests that ended well.
    pub passed: usize,
    /// Tests that failed; `failures` may hold fewer.
    pub failed: usize,
    /// Tests that the tool did not run, by their own mark.
    pub skipped: usize,
    /// Those that failed, perhaps not all.
    pub failures: Vec<TestFailure>,
}

/// One test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestFailure {
    /// As the tool names it.
    pub name: String,
    /// The package that it is of, as replies name it.
    pub package: Option<String>,
    /// Relative to the root, or absolute outside of it.
    pub file: Option<String>,
    /// Where it failed, from 1; else where it begins. None where the tool says neither.
    pub line: Option<usize>,
    /// What it failed with: the message of the panic or the assertion.
    pub message: String,
    /// What it printed.
    pub output: String,
    /// The path of the symbol around the place.
    pub symbol: Option<String>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyProgress {
    /// What runs at the moment, for people to read.
    pub stage: String,
    /// So many of `total` steps are done.
    pub done: usize,
    /// 0 where nobody knows.
    pub total: usize,
}
