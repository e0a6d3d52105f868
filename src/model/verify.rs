//! What the tools of a language say of the workspace as it lies on the disk: the words of `verify`.

use std::time::Duration;

use super::{Coverage, Diagnostic, LanguageId};

/// Which tool is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerifyKind {
    Check,
    Lint,
    Test,
}

impl VerifyKind {
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
    pub kind: VerifyKind,
    /// Each tool that ran has ended well, and all that was asked for has run.
    pub ok: bool,
    pub timed_out: bool,
    pub runs: Vec<ToolRun>,
    pub duration: Duration,
    pub diagnostics: Vec<Diagnostic>,
    pub tests: Option<TestReport>,
    /// The last lines that were printed.
    pub output: String,
    pub coverage: Coverage,
}

/// One program that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRun {
    pub language: LanguageId,
    /// Where, relative to the root; `""` is the root.
    pub directory: String,
    pub command: Vec<String>,
    /// Absent where it was ended, or could not be started.
    pub exit_code: Option<i32>,
    pub duration: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestReport {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Those that failed, perhaps not all.
    pub failures: Vec<TestFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestFailure {
    /// As the tool names it.
    pub name: String,
    /// The package that it is of, as replies name it.
    pub package: Option<String>,
    /// Relative to the root, or absolute outside of it.
    pub file: Option<String>,
    pub line: Option<usize>,
    pub message: String,
    /// What it printed.
    pub output: String,
    /// The path of the symbol around the place.
    pub symbol: Option<String>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyProgress {
    pub stage: String,
    pub done: usize,
    /// 0 where nobody knows.
    pub total: usize,
}
