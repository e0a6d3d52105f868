//! Usages in all builds: the usages in the default build, with those in files that only further builds compile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{FurtherBuild, FurtherBuilds, unread, unresolved};
use crate::checker::{self, Wanted};
use crate::other_builds;
use crate::queries::GoplsQueries;
use crate::unlisted_occurrences::{Effort, UnlistedOccurrence};
use crate::usage_index::{Places, Spot};
use crate::usages::{self, Occurrences};
use semdex_engine::Result;
use semdex_engine::files::File;
use semdex_model::{Answer, Code, Coverage, Error, Missing, MissingCode, Role, Span, Symbol, SymbolKind};

/// A place of a declaration, or of a name.
type At = (Arc<str>, usize);

pub(crate) async fn of(queries: &GoplsQueries<'_>, symbol: &Symbol, effort: Effort) -> Result<Answer<Arc<Places>>> {
    let builds = queries.session.builds(queries.layout);
    let origin = queries.files.get(&symbol.name_at.file).filter(|_| !symbol.external);
    let is_elsewhere = origin.is_some_and(|it| is_left_out(queries, it) && builds.with(it).next().is_some());
    // A declaration that represents the others in the default build.
    let base = match is_elsewhere {
        true => match other_builds::twin_of_default(queries, symbol) {
            Some(twin) => usages::places(queries, &twin, effort).await?,
            None => unknown(queries, symbol),
        },
        false => usages::places(queries, symbol, effort).await?,
    };
    // The checkers know the workspace's declarations only.
    let is_foreign = symbol.external && symbol.kind != SymbolKind::Package;
    if builds.0.is_empty() || symbol.name == "_" || is_foreign {
        return Ok(base);
    }
    Ok(with_further(queries, symbol, &builds, base).await.map(Arc::new))
}

/// The name of the default build in requests.
const DEFAULT: &str = "default";

/// The same in one build alone; `None`: in all builds.
pub(crate) async fn of_build(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    build: Option<&str>,
    effort: Effort,
) -> Result<Answer<Arc<Places>>> {
    let Some(build) = build else { return of(queries, symbol, effort).await };
    let builds = queries.session.builds(queries.layout);
    let default = queries.session.context();
    let is_it = |it: &&FurtherBuild| {
        // A name that an answer has at a place counts too.
        let mut left_out = queries.layout.left_out();
        it.name == build || left_out.any(|file| it.takes(file) && it.name_at(&default, file) == build)
    };
    let chosen = builds.0.iter().find(|it| it.name == build).or_else(|| builds.0.iter().find(is_it));
    if chosen.is_none() && build != DEFAULT {
        let known: Vec<String> = std::iter::once(DEFAULT.to_owned()).chain(builds.names()).collect();
        let list = known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let detail = format!("`build`: the workspace has no such build. There are {list}");
        return Err(Error::new(Code::InvalidRequest, detail).suggesting(known).into());
    }
    let is_in_build = |file: &str| match chosen {
        Some(it) => queries.files.get(file).is_some_and(|file| it.takes(file)),
        None => queries.layout.is_active(file),
    };
    let Answer { value, mut coverage } = of(queries, symbol, effort).await?;
    let mut places = Places::clone(&value);
    places.items.retain(|it| is_in_build(&it.file));
    places.possible.retain(|it| is_in_build(&it.file));
    coverage.builds = chosen.iter().map(|it| it.name.clone()).collect();
    let is_elsewhere =
        |it: &Missing| it.scope.as_deref().is_some_and(|it| queries.files.get(it).is_some() && !is_in_build(it));
    if coverage.missing.iter().any(is_elsewhere) {
        coverage.missing.retain(|it| !is_elsewhere(it));
        coverage.complete = coverage.missing.is_empty();
    }
    Ok(Answer { value: Arc::new(places), coverage })
}

fn is_left_out(queries: &GoplsQueries<'_>, file: &File) -> bool {
    !queries.layout.is_active(&file.path)
}

/// No place is certain yet.
fn unknown(queries: &GoplsQueries<'_>, symbol: &Symbol) -> Answer<Arc<Places>> {
    let mut places = Places::default();
    let doubts = Occurrences::anywhere(queries, symbol);
    places.possible.extend(doubts.iter().flat_map(|it| it.doubts().map(|it| UnlistedOccurrence::spot(&it))));
    Answer::whole(Arc::new(places))
}

/// What the further builds say of a symbol, by their numbers.
#[derive(Default)]
struct Said {
    /// Those that are not loaded.
    pending: bool,
    /// `None`: the build does not show it.
    found: BTreeMap<usize, Option<BTreeSet<At>>>,
    /// The names that the build does not resolve.
    lost: BTreeMap<usize, BTreeSet<At>>,
}

async fn with_further(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    builds: &Arc<FurtherBuilds>,
    base: Answer<Arc<Places>>,
) -> Answer<Places> {
    let mut declared: Vec<At> = Vec::new();
    if !symbol.external && symbol.kind != SymbolKind::Package {
        declared.push((symbol.name_at.file.as_str().into(), symbol.name_at.start));
        declared
            .extend(other_builds::twins(queries, symbol).into_iter().map(|it| (it.file.path.clone(), it.span.start)));
    }
    let Answer { value: base, coverage } = base;
    let mut places = Places::clone(&base);
    let all = std::mem::take(&mut places.possible);
    let is_declaration = |it: &Spot| declared.iter().any(|(file, at)| (file, *at) == (&it.file, it.span.start));
    let has_default = declared.iter().any(|it| queries.layout.is_active(&it.0));
    let (open, settled): (Vec<Spot>, Vec<Spot>) = all.into_iter().partition(|it| {
        let is_open = !queries.layout.is_active(&it.file) || !has_default && !declared.is_empty();
        is_open && queries.files.get(&it.file).is_some_and(|it| builds.with(it).next().is_some())
    });
    places.possible = settled;
    let said = ask(queries, symbol, builds, &declared, &open).await;
    let mut lacking: Vec<Missing> = Vec::new();
    for spot in open {
        let Some(file) = queries.files.get(&spot.file) else { continue };
        let at = (spot.file.clone(), spot.span.start);
        let mut is_use = false;
        let mut missing = None;
        for (number, build) in builds.with(file) {
            match said.found.get(&number) {
                _ if said.pending => {
                    missing = missing.or_else(|| Some(unread(build, queries.session.further.is_given_up())))
                }
                // An import of a package is one in every build.
                _ if symbol.kind == SymbolKind::Package => is_use = true,
                _ if is_declaration(&spot) => {}
                Some(Some(_)) if said.lost.get(&number).is_some_and(|it| it.contains(&at)) => {
                    missing = missing.or_else(|| Some(unresolved(build, &spot.file, &symbol.name)))
                }
                Some(Some(found)) => is_use |= found.contains(&at),
                Some(None) | None => missing = missing.or_else(|| Some(unresolved(build, &spot.file, &symbol.name))),
            }
        }
        match missing {
            Some(missing) => {
                lacking.push(missing);
                places.possible.push(spot);
            }
            None if is_use => places.items.push(spot),
            None => {}
        }
    }
    // What further builds find in files of the default build, as calls of a method through an interface.
    let known: BTreeSet<At> = places.items.iter().map(|it| (it.file.clone(), it.span.start)).collect();
    for at in said.found.values().flatten().flatten().filter(|it| !known.contains(*it)) {
        let Some(file) = queries.files.get(&at.0) else { continue };
        let span = Span::new(at.1, at.1 + symbol.name.len());
        let named = queries.session.identifiers.named(file, &symbol.name);
        let role = named.iter().find(|it| it.span == span).map_or(Role::Other, |it| it.role);
        if file.text.get(span.start..span.end) == Some(&symbol.name) {
            places.items.push(Spot { file: file.path.clone(), span, role });
        }
    }
    for spots in [&mut places.items, &mut places.possible] {
        spots.sort_unstable();
        spots.dedup();
    }
    let mut coverage = without_settled(coverage, &places);
    lacking.into_iter().for_each(|it| coverage.lacks(it));
    if !said.pending {
        coverage.builds.extend(builds.names());
    }
    Answer { value: places, coverage }
}

/// The coverage without the files that the default build leaves out and of which no place is left.
fn without_settled(before: Coverage, places: &Places) -> Coverage {
    let mut coverage = Coverage { fallback: before.fallback.clone(), ..Coverage::default() };
    let is_left = |it: &Missing| {
        it.code != MissingCode::CfgOff
            || it.scope.as_deref().is_none_or(|scope| places.possible.iter().any(|it| *it.file == *scope))
    };
    let is_whole = before.complete;
    for missing in before.missing {
        match is_whole {
            true => coverage.note(missing),
            false if is_left(&missing) => coverage.lacks(missing),
            false => {}
        }
    }
    coverage
}

async fn ask(
    queries: &GoplsQueries<'_>,
    symbol: &Symbol,
    builds: &Arc<FurtherBuilds>,
    declared: &[At],
    open: &[Spot],
) -> Said {
    let mut said = Said::default();
    let takes = |number: usize, file: &str| {
        let build = builds.0.get(number);
        queries.files.get(file).is_some_and(|file| build.is_some_and(|it| it.takes(file)))
    };
    said.pending = !queries.session.has_further(builds);
    let Some(generation) = queries.generation.filter(|_| !said.pending) else { return said };
    for number in 0..builds.0.len() {
        let files: BTreeSet<&str> = open.iter().map(|it| &*it.file).filter(|it| takes(number, it)).collect();
        let mut here = declared.iter().filter(|it| takes(number, &it.0));
        let is_elsewhere = here.clone().any(|it| !queries.layout.is_active(&it.0));
        if declared.is_empty() || files.is_empty() && !is_elsewhere {
            continue;
        }
        let (first, second) = (here.next(), here.next());
        let wanted = Wanted {
            file: first.map(|it| it.0.to_string()).unwrap_or_default(),
            at: first.map(|it| it.1).unwrap_or_default(),
            name: symbol.name.clone(),
            files: files.into_iter().map(str::to_owned).collect(),
        };
        let asked =
            checker::uses_in(queries.session, builds, number, vec![wanted], generation, queries.deadlines.answer);
        let Some(uses) = asked.await else {
            said.pending = true;
            return said;
        };
        let owned = |(file, at): (&str, usize)| (Arc::from(file), at);
        let found = uses.of(0).filter(|_| second.is_none());
        said.found.insert(number, found.map(|it| it.map(owned).collect()));
        said.lost.insert(number, uses.lost(0).map(owned).collect());
    }
    said
}
