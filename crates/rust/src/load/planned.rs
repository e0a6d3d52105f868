//! The crates that result from a change of manifests or of the files that Cargo finds targets by, before the change is
//! made. Cargo is asked about a mirror: a directory with the manifests as the change leaves them, an empty file for
//! each source that may be the root of a target, and links to what lies around the workspace. Cargo reads no more than
//! that, and downloads nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ra_ap_load_cargo::ProjectFolders;
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_project_model::{
    CargoFeatures, CargoWorkspace, ManifestPath, ProjectWorkspace, ProjectWorkspaceKind, TargetKind,
};
use tempfile::TempDir;

use super::manifests::{decides_packages, is_manifest, is_reload};
use super::referenced_files::Packages;
use super::sources::{LARGEST_SOURCE, library_roots, local_roots, read_sources};
use super::tools::{OFFLINE, Patience, Tools};
use super::workspace::{cargo_of, cfg_overrides, manifests, metadata_command, parse_metadata};
use super::{build, relative};
use crate::LANGUAGE;
use crate::view::environment::PlanCrates;
use semdex_engine::Prepared;
use semdex_engine::files::Files;
use semdex_model::{FileEdit, Missing, MissingCode};

/// What is needed to ask Cargo about a change.
pub(crate) struct Planner {
    pub(crate) root: AbsPathBuf,
    pub(crate) target_dir: AbsPathBuf,
    pub(crate) forbidden: Arc<[PathBuf]>,
    pub(crate) features: CargoFeatures,
    pub(crate) tools: Tools<'static>,
    pub(crate) workspaces: Arc<Vec<ProjectWorkspace>>,
    pub(crate) facts: Arc<Facts>,
    /// Sources outside the root that were read.
    pub(crate) known: Arc<HashSet<AbsPathBuf>>,
}

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planner").field("root", &self.root).finish_non_exhaustive()
    }
}

/// What a load learned of each workspace besides its packages, by the path of its manifest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The target that it is built for.
    pub(crate) targets: HashMap<AbsPathBuf, Option<String>>,
    /// Cargo's messages about what was built to run at compile time.
    pub(crate) messages: HashMap<AbsPathBuf, Arc<[u8]>>,
}

/// What Cargo will say once the change is made.
pub(crate) enum Planned {
    Crates(PlannedCrates),
    /// Cargo could not determine the targets: names in these directories, relative to the root, cannot be judged.
    Unknown {
        directories: Vec<String>,
        missing: Missing,
    },
}

pub(crate) struct PlannedCrates {
    pub(crate) workspaces: Arc<Vec<ProjectWorkspace>>,
    /// Sources of dependencies that were not read before.
    pub(crate) sources: Vec<(AbsPathBuf, Vec<u8>)>,
    /// What is not known before the change is made.
    pub(crate) missing: Vec<Missing>,
}

/// Whether the change of a file is judged by asking Cargo about it.
pub(crate) fn is_planned(edit: &FileEdit) -> bool {
    let comes_or_goes = edit.old.is_some() != edit.new.is_some();
    let file = &edit.file;
    edit.old != edit.new
        && (decides_packages(file)
            || LANGUAGE.takes(file) && !file.ends_with("build.rs") && is_reload(file, comes_or_goes))
}

impl PlanCrates for Planner {
    fn plan(&self, before: &Files, edits: &[FileEdit], deadline: Instant) -> Option<Prepared> {
        let changed: Vec<&FileEdit> = edits.iter().filter(|it| is_planned(it)).collect();
        if changed.is_empty() || self.workspaces.is_empty() {
            return None;
        }
        let concerns = |workspace: &ProjectWorkspace| {
            changed.iter().any(|it| is_around(workspace, &self.root.join(&it.file), matters_to_dependents(&it.file)))
        };
        let concerned: Vec<bool> = self.workspaces.iter().map(concerns).collect();
        let planned = Mirror::make(&self.root, before, edits)
            .map_err(|error| format!("the manifests could not be copied: {error}"))
            .and_then(|mirror| self.ask(&mirror, edits, &concerned, deadline));
        Some(Arc::new(planned.map_or_else(|error| self.unknown(&changed, &concerned, &error), Planned::Crates)))
    }
}

impl Planner {
    fn unknown(&self, changed: &[&FileEdit], concerned: &[bool], error: &str) -> Planned {
        let concerned = self.workspaces.iter().zip(concerned).filter(|it| *it.1);
        let roots = concerned.filter_map(|it| Some(cargo_of(it.0)?.workspace_root().to_path_buf()));
        let around = changed.iter().filter_map(|it| Some(self.root.join(&it.file).parent()?.to_path_buf()));
        let directories: BTreeSet<AbsPathBuf> = roots.chain(around).collect();
        let file = changed.iter().find(|it| it.file.ends_with(".toml")).or(changed.first()).map_or("", |it| &it.file);
        // Without the command, and without a hint about its options.
        let is_said = |it: &&str| !it.is_empty() && !it.starts_with("As a reminder") && !it.ends_with("failed:");
        let lines = error.lines().map(str::trim).filter(is_said).take(8).collect::<Vec<_>>().join("; ");
        let detail = format!(
            "Cargo could not read `{file}` as the change leaves it, so that which crates there will be is not known, \
             and names in their code were not checked: {lines}"
        );
        Planned::Unknown {
            directories: directories.iter().map(|it| relative(&self.root, it)).collect(),
            missing: Missing::new(MissingCode::Manifest, file, detail),
        }
    }

    fn ask(
        &self,
        mirror: &Mirror,
        edits: &[FileEdit],
        concerned: &[bool],
        deadline: Instant,
    ) -> Result<PlannedCrates, String> {
        let tools = self.tools.with(Patience { deadline, is_wanted: &|| true });
        let mut missing = Vec::new();
        let mut workspaces = Vec::new();
        let mut covered: HashSet<AbsPathBuf> = HashSet::new();
        for (workspace, is_concerned) in self.workspaces.iter().zip(concerned) {
            let Some(cargo) = cargo_of(workspace) else { continue };
            let manifest = cargo.manifest_path().clone();
            let planned = match is_concerned {
                false => workspace.clone(),
                true if !mirror.has(&manifest) => continue,
                true => self.ask_about(&tools, mirror, workspace, manifest, &mut missing)?,
            };
            covered.extend(manifests(&planned));
            workspaces.push(planned);
        }
        let made = edits.iter().filter(|it| it.new.is_some() && is_manifest(&it.file));
        for manifest in made.map(|it| self.root.join(&it.file)) {
            let Some(like) = self.workspaces.first().filter(|_| !covered.contains(&manifest)) else { continue };
            let path = ManifestPath::try_from(manifest).map_err(|path| format!("{path} is no manifest"))?;
            let planned = self.ask_about(&tools, mirror, like, path, &mut missing)?;
            covered.extend(manifests(&planned));
            workspaces.push(planned);
        }
        let folders = ProjectFolders::new(&workspaces, &[], None);
        let local_roots = local_roots(&self.root, &self.target_dir, &workspaces);
        let packages = Packages { roots: &local_roots, forbidden: &self.forbidden };
        let mut read = (*self.known).clone();
        let library = library_roots(&workspaces);
        let sources = read_sources(&folders, &self.root, &library, &packages, &mut read, &mut BTreeSet::new());
        Ok(PlannedCrates { workspaces: Arc::new(workspaces), sources, missing })
    }

    /// A workspace as the mirror has it. The toolchain is taken from `like`.
    fn ask_about(
        &self,
        tools: &Tools<'_>,
        mirror: &Mirror,
        like: &ProjectWorkspace,
        manifest: ManifestPath,
        missing: &mut Vec<Missing>,
    ) -> Result<ProjectWorkspace, String> {
        let own = cargo_of(like).map(|it| AbsPathBuf::from(it.manifest_path().clone()));
        let target = own.as_ref().and_then(|it| self.facts.targets.get(it)).cloned().flatten();
        let inside = ManifestPath::try_from(AbsPathBuf::assert_utf8(mirror.path(&manifest)))
            .map_err(|path| format!("{path} is no manifest"))?;
        let mut cargo = metadata_command(tools, &inside, &self.features, target.as_deref());
        let said = tools.ask(cargo.env(OFFLINE, "true")).map_err(|it| mirror.without(&it))?;
        let metadata = parse_metadata(&mirror.without(&said))?;
        let environment = cargo_of(like).map(|it| it.env().clone()).unwrap_or_default();
        let text = fs::read_to_string(AsRef::<Path>::as_ref(&inside)).unwrap_or_default();
        let messages = self.facts.messages.get(&AbsPathBuf::from(manifest.clone())).cloned();
        let cargo = CargoWorkspace::new(metadata, manifest, environment, false);
        let known = own.as_ref().filter(|it| **it == *cargo.manifest_path()).and_then(|_| cargo_of(like));
        missing.extend(not_built(&self.root, &cargo, known));
        let kind =
            ProjectWorkspaceKind::Cargo { cargo, error: None, build_scripts: Default::default(), rustc: Err(None) };
        let mut planned = ProjectWorkspace { kind, cfg_overrides: cfg_overrides(&text), ..like.clone() };
        if let Some(messages) = messages {
            build::note(&mut planned, tools, &messages)?;
        }
        Ok(planned)
    }
}

/// What runs at compile time in packages that are new: it is not run before the change is made.
fn not_built(root: &AbsPath, cargo: &CargoWorkspace, known: Option<&CargoWorkspace>) -> Option<Missing> {
    let before: HashSet<&AbsPath> =
        known.into_iter().flat_map(|it| it.packages().map(move |package| it[package].manifest.parent())).collect();
    let runs = |kind: TargetKind| matches!(kind, TargetKind::BuildScript | TargetKind::Lib { is_proc_macro: true });
    let mut new = cargo.packages().filter(|&it| !before.contains(cargo[it].manifest.parent()));
    let package = new.find(|&it| cargo[it].targets.iter().any(|&target| runs(cargo[target].kind)))?;
    let detail = format!(
        "`{}` has code that runs at compile time, which is not run before the change is made: what comes of it is not \
         known",
        cargo[package].name
    );
    Some(Missing::new(MissingCode::Manifest, relative(root, &cargo[package].manifest), detail))
}

/// Whether a file may decide about the packages of a workspace, or about its path dependencies if these count.
fn is_around(workspace: &ProjectWorkspace, file: &AbsPath, with_dependencies: bool) -> bool {
    cargo_of(workspace).is_some_and(|cargo| {
        let mut local = cargo.packages().filter(|&it| cargo[it].is_local && (with_dependencies || cargo[it].is_member));
        file.starts_with(cargo.workspace_root()) || local.any(|it| file.starts_with(cargo[it].manifest.parent()))
    })
}

/// Whether a file is more than the root of an example, a test or a program, which no other package can use.
fn matters_to_dependents(file: &str) -> bool {
    !LANGUAGE.takes(file) || file.ends_with("lib.rs")
}

/// A copy of what Cargo reads, below a temporary directory, at the workspace's own path.
struct Mirror {
    _directory: TempDir,
    /// The directory as paths in Cargo's output begin with it.
    prefix: String,
}

impl Mirror {
    fn make(root: &AbsPath, before: &Files, edits: &[FileEdit]) -> io::Result<Mirror> {
        let directory = tempfile::Builder::new().prefix("semdex-plan-").tempdir()?;
        let prefix = directory.path().canonicalize()?.to_string_lossy().into_owned();
        let mirror = Mirror { _directory: directory, prefix };
        let own: &Path = root.as_ref();
        mirror.link_around(own)?;
        let edited: BTreeMap<&str, Option<&str>> = edits.iter().map(|it| (&*it.file, it.new.as_deref())).collect();
        let kept = before.iter().map(|it| &*it.path).filter(|it| !edited.contains_key(it));
        let mut directories: BTreeSet<PathBuf> = BTreeSet::new();
        for (name, text) in
            kept.map(|it| (it, None)).chain(edited.iter().filter_map(|it| Some((*it.0, Some((*it.1)?)))))
        {
            let is_copied = is_reload(name, false) && !name.ends_with(".rs");
            if !(is_copied || LANGUAGE.takes(name) && is_reload(name, true)) {
                continue;
            }
            let place = mirror.path_of(&own.join(name));
            fs::create_dir_all(place.parent().unwrap_or(&place))?;
            let text = text.or_else(|| Some(&before.get(name)?.text)).filter(|_| is_copied);
            fs::write(&place, text.unwrap_or_default())?;
            if is_manifest(name) {
                directories.extend(own.join(name).parent().map(Path::to_path_buf));
            }
        }
        // A lock file may be too large for a text, or not watched.
        for directory in directories {
            let lock = directory.join("Cargo.lock");
            let copy = mirror.path_of(&lock);
            if !copy.exists() && !edited.contains_key(lock.strip_prefix(own).ok().and_then(Path::to_str).unwrap_or(""))
            {
                match semdex_fs::read_file(&lock, LARGEST_SOURCE) {
                    Ok(text) => fs::write(copy, text)?,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(mirror)
    }

    /// Links to everything that lies beside the root and beside the directories above it.
    fn link_around(&self, root: &Path) -> io::Result<()> {
        let mut inner = root;
        while let Some(outer) = inner.parent() {
            let copy = self.path_of(outer);
            fs::create_dir_all(&copy)?;
            for entry in fs::read_dir(outer).into_iter().flatten().flatten() {
                if entry.path() != inner {
                    match symlink(entry.path(), copy.join(entry.file_name())) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ => {}
                    }
                }
            }
            inner = outer;
        }
        fs::create_dir_all(self.path_of(root))
    }

    fn path_of(&self, path: &Path) -> PathBuf {
        let below = path.components().filter(|it| matches!(it, Component::Normal(_)));
        Path::new(&self.prefix).join(below.collect::<PathBuf>())
    }

    fn path(&self, path: &AbsPath) -> PathBuf {
        self.path_of(path.as_ref())
    }

    fn has(&self, path: &AbsPath) -> bool {
        self.path(path).is_file()
    }

    /// What Cargo said, with the paths that the workspace has.
    fn without(&self, said: &str) -> String {
        said.replace(&self.prefix, "")
    }
}
