//! What an answer lacks because of packages that are still being built, or whose dependencies are unknown.

use ra_ap_ide::FileId;
use ra_ap_ide_db::base_db::Crate;
use ra_ap_ide_db::defs::Definition;

use super::exclusions::package_of_crate;
use crate::names::instances;
use crate::view::Context;
use semdex_model::Coverage;

/// What may be missing from an answer that only code which can name these definitions, or which they name, can change.
pub(crate) fn coverage_of(cx: &Context<'_>, group: &[Definition<'_>]) -> Coverage {
    coverage_of_crates(cx, group.iter().map(|it| Some(it.krate(cx.db)?.base())))
}

/// The same for all of these crates; `None` if it is not known which.
pub(crate) fn coverage_of_crates(cx: &Context<'_>, crates: impl Iterator<Item = Option<Crate>>) -> Coverage {
    if is_loaded_for(cx, crates) { cx.coverage_as_loaded(false) } else { cx.coverage(false) }
}

/// Whether no package that is still being built can see these crates.
fn is_loaded_for(cx: &Context<'_>, mut crates: impl Iterator<Item = Option<Crate>>) -> bool {
    let Some(unbuilt) = &cx.environment.unbuilt else { return false };
    let graph = &cx.environment.packages;
    crates.all(|it| {
        let package = it.and_then(|it| package_of_crate(cx, it));
        package.is_some_and(|package| !unbuilt.iter().any(|it| graph.may_see(it, &package)))
    })
}

/// Whether a crate that includes a file has its dependencies. Otherwise any name, trait or macro may be theirs, and
/// only the syntax of the file can be judged.
pub(crate) fn knows_dependencies(cx: &Context<'_>, id: FileId) -> bool {
    let owners = instances::owners(cx.db, id);
    let is_resolved = |it: &Crate| {
        let package = package_of_crate(cx, *it);
        package.is_none_or(|it| cx.environment.packages.is_resolved(&it))
    };
    owners.is_empty() || owners.iter().any(is_resolved)
}
