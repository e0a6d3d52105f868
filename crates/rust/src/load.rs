//! Loads Cargo workspaces: everything slow or failing that must not happen on the writer's thread. A load reads
//! manifests with `cargo metadata`, the sources of libraries, and later the output of build scripts and proc macros.
//! The writer adopts each finished step.

pub(crate) mod build;
mod build_choice;
pub(crate) mod builds;
pub(crate) mod cargo_config;
mod conditions;
pub(crate) mod doctest_crates;
pub(crate) mod external_inputs;
pub(crate) mod find_inputs;
pub(crate) mod further_builds;
pub(crate) mod macro_server;
pub(crate) mod manifests;
pub(crate) mod package_graph;
pub(crate) mod planned;
pub(crate) mod referenced_files;
pub(crate) mod script;
pub(crate) mod sources;
pub(crate) mod tools;
pub(crate) mod unstable_methods;
pub(crate) mod workspace;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use blake3::Hash;
use ra_ap_hir::ProcMacrosBuilder;
use ra_ap_hir_expand::proc_macro::ProcMacroLoadResult;
use ra_ap_ide_db::base_db::{CrateGraphBuilder, ProcMacroLoadingError, ProcMacroPaths};
use ra_ap_load_cargo::{ProjectFolders, SourceRootConfig, load_proc_macro};
use ra_ap_paths::{AbsPath, AbsPathBuf, Utf8PathBuf};
use ra_ap_project_model::{CargoFeatures, ProjectWorkspace, ProjectWorkspaceKind};
use ra_ap_vfs::FileId;

use self::external_inputs::ExternalInputs;
use self::further_builds::{FurtherBuild, LoadedBuilds};
use self::planned::Facts;
use self::referenced_files::{Packages, ReferencedFiles};
use self::sources::{library_roots, local_roots, read_sources};
use self::tools::{Patience, Tools};
use self::unstable_methods::UnstableMethods;
use crate::syntax::analysed::of_library;
use semdex_config::RustBuild;
use semdex_engine::files::Files;
use semdex_engine::too_deep;
use semdex_model::{Missing, MissingCode};
use semdex_process::fault;

use crate::view::packages::PackageGraph;

pub(crate) use crate::view::environment::Faults;

/// The interval at which it is checked whether further builds may be made.
const PACE: Duration = Duration::from_millis(100);
/// The most Cargo workspaces below one root that are loaded; the status reports the rest.
const MAX_WORKSPACES: usize = 32;

/// The parameters of a load.
#[derive(Clone)]
pub(crate) struct LoadRequest {
    pub root: AbsPathBuf,
    /// Every `Cargo.toml` below the root.
    pub manifests: Vec<AbsPathBuf>,
    /// When the load began, by the clock that stamps files.
    pub begun: SystemTime,
    /// The texts of the workspace when the load began; changes of them arrive as edits.
    pub texts: Arc<Files>,
    /// Whether code of the workspace may run: build scripts, proc macros, wrappers, toolchain overrides.
    pub trusted: bool,
    /// Paths that are never read.
    pub forbidden: Arc<[PathBuf]>,
    /// A target directory of semdex's own; the workspace's `target` is never used.
    pub target_dir: AbsPathBuf,
    pub features: CargoFeatures,
    pub build_scripts: bool,
    pub proc_macros: bool,
    /// Further builds of each Cargo workspace.
    pub listed_builds: Vec<RustBuild>,
    /// The most further builds of a Cargo workspace that are chosen.
    pub max_builds: usize,
    /// Whether the default build answers, so that further builds may be made.
    pub is_calm: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The sources of the standard library, if they are not those that are installed.
    pub std_sources: Option<PathBuf>,
    /// Library sources that an earlier load read; they do not change.
    pub known: Arc<HashSet<AbsPathBuf>>,
    /// Known sources that are nested too deeply to be analysed.
    pub deep: Arc<BTreeSet<AbsPathBuf>>,
    /// What is known of the unstable methods of the standard library.
    pub unstable: Arc<UnstableMethods>,
    /// The result of the previous load, for manifests that fail to load now.
    pub before: Arc<Vec<ProjectWorkspace>>,
    /// Set when a newer load supersedes this one.
    pub superseded: Arc<AtomicBool>,
    pub limits: Limits,
    /// Failures of macros after the load has ended.
    pub faults: Faults,
}

/// Time limits of the steps of a load. A late step is ended, with all processes that it has started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For reading all manifests, which may download dependencies if the workspace is trusted.
    pub manifests: Duration,
    /// For building and running build scripts, and building proc macros.
    pub build: Duration,
    /// For one call of a proc macro.
    pub expansion: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let minutes = |it: u64| Duration::from_secs(60 * it);
        Limits { manifests: minutes(15), build: minutes(60), expansion: Duration::from_secs(6) }
    }
}

/// One finished step of a load.
pub(crate) struct Loaded {
    pub workspaces: Arc<Vec<ProjectWorkspace>>,
    /// Sources outside the root: the standard library, dependencies, generated files.
    pub sources: Vec<(AbsPathBuf, Vec<u8>)>,
    /// Other files outside the root that the code of path dependencies names and no directory listing has.
    pub named: Vec<(AbsPathBuf, Vec<u8>)>,
    /// Named files that may not be read: no answer that may depend on them is complete.
    pub unread: Vec<Missing>,
    pub source_roots: SourceRootConfig,
    /// Directories outside the root whose sources change like the workspace's own: path dependencies.
    pub local_roots: Vec<PathBuf>,
    pub macros: MacroTable,
    /// The toolchain, if one was found.
    pub tools: Option<Tools<'static>>,
    pub facts: Arc<Facts>,
    pub packages: Arc<PackageGraph>,
    pub faults: Faults,
    pub missing: Vec<Missing>,
    /// The sources outside the root that are nested too deeply to be analysed; `missing` names them.
    pub deep: Arc<BTreeSet<AbsPathBuf>>,
    pub unstable: Arc<UnstableMethods>,
    /// The inputs of the load, as they were when it read them.
    pub inputs: ExternalInputs,
    /// When an input changed after the load began, perhaps after it was read.
    pub outdated: Option<SystemTime>,
    /// The default build is loaded.
    pub last: bool,
    /// The local packages whose build scripts and proc macros are not built yet, by their directories: what they cannot
    /// see is loaded. `None` if most of the workspace is not.
    pub unbuilt: Option<Vec<PathBuf>>,
}

/// What a load hands over.
pub(crate) enum Delivery {
    /// A finished step of the default build.
    Default(Box<Loaded>),
    /// The further builds, after the last step.
    Further(Box<LoadedBuilds>),
}

/// Loaded proc macros, by the path of their library. Each keeps its server alive.
#[derive(Clone, Default)]
pub(crate) struct MacroTable {
    libraries: HashMap<AbsPathBuf, ProcMacroLoadResult>,
    enabled: bool,
}

impl MacroTable {
    /// Adds the macros of further workspaces or builds.
    pub(crate) fn extend(&mut self, more: MacroTable) {
        // The default build may have none.
        self.enabled |= more.enabled;
        for (path, libraries) in more.libraries {
            self.libraries.entry(path).or_insert(libraries);
        }
    }

    /// The macros of a newly built crate graph.
    pub(crate) fn resolve(&self, paths: &ProcMacroPaths) -> ProcMacrosBuilder {
        let look_up = |path: &Result<(String, AbsPathBuf), ProcMacroLoadingError>| match path {
            _ if !self.enabled => Err(ProcMacroLoadingError::Disabled),
            Err(error) => Err(error.clone()),
            Ok((_, path)) => self.libraries.get(path).cloned().unwrap_or(Err(ProcMacroLoadingError::MissingDylibPath)),
        };
        paths.iter().map(|(id, path)| (*id, look_up(path))).collect()
    }
}

/// The crates of several Cargo workspaces and of their further builds as one graph. `file_id` returns the ids of existing
/// sources; `is_split` says whether a package in this directory has code under `cfg(not(test))`.
pub(crate) fn crate_graph(
    workspaces: &[ProjectWorkspace],
    further: &[FurtherBuild],
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
    is_split: &dyn Fn(&AbsPath) -> bool,
) -> (CrateGraphBuilder, ProcMacroPaths) {
    let mut graph = CrateGraphBuilder::default();
    let mut all = ProcMacroPaths::default();
    for workspace in workspaces {
        let (mut other, mut paths) = workspace.to_crate_graph(file_id, &Default::default());
        let without_build = builds::split(&mut other, workspace, file_id, is_split);
        builds::remove(&mut other, &mut paths, &without_build);
        graph.extend(other, &mut paths);
        all.extend(paths);
    }
    further_builds::add(&mut graph, &mut all, further, file_id, is_split);
    (graph, all)
}

/// Runs a load to its end and hands over each step when it is finished. The first step can already answer queries;
/// build scripts and proc macros follow.
pub(crate) fn load(
    request: &LoadRequest,
    progress: &(dyn Fn(&str, usize, usize) + Sync),
    deliver: &mut dyn FnMut(Delivery),
) {
    let superseded = || request.superseded.load(Ordering::Relaxed);
    let is_wanted = || !superseded();
    let patience = |limit: Duration| Patience { deadline: Instant::now() + limit, is_wanted: &is_wanted };
    let mut missing = Vec::new();
    let mut facts = Facts::default();
    let mut packages = PackageGraph::of_manifests(request.manifests.iter().map(|it| it.as_ref()));
    let mut inputs = ExternalInputs::default();
    find_inputs::of_place(request.root.as_ref(), &mut inputs);
    let mut tools = Tools::find(&request.root, request.trusted, patience(request.limits.manifests));
    missing.extend(tools.iter().filter_map(Tools::replacement));
    let mut workspaces = match &tools {
        Ok(tools) => load_workspaces(request, tools, progress, &mut packages, &mut missing, &mut facts),
        Err(error) => {
            missing.push(no_toolchain(error));
            request.before.to_vec()
        }
    };
    if superseded() {
        return;
    }
    tools.iter().for_each(|it| find_inputs::of_tools(it, &mut inputs));
    workspaces.iter().for_each(|it| find_inputs::of_workspace(it, &request.root, &mut inputs));
    let package_graph = Arc::new(packages);
    let has_code = workspaces.iter().any(build::runs_code);
    let runs_code = request.trusted && has_code && tools.is_ok();
    if !request.trusted {
        missing.extend(cargo_config::unread(&request.root, &request.manifests));
        missing.extend(has_code.then(untrusted));
    }
    let mut read = (*request.known).clone();
    let mut deep = (*request.deep).clone();
    let mut unstable = (*request.unstable).clone();
    let lasting = tools.as_ref().ok().map(Tools::lasting);
    let mut step = |workspaces: &[ProjectWorkspace],
                    facts: &Facts,
                    macros: MacroTable,
                    missing: &[Missing],
                    mut inputs: ExternalInputs,
                    unbuilt: Option<Vec<PathBuf>>| {
        let last = unbuilt.as_ref().is_some_and(Vec::is_empty);
        let folders = ProjectFolders::new(workspaces, &[], None);
        let local_roots = local_roots(&request.root, &request.target_dir, workspaces);
        let packages = Packages { roots: &local_roots, forbidden: &request.forbidden };
        // Output of build scripts, and files that are only named, are read again each time.
        read.retain(|path| !path.starts_with(&request.target_dir));
        deep.retain(|path| read.contains(path) || !packages.holds(path.as_ref()));
        deep.retain(|path| !path.starts_with(&request.target_dir));
        let library = library_roots(workspaces);
        let mut sources = read_sources(&folders, &request.root, &library, &packages, &mut read, &mut deep);
        unstable.hide(&library, &request.texts, &mut sources);
        let ReferencedFiles { sources: named, unread } = packages.follow(read.iter(), &mut inputs);
        let named = named.into_iter().map(|(path, bytes)| {
            let (bytes, is_too_deep) = of_library(bytes);
            is_too_deep.then(|| deep.insert(path.clone()));
            (path, bytes)
        });
        let named = named.collect();
        tracing::debug!(last, files = sources.len(), "sources outside of the workspace were read");
        fault::point("rust.load.read");
        inputs.leave_to_edits(request.root.as_ref(), |it| request.texts.get(it).is_some());
        let lacking =
            deep.iter().map(|it| too_deep(it.as_str())).chain(inputs.too_large.iter().map(|it| too_large(it)));
        Loaded {
            workspaces: Arc::new(workspaces.to_vec()),
            sources,
            named,
            unread,
            source_roots: folders.source_root_config,
            local_roots,
            macros,
            tools: lasting.as_ref().map(Tools::lasting),
            facts: Arc::new(facts.clone()),
            packages: package_graph.clone(),
            faults: request.faults.clone(),
            missing: missing.iter().cloned().chain(lacking).collect(),
            deep: Arc::new(deep.clone()),
            unstable: Arc::new(unstable.clone()),
            outdated: inputs.changed_since(request.begun),
            inputs,
            last,
            unbuilt,
        }
    };
    progress("reading sources", 0, 0);
    // Most questions are about the first workspace.
    let is_first_built = !runs_code || workspaces.first().is_some_and(|it| !build::runs_code(it));
    let waiting = is_first_built.then(|| if runs_code { unbuilt(&workspaces) } else { Vec::new() });
    if let Ok(tools) = &mut tools {
        tools.patience = patience(request.limits.build);
        tools.gives_way = is_first_built;
    }
    let mut macros = MacroTable::default();
    // Cargo begins to build while sources are read.
    let to_build = workspaces.iter().position(build::runs_code).filter(|_| runs_code && request.build_scripts);
    let mut built = std::thread::scope(|scope| {
        let (workspaces, tools) = (&workspaces, tools.as_ref().ok());
        let check =
            move |at: usize| Some(build::check(&workspaces[at], tools?, &request.features, &request.target_dir));
        let build = to_build.map(|at| scope.spawn(move || check(at)));
        let first = step(workspaces, &facts, macros.clone(), &missing, inputs.clone(), waiting);
        deliver(Delivery::Default(Box::new(first)));
        build.and_then(|it| it.join().ok().flatten())
    });
    let Ok(tools) = &mut tools else { return };
    if runs_code && !superseded() {
        let total = workspaces.len();
        for done in (0..total).filter(|_| request.build_scripts) {
            progress("running build scripts", done, total);
            let workspace = &mut workspaces[done];
            if build::runs_code(workspace) {
                let output = built
                    .take()
                    .unwrap_or_else(|| build::check(workspace, tools, &request.features, &request.target_dir));
                take_build(workspace, tools, output, (&mut inputs, &mut facts), &mut missing);
            }
            if superseded() {
                return;
            }
            tools.gives_way = true;
            let waiting = unbuilt(&workspaces[done + 1..]);
            if done == 0 && !is_first_built && !waiting.is_empty() {
                if request.proc_macros {
                    macros = load_macros(request, &workspaces, tools, &macros, &mut missing);
                }
                fault::point("rust.load.first");
                let step = step(&workspaces, &facts, macros.clone(), &missing, inputs.clone(), Some(waiting));
                deliver(Delivery::Default(Box::new(step)));
            }
        }
        if request.proc_macros {
            macros.extend(load_macros(request, &workspaces, tools, &macros, &mut missing));
        }
        tracing::debug!("what runs at compile time was built and run");
        fault::point("rust.load.built");
        let last = step(&workspaces, &facts, macros.clone(), &missing, inputs, Some(Vec::new()));
        deliver(Delivery::Default(Box::new(last)));
    }
    while !(request.is_calm)() && !superseded() {
        std::thread::sleep(PACE);
    }
    if !superseded() {
        tools.patience = patience(request.limits.build);
        let builds = load_builds(request, &workspaces, tools, &facts, &macros, (read, deep));
        deliver(Delivery::Further(Box::new(builds)));
    }
}

/// Loads the further builds, after the sources of the default build were read.
fn load_builds(
    request: &LoadRequest,
    workspaces: &[ProjectWorkspace],
    tools: &Tools<'_>,
    facts: &Facts,
    known: &MacroTable,
    (mut read, mut deep): (HashSet<AbsPathBuf>, BTreeSet<AbsPathBuf>),
) -> LoadedBuilds {
    let (builds, failed) = further_builds::load(request, workspaces, tools, facts);
    let further: Vec<ProjectWorkspace> = builds.iter().map(|it| it.workspace.clone()).collect();
    let local_roots = local_roots(&request.root, &request.target_dir, &further);
    let packages = Packages { roots: &local_roots, forbidden: &request.forbidden };
    let folders = ProjectFolders::new(&further, &[], None);
    let library = library_roots(&further);
    let sources = read_sources(&folders, &request.root, &library, &packages, &mut read, &mut deep);
    // The places that a macro of another build leaves unresolved show what is missing in it.
    let runs_code = request.trusted && request.proc_macros;
    let macros = match runs_code {
        true => load_macros(request, &further, tools, known, &mut Vec::new()),
        false => MacroTable::default(),
    };
    let source_roots = further_builds::source_roots(workspaces, &further);
    LoadedBuilds { builds, failed, sources, source_roots, macros }
}

/// What is needed to run build scripts again: see [`script`].
pub(crate) struct Rebuild {
    pub root: AbsPathBuf,
    pub target_dir: AbsPathBuf,
    pub features: CargoFeatures,
    pub workspaces: Arc<Vec<ProjectWorkspace>>,
    /// Set when a load supersedes this run.
    pub superseded: Arc<AtomicBool>,
    pub limits: Limits,
}

impl Rebuild {
    /// Their new output, one hash per workspace; `None` if it is no longer wanted.
    pub(crate) fn run(&self) -> Option<Vec<Hash>> {
        let is_wanted = || !self.superseded.load(Ordering::Relaxed);
        let patience = Patience { deadline: Instant::now() + self.limits.build, is_wanted: &is_wanted };
        let tools = Tools::find(&self.root, true, patience).ok()?;
        let run = self.workspaces.iter().filter(|it| build::runs_code(it));
        let made = run.filter_map(|it| build::rebuild(it, &tools, &self.features, &self.target_dir)).collect();
        is_wanted().then_some(made)
    }
}

fn no_toolchain(error: &str) -> Missing {
    let detail = format!("no Rust toolchain was found, install one with rustup: {error}");
    Missing::new(MissingCode::StdSources, "rust", detail)
}

fn too_large(directory: &Path) -> Missing {
    let detail = format!(
        "a build script reads all of {}, which is too much to look at before each answer: what changes there counts \
         with the next load, at the latest when a manifest changes",
        directory.display()
    );
    Missing::new(MissingCode::BuildScripts, "rust", detail)
}

fn untrusted() -> Missing {
    Missing::new(
        MissingCode::Untrusted,
        "rust",
        "build scripts and proc macros were not run, since this workspace is not trusted: their output is \
         unknown; run `semdex trust PATH` or start with `--trust` if you trust its code",
    )
}

/// `RUST_SRC_PATH`, as rust-analyzer has it, else the sysroot's own sources, else the ones that Debian installs. Sources
/// of another version are acceptable.
pub(crate) fn find_std_sources(sysroot: &AbsPath) -> Option<AbsPathBuf> {
    let has_core = |path: &AbsPathBuf| Path::new(path.join("core/src/lib.rs").as_str()).is_file();
    let from_env = std::env::var("RUST_SRC_PATH").ok().and_then(|it| AbsPathBuf::try_from(Utf8PathBuf::from(it)).ok());
    let mut from_debian: Vec<_> = std::fs::read_dir("/usr/src")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("rustc-"))
        .filter_map(|entry| AbsPathBuf::try_from(Utf8PathBuf::from_path_buf(entry.path().join("library")).ok()?).ok())
        .collect();
    from_debian.sort();
    from_env
        .into_iter()
        .chain([sysroot.join("lib/rustlib/src/rust/library")])
        .chain(from_debian.into_iter().rev())
        .find(has_core)
}

/// Loads the workspaces of all manifests: the outermost first, then those that are not members of a loaded one.
fn load_workspaces(
    request: &LoadRequest,
    tools: &Tools<'_>,
    progress: &(dyn Fn(&str, usize, usize) + Sync),
    packages: &mut PackageGraph,
    missing: &mut Vec<Missing>,
    facts: &mut Facts,
) -> Vec<ProjectWorkspace> {
    let given = request.std_sources.clone();
    let given = given.and_then(|it| AbsPathBuf::try_from(Utf8PathBuf::from_path_buf(it).ok()?).ok());
    let std_sources = given.or_else(|| find_std_sources(&tools.sysroot));
    if std_sources.is_none() {
        missing.push(Missing::new(
            MissingCode::StdSources,
            "rust",
            "the standard library's sources are not installed: run `rustup component add rust-src`, or set \
             RUST_SRC_PATH, or install Debian's `rust-web-src`",
        ));
    }
    let mut manifests = request.manifests.clone();
    manifests.sort_by_key(|path| (path.components().count(), path.clone()));
    let total = manifests.len();
    let mut covered: BTreeSet<AbsPathBuf> = BTreeSet::new();
    let mut workspaces: Vec<ProjectWorkspace> = Vec::new();
    for (done, manifest) in manifests.into_iter().enumerate() {
        if request.superseded.load(Ordering::Relaxed) {
            return workspaces;
        }
        if covered.contains(&manifest) {
            continue;
        }
        if workspaces.len() >= MAX_WORKSPACES {
            let detail =
                format!("more than {MAX_WORKSPACES} Cargo workspaces: {manifest} and later ones are not loaded");
            missing.push(Missing::new(MissingCode::TooMany, "rust", detail));
            break;
        }
        progress("reading manifests", done, total);
        let scope = relative(&request.root, &manifest);
        match workspace::load(tools, &manifest, &request.features, std_sources.as_deref(), packages) {
            Ok(known) => {
                covered.extend(workspace::manifests(&known.workspace));
                if let Some(root) = known.workspace.manifest() {
                    facts.targets.insert(root.clone().into(), known.target);
                }
                if let Some(error) = known.error {
                    missing.push(broken(
                        &scope,
                        &format!("its dependencies are unknown, so only its syntax is judged: {error}"),
                    ));
                }
                covered.insert(manifest);
                workspaces.push(known.workspace);
            }
            // Test data of other programs has files of that name too.
            Err(error) if !has_code(request, &manifest) => tracing::info!(scope, error, "a manifest without code"),
            // Cargo builds it in no workspace: its code is like that of any file that no crate includes.
            Err(error) if error.contains(NO_MEMBER) => tracing::info!(scope, error, "a package of no workspace"),
            Err(error) => {
                missing.push(broken(&scope, &error));
                let old = request.before.iter().find(|it| it.manifest().is_some_and(|it| **it == *manifest));
                workspaces.extend(old.cloned());
            }
        }
    }
    workspaces
}

/// Cargo's words for a package below a workspace that neither has it as a member nor excludes it.
const NO_MEMBER: &str = "believes it's in a workspace when it's not";

/// Whether a file of Rust is in the directory of a manifest or below it.
fn has_code(request: &LoadRequest, manifest: &AbsPath) -> bool {
    let directory = manifest.parent().map(|it| relative(&request.root, it)).unwrap_or_default();
    let is_below = |it: &str| directory.is_empty() || Path::new(it).starts_with(&directory);
    request.texts.of(crate::LANGUAGE).any(|it| is_below(&it.path))
}

fn broken(scope: &str, error: &str) -> Missing {
    let mut detail = String::new();
    for line in error.lines().map(str::trim).filter(|line| !line.is_empty()).take(12) {
        if !detail.is_empty() {
            detail.push_str("; ");
        }
        detail.push_str(line);
    }
    Missing::new(MissingCode::WorkspaceBroken, scope, format!("Cargo could not load it: {detail}"))
}

fn relative(root: &AbsPath, path: &AbsPath) -> String {
    path.strip_prefix(root).map_or_else(|| path.to_string(), |it| it.as_str().to_owned())
}

/// The local packages of those workspaces that run code at compile time, by their directories.
fn unbuilt(workspaces: &[ProjectWorkspace]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for workspace in workspaces.iter().filter(|it| build::runs_code(it)) {
        if let ProjectWorkspaceKind::Cargo { cargo, .. } = &workspace.kind {
            let local = cargo.packages().map(|it| &cargo[it]).filter(|it| it.is_local);
            found.extend(local.map(|it| PathBuf::from(it.manifest.parent().as_str())));
        }
    }
    found
}

fn take_build(
    workspace: &mut ProjectWorkspace,
    tools: &Tools<'_>,
    output: Result<Output, String>,
    (inputs, facts): (&mut ExternalInputs, &mut Facts),
    missing: &mut Vec<Missing>,
) {
    let scope = workspace.manifest_or_root().to_string();
    let manifest = workspace.manifest().cloned().map(AbsPathBuf::from);
    let mut note = |it: &[u8]| drop(manifest.clone().map(|manifest| facts.messages.insert(manifest, it.into())));
    if let Err(error) = build::take(workspace, tools, output, inputs, &mut note) {
        let first = error.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect::<Vec<_>>().join("; ");
        missing.push(Missing::new(MissingCode::BuildScripts, scope, format!("build scripts failed: {first}")));
    }
}

fn load_macros(
    request: &LoadRequest,
    workspaces: &[ProjectWorkspace],
    tools: &Tools<'_>,
    known: &MacroTable,
    missing: &mut Vec<Missing>,
) -> MacroTable {
    let mut table = MacroTable { enabled: true, ..MacroTable::default() };
    // One id is enough for all files here: only the macros' paths matter.
    let mut any_file = |_: &AbsPath| Some(FileId::from_raw(0));
    for workspace in workspaces {
        let paths: Vec<AbsPathBuf> = workspace
            .to_crate_graph(&mut any_file, &Default::default())
            .1
            .into_values()
            .filter_map(|path| path.ok().map(|(_, path)| path))
            .filter(|path| !table.libraries.contains_key(path) && !known.libraries.contains_key(path))
            .collect();
        if paths.is_empty() {
            continue;
        }
        let server = tools.proc_macro_server().ok_or_else(|| "the toolchain has none".to_owned()).and_then(|program| {
            let plan = macro_server::Plan {
                program: program.clone().into(),
                environment: tools.environment.clone(),
                limit: request.limits.expansion,
                faults: request.faults.clone(),
            };
            macro_server::start(&plan, &program).map_err(|error| error.to_string())
        });
        match server {
            Ok(client) => {
                for path in paths {
                    let macros = load_proc_macro(&client, &path, &[]);
                    if let Err(error) = &macros {
                        let detail = format!("the macros of {path} could not be loaded: {error}");
                        missing.push(Missing::new(MissingCode::ProcMacros, "rust", detail));
                    }
                    table.libraries.insert(path, macros);
                }
            }
            Err(error) => {
                let detail = format!("the proc-macro server could not be started: {error}");
                missing.push(Missing::new(MissingCode::ProcMacros, "rust", detail));
            }
        }
    }
    table
}
