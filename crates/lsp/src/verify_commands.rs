//! The commands in `[languages.NAME.verify]` that check, lint and test code of a language. Their output is parsed in
//! the formats that most tools share.

use std::process::Command;

use super::table::Row;
use super::test_output::TestOutput;
use semdex_config::VerifyCommands;
use semdex_engine::verify::text::finding;
use semdex_engine::verify::{Ended, Job, Planned, Report, normal};
use semdex_model::{Diagnostic, LanguageId, Missing, MissingCode, Severity, VerifyKind};
use semdex_process::process_group::lines::Streams;
use semdex_process::search_path;

/// The placeholder for the names of the selected tests in a command.
const TESTS: &str = "{tests}";
/// Languages of data files. That they are not checked is not reported.
const DATA: &[&str] = &["json", "yaml", "html", "css", "dockerfile", "toml", "markdown", "xml"];

pub(crate) fn plan<'j>(rows: &[Row], language: LanguageId, job: &Job) -> Option<Box<dyn Planned + 'j>> {
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
    /// Packages of these languages have no names here.
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
        // Tools do not check code of another language.
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
        // A program of the workspace is given with its directory.
        let path = if program.contains('/') { Some(job.root.join(&program)) } else { search_path::find(&program) };
        let mut command = Command::new(path.unwrap_or_else(|| program.clone().into()));
        command.args(words).current_dir(&job.root).envs(&self.environment);
        // Leaves nothing in the workspace except what the command itself writes.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_COLOR", "1");
        job.tell(format!("running {program}"), 0, 0);
        let source = program.rsplit('/').next().unwrap_or(&program).to_owned();
        let mut tests = TestOutput::default();
        let is_test = job.kind == VerifyKind::Test;
        let ended = report.run(job, self.language, command, Streams::Together, &mut |report, _, line| {
            report.line(line);
            if is_test {
                tests.line(line);
            }
            // In the output of tests, places belong to failures.
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
                        build: None,
                    });
                }
            }
        });
        if is_test && ended != Ended::Over {
            tests.tell(job, ended == Ended::Well, report);
        }
    }
}
