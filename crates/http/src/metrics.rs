//! `GET /metrics`: the latency of requests and the state of the process, in the text format of OpenMetrics. Labels have
//! closed sets of values: they never contain a path or a symbol.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use axum::Extension;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::grant::Grant;
use super::problem::Refusal;
use super::{document, events, hello, hooks, pages, response_format};
use semdex_contract::CALLS;
use semdex_model::{Code, Error};
use semdex_ops::Service;
use semdex_ops::process_metrics::{ProcessMetrics, process_metrics};

pub(crate) const PATH: &str = "/metrics";
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// In seconds: an answer from memory is below the first bound, a wait for the index below the last.
const BUCKETS: [f64; 15] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];
/// The request is none of the calls.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    call: &'static str,
    status: u32,
}

/// The metrics of a service, never freed, as they live as long as the process: a reference count would be written by
/// all threads with every request.
#[derive(Clone, Copy)]
pub(crate) struct Metrics {
    inner: &'static Inner,
}

struct Inner {
    registry: Registry,
    durations: Family<Labels, Histogram, fn() -> Histogram>,
    routes: Routes,
    mcp: MeasuredCall,
    unknown: MeasuredCall,
}

/// The calls of each route, by their method.
type Routes = HashMap<String, Vec<(Method, MeasuredCall)>>;

/// The label of a request.
pub(crate) struct MeasuredCall {
    name: &'static str,
    /// The histograms of successful requests, created at first use: the most frequent lookup happens once.
    well: OnceLock<Histogram>,
}

impl MeasuredCall {
    const fn new(name: &'static str) -> MeasuredCall {
        MeasuredCall { name, well: OnceLock::new() }
    }
}

impl Metrics {
    pub(crate) fn new(service: &Service) -> Metrics {
        let mut registry = Registry::default();
        let durations: Family<Labels, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        registry.register_with_unit(
            "semdex_request_duration",
            "From the head of a request to the head of its reply",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register_collector(Box::new(Process(service.clone())));
        let (mcp, unknown) = (MeasuredCall::new("mcp"), MeasuredCall::new(UNKNOWN));
        Metrics { inner: Box::leak(Box::new(Inner { registry, durations, routes: routes(), mcp, unknown })) }
    }

    /// The label of a request, by its route.
    pub(crate) fn call_of(self, request: &Request) -> &'static MeasuredCall {
        let Some(route) = request.extensions().get::<MatchedPath>() else { return &self.inner.unknown };
        if route.as_str().starts_with("/mcp") {
            return &self.inner.mcp;
        }
        let calls = self.inner.routes.get(route.as_str()).map_or(&[][..], Vec::as_slice);
        calls.iter().find(|(method, _)| method == request.method()).map_or(&self.inner.unknown, |(_, call)| call)
    }

    /// Records the duration and the result of a request.
    pub(crate) fn note(self, call: &MeasuredCall, status: StatusCode, took: Duration) {
        let histogram = || {
            let labels = Labels { call: call.name, status: status.as_u16().into() };
            self.inner.durations.get_or_create(&labels).clone()
        };
        let took = took.as_secs_f64();
        if status == StatusCode::OK {
            call.well.get_or_init(histogram).observe(took);
        } else {
            histogram().observe(took);
        }
    }
}

fn routes() -> Routes {
    let of_table = CALLS.iter().filter_map(|call| {
        let method = Method::from_bytes(call.method.name().as_bytes()).ok()?;
        Some((call.path.replace("{file}", "{*file}"), (method, call.name)))
    });
    let others = [(events::PATH, "events"), (PATH, "metrics"), (document::PATH, "openapi")];
    let pages = pages::PATHS.iter().map(|it| (*it, "page"));
    let others = others.into_iter().chain(pages).map(|(path, name)| (path.to_owned(), (Method::GET, name)));
    let posted = [(hooks::PATH, "hooks"), (hello::PATH, "hello")];
    let posted = posted.map(|(path, name)| (path.to_owned(), (Method::POST, name)));
    let mut routes = Routes::default();
    for (path, (method, name)) in of_table.chain(others).chain(posted) {
        routes.entry(path).or_default().push((method, MeasuredCall::new(name)));
    }
    routes
}

/// Whether requests are measured. Only `benches/faces` turns it off, to measure its cost.
pub(crate) fn is_on() -> bool {
    std::env::var_os("SEMDEX_METRICS").is_none_or(|it| it != "off")
}

pub(crate) async fn metrics(
    Extension(metrics): Extension<Metrics>,
    Extension(grant): Extension<Grant>,
) -> Result<Response, Refusal> {
    if grant.access.workspace.is_some() {
        let detail = "the metrics are of all workspaces, and this token is for one: `semdex token` prints one for all";
        return Err(Error::new(Code::InsufficientScope, detail).into());
    }
    let mut body = String::new();
    text::encode(&mut body, &metrics.inner.registry)
        .map_err(|_| Error::new(Code::Internal, "the metrics could not be written"))?;
    Ok(response_format::with_type(CONTENT_TYPE, body))
}

/// Values that are computed for each scrape.
struct Process(Service);

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Process")
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let ProcessMetrics { revision, memory_bytes, restarts, queues, rescans, stale_retries } =
            process_metrics(&self.0);
        let encoder = &mut encoder;
        let help = "Of all open workspaces together; grows with each change";
        one(encoder, "semdex_revision", help, &ConstGauge::new(revision))?;
        let help = "Resident memory of the process and of the engines that have one of their own";
        each(encoder, "semdex_memory", help, Some(&Unit::Bytes), "engine", &memory_bytes, ConstGauge::new)?;
        let help = "How often an engine was restarted";
        each(encoder, "semdex_engine_restarts", help, None, "engine", &restarts, ConstCounter::new)?;
        let help = "What waits: requests for a writer, jobs for the journal";
        each(encoder, "semdex_queue_length", help, None, "queue", &queues, ConstGauge::new)?;
        let help = "How often a whole workspace was compared with the disk";
        one(encoder, "semdex_rescans", help, &ConstCounter::new(rescans))?;
        let help = "How often a query was repeated because the workspace had changed during it";
        one(encoder, "semdex_stale_retries", help, &ConstCounter::new(stale_retries))
    }
}

fn one(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, metric: &impl EncodeMetric) -> fmt::Result {
    metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
}

/// A metric for each value of a label.
fn each<M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    unit: Option<&Unit>,
    label: &str,
    values: &BTreeMap<String, u64>,
    metric: fn(u64) -> M,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, unit, metric(0).metric_type())?;
    for (of, value) in values {
        let metric = metric(*value);
        metric.encode(family.encode_family(&[(label, of.as_str())])?)?;
    }
    Ok(())
}
