//! What Cargo, clippy and the tests report for the workspaces of a root, in their state on disk.

mod cargo;
mod doctest;
mod libtest;
mod messages;
mod reach;
mod select;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use self::cargo::{Package, Refused, Target, Workspace, Workspaces};
use self::libtest::{At, Failure, Outcome, Program, Reader, What};
use self::messages::{Artifact, Message, message};
use self::select::{Selection, has_harness, list, select};
use super::LANGUAGE;
use crate::load::tools::Tools;
use semdex_engine::verify::{Ended, Job, Planned, Report, first_names, line_of};
use semdex_model::{Diagnostic, Missing, MissingCode, Place, Severity, SymbolKind, TestFailure, VerifyKind};
use semdex_process::process_group::lines::{Stream, Streams};

/// What is known before anything is built.
pub(crate) fn plan<'j>(job: &'j Job) -> Box<dyn Planned + 'j> {
    match cargo::tools(job) {
        Ok(tools) => {
            let workspaces = cargo::workspaces(job, &tools);
            Box::new(Plan { tools, workspaces })
        }
        Err(error) => Box::new(NoToolchain(error)),
    }
}

/// Cargo is not installed.
struct NoToolchain(String);

impl Planned for NoToolchain {
    fn knows(&self, _: &str) -> bool {
        false
    }

    fn packages(&self) -> Vec<String> {
        Vec::new()
    }

    fn run(self: Box<Self>, _: &Job, report: &mut Report) {
        report.has_failed = true;
        report.line(&self.0);
        let detail = format!("no Rust toolchain was found, install one with rustup: {}", self.0);
        report.coverage.lacks(Missing::new(MissingCode::EngineMissing, LANGUAGE.name, detail));
    }
}

struct Plan<'j> {
    tools: Tools<'j>,
    workspaces: Workspaces,
}

/// The result of a build of tests.
#[derive(Default)]
struct Build {
    /// The test programs.
    programs: Vec<Artifact>,
    /// The artifacts of the members.
    made: Vec<Artifact>,
    /// Packages of which something did not compile, as indices, and whether it was their library.
    broken: Vec<(usize, bool)>,
}

impl Planned for Plan<'_> {
    fn knows(&self, package: &str) -> bool {
        self.workspaces.found.iter().any(|it| !it.named(package).is_empty())
    }

    fn packages(&self) -> Vec<String> {
        let members = |it: &Workspace| -> Vec<String> {
            it.members().filter_map(|at| it.metadata.packages.get(at)).map(Package::crate_name).collect()
        };
        self.workspaces.found.iter().flat_map(members).collect()
    }

    fn run(mut self: Box<Self>, job: &Job, report: &mut Report) {
        self.tools.replacement().into_iter().for_each(|it| report.coverage.note(it));
        let Workspaces { refused, strays, .. } = &self.workspaces;
        for Refused { manifest, said } in refused {
            refuse(job, manifest, said, report);
        }
        for Refused { manifest, .. } in strays {
            let detail = format!("{manifest} is a member of no workspace, so it was left out");
            report.coverage.note(Missing::new(MissingCode::NotInAPackage, manifest.as_str(), detail));
        }
        if !job.packages.is_empty() {
            for workspace in &mut self.workspaces.found {
                workspace.selected = Some(job.packages.iter().flat_map(|it| workspace.named(it)).collect());
            }
        }
        if let Some(changed) = &job.changed {
            reach::narrow(job, &mut self.workspaces, changed);
        }
        for workspace in self.workspaces.found.iter().filter(|it| !it.chosen().is_empty()) {
            if job.is_over() {
                break;
            }
            let run = Run { job, tools: &self.tools, workspace };
            if let Err(error) = run.run(report) {
                report.has_failed = true;
                report.line(&error);
            }
        }
    }
}

/// A manifest that Cargo rejects: the message, with its position if there is one.
fn refuse(job: &Job, manifest: &str, said: &str, report: &mut Report) {
    report.has_failed = true;
    said.lines().for_each(|it| report.line(it));
    let message = said.lines().find_map(|it| it.trim_start().strip_prefix("error: ")).unwrap_or("Cargo refuses it");
    let place = said.lines().find_map(|line| {
        let (_, at) = line.split_once("--> ")?;
        let mut parts = at.trim().rsplitn(3, ':');
        let (column, line, file) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
        let path = job.root.join(manifest).parent()?.join(file);
        Some(job.place(&job.name_of(&path), line, column))
    });
    report.diagnostic(Diagnostic {
        place: place.unwrap_or_else(|| Place::start_of(manifest)),
        severity: Severity::Error,
        code: None,
        message: message.to_owned(),
        source: "cargo".to_owned(),
        symbol: None,
        confirmed: Some(true),
        build: None,
    });
}

/// One Cargo workspace during verification.
struct Run<'a> {
    job: &'a Job,
    tools: &'a Tools<'a>,
    workspace: &'a Workspace,
}

impl Run<'_> {
    fn run(&self, report: &mut Report) -> Result<(), String> {
        match self.job.kind {
            VerifyKind::Check => {
                let mut command = self.command("check")?;
                command.args(["--keep-going", "--message-format=json"]);
                // If there is no library, requesting one is an error.
                if self.workspace.chosen_packages().any(|it| it.library().is_some()) {
                    command.arg("--lib");
                }
                command.args(["--bins", "--tests", "--examples"]);
                let (build, ended) = self.build(command, report, true);
                self.vouch(&build, ended, report);
            }
            VerifyKind::Lint => {
                let mut command = self.command("clippy")?;
                command.args(["--keep-going", "--message-format=json", "--all-targets"]);
                let (build, ended) = self.build(command, report, true);
                self.vouch(&build, ended, report);
            }
            VerifyKind::Test => self.test(report)?,
        }
        Ok(())
    }

    fn command(&self, subcommand: &str) -> Result<Command, String> {
        self.workspace.command(self.job, self.tools, subcommand, self.workspace.selected.as_ref())
    }

    /// Builds, and records the compiler's diagnostics. `is_listed`: the command is part of the answer in any case, not
    /// only if it fails.
    fn build(&self, command: Command, report: &mut Report, is_listed: bool) -> (Build, Ended) {
        let mut build = Build::default();
        let mut made = 0;
        let mut take = |report: &mut Report, stream: Stream, line: &str| {
            let Some(message) = message(line).filter(|_| stream == Stream::Output) else {
                return report.line(line);
            };
            match message {
                Message::CompilerMessage(said) => {
                    said.message.rendered.iter().flat_map(|it| it.lines()).for_each(|it| report.line(it));
                    if let Some(at) = self.workspace.position(&said.package_id).filter(|_| said.is_error()) {
                        build.broken.push((at, said.target.is_library()));
                    }
                    if let Some(diagnostic) = said.diagnostic(self.job, self.workspace) {
                        report.diagnostic(diagnostic);
                    }
                }
                Message::CompilerArtifact(artifact) => {
                    made += 1;
                    self.job.tell(format!("built {}", artifact.target.name), made, 0);
                    if artifact.executable.is_some() && artifact.profile.test {
                        build.programs.push(artifact);
                    } else if self.workspace.is_member(&artifact.package_id) {
                        build.made.push(artifact);
                    }
                }
                Message::Other => {}
            }
        };
        let ended = if is_listed {
            report.run(self.job, LANGUAGE, command, Streams::Apart, &mut take)
        } else {
            report.ask(self.job, LANGUAGE, command, Streams::Apart, &mut take)
        };
        (build, ended)
    }

    /// Records the files whose diagnostics are complete: their packages and all dependencies compile.
    fn vouch(&self, build: &Build, ended: Ended, report: &mut Report) {
        let sound = match ended {
            Ended::Well => self.workspace.chosen().into_iter().collect(),
            Ended::Badly => self.sound(build),
            Ended::Over => return,
        };
        for artifact in &build.made {
            if self.workspace.position(&artifact.package_id).is_some_and(|it| sound.contains(&it)) {
                let base = self.workspace.base_of(&artifact.package_id);
                report.vouched.extend(artifact.sources().iter().map(|it| self.job.name_of(&base.join(it))));
            }
        }
    }

    fn test(&self, report: &mut Report) -> Result<(), String> {
        report.count(0, 0, 0);
        let mut command = self.command("test")?;
        command.args(["--no-fail-fast", "--no-run", "--message-format=json"]);
        let (build, ended) = self.build(command, report, false);
        let mut packages = self.workspace.selected.clone();
        match ended {
            Ended::Well => {}
            Ended::Over => return Ok(()),
            Ended::Badly => {
                report.tell_asked();
                let sound = self.sound(&build);
                if sound.is_empty() {
                    return Ok(());
                }
                packages = Some(sound);
            }
        }
        if self.job.tests.is_empty() {
            let mut command = self.workspace.command(self.job, self.tools, "test", packages.as_ref())?;
            command.arg("--no-fail-fast");
            self.run_tests(command, packages.as_ref(), &build, None, report);
            return Ok(());
        }
        for selection in select(self.job, self.tools, self.workspace, &build, report) {
            if self.job.is_over() || packages.as_ref().is_some_and(|it| !it.contains(&selection.package)) {
                continue;
            }
            let mut command =
                self.workspace.command(self.job, self.tools, "test", Some(&[selection.package].into()))?;
            command.arg("--no-fail-fast");
            match &selection.target {
                Some(target) => {
                    command.args(target.selector()).args(["--", "--exact"]).args(&selection.names);
                }
                None => {
                    // rustdoc splits its arguments at blanks, so a doctest cannot be named in full.
                    command.args(["--doc", "--"]).args(selection.names.iter().map(|it| doctest::filter(it)));
                }
            }
            self.run_tests(command, None, &build, Some(&selection), report);
        }
        Ok(())
    }

    /// The requested packages that compile, according to the messages.
    fn sound(&self, build: &Build) -> BTreeSet<usize> {
        let chosen: BTreeSet<usize> = self.workspace.chosen().into_iter().collect();
        let packages = &self.workspace.metadata.packages;
        let Some(resolve) = &self.workspace.metadata.resolve else { return BTreeSet::new() };
        if build.broken.is_empty() {
            return BTreeSet::new();
        }
        let id = |at: usize| packages.get(at).map(|it| it.id.clone());
        let mut broken: BTreeSet<String> = build.broken.iter().filter_map(|it| id(it.0)).collect();
        let mut pending: Vec<String> = build.broken.iter().filter(|it| it.1).filter_map(|it| id(it.0)).collect();
        while let Some(library) = pending.pop() {
            for node in resolve.nodes.iter().filter(|it| it.deps.iter().any(|it| it.pkg == library)) {
                if broken.insert(node.id.clone()) {
                    pending.push(node.id.clone());
                }
            }
        }
        chosen.into_iter().filter(|it| id(*it).is_some_and(|it| !broken.contains(&it))).collect()
    }

    fn run_tests(
        &self,
        command: Command,
        packages: Option<&BTreeSet<usize>>,
        build: &Build,
        only: Option<&Selection>,
        report: &mut Report,
    ) {
        let path = |it: &Artifact| it.executable.as_ref().map(|it| it.to_string_lossy().into_owned());
        let mut reader = Reader::new(build.programs.iter().filter_map(path).collect());
        let (mut begun, mut doubtful) = (BTreeSet::new(), Vec::new());
        let mut take = |program: Program, report: &mut Report| {
            if let What::Executable(path) = &program.what {
                begun.insert(path.clone());
            }
            doubtful.extend(self.take(program, build, only, report));
        };
        let ended = report.run(self.job, LANGUAGE, command, Streams::Together, &mut |report, _, line| {
            report.line(line);
            if let Some(program) = reader.line(line) {
                take(program, report);
            }
            let current = reader.current();
            if let Some(announced) = current.announced.filter(|it| *it > 0) {
                self.job.tell("testing", current.done(), announced);
            }
        });
        if let Some(program) = reader.end() {
            take(program, report);
        }
        let not_begun = build.programs.iter().filter(|artifact| {
            let position = self.workspace.position(&artifact.package_id);
            let is_wanted = match only {
                Some(only) => Some(only.package) == position && only.target.as_ref() == Some(&artifact.target),
                None => packages.is_none_or(|it| position.is_some_and(|at| it.contains(&at))),
            };
            is_wanted && path(artifact).is_some_and(|it| !begun.contains(&it))
        });
        let not_begun = not_begun.map(|it| it.target.name.clone());
        if ended != Ended::Over {
            for program in doubtful {
                self.unfinished(program, build, only, ended, report);
            }
            for name in not_begun {
                report.lacks_result(&name, format!("the tests of `{name}` were not run: run them with `cargo test`"));
            }
        } else if report.timed_out {
            doubtful.iter().filter(|it| !it.is_whole).for_each(|it| self.cut_off(it, build, only, report));
            let names: Vec<String> = not_begun.collect();
            if !names.is_empty() {
                let detail = format!("the deadline passed before the tests of {} were run", first_names(&names));
                report.lacks_result("tests", detail);
            }
        }
    }

    /// The artifact and the package of a test program.
    fn origin<'b>(&'b self, program: &Program, build: &'b Build) -> (Option<&'b Artifact>, Option<&'b Package>) {
        let artifact = match &program.what {
            What::Executable(path) => {
                build.programs.iter().find(|it| it.executable.as_deref() == Some(Path::new(path.as_str())))
            }
            _ => None,
        };
        let package = match (&program.what, artifact) {
            (_, Some(artifact)) => self.workspace.package(&artifact.package_id),
            (What::Doctests(name), None) => {
                self.workspace.chosen_packages().find(|it| it.library().is_some_and(|it| it.name == *name))
            }
            _ => None,
        };
        (artifact, package)
    }

    /// Records the results of a test program. Returns the program if it may have ended without a result of each test.
    fn take(
        &self,
        mut program: Program,
        build: &Build,
        only: Option<&Selection>,
        report: &mut Report,
    ) -> Option<Program> {
        let (artifact, package) = self.origin(&program, build);
        let doctests = only.filter(|it| it.target.is_none());
        let mut failures = std::mem::take(&mut program.failures);
        let (mut passed, mut failed, mut skipped) = (program.passed, program.failed, program.ignored);
        if let Some(only) = doctests {
            failures.retain(|it| only.names.contains(&it.name));
            failed = failures.len();
            passed = only.names.len().saturating_sub(failed + skipped);
            skipped = skipped.min(only.names.len());
        }
        report.count(passed, failed, skipped);
        let has_failures = !failures.is_empty();
        for failure in failures {
            report.failure(self.failure(&failure, package, artifact.map(|it| &it.target)));
        }
        // Other doctests than the requested ones may have failed.
        let is_explained = has_failures || doctests.is_some();
        let is_sound = program.is_whole && (!program.has_failed || is_explained);
        let are_all = only.filter(|it| it.target.is_some()).is_none_or(|it| program.announced == Some(it.names.len()));
        (!is_sound || !are_all).then_some(program)
    }

    /// Records what is missing from a program that has not reported the result of each test, or that failed without a
    /// failed test.
    fn unfinished(&self, program: Program, build: &Build, only: Option<&Selection>, ended: Ended, report: &mut Report) {
        let (artifact, package) = self.origin(&program, build);
        // What Cargo says can also be the output of a test.
        let has_failed = program.has_failed && ended != Ended::Well;
        let target = artifact.map_or("tests", |it| it.target.name.as_str());
        let is_free = artifact.zip(package).is_some_and(|(it, package)| !has_harness(package, &it.target));
        if is_free && !has_failed && (program.announced.is_none() || program.tests.is_empty()) {
            // Only the exit code of a program without libtest is known to mean something.
            return;
        }
        let expected = expected(&program, only);
        if program.is_whole && expected == program.announced && !has_failed {
            return;
        }
        let without = match program.is_whole && expected == program.announced {
            true => Vec::new(),
            false => self.without_result(&program, build, only),
        };
        let panic = program.panics.iter().rev().find(|it| it.thread != "main").or(program.panics.last());
        let name = panic.map(|it| it.thread.clone()).filter(|it| it != "main" && it != "<unnamed>");
        let name = name.filter(|it| self.find_test(it, package).is_some());
        let is_open = !program.is_whole && !is_free;
        let name = name.or_else(|| {
            if is_open { self.culprit(package?, &artifact?.target, program.announced?, report) } else { None }
        });
        let how = program.how.as_deref().filter(|_| has_failed);
        let how = how.and_then(|it| Some(it.rsplit_once(" (")?.1.trim_end_matches(')')));
        let how = match how {
            Some(how) => how,
            None if has_failed => "it failed",
            None => "it ended with exit code 0 before each test had a result",
        };
        let how = match (program.is_whole, expected) {
            (false, _) => format!("`{target}` did not finish: {how}"),
            (true, Some(wanted)) if expected != program.announced => {
                format!("`{target}` ran {} of {wanted} requested tests", program.announced.unwrap_or(0))
            }
            (true, _) => format!("`{target}` failed after its tests had ended: {how}"),
        };
        if !without.is_empty() || !program.is_whole {
            let lacking = without_words(&without, expected);
            let detail = format!("{how}; {lacking}. Run `cargo test` with `--test-threads=1` to see where it ends");
            report.lacks_result(target, detail);
        }
        report.has_failed = true;
        let message = panic.map_or(how.clone(), |it| format!("{}\n{how}", it.message));
        let failure =
            Failure { name: name.unwrap_or_else(|| target.to_owned()), output: program.printed, ..Failure::default() };
        let mut test_failure = self.failure(&failure, package, artifact.map(|it| &it.target));
        if let Some(place) = panic.and_then(|it| self.place_of(it.at.as_ref()?, package)) {
            (test_failure.file, test_failure.line) = (Some(place.0), Some(place.1));
        }
        report.count(0, 1, 0);
        report.failure(TestFailure { message, ..test_failure });
    }

    /// Records what is missing from a program that ran at the deadline.
    fn cut_off(&self, program: &Program, build: &Build, only: Option<&Selection>, report: &mut Report) {
        let (artifact, _) = self.origin(program, build);
        let target = artifact.map_or("tests", |it| it.target.name.as_str());
        let expected = expected(program, only);
        let lacking = without_words(&self.without_result(program, build, only), expected);
        let detail = format!("`{target}` was ended at the deadline; {lacking}. One of them may never end");
        report.lacks_result(target, detail);
    }

    /// The tests of a program that have no result, as far as their names are known.
    fn without_result(&self, program: &Program, build: &Build, only: Option<&Selection>) -> Vec<String> {
        let all: Vec<String> = match (self.origin(program, build), only) {
            ((Some(_), Some(_)), Some(only)) => only.names.clone(),
            ((Some(artifact), Some(package)), None) if has_harness(package, &artifact.target) => {
                list(self.job, self.tools, package, artifact)
            }
            _ => program.tests.keys().cloned().collect(),
        };
        let has_none = |it: &String| program.tests.get(it).is_none_or(|it: &Option<Outcome>| it.is_none());
        all.into_iter().filter(has_none).collect()
    }

    /// The test in which a program crashes. The tests run in sequence, and each is named before it begins.
    fn culprit(&self, package: &Package, target: &Target, announced: usize, report: &mut Report) -> Option<String> {
        if announced == 0 || self.job.is_over() {
            return None;
        }
        let position = self.workspace.position(&package.id)?;
        let mut command = self.workspace.command(self.job, self.tools, "test", Some(&[position].into())).ok()?;
        command.args(target.selector()).args(["--", "--test-threads=1"]);
        let mut last = None;
        report.ask(self.job, LANGUAGE, command, Streams::Together, &mut |_, _, line| {
            if let Some((name, rest)) = line.strip_prefix("test ").and_then(|it| it.split_once(" ... ")) {
                let has_ended = ["ok", "FAILED", "ignored"].iter().any(|it| rest.starts_with(it));
                last = (!has_ended).then(|| name.trim_end_matches(" - should panic").to_owned());
            }
        });
        last
    }

    fn failure(&self, failure: &Failure, package: Option<&Package>, target: Option<&Target>) -> TestFailure {
        let panic = failure.panic();
        let at = panic.and_then(|it| it.at.as_ref()).or(failure.should_panic_at.as_ref());
        let at = at.or(failure.compile_error.as_ref().and_then(|it| it.1.as_ref()));
        let place = self.place_of_doctest(failure, package).or_else(|| self.place_of(at?, package));
        let place = place.or_else(|| self.find_test(&failure.name, package));
        let place = place.or_else(|| Some((self.job.name_of(&target?.src_path), 1)));
        let message = panic
            .map(|it| it.message.clone())
            .or_else(|| failure.should_panic_at.as_ref().map(|_| "test did not panic as expected".to_owned()))
            .or_else(|| failure.error.clone())
            .or_else(|| failure.compile_error.as_ref().map(|it| it.0.clone()))
            .or_else(|| failure.output.text().lines().rev().find(|it| !it.trim().is_empty()).map(str::to_owned));
        TestFailure {
            name: failure.name.clone(),
            package: package.map(Package::crate_name),
            file: place.as_ref().map(|it| it.0.clone()),
            line: place.map(|it| it.1),
            message: message.unwrap_or_else(|| "the test failed".to_owned()),
            output: failure.output.text(),
            symbol: None,
        }
    }

    /// A position in the program, if it is in the workspace.
    fn place_of(&self, at: &At, package: Option<&Package>) -> Option<(String, usize)> {
        let root = &*self.workspace.metadata.workspace_root;
        let base = package.map_or(root, |it| self.workspace.base_of(&it.id));
        let name = self.job.name_of(&base.join(&at.file));
        let file = self.job.text_of(&name)?;
        line_of(&file.text, at.line).map(|_| (name, at.line))
    }

    /// Where a doctest panicked, if the panic is in its own code; otherwise where it begins.
    fn place_of_doctest(&self, failure: &Failure, package: Option<&Package>) -> Option<(String, usize)> {
        let (name, begins) = self.place_of(&doctest::place(&failure.name)?, package)?;
        let Some(panic) = failure.panic() else {
            let error = failure.compile_error.as_ref().and_then(|it| it.1.as_ref());
            return error.and_then(|it| self.place_of(it, package)).or(Some((name, begins)));
        };
        let text = self.job.text_of(&name)?;
        let line = doctest::line_of_panic(&text.text, begins, panic.at.as_ref()?, &panic.message)?;
        Some((name, line))
    }

    /// The declaration of a test with this name.
    fn find_test(&self, name: &str, package: Option<&Package>) -> Option<(String, usize)> {
        let directory = self.job.name_of(package?.directory());
        let last = name.rsplit("::").next()?;
        let mut best: Option<(usize, String, usize)> = None;
        for file in self.job.files.below(&directory).filter(|it| it.language == Some(LANGUAGE)) {
            // Of several tests with one name, the test whose file or modules have most segments of the path.
            let mut containers: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
            file.outline().walk(&mut |item| {
                if item.name == last && item.kind == SymbolKind::Function && item.test {
                    let depth = containers.len();
                    containers.extend(item.container.iter().map(String::as_str));
                    let score = name.split("::").filter(|it| containers.contains(it)).count();
                    containers.truncate(depth);
                    if best.as_ref().is_none_or(|it| score > it.0) {
                        let line = file.lines().line(item.name_span.start);
                        best = Some((score, file.path.to_string(), line));
                    }
                }
            });
        }
        best.map(|(_, file, line)| (file, line))
    }
}

/// How many tests a program should have a result of, if that is known.
fn expected(program: &Program, only: Option<&Selection>) -> Option<usize> {
    only.filter(|it| it.target.is_some()).map(|it| it.names.len()).or(program.announced)
}

/// How many tests have no result, and which.
fn without_words(without: &[String], expected: Option<usize>) -> String {
    let of = expected.map(|it| format!(" of {it}")).unwrap_or_default();
    match without {
        [] => "not every test has a result".to_owned(),
        [only] => format!("`{only}` has no result"),
        names => format!("{}{of} tests ({}) have no result", names.len(), first_names(names)),
    }
}
