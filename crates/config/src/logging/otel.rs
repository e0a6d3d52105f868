//! Exports spans to a collector by OTLP over HTTP in its JSON form. The variables of OpenTelemetry's specification set
//! endpoint, headers, time-out, batches, sampling and resource (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_SERVICE_NAME`, …).

use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{Status, TracerProvider as _};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Level, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

/// Either variable turns the export on.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The most time that the end of the process waits for an unreachable collector.
const LAST_BATCH: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Exporter(SdkTracerProvider);

impl Exporter {
    /// `None` if no collector is named or `OTEL_SDK_DISABLED` is `true`.
    pub(super) fn of_environment() -> Result<Option<Exporter>, String> {
        let value = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let is_disabled = value("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        if is_disabled || !ENDPOINTS.iter().any(|it| value(it).is_some()) {
            return Ok(None);
        }
        let spans = SpanExporter::builder().with_http().with_protocol(Protocol::HttpJson).build();
        let spans = spans.map_err(|error| format!("the exporter of OpenTelemetry: {error}"))?;
        let mut resource =
            Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        if value("OTEL_SERVICE_NAME").is_none() {
            resource = resource.with_service_name("semdex");
        }
        Ok(Some(Exporter(
            SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.build()).build(),
        )))
    }

    /// Exports only spans of semdex: spans of its HTTP client would describe the export itself.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("semdex"))
            .with_filter(Targets::new().with_target("semdex", Level::INFO))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_BATCH) {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// The headers of W3C Trace Context.
struct Headers<'a> {
    parent: Option<&'a str>,
    state: Option<&'a str>,
}

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => self.parent,
            "tracestate" => self.state,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

pub(super) fn continue_trace<'a>(span: &Span, header: impl Fn(&str) -> Option<&'a str>) {
    let headers = Headers { parent: header("traceparent"), state: header("tracestate") };
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    // It fails if nothing is exported.
    let _ = span.set_parent(parent);
}

pub(super) fn note_response(span: &Span, method: &str, path: &str, status: u16) {
    span.set_attribute("http.request.method", method.to_owned());
    span.set_attribute("url.path", path.to_owned());
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_status(Status::error(""));
    }
}

pub(super) fn note_call(span: &Span, parts: &[(&'static str, Duration)], error: Option<&str>) {
    for (part, took) in parts {
        span.set_attribute(format!("semdex.{part}_ms"), Value::F64(took.as_secs_f64() * 1000.0));
    }
    if let Some(code) = error {
        span.set_attribute("error.type", code.to_owned());
    }
}
