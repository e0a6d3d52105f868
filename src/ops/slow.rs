//! What answers a request of any face and writes the reply. Requests that took long are logged and kept, with where their
//! time went.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Instrument as _;

use super::Service;
use super::answer::answer;
use crate::contract::{Call, Reply, Request};
use crate::logging;
use crate::model::Result;
use crate::workspace::journal;
use crate::workspace::telemetry::SlowQuestion;
use crate::workspace::timing::{Part, Spent, measured};

/// Who asks.
#[derive(Debug, Clone, Default)]
pub struct Asker {
    /// As it calls itself.
    pub client: Option<String>,
    /// As logs and problems name the request.
    pub request_id: Option<Arc<str>>,
}

/// Answers a request that came at this moment.
pub async fn answered<T>(
    service: &Service,
    request: Request,
    asker: Asker,
    came: Instant,
    write: impl FnOnce(Reply) -> T,
) -> Result<T> {
    let (call, spent) = (request.name().call(), Arc::new(Spent::default()));
    let span = logging::call_span(call.name);
    let answering = measured(spent.clone(), Box::pin(answer(service, request, asker.client)));
    let reply = answering.instrument(span.clone()).await;
    let code = reply.as_ref().err().map(|it| it.code.name());
    let begun = Instant::now();
    let written = reply.map(write);
    let took = Took { elapsed: came.elapsed(), rendering: begun.elapsed(), spent: &spent };
    logging::note_call(&span, &took.parts(), code);
    note_if_slow(service, call, asker.request_id.as_deref(), took);
    written
}

/// How long a request took.
#[derive(Debug, Clone, Copy)]
struct Took<'a> {
    /// All of it.
    elapsed: Duration,
    /// The writing of the reply.
    rendering: Duration,
    /// What it waited for.
    spent: &'a Spent,
}

impl Took<'_> {
    fn parts(&self) -> [(&'static str, Duration); 5] {
        [
            ("queue", self.spent.of(Part::Queue)),
            ("barrier", self.spent.of(Part::Barrier)),
            ("index", self.spent.of(Part::Index)),
            ("engine", self.spent.of(Part::Engine)),
            ("rendering", self.rendering),
        ]
    }
}

fn note_if_slow(service: &Service, call: &Call, request_id: Option<&str>, took: Took<'_>) {
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
