//! Determines which files a load reads: configuration, the toolchain, the declared inputs of build scripts, and the
//! sources of everything that runs at compile time.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use ra_ap_paths::AbsPath;
use ra_ap_project_model::{
    CargoWorkspace, Package, PackageDependency, ProjectWorkspace, ProjectWorkspaceKind, TargetKind,
};
use serde::Deserialize;
use toml::{Table, Value};

use super::external_inputs::{Counted, ExternalInputs};
use super::script;
use super::tools::Tools;
use semdex_fs::read_file;
use semdex_process::search_path;

/// Longer files are neither configuration nor the output of a build script.
const LONGEST: usize = 8 << 20;
/// The most files of configuration that include each other.
const MOST_INCLUDES: usize = 64;

/// Adds what decides how a workspace in this directory is read, as far as it is known before any program runs.
pub(crate) fn of_place(directory: &Path, inputs: &mut ExternalInputs) {
    for above in directory.ancestors() {
        for name in ["rust-toolchain", "rust-toolchain.toml"] {
            inputs.add_toolchain(above.join(name));
        }
        of_configuration(&above.join(".cargo"), inputs);
        if above != directory {
            // It may be the manifest of an enclosing workspace.
            inputs.add(above.join("Cargo.toml"));
        }
    }
    let home = |variable: &str, name: &str| {
        let set = std::env::var_os(variable).map(PathBuf::from).filter(|it| it.is_absolute());
        set.or_else(|| std::env::home_dir().map(|it| it.join(name)))
    };
    if let Some(home) = home("CARGO_HOME", ".cargo") {
        of_configuration(&home, inputs);
    }
    if let Some(home) = home("RUSTUP_HOME", ".rustup") {
        inputs.add_toolchain(home.join("settings.toml"));
    }
    for program in ["rustc", "cargo"] {
        for directory in search_path::directories() {
            let there = directory.join(program);
            let is_there = there.is_file();
            inputs.add_toolchain(there);
            if is_there {
                break;
            }
        }
    }
}

/// Adds the configuration files of a directory, the files that they include, and the target descriptions that they
/// name.
fn of_configuration(directory: &Path, inputs: &mut ExternalInputs) {
    let mut pending: Vec<PathBuf> = ["config", "config.toml"].map(|it| directory.join(it)).into();
    let mut seen = BTreeSet::new();
    while let Some(file) = pending.pop() {
        if seen.len() >= MOST_INCLUDES || !seen.insert(file.clone()) {
            continue;
        }
        inputs.add(file.clone());
        let Some(table) = text(&file).and_then(|it| it.parse::<Table>().ok()) else { continue };
        // Paths are relative to the file; paths of targets are relative to the directory that contains `.cargo`.
        let beside = |it: &str| file.parent().unwrap_or(directory).join(it);
        let included = match table.get("include") {
            Some(Value::Array(several)) => several.iter().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        pending
            .extend(included.into_iter().filter_map(|it| it.as_str().or_else(|| it.get("path")?.as_str())).map(beside));
        let targets = match table.get("build").and_then(|it| it.get("target")) {
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            Some(one) => one.as_str().into_iter().collect(),
            None => Vec::new(),
        };
        let base = directory.parent().unwrap_or(directory);
        targets.into_iter().filter(|it| it.ends_with(".json")).for_each(|it| inputs.add(base.join(it)));
    }
}

/// Adds the toolchain that was found.
pub(crate) fn of_tools(tools: &Tools<'_>, inputs: &mut ExternalInputs) {
    let sysroot: &Path = tools.sysroot.as_ref();
    let parts = ["bin/rustc", "bin/cargo", "lib/rustlib/components", "lib/rustlib/multirust-channel-manifest.toml"];
    parts.iter().for_each(|it| inputs.add_toolchain(sysroot.join(it)));
    inputs.add_toolchain(sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs"));
}

/// Adds the location of a workspace and the manifests of its packages. Manifests outside the root are not watched
/// before they are known, and inherit from others above them.
pub(crate) fn of_workspace(workspace: &ProjectWorkspace, root: &AbsPath, inputs: &mut ExternalInputs) {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { return };
    of_place(cargo.workspace_root().as_ref(), inputs);
    for package in cargo.packages().filter(|&it| cargo[it].is_local) {
        let directory: &Path = cargo[package].manifest.parent().as_ref();
        inputs.add_package(directory, Counted::Named);
        inputs.add(directory.join("Cargo.toml"));
        // Cargo finds it by its path.
        inputs.add(directory.join("build.rs"));
        if !directory.starts_with(root) {
            directory.ancestors().skip(1).for_each(|it| inputs.add(it.join("Cargo.toml")));
        }
    }
}

/// The relevant part of a Cargo message.
#[derive(Deserialize)]
struct Message {
    reason: String,
    package_id: Option<String>,
    out_dir: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    target: Option<Built>,
    message: Option<Compiled>,
}

/// A message of the compiler.
#[derive(Deserialize)]
struct Compiled {
    level: String,
}

#[derive(Deserialize)]
struct Built {
    kind: Vec<String>,
}

/// Adds what was read to build what a workspace runs at compile time. `said` are Cargo's messages; `is_exact`: they are
/// about nothing else.
pub(crate) fn of_build(workspace: &ProjectWorkspace, said: &[u8], is_exact: bool, inputs: &mut ExternalInputs) {
    let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind else { return };
    // Parts that must have been built to be known.
    let mut lacking: HashSet<(Package, Part)> = HashSet::new();
    for package in cargo.packages().filter(|&it| cargo[it].is_local) {
        for &target in &cargo[package].targets {
            match cargo[target].kind {
                TargetKind::Lib { is_proc_macro: true } => lacking.extend([(package, Part::Library)]),
                TargetKind::BuildScript => lacking.extend([(package, Part::Script), (package, Part::Output)]),
                _ => {}
            }
        }
    }
    let run = with_dependencies(cargo, lacking.iter().map(|it| it.0).collect());
    // Packages whose build scripts do not declare their inputs, and the sources of the scripts.
    let mut silent: HashSet<Package> = HashSet::new();
    let mut scripts: HashMap<Package, Vec<PathBuf>> = HashMap::new();
    // Packages that do not compile.
    let mut broken: HashSet<Package> = HashSet::new();
    let messages = said.split(|it| *it == b'\n').filter_map(|it| serde_json::from_slice::<Message>(it).ok());
    for message in messages {
        let Some(id) = message.package_id else { continue };
        let Some(package) = cargo.packages().find(|&it| cargo[it].id.repr == id) else { continue };
        let home: &Path = cargo[package].manifest.parent().as_ref();
        let is_local = cargo[package].is_local;
        if message.message.is_some_and(|it| it.level == "error") {
            broken.insert(package);
        } else if message.reason == "build-script-executed" {
            let said = message.out_dir.as_deref().and_then(Path::parent).and_then(|it| text(&it.join("output")));
            let Some(said) = said else { continue };
            lacking.remove(&(package, Part::Output));
            match named_by_script(&said) {
                // Nobody edits the files of a downloaded package.
                Some(named) => named
                    .iter()
                    .map(|it| home.join(it))
                    .filter(|it| is_local || !it.starts_with(home))
                    .for_each(|it| inputs.add_all(&it)),
                None if is_local => drop(silent.insert(package)),
                None => {}
            }
        } else if message.reason == "compiler-artifact" && is_local && (is_exact || run.contains(&package)) {
            let is_script = message.target.is_some_and(|it| it.kind.iter().any(|it| it == "custom-build"));
            // Cargo compiles files below the workspace root with paths relative to it.
            let root: &Path = cargo.workspace_root().as_ref();
            let base = if home.starts_with(root) { root } else { home };
            let sources: BTreeSet<PathBuf> = message.filenames.iter().flat_map(|it| sources_of(it, base)).collect();
            if !sources.is_empty() {
                lacking.remove(&(package, if is_script { Part::Script } else { Part::Library }));
            }
            if is_script {
                scripts.entry(package).or_default().extend(sources.iter().cloned());
            }
            sources.into_iter().for_each(|it| inputs.add(it));
        }
    }
    for package in silent {
        let package_data = &cargo[package];
        // The script's text does not show what a helper crate does. The type of the kind is not nameable here.
        let is_helper = |it: &PackageDependency| format!("{:?}", it.kind) == "Build" && cargo[it.pkg].is_local;
        let has_helper = package_data.dependencies.iter().any(is_helper);
        let script = script::Silent {
            package: &package_data.name,
            home: package_data.manifest.parent().as_ref(),
            sources: scripts.get(&package).map_or(&[], Vec::as_slice),
            has_helper,
        };
        script.note(inputs);
    }
    for &(package, part) in &lacking {
        tracing::info!(package = cargo[package].name, ?part, "not built");
    }
    // A change of what does not compile, or of what it depends on, may fix it. Other failures, such as a missing
    // library of the system, are rarely in the sources: the build is tried again in the background.
    let lacking = with_dependencies(cargo, lacking.into_iter().map(|it| it.0).collect());
    let broken = with_dependencies(cargo, broken);
    for package in lacking.into_iter().filter(|&it| cargo[it].is_local) {
        let counted = if broken.contains(&package) { Counted::All } else { Counted::Perhaps };
        inputs.add_package(cargo[package].manifest.parent().as_ref(), counted);
    }
}

/// A part of a package that is built to run at compile time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Library,
    Script,
    /// The output of the script.
    Output,
}

/// These packages and all their dependencies of any kind.
fn with_dependencies(cargo: &CargoWorkspace, mut packages: HashSet<Package>) -> HashSet<Package> {
    let mut pending: Vec<Package> = packages.iter().copied().collect();
    while let Some(package) = pending.pop() {
        pending.extend(cargo[package].dependencies.iter().map(|it| it.pkg).filter(|&it| packages.insert(it)));
    }
    packages
}

/// The paths that a build script declares as its inputs; `None` if it declares none, so that Cargo runs it after any
/// change of the package.
fn named_by_script(said: &str) -> Option<Vec<&str>> {
    let directives = || said.lines().filter_map(|it| it.strip_prefix("cargo::").or_else(|| it.strip_prefix("cargo:")));
    if !directives().any(|it| it.starts_with("rerun-if-changed=") || it.starts_with("rerun-if-env-changed=")) {
        return None;
    }
    Some(directives().filter_map(|it| it.strip_prefix("rerun-if-changed=")).map(str::trim).collect())
}

/// The sources of this compiled file, as the compiler's dep-info file next to it lists them.
fn sources_of(compiled: &Path, base: &Path) -> Vec<PathBuf> {
    let (Some(directory), Some(stem)) = (compiled.parent(), compiled.file_stem().and_then(|it| it.to_str())) else {
        return Vec::new();
    };
    // `deps/libNAME-HASH.so` is next to `deps/NAME-HASH.d`; `build/NAME-HASH/build-script-build` has a directory of its
    // own.
    let noted = match stem.strip_prefix("lib").filter(|_| compiled.extension().is_some()) {
        Some(name) => text(&directory.join(format!("{name}.d"))),
        None => std::fs::read_dir(directory)
            .into_iter()
            .flatten()
            .flatten()
            .map(|it| it.path())
            .find(|it| it.extension().is_some_and(|it| it == "d"))
            .and_then(|it| text(&it)),
    };
    noted.map(|it| noted_sources(&it).into_iter().map(|it| base.join(it)).collect()).unwrap_or_default()
}

/// The prerequisites of the first rule of a makefile.
fn noted_sources(makefile: &str) -> Vec<String> {
    let Some((_, sources)) = makefile.lines().next().and_then(|it| it.split_once(": ")) else { return Vec::new() };
    let mut found = vec![String::new()];
    let mut characters = sources.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, found.last_mut()) {
            ('\\', Some(last)) if characters.peek() == Some(&' ') => {
                last.push(' ');
                characters.next();
            }
            (' ', _) => found.push(String::new()),
            (character, Some(last)) => last.push(character),
            (_, None) => {}
        }
    }
    found.retain(|it| !it.is_empty());
    found
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_file(path, LONGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_build_scripts_and_the_compiler_say_is_understood() {
        assert_eq!(named_by_script("cargo:rustc-cfg=a\nhello\n"), None);
        assert_eq!(named_by_script("cargo::rerun-if-env-changed=A\n"), Some(vec![]));
        let said = "cargo:rerun-if-changed=a b\ncargo::rerun-if-changed=/c\ncargo:warning=x\n";
        assert_eq!(named_by_script(said), Some(vec!["a b", "/c"]));
        assert_eq!(noted_sources("/t/a.d: src/a.rs src/a\\ b.rs\n\nsrc/a.rs:\n"), ["src/a.rs", "src/a b.rs"]);
        assert_eq!(noted_sources(""), Vec::<String>::new());
    }
}
