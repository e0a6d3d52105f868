//! Which further builds a Cargo workspace gets: those that the configuration lists, and those that switch on most lines
//! of the code that the default build does not compile.

use std::collections::{BTreeSet, HashMap, HashSet};

use ra_ap_cfg::{CfgAtom, CfgExpr};
use ra_ap_hir_expand::intern::Symbol;
use ra_ap_paths::{AbsPath, AbsPathBuf};
use ra_ap_project_model::{CargoWorkspace, ManifestPath, ProjectWorkspace};
use ra_ap_syntax::{AstNode as _, Edition, SourceFile};
use semdex_config::{BuildFeatures, RustBuild};
use semdex_engine::files::Files;
use semdex_text::words::{has_word, words};
use serde_json::Value;

use super::conditions::{conditions, of_modules_around};
use crate::LANGUAGE;
use crate::names::builds::{is_of_system, text_of};

/// The conditions of a build. By default the conditions of the default build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) features: Chosen,
    /// An index in the list of systems.
    pub(super) system: Option<usize>,
    pub(super) on: Vec<CfgAtom>,
    pub(super) off: Vec<CfgAtom>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Chosen {
    #[default]
    Default,
    All,
    /// Not even the default features.
    None,
    /// Besides the features of the default build.
    Named(Vec<String>),
    /// Without the default features.
    Only(Vec<String>),
    /// All features of the default build that do not turn on one of these.
    Without {
        off: Vec<String>,
        left: Vec<String>,
    },
}

/// Code that the default build does not compile.
pub(super) struct Excluded {
    /// An index in the list of packages.
    package: usize,
    pub(super) condition: CfgExpr,
    lines: usize,
}

/// The features of a package, and what its build script sets.
pub(super) struct PackageFacts {
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

pub(super) fn packages_of(cargo: &CargoWorkspace, messages: &[u8]) -> Vec<PackageFacts> {
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

pub(super) fn excluded(
    texts: &Files,
    root: &AbsPath,
    workspace: &ProjectWorkspace,
    packages: &[PackageFacts],
) -> Vec<Excluded> {
    let choice = Choice::default();
    let (mut of_files, mut modules) = (Vec::new(), Vec::new());
    for file in texts.of(LANGUAGE).filter(|it| !it.is_too_deep()) {
        if !["cfg", "cfg_attr", "cfg_select"].iter().any(|it| has_word(&file.text, it)) {
            continue;
        }
        let path = root.join(&*file.path);
        let around = packages.iter().enumerate().filter(|it| path.starts_with(&it.1.directory));
        let Some((package, _)) = around.max_by_key(|it| it.1.directory.as_str().len()) else { continue };
        let tree = SourceFile::parse(&file.text, Edition::CURRENT).tree();
        let conditions = conditions(texts, &file.path, tree.syntax());
        modules.extend(conditions.modules);
        of_files.push((file, package, conditions.all));
    }
    let mut found = Vec::new();
    for (file, package, conditions) in of_files {
        let around = of_modules_around(&file.path, &modules);
        for (condition, lines) in conditions {
            let condition = CfgExpr::All(around.iter().cloned().chain([condition]).collect());
            if !choice.may_hold(&condition, &packages[package], workspace, &[]) {
                found.push(Excluded { package, condition, lines });
            }
        }
    }
    found
}

/// Target triples with the conditions that hold for each.
pub(super) type Systems = [(String, Vec<CfgAtom>)];

impl Choice {
    /// A build that the configuration lists. Its system joins the others.
    pub(super) fn listed(
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
                    Chosen::Only(names) | Chosen::Without { left: names, .. } => {
                        package.is_turned_on(names, value.as_str())
                    }
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

    pub(super) fn name(&self, systems: &Systems) -> String {
        let named = |names: &[String]| names.iter().map(|it| format!("feature={it}")).collect::<Vec<_>>().join(",");
        let features = match &self.features {
            Chosen::Default => None,
            Chosen::All => Some("features=all".to_owned()),
            Chosen::None => Some("features=none".to_owned()),
            Chosen::Named(names) => Some(named(names)),
            Chosen::Only(names) => Some(format!("features=none,{}", named(names))),
            Chosen::Without { off, .. } => {
                Some(off.iter().map(|it| format!("not(feature={it})")).collect::<Vec<_>>().join(","))
            }
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
/// since only these have diagnostics; what needs no flag counts for no build with flags. Code of other features that is
/// left over is then compiled by the builds for other systems and with flags, as far as they lose nothing by it.
pub(super) fn choose(
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
    for place in listed.len()..chosen.len() {
        if chosen[place].kind() > 0
            && let Some(better) = with_other_features(place, &chosen, excluded, packages, &holds)
        {
            chosen[place] = better;
        }
    }
    chosen
}

/// The same build with other features, with which it compiles also code that none of the chosen ones does, and all that
/// only it does.
fn with_other_features(
    place: usize,
    chosen: &[Choice],
    excluded: &[Excluded],
    packages: &[PackageFacts],
    holds: &dyn Fn(&Choice, &Excluded) -> bool,
) -> Option<Choice> {
    let by_others = |it: &Excluded| chosen.iter().enumerate().any(|(at, of)| at != place && holds(of, it));
    let (own, left): (Vec<&Excluded>, Vec<&Excluded>) =
        excluded.iter().filter(|it| !by_others(it)).partition(|it| holds(&chosen[place], it));
    let mut features = vec![Chosen::All, Chosen::None];
    for it in &left {
        let [_, off] = wanted(&it.condition, feature);
        if !off.is_empty() {
            let other = without(off, packages);
            if !features.contains(&other) {
                features.push(other);
            }
        }
    }
    let candidates = features.into_iter().map(|features| Choice { features, ..chosen[place].clone() });
    let gain = |it: &Choice| left.iter().filter(|code| holds(it, code)).map(|it| it.lines).sum::<usize>();
    let candidates = candidates.filter(|it| own.iter().all(|code| holds(it, code))).map(|it| (gain(&it), it));
    let better = candidates.filter(|it| it.0 > 0).reduce(|best, it| if it.0 > best.0 { it } else { best });
    better.map(|it| it.1)
}

fn without(off: BTreeSet<String>, packages: &[PackageFacts]) -> Chosen {
    let turns_on_one =
        |of: &PackageFacts, feature: &String| off.iter().any(|off| of.is_turned_on(std::slice::from_ref(feature), off));
    let active = packages.iter().flat_map(|of| of.active.iter().map(move |it| (of, it)));
    let left: BTreeSet<&String> = active.filter(|(of, it)| !turns_on_one(of, it)).map(|it| it.1).collect();
    Chosen::Without { left: left.into_iter().cloned().collect(), off: off.into_iter().collect() }
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
        let [on, off] = wanted(&it.condition, feature);
        if on.is_empty() && !off.is_empty() {
            add(Choice { features: without(off, packages), ..plain.clone() });
        } else if !on.is_empty() && !off.is_empty() {
            // All features would switch it off.
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
        let [on, off] = wanted(&it.condition, flag);
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

/// What a condition wants of one kind of atoms, and what it does not want.
fn wanted<T: Ord>(condition: &CfgExpr, of_kind: fn(&CfgAtom) -> Option<T>) -> [BTreeSet<T>; 2] {
    fn walk<T: Ord>(
        condition: &CfgExpr,
        is_wanted: bool,
        of_kind: fn(&CfgAtom) -> Option<T>,
        found: &mut [BTreeSet<T>; 2],
    ) {
        match condition {
            CfgExpr::Invalid => {}
            CfgExpr::Atom(it) => found[usize::from(!is_wanted)].extend(of_kind(it)),
            CfgExpr::All(all) | CfgExpr::Any(all) => all.iter().for_each(|it| walk(it, is_wanted, of_kind, found)),
            CfgExpr::Not(it) => walk(it, !is_wanted, of_kind, found),
        }
    }
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    walk(condition, true, of_kind, &mut found);
    found
}

fn feature(atom: &CfgAtom) -> Option<String> {
    match atom {
        CfgAtom::KeyValue { key, value } if key.as_str() == "feature" => Some(value.as_str().to_owned()),
        _ => None,
    }
}

/// A condition that is neither a feature nor one of a system, nor set by Cargo.
fn flag(atom: &CfgAtom) -> Option<CfgAtom> {
    let is_set_by_cargo = matches!(atom, CfgAtom::Flag(name) if matches!(name.as_str(), "test" | "true" | "false"));
    let is_flag = feature(atom).is_none() && !is_set_by_cargo && !is_of_system(atom);
    is_flag.then(|| atom.clone())
}
