//! Answers a request of any interface and writes the reply. Slow requests are logged and kept, with the times of their
//! parts, which sum to the whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::Instrument as _;

use super::Service;
use super::client::Client;
use super::dispatch::answer;
use semdex_config::logging;
use semdex_contract::{Call, Effect, Reply, Request};
use semdex_model::{Code, Error, Result};
use semdex_workspace::journal;
use semdex_workspace::telemetry::SlowQuestion;
use semdex_workspace::timing::{Spent, Waits, measured};

/// Longer than the parts of any request take together, besides what it may wait and the tools that it starts.
const MARGIN: Duration = Duration::from_secs(150);

/// The same for all hooks of a repository, for two commits.
const COMMITTING: Duration = Duration::from_secs(900);

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
    let reading = came.elapsed();
    let (call, spent) = (request.name().call(), Arc::new(Spent::default()));
    let span = logging::call_span(call.name);
    let longest = longest(&request);
    let answering = measured(spent.clone(), Box::pin(answer(service, request, caller.client)));
    let reply = tokio::time::timeout(longest, answering.instrument(span.clone())).await;
    let answered = came.elapsed();
    let reply = reply.unwrap_or_else(|_| Err(late(call, longest)));
    let code = reply.as_ref().err().map(|it| it.code.name());
    let written = reply.map(write);
    let elapsed = came.elapsed();
    let took = Took { elapsed, reading, waits: spent.within(answered - reading), rendering: elapsed - answered };
    logging::note_call(&span, &took.parts(), code);
    note_if_slow(service, call, caller.request_id.as_deref(), took);
    written
}

/// When a request is given up, although each of its parts has a deadline of its own.
fn longest(request: &Request) -> Duration {
    let wait = request.common().wait_ms.map(Duration::from_millis).unwrap_or_default();
    let tools = match request {
        Request::Verify(it) => it.timeout().unwrap_or_default(),
        // The hooks of the repository and the program that signs have deadlines of their own.
        Request::Commit(_) | Request::Undo(_) => COMMITTING,
        _ => Duration::ZERO,
    };
    MARGIN + wait + tools
}

fn late(call: &Call, longest: Duration) -> Error {
    let made = match call.effect {
        Effect::Read => "",
        Effect::Change | Effect::Begin => {
            "; it is not known whether the change was made: `changes`, or `open` of the file, shows it"
        }
    };
    let detail = format!("the request was not answered within {} s and is given up{made}", longest.as_secs());
    Error::new(Code::Timeout, detail)
}

/// The times of a request.
#[derive(Debug, Clone, Copy)]
struct Took {
    /// The total.
    elapsed: Duration,
    /// Reading the request, and finding its handler.
    reading: Duration,
    waits: Waits,
    /// Writing the reply.
    rendering: Duration,
}

impl Took {
    fn parts(&self) -> [(&'static str, Duration); 7] {
        let Took { reading, waits: Waits { queue, barrier, index, engine, computing }, rendering, .. } = *self;
        [
            ("reading", reading),
            ("queue", queue),
            ("barrier", barrier),
            ("index", index),
            ("engine", engine),
            ("computing", computing),
            ("rendering", rendering),
        ]
    }
}

fn note_if_slow(service: &Service, call: &Call, request_id: Option<&str>, took: Took) {
    let telemetry = service.workspaces.telemetry();
    if !telemetry.is_slow(took.elapsed) {
        return;
    }
    let Took { elapsed, reading, waits, rendering } = took;
    let Waits { queue, barrier, index, engine, computing } = waits;
    let name = call.name;
    tracing::info!(
        call = name,
        ?elapsed,
        ?reading,
        ?queue,
        ?barrier,
        ?index,
        ?engine,
        ?computing,
        ?rendering,
        "a slow question"
    );
    telemetry.note_slow(SlowQuestion {
        call: name,
        at: journal::now(),
        request_id: request_id.map(str::to_owned),
        elapsed,
        reading,
        waits,
        rendering,
    });
}
