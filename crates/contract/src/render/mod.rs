//! Replies as Markdown for a model: the content of the JSON with line numbers and without repetitions. All interfaces
//! that show replies use it; it is independent of HTTP.

mod change;
mod code;
mod cut_lines;
mod describe;
mod explore;
mod git;
mod journal;
mod lists;
mod map;
mod markdown;
mod regressions;
mod runs;
mod sarif;
mod status;
mod verify;

use std::convert::Infallible;
use std::slice::from_ref;
use std::time::Instant;

pub(crate) use change::problem;
pub(crate) use explore::explored_size;
pub use sarif::sarif;

use crate::budget::{BYTES_PER_TOKEN, Form};
use crate::shorten::{Fit, fitted};
use crate::{Health, Meta, PROBLEM_TOKENS, Problem, Reply, milliseconds};
use markdown::{footer, one};

/// A reply within its budget. `came`: when the request arrived.
pub fn answer(answer: Reply, max_tokens: Option<usize>, came: Instant) -> String {
    within(answer, max_tokens, |mut it| {
        stamp(it.meta(), came);
        reply(&it)
    })
}

/// A problem within the budget of all problems.
pub fn refusal(refused: Problem, came: Instant) -> String {
    within(refused, Some(PROBLEM_TOKENS), |mut it| {
        stamp(it.meta.as_mut(), came);
        problem(&it)
    })
}

fn within<T: Fit>(answer: T, max_tokens: Option<usize>, write: impl Fn(T) -> String) -> String {
    let Ok(text) = fitted(answer, Form::Markdown, max_tokens, |it| Ok::<_, Infallible>(write(it)));
    match max_tokens {
        Some(most) => cut_lines::cut_lines(text, most.saturating_mul(BYTES_PER_TOKEN)),
        None => text,
    }
}

/// Sets the elapsed time, which is known last.
fn stamp(meta: Option<&mut Meta>, came: Instant) {
    if let Some(meta) = meta {
        meta.elapsed_ms = milliseconds(came.elapsed());
    }
}

/// A reply in full.
pub fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Open(it) => describe::opened(it) + &footer(&it.meta),
        Reply::Explore(it) => explore::explored(it) + &footer(&it.meta),
        Reply::Describe(it) => describe::described(it) + &footer(it.meta_of()),
        Reply::Symbols(it) => lists::symbols(it) + &footer(&it.meta),
        Reply::SymbolAt(it) => lists::symbol_at(it) + &footer(&it.meta),
        Reply::Usages(it) => lists::usages(it) + &footer(&it.meta),
        Reply::Callers(it) => lists::callers(it) + &footer(&it.meta),
        Reply::Callees(it) => lists::callees(it) + &footer(&it.meta),
        Reply::Implementations(it) => lists::implementations(it) + &footer(&it.meta),
        Reply::Diagnostics(it) => lists::diagnostics(it) + &footer(&it.meta),
        Reply::Baseline(it) => regressions::baseline(it) + &footer(&it.meta),
        Reply::Regressions(it) => regressions::regressions(it) + &footer(&it.meta),
        Reply::Gate(it) => regressions::gate(it) + &footer(&it.meta),
        Reply::Stats(it) => regressions::stats(it) + &footer(&it.meta),
        Reply::Map(it) => map::map(it) + &footer(&it.meta),
        Reply::Impact(it) => change::impact(it) + &footer(&it.meta),
        Reply::Edit(it) | Reply::Write(it) | Reply::Undo(it) | Reply::Rename(it) => {
            // The root is in the head.
            change::change(it) + &footer(&Meta { root: None, ..it.meta.clone() })
        }
        Reply::Git(it) => git::state(it) + &footer(&it.meta),
        Reply::Commit(it) => git::commit(it) + &footer(&it.meta),
        Reply::Changes(it) => journal::changes(it) + &footer(&it.meta),
        Reply::Verify(it) => verify::verified(it) + &footer(&it.meta),
        Reply::ListOverlays(it) => journal::overlays(it) + &footer(&it.meta),
        Reply::PutOverlay(it) => journal::overlay(&it.overlay) + &footer(&it.meta),
        Reply::DeleteOverlay(it) => {
            one(format_args!("`{}` is again what the disk has.", it.overlay.file)) + &footer(&it.meta)
        }
        Reply::StartRun(it) => runs::started(it) + &footer(&it.meta),
        Reply::Run(it) | Reply::CancelRun(it) => runs::run(it) + &footer(&it.meta),
        Reply::ListWorkspaces(it) => status::workspaces(&it.workspaces),
        Reply::OpenWorkspace(it) => status::workspaces(from_ref(&it.workspace)),
        Reply::CloseWorkspace(it) => one(format_args!("Closed `{}` ({}).", it.workspace.id, it.workspace.root)),
        Reply::Status(it) => status::status(it),
        Reply::Health(Health { status, version }) => one(format_args!("{status}, semdex {version}")),
    }
}
