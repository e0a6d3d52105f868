//! Which further builds there are: those that the configuration lists, and those that compile most of the lines that the
//! default build leaves out.

use std::collections::{BTreeMap, BTreeSet};

use super::FurtherBuild;
use crate::build_constraints::{BuildContext, constraints, is_arch, is_os, tags};
use crate::layout::Layout;
use semdex_config::{Builds, GoBuild};
use semdex_engine::files::File;

const MOST_BUILDS: usize = 4;
/// Of a file with more tags, only the first are tried together.
const MOST_TAGS: usize = 6;

/// Tags that `-tags` does not set, or that mean that no build has the file.
fn is_fixed(tag: &str) -> bool {
    matches!(tag, "cgo" | "gc" | "gccgo" | "ignore" | "msan" | "asan" | "unix") || tag.starts_with("go1.")
}

/// The listed builds, and builds for the files that the default build leaves out.
pub(super) fn choose(wanted: &Builds<GoBuild>, default: &BuildContext, layout: &Layout) -> Vec<FurtherBuild> {
    let mut chosen: Vec<FurtherBuild> =
        wanted.listed.iter().map(|it| FurtherBuild::new(default, listed(default, it), BTreeSet::new())).collect();
    if !wanted.are_chosen {
        return chosen;
    }
    let left_out = layout.left_out().map(|it| &**it).filter(|file| !chosen.iter().any(|it| it.takes(file)));
    let left_out: Vec<&File> = left_out.collect();
    let mut left: Vec<&File> = left_out.clone();
    let mut candidates: BTreeSet<BuildContext> = BTreeSet::new();
    let mut known: BTreeMap<Vec<&str>, Vec<BuildContext>> = BTreeMap::new();
    for file in &left_out {
        let constraints = constraints(&file.path, &file.text);
        let fitting = known.entry(constraints.clone()).or_insert_with(|| fitting(default, file, &constraints));
        candidates.extend(fitting.iter().cloned());
    }
    let all_tags = candidates.iter().filter(|it| (&it.goos, &it.goarch) == (&default.goos, &default.goarch));
    let all_tags = all_tags.flat_map(|it| it.tags.iter().cloned()).collect();
    let together = BuildContext { tags: all_tags, cgo: false, ..default.clone() };
    if !declares_twice(&together, layout) {
        candidates.insert(together);
    }
    let most = chosen.len() + MOST_BUILDS;
    while chosen.len() < most {
        let lines = |it: &BuildContext| {
            let taken = left.iter().filter(|file| it.takes(&file.path, &file.text));
            taken.map(|file| file.text.lines().count()).sum::<usize>()
        };
        // Of equal builds that which differs least, then the first.
        let rated = candidates.iter().map(|it| (lines(it), std::cmp::Reverse(distance(default, it)), it));
        let Some((lines, _, best)) = rated.rev().max_by_key(|it| (it.0, it.1)) else { break };
        if lines == 0 {
            break;
        }
        let best = best.clone();
        left.retain(|it| !best.takes(&it.path, &it.text));
        chosen.push(FurtherBuild::new(default, best, BTreeSet::new()));
    }
    let ignoring = BuildContext { tags: BTreeSet::from(["ignore".to_owned()]), cgo: false, ..default.clone() };
    let programs = left.iter().filter(|it| ignoring.takes(&it.path, &it.text)).map(|it| it.path.to_string());
    let programs: BTreeSet<String> = programs.collect();
    if !programs.is_empty() {
        chosen.push(FurtherBuild::new(default, BuildContext { cgo: false, ..default.clone() }, programs));
    }
    chosen
}

fn listed(default: &BuildContext, build: &GoBuild) -> BuildContext {
    let goos = build.goos.as_ref().unwrap_or(&default.goos).clone();
    let usual = machines_of(&goos).first().filter(|_| !exists(&goos, &default.goarch)).map(|it| (*it).to_owned());
    let goarch = build.goarch.clone().or(usual).unwrap_or_else(|| default.goarch.clone());
    let tags = default.tags.iter().chain(&build.tags).cloned().collect();
    BuildContext { goos, goarch, tags, cgo: false, ..default.clone() }
}

/// In how many ways a build differs from the default one.
fn distance(default: &BuildContext, it: &BuildContext) -> usize {
    usize::from(it.goos != default.goos)
        + usize::from(it.goarch != default.goarch)
        + it.tags.symmetric_difference(&default.tags).count()
}

/// The builds that take a file and differ least from the default one.
fn fitting(default: &BuildContext, file: &File, constraints: &[&str]) -> Vec<BuildContext> {
    let mentioned = tags(constraints);
    let systems = mentioned.iter().copied().filter(|it| is_os(it)).chain([&*default.goos, "darwin", "windows"]);
    let systems: BTreeSet<&str> = systems.collect();
    let machines: BTreeSet<&str> =
        mentioned.iter().copied().filter(|it| is_arch(it)).chain([&*default.goarch]).collect();
    let own = mentioned.iter().copied().filter(|it| !is_os(it) && !is_arch(it) && !is_fixed(it));
    let own: Vec<&str> = own.take(MOST_TAGS).collect();
    let mut sets: Vec<Vec<&str>> = vec![Vec::new(), own.clone()];
    sets.extend(own.iter().map(|it| vec![*it]));
    sets.extend(own.iter().enumerate().flat_map(|(at, a)| own.iter().skip(at + 1).map(move |b| vec![*a, *b])));
    let mut found: BTreeMap<usize, BTreeSet<BuildContext>> = BTreeMap::new();
    for system in systems {
        let first = machines_of(system).first().filter(|_| !machines.iter().any(|it| exists(system, it))).copied();
        for machine in machines.iter().copied().chain(first).filter(|it| exists(system, it)) {
            for set in &sets {
                let tags = default.tags.iter().cloned().chain(set.iter().map(|it| (*it).to_owned())).collect();
                let (goos, goarch) = (system.to_owned(), machine.to_owned());
                let context = BuildContext { goos, goarch, tags, cgo: false, ..default.clone() };
                if context.takes(&file.path, &file.text) {
                    found.entry(distance(default, &context)).or_default().insert(context);
                }
            }
        }
    }
    found.into_values().next().into_iter().flatten().collect()
}

/// Whether a build would have two declarations of one name in a package: its tags exclude each other.
fn declares_twice(context: &BuildContext, layout: &Layout) -> bool {
    let mut known: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let directories: BTreeSet<&str> = layout.left_out().map(|it| crate::modules::parent(&it.path)).collect();
    let mut files = directories.iter().flat_map(|it| layout.files_in(it)).filter_map(|it| layout.files.get(it));
    files.any(|file| {
        let clause = crate::syntax::package_clause(&file.text).unwrap_or_default();
        let directory = crate::modules::parent(&file.path);
        let is_taken = context.takes(&file.path, &file.text);
        let items = file.outline().items.iter().filter(|it| is_taken && it.container.is_empty());
        let mut named = items.filter(|it| !matches!(it.name.as_str(), "_" | "init"));
        named.any(|it| !known.insert((directory, clause, &it.name)))
    })
}

fn exists(system: &str, machine: &str) -> bool {
    machines_of(system).contains(&machine)
}

/// The values of GOARCH for a GOOS, from `go tool dist list`; the usual one first.
fn machines_of(system: &str) -> &'static [&'static str] {
    match system {
        "aix" => &["ppc64"],
        "android" => &["arm64", "386", "amd64", "arm"],
        "darwin" | "ios" => &["arm64", "amd64"],
        "dragonfly" | "illumos" | "solaris" => &["amd64"],
        "freebsd" => &["amd64", "386", "arm", "arm64"],
        "js" | "wasip1" => &["wasm"],
        "linux" => &[
            "amd64", "386", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
            "riscv64", "s390x",
        ],
        "netbsd" => &["amd64", "386", "arm", "arm64"],
        "openbsd" => &["amd64", "386", "arm", "arm64", "ppc64", "riscv64"],
        "plan9" => &["amd64", "386", "arm"],
        "windows" => &["amd64", "386", "arm64"],
        _ => &[],
    }
}
