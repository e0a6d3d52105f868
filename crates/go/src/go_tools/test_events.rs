//! The events of `go test -json`: which tests passed, and the output of failed tests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::modules::{base_name, below, parent};
use semdex_engine::verify::report::Excerpt;
use semdex_engine::verify::{Job, line_of};
use semdex_model::TestFailure;

/// The limit for the output of all tests that run concurrently. Above it only the ends are kept.
const MOST_BYTES: usize = 16 << 20;
const MOST_LOGGED: usize = 32;
/// The most names of tests that are kept.
const MOST_NAMES: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
    #[serde(default)]
    output: String,
}

/// A parsed line of output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A line that a test or the package printed.
    Line(String),
    /// A line of the build's output.
    Build(String),
    Nothing,
    /// Not an event.
    Other,
}

/// How a test program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With exit code 0.
    Passed,
    /// With another one, or by a signal.
    Failed,
}

/// The tests of one run.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    running: BTreeMap<(String, String), Running>,
    /// Packages with a failed test.
    with_failures: BTreeSet<String>,
    not_built: BTreeSet<String>,
    /// The tests that have begun, with their packages; also parts of tests.
    ran: BTreeSet<(String, String)>,
    /// Packages whose program was started and has not ended.
    open: BTreeSet<String>,
    /// Packages whose program ended with exit code 0.
    passed: BTreeSet<String>,
    /// Packages whose program ended with another one, or did not end by itself.
    ended_badly: BTreeSet<String>,
    /// Tests without a result in packages that passed.
    without_result: Vec<(String, String)>,
    failed: Vec<Failed>,
    counts: (usize, usize, usize),
}

#[derive(Debug, Default)]
struct Running {
    output: Excerpt,
    logged: Vec<Logged>,
    panic: Option<Panic>,
    parts: bool,
    /// It printed its result. `go` reports that a test passed also if the program ended during it with exit code 0.
    has_result: bool,
}

/// `    file.go:3: message`, by `t.Error` or by `t.Log`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Logged {
    file: String,
    line: usize,
    message: String,
}

#[derive(Debug, Default)]
struct Panic {
    message: String,
    /// Files and lines of the stack, after the frames of the panic itself.
    stack: Vec<(String, usize)>,
    /// A stack follows it. Otherwise a test printed something that only looks like a panic.
    has_stack: bool,
    /// How many errors and logs came before it.
    logged_before: usize,
}

/// A failed test, or a package that failed without a failed test.
#[derive(Debug)]
pub(crate) struct Failed {
    pub package: String,
    name: String,
    running: Running,
    /// It did not finish.
    is_unfinished: bool,
}

impl Tests {
    pub(crate) fn event(&mut self, line: &str) -> Said {
        let Ok(event) = serde_json::from_str::<Event>(line) else { return Said::Other };
        let Event { action, package, test, output } = event;
        match action.as_str() {
            "build-output" => return Said::Build(output),
            "build-fail" => return Said::Nothing,
            _ => {}
        }
        let key = (package, test);
        if key.1.is_empty() {
            return self.of_package(&action, &key, output);
        }
        match action.as_str() {
            "run" => {
                if self.ran.len() < MOST_NAMES {
                    self.ran.insert(key.clone());
                }
                if let Some((around, _)) = key.1.rsplit_once('/')
                    && let Some(around) = self.running.get_mut(&(key.0.clone(), around.to_owned()))
                {
                    around.parts = true;
                }
                self.running.entry(key).or_default();
                Said::Nothing
            }
            "output" => {
                self.running.entry(key).or_default().line(output.trim_end_matches('\n'));
                self.shrink();
                Said::Line(output)
            }
            "pass" | "skip" if !self.running.get(&key).is_some_and(|it| it.has_result) => {
                self.without_result.push(key.clone());
                self.fail(key, true);
                Said::Nothing
            }
            "pass" => {
                self.counts.0 += 1;
                self.running.remove(&key);
                Said::Nothing
            }
            "skip" => {
                self.counts.2 += 1;
                self.running.remove(&key);
                Said::Nothing
            }
            "fail" => {
                self.fail(key, false);
                Said::Nothing
            }
            _ => Said::Nothing,
        }
    }

    fn of_package(&mut self, action: &str, key: &(String, String), output: String) -> Said {
        let package = key.0.clone();
        match action {
            "start" => {
                self.open.insert(package);
                return Said::Nothing;
            }
            "pass" | "skip" | "fail" => drop(self.open.remove(&package)),
            _ => {}
        }
        match action {
            "output" => {
                if output.contains("[build failed]") || output.contains("[setup failed]") {
                    self.not_built.insert(package);
                } else {
                    self.running.entry(key.clone()).or_default().line(output.trim_end_matches('\n'));
                    self.shrink();
                }
                Said::Line(output)
            }
            "fail" => {
                self.end_package(&package);
                Said::Nothing
            }
            "pass" | "skip" => {
                // The program may have ended with exit code 0 in the middle of its tests.
                let open: Vec<(String, String)> =
                    self.running.keys().filter(|it| it.0 == package && !it.1.is_empty()).cloned().collect();
                for key in open {
                    self.without_result.push(key.clone());
                    self.fail(key, true);
                }
                self.running.remove(key);
                if action == "pass" {
                    self.passed.insert(package);
                }
                Said::Nothing
            }
            _ => Said::Nothing,
        }
    }

    /// The test binary of a package has failed: tests without a result did not finish.
    fn end_package(&mut self, package: &str) {
        let unfinished: Vec<(String, String)> =
            self.running.keys().filter(|it| it.0 == package && !it.1.is_empty()).cloned().collect();
        for key in unfinished {
            self.fail(key, true);
        }
        let own = self.running.remove(&(package.to_owned(), String::new()));
        if !self.not_built.contains(package) {
            self.ended_badly.insert(package.to_owned());
        }
        if !self.with_failures.contains(package) && !self.not_built.contains(package) {
            self.counts.1 += 1;
            let running = own.unwrap_or_default();
            let (package, name) = (package.to_owned(), package.to_owned());
            self.failed.push(Failed { package, name, running, is_unfinished: true });
        }
    }

    fn fail(&mut self, key: (String, String), is_unfinished: bool) {
        self.counts.1 += 1;
        self.with_failures.insert(key.0.clone());
        let running = self.running.remove(&key).unwrap_or_default();
        self.failed.push(Failed { package: key.0, name: key.1, running, is_unfinished });
    }

    fn shrink(&mut self) {
        if self.running.len() > 256 && self.running.values().map(|it| it.output.bytes()).sum::<usize>() > MOST_BYTES {
            self.running.values_mut().for_each(|it| it.output.shrink());
        }
    }

    /// Takes the failures since the last call.
    pub(crate) fn take_failures(&mut self, take: &mut dyn FnMut(Failed)) {
        self.failed.drain(..).for_each(take);
    }

    /// Ends the run: tests without a result were killed.
    pub(crate) fn end(&mut self, take: &mut dyn FnMut(Failed)) {
        let open: BTreeSet<String> = self.running.keys().filter(|it| !it.1.is_empty()).map(|it| it.0.clone()).collect();
        open.iter().for_each(|it| self.end_package(it));
        // A program that ends during a test has no end of its own.
        self.passed.append(&mut self.open);
        self.take_failures(take);
    }

    /// Whether a test of a package has begun.
    pub(crate) fn has_run(&self, package: &str, name: &str) -> bool {
        self.ran.contains(&(package.to_owned(), name.to_owned()))
    }

    /// How the program of a package ended. `None` if it was not run, or not all names of tests are known.
    pub(crate) fn exit(&self, package: &str) -> Option<Exit> {
        if self.ran.len() >= MOST_NAMES {
            return None;
        }
        let badly = self.ended_badly.contains(package).then_some(Exit::Failed);
        badly.or_else(|| self.passed.contains(package).then_some(Exit::Passed))
    }

    /// The tests without a result in packages that passed, with their packages.
    pub(crate) fn without_result(&self) -> &[(String, String)] {
        &self.without_result
    }

    pub(crate) fn done(&self) -> usize {
        self.counts.0 + self.counts.1 + self.counts.2
    }

    /// The number of passed, failed and skipped tests.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.counts
    }
}

impl Running {
    fn line(&mut self, line: &str) {
        if line.starts_with("=== ") {
            return;
        }
        self.has_result |= line.contains("--- PASS: ") || line.contains("--- SKIP: ");
        self.output.line(line);
        if let Some(message) = line.strip_prefix("panic: ").or_else(|| line.strip_prefix("fatal error: ")) {
            // The first of several that have a stack is the reason; the rest follows from it.
            if self.panic.as_ref().is_none_or(|it| !it.has_stack || self.logged.len() > it.logged_before) {
                let message = message.split(" [recovered").next().unwrap_or(message).to_owned();
                let logged_before = self.logged.len();
                self.panic = Some(Panic { message, stack: Vec::new(), has_stack: false, logged_before });
            }
            return;
        }
        if let Some(panic) = &mut self.panic {
            panic.line(line);
        }
        if let Some(logged) = logged(line) {
            if self.logged.len() < MOST_LOGGED {
                self.logged.push(logged);
            }
        } else if line.starts_with("        ")
            && let Some(last) = self.logged.last_mut()
            && last.message.len() < 4096
        {
            last.message.push('\n');
            last.message.push_str(line.trim_start());
        }
    }

    /// The panic that ended the program. After it a test reports no error.
    fn fatal(&self, is_error: &dyn Fn(&Logged) -> bool) -> Option<&Panic> {
        let panic = self.panic.as_ref().filter(|it| it.has_stack)?;
        let after = self.logged.get(panic.logged_before..).unwrap_or_default();
        (!after.iter().any(is_error)).then_some(panic)
    }
}

impl Panic {
    fn line(&mut self, line: &str) {
        self.has_stack |= line.starts_with("goroutine ");
        if let Some(place) = line.strip_prefix('\t') {
            let place = place.split(" +0x").next().unwrap_or(place);
            if let Some((file, number)) = place.rsplit_once(':')
                && let Ok(number) = number.parse()
                && self.stack.len() < 100
                && file.ends_with(".go")
            {
                self.stack.push((file.to_owned(), number));
            }
        } else if line.starts_with("panic(") {
            // The frames above handle the panic.
            self.stack.clear();
        }
    }
}

/// `    file.go:3: message`
fn logged(line: &str) -> Option<Logged> {
    let rest = line.strip_prefix("    ")?.trim_start();
    let (file, rest) = rest.split_once(':')?;
    let (number, message) = rest.split_once(':')?;
    if !file.ends_with(".go") || file.contains(' ') {
        return None;
    }
    Some(Logged { file: file.to_owned(), line: number.parse().ok()?, message: message.trim_start().to_owned() })
}

impl Failed {
    /// Converts the failure for a report. `directory`: the package's directory.
    pub(crate) fn into_failure(self, job: &Job, directory: &str) -> TestFailure {
        let Failed { package, name, running, is_unfinished } = self;
        let inside = |(file, line): &(String, usize)| {
            let name = job.name_of(std::path::Path::new(file));
            job.files.get(&name).map(|_| (name, *line))
        };
        let panic = running.fatal(&|it| it.calls(job, directory, &FAILS));
        let of_panic = panic.and_then(|it| it.stack.iter().find_map(inside));
        // A test can print what looks like an error, and a helper can report an error for its caller.
        let error = running.logged.iter().find(|it| it.calls(job, directory, &FAILS));
        let error = error.or_else(|| running.logged.iter().find(|it| !it.is_log(job, directory)));
        let error = error.or(running.logged.first());
        let of_error = error.map(|it| (it.file_in(job, directory), it.line));
        let declared = || {
            let first = name.split('/').next()?;
            let files = job.files.below(directory).filter(|it| it.path.ends_with("_test.go"));
            files.filter(|it| parent(&it.path) == directory).find_map(|file| {
                let item = file.outline().items.iter().find(|it| it.name == first)?;
                Some((file.path.to_string(), file.lines().line(item.name_span.start)))
            })
        };
        let any = || {
            let mut files = job.files.below(directory).filter(|it| it.path.ends_with("_test.go"));
            files.next().map(|it| (it.path.to_string(), 1))
        };
        let message = match (panic, error) {
            (Some(panic), _) => format!("panic: {}", panic.message),
            (None, Some(error)) => error.message.clone(),
            (None, None) if running.parts => "a part of it failed".to_owned(),
            (None, None) if is_unfinished => "it did not come to its end: its program ended before".to_owned(),
            (None, None) => {
                let text = running.output.text();
                let lines: Vec<&str> =
                    text.lines().filter(|it| !it.starts_with("--- ") && !it.trim().is_empty()).collect();
                if lines.is_empty() { "the test failed".to_owned() } else { lines.join("\n") }
            }
        };
        let place = of_panic.or(of_error).or_else(declared).or_else(any);
        TestFailure {
            name,
            package: Some(package),
            file: place.as_ref().map(|it| it.0.clone()),
            line: place.map(|it| it.1),
            message,
            output: running.output.text(),
            symbol: None,
        }
    }
}

impl Logged {
    /// Its file: in the package, else the only one with this name.
    fn file_in(&self, job: &Job, directory: &str) -> String {
        let own = below(directory, &self.file);
        if job.files.get(&own).is_some() {
            return own;
        }
        let mut same = job.files.iter().filter(|it| base_name(&it.path) == self.file);
        match (same.next(), same.next()) {
            (Some(only), None) => only.path.to_string(),
            _ => own,
        }
    }

    /// Whether the code there only logs or skips, which does not fail a test.
    fn is_log(&self, job: &Job, directory: &str) -> bool {
        !self.calls(job, directory, &FAILS) && self.calls(job, directory, &LOGS)
    }

    /// Whether its line calls one of these methods.
    fn calls(&self, job: &Job, directory: &str, methods: &[&str]) -> bool {
        let Some(file) = job.text_of(&self.file_in(job, directory)) else { return false };
        let Some((_, text)) = line_of(&file.text, self.line) else { return false };
        methods.iter().any(|it| text.contains(it))
    }
}

/// Calls that fail a test, and calls that do not.
const FAILS: [&str; 3] = [".Error", ".Fatal", ".Fail"];
const LOGS: [&str; 4] = [".Log(", ".Logf(", ".Skip(", ".Skipf("];

#[cfg(test)]
mod tests {
    use super::*;

    fn event(action: &str, test: &str, output: &str) -> String {
        serde_json::json!({"Action": action, "Package": "m/p", "Test": test, "Output": output}).to_string()
    }

    #[test]
    fn the_ends_of_tests_are_counted() {
        let mut tests = Tests::default();
        for (action, test, output) in [
            ("run", "TestA", ""),
            ("output", "TestA", "    a_test.go:3: got 1\n"),
            ("output", "TestA", "        second\n"),
            ("fail", "TestA", ""),
            ("run", "TestB", ""),
            ("output", "TestB", "--- PASS: TestB (0.00s)\n"),
            ("pass", "TestB", ""),
            ("run", "TestC", ""),
            ("output", "TestC", "panic: boom [recovered, repanicked]\n"),
            ("output", "TestC", "goroutine 7 [running]:\n"),
            ("output", "TestC", "\t/go/testing.go:1 +0x1\n"),
            ("output", "TestC", "panic({0x1, 0x2})\n"),
            ("output", "TestC", "\t/go/panic.go:1 +0x1\n"),
            ("output", "TestC", "\t/w/c.go:2 +0x1\n"),
            ("run", "TestC/part", ""),
        ] {
            tests.event(&event(action, test, output));
        }
        assert_eq!(tests.event("not json"), Said::Other);
        tests.event(r#"{"Action":"fail","Package":"m/p"}"#);
        let mut failed = Vec::new();
        tests.end(&mut |it| failed.push(it));
        let names: Vec<&str> = failed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names, tests.counts()), (vec!["TestA", "TestC", "TestC/part"], (1, 3, 0)));
        assert_eq!(failed[0].running.logged[0].message, "got 1\nsecond");
        let panic = failed[1].running.panic.as_ref().unwrap();
        assert_eq!((panic.message.as_str(), panic.stack[1].clone()), ("boom", ("/w/c.go".to_owned(), 2)));
        assert!(tests.has_run("m/p", "TestC/part") && !tests.has_run("m/q", "TestC/part"));
    }

    #[test]
    fn a_test_without_a_result_fails_though_its_package_passes() {
        let mut tests = Tests::default();
        tests.event(r#"{"Action":"start","Package":"m/p"}"#);
        tests.event(&event("run", "TestA", ""));
        tests.event(&event("output", "TestA", "--- PASS: TestA (0.00s)\n"));
        tests.event(&event("pass", "TestA", ""));
        tests.event(&event("run", "TestB", ""));
        tests.event(&event("output", "TestB", "ok  \tm/p\t0.003s\n"));
        tests.event(&event("pass", "TestB", ""));
        let mut failed = Vec::new();
        tests.end(&mut |it| failed.push((it.name, it.is_unfinished)));
        assert_eq!((failed, tests.counts()), (vec![("TestB".to_owned(), true)], (1, 1, 0)));
        assert_eq!(tests.without_result(), [("m/p".to_owned(), "TestB".to_owned())]);
        assert_eq!((tests.exit("m/p"), tests.exit("m/q")), (Some(Exit::Passed), None));
    }

    #[test]
    fn what_looks_like_a_panic_hides_no_error() {
        let mut running = Running::default();
        for line in ["panic: printed", "    a_test.go:3: got 1", "        second"] {
            running.line(line);
        }
        assert_eq!(running.logged[0].message, "got 1\nsecond");
        assert!(running.fatal(&|_| true).is_none());
        for line in
            ["panic: of a child", "goroutine 1 [running]:", "main.main()", "\t/x/x.go:1", "    a_test.go:4: late"]
        {
            running.line(line);
        }
        assert!(running.fatal(&|_| true).is_none());
        for line in ["panic: own", "goroutine 1 [running]:", "panic({0})", "\t/go/panic.go:1", "m.F()", "\t/w/a.go:5"] {
            running.line(line);
        }
        let panic = running.fatal(&|_| true).unwrap();
        assert_eq!((panic.message.as_str(), &panic.stack[1]), ("own", &("/w/a.go".to_owned(), 5)));
    }

    #[test]
    fn a_package_that_ends_without_a_test_is_a_failure_unless_it_was_not_built() {
        let mut tests = Tests::default();
        tests.event(r#"{"Action":"output","Package":"m/a","Output":"FAIL m/a [build failed]\n"}"#);
        tests.event(r#"{"Action":"fail","Package":"m/a"}"#);
        tests.event(r#"{"Action":"fail","Package":"m/b"}"#);
        let mut failed = Vec::new();
        tests.end(&mut |it| failed.push(it.name));
        assert_eq!(failed, ["m/b"]);
        assert_eq!((tests.exit("m/a"), tests.exit("m/b")), (None, Some(Exit::Failed)));
    }
}
