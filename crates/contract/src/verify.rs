//! `verify`: what the compiler, the linter or the tests say of the workspace as it lies on the disk.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;

use super::budget::{Budget, Form, left_out, line_costs, text_cost};
use super::diagnostics::{Diagnostic, diagnostic_cost};
use super::enums::{Language, Severity, VerifyKind};
use super::examples;
use super::pages::{Kept, Pages};
use super::request::{Answer, request};
use super::shared_types::{Meta, list, milliseconds};
use semdex_model::{Code, Error, Result};

const DEFAULT_TIMEOUT_MS: u64 = 600_000;
/// A day: nobody waits longer for an answer.
const LONGEST_TIMEOUT_MS: u64 = 86_400_000;
/// The parts of a reply: diagnostics, failures, lines of the output.
const PARTS: usize = 3;

request! { body
    /// What to run. The workspace has to be trusted.
    #[schema(examples(json!({"kind": "test", "packages": ["grep_searcher"], "timeout_ms": 600_000})))]
    pub struct VerifyRequest {
        /// `check`: libraries, programs, tests, examples and build scripts are compiled. `lint`: the linter looks at them.
        /// `test`: the tests are run, past failures.
        pub kind: VerifyKind,
        /// Only these packages, by their names in replies or in manifests. Default: all.
        pub packages: Option<Vec<String>>,
        /// Only these tests, by their names as `failures` has them, or by the last part of a name. Default: all.
        pub tests: Option<Vec<String>>,
        /// The token of a change: only the packages that its files can reach. Default: all.
        pub change: Option<String>,
        /// How many milliseconds it may take, the wait for its turn included. Then all that runs is ended, and the answer
        /// says what is known by then.
        #[schema(default = 600_000, minimum = 1, maximum = 86_400_000)]
        pub timeout_ms: Option<u64>,
    }
}

impl VerifyRequest {
    /// How long all tools together may take. An `invalid_request` where it is 0 or beyond the longest.
    pub fn timeout(&self) -> Result<Duration> {
        match self.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS) {
            timeout @ 1..=LONGEST_TIMEOUT_MS => Ok(Duration::from_millis(timeout)),
            timeout => {
                let detail =
                    format!("`timeout_ms`: {timeout} is not between 1 and {LONGEST_TIMEOUT_MS} (milliseconds)");
                Err(Error::new(Code::InvalidRequest, detail))
            }
        }
    }
}

/// What the tools said.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::verified))]
pub struct VerifyReply {
    /// Which tools were asked for.
    pub kind: VerifyKind,
    /// Each tool that ran ended with the exit code 0, in time, and every test that was asked for was there.
    pub ok: bool,
    /// The deadline passed first.
    pub timed_out: bool,
    /// The first tool that failed, else the first that ran; empty where none did.
    pub command: Vec<String>,
    /// Of that tool; null where it was ended, or none ran.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// Of all together.
    pub duration_ms: f64,
    /// All tools that ran, in their order.
    pub runs: Vec<ToolRun>,
    /// The gravest first, each once though several targets report it.
    pub diagnostics: Vec<Diagnostic>,
    /// Only for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tests: Option<TestReport>,
    /// The last 200 lines that were printed.
    pub output: String,
    /// Where the reply was cut: with it, the same call brings the rest and runs nothing.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The revision that was verified, and what was not run.
    pub meta: Meta,
    /// Where the reply was cut.
    #[serde(skip)]
    pub pages: Pages<PARTS>,
}

/// A tool that was run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolRun {
    /// Whose tool it is.
    pub language: Language,
    /// Where, relative to the root; empty: the root.
    pub directory: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Null where it was ended, or could not be started.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// From its start to its end.
    pub duration_ms: f64,
}

/// How the tests went.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TestReport {
    /// Tests that ended well.
    pub passed: usize,
    /// Tests that failed; all of them, whatever `failures` holds.
    pub failed: usize,
    /// Tests that their own mark excludes.
    pub skipped: usize,
    /// Those of which the tool says more.
    pub failures: Vec<TestFailure>,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TestFailure {
    /// As its tool names it.
    #[schema(examples("lines::tests::line_iter"))]
    pub name: String,
    /// The package that the test is of. Absent where the tool does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// Of the panic or of the failed assertion, relative to the root; where that is not known, of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub file: Option<String>,
    /// In that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub line: Option<usize>,
    /// Of the panic or the failed assertion.
    pub message: String,
    /// What it printed, the middle left out where that is long.
    pub output: String,
    /// The path of the symbol in whose text the place stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub symbol: Option<String>,
}

impl From<semdex_model::ToolRun> for ToolRun {
    fn from(run: semdex_model::ToolRun) -> ToolRun {
        let semdex_model::ToolRun { language, directory, command, exit_code, duration } = run;
        ToolRun { language: language.into(), directory, command, exit_code, duration_ms: milliseconds(duration) }
    }
}

impl From<semdex_model::TestFailure> for TestFailure {
    fn from(failure: semdex_model::TestFailure) -> TestFailure {
        let semdex_model::TestFailure { name, package, file, line, message, output, symbol } = failure;
        TestFailure { name, package, file, line, message, output, symbol }
    }
}

impl VerifyReply {
    /// From what the tools said.
    pub fn new(verified: semdex_model::Verified, meta: Meta) -> VerifyReply {
        let semdex_model::Verified { kind, ok, timed_out, runs, duration, diagnostics, tests, output, .. } = verified;
        let has_failed = |it: &&semdex_model::ToolRun| it.exit_code != Some(0);
        let first = runs.iter().find(has_failed).or(runs.first());
        let (command, exit_code) = first.map_or((Vec::new(), None), |it| (it.command.clone(), it.exit_code));
        let tests = tests.map(|it| {
            let semdex_model::TestReport { passed, failed, skipped, failures } = it;
            TestReport { passed, failed, skipped, failures: list(failures) }
        });
        VerifyReply {
            kind: kind.into(),
            ok,
            timed_out,
            command,
            exit_code,
            duration_ms: milliseconds(duration),
            runs: list(runs),
            diagnostics: list(diagnostics),
            tests,
            output,
            next_cursor: None,
            meta,
            pages: Pages::default(),
        }
    }

    /// The tests that failed; empty where no tests were run.
    pub(crate) fn failures(&self) -> &[TestFailure] {
        self.tests.as_ref().map(|it| it.failures.as_slice()).unwrap_or_default()
    }

    /// Whether the output tells something that the lists do not.
    pub(crate) fn output_tells_more(&self) -> bool {
        let has_errors = self.diagnostics.iter().any(|it| it.severity == Severity::Error);
        !self.ok && (self.timed_out || !has_errors && self.failures().is_empty())
    }

    fn lengths(&self) -> [usize; PARTS] {
        [self.diagnostics.len(), self.failures().len(), self.output.split_inclusive('\n').count()]
    }
}

impl Kept for VerifyReply {
    fn keep_under(&mut self, id: &str) {
        self.pages = Pages::kept(id, self.lengths());
    }

    fn after(mut self, cursor: &str) -> Result<VerifyReply> {
        let lengths = self.lengths();
        let [diagnostics, failures, lines] = self.pages.resume(cursor, lengths)?;
        self.diagnostics.drain(..diagnostics.min(lengths[0]));
        if let Some(tests) = &mut self.tests {
            tests.failures.drain(..failures.min(lengths[1]));
        }
        self.output = self.output.split_inclusive('\n').skip(lines).collect();
        Ok(self)
    }
}

impl Answer for VerifyReply {
    fn meta(&mut self) -> Option<&mut Meta> {
        Some(&mut self.meta)
    }

    fn fit(&mut self, mut budget: Budget) -> Option<Vec<String>> {
        let form = budget.form();
        let words: usize = self.runs.iter().flat_map(|it| &it.command).map(|it| text_cost(it) + 3).sum();
        budget.spend(300 + form.or(words, 2 * words + 120 * self.runs.len()));
        if form == Form::Markdown && !self.output_tells_more() {
            // What is not shown is not cut.
            self.output = String::new();
            self.pages.parts[2] = Default::default();
        }
        let diagnostics = self.diagnostics.iter().map(|it| diagnostic_cost(it, form)).collect();
        let failures = self.failures().iter().map(|it| failure_cost(it, form)).collect();
        let lines = line_costs(&self.output, super::budget::Part::after(0, usize::MAX));
        let [diagnostics_part, failures_part, lines_part] = &mut self.pages.parts;
        budget.share(&mut [
            (diagnostics_part, diagnostics, 50),
            (failures_part, failures, 70),
            (lines_part, lines, 100),
        ]);
        let [diagnostics, failures, lines] = self.pages.parts.map(|it| it.count);
        self.diagnostics.truncate(diagnostics);
        if let Some(tests) = &mut self.tests {
            tests.failures.truncate(failures);
        }
        self.output = self.output.split_inclusive('\n').take(lines).collect();
        self.next_cursor = self.pages.next_cursor();
        let [diagnostics, failures, lines] = self.pages.parts;
        Some(left_out(&[("diagnostics", diagnostics), ("failures", failures), ("lines of the output", lines)]))
    }
}

fn failure_cost(it: &TestFailure, form: Form) -> usize {
    let texts = [&it.name, &it.message, &it.output].map(|it| text_cost(it)).into_iter().sum::<usize>();
    let optional = [&it.file, &it.package, &it.symbol].into_iter().flatten().map(|it| text_cost(it)).sum::<usize>();
    texts + optional + form.or(60, 140)
}
