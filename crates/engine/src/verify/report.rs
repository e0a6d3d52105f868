//! The results of a run so far. They are bounded: a report stays small, whatever a program prints.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::process::{Command, ExitStatus};
use std::time::Instant;

use super::Job;
use semdex_model::{Coverage, Diagnostic, LanguageId, Missing, MissingCode, TestFailure, TestReport, ToolRun};
use semdex_process::priority;
pub use semdex_process::process_group::Failure;
pub use semdex_process::process_group::lines::{Stream, Streams, run_lines};

/// How much is kept: with the overhead of JSON a reply stays below 2 MiB.
const MOST_DIAGNOSTICS: usize = 2000;
const MOST_FAILURES: usize = 1000;
/// How many diagnostics are compared to find duplicates. Later diagnostics count even if they are duplicates.
const MOST_SEEN: usize = 100_000;
const DIAGNOSTIC_BYTES: usize = 400 << 10;
const FAILURE_BYTES: usize = 400 << 10;
const OUTPUT_LINES: usize = 200;
const OUTPUT_BYTES: usize = 192 << 10;
const LONGEST_OUTPUT_LINE: usize = 4 << 10;
/// How much of a test's output is kept, from its beginning and from its end.
const HEAD_BYTES: usize = 4 << 10;
const TAIL_BYTES: usize = 12 << 10;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It succeeded.
    Well,
    /// It reported a failure.
    Badly,
    /// It could not be started, ran into the deadline, or is no longer wanted. Nothing else is to be run.
    Over,
}

/// The results of the tools so far. What exceeds the bounds is counted and left out.
#[derive(Debug, Default)]
pub struct Report {
    /// The tools that have run, in their order.
    pub runs: Vec<ToolRun>,
    /// Something has failed that no exit code shows.
    pub has_failed: bool,
    /// The deadline has passed.
    pub timed_out: bool,
    /// `None` if no test was run.
    pub tests: Option<TestReport>,
    /// The names of requested tests that exist.
    pub found_tests: BTreeSet<String>,
    /// What was not run, and why.
    pub coverage: Coverage,
    /// Files for which the compiler's diagnostics are complete.
    pub vouched: BTreeSet<String>,
    diagnostics: Vec<Diagnostic>,
    seen: HashSet<blake3::Hash>,
    left_out: usize,
    diagnostic_bytes: usize,
    failure_bytes: usize,
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// The last program that was asked and is not listed in `runs`.
    asked: Option<ToolRun>,
}

impl Report {
    /// Runs a program and passes its lines to `take`. Notes how it ended, and its command without the parts that only
    /// separate semdex's builds from the user's.
    pub fn run(
        &mut self,
        job: &Job,
        language: LanguageId,
        command: Command,
        streams: Streams,
        take: &mut dyn FnMut(&mut Report, Stream, &str),
    ) -> Ended {
        self.run_for(job, language, command, streams, true, take)
    }

    /// The same for a preparatory program: its end is not part of the answer unless it exceeds the deadline.
    pub fn ask(
        &mut self,
        job: &Job,
        language: LanguageId,
        command: Command,
        streams: Streams,
        take: &mut dyn FnMut(&mut Report, Stream, &str),
    ) -> Ended {
        self.run_for(job, language, command, streams, false, take)
    }

    /// Tests without a result: the run is not a success, whatever its exit code. `scope` is what has the tests.
    pub fn lacks_result(&mut self, scope: &str, detail: String) {
        self.has_failed = true;
        self.coverage.lacks(Missing::new(MissingCode::NoResult, scope, detail));
    }

    /// Lists the program that was asked last, because it failed.
    pub fn tell_asked(&mut self) {
        self.has_failed = true;
        self.runs.extend(self.asked.take());
    }

    fn run_for(
        &mut self,
        job: &Job,
        language: LanguageId,
        command: Command,
        streams: Streams,
        is_listed: bool,
        take: &mut dyn FnMut(&mut Report, Stream, &str),
    ) -> Ended {
        let directory = command.get_current_dir().map(|it| job.name_of(it)).unwrap_or_default();
        let program = command.get_program().to_string_lossy();
        let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
        let arguments = command.get_args().map(|it| it.to_string_lossy().into_owned());
        let shown: Vec<String> = std::iter::once(program).chain(arguments).collect();
        let begun = Instant::now();
        let command = if job.is_background { yielding(&command) } else { command };
        let is_wanted = || (job.is_wanted)();
        let ended = run_lines(command, streams, job.deadline, &is_wanted, &mut |stream, line| take(self, stream, line));
        let exit_code = ended.as_ref().ok().and_then(ExitStatus::code);
        let run = ToolRun { language, directory, command: shown.clone(), exit_code, duration: begun.elapsed() };
        if is_listed || ended.is_err() {
            self.runs.push(run);
        } else {
            self.asked = Some(run);
        }
        match ended {
            Ok(status) if status.success() => Ended::Well,
            Ok(status) => {
                if status.code().is_none() {
                    self.line(&format!("`{}` ended by {status}", shown.join(" ")));
                }
                self.has_failed |= is_listed;
                Ended::Badly
            }
            Err(error) => {
                self.stopped(&shown, language, &error);
                Ended::Over
            }
        }
    }

    fn stopped(&mut self, command: &[String], language: LanguageId, error: &Failure) {
        self.has_failed = true;
        let shown = command.join(" ");
        let missing = match error {
            Failure::Late => {
                self.timed_out = true;
                self.line(&format!("timeout: `{shown}` was ended, with all that it had started"));
                let detail = format!("timeout: `{shown}` was ended at the deadline, `timeout_ms`");
                Missing::new(MissingCode::Timeout, language.name, detail)
            }
            Failure::Unwanted => return,
            Failure::NotStarted(error) => {
                self.line(&format!("`{shown}` could not be started: {error}"));
                let detail = format!("`{shown}` could not be started: {error}");
                Missing::new(MissingCode::EngineMissing, language.name, detail)
            }
        };
        self.coverage.lacks(missing);
    }

    /// Adds a line to the last lines of output.
    pub fn line(&mut self, text: &str) {
        let text: String = if text.len() <= LONGEST_OUTPUT_LINE {
            text.to_owned()
        } else {
            format!("{}…", text.get(..text.floor_char_boundary(LONGEST_OUTPUT_LINE)).unwrap_or_default())
        };
        self.tail_bytes += escaped_length(&text) + 2;
        self.tail.push_back(text);
        while self.tail.len() > OUTPUT_LINES || self.tail_bytes > OUTPUT_BYTES && self.tail.len() > 1 {
            if let Some(first) = self.tail.pop_front() {
                self.tail_bytes -= escaped_length(&first) + 2;
            }
        }
    }

    /// The last lines that all tools have printed.
    pub fn output(&self) -> String {
        self.tail.iter().flat_map(|it| [it.as_str(), "\n"]).collect()
    }

    /// Adds a diagnostic. One that several targets report is added once.
    pub fn diagnostic(&mut self, mut diagnostic: Diagnostic) {
        let Diagnostic { place, severity, code, message, .. } = &diagnostic;
        let key = format!("{} {} {} {severity:?} {code:?} {message}", place.file, place.line, place.column);
        let key = blake3::hash(key.as_bytes());
        if self.seen.contains(&key) {
            return;
        }
        if self.seen.len() < MOST_SEEN {
            self.seen.insert(key);
        }
        shorten(&mut diagnostic.message, HEAD_BYTES);
        let bytes = escaped_length(&diagnostic.message) + 2 * diagnostic.place.file.len();
        if self.diagnostics.len() >= MOST_DIAGNOSTICS || self.diagnostic_bytes + bytes > DIAGNOSTIC_BYTES {
            self.left_out += 1;
            return;
        }
        self.diagnostic_bytes += bytes;
        self.diagnostics.push(diagnostic);
    }

    /// Counts tests. After the first call there is a test report, even if no test has run.
    pub fn count(&mut self, passed: usize, failed: usize, skipped: usize) {
        let tests = self.tests.get_or_insert_default();
        tests.passed += passed;
        tests.failed += failed;
        tests.skipped += skipped;
        // A program may report a failed test and end with exit code 0 all the same.
        self.has_failed |= failed > 0;
    }

    /// Adds a failed test. [`Report::count`] counts it separately.
    pub fn failure(&mut self, mut failure: TestFailure) {
        shorten(&mut failure.message, HEAD_BYTES);
        let mut bytes = escaped_length(&failure.message) + escaped_length(&failure.output) + 2 * failure.name.len();
        if self.failure_bytes + bytes > FAILURE_BYTES {
            // The name of a failed test is worth more than its output.
            bytes -= escaped_length(&failure.output);
            failure.output = String::new();
        }
        let tests = self.tests.get_or_insert_default();
        if tests.failures.len() >= MOST_FAILURES || self.failure_bytes + bytes > FAILURE_BYTES + (100 << 10) {
            return;
        }
        self.failure_bytes += bytes;
        tests.failures.push(failure);
    }

    /// The diagnostics, sorted by severity and place. Those that were left out are reported as missing.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            let detail = format!("{} more diagnostics: fix those that are listed first", self.left_out);
            self.coverage.lacks(Missing::new(MissingCode::TooMany, "diagnostics", detail));
        }
        if let Some(tests) = &self.tests
            && tests.failures.len() < tests.failed
        {
            let detail = format!("{} more tests failed", tests.failed - tests.failures.len());
            self.coverage.lacks(Missing::new(MissingCode::TooMany, "tests", detail));
        }
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.sort_by(|a, b| (a.severity, &a.place).cmp(&(b.severity, &b.place)));
        diagnostics
    }
}

/// The same program at the lowest priority, on one core.
fn yielding(command: &Command) -> Command {
    let mut yielding = priority::lowest(command);
    yielding.env("CARGO_BUILD_JOBS", "1");
    yielding
}

/// A text of which only the beginning and the end are kept.
#[derive(Debug, Clone, Default)]
pub struct Excerpt {
    head: String,
    tail: VecDeque<String>,
    tail_bytes: usize,
    dropped: usize,
}

impl Excerpt {
    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        if self.dropped == 0 && self.tail.is_empty() && self.head.len() + text.len() < HEAD_BYTES {
            self.head.push_str(text);
            self.head.push('\n');
            return;
        }
        let mut text = text.to_owned();
        shorten(&mut text, HEAD_BYTES);
        self.tail_bytes += text.len() + 1;
        self.tail.push_back(text);
        while self.tail_bytes > TAIL_BYTES {
            let Some(first) = self.tail.pop_front() else { break };
            self.tail_bytes -= first.len() + 1;
            self.dropped += 1;
        }
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.head.len() + self.tail_bytes
    }

    /// Drops everything but the last lines.
    pub fn shrink(&mut self) {
        self.dropped += self.head.lines().count();
        self.head = String::new();
        while self.tail_bytes > HEAD_BYTES / 4 {
            let Some(first) = self.tail.pop_front() else { break };
            self.tail_bytes -= first.len() + 1;
            self.dropped += 1;
        }
    }

    /// The first and the last lines, with the number of dropped lines between them.
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.dropped > 0 {
            text.push_str(&format!("… {} lines …\n", self.dropped));
        }
        text.extend(self.tail.iter().flat_map(|it| [it.as_str(), "\n"]));
        text.trim_end().to_owned()
    }
}

fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
}

/// What a text takes as a JSON string.
fn escaped_length(text: &str) -> usize {
    let cost = |it: u8| match it {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..0x20 | 0x7f => 6,
        _ => 1,
    };
    text.bytes().map(cost).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use semdex_model::{Place, Severity};

    #[test]
    fn a_report_stays_small_whatever_comes() {
        let mut report = Report::default();
        let mut excerpt = Excerpt::default();
        for number in 0..20_000 {
            report.line(&"\u{1}".repeat(300));
            excerpt.line("a line of output");
            report.diagnostic(Diagnostic {
                place: Place { line: number, ..Place::start_of("src/lib.rs") },
                severity: Severity::Error,
                code: None,
                message: "m".repeat(1000),
                source: "x".to_owned(),
                symbol: None,
                confirmed: Some(true),
                build: None,
            });
            report.failure(TestFailure { name: format!("t{number}"), output: "o".repeat(1000), ..Default::default() });
        }
        report.count(0, 20_000, 0);
        let failures = report.tests.as_ref().map(|it| &it.failures).unwrap();
        assert_eq!(failures.len(), MOST_FAILURES);
        let bytes: usize = failures.iter().map(|it| it.output.len()).sum();
        assert!(bytes <= FAILURE_BYTES && report.output().lines().count() <= OUTPUT_LINES);
        assert!(report.diagnostics.len() < 500 && report.diagnostics.len() > 300, "{}", report.diagnostics.len());
        let text = excerpt.text();
        assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 100 && text.contains("lines …"), "{}", text.len());
        drop(report.take_diagnostics());
        assert_eq!(report.coverage.missing.len(), 2);
    }

    #[test]
    fn a_flood_of_diagnostics_takes_no_more_memory() {
        let mut report = Report::default();
        let flood = MOST_SEEN + 1000;
        for line in 0..flood {
            report.diagnostic(Diagnostic {
                place: Place { line, ..Place::start_of("a") },
                severity: Severity::Warning,
                code: None,
                message: String::new(),
                source: String::new(),
                symbol: None,
                confirmed: None,
                build: None,
            });
        }
        assert_eq!((report.seen.len(), report.left_out), (MOST_SEEN, flood - MOST_DIAGNOSTICS));
    }

    #[test]
    fn the_same_is_noted_once() {
        let mut report = Report::default();
        for symbol in [None, Some("a".to_owned())] {
            report.diagnostic(Diagnostic {
                place: Place::start_of("a"),
                severity: Severity::Warning,
                code: Some("c".to_owned()),
                message: "m".to_owned(),
                source: "x".to_owned(),
                symbol,
                confirmed: None,
                build: None,
            });
        }
        assert_eq!(report.diagnostics.len(), 1);
    }
}
