//! The further builds of a Cargo workspace. Code that a `cfg` switches off in the default build is compiled with other
//! features, for another system, or with other flags. The configuration may list such builds (`[rust] builds`). A few
//! are chosen that switch on most of its lines, a few for each package.
//!
//! A build is another graph of the workspace's crates. Crates that do not differ from crates of the default build are
//! merged with these; all further crates get a mark (`ra_ap_base_db::FURTHER_BUILD`). Dependencies of other systems are
//! taken from Cargo's metadata, but the standard library and shared dependencies are the host's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::Ordering;

use ra_ap_base_db::{CrateBuilder, CrateBuilderId, CrateGraphBuilder, CrateOrigin, FURTHER_BUILD, ProcMacroPaths};
use ra_ap_cfg::{CfgAtom, CfgDiff, CfgExpr};
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_load_cargo::{ProjectFolders, SourceRootConfig};
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_project_model::{CargoFeatures, CargoWorkspace, ManifestPath, ProjectWorkspace};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile};
use ra_ap_vfs::file_set::FileSetConfig;
use ra_ap_vfs::loader::Entry;
use ra_ap_vfs::{FileId, VfsPath};
use semdex_config::{BuildFeatures, RustBuild};
use semdex_model::{Missing, MissingCode};
use semdex_text::words::{occurrences, words};
use serde_json::Value;

use super::conditions::conditions;
use super::planned::Facts;
use super::tools::Tools;
use super::workspace::{cargo_of, with_features};
use super::{LoadRequest, MacroTable, build, builds};
use crate::LANGUAGE;
use crate::names::builds::{atoms, is_of_system, text_of};

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

/// The conditions of a build. By default the conditions of the default build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Choice {
    features: Chosen,
    /// An index in the list of systems.
    system: Option<usize>,
    on: Vec<CfgAtom>,
    off: Vec<CfgAtom>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Chosen {
    #[default]
    Default,
    All,
    /// Not even the default features.
    None,
    /// Besides the features of the default build.
    Named(Vec<String>),
    /// Without the default features.
    Only(Vec<String>),
}

/// Code that the default build does not compile.
struct Excluded {
    /// An index in the list of packages.
    package: usize,
    condition: CfgExpr,
    lines: usize,
}

/// The features of a package, and what its build script sets.
struct PackageFacts {
    directory: AbsPathBuf,
    active: HashSet<String>,
    /// The declared features, each with what it turns on.
    declared: HashMap<String, Vec<String>>,
    set: HashSet<String>,
    /// The words of conditions under which its manifest has optional dependencies.
    optional_under: HashSet<String>,
}

impl PackageFacts {
    /// Whether these features of the workspace turn on a feature of this package. Features of other packages are not
    /// followed.
    fn is_turned_on(&self, by: &[String], feature: &str) -> bool {
        let mut pending: Vec<&str> = by.iter().map(|it| it.rsplit_once('/').map_or(&**it, |it| it.1)).collect();
        let mut seen: HashSet<&str> = HashSet::new();
        while let Some(next) = pending.pop() {
            if seen.insert(next) {
                pending.extend(self.declared.get(next).into_iter().flatten().map(String::as_str));
            }
        }
        seen.contains(feature)
    }
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
        let excluded = excluded(request, workspace, &packages);
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

fn packages_of(cargo: &CargoWorkspace, messages: &[u8]) -> Vec<PackageFacts> {
    let mut set = set_by_scripts(messages);
    let members = cargo.packages().filter(|&it| cargo[it].is_local);
    members
        .map(|it| PackageFacts {
            directory: cargo[it].manifest.parent().to_path_buf(),
            active: cargo[it].active_features.iter().cloned().collect(),
            declared: cargo[it].features.clone().into_iter().collect(),
            set: set.remove(&cargo[it].id.repr).unwrap_or_default(),
            optional_under: optional_under(&cargo[it].manifest),
        })
        .collect()
}

fn optional_under(manifest: &ManifestPath) -> HashSet<String> {
    let text = semdex_fs::read_file(manifest.as_ref(), super::sources::LARGEST_SOURCE).unwrap_or_default();
    let manifest: toml::Table = String::from_utf8_lossy(&text).parse().unwrap_or_default();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let is_optional = |it: &toml::Value| it.get("optional").and_then(toml::Value::as_bool) == Some(true);
    let has_optional = |of: &toml::Value| {
        let dependencies = of.get("dependencies").and_then(toml::Value::as_table);
        dependencies.is_some_and(|it| it.values().any(is_optional))
    };
    let conditions = targets.into_iter().flatten().filter(|it| has_optional(it.1)).map(|it| it.0);
    conditions.flat_map(|it| words(it)).map(|it| it.1.to_owned()).collect()
}

/// The conditions that build scripts set, by the ids of their packages.
fn set_by_scripts(messages: &[u8]) -> HashMap<String, HashSet<String>> {
    let text = String::from_utf8_lossy(messages);
    let of_scripts = text.lines().filter(|it| it.contains("build-script-executed"));
    let mut set: HashMap<String, HashSet<String>> = HashMap::new();
    for said in of_scripts.filter_map(|it| serde_json::from_str::<Value>(it).ok()) {
        let cfgs = said["cfgs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let cfgs = cfgs.map(|it| it.replace(['"', ' '], ""));
        set.entry(said["package_id"].as_str().unwrap_or_default().to_owned()).or_default().extend(cfgs);
    }
    set
}

fn excluded(request: &LoadRequest, workspace: &ProjectWorkspace, packages: &[PackageFacts]) -> Vec<Excluded> {
    let choice = Choice::default();
    let mut found = Vec::new();
    for file in request.texts.of(LANGUAGE).filter(|it| !it.is_too_deep()) {
        if !["cfg", "cfg_attr", "cfg_select"].iter().any(|it| occurrences(&file.text, it).next().is_some()) {
            continue;
        }
        let path = request.root.join(&*file.path);
        let around = packages.iter().enumerate().filter(|it| path.starts_with(&it.1.directory));
        let Some((package, facts)) = around.max_by_key(|it| it.1.directory.as_str().len()) else { continue };
        let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
        for (condition, lines) in conditions(&request.texts, &file.path, tree.syntax()) {
            if !choice.may_hold(&condition, facts, workspace, &[]) {
                found.push(Excluded { package, condition, lines });
            }
        }
    }
    found
}

/// Target triples with the conditions that hold for each.
type Systems = [(String, Vec<CfgAtom>)];

impl Choice {
    /// A build that the configuration lists. Its system joins the others.
    fn listed(
        build: &RustBuild,
        systems: &mut Vec<(String, Vec<CfgAtom>)>,
        cfgs: impl Fn(&str) -> Vec<CfgAtom>,
    ) -> Result<Choice, String> {
        let mut system = None;
        if let Some(triple) = &build.target {
            system = systems.iter().position(|it| it.0 == *triple);
            if system.is_none() {
                let cfgs = cfgs(triple);
                if cfgs.is_empty() {
                    return Err(format!("rustc has no target `{triple}`: `rustc --print target-list` lists them"));
                }
                systems.push((triple.clone(), cfgs));
                system = Some(systems.len() - 1);
            }
        }
        let features = match &build.features {
            None => Chosen::Default,
            Some(BuildFeatures::All) => Chosen::All,
            Some(BuildFeatures::None) => Chosen::None,
            Some(BuildFeatures::Named(names)) => Chosen::Named(names.clone()),
        };
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for flag in &build.cfg {
            let name = Symbol::intern(&flag.name);
            let atom = match &flag.value {
                Some(value) => CfgAtom::KeyValue { key: name, value: Symbol::intern(value) },
                None => CfgAtom::Flag(name),
            };
            if flag.is_set { on.push(atom) } else { off.push(atom) }
        }
        Ok(Choice { features, system, on, off })
    }

    /// Whether a condition holds, with or without tests.
    fn may_hold(
        &self,
        condition: &CfgExpr,
        package: &PackageFacts,
        workspace: &ProjectWorkspace,
        systems: &Systems,
    ) -> bool {
        let host = self.system.and_then(|it| systems.get(it)).map_or(&workspace.rustc_cfg, |it| &it.1);
        let holds = |atom: &CfgAtom, is_test: bool| {
            if self.on.contains(atom) {
                return true;
            }
            if self.off.contains(atom) {
                return false;
            }
            match atom {
                CfgAtom::Flag(name) if name.as_str() == "test" => is_test,
                CfgAtom::Flag(name) if name.as_str() == "true" => true,
                CfgAtom::Flag(name) if name.as_str() == "debug_assertions" => true,
                CfgAtom::KeyValue { key, value } if key.as_str() == "feature" => match &self.features {
                    Chosen::Default => package.active.contains(value.as_str()),
                    Chosen::All => package.declared.contains_key(value.as_str()),
                    Chosen::None => false,
                    Chosen::Named(names) => {
                        package.active.contains(value.as_str()) || package.is_turned_on(names, value.as_str())
                    }
                    Chosen::Only(names) => package.is_turned_on(names, value.as_str()),
                },
                _ => host.contains(atom) || package.set.contains(&text_of(atom)),
            }
        };
        [false, true].into_iter().any(|is_test| evaluate(condition, &|it| holds(it, is_test)))
    }

    /// Other features, another system, other flags.
    fn kind(&self) -> usize {
        match (self.on.is_empty() && self.off.is_empty(), self.system) {
            (true, None) => 0,
            (true, Some(_)) => 1,
            (false, _) => 2,
        }
    }

    fn name(&self, systems: &Systems) -> String {
        let named = |names: &[String]| names.iter().map(|it| format!("feature={it}")).collect::<Vec<_>>().join(",");
        let features = match &self.features {
            Chosen::Default => None,
            Chosen::All => Some("features=all".to_owned()),
            Chosen::None => Some("features=none".to_owned()),
            Chosen::Named(names) => Some(named(names)),
            Chosen::Only(names) => Some(format!("features=none,{}", named(names))),
        };
        let system = self.system.and_then(|it| systems.get(it)).map(|(triple, cfgs)| {
            let is_os = |it: &&CfgAtom| matches!(it, CfgAtom::KeyValue { key, .. } if key.as_str() == "target_os");
            match cfgs.iter().find(is_os) {
                Some(CfgAtom::KeyValue { value, .. }) if !matches!(value.as_str(), "unknown" | "none" | "linux") => {
                    format!("target_os={}", value.as_str())
                }
                _ => format!("target={triple}"),
            }
        });
        let flags = self.on.iter().map(text_of).chain(self.off.iter().map(|it| format!("not({})", text_of(it))));
        features.into_iter().chain(system).chain(flags).collect::<Vec<_>>().join(",")
    }
}

fn evaluate(condition: &CfgExpr, holds: &dyn Fn(&CfgAtom) -> bool) -> bool {
    match condition {
        CfgExpr::Invalid => false,
        CfgExpr::Atom(it) => holds(it),
        CfgExpr::All(all) => all.iter().all(|it| evaluate(it, holds)),
        CfgExpr::Any(all) => all.iter().any(|it| evaluate(it, holds)),
        CfgExpr::Not(it) => !evaluate(it, holds),
    }
}

/// The listed builds, and after them the builds that switch on most lines, each counted with what it adds to those
/// before it. At most `most` are chosen for a package, and twice as many in all: each member of a workspace may have code
/// for a system or a flag of its own. Code that needs only other features counts for builds that differ in nothing else,
/// since only these have diagnostics; what needs no flag counts for no build with flags.
fn choose(
    listed: Vec<Choice>,
    excluded: &[Excluded],
    packages: &[PackageFacts],
    workspace: &ProjectWorkspace,
    systems: &Systems,
    most: usize,
) -> Vec<Choice> {
    let candidates = candidates(excluded, packages, systems.len());
    let holds =
        |choice: &Choice, it: &Excluded| choice.may_hold(&it.condition, &packages[it.package], workspace, systems);
    let is_left = |it: &&Excluded| !listed.iter().any(|choice| holds(choice, it));
    // The candidates that code counts for: those of the first kind that has one.
    let counting = |it: &Excluded| {
        let holding: Vec<usize> = (0..candidates.len()).filter(|at| holds(&candidates[*at], it)).collect();
        let first = holding.iter().map(|at| candidates[*at].kind()).min();
        holding.into_iter().filter(|at| Some(candidates[*at].kind()) == first).collect::<Vec<usize>>()
    };
    let mut left: Vec<(&Excluded, Vec<usize>)> = excluded.iter().filter(is_left).map(|it| (it, counting(it))).collect();
    let mut chosen = listed.clone();
    let most_of_all = chosen.len() + 2 * most;
    let mut of_package = vec![0; packages.len()];
    while chosen.len() < most_of_all {
        let mut gains = vec![0; candidates.len()];
        for (it, counting) in left.iter().filter(|it| of_package[it.0.package] < most) {
            counting.iter().for_each(|at| gains[*at] += it.lines);
        }
        // Of equal ones the first.
        let best = (0..gains.len()).rev().max_by_key(|at| gains[*at]).filter(|at| gains[*at] > 0);
        let Some(best) = best else { break };
        let gaining: BTreeSet<usize> = left.iter().filter(|it| it.1.contains(&best)).map(|it| it.0.package).collect();
        gaining.into_iter().for_each(|it| of_package[it] += 1);
        left.retain(|it| !it.1.contains(&best));
        chosen.push(candidates[best].clone());
    }
    chosen
}

/// The builds that may be chosen, of equal ones the preferred one first.
fn candidates(excluded: &[Excluded], packages: &[PackageFacts], systems: usize) -> Vec<Choice> {
    let plain = Choice::default();
    let mut found =
        vec![Choice { features: Chosen::All, ..plain.clone() }, Choice { features: Chosen::None, ..plain.clone() }];
    let mut add = |it: Choice| {
        if !found.contains(&it) {
            found.push(it);
        }
    };
    for it in excluded {
        let (mut on, mut off) = (BTreeSet::new(), BTreeSet::new());
        features(&it.condition, true, &mut on, &mut off);
        // All features would switch it off.
        if !on.is_empty() && !off.is_empty() {
            let on: Vec<String> = on.into_iter().collect();
            add(Choice { features: Chosen::Named(on.clone()), ..plain.clone() });
            add(Choice { features: Chosen::Only(on), ..plain.clone() });
        }
    }
    for system in 0..systems {
        for features in [Chosen::Default, Chosen::All] {
            add(Choice { features, system: Some(system), ..plain.clone() });
        }
    }
    for it in excluded {
        let (mut on, mut off) = (BTreeSet::new(), BTreeSet::new());
        flags(&it.condition, true, &mut on, &mut off);
        if on.is_empty() && off.is_empty() {
            continue;
        }
        let has_optional = packages.iter().any(|it| on.iter().any(|flag| it.optional_under.contains(&text_of(flag))));
        let mut both = [Chosen::Default, Chosen::All];
        if has_optional {
            both.reverse();
        }
        for features in both {
            let (on, off) = (on.iter().cloned().collect(), off.iter().cloned().collect());
            add(Choice { features, system: None, on, off });
        }
    }
    found
}

/// The features that a condition wants, and those that it does not.
fn features(condition: &CfgExpr, is_wanted: bool, on: &mut BTreeSet<String>, off: &mut BTreeSet<String>) {
    match condition {
        CfgExpr::Atom(CfgAtom::KeyValue { key, value }) if key.as_str() == "feature" => {
            let wanted = if is_wanted { on } else { off };
            wanted.insert(value.as_str().to_owned());
        }
        CfgExpr::Invalid | CfgExpr::Atom(_) => {}
        CfgExpr::All(all) | CfgExpr::Any(all) => all.iter().for_each(|it| features(it, is_wanted, on, off)),
        CfgExpr::Not(it) => features(it, !is_wanted, on, off),
    }
}

/// The flags that a condition wants, and those that it does not.
fn flags(condition: &CfgExpr, is_wanted: bool, on: &mut BTreeSet<CfgAtom>, off: &mut BTreeSet<CfgAtom>) {
    match condition {
        CfgExpr::Invalid => {}
        CfgExpr::Atom(it) => {
            let is_feature = matches!(it, CfgAtom::KeyValue { key, .. } if key.as_str() == "feature");
            let is_test = matches!(it, CfgAtom::Flag(name) if matches!(name.as_str(), "test" | "true" | "false"));
            if !is_feature && !is_test && !is_of_system(it) {
                if is_wanted {
                    on.insert(it.clone())
                } else {
                    off.insert(it.clone())
                };
            }
        }
        CfgExpr::All(all) | CfgExpr::Any(all) => all.iter().for_each(|it| flags(it, is_wanted, on, off)),
        CfgExpr::Not(it) => flags(it, !is_wanted, on, off),
    }
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
