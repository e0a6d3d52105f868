//! The usages in one build alone.

use std::collections::BTreeMap;

use ra_ap_base_db::{Crate as CrateId, further_build};
use ra_ap_ide::FileId;
use ra_ap_ide_db::defs::Definition;
use rustc_hash::FxHashSet;

use super::target_usages::TargetUsages;
use crate::index::file_names::{Collector, StoredResolution};
use crate::index::search::Occurrence;
use crate::names::builds::{DOCTEST, name_at};
use crate::names::{Target, UnresolvedReason, all_instances, instances};
use crate::resolve::alternatives::{Reach, with_alternatives};
use crate::view::Context;
use semdex_engine::Result;
use semdex_model::{Code, Error};

/// The name of the default build in requests.
const DEFAULT: &str = "default";

/// Keeps what a build compiles. Returns the builds that the answer covers besides the default build.
pub(super) fn narrow<'db>(
    cx: &Context<'db>,
    definition: Definition<'db>,
    build: &str,
    found: &mut TargetUsages,
) -> Result<Vec<String>> {
    // No build has these.
    found.outside.clear();
    found.possible.retain(|it| it.1 != UnresolvedReason::OutsideBuilds);
    let is_in_doctest = |it: &Occurrence| it.is_in_doctest(cx.db);
    if build == DEFAULT || build == DOCTEST {
        let is_kept = |it: &Occurrence| if build == DEFAULT { it.build.is_none() } else { is_in_doctest(it) };
        found.items.retain(is_kept);
        found.possible.retain(|(it, why)| is_kept(it) && *why != UnresolvedReason::Inactive);
        return Ok(Vec::new());
    }
    let builds = &cx.environment.builds;
    let build = builds.names.iter().find(|it| *it == build).cloned().or_else(|| build_of_place(cx, build, found));
    let Some(build) = build else {
        if builds.are_pending && builds.names.is_empty() {
            let detail = "further builds are still being made: ask again, or give a longer `wait_ms`";
            return Err(Error::new(Code::NotReady, detail).into());
        }
        let known: Vec<String> =
            [DEFAULT.to_owned(), DOCTEST.to_owned()].into_iter().chain(builds.names.clone()).collect();
        let list = known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let detail = format!("`build`: the workspace has no such build. There are {list}");
        return Err(Error::new(Code::InvalidRequest, detail).suggesting(known).into());
    };
    let group = with_alternatives(cx, definition, Reach::All);
    let targets: Vec<Target> = group.into_iter().filter_map(|it| Target::new(it, cx.db)).collect();
    let of_build = |id: FileId| -> Vec<CrateId> {
        let owners = instances::further_owners(cx.db, id);
        let is_of_it = |it: &&CrateId| further_build(cx.db, **it).is_some_and(|it| it.as_str() == build);
        owners.iter().filter(is_of_it).copied().collect()
    };
    // The files that this build compiles differently, each with the names that it gives a meaning.
    let mut read: BTreeMap<FileId, Option<InBuild>> = BTreeMap::new();
    for id in found.items.iter().chain(found.possible.iter().map(|it| &it.0)).map(|it| it.id) {
        read.entry(id).or_insert_with(|| {
            let crates = of_build(id);
            let all = || found.items.iter().chain(found.possible.iter().map(|it| &it.0)).filter(|it| it.id == id);
            (!crates.is_empty()).then(|| InBuild::read(cx, id, &crates, all(), &targets))
        });
    }
    let in_build = |it: &Occurrence| read.get(&it.id).and_then(Option::as_ref);
    found.items.retain(|it| match in_build(it) {
        // A name in the definition of a macro has its meaning where the macro is called.
        Some(of_file) if it.calls.is_none() => of_file.named.contains(&it.at.start),
        _ => it.build.is_none(),
    });
    found.possible.retain(|(it, why)| match in_build(it) {
        Some(of_file) => of_file.unresolved.contains(&it.at.start),
        None => it.build.is_none() && *why != UnresolvedReason::Inactive,
    });
    Ok(vec![build])
}

/// The build that an answer names at one of these places.
fn build_of_place(cx: &Context<'_>, shown: &str, found: &TargetUsages) -> Option<String> {
    found.items.iter().find_map(|it| {
        let krate = it.build.filter(|krate| name_at(cx.db, *krate, it.id, it.at.start) == shown)?;
        further_build(cx.db, krate).map(|it| it.as_str().to_owned())
    })
}

/// What the places of a file mean in a build.
#[derive(Default)]
struct InBuild {
    /// The places that name the target.
    named: FxHashSet<usize>,
    unresolved: FxHashSet<usize>,
}

impl InBuild {
    fn read<'a>(
        cx: &Context<'_>,
        file: FileId,
        crates: &[CrateId],
        places: impl Iterator<Item = &'a Occurrence>,
        targets: &[Target],
    ) -> InBuild {
        let mut words: Vec<(usize, &str)> =
            places.filter_map(|it| Some((it.at.start, it.file.text.get(it.at.start..it.at.end)?))).collect();
        words.sort_unstable();
        words.dedup();
        let mut found = InBuild::default();
        all_instances::read_words_further(cx.db, file, &words, |krate, at, resolution| {
            if !crates.contains(&krate) {
                return;
            }
            let mut one = Collector::new(cx.db);
            one.add(at, resolution);
            for (resolution, _) in one.finish().at(at) {
                match resolution {
                    StoredResolution::Means(it) if targets.iter().any(|target| target.is_meant_by(&it)) => {
                        found.named.insert(at);
                    }
                    StoredResolution::Unresolved(why) if why != UnresolvedReason::Inactive => {
                        found.unresolved.insert(at);
                    }
                    StoredResolution::Means(_) | StoredResolution::Unresolved(_) => {}
                }
            }
        });
        found.unresolved.retain(|it| !found.named.contains(it));
        found
    }
}
