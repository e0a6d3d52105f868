//! The errors in the bodies that a change affects, before it and after it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::affected::{AffectedSet, BodyRef};
use super::edit_context::{EditContext, Side};
use crate::STACK_BYTES;
use crate::bounds::TIME_OF_A_CHANGE;
use crate::checks::anchors::bodies_of_file;
use crate::checks::{derive_expansion, errors};
use crate::finding::Finding;
use crate::view::{Context, View};
use semdex_engine::Result;

/// The errors in the bodies that were checked, which are the first `checked` ones.
pub(crate) struct ErrorsOfBodies {
    pub(crate) checked: usize,
    /// Each error with the index of its body.
    found: Vec<(usize, Finding)>,
}

impl ErrorsOfBodies {
    pub(crate) fn of_first(self, bodies: usize) -> Vec<Finding> {
        self.found.into_iter().filter(|it| it.0 < bodies).map(|it| it.1).collect()
    }
}

/// The errors in each of these bodies, computed on all cores within the time limit.
pub(crate) fn errors_of(affected: &AffectedSet<'_>, side: Side, view: impl Fn() -> View) -> Result<ErrorsOfBodies> {
    let bodies_by_ref = &affected.bodies_by_ref;
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get());
    let threads = cores.min(bodies_by_ref.len()).max(1);
    let next = AtomicUsize::new(0);
    let latest = Instant::now() + TIME_OF_A_CHANGE;
    let work = |view: View| {
        view.leave_bodies_at(latest).ask(|it| {
            let mut found = Vec::new();
            while Instant::now() < latest {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(body_ref) = bodies_by_ref.get(nth) else { break };
                let Some(at) = body_ref.at(side) else { continue };
                semdex_process::fault::point("rust.bodies");
                found.extend(errors_of_body(it, affected, body_ref, at, side).into_iter().map(|it| (nth, it)));
            }
            Ok(found)
        })
    };
    let found: Vec<(usize, Finding)> = std::thread::scope(|scope| -> Result<_> {
        let helper = || std::thread::Builder::new().name("rust-impact".to_owned()).stack_size(STACK_BYTES);
        let views = (1..threads).map(|_| view());
        let helpers: Vec<_> = views.map(|view| helper().spawn_scoped(scope, || work(view))).collect();
        let mut found = work(view())?;
        for helper in helpers.into_iter().flatten() {
            match helper.join() {
                Ok(more) => found.extend(more?),
                Err(panic) => resume_unwind(panic),
            }
        }
        Ok(found)
    })?;
    Ok(ErrorsOfBodies { checked: next.into_inner().min(bodies_by_ref.len()), found })
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
