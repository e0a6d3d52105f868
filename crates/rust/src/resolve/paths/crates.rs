//! The names of crates, which are unique.
//!
//! If several targets of the workspace have the same name, the library has the plain name. Other targets have their
//! kind before it, and also their package if necessary: `bin@rg`, `test@grep-cli/integration`. Of several versions of a
//! dependency one has the plain name, and others are `name@1.2.3`, as in Cargo's package specifications. A plain name
//! has the meaning that the workspace's own members give it: a test target `tests/serde.rs` does not take it from the
//! dependency.
//!
//! A package that several Cargo workspaces load is one crate for each of them. These twins share one name. A path that
//! begins with it is looked up in the first of them that has it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ra_ap_hir::Crate;
use ra_ap_ide_db::base_db::CrateOrigin;

use crate::index::CrateNames;
use crate::names::definitions::{plain_name, with_ordinal};
use crate::names::instances;
use crate::view::Context;
use semdex_model::Origin;

/// The kinds of targets, as they are written before `@`.
pub(crate) const TARGETS: [&str; 6] = ["lib", "bin", "example", "test", "bench", "build"];

/// The possible names of a crate, the shortest first.
struct Called {
    krate: Crate,
    forms: Vec<String>,
    /// Decides which of several crates gets the shorter name: the dependency of more members, then by file name.
    rank: (u8, Reverse<usize>, String),
}

/// A crate's name, made unique if several crates share it.
pub(crate) fn crate_name(cx: &Context<'_>, krate: Crate) -> String {
    let names = crate_names(cx);
    // A crate of a further build has the name that it has in the default build.
    let printed = names.printed.get(&krate).or_else(|| names.printed.get(&instances::first_like(cx.db, krate)));
    printed.cloned().unwrap_or_else(|| name_of_further(cx, names, krate))
}

/// The name of a crate that only further builds have.
fn name_of_further(cx: &Context<'_>, names: &CrateNames, krate: Crate) -> String {
    let name = plain_name_of(cx, krate);
    let version = krate.version(cx.db).filter(|_| names.by_printed.contains_key(&name));
    version.map(|it| format!("{name}@{it}")).unwrap_or(name)
}

fn plain_name_of(cx: &Context<'_>, krate: Crate) -> String {
    let name = krate.display_name(cx.db);
    name.map_or_else(|| "_".to_owned(), |it| plain_name(it.crate_name().symbol().as_str()).to_owned())
}

/// The crates that a first segment may mean, in the order in which they are searched: the crate with this printed name,
/// the workspace's own, the members' dependencies with that name. Other crates count only if there are none of these.
pub(crate) fn crates_named(cx: &Context<'_>, name: &str) -> Vec<Vec<Crate>> {
    let names = crate_names(cx);
    let printed = names.by_printed.get(name).copied();
    let same = names.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
    let forms = names.by_form.get(name).map(Vec::as_slice).unwrap_or_default();
    let local = same.iter().chain(forms).copied().filter(|it| it.origin(cx.db).is_local()).collect();
    let dependencies = names.by_dependency.get(name).cloned().unwrap_or_default();
    let is_near = |it: &Crate| it.origin(cx.db).is_local() || dependencies.contains(it);
    let mut tiers = if printed.is_some_and(|it| is_near(&it)) || dependencies.is_empty() {
        vec![printed.into_iter().collect(), local, dependencies.clone()]
    } else {
        vec![local, dependencies.clone()]
    };
    if !tiers.iter().flatten().any(is_near) {
        tiers.extend([forms.to_vec(), same.to_vec()]);
    }
    let mut seen: HashSet<Crate> = HashSet::new();
    for tier in &mut tiers {
        tier.retain(|it| seen.insert(*it));
    }
    tiers.retain(|it: &Vec<Crate>| !it.is_empty());
    tiers
}

fn crate_names<'c>(cx: &'c Context<'_>) -> &'c CrateNames {
    cx.names.crates.get_or_init(|| cx.index.crate_names(|| name_crates(cx)))
}

fn name_crates(cx: &Context<'_>) -> CrateNames {
    let db = cx.db;
    let (all, twins): (Vec<Crate>, Vec<Crate>) =
        instances::default_crates(db).into_iter().partition(|it| instances::first_like(db, *it) == *it);
    let local = all.iter().chain(&twins).filter(|it| it.origin(db).is_local());
    let mut names = CrateNames::default();
    let mut near: HashMap<Crate, usize> = HashMap::new();
    for dependency in local.flat_map(|it| it.dependencies(db)) {
        let name = plain_name(dependency.name.as_str()).to_owned();
        *near.entry(instances::first_like(db, dependency.krate)).or_default() += 1;
        let same = names.by_dependency.entry(name).or_default();
        if !same.contains(&dependency.krate) {
            same.push(dependency.krate);
        }
    }
    let mut shared: BTreeMap<String, Vec<Crate>> = BTreeMap::new();
    for krate in all {
        shared.entry(plain_name_of(cx, krate)).or_default().push(krate);
    }
    for (name, crates) in shared {
        // The kind of a target is part of its name only if that is necessary.
        let is_alone = crates.iter().filter(|it| it.origin(db).is_local()).count() == 1;
        let foreign = |it: &Crate| !it.origin(db).is_local();
        let is_dependency = names.by_dependency.get(&name).is_some_and(|it| it.iter().any(foreign));
        let is_plain = is_alone && !is_dependency && !name.starts_with("build_script_");
        let mut group: Vec<Called> = Vec::new();
        for krate in crates {
            let mut called = crate_called(cx, krate, &name, is_plain, near.get(&krate).copied().unwrap_or_default());
            // A member may have given the name to another crate.
            let is_it = |it: &Crate| instances::first_like(db, *it) == krate;
            let is_others = names.by_dependency.get(&name).is_some_and(|it| !it.iter().any(is_it));
            if is_others && foreign(&krate) && called.forms.len() > 1 {
                called.forms.remove(0);
            }
            group.push(called);
        }
        group.sort_by(|a, b| a.rank.cmp(&b.rank));
        for called in &group {
            for form in &called.forms {
                names.by_form.entry(form.clone()).or_default().push(called.krate);
            }
        }
        for called in &group {
            // Of targets with the same name each gets its package; of versions the nearest one gets the plain name.
            let is_shared = |form: &str| form.contains('@') && names.by_form.get(form).is_some_and(|it| it.len() > 1);
            let is_free = |form: &str| !names.by_printed.contains_key(form);
            let own = called.forms.iter().find(|it| is_free(it) && !is_shared(it)).cloned();
            let printed = own.unwrap_or_else(|| {
                let last = called.forms.last().cloned().unwrap_or_default();
                (1..).map(|nth| with_ordinal(last.clone(), nth)).find(|it| is_free(it)).unwrap_or_default()
            });
            names.by_printed.insert(printed.clone(), called.krate);
            names.printed.insert(called.krate, printed);
        }
        names.by_name.insert(name, group.into_iter().map(|it| it.krate).collect());
    }
    for twin in twins {
        let first = instances::first_like(db, twin);
        let with_first = names.by_name.values_mut().chain(names.by_form.values_mut()).filter(|it| it.contains(&first));
        with_first.for_each(|it| it.push(twin));
        let printed = names.printed.get(&first).cloned().unwrap_or_default();
        names.printed.insert(twin, printed);
    }
    names
}

fn crate_called(cx: &Context<'_>, krate: Crate, name: &str, is_plain: bool, dependents: usize) -> Called {
    let db = cx.db;
    let root = cx.name_of(krate.root_file(db)).unwrap_or_default();
    match krate.origin(db) {
        CrateOrigin::Local { .. } if is_plain => {
            Called { krate, forms: vec![name.to_owned()], rank: (LIBRARY, Reverse(0), root) }
        }
        CrateOrigin::Local { .. } => {
            let env = krate.base().env(db);
            let package = env.get("CARGO_PKG_NAME").unwrap_or_else(|| name.to_owned());
            let kind = target_kind(cx, &root, env.get("CARGO_MANIFEST_DIR"));
            let forms = match kind {
                "lib" => vec![name.to_owned(), format!("lib@{package}/{name}")],
                "build" => vec![format!("build@{}", package.replace('-', "_"))],
                kind => vec![format!("{kind}@{name}"), format!("{kind}@{package}/{name}")],
            };
            let rank = if kind == "lib" { LIBRARY } else { OTHER_TARGET };
            Called { krate, forms, rank: (rank, Reverse(dependents), root) }
        }
        origin => {
            let version = krate.version(db).map(|it| format!("{name}@{it}"));
            let rank = match origin {
                _ if dependents > 0 => OTHER_TARGET + 1,
                CrateOrigin::Lang(_) => OTHER_TARGET + 2,
                _ => OTHER_TARGET + 3,
            };
            Called {
                krate,
                forms: std::iter::once(name.to_owned()).chain(version).collect(),
                rank: (rank, Reverse(dependents), root),
            }
        }
    }
}

/// The kind of a crate's target: by Cargo's conventions, or from its manifest.
/// Whether other crates may depend on a crate and name its items: whether it is a library, and not of macros.
pub(crate) fn is_library(cx: &Context<'_>, krate: Crate) -> bool {
    let root = cx.name_of(krate.root_file(cx.db)).unwrap_or_default();
    let kind = target_kind(cx, &root, krate.base().env(cx.db).get("CARGO_MANIFEST_DIR"));
    kind == "lib" && !krate.base().data(cx.db).is_proc_macro
}

fn target_kind(cx: &Context<'_>, root: &str, manifest_dir: Option<String>) -> &'static str {
    let directory = manifest_dir.unwrap_or_default();
    let directory = match directory.strip_prefix(cx.root.as_str()) {
        Some(below) => below.trim_start_matches('/'),
        None => &directory,
    };
    let path = root.strip_prefix(directory).unwrap_or(root).trim_start_matches('/');
    match path {
        "src/lib.rs" => return "lib",
        "src/main.rs" => return "bin",
        _ => {}
    }
    let manifest = if directory.is_empty() { "Cargo.toml".to_owned() } else { format!("{directory}/Cargo.toml") };
    let manifest = cx.files.get(&manifest).and_then(|it| it.text.parse::<toml::Table>().ok());
    if let Some(kind) = manifest.and_then(|it| declared_kind(&it, path)) {
        return kind;
    }
    match path.split('/').collect::<Vec<_>>()[..] {
        ["tests", ..] => "test",
        ["examples", ..] => "example",
        ["benches", ..] => "bench",
        ["src", "bin", ..] => "bin",
        ["build.rs"] => "build",
        _ => "lib",
    }
}

const LIBRARY: u8 = 0;
const OTHER_TARGET: u8 = 1;

/// The kind of the target whose file a manifest names.
fn declared_kind(manifest: &toml::Table, path: &str) -> Option<&'static str> {
    let is_path = |target: &toml::Value| {
        let named = target.get("path").and_then(toml::Value::as_str);
        named.is_some_and(|it| it.trim_start_matches("./") == path)
    };
    let package = manifest.get("package");
    if package.and_then(|it| it.get("build")).and_then(toml::Value::as_str) == Some(path) {
        return Some("build");
    }
    if manifest.get("lib").is_some_and(is_path) {
        return Some("lib");
    }
    let listed = |kind: &&str| {
        manifest.get(*kind).and_then(toml::Value::as_array).is_some_and(|targets| targets.iter().any(is_path))
    };
    ["bin", "example", "test", "bench"].into_iter().find(listed)
}

/// The origin of a file that answers name by its absolute path.
pub(crate) fn origin_of(cx: &Context<'_>, krate: Crate, file: &str) -> Option<Arc<Origin>> {
    if !file.starts_with('/') {
        return None;
    }
    let env = krate.base().env(cx.db);
    let package = env.get("CARGO_PKG_NAME").unwrap_or_else(|| crate_name(cx, krate));
    let root = env.get("CARGO_MANIFEST_DIR").filter(|it| !it.is_empty()).unwrap_or_else(|| directory(cx, krate));
    Some(Arc::new(Origin { package, version: version_of(cx, krate), root }))
}

/// The version in Cargo's metadata. The packages of the standard library have none; for them it is the toolchain's.
pub(crate) fn version_of(cx: &Context<'_>, krate: Crate) -> Option<String> {
    match krate.origin(cx.db) {
        CrateOrigin::Lang(_) => krate.base().workspace_data(cx.db).toolchain.as_ref().map(ToString::to_string),
        _ => krate.version(cx.db),
    }
}

/// The directory of a package that is missing from Cargo's metadata: the parent of `src`, else the directory of the
/// crate's root file.
fn directory(cx: &Context<'_>, krate: Crate) -> String {
    let file = cx.name_of(krate.root_file(cx.db)).unwrap_or_default();
    let directory = file.rsplit_once('/').map_or("", |it| it.0);
    directory.strip_suffix("/src").unwrap_or(directory).to_owned()
}
