//! Questions that took long: logged and kept, with where their time went.

use std::time::Duration;

use super::Service;
use crate::contract::Call;
use crate::workspace::journal;
use crate::workspace::telemetry::SlowQuestion;
use crate::workspace::timing::Part;
pub use crate::workspace::timing::{Spent, measured};

/// How long a request took.
#[derive(Debug, Clone, Copy)]
pub struct Took<'a> {
    /// All of it.
    pub elapsed: Duration,
    /// The writing of the reply.
    pub rendering: Duration,
    /// What it waited for.
    pub spent: &'a Spent,
}

pub fn note_if_slow(service: &Service, call: &Call, request_id: Option<&str>, took: Took<'_>) {
    let telemetry = service.workspaces.telemetry();
    if !telemetry.is_slow(took.elapsed) {
        return;
    }
    let Took { elapsed, rendering, spent } = took;
    let question = SlowQuestion {
        call: call.name,
        at: journal::now(),
        request_id: request_id.map(str::to_owned),
        elapsed,
        queue: spent.of(Part::Queue),
        barrier: spent.of(Part::Barrier),
        index: spent.of(Part::Index),
        engine: spent.of(Part::Engine),
        rendering,
    };
    let SlowQuestion { queue, barrier, index, engine, .. } = question;
    tracing::info!(call = call.name, ?elapsed, ?queue, ?barrier, ?index, ?engine, ?rendering, "a slow question");
    telemetry.note_slow(question);
}
