//! Answers a request of any interface and writes the reply. Slow requests are logged and kept, with the times of their
//! parts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Instrument as _;

use super::Service;
use super::client::Client;
use super::dispatch::answer;
use semdex_config::logging;
use semdex_contract::{Call, Reply, Request};
use semdex_model::Result;
use semdex_workspace::journal;
use semdex_workspace::telemetry::SlowQuestion;
use semdex_workspace::timing::{Part, Spent, measured};

/// The client of a request.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The client.
    pub client: Client,
    /// The id of the request in logs and problems.
    pub request_id: Option<Arc<str>>,
}

/// Answers a request that arrived at `came`.
pub async fn timed_answer<T>(
    service: &Service,
    request: Request,
    caller: Caller,
    came: Instant,
    write: impl FnOnce(Reply) -> T,
) -> Result<T> {
    let (call, spent) = (request.name().call(), Arc::new(Spent::default()));
    let span = logging::call_span(call.name);
    let answering = measured(spent.clone(), Box::pin(answer(service, request, caller.client)));
    let reply = answering.instrument(span.clone()).await;
    let code = reply.as_ref().err().map(|it| it.code.name());
    let begun = Instant::now();
    let written = reply.map(write);
    let [queue, barrier, index, engine] =
        [Part::Queue, Part::Barrier, Part::Index, Part::Engine].map(|it| spent.of(it));
    let took = Took { elapsed: came.elapsed(), queue, barrier, index, engine, rendering: begun.elapsed() };
    logging::note_call(&span, &took.parts(), code);
    note_if_slow(service, call, caller.request_id.as_deref(), took);
    written
}

/// The times of a request.
#[derive(Debug, Clone, Copy)]
struct Took {
    /// The total.
    elapsed: Duration,
    queue: Duration,
    barrier: Duration,
    index: Duration,
    engine: Duration,
    /// Writing the reply.
    rendering: Duration,
}

impl Took {
    fn parts(&self) -> [(&'static str, Duration); 5] {
        let Took { queue, barrier, index, engine, rendering, .. } = *self;
        [("queue", queue), ("barrier", barrier), ("index", index), ("engine", engine), ("rendering", rendering)]
    }
}

fn note_if_slow(service: &Service, call: &Call, request_id: Option<&str>, took: Took) {
    let telemetry = service.workspaces.telemetry();
    if !telemetry.is_slow(took.elapsed) {
        return;
    }
    let Took { elapsed, queue, barrier, index, engine, rendering } = took;
    tracing::info!(call = call.name, ?elapsed, ?queue, ?barrier, ?index, ?engine, ?rendering, "a slow question");
    telemetry.note_slow(SlowQuestion {
        call: call.name,
        at: journal::now(),
        request_id: request_id.map(str::to_owned),
        elapsed,
        queue,
        barrier,
        index,
        engine,
        rendering,
    });
}
