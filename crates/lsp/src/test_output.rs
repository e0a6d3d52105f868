//! Parses the output of test programs in common formats: pytest, unittest, jest, vitest, mocha, node's test runner, and
//! any program that prints `3 passed, 1 failed` and `FAILED name - message`.

use semdex_engine::verify::report::Excerpt;
use semdex_engine::verify::text::finding;
use semdex_engine::verify::{Job, Report, normal};
use semdex_model::TestFailure;

const MOST_FAILURES: usize = 1000;
const MOST_PLACES: usize = 10_000;
/// The indices of the counts.
const PASSED: usize = 0;
const FAILED: usize = 1;
const SKIPPED: usize = 2;

/// Passed, failed, skipped.
type Counts = [usize; 3];

#[derive(Debug, Default)]
pub(crate) struct TestOutput {
    failures: Vec<Failure>,
    counts: Option<Counts>,
    /// `Ran 3 tests in 0.1s`. The next line has the result.
    ran: Option<usize>,
    /// The current traceback belongs to the last failure.
    is_traced: bool,
    /// `file:3: AssertionError`
    places: Vec<(String, usize)>,
    output: Excerpt,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Failure {
    name: String,
    message: String,
    /// The files and lines of its traceback, the innermost last.
    trace: Vec<(String, usize)>,
}

impl TestOutput {
    pub(crate) fn line(&mut self, line: &str) {
        self.output.line(line);
        if let Some(ran) = of_unittest(line) {
            self.ran = Some(ran);
        } else if let Some(counts) = self.ran.and_then(|ran| end_of_unittest(line, ran)) {
            (self.counts, self.ran) = (Some(counts), None);
        } else if let Some(name) = headed(line) {
            self.failed(name, String::new());
            self.is_traced = true;
        } else if let Some(failed) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            let (name, message) = failed.split_once(" - ").unwrap_or((failed, ""));
            self.failed(name.trim().to_owned(), message.trim().to_owned());
        } else if let Some(counts) = counts(line) {
            self.counts = Some(counts);
        } else if let Some((of, count)) = part(line)
            && let Some(known) = self.counts.get_or_insert_default().get_mut(of)
        {
            *known = count;
        }
        self.trace(line);
        if let Some(found) = finding(line).filter(|_| self.places.len() < MOST_PLACES) {
            self.places.push((found.file.to_owned(), found.line));
        }
    }

    fn failed(&mut self, name: String, message: String) {
        self.is_traced = false;
        if self.failures.len() < MOST_FAILURES {
            self.failures.push(Failure { name, message, trace: Vec::new() });
        }
    }

    /// `  File "a.py", line 3, in test_x`, and the exception at the end of the traceback.
    fn trace(&mut self, line: &str) {
        let Some(failure) = self.failures.last_mut().filter(|_| self.is_traced) else { return };
        if let Some((file, rest)) = line.trim_start().strip_prefix("File \"").and_then(|it| it.split_once("\", line "))
        {
            let number = rest.split(',').next().and_then(|it| it.parse().ok());
            failure.trace.extend(number.filter(|_| failure.trace.len() < 100).map(|it| (file.to_owned(), it)));
        } else if !failure.trace.is_empty() && !line.starts_with(' ') && !line.is_empty() {
            line.clone_into(&mut failure.message);
            self.is_traced = false;
        }
    }

    pub(crate) fn tell(self, job: &Job, is_well: bool, report: &mut Report) {
        let [passed, failed, skipped] = self.counts.unwrap_or([0, self.failures.len(), 0]);
        let is_unknown = !is_well && failed == 0;
        report.count(passed, failed + usize::from(is_unknown), skipped);
        for wanted in &job.tests {
            if passed + failed > 0 || self.failures.iter().any(|it| it.name.ends_with(wanted.as_str())) {
                report.found_tests.insert(wanted.clone());
            }
        }
        if self.failures.is_empty() && (is_unknown || failed > 0) {
            let message = "the tests failed; the output says what".to_owned();
            let output = self.output.text();
            report.failure(TestFailure { name: job.kind.name().to_owned(), message, output, ..TestFailure::default() });
        }
        let known =
            |file: &str| Some(job.name_of(&normal(&job.root.join(file)))).filter(|it| job.files.get(it).is_some());
        for Failure { name, message, trace } in self.failures {
            let traced = trace.iter().rev().find_map(|(file, line)| Some((known(file)?, *line)));
            let file = traced.as_ref().map(|it| it.0.clone()).or_else(|| known(name.split("::").next()?));
            let of_file = |it: &&(String, usize)| file.is_some() && known(&it.0) == file;
            let line = traced.map(|it| it.1).or_else(|| self.places.iter().find(of_file).map(|it| it.1));
            report.failure(TestFailure { name, file, line, message, ..TestFailure::default() });
        }
    }
}

/// `== 1 failed, 2 passed, 3 skipped in 0.1s ==`. The last such line with counts of tests is used.
fn counts(line: &str) -> Option<Counts> {
    let words: Vec<&str> = line.split([' ', ',', '=']).filter(|it| !it.is_empty()).collect();
    if matches!(words[..], ["Snapshots:", ..] | ["Test", "Suites:" | "Files", ..]) {
        return None;
    }
    let of = |names: &[&str]| {
        let at = words.iter().position(|it| names.contains(it))?;
        words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
    };
    // Errors in fixtures. In other lines, the word may refer to anything.
    let seconds = |it: &&str| it.strip_suffix('s').is_some_and(|it| it.parse::<f64>().is_ok());
    let is_timed = words.windows(2).any(|it| it.first() == Some(&"in") && it.get(1).is_some_and(seconds));
    let errors = of(&["error", "errors"]).filter(|_| is_timed);
    let (passed, failed, skipped) = (of(&["passed", "pass"]), of(&["failed", "fail"]), of(&["skipped", "skip"]));
    (passed.is_some() || failed.is_some() || errors.is_some()).then(|| {
        [passed, Some(failed.unwrap_or_default() + errors.unwrap_or_default()), skipped].map(Option::unwrap_or_default)
    })
}

/// A line with one count: `# pass 3`, `2 passing (5ms)`.
fn part(line: &str) -> Option<(usize, usize)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (word, count) = match words[..] {
        ["#" | "ℹ", word @ ("pass" | "fail" | "skipped"), count] => (word, count),
        [count, word @ ("passing" | "failing" | "pending"), ..] if words.len() <= 3 => (word, count),
        _ => return None,
    };
    let of = match word {
        "pass" | "passing" => PASSED,
        "fail" | "failing" => FAILED,
        _ => SKIPPED,
    };
    Some((of, count.parse().ok()?))
}

/// `Ran 3 tests in 0.1s`
fn of_unittest(line: &str) -> Option<usize> {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["Ran", count, "test" | "tests", "in", _] => count.parse().ok(),
        _ => None,
    }
}

/// `OK (skipped=1)`, `FAILED (failures=1, errors=2)`
fn end_of_unittest(line: &str, ran: usize) -> Option<Counts> {
    let rest = line.strip_prefix("OK").or_else(|| line.strip_prefix("FAILED"))?.trim();
    let parts = if rest.is_empty() { rest } else { rest.strip_prefix('(')?.strip_suffix(')')? };
    let of = |name: &str| -> usize {
        parts
            .split(", ")
            .filter_map(|it| it.split_once('='))
            .filter(|it| it.0 == name)
            .filter_map(|it| it.1.parse::<usize>().ok())
            .sum()
    };
    let failed = of("failures") + of("errors") + of("unexpected successes");
    let skipped = of("skipped");
    Some([ran.saturating_sub(failed + skipped), failed, skipped])
}

/// `FAIL: test_x (tests.test_a.T.test_x)`. Returns the name that unittest accepts.
fn headed(line: &str) -> Option<String> {
    let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
    let (name, path) = rest.strip_suffix(')')?.split_once(" (")?;
    let is_word = |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '.'));
    if !is_word(name) || !is_word(path) {
        return None;
    }
    let is_whole = path.rsplit('.').next() == Some(name);
    Some(if is_whole { path.to_owned() } else { format!("{path}.{name}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TestOutput {
        let mut lines = TestOutput::default();
        text.lines().for_each(|it| lines.line(it));
        lines
    }

    #[test]
    fn the_ends_of_test_runs_are_read() {
        for (text, expected) in [
            ("== 1 failed, 2 passed, 3 skipped in 0.1s ==", Some([2, 1, 3])),
            ("1 passed, 2 errors in 65.10s (0:01:05)", Some([1, 2, 0])),
            ("=========== 1 error in 0.10s ===========", Some([0, 1, 0])),
            ("Found 3 errors in the file", None),
            ("nothing failed", None),
            ("Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)", Some([1, 2, 1])),
            ("Ran 1 test in 0.001s\n\nOK", Some([1, 0, 0])),
            (
                "Test Suites: 1 failed, 2 total\nTests:       1 failed, 5 passed, 6 total\nSnapshots:   2 passed, 2 total",
                Some([5, 1, 0]),
            ),
            (" Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed (4)", Some([3, 1, 0])),
            ("  2 passing (5ms)\n  1 pending\n  1 failing\n", Some([2, 1, 1])),
            ("# tests 4\n# pass 3\n# fail 1\n# skipped 0\n", Some([3, 1, 0])),
            ("ℹ pass 3\nℹ fail 0\n", Some([3, 0, 0])),
        ] {
            assert_eq!(read(text).counts, expected, "{text}");
        }
        assert_eq!(read("Ran 1 test in 0.001s\n\nFAILED (failures=1)").failures, []);
    }

    #[test]
    fn failures_have_names_messages_and_places() {
        let lines = read("tests/test_a.py:5: AssertionError\nFAILED tests/test_a.py::test_x - assert 1 == 2");
        let failure = |name: &str, message: &str, trace: &[(&str, usize)]| Failure {
            name: name.to_owned(),
            message: message.to_owned(),
            trace: trace.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
        };
        assert_eq!(lines.failures, [failure("tests/test_a.py::test_x", "assert 1 == 2", &[])]);
        assert_eq!(lines.places, [("tests/test_a.py".to_owned(), 5)]);
        let lines = read(
            "FAIL: test_x (test_a.T.test_x)\n-----\nTraceback (most recent call last):\n  File \"/w/test_a.py\", line 6, in test_x\n    \
             self.assertEqual(1, 2)\nAssertionError: 1 != 2\n\nERROR: test_y (test_a.T)\n",
        );
        let x = failure("test_a.T.test_x", "AssertionError: 1 != 2", &[("/w/test_a.py", 6)]);
        assert_eq!(lines.failures, [x, failure("test_a.T.test_y", "", &[])]);
    }
}
