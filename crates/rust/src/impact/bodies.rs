//! The errors in the bodies that a change affects, before it and after it.

use super::affected::{AffectedSet, BodyRef};
use super::edit_context::{EditContext, Side};
use crate::bounds::TIME_OF_A_CHANGE;
use crate::checks::anchors::bodies_of_file;
use crate::checks::{derive_expansion, errors};
use crate::finding::Finding;
use crate::view::parts::{Checked, check_all};
use crate::view::{Context, View};
use semdex_engine::Result;

/// The errors in each of these bodies.
pub(crate) fn errors_of(affected: &AffectedSet<'_>, side: Side, view: impl Fn() -> View) -> Result<Checked<Finding>> {
    check_all(&affected.bodies_by_ref, TIME_OF_A_CHANGE, view, |cx, body_ref| {
        let Some(at) = body_ref.at(side) else { return Vec::new() };
        semdex_process::fault::point("rust.bodies");
        errors_of_body(cx, affected, body_ref, at, side)
    })
}

/// The errors in files that a change moves, before it.
pub(crate) fn errors_of_moved(cx: &Context<'_>, edit: &EditContext) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in edit.moved_files() {
        found.extend(bodies_of_file(file).into_iter().flat_map(|at| errors::errors_at(cx, &file.path, at, true)));
    }
    found
}

fn errors_of_body(
    cx: &Context<'_>,
    affected: &AffectedSet<'_>,
    body_ref: &BodyRef,
    at: usize,
    side: Side,
) -> Vec<Finding> {
    let with_operators = body_ref.edited || affected.retyped;
    // The errors in the unchanged state may be known already.
    let known = cx.file_id(&body_ref.file).filter(|_| side == Side::Before).and_then(|id| cx.index.errors(id));
    let known = known
        .filter(|known| !derive_expansion::is_derive_anchor(cx, &body_ref.file, at) || known.made.contains(&at))
        .map(|known| known.bodies.get(&at).cloned().unwrap_or_default());
    match known {
        // The known errors come from all checks: a body with errors is checked again, with the same checks as after
        // the change.
        Some(errors) if with_operators || errors.is_empty() => errors.into_iter().collect(),
        _ => errors::errors_at(cx, &body_ref.file, at, with_operators),
    }
}
