//! The packages of a module that a change can affect, from `go list`: imports, tests included, and embedded files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::GoModule;
use crate::LANGUAGE;
use crate::modules::{base_name, below, parent, rest_of};
use semdex_engine::files::Files;
use semdex_engine::verify::reach::who_names;
use semdex_engine::verify::{Ended, Job, Report};
use semdex_process::process_group::lines::{Stream, Streams};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    #[serde(default)]
    dir: String,
    #[serde(default)]
    import_path: String,
    /// For the test variant of a package, the tested package.
    #[serde(default)]
    for_test: String,
    #[serde(default)]
    standard: bool,
    #[serde(default)]
    dep_only: bool,
    #[serde(default)]
    deps: Vec<String>,
    #[serde(default)]
    embed_files: Vec<String>,
    #[serde(default)]
    test_embed_files: Vec<String>,
    #[serde(default, rename = "XTestEmbedFiles")]
    x_test_embed_files: Vec<String>,
}

/// The directories, relative to the module, of the packages that one of the files can affect. `None`: this could not be
/// computed, so all are affected.
pub(super) fn reached(
    job: &Job,
    module: &GoModule,
    changed: &[String],
    report: &mut Report,
) -> Option<BTreeSet<String>> {
    let listed = list(job, module, report)?;
    let directory = |it: &Listed| job.name_of(Path::new(&it.dir));
    // All packages of the root in the module's build, packages of other modules included.
    let mut packages: BTreeMap<String, String> = BTreeMap::new();
    for package in listed.iter().filter(|it| Path::new(&it.dir).starts_with(&job.root)) {
        packages.insert(plain(&package.import_path).to_owned(), directory(package));
    }
    let directories: Vec<String> = packages.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    let mut whole: BTreeSet<String> = BTreeSet::new();
    let mut own: BTreeSet<String> = BTreeSet::new();
    for file in changed {
        if matches!(base_name(file), "go.mod" | "go.sum" | "go.work" | "go.work.sum") {
            let below = parent(file);
            whole.extend(directories.iter().filter(|it| rest_of(it, below).is_some()).cloned());
            continue;
        }
        // Code outside the module's build does not affect it.
        let owner = package_around(&job.files, file);
        let owner = owner.as_ref().filter(|it| directories.contains(it));
        let apart = file.ends_with("_test.go") || in_testdata(file);
        if let Some(owner) = owner {
            if apart { &mut own } else { &mut whole }.insert(owner.clone());
        }
        for package in listed.iter().filter(|it| Path::new(&it.dir).starts_with(&job.root)) {
            let names =
                |files: &[String]| files.iter().any(|it| job.name_of(&Path::new(&package.dir).join(it)) == *file);
            if names(&package.embed_files) {
                whole.insert(directory(package));
            }
            if names(&package.test_embed_files) || names(&package.x_test_embed_files) {
                own.insert(directory(package));
            }
        }
        if !LANGUAGE.takes(file) {
            for (package, by) in who_names(&directories, &job.files, file) {
                let set = if by.path.ends_with("_test.go") { &mut own } else { &mut whole };
                set.extend(directories.get(package).cloned());
            }
        }
    }
    let is_whole = |path: &str| packages.get(plain(path)).is_some_and(|it| whole.contains(it));
    let mut reached = BTreeSet::new();
    for package in listed.iter().filter(|it| !it.dep_only || !it.for_test.is_empty()) {
        let of = if package.for_test.is_empty() { plain(&package.import_path) } else { &package.for_test };
        let of = of.strip_suffix(".test").unwrap_or(of);
        let Some(of) = packages.get(of) else { continue };
        if is_whole(&package.import_path) || own.contains(of) || package.deps.iter().any(|it| is_whole(it)) {
            reached.insert(of.clone());
        }
    }
    let inner = |it: &String| module.inner(it).to_owned();
    let members: BTreeSet<&str> = module.packages.iter().map(|it| it.directory.as_str()).collect();
    Some(reached.iter().filter(|it| members.contains(it.as_str())).map(inner).collect())
}

/// Removes the suffix that `go list` adds to the path of a variant.
fn plain(path: &str) -> &str {
    let path = path.split(" [").next().unwrap_or(path);
    path.strip_suffix("_test").unwrap_or(path)
}

/// The directory of a file's package. A file in a subdirectory without a package belongs to the enclosing package.
fn package_around(files: &Files, file: &str) -> Option<String> {
    let is_package = |directory: &str| {
        !directory.split('/').any(|it| it == "testdata")
            && files.below(directory).any(|it| parent(&it.path) == directory && LANGUAGE.takes(&it.path))
    };
    let mut directory = parent(file);
    loop {
        if is_package(directory) {
            return Some(directory.to_owned());
        }
        // The enclosing module is another one.
        if directory.is_empty() || files.get(&below(directory, "go.mod")).is_some() {
            return None;
        }
        directory = parent(directory);
    }
}

/// Only tests can read it.
fn in_testdata(file: &str) -> bool {
    parent(file).split('/').any(|it| it == "testdata")
}

fn list(job: &Job, module: &GoModule, report: &mut Report) -> Option<Vec<Listed>> {
    let mut command = super::Run { job, module }.go("list");
    const FIELDS: &str = "-json=Dir,ImportPath,ForTest,Standard,DepOnly,Deps,EmbedFiles,TestEmbedFiles,XTestEmbedFiles";
    command.args(["-e", "-deps", "-test", FIELDS, "./..."]);
    let mut json = String::new();
    let mut listed: Vec<Listed> = Vec::new();
    let ended = report.ask(job, LANGUAGE, command, Streams::Apart, &mut |_, stream, line| {
        if stream == Stream::Errors {
            return;
        }
        json.push_str(line);
        json.push('\n');
        if line == "}" {
            listed.extend(serde_json::from_str::<Listed>(&json).ok().filter(|it| !it.standard));
            json.clear();
        }
    });
    (ended == Ended::Well && !listed.is_empty()).then_some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_of_their_package() {
        assert_eq!(plain("m/a [m/a.test]"), "m/a");
        assert_eq!(plain("m/a_test [m/a.test]"), "m/a");
        assert!(in_testdata("a/testdata/x.json") && !in_testdata("a/x.json"));
    }
}
