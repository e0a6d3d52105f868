//! `verify`: runs the compiler, the linter or the tests on the files on disk.

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
/// A day; no client waits longer.
const LONGEST_TIMEOUT_MS: u64 = 86_400_000;
/// The lists of a reply: diagnostics, failures, lines of the output.
const PARTS: usize = 3;

request! { body
    /// What to run. The workspace must be trusted.
    #[schema(examples(json!({"kind": "test", "packages": ["grep_searcher"], "timeout_ms": 600_000})))]
    pub struct VerifyRequest {
        /// `check` compiles libraries, programs, tests, examples and build scripts. `lint` runs the linter on them.
        /// `test` runs the tests and does not stop at a failure.
        pub kind: VerifyKind,
        /// The packages, by their names in replies or manifests. Default: all.
        pub packages: Option<Vec<String>>,
        /// The tests, by their names as in `failures`, or by the last part of the name. Default: all.
        pub tests: Option<Vec<String>>,
        /// The token of a change: verify only packages that depend on its files. Default: all packages.
        pub change: Option<String>,
        /// The deadline in milliseconds, including the wait in the queue. At the deadline the tools are killed, and the
        /// reply has the results so far.
        #[schema(default = 600_000, minimum = 1, maximum = 86_400_000)]
        pub timeout_ms: Option<u64>,
    }
}

impl VerifyRequest {
    /// The deadline of all tools together. Returns `invalid_request` if it is out of range.
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

/// The findings of the tools.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(examples(examples::verified))]
pub struct VerifyReply {
    /// The kind of the request.
    pub kind: VerifyKind,
    /// Whether all tools exited with 0 in time, and all requested tests exist.
    pub ok: bool,
    /// Whether the deadline passed.
    pub timed_out: bool,
    /// The command line of the first failed tool, otherwise of the first tool. Empty if none ran.
    pub command: Vec<String>,
    /// The exit code of that tool. Null if it was killed, or if none ran.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// The time of all tools together.
    pub duration_ms: f64,
    /// The tools that ran, in their order.
    pub runs: Vec<ToolRun>,
    /// The diagnostics, the most severe first. A diagnostic of several targets is listed once.
    pub diagnostics: Vec<Diagnostic>,
    /// The results of the tests. Only for `test`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tests: Option<TestReport>,
    /// The last 200 lines of the output.
    pub output: String,
    /// The cursor for the rest of a shortened reply. The same call with it returns the rest and runs nothing.
    #[schema(required)]
    pub next_cursor: Option<String>,
    /// The verified revision, and what was not run.
    pub meta: Meta,
    /// The ranges of the lists that are in the page.
    #[serde(skip)]
    pub pages: Pages<PARTS>,
}

/// A tool that ran.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ToolRun {
    /// The language of the tool.
    pub language: Language,
    /// The directory, relative to the root. Empty: the root.
    pub directory: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The exit code. Null if it was killed or could not be started.
    #[schema(required)]
    pub exit_code: Option<i32>,
    /// The time from start to end.
    pub duration_ms: f64,
}

/// The results of the tests.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TestReport {
    /// The number of passed tests.
    pub passed: usize,
    /// The number of all failed tests, also those that are not in `failures`.
    pub failed: usize,
    /// The number of tests that are marked as ignored or skipped.
    pub skipped: usize,
    /// The failed tests with details.
    pub failures: Vec<TestFailure>,
}

/// A failed test.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TestFailure {
    /// The name given by the tool.
    #[schema(examples("lines::tests::line_iter"))]
    pub name: String,
    /// The package of the test. Absent if the tool does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// The file of the panic or failed assertion, relative to the root. If unknown, the file of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub file: Option<String>,
    /// The line in that file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub line: Option<usize>,
    /// The message of the panic or failed assertion.
    pub message: String,
    /// The output of the test. The middle of a long output is left out.
    pub output: String,
    /// The path of the symbol that contains the place.
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
    /// Converts the findings of the tools.
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

    /// The failed tests. Empty if no tests ran.
    pub(crate) fn failures(&self) -> &[TestFailure] {
        self.tests.as_ref().map(|it| it.failures.as_slice()).unwrap_or_default()
    }

    /// Whether the output has information that the lists do not have.
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
            // Markdown does not show this output, so the budget ignores it.
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
