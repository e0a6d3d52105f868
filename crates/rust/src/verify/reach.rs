//! Which packages a change can affect: the packages of its files, and their dependents. Uncertain packages count as
//! affected; a test that is left out cannot see the change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::cargo::{Workspace, Workspaces};
use crate::LANGUAGE;
use semdex_engine::verify::reach::{owner_of, who_names};
use semdex_engine::verify::{Job, normal};

/// A member of a workspace: the indices of the workspace and of the package.
type Member = (usize, usize);

/// The members of all workspaces, with their directories.
struct Members {
    all: Vec<Member>,
    directories: Vec<String>,
}

/// What a changed file affects.
#[derive(Debug, Default)]
struct Seeds {
    /// Packages whose library, programs or build script may change.
    whole: BTreeSet<usize>,
    /// Packages of which only tests, examples or benches may change.
    own: BTreeSet<usize>,
}

/// Restricts the selection to packages that the changed files can affect.
pub(crate) fn narrow(job: &Job, workspaces: &mut Workspaces, changed: &[String]) {
    let members = Members::of(job, &workspaces.found);
    let mut seeds = Seeds::default();
    for file in changed {
        members.seed(job, &workspaces.found, file, &mut seeds);
    }
    let reached = members.reached(&workspaces.found, &seeds);
    for (at, workspace) in workspaces.found.iter_mut().enumerate() {
        let reached: BTreeSet<usize> =
            reached.iter().filter_map(|it| members.all.get(*it)).filter(|it| it.0 == at).map(|it| it.1).collect();
        let before: BTreeSet<usize> = workspace.chosen().into_iter().collect();
        workspace.selected = Some(&reached & &before);
    }
}

impl Members {
    fn of(job: &Job, workspaces: &[Workspace]) -> Members {
        let all: Vec<Member> =
            workspaces.iter().enumerate().flat_map(|(at, it)| it.members().map(move |package| (at, package))).collect();
        let directory = |(at, package): &Member| {
            let package = workspaces.get(*at).and_then(|it| it.metadata.packages.get(*package));
            package.map(|it| job.name_of(it.directory())).unwrap_or_default()
        };
        let directories = all.iter().map(directory).collect();
        Members { all, directories }
    }

    fn seed(&self, job: &Job, workspaces: &[Workspace], file: &str, seeds: &mut Seeds) {
        let (directory, name) = file.rsplit_once('/').unwrap_or(("", file));
        let governs = |workspace: &Workspace| job.name_of(&workspace.metadata.workspace_root) == directory;
        let below = |directory: &str| -> Vec<usize> {
            let lies_in =
                |it: &str| directory.is_empty() || it == directory || it.starts_with(&format!("{directory}/"));
            self.directories.iter().enumerate().filter(|it| lies_in(it.1)).map(|it| it.0).collect()
        };
        match name {
            "Cargo.lock" | "Cargo.toml" if workspaces.iter().any(governs) => {
                let governed = |it: &Member| workspaces.get(it.0).is_some_and(governs);
                seeds.whole.extend(self.all.iter().enumerate().filter(|it| governed(it.1)).map(|it| it.0));
            }
            "rust-toolchain" | "rust-toolchain.toml" | "clippy.toml" | ".clippy.toml" => {
                seeds.whole.extend(below(directory));
            }
            "config.toml" | "config" if directory == ".cargo" || directory.ends_with("/.cargo") => {
                let above = directory.rsplit_once('/').map_or("", |it| it.0);
                seeds.whole.extend(below(above));
            }
            _ => self.seed_by_text(job, file, seeds),
        }
    }

    /// The package of a file, and packages whose code includes or names it.
    fn seed_by_text(&self, job: &Job, file: &str, seeds: &mut Seeds) {
        let mut pending = vec![file.to_owned()];
        let mut seen: BTreeSet<String> = pending.iter().cloned().collect();
        while let Some(file) = pending.pop() {
            if let Some(owner) = owner_of(&self.directories, &file) {
                if self.is_apart(owner, &file) { &mut seeds.own } else { &mut seeds.whole }.insert(owner);
            }
            for other in job.files.of(LANGUAGE) {
                let names = || {
                    let named = other.referenced_files().iter().flat_map(|it| &it.candidates);
                    named.into_iter().any(|it| *it == file) || takes_in(&other.text, &file)
                };
                if !seen.contains(&*other.path) && names() {
                    seen.insert(other.path.to_string());
                    pending.push(other.path.to_string());
                }
            }
        }
        if !LANGUAGE.takes(file) {
            for (package, by) in who_names(&self.directories, &job.files, file) {
                if self.is_apart(package, &by.path) { &mut seeds.own } else { &mut seeds.whole }.insert(package);
            }
        }
    }

    /// Whether a file belongs only to the tests, the examples or the benches of its package.
    fn is_apart(&self, owner: usize, file: &str) -> bool {
        let directory = self.directories.get(owner).map_or("", String::as_str);
        let inner = file.strip_prefix(directory).unwrap_or(file).trim_start_matches('/');
        ["tests/", "examples/", "benches/"].iter().any(|it| inner.starts_with(it))
    }

    /// The members that can see one of the seeds.
    fn reached(&self, workspaces: &[Workspace], seeds: &Seeds) -> BTreeSet<usize> {
        if workspaces.iter().any(|it| it.metadata.resolve.is_none()) {
            // Without the graph no package can be left out.
            return (0..self.all.len()).collect();
        }
        let graph = Graph::of(workspaces);
        let manifest = |at: &usize| {
            let (workspace, package) = self.all.get(*at)?;
            let package = workspaces.get(*workspace)?.metadata.packages.get(*package)?;
            Some(normal(&package.manifest_path))
        };
        let mut libraries: BTreeSet<PathBuf> = seeds.whole.iter().filter_map(manifest).collect();
        let mut pending: Vec<PathBuf> = libraries.iter().cloned().collect();
        while let Some(library) = pending.pop() {
            for user in graph.users.get(&library).into_iter().flatten() {
                if libraries.insert(user.clone()) {
                    pending.push(user.clone());
                }
            }
        }
        // A dev-dependency does not extend to the dependents of the package.
        let testers = libraries.iter().filter_map(|it| graph.testers.get(it)).flatten();
        let reached: BTreeSet<PathBuf> = libraries.iter().chain(testers).cloned().collect();
        let is_reached = |it: &usize| seeds.own.contains(it) || manifest(it).is_some_and(|it| reached.contains(&it));
        (0..self.all.len()).filter(is_reached).collect()
    }
}

/// The dependents of packages, from their manifests: workspaces below one root may depend on each other.
#[derive(Default)]
struct Graph {
    users: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Packages that depend on it only for their tests and examples.
    testers: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Graph {
    fn of(workspaces: &[Workspace]) -> Graph {
        let mut graph = Graph::default();
        for workspace in workspaces {
            let manifests: HashMap<&str, PathBuf> =
                workspace.metadata.packages.iter().map(|it| (it.id.as_str(), normal(&it.manifest_path))).collect();
            for node in workspace.metadata.resolve.iter().flat_map(|it| &it.nodes) {
                let Some(user) = manifests.get(node.id.as_str()) else { continue };
                for dependency in &node.deps {
                    let Some(used) = manifests.get(dependency.pkg.as_str()) else { continue };
                    let kinds = &dependency.dep_kinds;
                    let is_for_tests = |it: &super::cargo::DependencyKind| it.kind.as_deref() == Some("dev");
                    let only_tests = !kinds.is_empty() && kinds.iter().all(is_for_tests);
                    let users = if only_tests { &mut graph.testers } else { &mut graph.users };
                    users.entry(used.clone()).or_default().insert(user.clone());
                }
            }
        }
        graph
    }
}

/// Whether a text includes a file as a string or as bytes, by the end of its path.
fn takes_in(text: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    text.contains("include_") && (text.contains(&format!("/{name}\"")) || text.contains(&format!("\"{name}\"")))
}
