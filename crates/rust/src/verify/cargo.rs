//! The Cargo workspaces below a root, from their manifests, and how Cargo is called for them. It builds in a target
//! directory of semdex's own, and does not change the user's lock file.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use ra_ap_paths::{AbsPathBuf, Utf8PathBuf};
use serde::Deserialize;

use crate::load::manifests::is_manifest;
use crate::load::tools::{Patience, Tools};
use crate::load::workspace::{LOCK_FILE_ELSEWHERE, lock_at};
use semdex_config::Features;
use semdex_engine::verify::{Job, normal};

/// The required part of the output of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub packages: Vec<Package>,
    pub workspace_members: Vec<String>,
    pub workspace_root: PathBuf,
    #[serde(default)]
    pub resolve: Option<Resolve>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub id: String,
    pub name: String,
    pub manifest_path: PathBuf,
    pub targets: Vec<Target>,
    #[serde(default)]
    pub features: HashMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Target {
    pub name: String,
    pub kind: Vec<String>,
    pub src_path: PathBuf,
    #[serde(default)]
    pub test: bool,
    #[serde(default)]
    pub doctest: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Resolve {
    pub nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub id: String,
    #[serde(default)]
    pub deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub pkg: String,
    #[serde(default)]
    pub dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DependencyKind {
    pub kind: Option<String>,
}

impl Package {
    /// The directory of the package.
    pub(crate) fn directory(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub(crate) fn library(&self) -> Option<&Target> {
        self.targets.iter().find(|it| it.is_library())
    }

    /// The name in replies: the library's name, else the first program's.
    pub(crate) fn crate_name(&self) -> String {
        let program = || self.targets.iter().find(|it| it.kind.iter().any(|kind| kind == "bin"));
        let name = self.library().or_else(program).map_or(self.name.as_str(), |it| &it.name);
        name.replace('-', "_")
    }

    /// How well a name matches: 0 is best.
    fn fits(&self, name: &str) -> Option<usize> {
        let name = name.rsplit_once('@').map_or(name, |(before, after)| {
            // `bin@name` of a reply, or `name@1.0.0` of Cargo.
            if after.starts_with(|it: char| it.is_ascii_digit()) { before } else { after }
        });
        let plain = name.replace('-', "_");
        let is_it = |it: &str| it.replace('-', "_") == plain;
        let by_target =
            || self.targets.iter().any(|it| is_it(&it.name) && !it.kind.iter().any(|it| it == "custom-build"));
        if self.name == name {
            Some(0)
        } else if is_it(&self.name) || self.library().is_some_and(|it| is_it(&it.name)) {
            Some(1)
        } else {
            by_target().then_some(2)
        }
    }
}

impl Target {
    pub(crate) fn is_library(&self) -> bool {
        self.kind.iter().any(|it| it.ends_with("lib") || it == "proc-macro")
    }

    /// The arguments that restrict Cargo to this target.
    pub(crate) fn selector(&self) -> Vec<String> {
        let kind = self.kind.first().map(String::as_str).unwrap_or_default();
        match kind {
            "bin" | "test" | "example" | "bench" => vec![format!("--{kind}"), self.name.clone()],
            _ => vec!["--lib".to_owned()],
        }
    }
}

/// One Cargo workspace.
pub(crate) struct Workspace {
    pub metadata: Metadata,
    /// Indices of packages by their ids.
    by_id: HashMap<String, usize>,
    /// The requested members, as indices of packages; `None` means all.
    pub selected: Option<BTreeSet<usize>>,
    lock: Lock,
}

/// The lock file that Cargo uses.
#[derive(Debug, Clone)]
enum Lock {
    /// The workspace's own, which needs no change.
    Own,
    /// A copy of semdex's own.
    Elsewhere(PathBuf),
}

/// A manifest that Cargo cannot read, and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub manifest: String,
    pub said: String,
}

/// The workspaces of a root, with the toolchain for them.
pub(crate) struct Workspaces {
    pub found: Vec<Workspace>,
    pub refused: Vec<Refused>,
    /// Manifests that belong to no workspace though they are inside one: mostly of test data.
    pub strays: Vec<Refused>,
}

/// The toolchain of the root.
pub(crate) fn tools<'a>(job: &'a Job) -> Result<Tools<'a>, String> {
    let root = AbsPathBuf::try_from(Utf8PathBuf::from(job.root.to_string_lossy().into_owned()))
        .map_err(|_| "the path of the workspace is not UTF-8".to_owned())?;
    let is_wanted = &*job.is_wanted;
    Tools::find(&root, true, Patience { deadline: job.deadline, is_wanted })
}

/// Reads the manifests: the outermost first, then those that are not members of a previous workspace.
pub(crate) fn workspaces(job: &Job, tools: &Tools<'_>) -> Workspaces {
    let mut manifests: Vec<String> =
        job.files.iter().map(|it| it.path.to_string()).filter(|it| is_manifest(it)).collect();
    manifests.sort_by_key(|it| (it.matches('/').count(), it.clone()));
    let mut all = Workspaces { found: Vec::new(), refused: Vec::new(), strays: Vec::new() };
    let mut covered: HashSet<PathBuf> = HashSet::new();
    for name in manifests {
        let path = job.root.join(&name);
        if covered.contains(&path) || job.is_over() {
            continue;
        }
        match read(job, tools, &path) {
            Ok(workspace) => {
                let members = workspace.members().map(|it| workspace.metadata.packages[it].manifest_path.clone());
                covered.extend(members.map(|it| normal(&it)));
                covered.insert(workspace.metadata.workspace_root.join("Cargo.toml"));
                covered.insert(path);
                all.found.push(workspace);
            }
            Err(said) if said.contains("believes it's in a workspace when it's not") => {
                all.strays.push(Refused { manifest: name, said });
            }
            // The members of a workspace that cannot be read are rejected for the same reason.
            Err(said) if all.refused.iter().any(|it| it.said == said) => {}
            Err(said) => all.refused.push(Refused { manifest: name, said }),
        }
    }
    all
}

fn read(job: &Job, tools: &Tools<'_>, manifest: &Path) -> Result<Workspace, String> {
    let ask = |alter: &dyn Fn(&mut Command)| {
        let mut cargo = cargo(tools, manifest.parent().unwrap_or(&job.root))?;
        cargo.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
        alter(&mut cargo);
        let text = tools.ask(&mut cargo)?;
        let json = text.lines().find(|it| it.starts_with('{')).ok_or("`cargo metadata` printed nothing")?;
        serde_json::from_str(json)
            .map_err(|error| format!("the output of `cargo metadata` could not be parsed: {error}"))
    };
    let (metadata, lock): (Metadata, Lock) = match ask(&|cargo| {
        cargo.arg("--locked");
    }) {
        Ok(metadata) => (metadata, Lock::Own),
        Err(error) if tools.version < LOCK_FILE_ELSEWHERE => return Err(error),
        Err(_) => {
            let key = blake3::hash(manifest.as_os_str().as_encoded_bytes()).to_hex();
            let directory = job.build_dir().join("locks").join(key.as_str().get(..16).unwrap_or_default());
            let file = directory.join("Cargo.lock");
            std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
            // Without a lock file of the user, the previously chosen versions are kept.
            let users = manifest.with_file_name("Cargo.lock");
            if users.is_file() {
                std::fs::copy(users, &file).map_err(|error| error.to_string())?;
            }
            (ask(&|cargo| lock_at(tools.version, &file, cargo))?, Lock::Elsewhere(file))
        }
    };
    let by_id = metadata.packages.iter().enumerate().map(|(at, it)| (it.id.clone(), at)).collect();
    Ok(Workspace { metadata, by_id, selected: None, lock })
}

fn cargo(tools: &Tools<'_>, directory: &Path) -> Result<Command, String> {
    let directory = AbsPathBuf::try_from(Utf8PathBuf::from(directory.to_string_lossy().into_owned()))
        .map_err(|_| format!("the path {} is not UTF-8", directory.display()))?;
    let mut cargo = tools.cargo(&directory);
    cargo.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_PROGRESS_WHEN", "never").env("CARGO_TERM_QUIET", "false");
    Ok(cargo)
}

impl Workspace {
    /// The indices of its members.
    pub(crate) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.metadata.workspace_members.iter().filter_map(|it| self.by_id.get(it).copied())
    }

    pub(crate) fn package(&self, id: &str) -> Option<&Package> {
        self.by_id.get(id).and_then(|it| self.metadata.packages.get(*it))
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn is_member(&self, id: &str) -> bool {
        self.metadata.workspace_members.iter().any(|it| it == id)
    }

    /// The members that match a name best.
    pub(crate) fn named(&self, name: &str) -> BTreeSet<usize> {
        let fits = |it: usize| Some((self.metadata.packages.get(it)?.fits(name)?, it));
        let found: Vec<(usize, usize)> = self.members().filter_map(fits).collect();
        let best = found.iter().map(|it| it.0).min();
        found.into_iter().filter(|it| Some(it.0) == best).map(|it| it.1).collect()
    }

    /// The requested members.
    pub(crate) fn chosen(&self) -> Vec<usize> {
        match &self.selected {
            Some(selected) => selected.iter().copied().collect(),
            None => self.members().collect(),
        }
    }

    pub(crate) fn chosen_packages(&self) -> impl Iterator<Item = &Package> {
        self.chosen().into_iter().filter_map(|it| self.metadata.packages.get(it))
    }

    /// The directory to which its compiler's file names are relative.
    pub(crate) fn base_of(&self, id: &str) -> &Path {
        match self.package(id) {
            Some(package) if !self.is_member(id) => package.directory(),
            _ => &self.metadata.workspace_root,
        }
    }

    /// Nothing else builds in this directory.
    pub(crate) fn target_dir(&self, job: &Job) -> PathBuf {
        let key = blake3::hash(self.metadata.workspace_root.as_os_str().as_encoded_bytes()).to_hex();
        job.build_dir().join(key.as_str().get(..8).unwrap_or_default())
    }

    /// Cargo with a subcommand for these packages; for all members if none is given.
    pub(crate) fn command(
        &self,
        job: &Job,
        tools: &Tools<'_>,
        subcommand: &str,
        packages: Option<&BTreeSet<usize>>,
    ) -> Result<Command, String> {
        let mut cargo = cargo(tools, &self.metadata.workspace_root)?;
        cargo.arg(subcommand);
        match packages {
            None => drop(cargo.arg("--workspace")),
            Some(packages) => {
                for at in packages {
                    cargo.arg("-p").arg(self.specification(*at));
                }
            }
        }
        self.add_features(job, &mut cargo);
        let target_dir = self.target_dir(job);
        cargo.arg("--target-dir").arg(&target_dir).env("CARGO_BUILD_BUILD_DIR", &target_dir);
        match &self.lock {
            Lock::Own => drop(cargo.arg("--locked")),
            Lock::Elsewhere(file) => lock_at(tools.version, file, &mut cargo),
        }
        Ok(cargo)
    }

    /// A package as an argument of Cargo: by its name, unless a dependency has the same.
    fn specification(&self, at: usize) -> String {
        let Some(package) = self.metadata.packages.get(at) else { return String::new() };
        let namesakes = self.metadata.packages.iter().filter(|it| it.name == package.name).count();
        if namesakes > 1 { package.id.clone() } else { package.name.clone() }
    }

    fn add_features(&self, job: &Job, cargo: &mut Command) {
        match &job.settings.rust.features {
            Features::Default => {}
            Features::All => drop(cargo.arg("--all-features")),
            Features::Named(features) => {
                let is_there = |name: &&String| self.chosen_packages().any(|it| it.features.contains_key(*name));
                let there: Vec<&str> = features.iter().filter(is_there).map(String::as_str).collect();
                if !there.is_empty() {
                    cargo.arg("--features").arg(there.join(","));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, targets: &[(&str, &str)]) -> Package {
        let target = |(kind, name): &(&str, &str)| Target {
            name: (*name).to_owned(),
            kind: vec![(*kind).to_owned()],
            src_path: PathBuf::new(),
            test: true,
            doctest: false,
        };
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            manifest_path: "/w/Cargo.toml".into(),
            targets: targets.iter().map(target).collect(),
            features: HashMap::new(),
        }
    }

    #[test]
    fn a_package_goes_by_several_names() {
        let package =
            package("rip-grep", &[("bin", "rg"), ("test", "integration"), ("custom-build", "build-script-build")]);
        for (name, fits) in [
            ("rip-grep", Some(0)),
            ("rip_grep", Some(1)),
            ("rg", Some(2)),
            ("bin@rg", Some(2)),
            ("rip-grep@14.1.0", Some(0)),
            ("integration", Some(2)),
            ("build-script-build", None),
            ("grep", None),
        ] {
            assert_eq!(package.fits(name), fits, "{name}");
        }
        assert_eq!(package.crate_name(), "rg");
    }
}
