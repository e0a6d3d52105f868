//! The process's log on standard error. With the feature `otel`, a span for each request and each call is also exported
//! to an OpenTelemetry collector.
//!
//! Tokens and texts of the workspace are logged at the level `trace` only.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata, Span, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

#[cfg(feature = "otel")]
mod otel;

/// Keeps the export of spans running. Dropping it sends the last spans.
#[must_use = "spans are exported for as long as this is kept"]
#[derive(Debug)]
pub struct Logging {
    #[cfg(feature = "otel")]
    _exporter: Option<otel::Exporter>,
}

/// Starts logging to standard error. `filter` consists of `tracing` directives. Spans are exported if the program was
/// built with `otel` and the environment names a collector (`OTEL_EXPORTER_OTLP_ENDPOINT`).
///
/// # Errors
///
/// The filter or the collector's settings are invalid, or logging was already started.
pub fn start(filter: &str) -> Result<Logging, String> {
    let directives = EnvFilter::try_new(filter).map_err(|error| format!("`--log {filter}`: {error}"))?;
    let traces = directives.max_level_hint() == Some(LevelFilter::TRACE);
    #[cfg(feature = "otel")]
    if let Some(exporter) = otel::Exporter::of_environment()? {
        let layers = tracing_subscriber::registry().with(exporter.layer()).with(lines(traces).with_filter(directives));
        layers.try_init().map_err(|error| error.to_string())?;
        return Ok(Logging { _exporter: Some(exporter) });
    }
    let layers = tracing_subscriber::registry().with(directives).with(lines(traces));
    layers.try_init().map_err(|error| error.to_string())?;
    Ok(Logging {
        #[cfg(feature = "otel")]
        _exporter: None,
    })
}

/// The log, one line for each event. `traces`: with everything that the filter lets pass.
fn lines<S>(traces: bool) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    // Below `info` the crates of others log what they handle: headers, messages and texts.
    let is_safe = move |it: &Metadata<'_>| traces || *it.level() <= Level::INFO || it.target().starts_with("semdex");
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    lines.with_filter(filter_fn(is_safe))
}

/// A span for one call of the table of calls. It is disabled without `otel`, since the log names the call itself.
pub fn call_span(name: &'static str) -> Span {
    #[cfg(feature = "otel")]
    return tracing::info_span!("call", otel.name = name);
    #[cfg(not(feature = "otel"))]
    {
        let _ = name;
        Span::none()
    }
}

/// Continues the trace in the headers of a request (W3C Trace Context). `header` returns a header by its name.
pub fn continue_trace<'a>(span: &Span, header: impl Fn(&str) -> Option<&'a str>) {
    #[cfg(feature = "otel")]
    otel::continue_trace(span, header);
    #[cfg(not(feature = "otel"))]
    let _ = (span, header);
}

/// Records an HTTP response in an exported span. The log has a line of its own for it.
pub fn note_response(span: &Span, method: &str, path: &str, status: u16) {
    #[cfg(feature = "otel")]
    otel::note_response(span, method, path, status);
    #[cfg(not(feature = "otel"))]
    let _ = (span, method, path, status);
}

/// Records how long each part of a call took, and the code of its error.
pub fn note_call(span: &Span, parts: &[(&'static str, Duration)], error: Option<&str>) {
    #[cfg(feature = "otel")]
    otel::note_call(span, parts, error);
    #[cfg(not(feature = "otel"))]
    let _ = (span, parts, error);
}
