//! The commands that `[languages.NAME.verify]` gives to check, lint and test a language's code. What they print is read
//! in the forms that most tools have in common.

use std::process::Command;

use super::table::Row;
use crate::config::VerifyCommands;
use crate::lang::process_group::lines::Streams;
use crate::lang::search_path;
use crate::lang::verify::report::Excerpt;
use crate::lang::verify::text::finding;
use crate::lang::verify::{Ended, Job, Planned, Report, normal};
use crate::model::{Diagnostic, LanguageId, Missing, MissingCode, Severity, TestFailure, VerifyKind};

/// Where the names of the wanted tests stand in a command.
const TESTS: &str = "{tests}";
/// Languages whose files are data: that nobody checks them is nothing to tell.
const DATA: &[&str] = &["json", "yaml", "html", "css", "dockerfile", "toml", "markdown", "xml"];

pub fn plan<'j>(rows: &[Row], language: LanguageId, job: &Job) -> Option<Box<dyn Planned + 'j>> {
    let row = rows.iter().find(|it| it.keys.verify.is_some()).or(rows.first())?;
    let verify = row.keys.verify.clone();
    if verify.is_none() && DATA.contains(&row.name.as_str()) {
        return None;
    }
    let command = verify.as_ref().and_then(|it| of_kind(it, job.kind)).filter(|it| !it.is_empty());
    Some(Box::new(Plan {
        name: row.name.clone(),
        language,
        command,
        environment: row.keys.env.clone().unwrap_or_default(),
    }))
}

fn of_kind(commands: &VerifyCommands, kind: VerifyKind) -> Option<Vec<String>> {
    match kind {
        VerifyKind::Check => commands.check.clone(),
        VerifyKind::Lint => commands.lint.clone(),
        VerifyKind::Test => commands.test.clone(),
    }
}

struct Plan {
    name: String,
    language: LanguageId,
    command: Option<Vec<String>>,
    environment: std::collections::BTreeMap<String, String>,
}

impl Planned for Plan {
    /// Its packages have no names here.
    fn knows(&self, _: &str) -> bool {
        false
    }

    fn packages(&self) -> Vec<String> {
        Vec::new()
    }

    fn run(self: Box<Self>, job: &Job, report: &mut Report) {
        let kind = job.kind.name();
        let Some(words) = &self.command else {
            let detail = format!(
                "nothing {kind}s {}: name a command in `[languages.{}.verify] {kind}` of semdex.toml",
                self.language.title, self.name
            );
            report.coverage.note(Missing::new(MissingCode::Unsupported, self.language.name, detail));
            return;
        };
        // Code of another language is not what its tools look at.
        let is_foreign = |it: &String| job.files.languages().of(it).is_some_and(|it| it != self.language);
        if job.changed.as_ref().is_some_and(|it| it.iter().all(is_foreign)) || !job.packages.is_empty() {
            return;
        }
        let takes_tests = words.iter().any(|it| it == TESTS);
        if !job.tests.is_empty() && !takes_tests {
            let detail = format!(
                "the command that tests {} takes no names of tests, so it was not run: put `{TESTS}` where they belong",
                self.language.title
            );
            report.coverage.note(Missing::new(MissingCode::Unsupported, self.language.name, detail));
            return;
        }
        self.run_command(words, job, report);
    }
}

impl Plan {
    fn run_command(&self, words: &[String], job: &Job, report: &mut Report) {
        let mut words = words.iter().flat_map(|it| if it == TESTS { job.tests.clone() } else { vec![it.clone()] });
        let Some(program) = words.next() else { return };
        // One of the workspace's own is named with its directory.
        let path = if program.contains('/') { Some(job.root.join(&program)) } else { search_path::find(&program) };
        let mut command = Command::new(path.unwrap_or_else(|| program.clone().into()));
        command.args(words).current_dir(&job.root).envs(&self.environment);
        // Beside what the command itself writes, nothing is left in the workspace.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_COLOR", "1");
        job.tell(format!("running {program}"), 0, 0);
        let source = program.rsplit('/').next().unwrap_or(&program).to_owned();
        let mut tests = TestLines::default();
        let is_test = job.kind == VerifyKind::Test;
        let ended = report.run(job, self.language, command, Streams::Together, &mut |report, _, line| {
            report.line(line);
            if is_test {
                tests.line(line);
            }
            // In what tests print, places are those of failures.
            if let Some(found) = finding(line).filter(|it| !is_test || it.severity.is_some()) {
                let name = job.name_of(&normal(&job.root.join(found.file)));
                if job.files.get(&name).is_some() {
                    report.diagnostic(Diagnostic {
                        place: job.place(&name, found.line, found.column),
                        severity: found.severity.unwrap_or(Severity::Error),
                        code: found.code.map(str::to_owned),
                        message: found.message.to_owned(),
                        source: source.clone(),
                        symbol: None,
                        confirmed: Some(true),
                    });
                }
            }
        });
        if is_test && ended != Ended::Over {
            tests.tell(job, ended == Ended::Well, report);
        }
    }
}

/// What test programs print at their end, as far as most do it alike: `FAILED file::name - message`, `3 passed`.
#[derive(Default)]
struct TestLines {
    failures: Vec<(String, String)>,
    counts: Option<[usize; 3]>,
    /// `file:3: AssertionError`
    places: Vec<(String, usize)>,
    output: Excerpt,
}

impl TestLines {
    fn line(&mut self, line: &str) {
        self.output.line(line);
        let failed = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
        if let Some(failed) = failed.filter(|_| self.failures.len() < 1000) {
            let (name, message) = failed.split_once(" - ").unwrap_or((failed, ""));
            self.failures.push((name.trim().to_owned(), message.trim().to_owned()));
        }
        if let Some(counts) = counts(line) {
            self.counts = Some(counts);
        }
        if let Some(found) = finding(line).filter(|_| self.places.len() < 10_000) {
            self.places.push((found.file.to_owned(), found.line));
        }
    }

    fn tell(self, job: &Job, is_well: bool, report: &mut Report) {
        let [passed, failed, skipped] = self.counts.unwrap_or([0, self.failures.len(), 0]);
        let is_unknown = !is_well && failed == 0;
        report.count(passed, failed + usize::from(is_unknown), skipped);
        for wanted in &job.tests {
            let is_it = |it: &(String, String)| it.0.ends_with(wanted.as_str());
            if passed + failed > 0 || self.failures.iter().any(is_it) {
                report.found_tests.insert(wanted.clone());
            }
        }
        if is_unknown {
            let message = "the tests failed; the output says what".to_owned();
            let output = self.output.text();
            report.failure(TestFailure { name: job.kind.name().to_owned(), message, output, ..TestFailure::default() });
        }
        for (name, message) in self.failures {
            let file = name.split("::").next().map(|it| job.name_of(&normal(&job.root.join(it))));
            let file = file.filter(|it| job.files.get(it).is_some());
            let of_file = |it: &&(String, usize)| {
                file.as_deref().is_some_and(|file| job.name_of(&normal(&job.root.join(&it.0))) == file)
            };
            let line = self.places.iter().find(of_file).map(|it| it.1);
            report.failure(TestFailure { name, file, line, message, ..TestFailure::default() });
        }
    }
}

/// `== 1 failed, 2 passed, 3 skipped in 0.1s ==`
fn counts(line: &str) -> Option<[usize; 3]> {
    let words: Vec<&str> = line.split([' ', ',']).filter(|it| !it.is_empty()).collect();
    let of = |names: &[&str]| {
        let at = words.iter().position(|it| names.contains(it))?;
        words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
    };
    let (passed, failed, skipped) = (of(&["passed", "pass"]), of(&["failed", "fail"]), of(&["skipped", "skip"]));
    (passed.is_some() || failed.is_some())
        .then(|| [passed.unwrap_or_default(), failed.unwrap_or_default(), skipped.unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_test_runs_are_read() {
        assert_eq!(counts("== 1 failed, 2 passed, 3 skipped in 0.1s =="), Some([2, 1, 3]));
        assert_eq!(counts("nothing failed"), None);
        let mut lines = TestLines::default();
        lines.line("tests/test_a.py:5: AssertionError");
        lines.line("FAILED tests/test_a.py::test_x - assert 1 == 2");
        assert_eq!(lines.failures, [("tests/test_a.py::test_x".to_owned(), "assert 1 == 2".to_owned())]);
        assert_eq!(lines.places, [("tests/test_a.py".to_owned(), 5)]);
    }
}
