//! Further builds: what the default build leaves out is compiled for other systems and with other tags, as `[go] builds`
//! lists them or as the build constraints in the workspace ask for. A second checker
//! (`Session::further`) keeps their packages; it is started when the default build has answered.

pub(crate) mod breaks;
mod choice;
pub(crate) mod places;
pub(crate) mod renames;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::build_constraints::{BuildContext, constraints, is_arch, is_os, tags};
use super::layout::Layout;
use super::modules::base_name;
use semdex_config::{Builds, GoBuild};
use semdex_engine::files::File;
use semdex_model::{Missing, MissingCode};

/// A build besides the default one. It runs no cgo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FurtherBuild {
    pub context: BuildContext,
    /// Files that no build has (`//go:build ignore`), each compiled as a program of its own, for the default system.
    pub programs: BTreeSet<String>,
    /// What differs from the default build: `GOOS=windows`, `tags=integration`.
    pub name: String,
}

/// The further builds of a workspace, the ones that switch on most lines first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FurtherBuilds(pub Vec<FurtherBuild>);

/// The further builds, and what they were chosen for: the files that the default build leaves out, with what excludes
/// them.
#[derive(Debug)]
pub(crate) struct Choice {
    default: BuildContext,
    left_out: Vec<(Arc<str>, String)>,
    pub builds: Arc<FurtherBuilds>,
}

impl Choice {
    pub(crate) fn of(wanted: &Builds<GoBuild>, default: BuildContext, layout: &Layout) -> Choice {
        let builds = Arc::new(FurtherBuilds(choice::choose(wanted, &default, layout)));
        Choice { left_out: left_out(layout), default, builds }
    }

    /// Whether the same would be chosen. Lengths of files alone change no choice.
    pub(crate) fn holds(&self, default: &BuildContext, layout: &Layout) -> bool {
        self.default == *default && self.left_out == left_out(layout)
    }
}

fn left_out(layout: &Layout) -> Vec<(Arc<str>, String)> {
    layout.left_out().map(|it| (it.path.clone(), constraints(&it.path, &it.text).join("\n"))).collect()
}

impl FurtherBuild {
    fn new(default: &BuildContext, context: BuildContext, programs: BTreeSet<String>) -> FurtherBuild {
        let all = |_: &str| true;
        let name = if programs.is_empty() { differences(default, &context, all).join(",") } else { IGNORED.to_owned() };
        FurtherBuild { context, programs, name }
    }

    pub(crate) fn takes(&self, file: &File) -> bool {
        self.programs.contains(&*file.path) || self.context.takes(&file.path, &file.text)
    }

    /// What differs from the default build, and what the constraints of a file ask for.
    fn name_at(&self, default: &BuildContext, file: &File) -> String {
        let constraints = constraints(&file.path, &file.text);
        let mentioned = tags(&constraints);
        let asks_for = |it: &str| match it {
            GOOS => mentioned.iter().any(|it| is_os(it) || *it == "unix"),
            GOARCH => mentioned.iter().any(|it| is_arch(it)),
            tag => mentioned.contains(tag),
        };
        let asked = differences(default, &self.context, asks_for);
        if asked.is_empty() { self.name.clone() } else { asked.join(",") }
    }
}

const GOOS: &str = "GOOS";
const GOARCH: &str = "GOARCH";
/// The name of the build of programs that no build has.
const IGNORED: &str = "tags=ignore";

/// What is set in a build and not in the default one, as far as it is asked for.
fn differences(default: &BuildContext, it: &BuildContext, is_asked: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    if it.goos != default.goos && is_asked(GOOS) {
        found.push(format!("GOOS={}", it.goos));
    }
    // A system may have only other machines than this one.
    if it.goarch != default.goarch && is_asked(GOARCH) {
        found.push(format!("GOARCH={}", it.goarch));
    }
    let tags: Vec<&str> = it.tags.difference(&default.tags).map(String::as_str).filter(|it| is_asked(it)).collect();
    if !tags.is_empty() {
        found.push(format!("tags={}", tags.join(",")));
    }
    found
}

impl FurtherBuilds {
    /// The builds that include a file, with their numbers.
    pub(crate) fn with(&self, file: &File) -> impl Iterator<Item = (usize, &FurtherBuild)> {
        self.0.iter().enumerate().filter(|it| it.1.takes(file))
    }

    /// The name of the first build that includes a file which the default build leaves out.
    pub(crate) fn name_at(&self, default: &BuildContext, file: &File) -> Option<String> {
        self.with(file).next().map(|(_, it)| it.name_at(default, file))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|it| it.name.clone()).collect()
    }
}

/// Code that only a further build compiles, which is not read yet, or will not be.
pub(crate) fn unread(build: &FurtherBuild, is_given_up: bool) -> Missing {
    if is_given_up {
        let detail =
            format!("code that only {} compiles is not read: memory is short, or it cannot be loaded", build.name);
        return Missing::new(MissingCode::CfgOff, build.name.clone(), detail);
    }
    let detail = format!("code that only {} compiles is not read yet", build.name);
    Missing::being_read(build.name.clone(), detail)
}

/// A name in a file that a further build does not resolve.
fn unresolved(build: &FurtherBuild, file: &str, name: &str) -> Missing {
    let detail = format!("what `{name}` means in {} is not known in the build {}", base_name(file), build.name);
    Missing::new(MissingCode::WorkspaceBroken, file, detail)
}
