//! Usages in doctests. They are found in the modules that represent these, and belong to the files that these come
//! from.

use super::target_usages::TargetUsages;
use crate::index::search::Occurrence;
use crate::names::UnresolvedReason;
use crate::names::instances::owners;
use crate::view::Context;

/// Adds what was found in the modules.
pub(super) fn add(cx: &Context<'_>, in_modules: TargetUsages, found: &mut TargetUsages) {
    for it in in_modules.items.iter().filter_map(|it| located(cx, it)) {
        // The docs of several libraries may include one file.
        if !found.items.iter().any(|known| known.id == it.id && known.at == it.at) {
            found.items.push(it);
        }
    }
    let must_compile = |it: &Occurrence| {
        let of = cx.environment.doctests.of_module(it.id);
        of.and_then(|of| of.doctests.test_at(it.at.start)).is_some_and(|it| !it.must_fail)
    };
    found.in_doctests.extend(in_modules.possible.into_iter().filter(|it| must_compile(&it.0)));
}

/// Puts the possible usages that no fact excludes where they come from.
pub(super) fn locate_possible(cx: &Context<'_>, found: &mut TargetUsages) {
    let possible: Vec<(Occurrence, UnresolvedReason)> = std::mem::take(&mut found.in_doctests);
    found.possible.extend(possible.into_iter().filter_map(|(it, why)| Some((located(cx, &it)?, why))));
}

/// A place in a module as the place in the file. `None` for what rustdoc adds.
fn located(cx: &Context<'_>, it: &Occurrence) -> Option<Occurrence> {
    let of = cx.environment.doctests.of_module(it.id)?;
    let at = of.place(it.at)?;
    let build = owners(cx.db, of.module).first().copied();
    Some(Occurrence { file: cx.files.get(&of.name)?.clone(), id: of.id, at, role: it.role, build, calls: None })
}
