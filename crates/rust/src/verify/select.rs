//! Which tests are meant by a name: the programs say which tests they have, so that those that a macro makes are among
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::cargo::{Package, Target, Workspace};
use super::messages::Artifact;
use super::{Build, doctest};
use crate::LANGUAGE;
use crate::engine::load::tools::Tools;
use semdex_engine::verify::{Job, Report};
use semdex_process::process_group;
use semdex_process::process_group::lines::{Stream, Streams};

/// Tests of one target, or the doctests of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The package's position.
    pub package: usize,
    /// None for doctests.
    pub target: Option<Target>,
    pub names: Vec<String>,
}

/// The tests of what was built that are meant.
pub(crate) fn select(
    job: &Job,
    tools: &Tools<'_>,
    workspace: &Workspace,
    build: &Build,
    report: &mut Report,
) -> Vec<Selection> {
    let mut selections = Vec::new();
    let mut found: BTreeSet<String> = BTreeSet::new();
    for artifact in &build.programs {
        let Some(position) = workspace.position(&artifact.package_id) else { continue };
        let Some(package) = workspace.metadata.packages.get(position) else { continue };
        if !has_harness(package, &artifact.target) {
            continue;
        }
        let crate_name = artifact.target.name.replace('-', "_");
        let mut names = Vec::new();
        for test in list(job, tools, package, artifact) {
            let wanted: Vec<&String> = job.tests.iter().filter(|it| means(it, &test, &crate_name)).collect();
            if !wanted.is_empty() {
                found.extend(wanted.into_iter().cloned());
                names.push(test);
            }
        }
        if !names.is_empty() {
            selections.push(Selection { package: position, target: Some(artifact.target.clone()), names });
        }
    }
    if job.tests.iter().any(|it| !found.contains(it)) {
        selections.extend(doctests(job, tools, workspace, &mut found, report));
    }
    report.found_tests.extend(found);
    selections
}

/// Whether a test is meant by a name: in full, with its crate or without, or the last parts of it.
fn means(wanted: &str, test: &str, crate_name: &str) -> bool {
    let is_end = |path: &str| path.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
    is_end(test) || wanted.strip_prefix(crate_name).and_then(|it| it.strip_prefix("::")) == Some(test)
}

fn means_doctest(wanted: &str, name: &str) -> bool {
    let path = doctest::path(name);
    name == wanted || !path.is_empty() && path.rsplit("::").next() == Some(wanted)
}

fn list(job: &Job, tools: &Tools<'_>, package: &Package, artifact: &Artifact) -> Vec<String> {
    let Some(program) = &artifact.executable else { return Vec::new() };
    let mut command = Command::new(program);
    command.arg("--list").current_dir(package.directory());
    // Where Cargo would have it look for the libraries that it was linked with.
    let libraries = [program.parent().map(Path::to_path_buf), Some(tools.sysroot.join("lib").into())];
    let set =
        std::env::var_os("LD_LIBRARY_PATH").into_iter().flat_map(|it| std::env::split_paths(&it).collect::<Vec<_>>());
    if let Ok(paths) = std::env::join_paths(libraries.into_iter().flatten().chain(set)) {
        command.env("LD_LIBRARY_PATH", paths);
    }
    let Ok(output) = process_group::run(command, job.deadline, &*job.is_wanted) else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(listed).map(str::to_owned).collect()
}

fn listed(line: &str) -> Option<&str> {
    line.strip_suffix(": test")
}

/// Doctests are named by their place, `src/lib.rs - path (line 3)`; the last part of the path does where no test has it.
fn doctests(
    job: &Job,
    tools: &Tools<'_>,
    workspace: &Workspace,
    found: &mut BTreeSet<String>,
    report: &mut Report,
) -> Vec<Selection> {
    let with: BTreeSet<usize> = workspace
        .chosen()
        .into_iter()
        .filter(|it| workspace.metadata.packages.get(*it).and_then(Package::library).is_some_and(|it| it.doctest))
        .collect();
    let open: Vec<String> = job.tests.iter().filter(|it| !found.contains(*it)).cloned().collect();
    let mut by_package: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for package in with {
        let Ok(mut command) = workspace.command(job, tools, "test", Some(&[package].into())) else { continue };
        command.args(["--doc", "--", "--list"]);
        let mut names = Vec::new();
        report.ask(job, LANGUAGE, command, Streams::Apart, &mut |_, stream, line| {
            names.extend(listed(line).filter(|_| stream == Stream::Output).map(str::to_owned));
        });
        for name in names {
            let wanted: Vec<&String> = open.iter().filter(|it| means_doctest(it, &name)).collect();
            if !wanted.is_empty() {
                found.extend(wanted.into_iter().cloned());
                by_package.entry(package).or_default().push(name);
            }
        }
    }
    by_package.into_iter().map(|(package, names)| Selection { package, target: None, names }).collect()
}

/// What has no harness runs whole, whatever it is asked for.
fn has_harness(package: &Package, target: &Target) -> bool {
    let manifest = std::fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let Ok(manifest) = manifest.parse::<toml::Table>() else { return true };
    let kind = if target.is_library() { "lib" } else { target.kind.first().map_or("", String::as_str) };
    let is_it = |table: &toml::Table| {
        let name = table.get("name").and_then(toml::Value::as_str);
        kind == "lib" || name == Some(target.name.as_str())
    };
    let without =
        |table: &toml::Table| is_it(table) && table.get("harness").and_then(toml::Value::as_bool) == Some(false);
    match manifest.get(kind) {
        Some(toml::Value::Table(table)) => !without(table),
        Some(toml::Value::Array(tables)) => !tables.iter().filter_map(toml::Value::as_table).any(without),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_meant_by_whole_parts_of_its_name() {
        for (wanted, is_meant) in [
            ("works", true),
            ("tests::works", true),
            ("a::tests::works", true),
            ("krate::a::tests::works", true),
            ("orks", false),
            ("tests", false),
            ("other::a::tests::works", false),
        ] {
            assert_eq!(means(wanted, "a::tests::works", "krate"), is_meant, "{wanted}");
        }
    }
}
