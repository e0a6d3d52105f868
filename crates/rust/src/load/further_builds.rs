//! The further builds of a Cargo workspace. Code that a `cfg` switches off in the default build is compiled with other
//! features, for another system, or with other flags (`build_choice.rs` says which).
//!
//! A build is another graph of the workspace's crates. Crates that do not differ from crates of the default build are
//! merged with these; all further crates get a mark (`ra_ap_base_db::FURTHER_BUILD`). Dependencies of other systems are
//! taken from Cargo's metadata, but the standard library and shared dependencies are the host's.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::Ordering;

use ra_ap_base_db::{CrateBuilder, CrateBuilderId, CrateGraphBuilder, CrateOrigin, FURTHER_BUILD, ProcMacroPaths};
use ra_ap_cfg::{CfgAtom, CfgDiff};
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_load_cargo::{ProjectFolders, SourceRootConfig};
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_project_model::{CargoFeatures, ProjectWorkspace};
use ra_ap_vfs::file_set::FileSetConfig;
use ra_ap_vfs::loader::Entry;
use ra_ap_vfs::{FileId, VfsPath};
use semdex_config::BuildFeatures;
use semdex_model::{Missing, MissingCode};

use super::build_choice::{Choice, Chosen, Excluded, Systems, choose, excluded, packages_of};
use super::planned::Facts;
use super::tools::Tools;
use super::workspace::{cargo_of, with_features};
use super::{LoadRequest, MacroTable, build, builds};
use crate::LANGUAGE;
use crate::names::builds::{atoms, is_of_system};

/// The systems of which one is chosen for code that asks for another system, the most common first.
const SYSTEMS: [&str; 10] = [
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-unknown-linux-gnu",
    "wasm32-unknown-unknown",
    "wasm32-wasip1",
    "aarch64-linux-android",
    "x86_64-unknown-freebsd",
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "aarch64-apple-ios",
];

/// A build of one Cargo workspace besides its default build.
#[derive(Clone)]
pub(crate) struct FurtherBuild {
    /// What differs from the default build.
    pub name: String,
    pub workspace: ProjectWorkspace,
    /// The conditions of another system, and the conditions of the host in their place.
    system: Option<CfgDiff>,
    flags: Option<CfgDiff>,
    /// The names and versions of the packages that the default build has too.
    shared: HashSet<(String, String)>,
}

/// Chooses and loads the further builds of all workspaces. Returns also which of the listed builds could not be made.
pub(crate) fn load(
    request: &LoadRequest,
    workspaces: &[ProjectWorkspace],
    tools: &Tools<'_>,
    facts: &Facts,
) -> (Vec<FurtherBuild>, Vec<Missing>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut systems: Vec<(String, Vec<CfgAtom>)> = Vec::new();
    let mut has_common_systems = false;
    // Whether a workspace has the features of each listed build.
    let mut is_possible = vec![false; request.listed_builds.len()];
    for workspace in workspaces {
        let Some(cargo) = cargo_of(workspace) else { continue };
        let mut listed: Vec<Choice> = Vec::new();
        let features = cargo.workspace_features();
        for (build, is_possible) in request.listed_builds.iter().zip(&mut is_possible) {
            if matches!(&build.features, Some(BuildFeatures::Named(names)) if !names.iter().all(|it| features.contains(it)))
            {
                continue;
            }
            *is_possible = true;
            let cfgs = |triple: &str| tools.cfgs(cargo.workspace_root(), Some(triple));
            match Choice::listed(build, &mut systems, cfgs) {
                Ok(it) => listed.push(it),
                Err(why) => failed.push(not_made(&why)),
            }
        }
        let messages = facts.messages.get(cargo.manifest_path().as_ref() as &AbsPath);
        let packages = packages_of(cargo, messages.map(|it| &**it).unwrap_or_default());
        let excluded = excluded(&request.texts, &request.root, workspace, &packages);
        let asks_for_system = |it: &Excluded| {
            let mut asked = BTreeSet::new();
            atoms(&it.condition, &mut asked);
            asked.iter().any(is_of_system)
        };
        if request.max_builds > 0 && !has_common_systems && excluded.iter().any(asks_for_system) {
            has_common_systems = true;
            let others = SYSTEMS.into_iter().filter(|it| systems.iter().all(|known| known.0 != *it));
            let cfgs = |it: &str| (it.to_owned(), tools.cfgs(cargo.workspace_root(), Some(it)));
            let others: Vec<_> = others.map(cfgs).filter(|it| !it.1.is_empty()).collect();
            systems.extend(others);
        }
        let number = listed.len();
        let choices = choose(listed, &excluded, &packages, workspace, &systems, request.max_builds);
        let names: Vec<String> = choices.iter().map(|it| it.name(&systems)).collect();
        tracing::debug!(workspace = %cargo.workspace_root(), ?names, "further builds");
        for (position, choice) in choices.iter().enumerate() {
            if request.superseded.load(Ordering::Relaxed) {
                return (found, failed);
            }
            match FurtherBuild::load(request, workspace, tools, facts, &systems, choice) {
                Ok(it) => found.push(it),
                Err(error) => {
                    tracing::info!(?choice, error, "a further build could not be loaded");
                    if position < number {
                        failed.push(not_made(&format!("`{}`: {error}", choice.name(&systems))));
                    }
                }
            }
        }
    }
    for (build, _) in request.listed_builds.iter().zip(is_possible).filter(|it| !it.1) {
        let Some(BuildFeatures::Named(names)) = &build.features else { continue };
        failed.push(not_made(&format!("no Cargo workspace here has all of these features: {}", names.join(", "))));
    }
    failed.dedup();
    (found, failed)
}

/// A build that the configuration lists and that does not exist.
fn not_made(why: &str) -> Missing {
    let why = why.lines().map(str::trim).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
    let detail = format!("a build of `[rust] builds` could not be made: {why}");
    Missing::new(MissingCode::WorkspaceBroken, LANGUAGE.name, detail)
}

impl FurtherBuild {
    fn load(
        request: &LoadRequest,
        of: &ProjectWorkspace,
        tools: &Tools<'_>,
        facts: &Facts,
        systems: &Systems,
        choice: &Choice,
    ) -> Result<FurtherBuild, String> {
        let cargo = cargo_of(of).ok_or("it is not a Cargo workspace")?;
        let manifest: AbsPathBuf = cargo.manifest_path().clone().into();
        let features = match (&choice.features, &request.features) {
            (Chosen::Default, of_default) => of_default.clone(),
            (Chosen::All, _) | (Chosen::Named(_), CargoFeatures::All) => CargoFeatures::All,
            (Chosen::None, _) => CargoFeatures::Selected { features: Vec::new(), no_default_features: true },
            (Chosen::Only(names), _) => CargoFeatures::Selected { features: names.clone(), no_default_features: true },
            (Chosen::Without { left, .. }, _) => {
                let of_members = cargo.workspace_features();
                let features = left.iter().filter(|it| of_members.contains(*it)).cloned().collect();
                CargoFeatures::Selected { features, no_default_features: true }
            }
            (Chosen::Named(names), CargoFeatures::Selected { features, no_default_features }) => {
                let features = features.iter().chain(names).cloned().collect();
                CargoFeatures::Selected { features, no_default_features: *no_default_features }
            }
        };
        let system = choice.system.and_then(|it| systems.get(it));
        let host = facts.targets.get(&manifest).cloned().flatten();
        let target = system.map(|it| it.0.clone()).or(host);
        let mut workspace = with_features(tools, of, &features, target.as_deref(), &choice.on)?;
        if let Some(messages) = facts.messages.get(&manifest) {
            build::note(&mut workspace, tools, messages)?;
            // Another system's build scripts cannot run here.
            if request.trusted && system.is_none() && choice.features != Chosen::Default {
                let mut inputs = Default::default();
                build::run(&mut workspace, tools, &features, &request.target_dir, &mut inputs, &mut |_| ())
                    .unwrap_or_else(|error| tracing::info!(error, "build scripts of a further build failed"));
            }
        }
        let system = system.map(|(_, cfgs)| {
            let host: Vec<CfgAtom> = of.rustc_cfg.iter().filter(|it| !cfgs.contains(it)).cloned().collect();
            CfgDiff::new(cfgs.iter().filter(|it| !of.rustc_cfg.contains(it)).cloned().collect(), host)
        });
        let has_flags = !choice.on.is_empty() || !choice.off.is_empty();
        Ok(FurtherBuild {
            name: choice.name(systems),
            workspace,
            system,
            flags: has_flags.then(|| CfgDiff::new(choice.on.clone(), choice.off.clone())),
            shared: cargo.packages().map(|it| (cargo[it].name.clone(), cargo[it].version.to_string())).collect(),
        })
    }

    /// Sets the conditions of this build for a crate of its graph. The host runs build scripts and proc macros, and
    /// what the default build has too is shared.
    fn adapt(&self, krate: &mut CrateBuilder) {
        let name = krate.extra.display_name.as_ref().map_or("", |it| it.canonical_name().as_str());
        if krate.basic.is_proc_macro || name.starts_with("build_script_") {
            return;
        }
        let is_shared = match &krate.basic.origin {
            CrateOrigin::Library { name, .. } => {
                let version = krate.extra.version.clone().unwrap_or_default();
                self.shared.contains(&(name.as_str().to_owned(), version))
            }
            origin => !origin.is_local(),
        };
        if !is_shared {
            self.system.iter().for_each(|it| krate.cfg_options.apply_diff(it.clone()));
        }
        if krate.basic.origin.is_local() {
            self.flags.iter().for_each(|it| krate.cfg_options.apply_diff(it.clone()));
        }
    }
}

/// Adds the crates of further builds to the graph of the default build, each with the mark of its build.
pub(crate) fn add(
    graph: &mut CrateGraphBuilder,
    all: &mut ProcMacroPaths,
    further: &[FurtherBuild],
    file_id: &mut dyn FnMut(&AbsPath) -> Option<FileId>,
    is_split: &dyn Fn(&AbsPath) -> bool,
) {
    let of_default: HashSet<CrateBuilderId> = graph.iter().collect();
    let mut marks: BTreeMap<CrateBuilderId, String> = BTreeMap::new();
    for build in further {
        let (mut other, mut paths) = build.workspace.to_crate_graph(file_id, &Default::default());
        let without_build = builds::split(&mut other, &build.workspace, file_id, is_split);
        builds::remove(&mut other, &mut paths, &without_build);
        for id in other.iter().collect::<Vec<_>>() {
            build.adapt(&mut other[id]);
        }
        for (_, id) in graph.extend(other, &mut paths) {
            if !of_default.contains(&id) {
                marks.entry(id).or_insert_with(|| build.name.clone());
            }
        }
        all.extend(paths);
    }
    for (id, name) in marks {
        graph[id].cfg_options.insert_key_value(Symbol::intern(FURTHER_BUILD), Symbol::intern(&name));
    }
}

/// Further builds on their way to the writer.
pub(crate) struct LoadedBuilds {
    pub builds: Vec<FurtherBuild>,
    /// Builds that the configuration lists and that could not be made.
    pub failed: Vec<Missing>,
    /// Sources that the default build does not have.
    pub sources: Vec<(AbsPathBuf, Vec<u8>)>,
    /// The source roots of all builds. The roots of the default build keep their numbers.
    pub source_roots: SourceRootConfig,
    /// The macros that the default build does not have.
    pub macros: MacroTable,
}

/// The source roots of the default build, and those that further builds add.
pub(crate) fn source_roots(default: &[ProjectWorkspace], further: &[ProjectWorkspace]) -> SourceRootConfig {
    let mut sets: Vec<(BTreeSet<AbsPathBuf>, bool)> = file_sets(default);
    for (paths, is_local) in file_sets(further) {
        match sets.iter().position(|it| !it.0.is_disjoint(&paths)) {
            // What a build script wrote belongs to its package.
            Some(same) => sets[same].0.extend(paths),
            None => sets.push((paths, is_local)),
        }
    }
    let mut builder = FileSetConfig::builder();
    let mut local_filesets = Vec::new();
    for (number, (paths, is_local)) in (0_u64..).zip(sets) {
        builder.add_file_set(paths.into_iter().map(VfsPath::from).collect());
        local_filesets.extend(is_local.then_some(number));
    }
    SourceRootConfig { fsc: builder.build(), local_filesets }
}

/// The file sets of workspaces in the order in which rust-analyzer numbers them, each with whether it is local.
fn file_sets(workspaces: &[ProjectWorkspace]) -> Vec<(BTreeSet<AbsPathBuf>, bool)> {
    let folders = ProjectFolders::new(workspaces, &[], None);
    let local = &folders.source_root_config.local_filesets;
    let paths = |entry: Entry| match entry {
        Entry::Directories(it) => it.include.into_iter().collect(),
        // The root of a virtual workspace is entered by the name of a file of rust-analyzer's.
        Entry::Files(files) => files
            .into_iter()
            .map(|it| match it.parent().filter(|_| it.file_name() == Some("rust-analyzer.toml")) {
                Some(directory) => directory.to_path_buf(),
                None => it,
            })
            .collect(),
    };
    (0_u64..).zip(folders.load).map(|(number, entry)| (paths(entry), local.contains(&number))).collect()
}
