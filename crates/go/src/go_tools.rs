//! Runs `go build`, `go vet` and `go test` on the modules of a root and parses their output.

mod affected_packages;
mod test_events;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use self::test_events::{Exit, Tests};
use super::gomod::Module;
use super::modules::{self, GoPackage, Membership, base_name, below, rest_of};
use super::{LANGUAGE, process};
use semdex_engine::verify::text::finding;
use semdex_engine::verify::{Ended, Job, Planned, Report, first_names, normal};
use semdex_model::{Diagnostic, Missing, MissingCode, Severity, SymbolKind, VerifyKind};
use semdex_process::process_group;
use semdex_process::process_group::lines::Streams;

/// Plans a run: finds the modules from the texts, before anything is built.
pub(crate) fn plan<'j>(job: &'j Job) -> Box<dyn Planned + 'j> {
    let packages: Vec<GoPackage> =
        modules::packages(&job.files).into_iter().filter(|it| it.standing == Membership::Member).collect();
    let works = modules::works(&job.files);
    let is_ignored = |directory: &str| {
        directory.split('/').any(|it| it == "testdata" || it == "vendor" || it.starts_with(['_', '.']))
    };
    let found = modules::modules(&job.files).into_iter().filter(|it| !is_ignored(&it.directory));
    let modules = found.map(|module| {
        let own = |it: &&GoPackage| nearest(&job.files, &it.directory).as_deref() == Some(&module.directory);
        let packages: Vec<GoPackage> = packages.iter().filter(own).cloned().collect();
        let work = works
            .iter()
            .filter(|it| rest_of(&module.directory, &it.directory).is_some())
            .max_by_key(|it| it.directory.len());
        let is_apart = work.is_some_and(|it| !it.uses.contains(&module.directory));
        GoModule { module, packages, is_apart, chosen: None }
    });
    Box::new(Plan { modules: modules.collect() })
}

/// The directory of a directory's module.
fn nearest(files: &semdex_engine::files::Files, directory: &str) -> Option<String> {
    modules::module_of(files, directory).map(|it| it.directory)
}

struct Plan {
    modules: Vec<GoModule>,
}

/// A module, and which of its packages are checked.
struct GoModule {
    module: Module,
    packages: Vec<GoPackage>,
    /// The enclosing `go.work` does not use it.
    is_apart: bool,
    /// The selected directories, relative to the module; `None` selects all.
    chosen: Option<BTreeSet<String>>,
}

impl GoModule {
    /// The package patterns for `go`.
    fn patterns(&self) -> Vec<String> {
        match &self.chosen {
            None => vec!["./...".to_owned()],
            Some(chosen) => chosen.iter().map(|it| pattern(it)).collect(),
        }
    }

    /// A package's directory relative to the module.
    fn inner<'a>(&self, directory: &'a str) -> &'a str {
        rest_of(directory, &self.module.directory).unwrap_or(directory)
    }

    /// The packages that a name means: an import path, a directory, or, if nothing else matches, the last segment of
    /// either.
    fn named(&self, name: &str) -> BTreeSet<String> {
        let plain = name.strip_suffix("_test").unwrap_or(name);
        let directory = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
        let find = |fits: &dyn Fn(&GoPackage) -> bool| -> BTreeSet<String> {
            self.packages.iter().filter(|it| fits(it)).map(|it| self.inner(&it.directory).to_owned()).collect()
        };
        if let Some(above) = directory.strip_suffix("/...") {
            return find(&|it| rest_of(&it.directory, above).is_some() || rest_of(&it.import_path, above).is_some());
        }
        let by_path = find(&|it| it.import_path == name || it.import_path == plain);
        if !by_path.is_empty() {
            return by_path;
        }
        let by_directory = find(&|it| it.directory == directory);
        if !by_directory.is_empty() {
            return by_directory;
        }
        find(&|it| it.name == name || base_name(&it.import_path) == name)
    }
}

impl Planned for Plan {
    fn knows(&self, package: &str) -> bool {
        self.modules.iter().any(|it| !it.named(package).is_empty())
    }

    fn packages(&self) -> Vec<String> {
        let paths = |it: &GoModule| it.packages.iter().map(|it| it.import_path.clone()).collect::<Vec<_>>();
        self.modules.iter().flat_map(paths).collect()
    }

    fn run(mut self: Box<Self>, job: &Job, report: &mut Report) {
        if self.modules.is_empty() {
            let detail = "no module: `go` builds only what lies below a `go.mod` (`go mod init NAME`)";
            report.coverage.lacks(Missing::new(MissingCode::NotInAPackage, LANGUAGE.name, detail));
            report.has_failed = true;
            return;
        }
        for module in &mut self.modules {
            if !job.packages.is_empty() {
                module.chosen = Some(job.packages.iter().flat_map(|it| module.named(it)).collect());
            }
            if let Some(changed) = &job.changed
                && let Some(reached) = affected_packages::reached(job, module, changed, report)
            {
                module.chosen = Some(match module.chosen.take() {
                    Some(chosen) => &chosen & &reached,
                    None => reached,
                });
            }
        }
        if job.kind == VerifyKind::Test {
            report.count(0, 0, 0);
        }
        for module in self.modules.iter().filter(|it| it.chosen.as_ref().is_none_or(|it| !it.is_empty())) {
            if job.is_over() {
                break;
            }
            if module.packages.is_empty() {
                continue;
            }
            Run { job, module }.run(report);
        }
    }
}

/// One run in one module.
struct Run<'a> {
    job: &'a Job,
    module: &'a GoModule,
}

impl Run<'_> {
    fn run(&self, report: &mut Report) {
        match self.job.kind {
            VerifyKind::Check => {
                // Packages with only tests are built with the tests below.
                let has_code = |it: &GoPackage| it.files.iter().any(|it| !it.path.ends_with("_test.go"));
                let chosen = |it: &&GoPackage| {
                    self.module.chosen.as_ref().is_none_or(|chosen| chosen.contains(self.module.inner(&it.directory)))
                };
                if self.module.packages.iter().filter(chosen).any(has_code) {
                    let mut command = self.go("build");
                    // Prevents an output file when a single program is built.
                    command.args(["-o", "/dev/null"]);
                    match &self.module.chosen {
                        None => drop(command.arg("./...")),
                        Some(chosen) => {
                            let with_code = self.module.packages.iter().filter(|it| has_code(it));
                            let inner: BTreeSet<&str> = with_code.map(|it| self.module.inner(&it.directory)).collect();
                            command.args(chosen.iter().filter(|it| inner.contains(it.as_str())).map(|it| pattern(it)));
                        }
                    }
                    if self.build(command, report) == Ended::Over {
                        return;
                    }
                }
                // Compiles the tests too, without linking or running them.
                let mut command = self.go("list");
                command.args(["-export", "-test", "-f", "{{\"\"}}"]).args(self.module.patterns());
                self.build(command, report);
            }
            VerifyKind::Lint => self.lint(report),
            VerifyKind::Test => self.test(report),
        }
    }

    fn go(&self, subcommand: &str) -> Command {
        let mut command = Command::new("go");
        command.arg(subcommand).current_dir(self.job.root.join(&self.module.module.directory));
        command.envs(process::environment(true));
        if self.module.is_apart {
            command.env("GOWORK", "off");
        }
        // `go.mod` and `go.sum` are never changed, whatever the user has configured.
        let flags = std::env::var("GOFLAGS").unwrap_or_default();
        if flags.split_whitespace().any(|it| it.trim_start_matches('-') == "mod=mod") {
            command.arg("-mod=readonly");
        }
        command
    }

    fn build(&self, command: Command, report: &mut Report) -> Ended {
        self.job.tell("building", 0, 0);
        report.run(self.job, LANGUAGE, command, Streams::Together, &mut |report, _, line| {
            if !line.is_empty() {
                report.line(line);
                self.text(line, "compile", report);
            }
        })
    }

    fn lint(&self, report: &mut Report) {
        self.job.tell("vetting", 0, 0);
        let mut command = self.go("vet");
        command.args(self.module.patterns());
        let mut lines = Vec::new();
        let ended = report.run(self.job, LANGUAGE, command, Streams::Together, &mut |report, _, line| {
            report.line(line);
            lines.truncate(9999);
            lines.push(line.to_owned());
        });
        if ended != Ended::Badly {
            return;
        }
        // The JSON output names the analyzer of each diagnostic, and the exit code is always 0. Results of the first
        // run are cached.
        let mut command = self.go("vet");
        command.arg("-json").args(self.module.patterns());
        let mut json = String::new();
        let mut named: BTreeMap<(String, String), String> = BTreeMap::new();
        report.ask(self.job, LANGUAGE, command, Streams::Together, &mut |_, _, line| {
            if line.starts_with('#') || json.len() > 8 << 20 {
                return;
            }
            json.push_str(line);
            if line == "}" || line == "{}" {
                named.extend(analyzers(&json));
                json.clear();
            }
        });
        for line in lines {
            self.vetted(&line, &named, report);
        }
    }

    /// Parses a line of `go vet`, with the analyzer that reported it.
    fn vetted(&self, line: &str, named: &BTreeMap<(String, String), String>, report: &mut Report) {
        if let Some(error) = line.strip_prefix("vet: ") {
            return self.text(error, "go vet", report);
        }
        let Some(found) = finding(line) else { return };
        let name = self.name_of(found.file);
        let place = self.job.place(&name, found.line, found.column);
        let key = (format!("{}:{}:{}", base_name(found.file), found.line, found.column), found.message.to_owned());
        report.diagnostic(Diagnostic {
            place,
            severity: Severity::Warning,
            code: named.get(&key).cloned(),
            message: found.message.to_owned(),
            source: "go vet".to_owned(),
            symbol: None,
            confirmed: Some(true),
            build: None,
        });
    }

    /// Parses a line about a compile error.
    fn text(&self, line: &str, source: &str, report: &mut Report) {
        if line.starts_with([' ', '\t', '#']) {
            return;
        }
        let Some(found) = finding(line) else { return };
        let name = self.name_of(found.file);
        report.diagnostic(Diagnostic {
            place: self.job.place(&name, found.line, found.column),
            severity: Severity::Error,
            code: None,
            message: message_of(line).unwrap_or(found.message).to_owned(),
            source: source.to_owned(),
            symbol: None,
            confirmed: Some(true),
            build: None,
        });
    }

    /// Converts a file name of `go`, relative to its working directory.
    fn name_of(&self, file: &str) -> String {
        let directory = self.job.root.join(&self.module.module.directory);
        self.job.name_of(&normal(&directory.join(file)))
    }

    fn test(&self, report: &mut Report) {
        let (patterns, run) = if self.job.tests.is_empty() {
            (self.module.patterns(), None)
        } else {
            let (patterns, run) = self.selected();
            if patterns.is_empty() {
                return;
            }
            (patterns, Some(run))
        };
        let is_selected = run.is_some();
        let mut command = self.go("test");
        command.arg("-json");
        if let Some(run) = &run {
            command.arg("-run").arg(run);
        }
        command.args(patterns);
        let mut tests = Tests::default();
        let ended = report.run(self.job, LANGUAGE, command, Streams::Apart, &mut |report, _, line| {
            match tests.event(line) {
                test_events::Said::Line(text) => report.line(text.trim_end_matches('\n')),
                test_events::Said::Build(text) => {
                    report.line(text.trim_end_matches('\n'));
                    self.text(text.trim_end_matches('\n'), "compile", report);
                }
                test_events::Said::Nothing => {}
                test_events::Said::Other => {
                    report.line(line);
                    self.text(line, "compile", report);
                }
            }
            self.job.tell("testing", tests.done(), 0);
            tests.take_failures(&mut |failed| self.take(failed, report));
        });
        tests.end(&mut |failed| self.take(failed, report));
        let (passed, failed, skipped) = tests.counts();
        report.count(passed, failed, skipped);
        // Names in files that the build leaves out, and parts of tests, are known only after they have run.
        for wanted in &self.job.tests {
            if self.module.packages.iter().any(|it| tests.has_run(&it.import_path, &test_name(wanted, it))) {
                report.found_tests.insert(wanted.clone());
            }
        }
        if ended != Ended::Over {
            self.check_results(&tests, is_selected, report);
        }
    }

    /// Records the tests that have no result: `TestMain` or a test can end the program, and the build can leave a file
    /// out that contains a requested test.
    fn check_results(&self, tests: &Tests, is_selected: bool, report: &mut Report) {
        for (package, name) in tests.without_result() {
            let detail = format!(
                "`{name}` of {package} has no result: the program of its package ended before, with exit code 0"
            );
            report.lacks_result(package, detail);
        }
        let mut absent: Vec<(&GoPackage, &str, String)> = Vec::new();
        for package in self.module.packages.iter().filter(|it| tests.exit(&it.import_path).is_some()) {
            for file in package.files.iter().filter(|it| it.path.ends_with("_test.go")) {
                let outline = file.outline();
                let is_announced = |name: &str| {
                    let is_wanted = |it: &String| test_name(it, package).split('/').next() == Some(name);
                    is_test(name)
                        && (!is_selected && !name.starts_with("Example") && name != "TestMain"
                            || is_selected && self.job.tests.iter().any(is_wanted))
                };
                let functions = outline.items.iter().filter(|it| it.kind == SymbolKind::Function);
                for item in functions.filter(|it| it.container.is_empty() && is_announced(&it.name)) {
                    if !tests.has_run(&package.import_path, &item.name) {
                        absent.push((package, base_name(&file.path), item.name.clone()));
                    }
                }
            }
        }
        if absent.is_empty() {
            return;
        }
        let built = self.test_files(absent.iter().map(|it| it.0));
        let mut by_package: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (package, file, name) in absent {
            if built.contains(&(package.import_path.clone(), file.to_owned())) {
                by_package.entry(&package.import_path).or_default().push(name);
            } else if is_selected {
                let file = below(&package.directory, file);
                let detail = format!("`{name}` was not run: the build leaves {file} out. See its build constraints");
                report.lacks_result(&package.import_path, detail);
            }
        }
        for (package, names) in by_package {
            let (count, names) = (names.len(), first_names(&names));
            let detail = match tests.exit(package) {
                Some(Exit::Failed) => {
                    format!("{count} tests of {package} have no result, since its program ended before ({names})")
                }
                _ => format!(
                    "{count} tests of {package} have no result though it ended with exit code 0 ({names}): see its \
                     `TestMain` and GOFLAGS"
                ),
            };
            report.lacks_result(package, detail);
        }
    }

    /// The test files that `go` compiles for these packages, with the import paths.
    fn test_files<'p>(&self, packages: impl Iterator<Item = &'p GoPackage>) -> BTreeSet<(String, String)> {
        let patterns: BTreeSet<String> = packages.map(|it| pattern(self.module.inner(&it.directory))).collect();
        let mut command = self.go("list");
        let template = "{{$p := .ImportPath}}{{range .TestGoFiles}}{{$p}} {{.}}\n{{end}}{{range .XTestGoFiles}}{{$p}} {{.}}\n{{end}}";
        command.args(["-e", "-f", template]).args(patterns);
        let Ok(output) = process_group::run(command, self.job.deadline, &*self.job.is_wanted) else {
            return BTreeSet::new();
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let pair = |line: &str| line.split_once(' ').map(|it| (it.0.to_owned(), it.1.to_owned()));
        text.lines().filter_map(pair).collect()
    }

    /// The packages with tests of the requested names, and the argument of `-run` for them.
    fn selected(&self) -> (Vec<String>, String) {
        let mut patterns = BTreeSet::new();
        let mut names: BTreeSet<String> = BTreeSet::new();
        for package in &self.module.packages {
            let inner = self.module.inner(&package.directory);
            if self.module.chosen.as_ref().is_some_and(|it| !it.contains(inner)) {
                continue;
            }
            for file in package.files.iter().filter(|it| it.path.ends_with("_test.go")) {
                for item in &file.outline().items {
                    for wanted in &self.job.tests {
                        let own = wanted.strip_prefix(package.import_path.as_str()).and_then(|it| it.strip_prefix('.'));
                        let short = own.unwrap_or(wanted);
                        let (first, part) = short.split_once('/').map_or((short, None), |it| (it.0, Some(it.1)));
                        if first != item.name || !is_test(&item.name) {
                            continue;
                        }
                        patterns.insert(pattern(inner));
                        let mut run = format!("^{}$", escaped(first));
                        for part in part.iter().flat_map(|it| it.split('/')) {
                            run.push_str(&format!("/^{}$", escaped(part)));
                        }
                        names.insert(run);
                    }
                }
            }
        }
        (patterns.into_iter().collect(), names.into_iter().collect::<Vec<_>>().join("|"))
    }

    fn take(&self, failed: test_events::Failed, report: &mut Report) {
        let package = self.module.packages.iter().find(|it| it.import_path == failed.package);
        let directory = package.map_or_else(
            || below(&self.module.module.directory, rest_of(&failed.package, &self.module.module.path).unwrap_or("")),
            |it| it.directory.clone(),
        );
        report.failure(failed.into_failure(self.job, &directory));
    }
}

/// A directory of a module as an argument of `go`.
fn pattern(directory: &str) -> String {
    if directory.is_empty() { ".".to_owned() } else { format!("./{directory}") }
}

/// A requested test's name within a package, with blanks as `go test` rewrites them.
fn test_name(wanted: &str, package: &GoPackage) -> String {
    let own = wanted.strip_prefix(package.import_path.as_str()).and_then(|it| it.strip_prefix('.'));
    own.unwrap_or(wanted).replace(char::is_whitespace, "_")
}

/// Whether `go test` runs a function of this name.
fn is_test(name: &str) -> bool {
    ["Test", "Example", "Fuzz"]
        .iter()
        .any(|it| name.strip_prefix(it).is_some_and(|rest| !rest.starts_with(|it: char| it.is_lowercase())))
}

/// Escapes a name for a regular expression, with blanks as `go test` rewrites them.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for letter in name.chars() {
        if letter.is_ascii_punctuation() && letter != '_' {
            escaped.push('\\');
        }
        escaped.push(if letter.is_whitespace() { '_' } else { letter });
    }
    escaped
}

/// The message in a line of the compiler: the text after the place.
fn message_of(line: &str) -> Option<&str> {
    let mut rest = line;
    let (_, after) = rest.split_once(".go:")?;
    rest = after;
    while let Some((number, after)) = rest.split_once(':') {
        if number.is_empty() || !number.bytes().all(|it| it.is_ascii_digit()) {
            break;
        }
        rest = after;
    }
    Some(rest.trim())
}

/// Parses `go vet -json`: the analyzer of each place and message.
fn analyzers(json: &str) -> Vec<((String, String), String)> {
    let Ok(Value::Object(packages)) = serde_json::from_str(json) else { return Vec::new() };
    let mut found = Vec::new();
    for analyzers in packages.values().filter_map(Value::as_object) {
        for (analyzer, findings) in analyzers {
            for finding in findings.as_array().into_iter().flatten() {
                let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default();
                let place = base_name(text("posn")).to_owned();
                found.push(((place, text("message").to_owned()), analyzer.clone()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vet_says_as_json_is_read() {
        let json = "{\"example.com/m/a\":{\"printf\":[{\"posn\":\"/w/a/a.go:5:2\",\"message\":\"bad verb\"}]}}";
        let key = ("a.go:5:2".to_owned(), "bad verb".to_owned());
        assert_eq!(analyzers(json), [(key, "printf".to_owned())]);
        assert!(analyzers("{}").is_empty());
    }

    #[test]
    fn names_are_taken_literally() {
        assert_eq!(escaped("a b.c(1)"), "a_b\\.c\\(1\\)");
        assert!(is_test("TestA") && is_test("Test") && is_test("ExampleT_m") && !is_test("Testing"));
        assert_eq!(message_of("a/a.go:5:23: cannot: use \"x\""), Some("cannot: use \"x\""));
        assert_eq!(message_of("a/a.go:5: x"), Some("x"));
    }
}
